import { describe, expect, test } from "vitest";
import { compare, measuresOf } from "../src/measures";
import { HOME } from "../src/opening";
import type { ObservedRun } from "../src/protocol";
import { countsFrom, judge, RELEVANT } from "../src/relevance";
import { engine } from "./engine";

function run(text: string, seed: number): ObservedRun {
  const { json } = engine.ask<ObservedRun>({ op: "run", text, seed, observe: true, bins: 30 });
  if (!json.ok) throw new Error(json.message);
  return json;
}

const short = HOME.replace('duration = "60 s"', 'duration = "20 s"');
const fair = short.replace('discipline = "drop-tail"', 'discipline = "fq-codel"');

describe("two settings", () => {
  const a = [1, 2, 3, 4].map((seed) => run(short, seed));
  const b = [2, 3, 4, 5].map((seed) => run(fair, seed));

  test("are compared over the seeds that both have, paired", () => {
    const rows = compare(a, b);
    const mos = rows.find(({ label }) => label === "MOS of call");
    expect(mos).toMatchObject({ a: { n: 3 }, b: { n: 3 }, difference: { n: 3 } });
    const value = (runs: ObservedRun[], seed: number) => runs.find((one) => one.seed === seed)?.voice[0]?.mos ?? 0;
    const expected = [2, 3, 4].reduce((sum, seed) => sum + value(b, seed) - value(a, seed), 0) / 3;
    expect(mos?.difference.mean).toBeCloseTo(expected, 12);
    expect(mos && judge(mos.difference, mos.counts)).toBe("higher");
    const wait = rows.find(({ label }) => label.startsWith("Mean wait"));
    expect(wait && judge(wait.difference, wait.counts)).toBe("lower");
  });

  test("without a common seed are not compared", () => {
    expect(compare(a.slice(0, 1), b)).toEqual([]);
  });

  test("are measured by calls, transfers and the longest queue", () => {
    const keys = measuresOf(a[0] as ObservedRun).map(({ key }) => key);
    expect(keys).toEqual(
      expect.arrayContaining([
        "mos call",
        "delay call",
        "missed call",
        "goodput upload",
        "dropped upload",
        "wait",
        "queue",
      ]),
    );
  });
});

test("a difference counts from the smallest one that users notice", () => {
  expect(judge({ mean: 1, low: 0.5, high: 1.5, n: 5 }, 0.1)).toBe("higher");
  expect(judge({ mean: -1, low: -1.5, high: -0.5, n: 5 }, 0.1)).toBe("lower");
  expect(judge({ mean: 0.3, low: -0.2, high: 0.8, n: 5 }, 0.1)).toBe("undecided");
  expect(judge({ mean: 0.12, low: 0.07, high: 0.17, n: 5 }, 0.1)).toBe("undecided");
  expect(judge({ mean: 0.02, low: 0.01, high: 0.03, n: 5 }, 0.1)).toBe("alike");
  expect(judge({ mean: 0, low: 0, high: 0, n: 5 }, 0)).toBe("alike");
  expect(judge({ mean: 0.3, low: Number.NaN, high: Number.NaN, n: 1 }, 0.1)).toBe("undecided");
});

test("a rate's difference counts as a share of the larger one", () => {
  expect(countsFrom(RELEVANT.goodput, 1, 2)).toBeCloseTo(0.04, 12);
  expect(countsFrom(RELEVANT.mos, 1, 2)).toBe(0.1);
});
