import { describe, expect, test } from "vitest";
import { HOME } from "../src/opening";
import type { CheckedScenario, ObservedRun, RunResult } from "../src/protocol";
import { engine, golden } from "./engine";

const digests = JSON.parse(golden("digests.json")) as Record<string, string[]>;

describe("the engine", () => {
  test.each(Object.keys(digests))("leaves the digests of the native simulator for %s", (name) => {
    for (const seed of [1, 2]) {
      for (const observe of [false, true]) {
        const { json } = engine.ask<RunResult>({ op: "run", text: golden(`${name}.toml`), seed, observe });
        expect(json.ok ? json.digest : json.message).toBe(digests[name]?.[seed - 1]);
      }
    }
  });

  test("shows a mistake at its line", () => {
    const { json } = engine.ask<CheckedScenario>({
      op: "check",
      text: HOME.replace("duration", "durration"),
      file: "x.toml",
    });
    expect(json.ok).toBe(false);
    if (json.ok) return;
    expect(json.message).toContain("x.toml:3:1");
    expect(json.message).toContain("did you mean `duration`?");
    expect(json.problems?.[0]).toMatchObject({ line: 3, column: 1 });
  });

  test("restarts after a crash, and answers again", () => {
    // A buffer of more packets than a page has memory for, in many queues at once.
    const text = `name = "large"\nduration = "1 s"\n[[link]]\nfrom = "a{i}"\nto = "b{i}"\ncount = 13000\nrate = "1 Mb/s"\ndelay = "1 ms"\nqueue = { discipline = "red", capacity = { packets = 1000 }, min-threshold = 5, max-threshold = 15 }\n[[flow]]\nname = "f"\nfrom = "a0"\nto = "b0"\ntransport = "udp"\ntraffic = "voice"\n`;
    const { json } = engine.ask<RunResult>({ op: "run", text, observe: false });
    expect(json.ok).toBe(false);
    if (!json.ok) expect(json.message).toMatch(/memory|computing/);
    const after = engine.ask<RunResult>({ op: "run", text: golden("ties.toml"), seed: 1, observe: false });
    expect(after.json.ok && after.json.digest).toBe(digests.ties?.[0]);
  });

  test("opens with a call, a conference and an upload, and has time series of all", () => {
    const { json } = engine.ask<ObservedRun>({ op: "run", text: HOME, observe: true, bins: 300 });
    if (!json.ok) throw new Error(json.message);
    expect(json.network.groups.map((group) => group.name)).toEqual(["call", "conference", "upload"]);
    expect(json.link_series[0]?.link).toBe("home>isp");
    expect(json.calls[0]?.delay_s).toHaveLength(300);
    expect(Math.max(...(json.link_series[0]?.waiting[2] ?? []))).toBeGreaterThan(50);
  });
});
