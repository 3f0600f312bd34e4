// Controls for the keys of a scenario, and the scenario with a control's new value.

import { formatPath, get, leaves, type Path, set } from "./paths";
import type { Json, Network, Table } from "./protocol";
import { type Dimension, format, parse, rounded } from "./quantities";
import type { Schema } from "./schema";

interface Common {
  path: Path;
  label: string;
  title: string;
}

export type Control = Common &
  (
    | { kind: "slider"; value: number; least: number; most: number; log: boolean; dimension: Dimension }
    | { kind: "choice"; value: string; choices: string[] }
    | { kind: "text"; value: string }
  );

/** The value at a path: as written, or the default. */
function valueAt(json: Table, complete: Table, path: Path): Json | undefined {
  const written = get(json, path);
  return written === undefined ? get(complete, path) : written;
}

/** The name of a law that is written as a name or as a table. */
export function lawName(value: Json | undefined, tag: string): string {
  if (typeof value === "string") return value;
  const name = value !== null && typeof value === "object" ? (value as Table)[tag] : undefined;
  return typeof name === "string" ? name : "";
}

function slider(
  path: Path,
  label: string,
  title: string,
  value: number,
  dimension: Dimension,
  bounds?: [number, number],
): Control {
  const log =
    dimension === "rate" || dimension === "time" || dimension === "size" || (dimension === "count" && value > 20);
  const [least, most] = bounds ?? [value / 10, value * 10];
  return {
    path,
    label,
    title,
    kind: "slider",
    value,
    least: Math.min(least, value),
    most: Math.max(most, value),
    log,
    dimension,
  };
}

/** Laws that need parameters. A choice writes every other law by its name alone. */
const NEEDED_PARAMETERS: Record<string, Table> = {
  "loss bernoulli": { model: "bernoulli", rate: 0.01 },
  "control fixed": { name: "fixed", rate: "800 kb/s" },
};

/** For each key that holds a law: its definition in the schema, and the key of the law's name. */
const FAMILIES: Record<string, [definition: string, tag: string]> = {
  queue: ["WrittenQueueConfig", "discipline"],
  transport: ["WrittenTransportConfig", "name"],
  traffic: ["WrittenTrafficConfig", "kind"],
  loss: ["WrittenLossConfig", "model"],
  jitter: ["WrittenJitterConfig", "model"],
  playout: ["WrittenPlayoutConfig", "strategy"],
  control: ["RateControlConfig", "name"],
};

export class Controls {
  constructor(
    readonly json: Table,
    readonly complete: Table,
    private readonly schema: Schema,
  ) {}

  /** The control for a key; undefined for a key that holds a table or a list. */
  of(path: Path): Control | undefined {
    const label = formatPath(path, this.json);
    const key = path.at(-1);
    const known = this.schema.of(path, this.complete);
    const value = valueAt(this.json, this.complete, path);
    const common = { path, label, title: known.description };
    if (key === "control") return this.law(path, label, known.description, "RateControlConfig", "name");
    if (key === "transport") return this.law(path, label, known.description, "WrittenTransportConfig", "name");
    if (typeof value === "boolean") {
      return { ...common, kind: "choice", value: String(value), choices: ["true", "false"] };
    }
    if (typeof value === "string" && known.choices.includes(value)) {
      return { ...common, kind: "choice", value, choices: known.choices };
    }
    if (key === "discipline") {
      const choices = this.schema.names("WrittenQueueConfig", "discipline");
      if (typeof value === "string" && choices.length) return { ...common, kind: "choice", value, choices };
    }
    const quantity = parse(value);
    if (quantity) {
      const { dimension } = quantity;
      const isCount =
        dimension === "number" &&
        Number.isInteger(quantity.value) &&
        (quantity.value > 1 || key === "count" || key === "packets");
      const isShare = dimension === "number" && quantity.value >= 0 && quantity.value <= 1 && !isCount;
      if (isShare) return slider(path, label, known.description, quantity.value, "number", [0, 1]);
      const kind = isCount ? "count" : dimension;
      const bounds: [number, number] | undefined = isCount
        ? [Math.max(known.least ?? 0, 0), Math.max(10, quantity.value * 5)]
        : quantity.value === 0
          ? [0, dimension === "time" ? 1 : 1e6]
          : undefined;
      return slider(path, label, known.description, quantity.value, kind, bounds);
    }
    return typeof value === "string" ? { ...common, kind: "text", value } : undefined;
  }

  private law(path: Path, label: string, title: string, definition: string, tag: string): Control | undefined {
    const value = lawName(valueAt(this.json, this.complete, path), tag);
    const choices = this.schema.names(definition, tag);
    if (!value) return undefined;
    return {
      path,
      label,
      title,
      kind: "choice",
      value,
      choices: choices.includes(value) ? choices : [value, ...choices],
    };
  }

