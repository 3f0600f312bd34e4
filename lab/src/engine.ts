// The engine in a worker: it handles requests in order, and `cancel` stops it immediately.

import engine from "virtual:engine";
import { type Answer, CancelledError, type EngineClient, type Request } from "./protocol";
import EngineWorker from "./worker?worker&inline";

/** Decodes base64. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

/** Unpacks and compiles the simulator in a worker, so that the page stays responsive. All workers share the module. */
export async function compileEngine(): Promise<WebAssembly.Module> {
  const worker = new EngineWorker();
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<{ module: WebAssembly.Module } | { failure: string }>) => {
        if ("module" in data) resolve(data.module);
        else reject(new Error(data.failure));
      };
      worker.onerror = (event) => reject(new Error(event.message));
      const packed = bytesOf(engine);
      worker.postMessage({ packed }, [packed.buffer]);
    });
  } finally {
    worker.terminate();
  }
}

interface PendingRequest {
  resolve(answer: Answer<unknown>): void;
  reject(why: Error): void;
  onProgress: ((share: number) => void) | undefined;
}

interface WorkerMessage {
  id: number;
  /** Instead of an answer: the simulated share of the run. */
  progress?: number;
  answer: Answer<unknown>;
}

export class WorkerEngine implements EngineClient {
  private worker: Worker | undefined;
  private waiting = new Map<number, PendingRequest>();
  private next = 0;
  /** When the engine began to be busy, ms; undefined if it is idle. */
  private since: number | undefined;

  constructor(private readonly module: WebAssembly.Module) {}

  get busyFor(): number {
    return this.since === undefined ? 0 : performance.now() - this.since;
  }

  ask<T>(request: Request, samples?: Int16Array, onProgress?: (share: number) => void): Promise<Answer<T>> {
    this.worker ??= this.start();
    const id = this.next++;
    this.since ??= performance.now();
    this.worker.postMessage({ id, request, samples });
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (answer: Answer<unknown>) => void, reject, onProgress });
    });
  }

  cancel(): void {
    if (this.waiting.size === 0) return;
    this.worker?.terminate();
    this.worker = undefined;
    this.since = undefined;
    const cancelled = [...this.waiting.values()];
    this.waiting.clear();
    for (const request of cancelled) request.reject(new CancelledError("a newer request replaced this one"));
  }

  private start(): Worker {
    const worker = new EngineWorker();
    worker.postMessage({ module: this.module });
    worker.onmessage = (event: MessageEvent<WorkerMessage>) => {
      const pending = this.waiting.get(event.data.id);
      if (event.data.progress !== undefined) {
        pending?.onProgress?.(event.data.progress);
        return;
      }
      this.waiting.delete(event.data.id);
      this.since = this.waiting.size ? performance.now() : undefined;
      pending?.resolve(event.data.answer);
    };
    worker.onerror = (event) => {
      const cancelled = [...this.waiting.values()];
      this.waiting.clear();
      this.worker = undefined;
      this.since = undefined;
      for (const request of cancelled) request.reject(new Error(event.message));
    };
    return worker;
  }
}
