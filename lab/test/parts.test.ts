import { describe, expect, test } from "vitest";
import { scaleOf } from "../src/controls";
import { table } from "../src/csv";
import { fromHash, toHash } from "../src/link";
import { formatPath, leaves, set } from "../src/paths";
import type { Passage } from "../src/protocol";
import { format, formatDisplay, parse } from "../src/quantities";
import { interval, sureOf } from "../src/statistics";
import { bandOfLoss, bandOfMos, bandsOf, verdicts } from "../src/verdict";

describe("quantities", () => {
  test("are read with their unit and written as the language has them", () => {
    expect(parse("2 Mb/s")).toEqual({ value: 2e6, dimension: "rate" });
    expect(parse("0.5 ms")?.value).toBeCloseTo(5e-4);
    expect(parse("160B")).toEqual({ value: 160, dimension: "size" });
    expect(parse("drop-tail")).toBeUndefined();
    expect(parse("2 parsecs")).toBeUndefined();
    expect(format(1_500_000, "rate")).toBe("1.5 Mb/s");
    expect(format(0.02, "time")).toBe("20 ms");
    expect(format(90, "time")).toBe("90 s");
    expect(format(999.9e3, "rate")).toBe("1 Mb/s");
    expect(formatDisplay(0.015, "fraction")).toBe("1.5 %");
  });

  test.each([
    ["rate", 3.21e6],
    ["time", 0.0123],
    ["size", 1200],
  ] as const)("come back as they were: %s", (dimension, value) => {
    expect(parse(format(value, dimension))?.value).toBeCloseTo(value, 9);
  });
});

describe("paths", () => {
  test("a law that is written as a name becomes a table when one of its keys is set", () => {
    const before = { flow: [{ name: "call", transport: "udp" }] };
    const after = set(before, ["flow", 0, "transport", "header"], "12 B");
    expect(after).toEqual({ flow: [{ name: "call", transport: { name: "udp", header: "12 B" } }] });
    expect(before.flow[0]?.transport).toBe("udp");
  });

  test("null takes a key away, and names stand for indices in paths", () => {
    const json = { link: [{ from: "a", to: "b", loss: "none" }] };
    expect(set(json, ["link", 0, "loss"], null)).toEqual({ link: [{ from: "a", to: "b" }] });
    expect(formatPath(["link", 0, "rate"], json)).toBe("link.a>b.rate");
    expect([...leaves(json)]).toHaveLength(3);
  });
});

describe("sliders", () => {
  const slider = { path: [], label: "", title: "", kind: "slider", value: 10 } as const;

  test("are logarithmic in 240 steps, and the first step is the least value, also 0", () => {
    const scale = scaleOf({ ...slider, least: 0, most: 1e5, log: true, dimension: "count" });
    expect(scale).toMatchObject({ min: 0, max: 240, step: 1 });
    expect([0, 120, 240].map(scale.toValue)).toEqual([0, 316, 1e5]);
    for (const value of [0, 10, 1e3, 1e5]) expect(scale.toValue(scale.toPosition(value))).toBeCloseTo(value);
  });

  test("are linear otherwise; counts are whole numbers", () => {
    const { toValue, toPosition, ...scale } = scaleOf({
      ...slider,
      least: 0,
      most: 1,
      log: false,
      dimension: "number",
    });
    expect(scale).toEqual({ min: 0, max: 1, step: 0.005 });
    expect(toValue(toPosition(0.3))).toBe(0.3);
    expect(scaleOf({ ...slider, least: 0, most: 20, log: false, dimension: "count" }).step).toBe(1);
  });
});

describe("links", () => {
  test("carry a scenario there and back", async () => {
    const text = 'name = "ü"\n'.repeat(100);
    expect(await fromHash(await toHash(text))).toEqual({ text, view: {} });
    expect(await fromHash("#lessons")).toBeUndefined();
  });

  test("carry A, added controls and the place in a lesson; parts of another form are left out", async () => {
    const view = { kept: "name = 'A'", keys: [["flow", 0, "count"]], lesson: { id: "red", step: 1, predicted: 2 } };
    expect(await fromHash(await toHash("x", view))).toEqual({ text: "x", view });
    const wrong = { kept: 7, keys: [["flow", 0.5], "x"], lesson: { id: 3 } };
    expect(await fromHash(await toHash("x", wrong as never))).toEqual({ text: "x", view: { keys: [] } });
  });

  test.each(["#s=%3Cscript%3E", "#s=AwA&v=AAAA", "#s=AwA&v=AwA&v=AwA", "#s=AAAA", '#s="><img src=x>', "#s=____"])(
    "that hold none are refused: %s",
    async (hash) => {
      await expect(fromHash(hash)).rejects.toThrow(/link/);
    },
  );

  test("that unpack to more than the limit are rejected", async () => {
    await expect(fromHash(await toHash("a".repeat(3_000_000)))).rejects.toThrow(/longer than 2000000 bytes/);
  });
});

describe("tables", () => {
  test("quote what needs it, and a text is never a formula", () => {
    expect(
      table([
        { a: 1, b: 'say "x", y' },
        { a: null, b: "=1+1" },
      ]),
    ).toBe('a,b\n1,"say ""x"", y"\n,\'=1+1\n');
    expect(table([{ a: -1 }])).toBe("a\n-1\n");
  });
});

