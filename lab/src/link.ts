// The page's state in the hash of a link: `#s=` and the scenario's TOML, then `&v=` and the view as JSON, both deflated, in URL-safe
// base64. The hash is untrusted text: it is checked, and never becomes markup or code.

import type { Path } from "./paths";
import type { LessonPlace } from "./state";

const MOST_BYTES = 2_000_000;

class LengthError extends Error {}

async function through(bytes: Uint8Array<ArrayBuffer>, stream: ReadableWritablePair): Promise<Uint8Array<ArrayBuffer>> {
  const reader = (new Blob([bytes]).stream().pipeThrough(stream) as ReadableStream<Uint8Array>).getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MOST_BYTES) {
      await reader.cancel();
      throw new LengthError(`it is longer than ${MOST_BYTES} bytes`);
    }
    parts.push(value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The part of the page's state in the address, in addition to the scenario. */
export interface View {
  /** The setting that is kept as A, as TOML. */
  kept?: string | undefined;
  /** Keys for which the reader has added a control. */
  keys?: readonly Path[] | undefined;
  lesson?: LessonPlace | undefined;
}

export interface PageLink {
  text: string;
  view: View;
}

async function pack(text: string): Promise<string> {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export async function toHash(text: string, view: View = {}): Promise<string> {
  const { kept, keys, lesson } = view;
  const known: View = {
    ...(kept === undefined ? {} : { kept }),
    ...(keys?.length ? { keys } : {}),
    ...(lesson ? { lesson } : {}),
  };
  const more = Object.keys(known).length ? `&v=${await pack(JSON.stringify(known))}` : "";
  return `#s=${await pack(text)}${more}`;
}

/** The scenario and the view in a hash; undefined for a hash without a scenario. Throws if it cannot be read. */
export async function fromHash(hash: string): Promise<PageLink | undefined> {
  if (!hash.startsWith("#s=")) return undefined;
  const [scenario = "", ...more] = hash.slice(3).split("&v=");
  if (more.length > 1) throw new Error("this link holds no scenario");
  return { text: await unpack(scenario), view: more[0] === undefined ? {} : viewOf(await unpack(more[0])) };
}

/** A view from untrusted JSON: parts of another form are left out. */
function viewOf(json: string): View {
  let found: unknown;
  try {
    found = JSON.parse(json);
  } catch {
    return {};
  }
  if (found === null || typeof found !== "object") return {};
  const { kept, keys, lesson } = found as Record<string, unknown>;
  const view: View = {};
  if (typeof kept === "string") view.kept = kept;
  if (Array.isArray(keys)) {
    const isPath = (path: unknown) =>
      Array.isArray(path) && path.every((step) => typeof step === "string" || Number.isInteger(step));
    view.keys = keys.filter(isPath).slice(0, 100) as Path[];
  }
  if (lesson !== null && typeof lesson === "object") {
    const { id, step, predicted } = lesson as Record<string, unknown>;
    if (typeof id === "string" && Number.isInteger(step)) {
      view.lesson = { id, step: step as number };
      if (Number.isInteger(predicted)) view.lesson.predicted = predicted as number;
    }
  }
  return view;
}

async function unpack(written: string): Promise<string> {
  if (written.length > MOST_BYTES || !/^[A-Za-z0-9_-]*$/.test(written)) throw new Error("this link holds no scenario");
  try {
    const binary = atob(written.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    const text = await through(bytes, new DecompressionStream("deflate-raw"));
    return new TextDecoder("utf-8", { fatal: true }).decode(text);
  } catch (error) {
    const why = error instanceof LengthError ? `: ${error.message}` : "";
    throw new Error(`the scenario in this link cannot be read${why}`);
  }
}
