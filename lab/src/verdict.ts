// The verdict of a run as sentences. Bands as in the report pages: ITU-T G.109 for opinion scores, G.1010 for loss.

import type { ObservedRun } from "./protocol";
import { type Interval, interval } from "./statistics";

export type Band = "good" | "fair" | "poor";

export function bandOfMos(mos: number): Band {
  return mos >= 3.6 ? "good" : mos >= 3.1 ? "fair" : "poor";
}

export function bandOfLoss(share: number): Band {
  return share <= 0.01 ? "good" : share <= 0.03 ? "fair" : "poor";
}

export interface Verdict {
  text: string;
  band: Band | "";
}

const percent = (share: number) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

export function rate(bps: number): string {
  if (bps >= 1e6) return `${Number((bps / 1e6).toPrecision(3))} Mb/s`;
  return `${Number((bps / 1e3).toPrecision(3))} kb/s`;
}

/** The mean opinion score of each group of calls over replications. */
export function scoresOf(runs: readonly ObservedRun[]): Map<string, Interval> {
  const scores = new Map<string, number[]>();
  for (const { voice } of runs) {
    for (const { group, mos } of voice) {
      if (mos !== null) scores.set(group, [...(scores.get(group) ?? []), mos]);
    }
  }
  return new Map([...scores].map(([group, values]) => [group, interval(values)]));
}

/** Whether every mean is known to ± `half`. */
export function isPrecise(scores: ReadonlyMap<string, Interval>, half: number): boolean {
  return [...scores.values()].every((score) => Number.isNaN(score.mean) || score.half <= half);
}

/** One or two sentences for each group of flows, calls first. `scores` are means over replications. */
export function verdicts(run: ObservedRun, scores: ReadonlyMap<string, Interval>): Verdict[] {
  const found: Verdict[] = [];
  for (const voice of run.voice) {
    const score = scores.get(voice.group);
    const mos = score?.mean ?? voice.mos;
    const many = voice.rated > 1 ? "calls are" : "call is";
    const name = voice.group === "call" ? "" : ` (${voice.group})`;
    if (mos === null || mos === undefined || Number.isNaN(mos)) {
      const why = voice.note ? `: ${voice.note}` : "";
      found.push({
        text: `The ${voice.group === "call" ? "call" : `call ${voice.group}`} has no rating${why}.`,
        band: "",
      });
      continue;
    }
    const sure = score && score.n > 1 ? ` ± ${score.half.toFixed(2)} over ${score.n} runs` : "";
    const band = bandOfMos(mos);
    found.push({ text: `The ${many} ${band}: MOS ${mos.toFixed(1)}${sure}${name}.`, band });
    const flow = run.flows.find((row) => row.group === voice.group);
    const [mouthToEar, missed] = [flow?.mouth_to_ear_s, flow?.missed_ratio];
    if (voice.rated === 1 && typeof mouthToEar === "number" && typeof missed === "number") {
      found.push({
        text: `Mouth-to-ear delay ${Math.round(mouthToEar * 1000)} ms; ${percent(missed)} of the packets are not played.`,
        band: "",
      });
    }
  }
  for (const group of run.network.groups.filter((one) => !one.call)) {
    const row = run.groups.find((one) => one.group === group.name);
    if (!row || typeof row.goodput_bps !== "number") continue;
    const sent = Number(row.units_sent);
    const received = Number(row.units_received);
    if (group.class === "tcp" || !sent) {
      found.push({ text: `${group.name} gets ${rate(row.goodput_bps)}.`, band: "" });
    } else {
      const lost = Math.max(0, 1 - received / sent);
      found.push({
        text: `${group.name} gets ${rate(row.goodput_bps)}, ${percent(lost)} lost.`,
        band: bandOfLoss(lost),
      });
    }
  }
  return found;
}
