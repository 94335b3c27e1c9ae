type Child = Node | string | null;

/** el makes an element; what is a text stays one, so nothing a file says becomes markup. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  for (const child of children) if (child !== null) e.append(child);
  return e;
}

export function button(text: string, title: string, act: () => void): HTMLButtonElement {
  const b = el("button", { type: "button", title, "aria-label": title }, text);
  b.addEventListener("click", act);
  return b;
}

export function errorBox(e: unknown): HTMLElement {
  return el("div", { class: "error", role: "alert" }, e instanceof Error ? e.message : String(e));
}

export function hash(page: string, query: Record<string, string>): string {
  return `#/${page}?${new URLSearchParams(query)}`;
}
