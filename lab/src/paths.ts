// Paths in a scenario: keys and indices. Setting a parameter of a law that is written as a name turns the name into a table.

import type { Json, Table } from "./protocol";

export type Path = readonly (string | number)[];

/** For each key that holds a law: the key of the law's name in its table. */
const TAGS: Record<string, string> = {
  transport: "name",
  traffic: "kind",
  queue: "discipline",
  loss: "model",
  playout: "strategy",
  rate: "law",
  jitter: "model",
  victim: "rule",
  control: "name",
};

export function get(root: Json, path: Path): Json | undefined {
  let at: Json | undefined = root;
  for (const step of path) {
    if (at === null || typeof at !== "object") return undefined;
    if (!Object.hasOwn(at, step)) return undefined;
    at = Array.isArray(at) ? at[step as number] : (at as Table)[step];
  }
  return at;
}

/** Keys that reach the prototype of all objects. */
const FORBIDDEN = ["__proto__", "constructor", "prototype"];

/** A copy with another value at a path; null removes the key. Throws for keys that reach the prototype of all objects. */
export function set(root: Table, path: Path, value: Json): Table {
  const wrong = path.find((step) => FORBIDDEN.includes(String(step)));
  if (wrong !== undefined) throw new Error(`${formatPath(path)}: ${wrong} is no key of a scenario`);
  const copy = structuredClone(root);
  let at: Json = copy;
  for (const [index, step] of path.slice(0, -1).entries()) {
    const holder = at as Table;
    const next: Json | undefined = holder[step as string];
    if (typeof next === "string" && typeof step === "string" && step in TAGS) {
      holder[step] = { [TAGS[step] as string]: next };
    } else if (next === undefined || next === null || (next === true && typeof path[index + 1] === "string")) {
      // The value `true` stands for the defaults.
      holder[step as string] = typeof path[index + 1] === "number" ? [] : {};
    }
    at = holder[step as string] as Json;
    if (at === null || typeof at !== "object")
      throw new Error(`${formatPath(path)}: cannot be set, because a part of the path holds a single value`);
  }
  const last = path.at(-1) as string;
  if (value === null) delete (at as Table)[last];
  else (at as Table)[last] = value;
  return copy;
}

/** Formats a path for readers: `flow.call.transport`, with names of flows and links instead of indices. */
export function formatPath(path: Path, root?: Json): string {
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

/** Every path that holds a single value, with the value. */
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
