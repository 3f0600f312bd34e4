// What a result says in words. Bands as in the report pages: after ITU-T G.109 for opinion scores, G.1010 for loss.

import type { Seen } from "./protocol";
import type { Interval } from "./statistics";

export type Band = "good" | "fair" | "poor";

export function bandOfMos(mos: number): Band {
  return mos >= 3.6 ? "good" : mos >= 3.1 ? "fair" : "poor";
}

export function bandOfLoss(share: number): Band {
  return share <= 0.01 ? "good" : share <= 0.03 ? "fair" : "poor";
}

export interface Said {
  text: string;
  band: Band | "";
}

const per = (share: number) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

export function rate(bps: number): string {
  if (bps >= 1e6) return `${Number((bps / 1e6).toPrecision(3))} Mb/s`;
  return `${Number((bps / 1e3).toPrecision(3))} kb/s`;
}

/** A sentence per group of flows, calls first. `scores` are means over replications. */
export function verdicts(seen: Seen, scores: ReadonlyMap<string, Interval>): Said[] {
  const said: Said[] = [];
  for (const voice of seen.voice) {
    const score = scores.get(voice.group);
    const mos = score?.mean ?? voice.mos;
    const many = voice.rated > 1 ? "calls are" : "call is";
    const name = voice.group === "call" ? "" : ` (${voice.group})`;
    if (mos === null || mos === undefined || Number.isNaN(mos)) {
      const why = voice.note ? `: ${voice.note}` : "";
      said.push({
        text: `The ${voice.group === "call" ? "call" : `call ${voice.group}`} has no rating${why}.`,
        band: "",
      });
      continue;
    }
    const sure = score && score.n > 1 ? ` ± ${score.half.toFixed(2)} over ${score.n} runs` : "";
    const band = bandOfMos(mos);
    said.push({ text: `The ${many} ${band}: MOS ${mos.toFixed(1)}${sure}${name}.`, band });
    const flow = seen.flows.find((row) => row.group === voice.group);
    const [mouth, missed] = [flow?.mouth_to_ear_s, flow?.missed_ratio];
    if (voice.rated === 1 && typeof mouth === "number" && typeof missed === "number") {
      said.push({
        text: `Mouth to ear ${Math.round(mouth * 1000)} ms, ${per(missed)} of its packets not heard.`,
        band: "",
      });
    }
  }
  for (const group of seen.network.groups.filter((one) => !one.call)) {
    const row = seen.groups.find((one) => one.group === group.name);
    if (!row || typeof row.goodput_bps !== "number") continue;
    const sent = Number(row.units_sent);
    const received = Number(row.units_received);
    if (group.class === "tcp" || !sent) {
      said.push({ text: `${group.name} gets ${rate(row.goodput_bps)}.`, band: "" });
    } else {
      const lost = Math.max(0, 1 - received / sent);
      said.push({ text: `${group.name} gets ${rate(row.goodput_bps)}, ${per(lost)} lost.`, band: bandOfLoss(lost) });
    }
  }
  return said;
}
