// The engine's thread: it receives the compiled module first, then one request after the other.

import { Instance } from "./instance";
import type { Answer, Request } from "./protocol";

let instance: Instance | undefined;

interface WorkerRequest {
  id: number;
  request: Request;
  samples?: Int16Array;
}

self.onmessage = (event: MessageEvent<{ module: WebAssembly.Module } | WorkerRequest>) => {
  if ("module" in event.data) {
    instance = new Instance(event.data.module);
    return;
  }
  const { id, request, samples } = event.data;
  const answer = instance?.ask(request, samples) as Answer<unknown>;
  postMessage({ id, answer }, { transfer: [answer.samples.buffer] });
};
