// Values with units, as the scenario language writes them: "2 Mb/s", "20 ms", "160 B".

export type Dimension = "rate" | "time" | "size" | "count" | "number" | "fraction";

const UNITS: Record<"rate" | "time" | "size", [string, number][]> = {
  rate: [
    ["Gb/s", 1e9],
    ["Mb/s", 1e6],
    ["kb/s", 1e3],
    ["b/s", 1],
  ],
  time: [
    ["min", 60],
    ["s", 1],
    ["ms", 1e-3],
    ["us", 1e-6],
    ["ns", 1e-9],
  ],
  size: [
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3],
    ["B", 1],
  ],
};

export interface Quantity {
  value: number;
  dimension: Dimension;
}

/** Parses a number or a text with a unit; undefined for anything else. */
export function parse(written: unknown): Quantity | undefined {
  if (typeof written === "number") return { value: written, dimension: "number" };
  if (typeof written !== "string") return undefined;
  const match = /^([0-9_]+(?:\.[0-9]+)?(?:e-?[0-9]+)?) *([A-Za-zµ/]+)$/.exec(written.trim());
  if (!match) return undefined;
  const value = Number(match[1]?.replaceAll("_", ""));
  const unit = match[2] === "µs" ? "us" : match[2];
  for (const [dimension, units] of Object.entries(UNITS)) {
    const found = units.find(([name]) => name === unit);
    if (found) return { value: value * found[1], dimension: dimension as Dimension };
  }
  return undefined;
}

/** Rounds to significant digits. */
export function rounded(value: number, digits = 3): number {
  return Number(value.toPrecision(digits));
}

/** Formats a value as the scenario language writes it. */
export function format(value: number, dimension: Dimension): string | number {
  if (dimension === "count") return Math.round(value);
  if (dimension === "number" || dimension === "fraction") return rounded(value);
  const units = UNITS[dimension];
  const fits = dimension === "time" ? units.slice(1) : units;
  const [unit, worth] = fits.find(([, worth]) => value >= worth * 0.9995) ?? (fits.at(-1) as [string, number]);
  return `${rounded(value / worth)} ${unit}`;
}

/** Formats a value for readers: as the scenario language writes it, but fractions in per cent. */
export function formatDisplay(value: number, dimension: Dimension): string {
  if (dimension === "fraction") return `${rounded(value * 100)} %`;
  return String(format(value, dimension));
}
