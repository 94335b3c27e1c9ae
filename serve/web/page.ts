import { ask, Found, Moment, openRecording } from "./api";
import { button, el, hash } from "./dom";
import { counted, duration, stamp } from "./format";
import { listen } from "./input";
import { openInPerfetto } from "./perfetto";
import { nobody, rowList } from "./tile";
import { allRows, Pane, Spot, Timeline, Wake, wakeStamp } from "./timeline";

/** showTimeline shows recording a, and above recording b if one is named. */
export async function showTimeline(main: HTMLElement, form: URLSearchParams, signal: AbortSignal): Promise<void> {
  const paths = [form.get("a"), form.get("b")].filter((p): p is string => p !== null && p !== "");
  if (paths.length === 0) throw new Error("no recording is named; choose one from the list");
  const wait = el("p", { class: "page note", role: "status" }, "reading the recording");
  main.replaceChildren(wait);
  const panes: Pane[] = [];
  for (const path of paths) {
    panes.push(new Pane(path, await openRecording(path, (text) => (wait.textContent = text), signal)));
  }
  const found = await ask<Found>("list", {}, signal);
  if (!signal.aborted) new TimelinePage(main, panes, found, signal);
}

const help: [string, string][] = [
  ["wheel, + −", "zoom"],
  ["drag, ← →, shift ← →", "move in time; ↑ ↓ or the wheel over the names scrolls the rows"],
  ["0", "everything"],
  ["click a ▼", "a wakeup: why that CPU was chosen"],
  ["click a bar", "show that task alone in colour; again: all"],
  ["n, p", "next, previous wakeup (of the tasks that were searched for)"],
  ["Enter", "tell the selected wakeup"],
  ["m", "rows are CPUs, or tasks"],
  ["/", "search for tasks; Enter goes to where one runs next, shift Enter back"],
  ["Escape", "close, clear"],
];

class TimelinePage {
  private timeline: Timeline;
  private canvas = el("canvas", { tabindex: "0", role: "application", "aria-label": "timeline; press ? for the keys" });
  private tip = el("div", { class: "tip", hidden: "" });
  private status = el("span", { role: "status" });
  private stretch = el("span", { class: "stretch" });
  private story = el("aside", { class: "story", hidden: "", "aria-label": "why that CPU" });
  private search = el("input", { type: "search", placeholder: "task or PID", "aria-label": "search for a task by name or PID" });
  private matches = el("span", { class: "matches" });
  private modes: HTMLButtonElement[] = [];
  private help = el("dialog", { "aria-label": "keys" });
  private telling = new AbortController();

  constructor(
    main: HTMLElement,
    private panes: Pane[],
    private found: Found,
    private signal: AbortSignal,
  ) {
    const stage = el("div", { class: "stage" }, el("div", { class: "canvasbox" }, this.canvas, this.tip), this.story);
    main.replaceChildren(el("div", { class: "timeline" }, this.tools(), stage, this.foot(), this.help));
    this.fillHelp();
    this.timeline = new Timeline(this.canvas, panes, (e) => this.say(String(e instanceof Error ? e.message : e)));
    this.timeline.moved = () => this.tellStretch();
    this.tellStretch();
    listen(this.timeline, { hover: (s, x, y) => this.hover(s, x, y), click: (x, y) => this.click(x, y), key: (k) => this.key(k) }, signal);
    const observer = new ResizeObserver(() => this.timeline.resize());
    observer.observe(this.canvas);
    window.addEventListener("themechange", () => this.timeline.relook(), { signal });
    signal.addEventListener("abort", () => {
      observer.disconnect();
      this.timeline.close();
      this.telling.abort();
    });
    this.canvas.focus();
    this.greet();
  }

  // The parts of the page.

  private tools(): HTMLElement {
    const modes = el("div", { class: "group", role: "group", "aria-label": "rows" });
    for (const [mode, text] of [["cpu", "CPUs"], ["task", "Tasks"]] as const) {
      const b = button(text, `rows are ${text}`, () => this.setMode(mode));
      b.dataset.mode = mode;
      b.setAttribute("aria-pressed", String(mode === "cpu"));
      this.modes.push(b);
      modes.append(b);
    }
    const zooms = el("div", { class: "group", role: "group", "aria-label": "zoom" });
    zooms.append(
      button("−", "zoom out", () => this.timeline.zoom(2)),
      button("+", "zoom in", () => this.timeline.zoom(0.5)),
      button("all", "show everything", () => this.timeline.fit()),
    );
    this.search.addEventListener("input", () => this.searched(), { signal: this.signal });
    this.search.addEventListener("keydown", (e) => {
      if (e.key === "Enter") void this.goToRun(e.shiftKey);
    });
    const perfetto = button("Open in Perfetto", "open this recording in Perfetto's page (needs the network)", () => {
      openInPerfetto(this.panes[0].path, (text) => this.say(text)).catch((e: unknown) => this.say(String(e)));
    });
    perfetto.className = "wide";
    return el("div", { class: "tools", role: "toolbar", "aria-label": "timeline" }, modes, zooms, this.search, this.matches, this.chooser(), perfetto, button("?", "keys", () => this.help.showModal()));
  }

