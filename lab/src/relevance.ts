// The smallest differences that count. A test compares them with python/fairwave/measuring/relevance.py.

import type { Interval } from "./statistics";

/** A smallest difference that counts: in the measure's unit, or a share of the larger of two means. */
export interface Relevant {
  amount: number;
  isShare?: boolean;
}

export const RELEVANT = {
  mos: { amount: 0.1 },
  delay: { amount: 10 },
  loss: { amount: 0.5 },
  freezes: { amount: 0.5 },
  goodput: { amount: 0.02, isShare: true },
  other: { amount: 0.02, isShare: true },
} as const satisfies Record<string, Relevant>;

export const EXPLAINED =
  "Alike: a difference that does not count (less than MOS 0.1, 10 ms, 0.5 points of a share, 2 % of a rate).";

/** The smallest difference of two means that counts, in their unit. */
export function countsFrom(relevant: Relevant, a: number, b: number): number {
  return relevant.isShare ? relevant.amount * Math.max(Math.abs(a), Math.abs(b)) : relevant.amount;
}

/** The verdict of a difference's 95 % interval. One pair of runs decides nothing unless both are equal. */
export function judge({ mean, low, high, n }: Interval, counts: number): "higher" | "lower" | "alike" | "undecided" {
  if (n < 2 || Number.isNaN(low)) return mean === 0 ? "alike" : "undecided";
  if (low > 0 && low >= counts) return "higher";
  if (high < 0 && high <= -counts) return "lower";
  return (-counts < low && high < counts) || (low === 0 && high === 0) ? "alike" : "undecided";
}
