// Speech for a call, and playback of two takes with the same position in the speech.

import speech from "virtual:speech";
import { bytesOf } from "./engine";
import type { CallAudio } from "./protocol";
import type { Take } from "./state";

export const RATE = 8000;

/** The attribution that the licence of the embedded recording requires. */
export const ATTRIBUTION =
  "Speech: Asterisk core sounds, recorded by Allison Smith (theivrvoice.com), contributed by Digium, Inc.; licensed " +
  "CC-BY-SA-3.0. Changes by fairwave: coding, packetisation, transport over a simulated network.";

/** The recording in the page; undefined if the page was built without one. */
export function embeddedSpeech(): Int16Array | undefined {
  if (!speech) return undefined;
  const bytes = bytesOf(speech);
  return Int16Array.from(bytes, decodeMu);
}

/** Decodes a G.711 µ-law code (ITU-T G.711, table 2). */
export function decodeMu(code: number): number {
  const plain = ~code & 0xff;
  const value = ((((plain & 0xf) << 1) + 33) << ((plain >> 4) & 7)) - 33;
  return (plain & 0x80 ? -value : value) * 4;
}

/** Decodes any audio file that the browser knows, to mono, 8000 samples per second; at most one minute. */
export async function decodeFile(file: Blob): Promise<Int16Array> {
  const context = new OfflineAudioContext(1, RATE, RATE);
  const sound = await context.decodeAudioData(await file.arrayBuffer());
  const length = Math.min(Math.ceil(sound.duration * RATE), 60 * RATE);
  const render = new OfflineAudioContext(1, Math.max(1, length), RATE);
  const source = new AudioBufferSourceNode(render, { buffer: sound });
  source.connect(render.destination);
  source.start();
  const mono = (await render.startRendering()).getChannelData(0);
  return Int16Array.from(mono, (value) => Math.max(-32768, Math.min(32767, Math.round(value * 32767))));
}

/** A recording in progress; `stop` ends it and returns the samples. */
export interface Recording {
  stop(): Promise<Int16Array>;
}

/** Records from the microphone. */
export async function record(): Promise<Recording> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const recorder = new MediaRecorder(stream);
  const parts: Blob[] = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  recorder.start();
  return {
    stop: () =>
      new Promise((resolve, reject) => {
        recorder.onstop = () => {
          for (const track of stream.getTracks()) track.stop();
          decodeFile(new Blob(parts, { type: recorder.mimeType })).then(resolve, reject);
        };
        recorder.stop();
      }),
  };
}

/** The sample of `to` that plays the same packet, at the same offset, as a sample of `from`. */
export function samePosition(from: CallAudio, sample: number, to: CallAudio): number {
  let [low, high] = [0, from.position.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((from.position[middle] ?? 0) <= sample) low = middle;
    else high = middle - 1;
  }
  const unit = Math.min(low, to.position.length - 1);
  const within = Math.max(0, sample - (from.position[low] ?? 0));
  return (to.position[unit] ?? 0) + Math.min(within, Math.round(to.packet_s * RATE));
}

/** Plays takes. A change of take continues from the same position in the speech. */
export class Player {
  private context: AudioContext | undefined;
  private source: AudioBufferSourceNode | undefined;
  private begun = 0;
  private offset = 0;
  private ticking = 0;
  current: Take | undefined;
  onTick: (seconds: number, duration: number) => void = () => {};
  onState: (playing: boolean) => void = () => {};

  get playing(): boolean {
    return this.source !== undefined;
  }

  /** The position in the current take, in samples. */
  get position(): number {
    if (!this.source || !this.context) return this.offset;
    return this.offset + Math.round((this.context.currentTime - this.begun) * RATE);
  }

  /** Plays a take from the current position. */
  play(take: Take, from?: number): void {
    const at =
      from ??
      (this.current && this.current !== take
        ? samePosition(this.current.audio, this.position, take.audio)
        : this.position);
    this.stop();
    this.context ??= new AudioContext();
    void this.context.resume();
    const buffer = this.context.createBuffer(1, Math.max(1, take.samples.length), RATE);
    buffer.getChannelData(0).set(Float32Array.from(take.samples, (value) => value / 32768));
    const source = new AudioBufferSourceNode(this.context, { buffer });
    source.connect(this.context.destination);
    this.current = take;
    this.offset = at >= take.samples.length ? 0 : Math.max(0, at);
    this.begun = this.context.currentTime;
    source.onended = () => {
      if (this.source !== source) return;
      this.source = undefined;
      this.offset = 0;
      this.onState(false);
    };
    source.start(0, this.offset / RATE);
    this.source = source;
    this.onState(true);
    this.tick();
  }

  stop(): void {
    this.offset = this.position;
    const source = this.source;
    this.source = undefined;
    source?.stop();
    cancelAnimationFrame(this.ticking);
    this.onState(false);
  }

  private tick(): void {
    if (!this.source || !this.current) return;
    this.onTick(this.position / RATE, this.current.samples.length / RATE);
    this.ticking = requestAnimationFrame(() => this.tick());
  }
}