  /** chooser puts another recording below, on the same time axis. */
  private chooser(): HTMLElement {
    const select = el("select", { "aria-label": "another recording below this one", class: "other" }, el("option", { value: "" }, "alone"));
    const [a, b] = this.panes.map((p) => p.path);
    for (const r of this.found.recordings) {
      if (r.path !== a) select.append(el("option", { value: r.path }, "above " + r.path));
    }
    select.value = b ?? "";
    select.addEventListener("change", () => (location.hash = hash("timeline", select.value ? { a, b: select.value } : { a })));
    select.hidden = select.options.length < 2;
    return select;
  }

  private foot(): HTMLElement {
    const swatch = (kind: string, text: string) => el("span", {}, el("span", { class: "swatch " + kind }), text);
    const legend = el(
      "span",
      { class: "legend" },
      swatch("runs", "runs"),
      swatch("lost", "idle while others wait; a task that waits"),
      swatch("depth", "queue depth"),
      swatch("wake", "wakeup"),
    );
    return el("div", { class: "status" }, this.stretch, this.status, legend);
  }

  private fillHelp(): void {
    const list = el("dl");
    for (const [key, what] of help) list.append(el("dt", {}, key), el("dd", {}, what));
    this.help.append(list, button("close", "close", () => this.help.close()));
  }

  private greet(): void {
    const told = this.panes.map((p) => {
      const notes = (p.info.notes ?? []).join("; ");
      return [counted(p.info.events, "event"), counted(p.info.cpus, "CPU"), counted(p.info.tasks.length - 1, "task")].join(", ") + (notes ? `; ${notes}` : "");
    });
    this.say(told.join(" | "));
  }

  private say(text: string): void {
    this.status.textContent = text;
  }

  private tellStretch(): void {
    if (!this.timeline) return;
    const { from, to } = this.timeline.view;
    this.stretch.textContent = `${duration(to - from)} shown`;
    this.stretch.dataset.from = String(Math.round(from));
    this.stretch.dataset.to = String(Math.round(to));
  }

  // Modes and searching.

  private setMode(mode: "cpu" | "task"): void {
    for (const b of this.modes) b.setAttribute("aria-pressed", String(b.dataset.mode === mode));
    this.timeline.setMode(mode, this.rowsFor(mode));
    this.canvas.dataset.mode = mode;
    const w = this.timeline.selected;
    if (w) {
      this.timeline.reveal(w.pane, mode === "cpu" ? w.target : w.wakee);
      this.select(w);
    }
  }

  /** matching lists the tasks that the search means; null when it is empty. */
  private matching(pane: Pane): number[] | null {
    const text = this.search.value.trim().toLowerCase();
    if (text === "") return null;
    const found: number[] = [];
    pane.info.tasks.forEach((task, i) => {
      if (i > 0 && (String(task.pid) === text || `${task.comm}-${task.pid}`.toLowerCase().includes(text))) found.push(i);
    });
    return found;
  }

  private rowsFor(mode: "cpu" | "task"): (pane: Pane) => number[] {
    return mode === "cpu" ? allRows("cpu") : (pane) => this.matching(pane) ?? allRows("task")(pane);
  }

  private searched(): void {
    const first = this.matching(this.panes[0]);
    this.matches.textContent = first === null ? "" : counted(first.length, "task");
    this.timeline.setBright(first === null ? null : new Set(this.panes.flatMap((p) => this.matching(p) ?? [])));
    if (this.timeline.mode === "task") this.timeline.setMode("task", this.rowsFor("task"));
  }

  /** sought lists the tasks that seeking is about, as many as the server takes. */
  private sought(pane: Pane): number[] | null {
    return (this.matching(pane) ?? (this.timeline.bright ? [...this.timeline.bright] : null))?.slice(0, 128) ?? null;
  }

