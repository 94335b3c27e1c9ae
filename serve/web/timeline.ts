import { RecordingInfo } from "./api";
import { stamp, tickStep, tickText } from "./format";
import { colourOf, palette } from "./palette";
import { Look, paint, showsWakes } from "./paint";
import { Mode, rowList, Slot, Store } from "./tile";

export const gutter = 66; // css pixels left of the rows
export const axisHeight = 22;
const titleHeight = 19;
const blockRows = 32; // rows of one tile
const paintsPerFrame = 1;
const labelsPerFrame = 400;
const lowestRow = 18;
const highestRow = 64;

/** Wake is a wakeup that was clicked or sought. */
export interface Wake {
  pane: Pane;
  time: number;
  wakee: number;
  waker: number;
  target: number;
  from: number;
}

/** Spot is what lies under a point of the canvas. */
export interface Spot {
  pane: Pane;
  row: number; // place in pane.rows
  time: number;
}

/** Pane shows one recording; two lie above each other on one time axis. */
export class Pane {
  store!: Store;
  rows: number[] = [];
  blocks: string[] = []; // the rows of each tile, as the server reads them
  scroll = 0;
  top = 0; // of its rows on the canvas
  height = 0;

  constructor(
    readonly path: string,
    readonly info: RecordingInfo,
  ) {}

  /** show sets the rows, in their order. */
  show(rows: number[]): void {
    this.rows = rows;
    this.blocks = [];
    for (let i = 0; i < rows.length; i += blockRows) this.blocks.push(rowList(rows.slice(i, i + blockRows)));
    this.scroll = 0;
  }
}

interface Label {
  row: number;
  start: number;
  end: number;
  value: number;
}

