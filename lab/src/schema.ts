// The JSON Schema of the scenario language: choices, bounds and description of a key.

import type { Path } from "./paths";
import type { Json, Table } from "./protocol";

export interface KeyDescription {
  /** Names that the key allows. */
  choices: string[];
  least?: number;
  most?: number;
  description: string;
}

type Part = Table;

export class Schema {
  constructor(private readonly root: Table) {}

  /** Describes the key at a path of a scenario. */
  of(path: Path, scenario: Json): KeyDescription {
    let parts: Part[] = [this.root];
    let value: Json | undefined = scenario;
    let description = "";
    for (const step of path) {
      const inner = this.alternatives(parts, value);
      const next: Part[] = [];
      for (const part of inner) {
        const found =
          typeof step === "number"
            ? (part.items as Part | undefined)
            : ((part.properties as Table | undefined)?.[step] as Part | undefined);
        if (found && typeof found === "object") next.push(found);
      }
      if (!next.length) return { choices: [], description: "" };
      parts = next;
      value = value !== null && typeof value === "object" ? (value as Table)[step as string] : undefined;
      const written = next.find((part) => typeof part.description === "string")?.description;
      description = typeof written === "string" ? written : "";
    }
    const all = this.flat(parts);
    const choices = new Set<string>();
    const known: KeyDescription = { choices: [], description };
    for (const part of all) {
      for (const one of [part.const, ...((part.enum as Json[] | undefined) ?? [])]) {
        if (typeof one === "string") choices.add(one);
      }
      if (typeof part.minimum === "number") known.least = part.minimum;
      if (typeof part.maximum === "number") known.most = part.maximum;
    }
    known.choices = [...choices];
    return known;
  }

  /** The names of the laws of a definition: the constants under `key` of its alternatives. */
  names(definition: string, key: string): string[] {
    const start = (this.root.$defs as Table | undefined)?.[definition];
    const found = new Set<string>();
    if (start && typeof start === "object") {
      for (const part of this.flat([start as Part])) {
        const tag = (part.properties as Table | undefined)?.[key] as Part | undefined;
        if (typeof tag?.const === "string") found.add(tag.const);
      }
    }
    return [...found];
  }

  /**
   * The keys that a law may take over from another law of the same definition: keys of the same type. Keys of `x-own-meaning`
   * have a different meaning in each law, so both laws must describe them in the same words.
   */
  inCommon(definition: string, tag: string, from: string, to: string): string[] {
    const start = (this.root.$defs as Table | undefined)?.[definition] as Part | undefined;
    if (!start) return [];
    const parts = this.flat([start]);
    const keys = (name: string): Table =>
      Object.assign(
        {},
        ...parts
          .filter((part) => ((part.properties as Table | undefined)?.[tag] as Part | undefined)?.const === name)
          .flatMap((part) => this.flat([part]).map((form) => form.properties ?? {})),
      );
    const own = (start["x-own-meaning"] as string[] | undefined) ?? [];
    const [old, next] = [keys(from), keys(to)];
    return Object.keys(old).filter((key) => {
      const [one, other] = [old[key] as Part, next[key] as Part | undefined];
      if (key === tag || !other || kind(one) !== kind(other)) return false;
      return !own.includes(key) || one.description === other.description;
    });
  }

  private resolved(part: Part): Part {
    const reference = part.$ref;
    if (typeof reference !== "string" || !reference.startsWith("#/")) return part;
    let at: Json | undefined = this.root;
    for (const key of reference.slice(2).split("/")) at = (at as Table | undefined)?.[key];
    return (at as Part | undefined) ?? {};
  }

  /** Parts with all their alternatives. */
  private flat(parts: Part[], depth = 0): Part[] {
    if (depth > 12) return [];
    const found: Part[] = [];
    for (const part of parts) {
      const here = this.resolved(part);
      found.push(here);
      for (const word of ["oneOf", "anyOf", "allOf"]) {
        const inner = here[word];
        if (Array.isArray(inner)) found.push(...this.flat(inner as Part[], depth + 1));
      }
    }
    return found;
  }

  /** The alternatives that fit a table: the table has their constants. */
  private alternatives(parts: Part[], value: Json | undefined): Part[] {
    const all = this.flat(parts);
    if (value === null || typeof value !== "object" || Array.isArray(value) || value === undefined) return all;
    return all.filter((part) => {
      const properties = part.properties as Table | undefined;
      if (!properties) return true;
      return Object.entries(properties).every(([key, one]) => {
        const constant = (one as Part | null)?.const;
        return constant === undefined || (value as Table)[key] === constant;
      });
    });
  }
}

/** The type of a key as text, without its default and without null. */
function kind(part: Part): string {
  const { description: _description, default: _default, title: _title, examples: _examples, ...rest } = part;
  if (Array.isArray(rest.type)) {
    const types = rest.type.filter((one) => one !== "null");
    rest.type = types.length === 1 ? (types[0] as Json) : types;
  }
  if (Array.isArray(rest.anyOf)) {
    const forms = rest.anyOf.filter((form) => (form as Part).type !== "null");
    if (forms.length === 1) return kind(forms[0] as Part);
    rest.anyOf = forms;
  }
  return JSON.stringify(rest);
}