  /** goToRun shows where one of the tasks that match runs next. */
  private async goToRun(back: boolean): Promise<void> {
    const pane = this.panes[0];
    const tasks = this.matching(pane)?.slice(0, 128) ?? [];
    if (tasks.length === 0) {
      this.say("no task has that name or PID");
      return;
    }
    const { from, to } = this.timeline.view;
    const m = await this.seek(pane, { what: "run", tasks: rowList(tasks), from: Math.round((from + to) / 2), dir: back ? "prev" : "next" });
    if (!m) return;
    this.timeline.centre(m.time);
    this.timeline.reveal(pane, this.timeline.mode === "cpu" ? m.cpu : m.task);
    this.say(`${this.taskName(pane, m.task)} begins to run on CPU ${m.cpu} at ${stamp(pane.info.start, m.time)}`);
  }

  private async seek(pane: Pane, query: Record<string, string | number>): Promise<Moment | null> {
    try {
      const m = await ask<Moment>("seek", { path: pane.path, ...query }, this.signal);
      if (m.found) return m;
      this.say("there is none in that direction");
    } catch (e) {
      if (!this.signal.aborted) this.say(String(e));
    }
    return null;
  }

  private async goToWake(dir: "next" | "prev"): Promise<void> {
    const last = this.timeline.selected;
    const pane = last?.pane ?? this.panes[0];
    const { from, to } = this.timeline.view;
    const shown = last !== null && last.time >= from && last.time <= to;
    const query: Record<string, string | number> = { what: "wake", from: Math.round(shown ? last.time : (from + to) / 2), dir };
    const tasks = this.sought(pane);
    if (tasks && tasks.length > 0) query.tasks = rowList(tasks);
    const m = await this.seek(pane, query);
    if (!m) return;
    this.timeline.centre(m.time);
    this.timeline.reveal(pane, this.timeline.mode === "cpu" ? m.cpu : m.task);
    this.select({ pane, time: m.time, wakee: m.task, waker: m.waker, target: m.cpu, from: m.origin });
  }

  // Selecting and telling.

  private select(w: Wake | null): void {
    this.timeline.selected = w;
    this.timeline.request();
    delete this.canvas.dataset.wake;
    if (!w) return;
    const { mode } = this.timeline;
    this.canvas.dataset.wake = wakeStamp(w);
    this.canvas.dataset.wakeX = String(Math.round(this.timeline.xOf(w.time)));
    this.canvas.dataset.wakeY = String(Math.round(this.timeline.yOf(w.pane, mode === "cpu" ? w.target : w.wakee)) + 4);
    this.say(this.wakeText(w));
  }

  private wakeText(w: Wake): string {
    const name = (i: number) => (i === 0 ? "the idle task" : `${w.pane.info.tasks[i].comm}-${w.pane.info.tasks[i].pid}`);
    return `${name(w.wakee)} woken by ${name(w.waker)} on CPU ${w.from}, placed on CPU ${w.target}, at ${stamp(w.pane.info.start, w.time)}`;
  }

  private click(x: number, y: number): void {
    const wake = this.timeline.wakeAt(x, y);
    if (wake) {
      this.select(wake);
      void this.tell(wake);
      return;
    }
    const spot = this.timeline.spotAt(x, y);
    const task = spot && this.taskAt(spot);
    if (!task) return;
    const alone = this.timeline.bright?.size === 1 && this.timeline.bright.has(task);
    this.timeline.setBright(alone ? null : new Set([task]));
  }

  private taskAt(spot: Spot): number | null {
    if (this.timeline.mode === "task") return spot.pane.rows[spot.row];
    const value = this.timeline.stepAt(spot)?.value ?? this.timeline.bucketAt(spot)?.key;
    return value === undefined || value === nobody || value === 0 ? null : value;
  }

  /** tell shows what explain --why says about a wakeup. */
  private async tell(w: Wake): Promise<void> {
    this.telling.abort();
    this.telling = new AbortController();
    const { signal } = this.telling;
    const pick = wakeStamp(w);
    const text = el("pre", {}, "following the recording up to this moment ...");
    const folder = this.found.folder + (w.pane.path === "." ? "" : "/" + w.pane.path);
    const close = button("×", "close", () => this.closeStory());
    close.className = "close";
    this.story.replaceChildren(
      close,
      el("h2", {}, "Why that CPU"),
      el("p", { class: "note" }, this.wakeText(w)),
      text,
      el("p", { class: "note" }, "The same on the command line:"),
      el("code", {}, `schedlab explain --why ${pick} ${folder}`),
    );
    this.story.hidden = false;
    this.story.setAttribute("aria-busy", "true");
    try {
      text.textContent = (await ask<{ text: string }>("story", { path: w.pane.path, pick }, signal)).text;
    } catch (e) {
      if (signal.aborted) return;
      text.textContent = e instanceof Error ? e.message : String(e);
      text.className = "error";
    }
    this.story.removeAttribute("aria-busy");
  }