export class Timeline {
  mode: Mode = "cpu";
  bright: Set<number> | null = null;
  selected: Wake | null = null;
  private t0 = 0; // ns at the left edge
  private nsPerPixel = 1;
  private look: Look = { palette: palette(), mode: "cpu", rowHeight: 16, bright: null };
  private looks = 0; // counts changes of the look
  private rowHeight = 16;
  private width = 0;
  private height = 0;
  private ratio = 1;
  private pending = 0;
  private labels = new WeakMap<Slot, Label[]>();
  private ctx: CanvasRenderingContext2D;
  /** moved is called when another stretch of time is shown. */
  moved: () => void = () => {};

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly panes: Pane[],
    private failed: (e: unknown) => void,
  ) {
    this.ctx = canvas.getContext("2d", { alpha: false })!;
    this.setMode("cpu");
  }

  close(): void {
    cancelAnimationFrame(this.pending);
    for (const p of this.panes) p.store.close();
  }

  // What is shown.

  get span(): number {
    return Math.max(...this.panes.map((p) => p.info.span));
  }

  get view(): { from: number; to: number } {
    return { from: this.t0, to: this.t0 + this.plotWidth * this.nsPerPixel };
  }

  private get plotWidth(): number {
    return Math.max(1, this.width - gutter);
  }

  setMode(mode: Mode, rows: (pane: Pane) => number[] = allRows(mode)): void {
    this.mode = mode;
    for (const pane of this.panes) {
      pane.store?.close();
      pane.store = new Store(pane.path, mode, () => this.request(), this.failed);
      pane.show(rows(pane));
    }
    this.resize();
  }

  setBright(tasks: Set<number> | null): void {
    this.bright = tasks;
    this.relook();
  }

  /** relook has everything painted anew, after a change of colours or sizes. */
  relook(): void {
    this.look = { palette: palette(), mode: this.mode, rowHeight: Math.round(this.rowHeight * this.ratio), bright: this.bright };
    this.looks++;
    this.request();
  }

  resize(): void {
    const box = this.canvas.getBoundingClientRect();
    const first = this.width === 0;
    const view = this.view;
    this.width = box.width;
    this.height = box.height;
    this.ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(box.width * this.ratio);
    this.canvas.height = Math.round(box.height * this.ratio);
    this.layout();
    this.relook();
    if (first) this.fit();
    else this.nsPerPixel = (view.to - view.from) / this.plotWidth;
  }

  private layout(): void {
    const each = (this.height - axisHeight) / this.panes.length;
    const most = Math.max(1, ...this.panes.map((p) => p.rows.length));
    this.panes.forEach((pane, i) => {
      pane.top = axisHeight + i * each + titleHeight;
      pane.height = Math.max(0, each - titleHeight);
    });
    this.rowHeight = Math.max(lowestRow, Math.min(highestRow, Math.floor(this.panes[0].height / most)));
    for (const pane of this.panes) this.scrollTo(pane, pane.scroll);
  }

  fit(): void {
    this.showSpan(0, this.span);
  }

  showSpan(from: number, to: number): void {
    this.nsPerPixel = Math.max(0.5, (to - from) / this.plotWidth);
    this.t0 = from;
    this.settle();
  }

  centre(time: number): void {
    this.t0 = time - (this.plotWidth / 2) * this.nsPerPixel;
    this.settle();
  }

  pan(pixels: number): void {
    this.t0 += pixels * this.nsPerPixel;
    this.settle();
  }

  /** zoom shows factor times as much time; what is at x stays there. */
  zoom(factor: number, x = gutter + this.plotWidth / 2): void {
    const at = this.timeAt(x);
    const widest = (this.span * 1.1) / this.plotWidth;
    this.nsPerPixel = Math.min(Math.max(0.5, this.nsPerPixel * factor), Math.max(0.5, widest));
    this.t0 = at - (x - gutter) * this.nsPerPixel;
    this.settle();
  }

  scrollBy(pane: Pane, pixels: number): void {
    this.scrollTo(pane, pane.scroll + pixels);
    this.request();
  }

  private scrollTo(pane: Pane, y: number): void {
    pane.scroll = Math.round(Math.max(0, Math.min(y, pane.rows.length * this.rowHeight - pane.height)));
  }

  /** reveal scrolls a pane so that a row can be seen. */
  reveal(pane: Pane, row: number): void {
    const at = pane.rows.indexOf(row) * this.rowHeight;
    if (at < pane.scroll || at + this.rowHeight > pane.scroll + pane.height) this.scrollTo(pane, at - pane.height / 2);
    this.request();
  }

  private settle(): void {
    const shown = this.plotWidth * this.nsPerPixel;
    const margin = shown * 0.5;
    this.t0 = Math.max(-margin, Math.min(this.t0, this.span - shown + margin));
    this.moved();
    this.request();
  }

  timeAt(x: number): number {
    return this.t0 + (x - gutter) * this.nsPerPixel;
  }

  xOf(time: number): number {
    return gutter + (time - this.t0) / this.nsPerPixel;
  }

  paneAt(y: number): Pane {
    return this.panes.find((p) => y < p.top + p.height) ?? this.panes[this.panes.length - 1];
  }

  /** yOf is the top of a row on the canvas. */
  yOf(pane: Pane, row: number): number {
    return pane.top + pane.rows.indexOf(row) * this.rowHeight - pane.scroll;
  }

  // What is under the pointer.

  spotAt(x: number, y: number): Spot | null {
    const pane = this.paneAt(y);
    const row = Math.floor((y - pane.top + pane.scroll) / this.rowHeight);
    if (x < gutter || y < pane.top || row >= pane.rows.length) return null;
    const time = this.timeAt(x);
    return time < 0 || time >= pane.info.span ? null : { pane, row, time };
  }

  private slotAt(spot: Spot, level = this.level()): Slot | undefined {
    const index = Math.floor(spot.time / (spot.pane.info.buckets * 2 ** level));
    return spot.pane.store.find(level, index, spot.pane.blocks[Math.floor(spot.row / blockRows)]);
  }

  /** wakeAt finds the wakeup nearest to a point, at most some pixels away. */
  wakeAt(x: number, y: number): Wake | null {
    const reach = 7;
    let best: Wake | null = null;
    let nearest = reach;
    for (const dx of [0, -reach, reach]) {
      const spot = this.spotAt(x + dx, y);
      const tile = spot && this.slotAt(spot)?.tile;
      if (!spot || !tile || !showsWakes(tile)) continue;
      const wakes = tile.wakes!;
      for (let i = 0; i < wakes.time.length; i++) {
        const away = Math.abs(this.xOf(wakes.time[i]) - x);
        if (wakes.row[i] !== spot.row % blockRows || away >= nearest) continue;
        nearest = away;
        best = { pane: spot.pane, time: wakes.time[i], wakee: wakes.wakee[i], waker: wakes.waker[i], target: wakes.target[i], from: wakes.from[i] };
      }
    }
    return best;
  }

  /** taskAt is the task that runs on a CPU at a spot, if the tile tells. */
  stepAt(spot: Spot): { value: number; start: number; end: number } | null {
    const slot = this.slotAt(spot);
    const steps = slot?.tile?.steps;
    if (!slot || !steps) return null;
    const r = spot.row % blockRows;
    const tileEnd = Math.min(spot.pane.info.span, (slot.index + 1) * slot.tile!.buckets * 2 ** slot.level);
    for (let i = steps.first[r + 1] - 1; i >= steps.first[r]; i--) {
      if (steps.start[i] <= spot.time) {
        const end = i + 1 < steps.first[r + 1] ? steps.start[i + 1] : tileEnd;
        return { value: steps.value[i], start: steps.start[i], end };
      }
    }
    return null;
  }

  /** bucketAt is the summary at a spot. */
  bucketAt(spot: Spot): { key: number; busy: number; lost: number; depth: number; width: number } | null {
    const level = this.level();
    const tile = this.slotAt(spot, level)?.tile;
    if (!tile) return null;
    const width = 2 ** level;
    const i = (spot.row % blockRows) * tile.buckets + (Math.floor(spot.time / width) % tile.buckets);
    return { key: tile.key[i], busy: tile.busy[i] / 255, lost: tile.lost[i] / 255, depth: tile.depth[i], width };
  }

  // Drawing.

  request(): void {
    if (this.pending === 0) this.pending = requestAnimationFrame(() => this.draw());
  }

  /** level is that of tiles whose buckets are 1 to 2 device pixels wide. */
  private level(): number {
    return Math.max(0, Math.min(50, Math.ceil(Math.log2(this.nsPerPixel / this.ratio))));
  }

  private draw(): void {
    this.pending = 0;
    const { ctx } = this;
    const p = this.look.palette;
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ctx.imageSmoothingEnabled = false;
    ctx.fillStyle = p.page;
    ctx.fillRect(0, 0, this.width, this.height);
    let paints = paintsPerFrame;
    for (const pane of this.panes) paints = this.drawPane(pane, paints);
    this.drawAxis();
    this.drawSelected();
    if (paints < 0) this.request();
  }

  private drawPane(pane: Pane, paints: number): number {
    const { ctx } = this;
    const level = this.level();
    const width = pane.info.buckets * 2 ** level;
    const view = this.view;
    const first = Math.max(0, Math.floor(view.from / width));
    const last = Math.floor(Math.min(view.to, pane.info.span - 1) / width);
    const blockHeight = blockRows * this.rowHeight;
    ctx.save();
    ctx.beginPath();
    ctx.rect(gutter, pane.top, this.plotWidth, pane.height);
    ctx.clip();
    const labels = new Map<number, Label[]>();
    for (let b = Math.floor(pane.scroll / blockHeight); b < pane.blocks.length && b * blockHeight < pane.scroll + pane.height; b++) {
      const y = pane.top + b * blockHeight - pane.scroll;
      // One tile more on both sides is fetched, for panning.
      for (let index = Math.max(0, first - 1); index <= last + 1; index++) {
        if (index * width >= pane.info.span) break;
        const slot = pane.store.want(level, index, pane.blocks[b]);
        if (index < first || index > last) continue;
        if (slot.tile && slot.painted !== this.looks) {
          if (paints-- > 0) this.paintSlot(slot);
        }
        this.drawSlot(pane, slot, y);
        this.gather(pane, slot, b * blockRows, labels);
      }
    }
    this.drawLabels(pane, labels);
    ctx.restore();
    this.drawGutter(pane);
    return paints;
  }

  private paintSlot(slot: Slot): void {
    slot.picture ??= document.createElement("canvas");
    paint(slot.tile!, slot.level, slot.index, this.look, slot.picture);
    slot.painted = this.looks;
  }

  /** drawSlot draws a tile, or while it is not there what is known of its time. */
  private drawSlot(pane: Pane, slot: Slot, y: number): void {
    if (slot.picture) {
      this.place(pane, slot.picture, 0, slot.picture.width, slot.level, slot.index, y);
      return;
    }
    for (let k = 1; k <= 10; k++) {
      const above = pane.store.find(slot.level + k, Math.floor(slot.index / 2 ** k), slot.rows);
      if (!above?.picture) continue;
      const part = above.picture.width / 2 ** k;
      this.place(pane, above.picture, (slot.index % 2 ** k) * part, part, slot.level, slot.index, y);
      return;
    }
    for (const half of [0, 1]) {
      const below = pane.store.find(slot.level - 1, 2 * slot.index + half, slot.rows);
      if (below?.picture) this.place(pane, below.picture, 0, below.picture.width, below.level, below.index, y);
    }
  }

  /** place draws a part of a picture where the time of a tile is. */
  private place(pane: Pane, picture: HTMLCanvasElement, from: number, part: number, level: number, index: number, y: number): void {
    const width = pane.info.buckets * 2 ** level;
    const snap = (x: number) => Math.round(x * this.ratio) / this.ratio;
    const x0 = snap(this.xOf(index * width));
    const x1 = snap(this.xOf((index + 1) * width));
    this.ctx.drawImage(picture, from, 0, part, picture.height, x0, y, x1 - x0, picture.height / this.ratio);
  }

  /** labelsOf lists the steps of a tile that are wide enough for a name, and
   * those at its edges, which may go on in the next tile. */
  private labelsOf(pane: Pane, slot: Slot): Label[] {
    const known = this.labels.get(slot);
    if (known) return known;
    const found: Label[] = [];
    const { steps, rows, buckets } = slot.tile!;
    if (steps) {
      const wide = 18 * 2 ** slot.level;
      const from = slot.index * buckets * 2 ** slot.level;
      const to = Math.min(from + buckets * 2 ** slot.level, pane.info.span);
      for (let r = 0; r < rows; r++) {
        for (let i = steps.first[r]; i < steps.first[r + 1]; i++) {
          const start = Math.max(from, steps.start[i]);
          const end = i + 1 < steps.first[r + 1] ? steps.start[i + 1] : to;
          const inside = start > from && end < to;
          if (inside && end - start < wide) continue;
          if (this.nameOf(pane, steps.value[i]) !== "") found.push({ row: r, start, end, value: steps.value[i] });
        }
      }
    }
    this.labels.set(slot, found);
    return found;
  }

  /** nameOf is what is written on a step; nothing on idle CPUs and sleeping tasks. */
  private nameOf(pane: Pane, value: number): string {
    if (this.mode === "task") return (value & 3) === 1 ? `CPU ${(value >>> 2) - 1}` : "";
    const task = value === 0 ? undefined : pane.info.tasks[value];
    return task ? `${task.comm}-${task.pid}` : "";
  }

  /** gather adds a tile's labels to those of its rows so far; a step that goes
   * on in the next tile becomes one label. */
  private gather(pane: Pane, slot: Slot, firstRow: number, rows: Map<number, Label[]>): void {
    if (!slot.tile) return;
    for (const l of this.labelsOf(pane, slot)) {
      const row = firstRow + l.row;
      const list = rows.get(row);
      const last = list?.[list.length - 1];
      if (last && last.value === l.value && last.end === l.start) last.end = l.end;
      else if (list) list.push({ ...l });
      else rows.set(row, [{ ...l }]);
    }
  }

  private drawLabels(pane: Pane, rows: Map<number, Label[]>): void {
    const { ctx } = this;
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    const bar = this.rowHeight * (this.mode === "cpu" ? 0.7 : 1);
    let left = labelsPerFrame;
    for (const [row, labels] of rows) {
      const y = pane.top + row * this.rowHeight - pane.scroll;
      if (y + this.rowHeight < pane.top || y > pane.top + pane.height) continue;
      for (const l of labels) {
        const x0 = Math.max(gutter, this.xOf(l.start));
        const letters = Math.floor((Math.min(this.width, this.xOf(l.end)) - x0 - 5) / 6.2);
        const text = fitting(this.nameOf(pane, l.value), letters);
        if (text === "" || left-- <= 0) continue;
        const dim = this.mode === "cpu" && this.bright !== null && !this.bright.has(l.value);
        const key = this.mode === "cpu" ? l.value : l.value >>> 2;
        ctx.fillStyle = dim ? this.look.palette.muted : onColour(colourOf(this.look.palette, key));
        ctx.fillText(text, x0 + 3, y + 1 + bar / 2);
      }
    }
  }

  private drawGutter(pane: Pane): void {
    const { ctx } = this;
    const p = this.look.palette;
    ctx.fillStyle = p.panel;
    ctx.fillRect(0, pane.top - titleHeight, this.width, titleHeight);
    ctx.fillRect(0, pane.top, gutter, pane.height);
    ctx.textBaseline = "middle";
    ctx.fillStyle = p.text;
    ctx.font = "600 12px system-ui, sans-serif";
    const letter = this.panes.length > 1 ? "AB"[this.panes.indexOf(pane)] + "  " : "";
    ctx.fillText(letter + (pane.path === "." ? "this folder" : pane.path), 6, pane.top - titleHeight / 2);
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, pane.top, gutter, pane.height);
    ctx.clip();
    ctx.font = "11px system-ui, sans-serif";
    const first = Math.floor(pane.scroll / this.rowHeight);
    for (let i = first; i < pane.rows.length && i * this.rowHeight < pane.scroll + pane.height; i++) {
      const y = pane.top + (i + 0.5) * this.rowHeight - pane.scroll;
      ctx.fillStyle = p.muted;
      ctx.fillText(this.rowName(pane, pane.rows[i]), 6, y, gutter - 8);
    }
    ctx.restore();
    ctx.fillStyle = p.rule;
    ctx.fillRect(gutter - 1, pane.top, 1, pane.height);
    this.drawScrollbar(pane);
  }

  private rowName(pane: Pane, row: number): string {
    if (this.mode === "cpu") return `CPU ${row}`;
    const task = pane.info.tasks[row];
    return `${task.comm.slice(0, 9)}-${task.pid}`;
  }

  private drawScrollbar(pane: Pane): void {
    const all = pane.rows.length * this.rowHeight;
    if (all <= pane.height) return;
    this.ctx.fillStyle = this.look.palette.muted;
    const length = Math.max(20, (pane.height * pane.height) / all);
    const y = pane.top + (pane.scroll / (all - pane.height)) * (pane.height - length);
    this.ctx.fillRect(this.width - 5, y, 4, length);
  }

  private drawAxis(): void {
    const { ctx } = this;
    const p = this.look.palette;
    ctx.fillStyle = p.panel;
    ctx.fillRect(0, 0, this.width, axisHeight);
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    const step = tickStep(this.nsPerPixel * 110);
    const view = this.view;
    for (let t = Math.max(0, Math.ceil(view.from / step)) * step; t <= Math.min(view.to, this.span); t += step) {
      const x = Math.round(this.xOf(t));
      ctx.fillStyle = p.rule;
      ctx.fillRect(x, 0, 1, axisHeight);
      ctx.fillStyle = p.text;
      ctx.fillText("+" + tickText(t, step), x + 4, axisHeight / 2);
    }
    ctx.fillStyle = p.panel;
    ctx.fillRect(0, 0, gutter - 1, axisHeight);
    ctx.fillStyle = p.muted;
    ctx.fillText("since start", 4, axisHeight / 2, gutter - 8);
  }

  /** drawSelected marks the wakeup that is told, and where it came from. */
  private drawSelected(): void {
    const w = this.selected;
    if (!w) return;
    const { ctx } = this;
    const x = this.xOf(w.time);
    if (x < gutter || x > this.width) return;
    ctx.save();
    ctx.beginPath();
    ctx.rect(gutter, w.pane.top, this.plotWidth, w.pane.height);
    ctx.clip();
    ctx.strokeStyle = ctx.fillStyle = this.look.palette.text;
    ctx.lineWidth = 1;
    ctx.setLineDash([4, 3]);
    ctx.beginPath();
    ctx.moveTo(x, w.pane.top);
    ctx.lineTo(x, w.pane.top + w.pane.height);
    ctx.stroke();
    ctx.setLineDash([]);
    const to = this.yOf(w.pane, this.mode === "cpu" ? w.target : w.wakee);
    const from = this.yOf(w.pane, this.mode === "cpu" ? w.from : w.waker);
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.moveTo(x, from + this.rowHeight / 2);
    ctx.lineTo(x, to + this.rowHeight / 2);
    ctx.stroke();
    ctx.beginPath();
    ctx.arc(x, from + this.rowHeight / 2, 3, 0, 7);
    ctx.fill();
    ctx.beginPath();
    ctx.moveTo(x - 6, to);
    ctx.lineTo(x + 6, to);
    ctx.lineTo(x, to + 10);
    ctx.fill();
    ctx.restore();
  }
}

