import { gutter, Spot, Timeline } from "./timeline";

/** Acts is what pointer and keys ask for beyond moving the view. */
export interface Acts {
  hover(spot: Spot | null, x: number, y: number): void;
  click(x: number, y: number): void;
  key(key: string): boolean; // whether it meant something
}

/** listen moves a timeline by wheel, drag, pinch and keys. */
export function listen(t: Timeline, acts: Acts, signal: AbortSignal): void {
  wheel(t, signal);
  pointers(t, acts, signal);
  keys(t, acts, signal);
}

function wheel(t: Timeline, signal: AbortSignal): void {
  t.canvas.addEventListener(
    "wheel",
    (e) => {
      e.preventDefault();
      const unit = e.deltaMode === 1 ? 16 : 1; // lines or pixels
      const [dx, dy] = [e.deltaX * unit, e.deltaY * unit];
      if (e.shiftKey || Math.abs(dx) > Math.abs(dy)) t.pan(dx || dy);
      else if (e.offsetX < gutter) t.scrollBy(t.paneAt(e.offsetY), dy);
      else t.zoom(Math.exp(Math.max(-300, Math.min(300, dy)) * 0.003), e.offsetX);
    },
    { passive: false, signal },
  );
}

function pointers(t: Timeline, acts: Acts, signal: AbortSignal): void {
  const { canvas } = t;
  const down = new Map<number, { x: number; y: number }>();
  let travelled = 0;
  canvas.addEventListener(
    "pointerdown",
    (e) => {
      canvas.setPointerCapture(e.pointerId);
      down.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
      travelled = 0;
      acts.hover(null, 0, 0);
    },
    { signal },
  );
  canvas.addEventListener(
    "pointermove",
    (e) => {
      const last = down.get(e.pointerId);
      if (!last) {
        acts.hover(t.spotAt(e.offsetX, e.offsetY), e.offsetX, e.offsetY);
        return;
      }
      const [dx, dy] = [e.offsetX - last.x, e.offsetY - last.y];
      travelled += Math.abs(dx) + Math.abs(dy);
      if (down.size === 2) pinch(t, down, e);
      else if (travelled > 3) {
        canvas.classList.add("dragging");
        t.pan(-dx);
        t.scrollBy(t.paneAt(last.y), -dy);
      }
      down.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
    },
    { signal },
  );
  const up = (e: PointerEvent) => {
    if (down.delete(e.pointerId) && e.type === "pointerup" && travelled <= 3) acts.click(e.offsetX, e.offsetY);
    canvas.classList.remove("dragging");
  };
  canvas.addEventListener("pointerup", up, { signal });
  canvas.addEventListener("pointercancel", up, { signal });
  canvas.addEventListener("pointerleave", () => acts.hover(null, 0, 0), { signal });
}

/** pinch zooms by the change of the distance between two fingers. */
function pinch(t: Timeline, down: Map<number, { x: number; y: number }>, e: PointerEvent): void {
  const moving = down.get(e.pointerId)!;
  const other = [...down.entries()].find(([id]) => id !== e.pointerId)![1];
  const before = Math.max(10, Math.abs(moving.x - other.x));
  const after = Math.max(10, Math.abs(e.offsetX - other.x));
  t.zoom(before / after, (e.offsetX + other.x) / 2);
}

function keys(t: Timeline, acts: Acts, signal: AbortSignal): void {
  window.addEventListener(
    "keydown",
    (e) => {
      const typing = e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement;
      if (e.ctrlKey || e.metaKey || e.altKey || (typing && e.key !== "Escape")) return;
      if (e.key === "Enter" && e.target instanceof HTMLElement && e.target.closest("button, a")) return;
      if (move(t, e) || acts.key(e.key)) e.preventDefault();
    },
    { signal },
  );
}

function move(t: Timeline, e: KeyboardEvent): boolean {
  const far = (t.canvas.clientWidth - gutter) * (e.shiftKey ? 0.8 : 0.1);
  switch (e.key) {
    case "ArrowLeft":
      t.pan(-far);
      return true;
    case "ArrowRight":
      t.pan(far);
      return true;
    case "ArrowUp":
    case "ArrowDown":
      for (const pane of t.panes) t.scrollBy(pane, e.key === "ArrowUp" ? -48 : 48);
      return true;
    case "+":
    case "=":
      t.zoom(0.5);
      return true;
    case "-":
      t.zoom(2);
      return true;
    case "0":
    case "Home":
      t.fit();
      return true;
  }
  return false;
}
