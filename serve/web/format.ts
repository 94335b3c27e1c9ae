/** duration writes ns in a unit that suits. */
export function duration(ns: number): string {
  const units: [string, number][] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]];
  for (const [unit, size] of units) {
    if (Math.abs(ns) >= size) return `${Number((ns / size).toPrecision(4))} ${unit}`;
  }
  return `${Math.round(ns)} ns`;
}

/** stamp writes the moment t ns after a start as the trace prints it, with all
 * nine digits: seconds and nanoseconds. */
export function stamp(start: string, t: number): string {
  const ns = BigInt(start) + BigInt(Math.round(t));
  return `${ns / 1_000_000_000n}.${String(ns % 1_000_000_000n).padStart(9, "0")}`;
}

/** tickStep is a round distance of at least minimum ns between two ticks. */
export function tickStep(minimum: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, minimum)));
  for (const f of [1, 2, 5, 10]) if (f * power >= minimum) return f * power;
  return 10 * power;
}

/** tickText writes a tick's moment with as many digits as its step needs. */
export function tickText(ns: number, step: number): string {
  const units: [string, number][] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
  const [unit, size] = units.find(([, size]) => ns >= size) ?? ["ns", 1];
  return `${(ns / size).toFixed(Math.max(0, Math.ceil(Math.log10(size / step))))} ${unit}`;
}

/** counted writes a number of things, of which one has no s. */
export function counted(n: number, thing: string): string {
  return `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;
}
