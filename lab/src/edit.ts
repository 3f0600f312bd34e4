// Edits of a network: scenarios with links, flows and queues added or removed. The engine checks each result before it runs.

import { lawName } from "./controls";
import { get, type Path, set } from "./paths";
import type { Json, Table } from "./protocol";

/** A link direction of the drawing in the scenario's text. */
export interface WrittenLink {
  /** The path of the table that describes this direction. */
  path: Path;
  /** The index of its `[[link]]`; undefined for the bottleneck of a preset. */
  index: number | undefined;
}

const links = (scenario: Table): Table[] => (Array.isArray(scenario.link) ? (scenario.link as Table[]) : []);
const flows = (scenario: Table): Table[] => (Array.isArray(scenario.flow) ? (scenario.flow as Table[]) : []);

/** Longer names have no members, which bounds the time of a match. */
const LONGEST_NAME = 1000;

/**
 * Whether a node's name is a member of a written name, for example `a7` of `a{i}`.
 *
 * The time grows with the product of the two lengths. A regular expression would take exponential time for `{i}{i}{i}…`.
 */
export function isMember(name: string, written: Json | undefined): boolean {
  if (typeof written !== "string") return false;
  if (name === written) return true;
  if (name.length > LONGEST_NAME || written.length > LONGEST_NAME) return false;
  // Where in the name the part of the template before the current one may end.
  let ends = [0];
  for (const [index, text] of written.split(/\{[^{}]*\}/).entries()) {
    if (index > 0) ends = afterDigits(name, ends);
    ends = ends.filter((at) => name.startsWith(text, at)).map((at) => at + text.length);
    if (ends.length === 0) return false;
  }
  return ends.includes(name.length);
}

/** Every place behind one or more digits that begin at one of these places; each once, in order. */
function afterDigits(name: string, places: readonly number[]): number[] {
  const found: number[] = [];
  for (const place of places) {
    for (let at = Math.max(place, found.at(-1) ?? 0); at < name.length && /\d/.test(name.charAt(at)); at++) {
      if (found.at(-1) !== at + 1) found.push(at + 1);
    }
  }
  return found;
}

/** Presets with `bottleneck` for all links between routers. */
const ONE_BOTTLENECK = ["dumbbell", "multi-hop"];

/** Where a link direction `FROM>TO` is written; undefined for a link of a preset other than its bottleneck. */
export function writtenLink(scenario: Table, name: string): WrittenLink | undefined {
  const [from = "", to = ""] = name.split(">");
  for (const [index, link] of links(scenario).entries()) {
    if (isMember(from, link.from) && isMember(to, link.to)) return { path: ["link", index], index };
    if (isMember(from, link.to) && isMember(to, link.from) && link.duplex !== false) {
      return { path: link.reverse ? ["link", index, "reverse"] : ["link", index], index };
    }
  }
  const [one, other] = [/^r(\d+)$/.exec(from)?.[1], /^r(\d+)$/.exec(to)?.[1]];
  const preset = get(scenario, ["topology", "preset"]);
  if (one === undefined || other === undefined || typeof preset !== "string") return undefined;
  const three = Math.min(Number(one), Number(other)) === 1 ? "first-bottleneck" : "shared-bottleneck";
  const path: Path = ["topology", ONE_BOTTLENECK.includes(preset) ? "bottleneck" : three];
  const isReverse = Number(one) > Number(other) && get(scenario, [...path, "reverse"]) !== undefined;
  return { path: isReverse ? [...path, "reverse"] : path, index: undefined };
}

/** A name that is not yet in use: `call`, `call2`, `call3`. */
export function freshName(base: string, used: readonly string[]): string {
  if (!used.includes(base)) return base;
  let number = 2;
  while (used.includes(`${base}${number}`)) number++;
  return `${base}${number}`;
}

export interface NewLink {
  from: string;
  to: string;
  rate: string;
  delay: string;
}

