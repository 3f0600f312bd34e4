// Packet view: a stretch of time in slow motion. Packets wait in the queue of the bottleneck, are sent one by one, or are dropped.
// A dropped packet is marked at its place in the queue.

import { canvasFont } from "./dom";
import type { PacketTrace, Passage } from "./protocol";
import { CLASSES, colour } from "./views/plots";

/** The packets at one moment. */
export interface Scene {
  /** Packets in the queue, in the order of sending. */
  waiting: Passage[];
  /** The packet in transmission, and its share that has been sent, 0 to 1. */
  sending: { passage: Passage; share: number } | undefined;
  /** Packets dropped a moment ago: place in the queue at the drop, and time since the drop, s. */
  victims: { passage: Passage; place: number; ago: number }[];
}

const begins = (passage: Passage) => passage.begun ?? Number.POSITIVE_INFINITY;

/** When a packet leaves the queue: its transmission begins, or it is dropped. */
const leaves = (passage: Passage) => Math.min(begins(passage), passage.gone ?? Number.POSITIVE_INFINITY);

export function waitingAt(passages: readonly Passage[], time: number): Passage[] {
  const waiting = passages.filter((one) => one.arrived <= time && leaves(one) > time);
  return waiting.sort((a, b) => begins(a) - begins(b) || a.arrived - b.arrived);
}

/** The packets at `time`; victims stay visible for `linger`, s. */
export function scene(passages: readonly Passage[], time: number, linger: number): Scene {
  const sent = passages.find((one) => one.begun !== null && one.left !== null && one.begun <= time && one.left > time);
  const share =
    sent?.begun != null && sent.left !== null ? (time - sent.begun) / Math.max(sent.left - sent.begun, 1e-12) : 0;
  const victims = passages
    .filter((one) => one.gone !== null && one.gone <= time && one.gone > time - linger)
    .map((passage) => {
      const gone = passage.gone as number;
      // Its place: behind earlier arrivals that still wait. A packet that finds no room is last.
      const ahead = passages.filter((one) => one !== passage && one.arrived <= passage.arrived && leaves(one) >= gone);
      return { passage, place: ahead.length, ago: time - gone };
    });
  return { waiting: waitingAt(passages, time), sending: sent && { passage: sent, share }, victims };
}

/** Counts drops by class, in a sentence. */
export function tally(passages: readonly Passage[]): string {
  const counts = new Map<string, number>();
  for (const one of passages) {
    if (one.gone === null) continue;
    const waited = one.gone > one.arrived ? "from the queue" : "on arrival";
    const key = `${CLASSES[one.class]} ${waited}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  if (!counts.size) return "No drops in these two seconds.";
  return `Dropped: ${[...counts].map(([kind, count]) => `${count} ${kind}`).join(", ")}.`;
}

export class PacketView {
  private passages: PacketTrace | undefined;
  private time = 0;
  private from = 0;
  private until = 0;
  private last: number | undefined;
  playing = false;
  /** Simulated seconds per second. */
  speed = 0.05;
  onTime: (seconds: number) => void = () => {};
  onStop: () => void = () => {};

  constructor(private readonly canvas: HTMLCanvasElement) {}

  show(passages: PacketTrace, from: number, until: number): void {
    this.passages = passages;
    this.from = from;
    this.until = until;
    this.moveTo(from);
  }

  moveTo(seconds: number): void {
    this.time = Math.min(Math.max(seconds, this.from), this.until);
    this.paint();
    this.onTime(this.time);
  }

  play(): void {
    if (!this.passages || this.playing) return;
    if (this.time >= this.until) this.time = this.from;
    this.playing = true;
    this.last = undefined;
    requestAnimationFrame((now) => this.frame(now));
  }

  stop(): void {
    this.playing = false;
    this.onStop();
  }

  private frame(now: number): void {
    if (!this.playing) return;
    const passed = this.last === undefined ? 0 : (now - this.last) / 1000;
    this.last = now;
    this.moveTo(this.time + passed * this.speed);
    if (this.time >= this.until) this.stop();
    else requestAnimationFrame((next) => this.frame(next));
  }

  paint(): void {
    const { canvas } = this;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    if (!context || !this.passages) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink").trim();
    const soft = style.getPropertyValue("--soft").trim();
    const bad = style.getPropertyValue("--bad").trim();
    const found = scene(this.passages.passages, this.time, 8 * this.speed);
    const [box, gap] = [Math.max(6, Math.min(14, (width - 150) / 40)), 2];
    const columns = Math.max(1, Math.floor((width - 150) / (box + gap)));
    // The head of the queue is on the right, next to the transmitter; rows fill from there.
    const spot = (place: number): [number, number] => [
      width - 130 - (place % columns) * (box + gap) - box,
      34 + Math.floor(place / columns) * (box + gap + 4),
    ];
    context.font = canvasFont(12);
    context.fillStyle = soft;
    context.fillText(`${found.waiting.length} packets in the queue; t = ${this.time.toFixed(3)} s`, 4, 16);
    context.fillText("transmitter", width - 110, 16);
    context.strokeStyle = soft;
    context.strokeRect(width - 112, 30, 104, box + 8);
    for (const [place, passage] of found.waiting.entries()) {
      const [x, y] = spot(place);
      context.fillStyle = colour(passage.class);
      const size = Math.max(0.35, Math.min(1, passage.wire / 1500));
      context.fillRect(x, y + box * (1 - size), box, box * size);
    }
    if (found.sending) {
      context.fillStyle = colour(found.sending.passage.class);
      context.fillRect(width - 110 + 100 * found.sending.share - 4, 34, 8, box);
      context.globalAlpha = 0.35;
      context.fillRect(width - 110, 34, 100 * found.sending.share, box);
      context.globalAlpha = 1;
    }
    for (const victim of found.victims) {
      const [x, start] = spot(victim.place);
      const y = start + (victim.ago / (8 * this.speed)) * (height - start - box);
      context.fillStyle = colour(victim.passage.class);
      context.fillRect(x, y, box, box);
      context.strokeStyle = bad;
      context.lineWidth = 2;
      context.strokeRect(x - 2, y - 2, box + 4, box + 4);
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x + box, y + box);
      context.moveTo(x + box, y);
      context.lineTo(x, y + box);
      context.stroke();
      context.lineWidth = 1;
    }
    for (const [index, name] of CLASSES.entries()) {
      const y = height - 10;
      const x = 4 + index * 92;
      context.fillStyle = colour(index);
      context.fillRect(x, y - 9, 10, 10);
      context.fillStyle = ink;
      context.fillText(name, x + 14, y);
    }
  }
}
