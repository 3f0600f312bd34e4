// Calls over WebRTC in the page: the same bytes as natively, the verdict, the figures, the controls.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { type Control, Controls } from "../src/controls";
import { measuresOf } from "../src/measures";
import { SITUATIONS, VIDEO_CALL } from "../src/opening";
import type { CheckedScenario, MediaGroup, ObservedRun, RunResult, Table } from "../src/protocol";
import { Schema } from "../src/schema";
import { scoresOf, verdicts } from "../src/verdict";
import { engine } from "./engine";

vi.stubGlobal("matchMedia", () => ({ matches: false }));
const { narrowestLink, panels } = await import("../src/views/plots");
const { layout } = await import("../src/views/network");

function observed(text: string, seed = 1): ObservedRun {
  const { json } = engine.ask<ObservedRun>({ op: "run", text, seed, observe: true, bins: 300 });
  if (!json.ok) throw new Error(json.message);
  return json;
}

const run = observed(VIDEO_CALL);
const controlled = (name: string) =>
  VIDEO_CALL.replaceAll('transport = "webrtc"', `transport = { name = "webrtc", control = "${name}" }`);

const PYTHON = fileURLToPath(new URL("../../.venv/bin/python", import.meta.url));
const NATIVE = `
import sys, fairwave
from fairwave import _native
from fairwave.tables import tables
for file in sys.argv[1:]:
    for _, raw in _native.Batch([(fairwave.load(file).native, 2)], 1):
        print(tables(raw)["work"]["digest"].to_list()[0])
`;

test.skipIf(!existsSync(PYTHON))("leave the digests of the native simulator, whichever the rate controller", () => {
  const texts = [VIDEO_CALL, ...["scream", "nada"].map(controlled)];
  const folder = mkdtempSync(join(tmpdir(), "fairwave-lab-"));
  const files = texts.map((text, index) => {
    const file = join(folder, `call-${index}.toml`);
    writeFileSync(file, text);
    return file;
  });
  const native = execFileSync(PYTHON, ["-c", NATIVE, ...files], { encoding: "utf8" })
    .trim()
    .split("\n");
  expect(new Set(native).size).toBe(3);
  for (const [index, text] of texts.entries()) {
    const { json } = engine.ask<RunResult>({ op: "run", text, seed: 2, observe: index > 0 });
    expect(json.ok ? json.digest : json.message).toBe(native[index]);
  }
});

describe("the verdict", () => {
  const of = (name: string): MediaGroup => {
    const found = run.media_groups.find(({ group }) => group === name);
    if (!found) throw new Error(name);
    return found;
  };

  test("is that of the worst stream, in the words of the command line", () => {
    for (const name of ["call", "other"]) {
      const scores = run.media.filter(({ group }) => group === name).map(({ mos }) => Number(mos));
      expect(scores).toHaveLength(2);
      expect(of(name).mos).toBeCloseTo(Math.min(...scores), 9);
    }
    const texts = verdicts(run, scoresOf([run]));
    expect(texts[0]?.text).toMatch(
      /^The stream of call is poor: MOS \d\.\d\d of the worst stream; a picture was frozen for \d+\.\d s\.$/,
    );
    expect(texts[0]?.band).toBe("poor");
    expect(texts[2]?.text).toMatch(/^The stream of other is good: MOS \d\.\d\d of the worst stream\.$/);
    // Sessions do not appear a second time with their losses.
    expect(texts.map(({ text }) => text).filter((text) => text.startsWith("call gets"))).toEqual([]);
    expect(texts.at(-1)?.text).toMatch(/^upload gets [\d.]+ Mb\/s\.$/);
  });

  test("has speech, pictures, and freezes next to their threshold", () => {
    const texts = verdicts(run, new Map()).map(({ text }) => text);
    expect(texts[1]).toMatch(
      /^Audio: MOS \d\.\d\d, mouth to ear \d+ ms\. Video: MOS \d\.\d\d, frozen \d+(\.\d)? % of the time in \d+ freezes \((above the )?threshold (of )?10 %\), pictures \d+ pixels high, \d+ per second\.$/,
    );
    expect(texts[3]).toContain(", no freezes, pictures 6");
    const frozen: ObservedRun = { ...run, media_groups: [{ ...of("call"), freeze_ratio: 0.12 }] };
    expect(verdicts(frozen, new Map())[1]?.text).toContain("frozen 12 % of the time");
    expect(verdicts(frozen, new Map())[1]?.text).toContain("(above the threshold of 10 %)");
    const silent: ObservedRun = {
      ...run,
      media_groups: [{ ...of("call"), mos: null, audio_mos: null, video_mos: null }],
    };
    expect(verdicts(silent, new Map())[0]).toEqual({ text: "The stream of call has no rating.", band: "" });
  });

  test("is repeated with other seeds, with its interval", () => {
    const runs = [run, observed(VIDEO_CALL, 2)];
    const scores = scoresOf(runs);
    expect([...scores.keys()]).toEqual(["call", "other"]);
    expect(verdicts(run, scores)[0]?.text).toMatch(
      /MOS \d\.\d\d (± \d\.\d\d|\[.*\]) of the worst stream, over 2 runs; a picture was frozen for \d+\.\d s\.$/,
    );
  });
});

test("a stream of which nothing arrives makes its session as bad as can be", () => {
  const cut = VIDEO_CALL.replace('delay = "8 ms"', 'delay = "8 ms"\nloss = { model = "bernoulli", rate = 1.0 }');
  const found = observed(cut).media_groups.find(({ group }) => group === "call");
  expect(found?.mos).toBe(1);
});

