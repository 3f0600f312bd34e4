// The engine's thread: it receives the compiled module first, then requests in order. A thread that receives the packed
// engine instead returns the module.

import { Instance } from "./instance";
import { decodeLzma } from "./lzma";
import type { Answer, Request } from "./protocol";

/** The page gets a report of the progress after this time at the earliest. */
const REPORT_MS = 100;

let instance: Instance | undefined;
let current = 0;
let reported = 0;

interface WorkerRequest {
  id: number;
  request: Request;
  samples?: Int16Array;
}

function report(share: number): void {
  const now = performance.now();
  if (now - reported < REPORT_MS) return;
  reported = now;
  postMessage({ id: current, progress: share });
}

async function compile(packed: Uint8Array): Promise<void> {
  try {
    postMessage({ module: await WebAssembly.compile(decodeLzma(packed)) });
  } catch (error) {
    postMessage({ failure: error instanceof Error ? error.message : String(error) });
  }
}

self.onmessage = (event: MessageEvent<{ packed: Uint8Array } | { module: WebAssembly.Module } | WorkerRequest>) => {
  if ("packed" in event.data) {
    void compile(event.data.packed);
    return;
  }
  if ("module" in event.data) {
    instance = new Instance(event.data.module, report);
    return;
  }
  const { id, request, samples } = event.data;
  [current, reported] = [id, performance.now()];
  const answer = instance?.ask(request, samples) as Answer<unknown>;
  postMessage({ id, answer }, { transfer: [answer.samples.buffer] });
};
