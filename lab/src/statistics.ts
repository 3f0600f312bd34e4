// Means with 95 % intervals (Student's t), as in the rest of fairwave.

/** The 97.5 % point of Student's t for 1, 2, … degrees of freedom. Beyond this table, the normal distribution's 1.96. */
const T = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

export interface Interval {
  mean: number;
  /** Half the width of the 95 % interval; NaN for fewer than two values. */
  half: number;
  n: number;
}

export function interval(values: readonly number[]): Interval {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n < 2) return { mean, half: Number.NaN, n };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  return { mean, half: (T[n - 2] ?? 1.96) * Math.sqrt(variance / n), n };
}