test("measures of sessions are compared between settings", () => {
  const labels = measuresOf(run).map(({ label }) => label);
  for (const label of ["MOS of the worst stream of call", "Freezes of call", "Picture height of other"]) {
    expect(labels).toContain(label);
  }
  // Their goodput is shown, as for other groups.
  expect(labels).toContain("Goodput of call");
});

describe("the figures", () => {
  const panel = (id: string) => panels(run).find((one) => one.id === id);

  test("have the estimate next to what the narrowest path carries", () => {
    expect(narrowestLink(run, "call")?.name).toBe("home>isp");
    expect(narrowestLink(run, "other")?.name).toBe("isp>home");
    const lines = panel("estimate")?.lines ?? [];
    expect(panel("estimate")?.title).toContain("of call");
    expect(lines.map(({ label }) => label)).toEqual(["estimate", "target", "received", "rate of home>isp"]);
    expect(new Set(lines[3]?.values)).toEqual(new Set([5]));
    const estimate = lines[0]?.values ?? [];
    expect(estimate).toHaveLength(300);
    // The upload begins at 20 s; each bin is 0.2 s.
    const mean = (values: (number | null)[]) =>
      values.reduce<number>((sum, one) => sum + (one ?? 0), 0) / values.length;
    expect(mean(estimate.slice(50, 100))).toBeGreaterThan(2 * mean(estimate.slice(150, 300)));
  });

  test("have the height of the pictures and the time in freezes of each session", () => {
    expect(panel("height")?.lines.map(({ label }) => label)).toEqual(["call", "other"]);
    const frozen = run.session_series[0]?.pictures[0]?.frozen_s ?? [];
    const row = run.media.find(({ group, stream }) => group === "call" && stream === "video");
    expect(frozen.filter((seconds) => seconds > 0).length).toBeGreaterThan(0);
    expect(frozen.filter((seconds) => seconds > 0).length).toBeLessThanOrEqual(Number(row?.freezes));
    expect(panel("frozen")?.lines[1]?.values.every((seconds) => !seconds)).toBe(true);
  });

  test("stay away from scenarios without sessions", () => {
    const home = observed(SITUATIONS[0]?.scenario ?? "");
    expect(home.media_groups).toEqual([]);
    expect(panels(home).map(({ id }) => id)).toEqual(["throughput", "queue", "window", "losses", "delay"]);
  });
});

test("a call in both directions is drawn from the one who is at home to the other", () => {
  const places = layout(run.network);
  const column = (name: string) => places.get(run.network.nodes?.indexOf(name) ?? -1)?.[0];
  expect(["home", "isp", "far"].map(column)).toEqual([0, 1, 2]);
});

describe("the controls", () => {
  const asked = engine.ask<{ ok: true; schema: Table }>({ op: "schema" }).json;
  if (!asked.ok) throw new Error(asked.message);
  const schema = new Schema(asked.schema);
  const check = (text: string) => engine.ask<CheckedScenario>({ op: "check", text }).json;
  const open = (text: string): Controls => {
    const json = check(text);
    if (!json.ok) throw new Error(json.message);
    return new Controls(json.json, json.complete, schema);
  };
  const controls = open(VIDEO_CALL);
  const named = (of: Controls, label: string): Control => {
    const found = of.initial(run.network).find((one) => one.label === label);
    if (!found) throw new Error(label);
    return found;
  };

  test("are those of a session: rate control, streams, most rate", () => {
    const labels = controls.initial(run.network).map(({ label }) => label);
    for (const name of ["call", "other"]) {
      for (const what of ["transport", "rate control", "audio", "video", "most rate of video", "flows"]) {
        expect(labels).toContain(`${name}: ${what}`);
      }
    }
    expect(labels).not.toContain("upload: rate control");
  });

  test("every rate controller that can be chosen runs", () => {
    const control = named(controls, "call: rate control");
    if (control.kind !== "choice") throw new Error(control.kind);
    expect(control.value).toBe("gcc");
    for (const name of ["scream", "nada"]) expect(control.choices).toContain(name);
    for (const name of control.choices) {
      const json = check(JSON.stringify(controls.with(control, name)));
      expect(json.ok ? "" : json.message, name).toBe("");
    }
  });

  test("a stream is switched off and on, and both off is refused in words", () => {
    const [audio, video] = [named(controls, "call: audio"), named(controls, "call: video")];
    const silent = controls.with(audio, "false");
    expect((silent.flow as Table[])[0]?.traffic).toEqual({ kind: "media", audio: false });
    const { media } = observed(JSON.stringify(silent));
    expect(media.filter(({ group }) => group === "call").map(({ stream }) => stream)).toEqual(["video"]);
    const neither = check(JSON.stringify(open(JSON.stringify(silent)).with(video, "false")));
    expect(neither.ok).toBe(false);
    const again = open(JSON.stringify(silent)).with(audio, "true");
    expect((again.flow as Table[])[0]?.traffic).toEqual({ kind: "media", audio: true });
  });

  test("the most rate of video holds, also where video is on by `true`", () => {
    const on = VIDEO_CALL.replace('traffic = "media"', 'traffic = { kind = "media", video = true }');
    const json = open(on).with(named(open(on), "call: most rate of video"), 500_000);
    expect((json.flow as Table[])[0]?.traffic).toEqual({ kind: "media", video: { most: "500 kb/s" } });
    const rows = observed(JSON.stringify(json)).media.filter(
      ({ group, stream }) => group === "call" && stream === "video",
    );
    expect(Number(rows[0]?.target_bps)).toBeLessThanOrEqual(500_000);
  });
});