  /** The initial controls: the bottleneck's, and each flow's transport and count. */
  initial(network: Network): Control[] {
    const found: (Control | undefined)[] = [];
    const bottleneck = this.bottleneck(network);
    if (bottleneck) found.push(...this.ofLink(bottleneck, "bottleneck "));
    const flows = this.json.flow;
    for (const index of (Array.isArray(flows) ? flows : []).slice(0, 6).keys()) found.push(...this.ofFlow(index));
    return found.filter((one) => one !== undefined);
  }

  /** The controls of a link direction; `prefix` begins the labels of its rate, delay and queue. */
  ofLink(path: Path, prefix = ""): Control[] {
    const at = (...keys: string[]) => [...path, ...keys];
    const found: (Control | undefined)[] = [];
    const named = (label: string, control: Control | undefined) => control && { ...control, label };
    const rate = parse(valueAt(this.json, this.complete, at("rate")));
    if (rate) found.push(slider(at("rate"), `${prefix}rate`, "", rate.value, "rate", [rate.value / 8, rate.value * 8]));
    const delay = parse(valueAt(this.json, this.complete, at("delay")));
    if (delay) found.push(slider(at("delay"), `${prefix}delay, one way`, "", delay.value, "time", [0.001, 0.4]));
    found.push(named(`${prefix}queue`, this.queue(at("queue"))));
    found.push(named("buffer, packets", this.buffer(at("queue"))));
    found.push(named("victim (which packet is dropped)", this.victim(at("queue"))));
    found.push(named("loss on the link", this.loss(at("loss"))));
    return found.filter((one) => one !== undefined);
  }

  /** The controls of a flow: its transport, the media and the rate control of a session, and its count. */
  ofFlow(index: number): Control[] {
    const flow = get(this.json, ["flow", index]) as Table | undefined;
    const name = String(flow?.name ?? "");
    const found: Control[] = [];
    const transport = this.of(["flow", index, "transport"]);
    if (transport) found.push({ ...transport, label: `${name}: transport` });
    found.push(...this.ofSession(index, name));
    const count = parse(flow?.count ?? 1);
    if (flow && count && !flow.arrivals) {
      const bounds: [number, number] = [0, Math.max(8, count.value * 3)];
      found.push(slider(["flow", index, "count"], `${name}: flows`, "", count.value, "count", bounds));
    }
    return found;
  }

  /** Rate control, microphone, camera and the camera's highest rate of a flow over WebRTC; none for another flow. */
  private ofSession(index: number, name: string): Control[] {
    const path = ["flow", index, "traffic"];
    const kind = lawName(valueAt(this.json, this.complete, path), "kind");
    const control = this.of(["flow", index, "transport", "control"]);
    if (kind !== "media" || !control) return [];
    const found: Control[] = [{ ...control, label: `${name}: rate control` }];
    for (const stream of ["audio", "video"]) {
      const at = [...path, stream];
      const value = String(valueAt(this.json, this.complete, at) !== false);
      const title = this.schema.of(at, this.complete).description;
      found.push({ path: at, label: `${name}: ${stream}`, title, kind: "choice", value, choices: ["true", "false"] });
    }
    const most = this.of([...path, "video", "most"]);
    if (most?.kind === "slider")
      found.push({ ...most, label: `${name}: most rate of video`, least: 1e5, most: Math.max(8e6, most.value) });
    return found;
  }

  /** The path of the bottleneck: a preset's `bottleneck`, or the slowest link that flows cross. */
  bottleneck(network: Network): Path | undefined {
    const topology = this.json.topology;
    if (topology && typeof topology === "object" && get(topology, ["bottleneck"])) return ["topology", "bottleneck"];
    if (topology && get(this.complete, ["topology", "bottleneck"])) return ["topology", "bottleneck"];
    const crossed = new Set(network.groups.flatMap((group) => group.forward ?? []));
    const links = (network.links ?? []).filter((_, index) => crossed.has(index));
    const slowest = links.reduce<(typeof links)[number] | undefined>(
      (best, link) => (!best || link.rate_bps < best.rate_bps ? link : best),
      undefined,
    );
    const written = this.json.link;
    if (!slowest || !Array.isArray(written)) return undefined;
    for (const [index, link] of written.entries()) {
      const { from, to } = link as Table;
      if (`${from}>${to}` === slowest.name) return ["link", index];
      if (`${to}>${from}` === slowest.name)
        return (link as Table).reverse ? ["link", index, "reverse"] : ["link", index];
    }
    return undefined;
  }

  private queue(path: Path): Control | undefined {
    const value = lawName(valueAt(this.json, this.complete, path), "discipline") || "drop-tail";
    const choices = this.schema.names("WrittenQueueConfig", "discipline");
    return { path: [...path, "discipline"], label: "", title: "", kind: "choice", value, choices };
  }

  private buffer(path: Path): Control | undefined {
    const packets = get(this.json, [...path, "capacity", "packets"]);
    const value = typeof packets === "number" ? packets : 125;
    return { ...slider([...path, "capacity"], "", "", value, "count", [2, 1000]), log: true } as Control;
  }

