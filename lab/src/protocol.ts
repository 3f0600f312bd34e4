// Requests to the engine (crates/fairwave-wasm) and its answers. Times are in seconds, rates in bits per second; undefined
// values are null.

export type OptionalNumber = number | null;

export interface Problem {
  message: string;
  path: string;
  /** Line and column of the text, from 1; null if the problem has no place in the text. */
  line: number | null;
  column: number | null;
  allowed: string | null;
  help: string | null;
}

export interface Refusal {
  ok: false;
  message: string;
  problems?: Problem[];
  /** The run needs more than a page has. */
  too_large?: boolean;
  /** The run is long: the question that the page asks before it. */
  question?: string;
  /** The engine failed and was restarted. */
  crashed?: boolean;
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Table = { [key: string]: Json };

export interface CheckedScenario {
  ok: true;
  name: string;
  description: string;
  hash: string;
  /** The scenario as written. */
  json: Table;
  /** The scenario with every parameter of its laws. */
  complete: Table;
  toml: string;
  /** Upper estimates of a run in a page. */
  cost: { seconds: number; memory_bytes: number; happenings: number; flows: number };
  too_large: string | null;
  question: string | null;
}

export interface ExpandedScenario {
  ok: true;
  json: Table;
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

export interface LinkSeries {
  link: string;
  /** Packets in the queue, by class (voice, other UDP, TCP) and bin. */
  waiting: [number[], number[], number[]];
  /** Packets dropped or lost, by class and bin. */
  gone: [number[], number[], number[]];
}

export interface CallSeries {
  flow: string;
  delay_s: OptionalNumber[];
  longest_s: OptionalNumber[];
  played_s: OptionalNumber[];
  lost: number[];
  late: number[];
  counts: { played: number; late: number; lost: number };
}

/** A group of media sessions: means over its sessions. Times are in s. */
export interface MediaGroup {
  group: string;
  sessions: number;
  /** The score of the worst stream of each session. */
  mos: OptionalNumber;
  audio_mos: OptionalNumber;
  video_mos: OptionalNumber;
  audio_delay_s: OptionalNumber;
  video_delay_s: OptionalNumber;
  concealed_ratio: OptionalNumber;
  /** The longest gap of speech, and the longest freeze, of any session. */
  longest_gap_s?: OptionalNumber;
  longest_freeze_s?: OptionalNumber;
  freezes: OptionalNumber;
  /** Share of the time in freezes, from 0 to 1. */
  freeze_ratio: OptionalNumber;
  frame_rate: OptionalNumber;
  /** Height of the pictures, pixels. */
  height: OptionalNumber;
}

/** The first session of a group once per second. */
export interface SessionSeries {
  group: string;
  time_s: number[];
  /** The rate controller's estimate of the path's capacity. */
  available_bps: number[];
  target_bps: number[];
  /** For each stream of pictures the height, and the time in freezes since the second before. */
  pictures: { stream: string; time_s: number[]; height: number[]; frozen_s: number[] }[];
}

export type Row = { [column: string]: number | string | null };

export interface RunResult {
  ok: true;
  digest: string;
  seed: number;
  duration_s: number;
  warmup_s: number;
  packet_hops: number;
  flow_count: number;
  flows: Row[];
  media: Row[];
  groups: Row[];
  links: Row[];
  classes: Row[];
  conversations: Row[];
  completions: Row[];
  media_groups: MediaGroup[];
  voice: { group: string; rated: number; mos: OptionalNumber; note: string }[];
}

/** A run with its time series. */
export interface ObservedRun extends RunResult {
  hash: string;
  network: Network;
  marks: { at_s: number; label: string }[];
  bin_s: number;
  link_series: LinkSeries[];
  group_series: { group: string; throughput_bps: number[]; missing: number[] }[];
  senders: { flow: string; window: [number, number][]; srtt_s: [number, number][]; rate_bps: [number, number][] }[];
  calls: CallSeries[];
  session_series: SessionSeries[];
}

export interface Passage {
  group: number;
  class: 0 | 1 | 2;
  wire: number;
  feedback: boolean;
  marked: boolean;
  arrived: number;
  begun: OptionalNumber;
  left: OptionalNumber;
  gone: OptionalNumber;
  why: "" | "overflow" | "early" | "failed";
  lost: boolean;
}

export interface PacketTrace {
  ok: true;
  link: string;
  groups: string[];
  victim: Json;
  passages: Passage[];
  full: boolean;
}

export interface CallAudio {
  ok: true;
  flow: string;
  packet_s: number;
  /** The index of each packet's first sample. */
  position: number[];
  played: number;
  units: number;
  mos: OptionalNumber;
  mouth_to_ear_s: OptionalNumber;
}

interface ScenarioInput {
  text: string;
  file?: string;
  seed?: number;
  /** The reader has agreed to a long run. */
  allowed?: boolean;
}

export type Request =
  | ({ op: "check" } & ScenarioInput)
  | ({ op: "expand" } & ScenarioInput)
  | { op: "schema" }
  | ({ op: "run"; observe: boolean; bins?: number } & ScenarioInput)
  | ({ op: "packets"; link: string; from_s: number; until_s: number } & ScenarioInput)
  | ({ op: "speech"; flow?: string; law?: "u" | "a"; conceal?: boolean } & ScenarioInput);

/** An answer, with audio samples if the request was for audio. */
export interface Answer<T> {
  json: T | Refusal;
  samples: Int16Array<ArrayBuffer>;
  /** Computing time, ms. */
  took: number;
}

/** The request was cancelled before its answer. */
export class CancelledError extends Error {}

/** An engine in another thread that handles requests in order. */
export interface EngineClient {
  /**
   * Rejects with `CancelledError` after `cancel`. Samples are linear, 16 bits, 8000 per second. `onProgress` takes the simulated
   * share of a long run, from 0 to 1.
   */
  ask<T>(request: Request, samples?: Int16Array, onProgress?: (share: number) => void): Promise<Answer<T>>;
  /** Cancels all pending requests. */
  cancel(): void;
  /** How long the engine has worked on the current request, ms; 0 if it is idle. */
  readonly busyFor: number;
}
