// Places in a scenario: keys and indices. A law that is written as a name becomes a table when one of its keys is set.

import type { Json, Table } from "./protocol";

export type Path = readonly (string | number)[];

/** The key that carries a law's name, by the key under which the law stands. */
const TAGS: Record<string, string> = {
  transport: "name",
  traffic: "kind",
  queue: "discipline",
  loss: "model",
  playout: "strategy",
  rate: "law",
  jitter: "model",
  victim: "rule",
};

export function get(root: Json, path: Path): Json | undefined {
  let at: Json | undefined = root;
  for (const step of path) {
    if (at === null || typeof at !== "object") return undefined;
    at = Array.isArray(at) ? at[step as number] : (at as Table)[step];
  }
  return at;
}

/** The same scenario with another value there; null removes the key. */
export function set(root: Table, path: Path, value: Json): Table {
  const copy = structuredClone(root);
  let at: Json = copy;
  for (const [index, step] of path.slice(0, -1).entries()) {
    const holder = at as Table;
    const next: Json | undefined = holder[step as string];
    if (typeof next === "string" && typeof step === "string" && step in TAGS) {
      holder[step] = { [TAGS[step] as string]: next };
    } else if (next === undefined || next === null) {
      holder[step as string] = typeof path[index + 1] === "number" ? [] : {};
    }
    at = holder[step as string] as Json;
    if (at === null || typeof at !== "object") throw new Error(`${words(path)}: nothing can be set there`);
  }
  const last = path.at(-1) as string;
  if (value === null) delete (at as Table)[last];
  else (at as Table)[last] = value;
  return copy;
}

/** As people read it: `flow.call.transport`, with the names of flows and links instead of their numbers. */
export function words(path: Path, root?: Json): string {
  const parts: string[] = [];
  for (const [index, step] of path.entries()) {
    if (typeof step === "number" && root !== undefined) {
      const item = get(root, path.slice(0, index + 1)) as Table | undefined;
      const name = item?.name ?? (item?.from !== undefined ? `${item.from}>${item.to}` : undefined);
      parts.push(typeof name === "string" ? name : String(step));
    } else {
      parts.push(String(step));
    }
  }
  return parts.join(".");
}

/** Every place that holds a value, with the value. */
export function* leaves(root: Json, path: Path = []): Generator<[Path, string | number | boolean]> {
  if (root === null) return;
  if (typeof root !== "object") {
    yield [path, root];
  } else if (Array.isArray(root)) {
    for (const [index, item] of root.entries()) yield* leaves(item, [...path, index]);
  } else {
    for (const [key, item] of Object.entries(root)) yield* leaves(item, [...path, key]);
  }
}
