import { ask, address, Found } from "./api";
import { el, hash } from "./dom";

/** pairs groups recordings that lie in one folder: the variants of one comparison. */
export function siblings(found: Found, path: string): string[] {
  const parent = (p: string) => (p.includes("/") ? p.slice(0, p.lastIndexOf("/")) : "");
  return found.recordings.map((r) => r.path).filter((p) => p !== path && parent(p) === parent(path));
}

export async function showList(main: HTMLElement, signal: AbortSignal): Promise<void> {
  const found = await ask<Found>("list", {}, signal);
  const page = el("div", { class: "page" }, el("h1", {}, "Results and recordings"), el("p", { class: "note" }, found.folder));
  for (const note of found.notes) page.append(el("p", { class: "note" }, note));
  if (found.results.length === 0 && found.recordings.length === 0) {
    page.append(el("p", {}, "There is nothing to show in this folder. schedlab compare --out DIR writes a result, schedlab run --trace DIR a recording."));
  }
  if (found.results.length > 0) page.append(el("h2", {}, "Results"), results(found));
  if (found.recordings.length > 0) page.append(el("h2", {}, "Recordings"), recordings(found));
  main.replaceChildren(page);
}

function results(found: Found): HTMLElement {
  const list = el("ul", { class: "found" });
  for (const r of found.results) {
    const links = el("span", { class: "links" }, el("a", { href: hash("result", { path: r.path }) }, "table"));
    if (r.report) links.append(el("a", { href: address("/report", { path: r.path }), target: "_blank", rel: "noopener" }, "report"));
    list.append(el("li", {}, el("span", { class: "path" }, r.path === "." ? "this folder" : r.path), links));
  }
  return list;
}

function recordings(found: Found): HTMLElement {
  const list = el("ul", { class: "found" });
  for (const r of found.recordings) {
    const links = el("span", { class: "links" }, el("a", { href: hash("timeline", { a: r.path }) }, "timeline"));
    const others = siblings(found, r.path);
    if (others.length === 1) links.append(el("a", { href: hash("timeline", { a: r.path, b: others[0] }) }, "above the other variant"));
    list.append(
      el("li", {}, el("span", { class: "path" }, r.path === "." ? "this folder" : r.path), el("span", { class: "note" }, size(r.bytes)), links),
    );
  }
  return list;
}

function size(bytes: number): string {
  return bytes < 1 << 20 ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / (1 << 20)).toFixed(1)} MB`;
}
