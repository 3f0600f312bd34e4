// Comparison of runs: a few measures of each run, and their means and differences over seeds.

import type { ObservedRun } from "./protocol";
import { countsFrom, RELEVANT, type Relevant } from "./relevance";
import { type Interval, interval } from "./statistics";

export interface Measure {
  /** The same for the same measure of any run. */
  key: string;
  label: string;
  unit: string;
  /** Digits after the decimal point. */
  digits: number;
  value: number;
  relevant: Relevant;
}

const numberOf = (value: unknown): number => (typeof value === "number" ? value : Number.NaN);

/** Calls and media sessions first, then the other groups, then the queue where packets wait longest. */
export function measuresOf(run: ObservedRun): Measure[] {
  const found: Measure[] = [];
  const ofUnit: Record<string, Relevant> = { ms: RELEVANT.delay, "%": RELEVANT.loss, "Mb/s": RELEVANT.goodput };
  const add = (
    key: string,
    label: string,
    unit: string,
    digits: number,
    value: number,
    relevant: Relevant = ofUnit[unit] ?? RELEVANT.other,
  ) => {
    if (Number.isFinite(value)) found.push({ key, label, unit, digits, value, relevant });
  };
  for (const { group, mos } of run.voice) {
    const calls = run.flows.filter((row) => row.group === group);
    const mean = (column: string): number => {
      const values = calls.map((row) => numberOf(row[column])).filter(Number.isFinite);
      return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : Number.NaN;
    };
    add(`mos ${group}`, `MOS of ${group}`, "", 2, mos ?? Number.NaN, RELEVANT.mos);
    add(`delay ${group}`, `Mouth-to-ear delay of ${group}`, "ms", 0, mean("mouth_to_ear_s") * 1000);
    add(`missed ${group}`, `Packets of ${group} not played`, "%", 2, mean("missed_ratio") * 100);
  }
  for (const of of run.media_groups) {
    const name = of.group;
    add(`worst ${name}`, `MOS of the worst stream of ${name}`, "", 2, numberOf(of.mos), RELEVANT.mos);
    add(`audio ${name}`, `MOS of audio of ${name}`, "", 2, numberOf(of.audio_mos), RELEVANT.mos);
    add(`video ${name}`, `MOS of video of ${name}`, "", 2, numberOf(of.video_mos), RELEVANT.mos);
    add(`frozen ${name}`, `Frozen time of ${name}`, "%", 2, numberOf(of.freeze_ratio) * 100);
    add(`freezes ${name}`, `Freezes of ${name}`, "", 1, numberOf(of.freezes), RELEVANT.freezes);
    add(`height ${name}`, `Picture height of ${name}`, "pixels", 0, numberOf(of.height));
    add(`delay ${name}`, `Mouth-to-ear delay of ${name}`, "ms", 0, numberOf(of.audio_delay_s) * 1000);
  }
  for (const { name, call } of run.network.groups) {
    if (call) continue;
    const row = run.groups.find(({ group }) => group === name);
    if (!row) continue;
    add(`goodput ${name}`, `Goodput of ${name}`, "Mb/s", 2, numberOf(row.goodput_bps) / 1e6);
    add(`dropped ${name}`, `Packets of ${name} dropped`, "%", 2, numberOf(row.dropped_share) * 100);
  }
  const name = run.link_series[0]?.link;
  const link = run.links.find((row) => row.link === name);
  if (link) {
    add("wait", "Mean wait in the longest queue", "ms", 1, numberOf(link.mean_wait_s) * 1000);
    add("queue", "Mean length of the longest queue", "packets", 1, numberOf(link.mean_queue_packets));
  }
  return found;
}

export interface ComparedMeasure {
  label: string;
  unit: string;
  digits: number;
  a: Interval;
  b: Interval;
  /** B − A, paired by seed. */
  difference: Interval;
  /** The smallest difference that counts. */
  counts: number;
}

/** Measures that both settings have, over the seeds that both have run. */
export function compare(a: readonly ObservedRun[], b: readonly ObservedRun[]): ComparedMeasure[] {
  const pairs = b.flatMap((run) => {
    const other = a.find(({ seed }) => seed === run.seed);
    return other ? [[measuresOf(other), measuresOf(run)] as const] : [];
  });
  return (pairs[0]?.[1] ?? []).flatMap(({ key, label, unit, digits, relevant }) => {
    const values = pairs.flatMap(([one, other]) => {
      const [x, y] = [one, other].map((measures) => measures.find((measure) => measure.key === key)?.value);
      return x === undefined || y === undefined ? [] : [[x, y] as const];
    });
    if (!values.length) return [];
    const [first, second] = [interval(values.map(([x]) => x)), interval(values.map(([, y]) => y))];
    const difference = interval(values.map(([x, y]) => y - x));
    return [
      { label, unit, digits, a: first, b: second, difference, counts: countsFrom(relevant, first.mean, second.mean) },
    ];
  });
}
