import { bytes } from "./api";

export type Mode = "cpu" | "task";

/** nobody is the key of a bucket of which nothing is known. */
export const nobody = 0xffffffff;

/** Tile is a stretch of time of some rows: summaries in buckets and, where there
 * are not too many, every step and every wakeup. It views the server's bytes. */
export interface Tile {
  rows: number;
  buckets: number;
  key: Uint32Array;
  busy: Uint8Array;
  lost: Uint8Array;
  depth: Uint8Array;
  steps: { first: Uint32Array; start: Float64Array; value: Uint32Array } | null;
  wakes: Wakes | null;
}

export interface Wakes {
  time: Float64Array;
  row: Uint32Array;
  wakee: Uint32Array;
  waker: Uint32Array;
  target: Uint32Array;
  from: Uint32Array;
}

const magic = 0x31544c53;
const hasSteps = 1;
const hasWakes = 2;

/** decode views a tile in place; the server aligns every array. */
export function decode(buffer: ArrayBuffer): Tile {
  const head = new Uint32Array(buffer, 0, 4);
  if (head[0] !== magic) throw new Error("the server sent something that is no tile");
  const [, flags, rows, buckets] = head;
  const n = rows * buckets;
  let at = 16;
  const u8 = (length: number) => new Uint8Array(buffer, (at += length) - length, length);
  const u32 = (length: number) => new Uint32Array(buffer, (at += 4 * length) - 4 * length, length);
  const f64 = (length: number) => new Float64Array(buffer, (at += 8 * length) - 8 * length, length);
  const align = () => (at = (at + 7) & ~7);
  const tile: Tile = { rows, buckets, key: u32(n), busy: u8(n), lost: u8(n), depth: u8(n), steps: null, wakes: null };
  if (flags & hasSteps) {
    const first = u32(rows + 1);
    align();
    tile.steps = { first, start: f64(first[rows]), value: u32(first[rows]) };
  }
  if (flags & hasWakes) {
    align();
    const [count] = u32(2);
    tile.wakes = { time: f64(count), row: u32(count), wakee: u32(count), waker: u32(count), target: u32(count), from: u32(count) };
  }
  return tile;
}

/** rowList writes row numbers as the server reads them: 0-31,40. */
export function rowList(rows: number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < rows.length; ) {
    let j = i;
    while (j + 1 < rows.length && rows[j + 1] === rows[j] + 1) j++;
    parts.push(i === j ? String(rows[i]) : `${rows[i]}-${rows[j]}`);
    i = j + 1;
  }
  return parts.join(",");
}

/** Slot is a place for a tile, drawn or not. */
export interface Slot {
  level: number;
  index: number;
  rows: string;
  tile: Tile | null;
  picture: HTMLCanvasElement | null; // as last painted
  painted: number; // for which look, see Timeline.look
  asked: boolean;
  used: number;
}

const maxRequests = 4;
const maxSlots = 600;

/** Store fetches the tiles of one recording and keeps those used last. */
export class Store {
  private slots = new Map<string, Slot>();
  private waiting: Slot[] = [];
  private running = 0;
  private clock = 0;
  private gone = new AbortController();

  constructor(
    private path: string,
    private mode: Mode,
    private arrived: () => void,
    private failed: (e: unknown) => void,
  ) {}

  close(): void {
    this.gone.abort();
  }

  find(level: number, index: number, rows: string): Slot | undefined {
    const slot = this.slots.get(`${level}/${index}/${rows}`);
    if (slot) slot.used = ++this.clock;
    return slot;
  }

  /** want returns the slot of a tile and has it fetched. */
  want(level: number, index: number, rows: string): Slot {
    let slot = this.find(level, index, rows);
    if (!slot) {
      slot = { level, index, rows, tile: null, picture: null, painted: -1, asked: false, used: ++this.clock };
      this.slots.set(`${level}/${index}/${rows}`, slot);
      this.forgetOldest();
    }
    if (!slot.tile && !slot.asked) {
      slot.asked = true;
      this.waiting.push(slot);
      this.next();
    }
    return slot;
  }

  private next(): void {
    while (this.running < maxRequests && this.waiting.length > 0) {
      const slot = this.waiting.pop()!; // what was wanted last is what is looked at
      // What scrolled away before its turn is not worth asking for.
      if (slot.used < this.clock - 400) {
        slot.asked = false;
        continue;
      }
      this.running++;
      void this.fetch(slot);
    }
  }

  private async fetch(slot: Slot): Promise<void> {
    const query = { path: this.path, mode: this.mode, level: slot.level, index: slot.index, rows: slot.rows };
    try {
      slot.tile = decode(await bytes("tile", query, this.gone.signal));
      this.arrived();
    } catch (e) {
      if (!this.gone.signal.aborted) this.failed(e);
    } finally {
      this.running--;
      this.next();
    }
  }

  private forgetOldest(): void {
    if (this.slots.size <= maxSlots) return;
    const byAge = [...this.slots.entries()].sort((a, b) => a[1].used - b[1].used);
    for (const [name, slot] of byAge.slice(0, maxSlots / 4)) if (slot.tile || !slot.asked) this.slots.delete(name);
  }
}
