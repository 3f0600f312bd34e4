// Edits of a network, with the engine that checks them.

import { describe, expect, test } from "vitest";
import {
  addFlow,
  addLink,
  FLOW_KINDS,
  freshName,
  removeFlow,
  removeLink,
  removeNode,
  setQueue,
  writtenLink,
} from "../src/edit";
import { HOME } from "../src/opening";
import { get } from "../src/paths";
import type { CheckedScenario, ObservedRun, Table } from "../src/protocol";
import { engine } from "./engine";

function read(text: string): CheckedScenario {
  const { json } = engine.ask<CheckedScenario>({ op: "check", text });
  if (!json.ok) throw new Error(json.message);
  return json;
}

function run(scenario: Table): ObservedRun {
  const { json } = engine.ask<ObservedRun>({ op: "run", text: JSON.stringify(scenario), observe: true, bins: 30 });
  if (!json.ok) throw new Error(json.message);
  return json;
}

const home = read(HOME.replace('duration = "60 s"', 'duration = "12 s"'));
const preset = read(
  'name = "p"\nduration = "5 s"\n[topology]\npreset = "dumbbell"\n[[flow]]\nname = "call"\ncount = 2\ntransport = "udp"\ntraffic = "voice"\n',
);

describe("links", () => {
  test("are added between nodes, known or new, and removed again", () => {
    const added = addLink(home.json, { from: "isp", to: "backup", rate: "5 Mb/s", delay: "3 ms" });
    expect(run(added).network.nodes).toContain("backup");
    expect(removeLink(added, 7)).toEqual(home.json);
    expect(home.json.link).toHaveLength(7);
  });

  test("that a flow needs cannot be removed: the engine says why", () => {
    const { json } = engine.ask<CheckedScenario>({ op: "check", text: JSON.stringify(removeLink(home.json, 0)) });
    expect(json.ok ? "" : json.message).toMatch(/call/);
  });

  test("are found in the text by the name of their direction", () => {
    expect(writtenLink(home.json, "home>isp")).toEqual({ path: ["link", 0], index: 0 });
    expect(writtenLink(home.json, "isp>home")).toEqual({ path: ["link", 0, "reverse"], index: 0 });
    expect(writtenLink(home.json, "home>phone")).toEqual({ path: ["link", 1], index: 1 });
    expect(writtenLink(home.json, "phone>isp")).toBeUndefined();
    const bottleneck = { path: ["topology", "bottleneck"], index: undefined };
    expect(writtenLink(preset.json, "r1>r2")).toEqual(bottleneck);
    expect(writtenLink(preset.json, "call-s0>r1")).toBeUndefined();
  });

  test("of a preset can be written out, and then edited", () => {
    const { json } = engine.ask<{ ok: true; json: Table }>({ op: "expand", text: JSON.stringify(preset.json) });
    if (!json.ok) throw new Error(json.message);
    const written = writtenLink(json.json, "r1>r2");
    expect(written?.index).toBeDefined();
    expect(run(json.json).flows).toEqual(run(preset.json).flows);
  });
});

describe("queues", () => {
  test("are written at a link and removed again", () => {
    const queue = { discipline: "fq-codel", capacity: { packets: 1000 } };
    const written = setQueue(home.json, ["link", 1], queue);
    const found = run(written).network.links?.find(({ name }) => name === "phone>home");
    expect(found?.queue).toMatchObject({ discipline: "fq-codel" });
    expect(setQueue(written, ["link", 1], undefined)).toEqual(home.json);
    expect(() => setQueue(home.json, ["link", 70], queue)).toThrow(/no such link/);
  });
});

describe("flows", () => {
  test.each(Object.keys(FLOW_KINDS))("of each kind are added and run: %s", (kind) => {
    const added = addFlow(home.json, { kind, name: "", from: "laptop", to: "cloud" });
    expect(run(added).network.groups).toHaveLength(4);
    const placed = addFlow(preset.json, { kind, name: "more", from: "", to: "" });
    expect(run(placed).network.groups.map(({ name }) => name)).toEqual(["call", "more"]);
  });

  test("get a name that no other flow has", () => {
    const twice = addFlow(home.json, { kind: "call", name: " call ", from: "phone", to: "friend" });
    expect(get(twice, ["flow", 3, "name"])).toBe("call2");
    expect(freshName("call", ["call", "call2"])).toBe("call3");
    expect(() => addFlow(home.json, { kind: "fax", name: "", from: "", to: "" })).toThrow(/choose one of call/);
  });

  test("are removed from what is recorded, too", () => {
    const recorded = { ...home.json, record: { bin: "1 s", goodput: ["call", "upload"], units: ["upload[0]"] } };
    const removed = removeFlow(recorded, 2);
    expect(removed.record).toEqual({ bin: "1 s", goodput: ["call"] });
    expect(run(removed).network.groups.map(({ name }) => name)).toEqual(["call", "conference"]);
  });
});

test("a node is removed with its links and its flows", () => {
  const without = removeNode(home.json, "disk");
  const { network } = run(without);
  expect(network.nodes).not.toContain("disk");
  expect(network.groups.map(({ name }) => name)).toEqual(["call", "conference"]);
});
