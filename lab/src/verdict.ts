// The verdict of a run as sentences, by the rules of the command line (docs/judging.md, Verdicts about calls): bands of
// ITU-T G.109 for opinion scores and of G.1010 for loss; a gap, a freeze or a long delay makes them fair at best.

import type { MediaGroup, ObservedRun } from "./protocol";
import { type Interval, interval, precisionOf, sureOf } from "./statistics";

export type Band = "good" | "fair" | "poor";

export function bandOfMos(mos: number): Band {
  return mos >= 3.6 ? "good" : mos >= 3.1 ? "fair" : "poor";
}

export function bandOfLoss(share: number): Band {
  return share <= 0.01 ? "good" : share <= 0.03 ? "fair" : "poor";
}

/** A longer gap of speech, or frozen picture, makes a call fair at best. */
export const GAP_S = 0.5;
export const FROZEN_S = 1;
/** A stream that is no call is fair at best above this delay, one way. */
export const DELAYED_S = 0.15;

/** Every band that a mean's interval touches, best first; the band of the mean if there is no interval. */
export function bandsOf(score: Interval, isHeld = false): Band[] {
  const ends = score.n > 1 ? [score.high, score.low] : [score.mean];
  const [best, worst] = [ends[0], ends[ends.length - 1]].map((end) => ORDER.indexOf(bandOfMos(Number(end))));
  return ORDER.slice(Math.max(Number(best), isHeld ? 1 : 0), Math.max(Number(worst), isHeld ? 1 : 0) + 1);
}

const ORDER: readonly Band[] = ["good", "fair", "poor"];

/** Bands in words: `good`, or `undecided after 2 runs: poor to good`. */
function inWords(bands: readonly Band[], runs: number): string {
  return bands.length === 1
    ? String(bands[0])
    : `undecided after ${runs} runs: ${bands[bands.length - 1]} to ${bands[0]}`;
}

