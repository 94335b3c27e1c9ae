import { el, errorBox } from "./dom";
import { showList } from "./list";
import { showResult } from "./result";
import { showTimeline } from "./page";

/** leave ends what the page shown before still does. */
let leave = new AbortController();

async function show(): Promise<void> {
  leave.abort();
  leave = new AbortController();
  const signal = leave.signal;
  const main = document.getElementById("main")!;
  const where = document.getElementById("where")!;
  const [page, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const form = new URLSearchParams(query);
  where.textContent = [form.get("path"), form.get("a"), form.get("b")].filter((p) => p && p !== ".").join(" above ");
  main.setAttribute("aria-busy", "true");
  try {
    if (page === "result") await showResult(main, form.get("path") ?? "", signal);
    else if (page === "timeline") await showTimeline(main, form, signal);
    else await showList(main, signal);
  } catch (e) {
    if (!signal.aborted) main.replaceChildren(el("div", { class: "page" }, errorBox(e), el("a", { href: "#/" }, "to the list")));
  }
  if (!signal.aborted) main.removeAttribute("aria-busy");
}

function chooseTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const apply = (theme: string) => {
    root.dataset.theme = theme;
    window.dispatchEvent(new Event("themechange"));
  };
  apply(localStorage.getItem("theme") ?? (system.matches ? "dark" : "light"));
  system.addEventListener("change", () => {
    if (!localStorage.getItem("theme")) apply(system.matches ? "dark" : "light");
  });
  document.getElementById("theme")!.addEventListener("click", () => {
    const theme = root.dataset.theme === "dark" ? "light" : "dark";
    localStorage.setItem("theme", theme);
    apply(theme);
  });
}

chooseTheme();
window.addEventListener("hashchange", () => void show());
void show();
