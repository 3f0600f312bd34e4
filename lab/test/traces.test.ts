// Traces in the page, compared with the Python package if it is installed.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { ObservedRun } from "../src/protocol";
import { fromLaw, meanRates, parseTrace, summarize, toLaw } from "../src/traces";
import { engine } from "./engine";

const root = fileURLToPath(new URL("../..", import.meta.url));
const lte = readFileSync(join(root, "examples/lte.csv"), "utf8");

const TRACES: Record<string, string> = {
  "times in ms, as Mahimahi": "1\n1\n3\n3\n3\n10\n",
  "an opportunity at 0": "0\n2\n",
  "two columns, as Pensieve": "0.5 2.0\n1.0 1.5\n2.25 0.3\n",
  "a head with a unit in brackets": "Duration (ms);Bandwidth (kb/s)\n200;800\n300;1200.5\n",
  "a head in a comment": "# time_s,rate_mbps\n0,1\n0.5,2.25\n# a comment\n2,0\n",
  "a column that the page does not know": "time_ms rate_bps colour\n0 1000000 red\n100 2000000 blue\n",
  "examples/lte.csv": lte,
};

describe("a trace", () => {
  test.each(Object.entries(TRACES))("is what the Python package reads: %s", (_, text) => {
    const law = toLaw(parseTrace(text, "x"));
    const python = join(root, ".venv/bin/python");
    if (!existsSync(python)) return;
    const file = join(mkdtempSync(join(tmpdir(), "fairwave-trace-")), "x");
    writeFileSync(file, text);
    const code =
      "import json, sys; from fairwave.traces import as_law, read; print(json.dumps(as_law(read(sys.argv[1]))))";
    const expected = JSON.parse(execFileSync(python, ["-c", code, file], { encoding: "utf8" }));
    expect(law).toEqual({ law: "trace", after: "repeat", ...expected });
  });

  test.each(Object.entries(TRACES))("is read back from its law with the same bits: %s", (_, text) => {
    const trace = parseTrace(text, "x");
    const back = fromLaw(toLaw(trace));
    if (!back) throw new Error("no trace");
    expect(summarize(back).duration_s).toBeCloseTo(summarize(trace).duration_s, 9);
    expect(summarize(back).mean_bps).toBeCloseTo(summarize(trace).mean_bps, 0);
  });

  test("begins again when it ends, and its means keep the bits", () => {
    const trace = parseTrace("duration_s,rate_mbps\n1,1\n1,3\n", "x");
    expect(meanRates(trace, 4, 4).map((rate) => Math.round(rate))).toEqual([1e6, 3e6, 1e6, 3e6]);
    expect(meanRates(trace, 1, 3)[0]).toBeCloseTo(5e6 / 3);
  });

  test("that is no rate law of a trace has no figure", () => {
    expect(fromLaw("10 Mb/s")).toBeUndefined();
    expect(fromLaw({ law: "trace", file: "lte.csv" })).toBeUndefined();
  });

  test("drives a link in the engine", () => {
    const law = toLaw(parseTrace("duration_s,rate_mbps\n2,2\n2,0.5\n", "x"));
    const text = JSON.stringify({
      name: "traced",
      duration: "20 s",
      topology: { preset: "dumbbell", bottleneck: { rate: law, delay: "10 ms" } },
      flow: [{ name: "stream", transport: "udp", traffic: { kind: "cbr", rate: "3 Mb/s", payload: "1000 B" } }],
    });
    const { json } = engine.ask<ObservedRun>({ op: "run", text, observe: true, bins: 10 });
    if (!json.ok) throw new Error(json.message);
    const rates = json.group_series[0]?.throughput_bps.map((bps) => Math.round(bps / 1e5) / 10) ?? [];
    // Each bin is one step of the trace.
    expect(rates.slice(2, 6)).toEqual([2, 0.5, 2, 0.5]);
  });
});

describe("a mistake in a trace is named with its line and what to write", () => {
  test.each([
    ["", /empty/],
    ["5\n3\n", /line 2: 3 ms comes after 5 ms.*ascending/],
    ["0\n", /lasts no time/],
    ["1\nx\n", /line 2: "x" is no time: write whole milliseconds/],
    ["1.5\n2\n", /line 1: "1.5" is no time/],
    ["99999999999\n", /too late/],
    ["hello world\n", /line 1: "hello world" begins no trace.*time_s,rate_mbps/],
    ["time_s,rate_mbps\n", /no rows/],
    ["time_s,rate_mbps\n0,1\n", /one row/],
    ["time_s,rate_mbps\n0,1\n0,2\n", /line 3: 0 s comes after 0 s/],
    ["time_s,rate_mbps\n0,1\n1,-2\n", /line 3: "-2" is no number of rate_mbps: write a number from 0 up/],
    ["time_s,rate_mbps\n0,1\n1\n", /line 3: "" is no number/],
    ["time_s,rate_furlongs\n0,1\n1,2\n", /unit "furlongs": write one of bps/],
    ["time_s,rate\n0,1\n1,2\n", /no unit/],
    ["rate_mbps\n1\n2\n", /neither a time nor a duration/],
    ["time_s,duration_s,rate_mbps\n0,1,1\n", /both a time and a duration/],
    ["time_s,rate_mbps,bandwidth_mbps\n0,1,1\n1,1,1\n", /two columns of rate/],
    ["duration_s,rate_mbps\n0,1\n", /line 2: a duration of 0/],
    ["duration_s,rate_mbps\n1,0\n", /lets nothing through/],
    ["1\n".repeat(1_100_000), /at most 2 MB/],
  ])("%j", (text, words) => {
    expect(() => parseTrace(text, "x.csv")).toThrow(words);
    expect(() => parseTrace(text, "x.csv")).toThrow(/^x\.csv/);
  });
});
