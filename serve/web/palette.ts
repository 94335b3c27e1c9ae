// Colours after Okabe and Ito, which people with any colour vision tell apart,
// in the order that keeps neighbours far apart. Vermilion is kept for what is
// lost: it is hatched besides, so that it does not depend on colour alone.

const runs = ["#0072b2", "#009e73", "#cc79a7", "#e0a100", "#56b4e9", "#8a6fc0", "#7a8f2a", "#a5694f"];
const lost = "#d55e00";

/** Palette has colours as the numbers that ImageData takes: 0xAABBGGRR. */
export interface Palette {
  background: number;
  runs: number[];
  faded: number;
  lost: number;
  line: number;
  depth: number;
  deep: number;
  mark: number;
  text: string;
  muted: string;
  panel: string;
  rule: string;
  page: string;
}

function abgr(css: string): number {
  const n = parseInt(css.slice(1), 16);
  return (0xff000000 | ((n & 0xff) << 16) | (n & 0xff00) | (n >> 16)) >>> 0;
}

export function isDark(): boolean {
  return document.documentElement.dataset.theme === "dark";
}

export function palette(): Palette {
  const dark = isDark();
  return {
    background: abgr(dark ? "#1a1e23" : "#f7f8f9"),
    runs: runs.map(abgr),
    faded: abgr(dark ? "#454d57" : "#c9ced5"),
    lost: abgr(lost),
    line: abgr(dark ? "#59626d" : "#a7afb9"),
    depth: abgr(dark ? "#7d8896" : "#99a2ad"),
    deep: abgr(dark ? "#dfe4ea" : "#30363d"),
    mark: abgr(dark ? "#ffffff" : "#000000"),
    text: dark ? "#e6e9ed" : "#1b1f24",
    muted: dark ? "#9aa4b0" : "#5b6470",
    panel: dark ? "#1e2329" : "#f4f5f7",
    rule: dark ? "#343b44" : "#d5d9df",
    page: dark ? "#14171b" : "#ffffff",
  };
}

/** colourOf gives a task or CPU its colour; the multiplier spreads neighbours. */
export function colourOf(p: Palette, key: number): number {
  return p.runs[(Math.imul(key, 5) >>> 0) % p.runs.length];
}