export function addLink(scenario: Table, { from, to, rate, delay }: NewLink): Table {
  const copy = structuredClone(scenario);
  copy.link = [...links(copy), { from, to, rate, delay }];
  return copy;
}

/** The scenario without a `[[link]]`, in both directions. */
export function removeLink(scenario: Table, index: number): Table {
  const copy = structuredClone(scenario);
  copy.link = links(copy).filter((_, at) => at !== index);
  if (!copy.link.length) delete copy.link;
  return copy;
}

/** Kinds of flows that the page adds. `traffic` and `transport` are the scenario's keys. */
export const FLOW_KINDS: Record<string, { label: string; name: string; transport: Json; traffic: Json }> = {
  call: {
    label: "Call (G.711 over UDP)",
    name: "call",
    transport: "udp",
    traffic: { kind: "voice", codec: "g711", "always-on": true },
  },
  transfer: { label: "Transfer (TCP CUBIC)", name: "transfer", transport: "tcp/cubic", traffic: "bulk" },
  bbr: { label: "Transfer (BBR)", name: "transfer", transport: "tcp/bbr", traffic: "bulk" },
  stream: {
    label: "Stream of 1 Mb/s (UDP)",
    name: "stream",
    transport: "udp",
    traffic: { kind: "cbr", rate: "1 Mb/s", payload: "1000 B" },
  },
};

export interface NewFlow {
  kind: string;
  name: string;
  /** Empty: the preset of the topology places the flow. */
  from: string;
  to: string;
}

export function addFlow(scenario: Table, { kind, name, from, to }: NewFlow): Table {
  const chosen = FLOW_KINDS[kind];
  if (!chosen) throw new Error(`there is no kind of flow ${kind}: choose one of ${Object.keys(FLOW_KINDS).join(", ")}`);
  const names = flows(scenario).map((flow) => String(flow.name));
  const flow: Table = { name: freshName(name.trim() || chosen.name, names) };
  if (from) flow.from = from;
  if (to) flow.to = to;
  Object.assign(flow, structuredClone({ transport: chosen.transport, traffic: chosen.traffic }));
  const copy = structuredClone(scenario);
  copy.flow = [...flows(copy), flow];
  return copy;
}

export function removeFlow(scenario: Table, index: number): Table {
  const copy = structuredClone(scenario);
  const name = flows(copy)[index]?.name;
  copy.flow = flows(copy).filter((_, at) => at !== index);
  forget(copy, String(name));
  return copy;
}

/** Removes a flow's name from the lists of recordings. */
function forget(scenario: Table, name: string): void {
  const record = scenario.record;
  if (record === null || typeof record !== "object" || Array.isArray(record)) return;
  for (const [key, entries] of Object.entries(record)) {
    if (!Array.isArray(entries)) continue;
    const kept = entries.filter(
      (entry) => typeof entry !== "string" || (entry !== name && !entry.startsWith(`${name}[`)),
    );
    if (kept.length) record[key] = kept;
    else if (entries.length) delete record[key];
  }
}

/** The scenario without a node, its links, and the flows that begin or end there. */
export function removeNode(scenario: Table, node: string): Table {
  let copy = structuredClone(scenario);
  copy.link = links(copy).filter((link) => !isMember(node, link.from) && !isMember(node, link.to));
  if (!copy.link.length) delete copy.link;
  for (let index = flows(copy).length - 1; index >= 0; index--) {
    const flow = flows(copy)[index] as Table;
    if (isMember(node, flow.from) || isMember(node, flow.to)) copy = removeFlow(copy, index);
  }
  return copy;
}

/** Writes a queue at a link, or removes it, which sets the default queue. */
export function setQueue(scenario: Table, path: Path, queue: Table | undefined): Table {
  if (path[0] === "link" && get(scenario, path) === undefined) throw new Error("there is no such link");
  return set(scenario, [...path, "queue"], queue ?? null);
}

/** Whether a link's rate follows a trace. */
export function isTraced(scenario: Table, path: Path): boolean {
  return lawName(get(scenario, [...path, "rate"]), "law") === "trace";
}
