// The engine in this thread: a WebAssembly instance with its four functions. It reports the progress of a run.

import type { Answer, Refusal, Request } from "./protocol";

interface Exports {
  memory: WebAssembly.Memory;
  reserve(bytes: number): number;
  call(): number;
  answer_at(): number;
  answer_length(): number;
}

/** A crash in words. An engine that ends without a panic could not get memory. */
export function crashMessage(error: unknown, panic: string, megabytes: number): string {
  const remedy = "Shorten the run, record less, or save the scenario and run `fairwave run scenario.toml`";
  if (panic === "" && (error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) {
    return `this scenario needs more memory than a page has (${megabytes} MB were in use); the simulator was restarted. ${remedy}`;
  }
  const why = panic || (error instanceof Error ? error.message : String(error));
  return `the simulator crashed and was restarted (${why}). ${remedy}`;
}

export class Instance {
  private exports: Exports;

  /** `onProgress` takes the simulated share of the current run, from 0 to 1. */
  constructor(
    private readonly module: WebAssembly.Module,
    private readonly onProgress: (share: number) => void = () => {},
  ) {
    this.exports = this.start();
  }

  private start(): Exports {
    const imports = { fairwave: { progress: this.onProgress } };
    return new WebAssembly.Instance(this.module, imports).exports as unknown as Exports;
  }

  /** Handles a request; samples are linear, 16 bits, 8000 per second. A panic becomes a refusal and restarts the engine. */
  ask<T>(request: Request, samples?: Int16Array): Answer<T> {
    const begin = performance.now();
    let hasBegun = false;
    const text = new TextEncoder().encode(JSON.stringify(request));
    const sound = samples ? new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength) : new Uint8Array();
    try {
      const at = this.exports.reserve(4 + text.length + sound.length);
      const room = new Uint8Array(this.exports.memory.buffer, at, 4 + text.length + sound.length);
      new DataView(room.buffer, at).setUint32(0, text.length, true);
      room.set(text, 4);
      room.set(sound, 4 + text.length);
      hasBegun = true;
      this.exports.call();
      const answer = this.answer();
      const length = new DataView(answer.buffer).getUint32(0, true);
      const json = JSON.parse(new TextDecoder().decode(answer.subarray(4, 4 + length))) as T | Refusal;
      return { json, samples: new Int16Array(answer.slice(4 + length).buffer), took: performance.now() - begin };
    } catch (error) {
      const json = this.recover(error, hasBegun);
      return { json, samples: new Int16Array(), took: performance.now() - begin };
    }
  }

  /** A copy of the answer. */
  private answer(): Uint8Array<ArrayBuffer> {
    const { memory, answer_at, answer_length } = this.exports;
    return new Uint8Array(memory.buffer, answer_at(), answer_length()).slice();
  }

  /** Restarts the engine. Before a request has begun, the answer is still the previous one. */
  private recover(error: unknown, hasBegun: boolean): Refusal {
    let panic = "";
    try {
      if (hasBegun) panic = new TextDecoder().decode(this.answer());
    } catch {
      // The instance is gone, and its panic message with it.
    }
    const megabytes = Math.round(this.exports.memory.buffer.byteLength / 1e6);
    this.exports = this.start();
    return { ok: false, crashed: true, message: crashMessage(error, panic, megabytes) };
  }
}