describe("statistics", () => {
  test("are Student's for symmetric samples", () => {
    const half = (4.303 * 1) / Math.sqrt(3);
    const [low, high] = [expect.closeTo(2 - half, 3), expect.closeTo(2 + half, 3)];
    expect(interval([1, 2, 3])).toEqual({ mean: 2, low, high, n: 3 });
    expect(interval([5]).low).toBeNaN();
    const equal = interval([0.1, 0.1, 0.1]);
    expect([equal.low, equal.high]).toEqual([equal.mean, equal.mean]);
  });

  test("are those of Python for skewed samples", () => {
    // tests/test_statistics.py has the same numbers.
    const sleep = interval([1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, 0.8, 4.6, 1.4]);
    expect([sleep.low, sleep.high]).toEqual([expect.closeTo(0.744, 2), expect.closeTo(3.978, 2)]);
    const mild = interval([1, 2, 3, 4, 7, 3, 2, 4, 5, 6]);
    expect([mild.low, mild.high]).toEqual([expect.closeTo(2.365, 2), expect.closeTo(5.377, 2)]);
    expect([sureOf(sleep, 1), sureOf(interval([1, 2, 3]), 1)]).toEqual([" [0.7, 4.0]", " ± 2.5"]);
    expect(sureOf(interval([4, 4]), 2)).toBe(" (same in all 2)");
  });

  test("bands are those of the report pages, a bound belongs to the better one", () => {
    expect([3.6, 3.59, 3.1, 3.09].map(bandOfMos)).toEqual(["good", "fair", "fair", "poor"]);
    expect([0.01, 0.011, 0.03, 0.04].map(bandOfLoss)).toEqual(["good", "fair", "fair", "poor"]);
  });

  test("an interval over a bound leaves the band undecided, and a gap holds it below good", () => {
    const score = (mean: number, half: number) => ({ mean, low: mean - half, high: mean + half, n: 5 });
    expect(bandsOf(score(3.8, 0.1))).toEqual(["good"]);
    expect(bandsOf(score(3.6, 0.1))).toEqual(["good", "fair"]);
    expect(bandsOf(score(3.3, 0.5))).toEqual(["good", "fair", "poor"]);
    expect(bandsOf({ mean: 3.8, low: Number.NaN, high: Number.NaN, n: 1 })).toEqual(["good"]);
    expect(bandsOf(score(4.2, 0.1), true)).toEqual(["fair"]);
    expect(bandsOf(score(3.2, 0.5), true)).toEqual(["fair", "poor"]);
    expect(bandsOf(score(2, 0.1), true)).toEqual(["poor"]);
  });

  test("a gap, a codec without factors and a long delay are in the verdict", () => {
    const flow = {
      group: "call",
      longest_gap_s: 2,
      mouth_to_ear_s: 0.455,
      missed_ratio: 0.02,
      delay_mean_s: 0.39,
      units_sent: 9,
    };
    const of = (mos: number | null, network: object[] = []) => {
      const voice = network.length ? [] : [{ group: "call", rated: 1, mos, note: mos ? "" : "not defined: no factor" }];
      const groups = [{ group: "call", goodput_bps: 1e6, units_sent: 100, units_received: 100 }];
      return verdicts(
        { voice, media_groups: [], flows: [flow], groups, network: { groups: network } } as never,
        new Map(),
      );
    };
    expect(of(4.1)[0]).toEqual({ text: "The call is fair: MOS 4.1; longest gap 2.00 s.", band: "fair" });
    expect(of(null)).toEqual([
      {
        text: "The call is not rated (no factor): mouth to ear 455 ms, 2.0 % of the packets missed after playout, longest gap 2.00 s.",
        band: "",
      },
    ]);
    const stream = of(null, [{ name: "call", call: false, class: "other-udp" }]);
    expect(stream).toEqual([{ text: "call gets 1 Mb/s, 0.0 % lost, delay 390 ms.", band: "fair" }]);
  });
});

describe("packets", () => {
  const one = (arrived: number, begun: number | null, gone: number | null = null): Passage => ({
    group: 0,
    class: 2,
    wire: 1000,
    feedback: false,
    marked: false,
    arrived,
    begun,
    left: begun === null ? null : begun + 1,
    gone,
    why: gone === null ? "" : "early",
    lost: false,
  });

  test("wait in the order in which they will be sent; a victim is formatDisplay where it stood", async () => {
    const { scene } = await import("../src/packets");
    const passages = [one(0, 0), one(0.2, 2), one(0.4, null, 1.5), one(0.6, 1), one(1.5, 3)];
    const found = scene(passages, 0.9, 1);
    expect(found.waiting.map((passage) => passage.arrived)).toEqual([0.6, 0.2, 0.4]);
    expect(found.sending?.share).toBeCloseTo(0.9);
    const later = scene(passages, 1.6, 1);
    expect(later.victims).toEqual([{ passage: passages[2], place: 1, ago: expect.closeTo(0.1) }]);
    expect(scene(passages, 3.2, 1).victims).toEqual([]);
  });
});

describe("hearing", () => {
  test("the same place is the same packet, and as far within it", async () => {
    const { samePosition } = await import("../src/hearing");
    const audio = (position: number[]) => ({ position, packet_s: 0.02 }) as never;
    expect(samePosition(audio([100, 260, 420]), 300, audio([500, 700, 860]))).toBe(740);
    expect(samePosition(audio([100, 260]), 0, audio([500, 700]))).toBe(500);
  });

  test("the stored recording is decoded by G.711's table 2", async () => {
    const { decodeMu } = await import("../src/hearing");
    expect([0xff, 0xfe, 0xef, 0x80, 0x00].map((code) => decodeMu(code) + 0)).toEqual([0, 8, 132, 32124, -32124]);
  });
});
