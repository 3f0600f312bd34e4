// Controls made from the scenario itself: which keys can be turned, and how.

import { get, leaves, type Path, set, words } from "./paths";
import type { Json, Network, Table } from "./protocol";
import { type Dimension, format, parse } from "./quantities";
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

/** The value that the scenario has or would have there. */
function valueAt(json: Table, spelled: Table, path: Path): Json | undefined {
  const written = get(json, path);
  return written === undefined ? get(spelled, path) : written;
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

/** Laws that a choice writes with what they need; others by their name alone. */
const NEEDS: Record<string, Table> = {
  "loss bernoulli": { model: "bernoulli", rate: 0.01 },
};

/** Where the laws of a key stand in the schema, and the key that names one. */
const FAMILIES: Record<string, [definition: string, tag: string]> = {
  queue: ["WrittenQueueConfig", "discipline"],
  transport: ["WrittenTransportConfig", "name"],
  traffic: ["WrittenTrafficConfig", "kind"],
  loss: ["WrittenLossConfig", "model"],
  jitter: ["WrittenJitterConfig", "model"],
  playout: ["WrittenPlayoutConfig", "strategy"],
};

export class Controls {
  constructor(
    readonly json: Table,
    readonly spelled: Table,
    private readonly schema: Schema,
  ) {}

  /** The control of any key; none for what holds no single value. */
  of(path: Path): Control | undefined {
    const label = words(path, this.json);
    const key = path.at(-1);
    const known = this.schema.of(path, this.spelled);
    const value = valueAt(this.json, this.spelled, path);
    const common = { path, label, title: known.description };
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
    const value = lawName(valueAt(this.json, this.spelled, path), tag);
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

  /** The few that are there from the start: the bottleneck's, and how many flows of which transport. */
  initial(network: Network): Control[] {
    const found: (Control | undefined)[] = [];
    const bottleneck = this.bottleneck(network);
    if (bottleneck) {
      const at = (...keys: string[]) => [...bottleneck, ...keys];
      const named = (label: string, control: Control | undefined) => control && { ...control, label };
      const rate = parse(valueAt(this.json, this.spelled, at("rate")));
      if (rate)
        found.push(
          slider(at("rate"), "rate of the bottleneck", "", rate.value, "rate", [rate.value / 8, rate.value * 8]),
        );
      const delay = parse(valueAt(this.json, this.spelled, at("delay")));
      if (delay)
        found.push(slider(at("delay"), "delay of the bottleneck, one way", "", delay.value, "time", [0.001, 0.4]));
      found.push(named("queue of the bottleneck", this.queue(at("queue"))));
      found.push(named("buffer, packets", this.buffer(at("queue"))));
      found.push(named("who is dropped (victim)", this.victim(at("queue"))));
      found.push(named("packets lost on the link", this.loss(at("loss"))));
    }
    const flows = this.json.flow;
    for (const [index, flow] of (Array.isArray(flows) ? flows : []).slice(0, 6).entries()) {
      const name = (flow as Table).name as string;
      const transport = this.of(["flow", index, "transport"]);
      if (transport) found.push({ ...transport, label: `${name}: transport` });
      const count = parse((flow as Table).count ?? 1);
      if (count && !(flow as Table).arrivals) {
        found.push(
          slider(["flow", index, "count"], `${name}: how many`, "", count.value, "count", [
            0,
            Math.max(8, count.value * 3),
          ]),
        );
      }
    }
    return found.filter((one) => one !== undefined);
  }

  /** The written link with the lowest rate, of those that flows cross; that of a preset is its bottleneck. */
  bottleneck(network: Network): Path | undefined {
    const topology = this.json.topology;
    if (topology && typeof topology === "object" && get(topology, ["bottleneck"])) return ["topology", "bottleneck"];
    if (topology && get(this.spelled, ["topology", "bottleneck"])) return ["topology", "bottleneck"];
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
    const value = lawName(valueAt(this.json, this.spelled, path), "discipline") || "drop-tail";
    const choices = this.schema.names("WrittenQueueConfig", "discipline");
    return { path: [...path, "discipline"], label: "", title: "", kind: "choice", value, choices };
  }

  private buffer(path: Path): Control | undefined {
    const packets = get(this.json, [...path, "capacity", "packets"]);
    const value = typeof packets === "number" ? packets : 125;
    return { ...slider([...path, "capacity"], "", "", value, "count", [2, 1000]), log: true } as Control;
  }

  private victim(path: Path): Control | undefined {
    const spelled = get(this.spelled, [...path, "victim"]);
    const written = get(this.json, [...path, "victim"]);
    if (written === undefined && (spelled === undefined || spelled === null)) return undefined;
    const value = lawName(written ?? spelled, "rule") || "tail";
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

  /** The scenario with a control's new value. A table that was left out is written out first: some keys need their neighbours. */
  with(control: Control, value: number | string): Table {
    for (let length = 2; length < control.path.length; length++) {
      const part = control.path.slice(0, length);
      const spelled = get(this.spelled, part);
      if (
        get(this.json, part) === undefined &&
        spelled !== undefined &&
        spelled !== null &&
        typeof spelled === "object"
      ) {
        const filled = new Controls(set(this.json, part, spelled), this.spelled, this.schema);
        return filled.turned(control, value);
      }
      if (typeof get(this.json, part) === "string") break;
    }
    return this.turned(control, value);
  }

  private turned(control: Control, value: number | string): Table {
    const last = control.path.at(-1);
    if (last === "capacity") return set(this.json, control.path, { packets: Math.round(Number(value)) });
    if (last === "loss" && control.kind === "slider") {
      return set(this.json, control.path, Number(value) > 0 ? { model: "bernoulli", rate: Number(value) } : null);
    }
    if (last === "discipline" && control.kind === "choice") {
      const at = control.path.slice(0, -1);
      const written = this.exchanged(at, String(value));
      return set(this.json, at, typeof written === "string" ? { discipline: written } : written);
    }
    if (control.kind === "choice") {
      const written: Json =
        value === "true"
          ? true
          : value === "false"
            ? false
            : (NEEDS[`${String(last)} ${value}`] ?? this.exchanged(control.path, String(value)));
      return set(this.json, control.path, written);
    }
    if (control.kind === "slider") return set(this.json, control.path, format(Number(value), control.dimension));
    return set(this.json, control.path, value);
  }

  /** Another law in the place of the one at a path: what both have in common stays, what belongs to the old one goes. */
  private exchanged(at: Path, name: string): Json {
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

  /** Every key of the scenario with a value that a control can turn. */
  all(): Path[] {
    const found = new Map<string, Path>();
    for (const source of [this.json, this.spelled]) {
      for (const [path] of leaves(source)) {
        const top = path[0];
        if (top === "name" || top === "description" || path.at(-1) === "name") continue;
        if (top === "flow" && ["from", "to", "path"].includes(String(path.at(-1)))) continue;
        found.set(words(path), path);
      }
    }
    return [...found.values()];
  }
}
