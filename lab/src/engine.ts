// The engine for the page: a worker that answers one question after the other and can be stopped in the middle of one.

import engine from "virtual:engine";
import type { Answer, Request } from "./protocol";
import EngineWorker from "./worker?worker&inline";

/** Base64 to bytes. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

/** The simulator, compiled: once for all workers. */
export async function compiled(): Promise<WebAssembly.Module> {
  const stream = new Blob([bytesOf(engine)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/** The question was given up. */
export class Cancelled extends Error {}

interface Asked {
  resolve(answer: Answer<unknown>): void;
  reject(why: Error): void;
}

export class Engine {
  private worker: Worker | undefined;
  private waiting = new Map<number, Asked>();
  private next = 0;
  /** When the question that is being answered was asked, in milliseconds; none if the engine rests. */
  private since: number | undefined;

  constructor(private readonly module: WebAssembly.Module) {}

  get busyFor(): number {
    return this.since === undefined ? 0 : performance.now() - this.since;
  }

  ask<T>(request: Request, samples?: Int16Array): Promise<Answer<T>> {
    this.worker ??= this.start();
    const id = this.next++;
    this.since ??= performance.now();
    this.worker.postMessage({ id, request, samples });
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (answer: Answer<unknown>) => void, reject });
    });
  }

  /** Gives up whatever is being answered. Nothing of it comes any more. */
  cancel(): void {
    if (this.waiting.size === 0) return;
    this.worker?.terminate();
    this.worker = undefined;
    this.since = undefined;
    const given = [...this.waiting.values()];
    this.waiting.clear();
    for (const one of given) one.reject(new Cancelled("a newer question was asked"));
  }

  private start(): Worker {
    const worker = new EngineWorker();
    worker.postMessage({ module: this.module });
    worker.onmessage = (event: MessageEvent<{ id: number; answer: Answer<unknown> }>) => {
      const asked = this.waiting.get(event.data.id);
      this.waiting.delete(event.data.id);
      this.since = this.waiting.size ? performance.now() : undefined;
      asked?.resolve(event.data.answer);
    };
    worker.onerror = (event) => {
      const given = [...this.waiting.values()];
      this.waiting.clear();
      this.worker = undefined;
      this.since = undefined;
      for (const one of given) one.reject(new Error(event.message));
    };
    return worker;
  }
}
