import { address, ask, Found, ResultRows } from "./api";
import { el, hash } from "./dom";

/** line is one line of results.csv by column name. */
type Line = Record<string, string>;

export async function showResult(main: HTMLElement, path: string, signal: AbortSignal): Promise<void> {
  const [csv, found] = await Promise.all([ask<ResultRows>("result", { path }, signal), ask<Found>("list", {}, signal)]);
  const lines: Line[] = csv.rows.map((fields) => Object.fromEntries(csv.columns.map((name, i) => [name, fields[i]])));
  const page = el("div", { class: "page" }, el("h1", {}, path === "." ? "Result" : path));
  page.append(links(found, path, distinct(lines, "variant")));
  const tables = el("div");
  const hidden = new Set<string>();
  const draw = () => tables.replaceChildren(...groups(lines).map((g) => table(g, hidden)));
  page.append(chooser(distinct(lines, "variant"), hidden, draw), tables);
  draw();
  main.replaceChildren(page);
}

/** links leads to the report and to the recordings of the largest differences, the
 * baseline above. */
function links(found: Found, path: string, variants: string[]): HTMLElement {
  const line = el("p");
  if (found.results.some((r) => r.path === path && r.report)) {
    line.append(el("a", { href: address("/report", { path }), target: "_blank", rel: "noopener" }, "report"));
  }
  const inside = path === "." ? "traces/" : path + "/traces/";
  const folders = new Map<string, string[]>();
  for (const r of found.recordings) {
    if (!r.path.startsWith(inside)) continue;
    const folder = r.path.slice(0, r.path.lastIndexOf("/"));
    folders.set(folder, [...(folders.get(folder) ?? []), r.path]);
  }
  // compare names a recording's folder after the variant, without / and blanks.
  const order = variants.map((v) => v.replace(/[/ ]/g, "-"));
  const place = (p: string) => order.indexOf(p.slice(p.lastIndexOf("/") + 1));
  for (const [folder, paths] of folders) {
    paths.sort((x, y) => place(x) - place(y));
    const query: Record<string, string> = { a: paths[0] };
    if (paths.length > 1) query.b = paths[1];
    line.append(line.hasChildNodes() ? " · " : "", el("a", { href: hash("timeline", query) }, "timeline of " + folder.slice(inside.length)));
  }
  return line;
}

function distinct(lines: Line[], column: string): string[] {
  return [...new Set(lines.map((l) => l[column]))];
}

function chooser(variants: string[], hidden: Set<string>, changed: () => void): HTMLElement {
  const box = el("fieldset", {}, el("legend", {}, "Variants"));
  for (const variant of variants) {
    const check = el("input", { type: "checkbox", name: "variant", value: variant });
    check.checked = true;
    check.addEventListener("change", () => {
      if (check.checked) hidden.delete(variant);
      else hidden.add(variant);
      changed();
    });
    box.append(el("label", {}, check, " " + variant));
  }
  return box;
}

/** groups are the lines of one table each, in the order of the file. */
function groups(lines: Line[]): Line[][] {
  const byName = new Map<string, Line[]>();
  for (const l of lines) {
    const name = title(l);
    const group = byName.get(name);
    if (group) group.push(l);
    else byName.set(name, [l]);
  }
  return [...byName.values()];
}

function title(l: Line): string {
  return [l.benchmark, l.machine && `on ${l.machine}`, l.environment && `[${l.environment}]`, l.source && l.source !== "schedlab" && `(${l.source})`]
    .filter(Boolean)
    .join(" ");
}

function table(lines: Line[], hidden: Set<string>): HTMLElement {
  const variants = distinct(lines, "variant").filter((v) => !hidden.has(v));
  const head = el("tr", {}, el("th", { scope: "col" }, "statistic"), el("th", { scope: "col", class: "left" }, "row"), ...variants.map((v) => el("th", { scope: "col" }, v)));
  const body = el("tbody");
  const rows = new Map<string, Line[]>();
  for (const l of lines) {
    const key = l.statistic + "\n" + l.row;
    rows.set(key, [...(rows.get(key) ?? []), l]);
  }
  for (const cells of rows.values()) {
    const tr = el("tr", {}, el("th", { scope: "row" }, cells[0].statistic + (cells[0].unit ? ` (${cells[0].unit})` : "")), el("th", { scope: "row" }, cells[0].row));
    for (const v of variants) tr.append(cell(cells.find((c) => c.variant === v)));
    body.append(tr);
  }
  return el("section", {}, el("h2", {}, title(lines[0])), el("div", { class: "scroll" }, el("table", {}, el("thead", {}, head), body)));
}

function cell(l: Line | undefined): HTMLElement {
  if (!l) return el("td", {}, "–");
  const td = el("td", { "data-statistic": l.statistic, "data-row": l.row, "data-variant": l.variant, "data-value": l.value }, shortened(l.value));
  if (l.ci_low && l.ci_high) td.title = `95 %: ${l.ci_low} to ${l.ci_high}, n = ${l.n}`;
  const delta = Number(l.delta_pct);
  if (l.delta_pct && Number.isFinite(delta)) {
    const kind = l.significant === "1" ? (delta > 0 ? " better" : delta < 0 ? " worse" : "") : "";
    const star = l.significant === "1" ? "*" : "";
    td.append(el("span", { class: "delta" + kind }, `(${delta > 0 ? "+" : ""}${delta.toFixed(2)} %${star})`));
  }
  return td;
}

/** shortened has six digits that matter; data-value has them all. */
function shortened(value: string): string {
  const n = Number(value);
  return value !== "" && Number.isFinite(n) ? String(Number(n.toPrecision(6))) : value || "failed";
}