export function allRows(mode: Mode): (pane: Pane) => number[] {
  return mode === "cpu" ? (pane) => Array.from({ length: pane.info.cpus }, (_, i) => i) : allTasks;
}

/** allTasks lists those first that ran for a thousandth of the time, each part by
 * PID. Task 0 is the idle task of all CPUs. */
function allTasks(pane: Pane): number[] {
  const { tasks, span } = pane.info;
  const rank = (i: number) => (tasks[i].ran * 1000 >= span ? 0 : 1);
  const rows = Array.from({ length: tasks.length - 1 }, (_, i) => i + 1);
  return rows.sort((a, b) => rank(a) - rank(b) || tasks[a].pid - tasks[b].pid);
}

/** fitting is a name, or its number alone, or nothing, in so many letters. */
function fitting(name: string, letters: number): string {
  if (name.length <= letters) return name;
  const number = name.slice(Math.max(name.lastIndexOf("-"), name.lastIndexOf(" ")) + 1);
  return number.length <= letters ? number : "";
}

/** onColour is black or white, whichever can be read on a colour. */
function onColour(abgr: number): string {
  const [r, g, b] = [abgr & 0xff, (abgr >> 8) & 0xff, (abgr >> 16) & 0xff];
  return r * 0.299 + g * 0.587 + b * 0.114 > 140 ? "#000000" : "#ffffff";
}

/** wakeStamp names a wakeup as explain --why reads it: PID@TIME. */
export function wakeStamp(w: Wake): string {
  return `${w.pane.info.tasks[w.wakee].pid}@${stamp(w.pane.info.start, w.time)}`;
}