  private closeStory(): void {
    this.telling.abort();
    this.story.hidden = true;
  }

  private key(key: string): boolean {
    switch (key) {
      case "n":
      case "p":
        void this.goToWake(key === "n" ? "next" : "prev");
        return true;
      case "Enter":
        if (this.timeline.selected) void this.tell(this.timeline.selected);
        return true;
      case "m":
        this.setMode(this.timeline.mode === "cpu" ? "task" : "cpu");
        return true;
      case "/":
        this.search.focus();
        return true;
      case "?":
        this.help.showModal();
        return true;
      case "Escape":
        this.clear();
        return true;
    }
    return false;
  }

  private clear(): void {
    if (!this.story.hidden) this.closeStory();
    else if (this.search.value) {
      this.search.value = "";
      this.searched();
    } else {
      this.select(null);
      this.timeline.setBright(null);
    }
    this.canvas.focus();
  }

  // Hovering.

  private hover(spot: Spot | null, x: number, y: number): void {
    const text = spot && this.describe(spot, x, y);
    this.tip.hidden = !text;
    if (!text) return;
    this.tip.textContent = text;
    const box = this.canvas.getBoundingClientRect();
    const left = x + 14 + this.tip.offsetWidth > box.width ? x - 14 - this.tip.offsetWidth : x + 14;
    const top = y + 14 + this.tip.offsetHeight > box.height ? y - 14 - this.tip.offsetHeight : y + 14;
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${Math.max(0, top)}px`;
  }

  private describe(spot: Spot, x: number, y: number): string {
    const { info } = spot.pane;
    const at = `at ${stamp(info.start, spot.time)}`;
    const wake = this.timeline.wakeAt(x, y);
    if (wake) return `${this.wakeText(wake)}\nclick: why that CPU`;
    const step = this.timeline.stepAt(spot);
    const bucket = this.timeline.bucketAt(spot);
    const lines = [this.timeline.mode === "cpu" ? `CPU ${spot.pane.rows[spot.row]}, ${at}` : `${this.taskName(spot.pane, spot.pane.rows[spot.row])}, ${at}`];
    if (step) lines.push(this.describeStep(spot.pane, step));
    if (bucket && (this.timeline.mode === "cpu" || !step)) lines.push(...this.describeBucket(spot.pane, bucket, step !== null));
    return lines.join("\n");
  }

  private taskName(pane: Pane, task: number): string {
    if (task === nobody) return "not known";
    if (task === 0) return "idle";
    const t = pane.info.tasks[task];
    return `${t.comm}-${t.pid}`;
  }

  private describeStep(pane: Pane, step: { value: number; start: number; end: number }): string {
    const long = `for ${duration(step.end - step.start)}`;
    if (this.timeline.mode === "cpu") return `${this.taskName(pane, step.value)} ${long}`;
    const cpu = (step.value >>> 2) - 1;
    return ["not there", `runs on CPU ${cpu}`, `waits on CPU ${cpu}`, "sleeps"][step.value & 3] + " " + long;
  }

  private describeBucket(pane: Pane, b: { key: number; busy: number; lost: number; depth: number; width: number }, exact: boolean): string[] {
    const percent = (share: number) => `${Math.round(share * 100)} %`;
    const lines: string[] = [];
    if (this.timeline.mode === "task") {
      lines.push(`of ${duration(b.width)}: runs ${percent(b.busy)}, waits ${percent(b.lost)}`);
      return lines;
    }
    if (!exact) {
      lines.push(`of ${duration(b.width)}: busy ${percent(b.busy)}${b.busy > 0 ? `, mostly ${this.taskName(pane, b.key)}` : ""}`);
    }
    if (b.lost > 0) lines.push(`idle while others wait: ${percent(b.lost)} of ${duration(b.width)}`);
    lines.push(`queue depth ${exact ? "" : "up to "}${b.depth}`);
    return lines;
  }
}