/** The largest of a column over the flows of a group; 0 without any. */
function largest(run: ObservedRun, group: string, column: string): number {
  const values = run.flows.filter((row) => row.group === group).map((row) => Number(row[column] ?? 0));
  return Math.max(0, ...values);
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

/** The mean opinion score of each group of calls and of media sessions (their worst stream) over replications. */
export function scoresOf(runs: readonly ObservedRun[]): Map<string, Interval> {
  const scores = new Map<string, number[]>();
  for (const { voice, media_groups } of runs) {
    for (const { group, mos } of [...voice, ...media_groups]) {
      if (mos !== null) scores.set(group, [...(scores.get(group) ?? []), mos]);
    }
  }
  return new Map([...scores].map(([group, values]) => [group, interval(values)]));
}

/** Whether every mean is known to ± `half`. */
export function isPrecise(scores: ReadonlyMap<string, Interval>, half: number): boolean {
  return [...scores.values()].every((score) => Number.isNaN(score.mean) || precisionOf(score) <= half);
}

/** A session counts as frozen for too long above this share of its time, 10 %. */
export const MOST_FROZEN = 0.1;

const millis = (seconds: number) => `${Math.round(seconds * 1000)} ms`;

/** Describes the streams of a session: speech, then pictures. */
function streams(of: MediaGroup): string {
  const found: string[] = [];
  if (of.audio_mos !== null) {
    const delay = of.audio_delay_s === null ? "" : `, mouth to ear ${millis(of.audio_delay_s)}`;
    found.push(`Audio: MOS ${of.audio_mos.toFixed(2)}${delay}.`);
  }
  if (of.video_mos !== null) {
    const parts = [`MOS ${of.video_mos.toFixed(2)}`];
    if (of.freezes === 0) parts.push("no freezes");
    else if (of.freeze_ratio !== null) {
      const freezes = of.freezes === null ? "" : ` in ${Number(of.freezes.toFixed(1))} freezes`;
      const bound = `${of.freeze_ratio > MOST_FROZEN ? "above the threshold of" : "threshold"} ${MOST_FROZEN * 100} %`;
      parts.push(`frozen ${percent(of.freeze_ratio)} of the time${freezes} (${bound})`);
    }
    if (of.height !== null) parts.push(`pictures ${Math.round(of.height)} pixels high`);
    if (of.frame_rate !== null) parts.push(`${Math.round(of.frame_rate)} per second`);
    found.push(`Video: ${parts.join(", ")}.`);
  }
  return found.join(" ");
}

/** Verdict and streams of each group of media sessions, in the words of the command line. */
function ofSessions(run: ObservedRun, scores: ReadonlyMap<string, Interval>): Verdict[] {
  return run.media_groups.flatMap((of) => {
    const score = scores.get(of.group);
    const mos = score?.mean ?? of.mos;
    if (mos === null || Number.isNaN(mos))
      return [{ text: `The stream of ${of.group} has no rating.`, band: "" as const }];
    const sure = score ? sureOf(score, 2) : "";
    const runs = score && score.n > 1 ? `, over ${score.n} runs` : "";
    const [gap, freeze] = [of.longest_gap_s ?? 0, of.longest_freeze_s ?? 0];
    const events = [
      ...(gap > GAP_S ? [`a gap of speech of ${gap.toFixed(1)} s`] : []),
      ...(freeze > FROZEN_S ? [`a picture was frozen for ${freeze.toFixed(1)} s`] : []),
    ];
    const bands = bandsOf(score ?? { mean: mos, low: Number.NaN, high: Number.NaN, n: 1 }, events.length > 0);
    const word = inWords(bands, score?.n ?? 1);
    const parts = [`MOS ${mos.toFixed(2)}${sure} of the worst stream${runs}`, ...events].join("; ");
    const text = `The stream of ${of.group} is ${word}: ${parts}.`;
    const band = bands.length === 1 ? (bands[0] ?? "") : ("" as const);
    const more = streams(of);
    return [{ text, band }, ...(more ? [{ text: more, band: "" as const }] : [])];
  });
}

/** Delay, loss and the longest gap of calls with a codec without an impairment factor. */
function unrated(run: ObservedRun, group: string): string {
  const flow = run.flows.find((row) => row.group === group);
  const [mouthToEar, missed, gap] = [flow?.mouth_to_ear_s, flow?.missed_ratio, flow?.longest_gap_s];
  const parts = [
    ...(typeof mouthToEar === "number" ? [`mouth to ear ${millis(mouthToEar)}`] : []),
    ...(typeof missed === "number" ? [`${percent(missed)} of the packets missed after playout`] : []),
    ...(typeof gap === "number" ? [`longest gap ${gap.toFixed(2)} s`] : []),
  ];
  return parts.length ? `: ${parts.join(", ")}` : "";
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
      const why = voice.note ? ` (${voice.note.replace(/^not defined: /, "")})` : "";
      const who = voice.group === "call" ? "call" : `call ${voice.group}`;
      found.push({ text: `The ${who} is not rated${why}${unrated(run, voice.group)}.`, band: "" });
      continue;
    }
    const sure = score && score.n > 1 ? `${sureOf(score, 2)} over ${score.n} runs` : "";
    const gap = largest(run, voice.group, "longest_gap_s");
    const bands = bandsOf(score ?? { mean: mos, low: Number.NaN, high: Number.NaN, n: 1 }, gap > GAP_S);
    const held = gap > GAP_S ? `; longest gap ${gap.toFixed(2)} s` : "";
    found.push({
      text: `The ${many} ${inWords(bands, score?.n ?? 1)}: MOS ${mos.toFixed(1)}${sure}${name}${held}.`,
      band: bands.length === 1 ? (bands[0] ?? "") : "",
    });
    const flow = run.flows.find((row) => row.group === voice.group);
    const [mouthToEar, missed] = [flow?.mouth_to_ear_s, flow?.missed_ratio];
    if (voice.rated === 1 && typeof mouthToEar === "number" && typeof missed === "number") {
      found.push({
        text: `Mouth-to-ear delay ${Math.round(mouthToEar * 1000)} ms; ${percent(missed)} of the packets are not played.`,
        band: "",
      });
    }
  }
  found.push(...ofSessions(run, scores));
  const rated = new Set(run.media_groups.map(({ group }) => group));
  for (const group of run.network.groups.filter((one) => !one.call && !rated.has(one.name))) {
    const row = run.groups.find((one) => one.group === group.name);
    if (!row || typeof row.goodput_bps !== "number") continue;
    const flows = run.flows.filter((one) => one.group === group.name);
    const sum = (column: string) => flows.reduce((all, one) => all + Number(one[column] ?? 0), 0);
    const sent = sum("units_sent");
    if (group.class === "tcp" || !sent) {
      found.push({ text: `${group.name} gets ${rate(row.goodput_bps)}.`, band: "" });
    } else {
      const lost = sum("units_lost") / sent;
      const overdue = sum("units_waiting") / sent;
      const waits = overdue > 0 ? `, ${percent(overdue)} overdue at the end` : "";
      const delay = largest(run, group.name, "delay_mean_s");
      const band = bandOfLoss(lost + overdue);
      found.push({
        text: `${group.name} gets ${rate(row.goodput_bps)}, ${percent(lost)} lost${waits}, delay ${millis(delay)}.`,
        band: delay > DELAYED_S && band === "good" ? "fair" : band,
      });
    }
  }
  return found;
}
