// What the engine (crates/fairwave-wasm) is asked and answers. Times are in seconds, rates in bits per second; what is not
// defined is null.

export type Maybe = number | null;

export interface Problem {
  message: string;
  path: string;
  line: number | null;
  column: number | null;
  allowed: string | null;
  help: string | null;
}

export interface Refused {
  ok: false;
  message: string;
  problems?: Problem[];
  too_large?: boolean;
  /** The engine itself failed and was started anew. */
  crashed?: boolean;
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Table = { [key: string]: Json };

export interface Checked {
  ok: true;
  name: string;
  description: string;
  hash: string;
  /** As it is written. */
  json: Table;
  /** With all parameters of its laws. */
  spelled: Table;
  toml: string;
  happenings: number;
  too_large: string | null;
}

export interface NetworkLink {
  name: string;
  from: number;
  to: number;
  rate_bps: number;
  delay_s: number;
  queue: Table;
  lossy: boolean;
}

export interface NetworkGroup {
  name: string;
  flows: number;
  class: "voice" | "other-udp" | "tcp" | null;
  call: boolean;
  transport: Json;
  from: number | null;
  to: number | null;
  forward: number[] | null;
  backward: number[] | null;
}

export interface Network {
  nodes: string[] | null;
  links: NetworkLink[] | null;
  node_count: number;
  link_count: number;
  groups: NetworkGroup[];
}

export interface LinkSeen {
  link: string;
  /** Packets that wait, by class (voice, other UDP, TCP) and bin. */
  waiting: [number[], number[], number[]];
  /** Packets dropped or lost, likewise. */
  gone: [number[], number[], number[]];
}

export interface CallSeen {
  flow: string;
  delay_s: Maybe[];
  longest_s: Maybe[];
  played_s: Maybe[];
  lost: number[];
  late: number[];
  counts: { played: number; late: number; lost: number };
}

export type Row = { [column: string]: number | string | null };

export interface Ran {
  ok: true;
  digest: string;
  seed: number;
  duration_s: number;
  warmup_s: number;
  packet_hops: number;
  flow_count: number;
  flows: Row[];
  groups: Row[];
  links: Row[];
  classes: Row[];
  conversations: Row[];
  completions: Row[];
  voice: { group: string; rated: number; mos: Maybe; note: string }[];
}

/** A run that was looked at. */
export interface Seen extends Ran {
  hash: string;
  network: Network;
  marks: { at_s: number; label: string }[];
  bin_s: number;
  links_seen: LinkSeen[];
  groups_seen: { group: string; throughput_bps: number[]; missing: number[] }[];
  senders: { flow: string; window: [number, number][]; srtt_s: [number, number][]; rate_bps: [number, number][] }[];
  calls: CallSeen[];
}

export interface Passage {
  group: number;
  class: 0 | 1 | 2;
  wire: number;
  feedback: boolean;
  marked: boolean;
  arrived: number;
  begun: Maybe;
  left: Maybe;
  gone: Maybe;
  why: "" | "overflow" | "early" | "failed";
  lost: boolean;
}

export interface Passages {
  ok: true;
  link: string;
  groups: string[];
  victim: Json;
  passages: Passage[];
  full: boolean;
}

export interface Heard {
  ok: true;
  flow: string;
  packet_s: number;
  /** Of each packet, the first of its samples. */
  position: number[];
  played: number;
  units: number;
  mos: Maybe;
  mouth_to_ear_s: Maybe;
}

interface Of {
  text: string;
  file?: string;
  seed?: number;
}

export type Request =
  | ({ op: "check" } & Of)
  | { op: "schema" }
  | ({ op: "run"; observe: boolean; bins?: number } & Of)
  | ({ op: "packets"; link: string; from_s: number; until_s: number } & Of)
  | ({ op: "speech"; flow?: string; law?: "u" | "a"; conceal?: boolean } & Of);

/** An answer with the samples that came with it. */
export interface Answer<T> {
  json: T | Refused;
  samples: Int16Array<ArrayBuffer>;
  /** How long it took, in milliseconds. */
  took: number;
}