  private victim(path: Path): Control | undefined {
    const complete = get(this.complete, [...path, "victim"]);
    const written = get(this.json, [...path, "victim"]);
    if (written === undefined && (complete === undefined || complete === null)) return undefined;
    const value = lawName(written ?? complete, "rule") || "tail";
    return {
      path: [...path, "victim"],
      label: "",
      title: "",
      kind: "choice",
      value,
      choices: ["tail", "front", "random", "drop-sel", "voice-guard", "highest-layer"],
    };
  }

  private loss(path: Path): Control | undefined {
    const value = get(this.json, path);
    if (value !== undefined && lawName(value, "model") !== "none" && lawName(value, "model") !== "bernoulli")
      return undefined;
    const share = value && typeof value === "object" ? get(value, ["rate"]) : 0;
    return slider(path, "", "", typeof share === "number" ? share : 0, "fraction", [0, 0.2]);
  }

  /** The scenario with a control's new value. Writes out an omitted table first, because some of its keys need others. */
  with(control: Control, value: number | string): Table {
    for (let length = 2; length < control.path.length; length++) {
      const part = control.path.slice(0, length);
      const complete = get(this.complete, part);
      if (
        get(this.json, part) === undefined &&
        complete !== undefined &&
        complete !== null &&
        typeof complete === "object"
      ) {
        const filled = new Controls(set(this.json, part, complete), this.complete, this.schema);
        return filled.withValue(control, value);
      }
      if (typeof get(this.json, part) === "string") break;
    }
    return this.withValue(control, value);
  }

  private withValue(control: Control, value: number | string): Table {
    const last = control.path.at(-1);
    if (last === "capacity") return set(this.json, control.path, { packets: Math.round(Number(value)) });
    if (last === "loss" && control.kind === "slider") {
      return set(this.json, control.path, Number(value) > 0 ? { model: "bernoulli", rate: Number(value) } : null);
    }
    if (last === "discipline" && control.kind === "choice") {
      const at = control.path.slice(0, -1);
      const written = this.replacement(at, String(value));
      return set(this.json, at, typeof written === "string" ? { discipline: written } : written);
    }
    if (control.kind === "choice") {
      // A stream that is on may be a table of its parameters.
      const old = get(this.json, control.path);
      const written: Json =
        value === "true"
          ? old !== null && typeof old === "object"
            ? old
            : true
          : value === "false"
            ? false
            : (NEEDED_PARAMETERS[`${String(last)} ${value}`] ?? this.replacement(control.path, String(value)));
      return set(this.json, control.path, written);
    }
    if (control.kind === "slider") return set(this.json, control.path, format(Number(value), control.dimension));
    return set(this.json, control.path, value);
  }

  /** The table of another law at a path. It keeps the parameters that both laws have. */
  private replacement(at: Path, name: string): Json {
    const family = FAMILIES[String(at.at(-1))];
    const old = get(this.json, at);
    if (!family || !old || typeof old !== "object" || Array.isArray(old)) return name;
    const [definition, tag] = family;
    const before = lawName(old, tag) || (tag === "discipline" ? "drop-tail" : "");
    const kept: Table = { [tag]: name };
    for (const key of this.schema.inCommon(definition, tag, before, name)) {
      if (old[key] !== undefined) kept[key] = old[key];
    }
    return kept;
  }

  /** Every key that holds a single value. */
  all(): Path[] {
    const found = new Map<string, Path>();
    for (const source of [this.json, this.complete]) {
      for (const [path] of leaves(source)) {
        const top = path[0];
        if (["version", "name", "description"].includes(String(top)) || path.at(-1) === "name") continue;
        if (top === "flow" && ["from", "to", "path"].includes(String(path.at(-1)))) continue;
        found.set(formatPath(path), path);
      }
    }
    return [...found.values()];
  }
}

/** How a slider's positions map to values: linear, or 240 logarithmic steps from the least value. */
export interface SliderScale {
  min: number;
  max: number;
  step: number;
  toValue(position: number): number;
  toPosition(value: number): number;
}

const LOG_STEPS = 240;
const LINEAR_STEPS = 200;

export function scaleOf(control: Control & { kind: "slider" }): SliderScale {
  const { least, most, log, dimension } = control;
  if (!log) {
    const step = dimension === "count" ? 1 : (most - least) / LINEAR_STEPS;
    return { min: least, max: most, step, toValue: (position) => position, toPosition: (value) => value };
  }
  // A logarithmic scale cannot begin at 0.
  const first = Math.max(least, most / 1e5);
  return {
    min: 0,
    max: LOG_STEPS,
    step: 1,
    toValue: (position) => (position === 0 ? least : rounded(first * (most / first) ** (position / LOG_STEPS), 3)),
    toPosition: (value) => (value <= first ? 0 : (LOG_STEPS * Math.log(value / first)) / Math.log(most / first)),
  };
}
