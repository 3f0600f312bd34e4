import { describe, expect, test } from "vitest";
import { type Control, Controls } from "../src/controls";
import { LESSONS } from "../src/lessons";
import { HOME } from "../src/opening";
import { words } from "../src/paths";
import type { Checked, Seen, Table } from "../src/protocol";
import { Schema } from "../src/schema";
import { engine } from "./engine";

const asked = engine.ask<{ ok: true; schema: Table }>({ op: "schema" }).json;
if (!asked.ok) throw new Error(asked.message);
const schema = new Schema(asked.schema);

function opened(text: string): { own: Controls; seen: Seen } {
  const { json } = engine.ask<Checked>({ op: "check", text });
  if (!json.ok) throw new Error(json.message);
  const run = engine.ask<Seen>({ op: "run", text, observe: true, bins: 20 }).json;
  if (!run.ok) throw new Error(run.message);
  return { own: new Controls(json.json, json.spelled, schema), seen: run };
}

const accepts = (json: Table) => {
  const found = engine.ask<Checked>({ op: "check", text: JSON.stringify(json) }).json;
  return found.ok ? "" : found.message;
};

describe("controls", () => {
  test("there are a few sensible ones from the start", () => {
    const { own, seen } = opened(HOME);
    const labels = own.initial(seen.network).map((control) => control.label);
    expect(labels).toEqual([
      "rate of the bottleneck",
      "delay of the bottleneck, one way",
      "queue of the bottleneck",
      "buffer, packets",
      "who is dropped (victim)",
      "packets lost on the link",
      "call: transport",
      "call: how many",
      "conference: transport",
      "conference: how many",
      "upload: transport",
      "upload: how many",
    ]);
  });

  test("another law keeps what both have in common", () => {
    const queue = `{ discipline = "red", capacity = { bytes = 250000 }, victim = "front", ecn = true, max-threshold = 15 }`;
    const { own, seen } = opened(
      HOME.replace(/queue = \{.*\}/, `queue = ${queue}`).replace(
        'transport = "tcp/cubic"',
        'transport = { name = "tcp/aimd", receiver-window = 100, alpha = 0.31 }',
      ),
    );
    const turn = (label: string, choice: string) => {
      const control = own.initial(seen.network).find((one) => one.label === label);
      if (!control) throw new Error(label);
      return own.with(control, choice) as { link: { queue: Table }[]; flow: { transport: Table }[] };
    };
    const kept = { capacity: { bytes: 250000 }, victim: "front", ecn: true };
    const queues = turn("queue of the bottleneck", "codel").link.map((link) => link.queue);
    expect(queues).toContainEqual({ discipline: "codel", ...kept });
    const transports = turn("upload: transport", "tcp/vegas").flow.map((flow) => flow.transport);
    expect(transports).toContainEqual({ name: "tcp/vegas", "receiver-window": 100 });
  });

  const turned = (own: Controls, control: Control): [string, Table][] => {
    if (control.kind === "choice") return control.choices.map((choice) => [choice, own.with(control, choice)]);
    if (control.kind === "text") return [[control.value, own.with(control, control.value)]];
    return [control.least, control.value, control.most].map((value) => [String(value), own.with(control, value)]);
  };

  test.each(
    [HOME, ...LESSONS.map((lesson) => lesson.steps.at(-1)?.scenario ?? "")].map((text) => [text.slice(8, 40), text]),
  )("each of the first ones of %s can be turned to every end and choice, or is refused in words", (_, text) => {
    const { own, seen } = opened(text);
    for (const control of own.initial(seen.network)) {
      for (const [value, json] of turned(own, control)) {
        const refused = accepts(json);
        // Some transports do not carry some traffic; that is told.
        if (refused) expect(`${control.label} ${value}: ${refused}`).toMatch(/transport|victim|discipline|queue/);
      }
    }
  });

  test("every key of the scenario that holds a value can become one, and keeps the scenario as it is", () => {
    const { own } = opened(HOME);
    const keys = own.all().map((path) => words(path));
    for (const key of [
      "duration",
      "link.0.queue.capacity.packets",
      "flow.0.traffic.codec",
      "flow.1.traffic.rate",
      "link.1.rate",
    ]) {
      expect(keys).toContain(key);
    }
    const controls = own.all().flatMap((path) => own.of(path) ?? []);
    expect(controls.length).toBeGreaterThan(40);
    for (const control of controls) {
      const json = own.with(control, control.value);
      expect(accepts(json), words(control.path)).toBe("");
    }
    expect(own.of(["flow", 0, "traffic", "codec"])).toMatchObject({ kind: "choice", value: "g711" });
  });
});
