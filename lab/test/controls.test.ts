import { describe, expect, test } from "vitest";
import { type Control, Controls } from "../src/controls";
import { LESSONS } from "../src/lessons";
import { HOME } from "../src/opening";
import { formatPath } from "../src/paths";
import type { CheckedScenario, ObservedRun, Table } from "../src/protocol";
import { Schema } from "../src/schema";
import { engine } from "./engine";

const asked = engine.ask<{ ok: true; schema: Table }>({ op: "schema" }).json;
if (!asked.ok) throw new Error(asked.message);
const schema = new Schema(asked.schema);

function open(text: string): { controls: Controls; run: ObservedRun } {
  const { json } = engine.ask<CheckedScenario>({ op: "check", text });
  if (!json.ok) throw new Error(json.message);
  const observed = engine.ask<ObservedRun>({ op: "run", text, observe: true, bins: 20 }).json;
  if (!observed.ok) throw new Error(observed.message);
  return { controls: new Controls(json.json, json.complete, schema), run: observed };
}

const accepts = (json: Table) => {
  const found = engine.ask<CheckedScenario>({ op: "check", text: JSON.stringify(json) }).json;
  return found.ok ? "" : found.message;
};

describe("controls", () => {
  test("there are a few sensible ones from the start", () => {
    const { controls, run } = open(HOME);
    const labels = controls.initial(run.network).map((control) => control.label);
    expect(labels).toEqual([
      "bottleneck rate",
      "bottleneck delay, one way",
      "bottleneck queue",
      "buffer, packets",
      "victim (which packet is dropped)",
      "loss on the link",
      "call: transport",
      "call: flows",
      "conference: transport",
      "conference: flows",
      "upload: transport",
      "upload: flows",
    ]);
  });

  test("another law keeps what both have in common", () => {
    const queue = `{ discipline = "red", capacity = { bytes = 250000 }, victim = "front", ecn = true, max-threshold = 15 }`;
    const { controls, run } = open(
      HOME.replace(/queue = \{.*\}/, `queue = ${queue}`).replace(
        'transport = "tcp/cubic"',
        'transport = { name = "tcp/aimd", receiver-window = 100, alpha = 0.31 }',
      ),
    );
    const turn = (label: string, choice: string) => {
      const control = controls.initial(run.network).find((one) => one.label === label);
      if (!control) throw new Error(label);
      return controls.with(control, choice) as { link: { queue: Table }[]; flow: { transport: Table }[] };
    };
    const kept = { capacity: { bytes: 250000 }, victim: "front", ecn: true };
    const queues = turn("bottleneck queue", "codel").link.map((link) => link.queue);
    expect(queues).toContainEqual({ discipline: "codel", ...kept });
    const transports = turn("upload: transport", "tcp/vegas").flow.map((flow) => flow.transport);
    expect(transports).toContainEqual({ name: "tcp/vegas", "receiver-window": 100 });
  });

  const turned = (controls: Controls, control: Control): [string, Table][] => {
    if (control.kind === "choice") return control.choices.map((choice) => [choice, controls.with(control, choice)]);
    if (control.kind === "text") return [[control.value, controls.with(control, control.value)]];
    return [control.least, control.value, control.most].map((value) => [String(value), controls.with(control, value)]);
  };

  test.each([HOME, ...LESSONS.map((lesson) => lesson.task.start)].map((text) => [text.slice(8, 40), text]))(
    "each of the first ones of %s can be turned to every end and choice, or is refused with a reason",
    (_, text) => {
      const { controls, run } = open(text);
      for (const control of controls.initial(run.network)) {
        for (const [value, json] of turned(controls, control)) {
          const refused = accepts(json);
          // Some transports cannot carry some traffic, and some victims fit only some disciplines.
          if (refused)
            expect(`${control.label} ${value}: ${refused}`).toMatch(
              /transport|victim|discipline|queue|every group has 0 flows/,
            );
        }
      }
    },
  );

  test("every key of the scenario that holds a value can become one, and keeps the scenario as it is", () => {
    const { controls } = open(HOME);
    const keys = controls.all().map((path) => formatPath(path));
    for (const key of [
      "duration",
      "link.0.queue.capacity.packets",
      "flow.0.traffic.codec",
      "flow.1.traffic.rate",
      "link.1.rate",
    ]) {
      expect(keys).toContain(key);
    }
    const all = controls.all().flatMap((path) => controls.of(path) ?? []);
    expect(all.length).toBeGreaterThan(40);
    for (const control of all) {
      const json = controls.with(control, control.value);
      expect(accepts(json), formatPath(control.path)).toBe("");
    }
    expect(controls.of(["flow", 0, "traffic", "codec"])).toMatchObject({ kind: "choice", value: "g711" });
  });
});
