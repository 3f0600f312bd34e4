// Means with 95 % intervals, as in the rest of fairwave (python/fairwave/measuring/statistics.py): Student's t, longer on
// the side of the longer tail. A test compares the two.

/** The 97.5 % point of Student's t for 1, 2, … degrees of freedom. Beyond this table, the normal distribution's 1.96. */
const T = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/** A sample of n shows less skewness than its population has: it counts 1 + FEW/n times. */
const FEW = 15;
/** The longer side is at most this many times its length by Student's t. */
const MOST_EXTENDED = 3;
/** The shorter side loses up to this share, all of it if the longer side is twice as long. */
const MOST_SHORTENED = 0.05;

export interface Interval {
  mean: number;
  /** The ends of the 95 % interval; NaN for fewer than two values. Both are the mean if all values are equal. */
  low: number;
  high: number;
  n: number;
}

export function interval(values: readonly number[]): Interval {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n < 2) return { mean, low: Number.NaN, high: Number.NaN, n };
  const moment = (power: number) => values.reduce((sum, value) => sum + (value - mean) ** power, 0) / n;
  const square = moment(2);
  const skewness = square > 0 ? moment(3) / square ** 1.5 : 0;
  const t = T[n - 2] ?? 1.96;
  const kt = ((2 / 3) * (1 + FEW / n) * Math.abs(skewness) * t) / Math.sqrt(n);
  const grown = kt > 1e-12 ? Math.expm1(kt) / kt : 1;
  const student = t * Math.sqrt(square / (n - 1));
  if (student <= 1e-12 * Math.max(...values.map(Math.abs))) return { mean, low: mean, high: mean, n };
  const longer = Math.min(grown, MOST_EXTENDED) * student;
  const shorter = (1 - MOST_SHORTENED * Math.min(grown - 1, 1)) * student;
  const [below, above] = skewness > 0 ? [shorter, longer] : [longer, shorter];
  return { mean, low: mean - below, high: mean + above, n };
}

/** Distance from the mean to the farther end: the mean is known to ± this. */
export function precisionOf({ mean, low, high }: Interval): number {
  return Math.max(high - mean, mean - low);
}

/** The interval after a mean: ` ± 0.02`, ` [3.91, 4.20]`, ` (same in all 5)`; empty for one run. */
export function sureOf({ mean, low, high, n }: Interval, digits: number): string {
  if (n < 2 || !Number.isFinite(low) || !Number.isFinite(high)) return "";
  if (low === high) return ` (same in all ${n})`;
  const [below, above] = [(mean - low).toFixed(digits), (high - mean).toFixed(digits)];
  const far = Math.max(high - mean, mean - low).toFixed(digits);
  return below === above || Number(far) <= 1.5 * 10 ** -digits
    ? ` ± ${far}`
    : ` [${low.toFixed(digits)}, ${high.toFixed(digits)}]`;
}
