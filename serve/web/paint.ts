import { colourOf, Palette } from "./palette";
import { Mode, nobody, Tile } from "./tile";

/** Look says how tiles are painted; a change repaints them. */
export interface Look {
  palette: Palette;
  mode: Mode;
  rowHeight: number; // device pixels
  /** bright keeps the colours of these tasks and fades the others; null: all. */
  bright: Set<number> | null;
}

/** paint draws a tile into a picture of one pixel a bucket. */
export function paint(tile: Tile, level: number, index: number, look: Look, picture: HTMLCanvasElement): void {
  const { buckets, rows } = tile;
  const height = look.rowHeight;
  const image = scratch(buckets, rows * height);
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(look.palette.background);
  const rule = look.palette.page === "#ffffff" ? 0xffe6e2df : 0xff262019;
  for (let r = 0; r < rows; r++) {
    const top = r * height;
    pixels.fill(rule, top * buckets, (top + 1) * buckets);
    paintRow(tile, r, look, pixels, top + 1, height - 1);
  }
  if (showsWakes(tile)) paintWakes(tile, level, index, look, pixels);
  picture.width = buckets;
  picture.height = rows * height;
  picture.getContext("2d")!.putImageData(image, 0, 0);
}

let last: ImageData | null = null;

/** scratch is memory to paint in, the same again where it fits: a new one for
 * each tile would keep the garbage collector busy. */
function scratch(width: number, height: number): ImageData {
  if (last?.width !== width || last.height !== height) last = new ImageData(width, height);
  return last;
}

/** depthShare is the part of a CPU's row that shows its queue. */
const depthShare = 0.3;
const fullDepth = 8;

function paintRow(tile: Tile, r: number, look: Look, pixels: Uint32Array, top: number, height: number): void {
  const { buckets } = tile;
  const p = look.palette;
  const cpu = look.mode === "cpu";
  const queue = cpu ? Math.max(2, Math.round(height * depthShare)) : 0;
  const bar = height - queue;
  for (let x = 0; x < buckets; x++) {
    const i = r * buckets + x;
    const busy = tile.busy[i];
    const lost = tile.lost[i];
    const run = busy === 0 ? 0 : Math.max(1, Math.round((busy * bar) / 255));
    if (run > 0) {
      const key = tile.key[i];
      const dim = cpu && look.bright !== null && !look.bright.has(key);
      const colour = key === nobody || dim ? p.faded : colourOf(p, key);
      for (let y = bar - run; y < bar; y++) pixels[(top + y) * buckets + x] = colour;
    }
    if (lost > 0) {
      const hatched = Math.min(bar - run, Math.max(1, Math.round((lost * bar) / 255)));
      for (let y = bar - run - hatched; y < bar - run; y++) {
        if (cpu ? (x + y) % 5 < 2 : (x + y) % 7 === 0) pixels[(top + y) * buckets + x] = p.lost;
      }
    }
    const depth = tile.depth[i];
    if (!cpu) {
      if (depth > 0 && run === 0 && lost === 0) pixels[(top + (bar >> 1)) * buckets + x] = p.line;
    } else if (depth > 0) {
      const filled = 1 + Math.round(((Math.min(depth, fullDepth) - 1) * (queue - 2)) / (fullDepth - 1));
      for (let y = 0; y < filled; y++) pixels[(top + height - 1 - y) * buckets + x] = depth > 1 ? p.deep : p.depth;
    }
  }
}

/** showsWakes says whether wakeups are drawn: not where they would touch. */
export function showsWakes(tile: Tile): boolean {
  return tile.wakes !== null && tile.wakes.time.length * 20 <= tile.rows * tile.buckets;
}

/** paintWakes draws a wakeup as a notch at the top of its row. */
function paintWakes(tile: Tile, level: number, index: number, look: Look, pixels: Uint32Array): void {
  const { buckets } = tile;
  const width = 2 ** level;
  const start = index * buckets * width;
  const wakes = tile.wakes!;
  for (let i = 0; i < wakes.time.length; i++) {
    const x = Math.floor((wakes.time[i] - start) / width);
    const top = wakes.row[i] * look.rowHeight + 1;
    for (let y = 0; y < 5; y++) {
      const half = 3 - (y >> 1) - (y >> 2);
      for (let dx = -half; dx <= half; dx++) {
        if (x + dx >= 0 && x + dx < buckets) pixels[(top + y) * buckets + x + dx] = look.palette.mark;
      }
    }
  }
}
