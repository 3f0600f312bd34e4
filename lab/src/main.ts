// The page: what is set is run in a worker, what comes back is drawn. Whatever a scenario says is shown as text, never as markup.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { type Control, Controls } from "./controls";
import { overTime, table } from "./csv";
import { find, text } from "./dom";
import { Cancelled, compiled, Engine } from "./engine";
import { HearingPanel } from "./hearing-panel";
import { LessonPanel } from "./lesson-panel";
import { fromHash, toHash } from "./link";
import { NetworkView } from "./network";
import { HOME } from "./opening";
import { packetPanel } from "./packet-panel";
import type { PacketView } from "./packets";
import { type Path, words } from "./paths";
import { Plots } from "./plots";
import type { Checked, Ran, Refused, Request, Seen, Table } from "./protocol";
import { rounded, shown } from "./quantities";
import { Schema } from "./schema";
import type { Shown } from "./shown";
import { type Interval, interval } from "./statistics";
import { verdicts } from "./verdict";

const BINS = 300;
/** Replications go on until each call's mean is known to this, in MOS, or so many have been made. */
const PRECISE = 0.05;
const LEAST_RUNS = 5;
const MOST_RUNS = 40;
/** A run that takes longer than this when something else is asked for is given up. */
const PATIENCE_MS = 400;
class Page {
  private readonly first: Engine;
  private readonly others: Engine;
  private readonly plots = new Plots(find("figures"));
  private readonly network = new NetworkView(find("network"));
  private schema: Schema | undefined;

  private json: Table = {};
  private spelled: Table = {};
  private controls: Control[] = [];
  private added: Path[] = [];
  private seen: Seen | undefined;
  private ghost: Seen | undefined;
  private several: Seen[] = [];
  private checks = 0;
  /** Something was written into the text that has not been run. */
  private edited = false;
  private changes = 0;
  private wanted = false;
  private running = false;
  private lastChange = 0;
  private later: ReturnType<typeof setTimeout> | undefined;
  private playing = false;
  private readonly packets: PacketView;
  private readonly lessons: LessonPanel;

  constructor(private readonly module: WebAssembly.Module) {
    this.first = new Engine(module);
    this.others = new Engine(module);
    this.packets = packetPanel(this.shown());
    new HearingPanel(this.shown());
    this.lessons = new LessonPanel((written, file) => this.adopt(written, file));
  }

  async start(): Promise<void> {
    // The schema is long and needed only where keys are added; the first picture does not wait for it.
    const schema = new Engine(this.module).ask<{ ok: true; schema: Table }>({ op: "schema" });
    this.wire();
    await this.openHash(true);
    const answer = await schema;
    if (answer.json.ok) this.schema = new Schema(answer.json.schema);
    this.makeControls();
  }

  /** Opens the scenario of the address; the page's own at the beginning if there is none. */
  private async openHash(opening: boolean): Promise<void> {
    try {
      const written = await fromHash(location.hash || given(opening));
      if (written !== undefined) {
        find<HTMLTextAreaElement>("text").value = written;
        if ((await this.adopt(written, "link")) || !opening) return;
      } else if (!opening) return;
    } catch (error) {
      this.complain(error instanceof Error ? error.message : String(error));
    }
    const said = find("problem").textContent ?? "";
    await this.adopt(HOME, "scenario.toml");
    // What was wrong with the link stays until something else is set.
    this.standing = said;
    this.complain(said);
  }

  private standing = "";

  // What is set.

  /** Takes a scenario as it is written. False, with what is wrong on the page, when it cannot be used. */
  async adopt(written: string, file: string): Promise<boolean> {
    this.halt();
    this.standing = "";
    const json = await this.check(written, file);
    if (!json) return false;
    if (!json.ok) {
      this.refuse(json);
      return false;
    }
    if (json.too_large) {
      this.complain(json.too_large);
      return false;
    }
    this.take(json);
    this.added = [];
    this.ghost = undefined;
    this.seen = undefined;
    this.makeControls();
    this.ask();
    return true;
  }

  /** What is to be said of a scenario; nothing where another has been asked about meanwhile. */
  private async check(written: string, file: string): Promise<Checked | Refused | undefined> {
    const asked = ++this.checks;
    for (;;) {
      try {
        return (await this.others.ask<Checked>({ op: "check", text: written, file })).json;
      } catch (error) {
        // Whoever gave up the replications may have given up this, too.
        if (!(error instanceof Cancelled)) throw error;
        if (asked !== this.checks) return undefined;
      }
    }
  }

  /** Takes what is set; one that comes `late`, of what runs already, leaves alone what is being written meanwhile. */
  private take(checked: Checked, late = false): void {
    this.json = checked.json;
    this.spelled = checked.spelled;
    text("title", checked.name);
    text("lead", checked.description);
    document.title = `${checked.name} – fairwave lab`;
    if (late && this.edited) return;
    find<HTMLTextAreaElement>("text").value = checked.toml;
    this.complain(this.standing);
  }

  private get own(): Controls | undefined {
    return this.schema && new Controls(this.json, this.spelled, this.schema);
  }

  private makeControls(): void {
    const own = this.own;
    if (!own || !this.seen) return;
    this.controls = own.initial(this.seen.network);
    for (const path of this.added) {
      const control = own.of(path);
      if (control) this.controls.push(control);
    }
    const focused = document.activeElement?.id;
    find("control-list").replaceChildren(...this.controls.map((control, index) => this.element(control, index)));
    if (focused) document.getElementById(focused)?.focus();
    const keys = own.all();
    find("add-key").replaceChildren(
      ...keys.map((path) => {
        const option = document.createElement("option");
        option.value = JSON.stringify(path);
        option.textContent = words(path, this.json);
        return option;
      }),
    );
  }

  private element(control: Control, index: number): HTMLElement {
    const place = document.createElement("div");
    place.className = "control";
    place.dataset.path = control.path.join(".");
    const label = document.createElement("label");
    const id = `control-${control.path.join("-").replaceAll(/[^A-Za-z0-9-]/g, "_")}`;
    label.htmlFor = id;
    const name = document.createElement("span");
    name.textContent = control.label;
    if (control.title) label.title = control.title;
    label.append(name);
    if (control.kind === "slider") place.append(...this.slider(control, label, id, index));
    else {
      const input = document.createElement(control.kind === "choice" ? "select" : "input");
      input.id = id;
      if (control.kind === "choice") {
        for (const choice of control.choices) {
          const option = document.createElement("option");
          option.value = choice;
          option.textContent = choice;
          input.append(option);
        }
      }
      input.value = control.value;
      input.addEventListener("change", () => this.turn(control, input.value, true));
      place.append(label, input);
    }
    return place;
  }

  private slider(control: Control & { kind: "slider" }, label: HTMLElement, id: string, index: number): HTMLElement[] {
    const output = document.createElement("output");
    output.htmlFor.add(id);
    output.textContent = shown(control.value, control.dimension);
    label.append(output);
    const input = document.createElement("input");
    input.type = "range";
    input.id = id;
    const whole = control.dimension === "count" && !control.log;
    // Logarithmic scales have 240 steps; a least of 0 keeps the first step for itself.
    const least = Math.max(control.least, control.most / 1e5);
    const toValue = (place: number): number => {
      if (!control.log) return place;
      if (place === 0) return control.least;
      return rounded(least * (control.most / least) ** (place / 240), 3);
    };
    const toPlace = (value: number): number =>
      control.log ? (value <= least ? 0 : (240 * Math.log(value / least)) / Math.log(control.most / least)) : value;
    input.min = control.log ? "0" : String(control.least);
    input.max = control.log ? "240" : String(control.most);
    input.step = control.log || whole ? "1" : String((control.most - control.least) / 200);
    input.value = String(toPlace(control.value));
    input.setAttribute("aria-valuetext", shown(control.value, control.dimension));
    input.addEventListener("input", () => {
      const value = toValue(Number(input.value));
      output.textContent = shown(value, control.dimension);
      input.setAttribute("aria-valuetext", shown(value, control.dimension));
      this.turn(this.controls[index] ?? control, value, false);
    });
    return [label, input];
  }

  /** A control has been turned. */
  private turn(control: Control, value: number | string, remake: boolean): void {
    const own = this.own;
    if (!own) return;
    try {
      this.json = own.with(control, value);
    } catch (error) {
      this.complain(error instanceof Error ? error.message : String(error));
      return;
    }
    // What was drawn before a gesture stays beside as a ghost while that goes on.
    if (performance.now() - this.lastChange > 800 && this.seen) this.ghost = this.seen;
    this.lastChange = performance.now();
    this.standing = "";
    this.ask();
    if (remake) this.remakeAfter = true;
  }

  private remakeAfter = false;

  // What is run.

  private halt(): void {
    this.changes++;
    clearTimeout(this.later);
    this.others.cancel();
    this.several = [];
  }

  /** Runs what is set, now or as soon as what is being run is done; what takes long is given up. */
  private ask(): void {
    this.edited = false;
    this.halt();
    this.wanted = true;
    document.body.classList.add("busy");
    if (this.running && this.first.busyFor > PATIENCE_MS) this.first.cancel();
    else if (this.running) {
      // What runs now may turn out to take long.
      const asked = this.changes;
      setTimeout(() => {
        if (this.wanted && asked === this.changes && this.first.busyFor > PATIENCE_MS) this.first.cancel();
      }, PATIENCE_MS);
    }
    void this.runNext();
  }

  private request(seed?: number): Request {
    const base = { op: "run", text: JSON.stringify(this.json), file: "scenario", observe: true, bins: BINS } as const;
    return seed === undefined ? base : { ...base, seed };
  }

  private async runNext(): Promise<void> {
    if (this.running) return;
    this.running = true;
    while (this.wanted) {
      this.wanted = false;
      const asked = this.changes;
      try {
        const { json } = await this.first.ask<Seen>(this.request());
        // An answer to what is no longer asked is only drawn while a drag goes on, and another follows it.
        if (json.ok) this.show(json, asked === this.changes);
        else if (asked === this.changes) this.refuse(json);
      } catch (error) {
        if (!(error instanceof Cancelled)) this.complain(String(error));
      }
    }
    this.running = false;
    document.body.classList.remove("busy");
  }

  private show(seen: Seen, settled: boolean): void {
    const first = this.seen === undefined;
    this.seen = seen;
    this.complain(this.standing);
    this.draw();
    if (first) this.makeControls();
    if (!settled) return;
    text("digest", seen.digest);
    text("seed", String(seen.seed));
    document.documentElement.dataset.digest = seen.digest;
    this.tell();
    const asked = this.changes;
    this.later = setTimeout(() => void this.settle(asked), 300);
    this.lessons.judge(seen, this.json);
    announce({ digest: seen.digest, scenario: JSON.stringify(this.json), voice: seen.voice });
  }

  private draw(): void {
    if (!this.seen) return;
    performance.mark("draw");
    this.plots.draw(this.seen, this.ghost, this.several);
    this.network.draw(this.seen);
    this.sayVerdict();
    const slider = find<HTMLInputElement>("time");
    slider.max = String(this.seen.duration_s);
    document.documentElement.dataset.drawn = String(Number(document.documentElement.dataset.drawn ?? 0) + 1);
  }

  /** After a pause: the text, and replications until the interval is small. */
  private async settle(asked: number): Promise<void> {
    const json = await this.check(JSON.stringify(this.json), "scenario");
    if (!json || asked !== this.changes) return;
    if (json.ok) {
      this.take(json, true);
      if (this.remakeAfter) this.makeControls();
      this.remakeAfter = false;
    }
    await this.replicate(asked);
  }

  private async replicate(asked: number): Promise<void> {
    if (!this.seen) return;
    this.several = [this.seen];
    for (let run = 1; run < MOST_RUNS; run++) {
      const scores = [...this.scores().values()];
      const precise = scores.every((one) => Number.isNaN(one.mean) || one.half <= PRECISE);
      if (run >= LEAST_RUNS && precise) break;
      try {
        const { json } = await this.others.ask<Seen>(this.request(this.seen.seed + run));
        if (asked !== this.changes || !json.ok) return;
        this.several.push(json);
      } catch {
        return;
      }
      this.tell();
      if (run % 4 === 0) this.draw();
    }
    this.draw();
    this.tell();
    document.documentElement.dataset.settled = String(this.several.length);
  }

  /** Mean opinion scores over the runs so far. */
  private scores(): Map<string, Interval> {
    const found = new Map<string, number[]>();
    for (const run of this.several) {
      for (const voice of run.voice) {
        if (voice.mos !== null) found.set(voice.group, [...(found.get(voice.group) ?? []), voice.mos]);
      }
    }
    return new Map([...found].map(([group, values]) => [group, interval(values)]));
  }

  private sayVerdict(): void {
    if (!this.seen) return;
    const said = verdicts(this.seen, this.scores()).map(({ text: words, band }) => {
      const line = document.createElement("p");
      line.textContent = words;
      line.className = band;
      return line;
    });
    find("verdict").replaceChildren(...said);
  }

  private tell(): void {
    this.sayVerdict();
    const many = this.several.length;
    const runs =
      many > 1
        ? `${many} runs with different seeds; the curves are those of the first, tints are 95 % intervals.`
        : "One run.";
    const ghost = this.ghost ? " Dashed: before the last change." : "";
    text("sure", `${runs}${ghost} Bands after ITU-T G.109 and G.1010.`);
  }

  // What is wrong.

  complain(words: string): void {
    const place = find("problem");
    place.textContent = words;
    place.hidden = !words;
  }

  private refuse(refused: Refused): void {
    this.complain(refused.message);
    document.documentElement.dataset.refused = String(Number(document.documentElement.dataset.refused ?? 0) + 1);
  }

  // What can be done.

  private wire(): void {
    const on = (id: string, event: string, action: () => unknown) =>
      find(id).addEventListener(event, () => void action());
    on("add", "click", () => {
      const chosen = find<HTMLSelectElement>("add-key").value;
      if (!chosen) return;
      const path = JSON.parse(chosen) as Path;
      if (!this.own?.of(path)) {
        text("said", "This key holds no single value: change it in the text below.");
        return;
      }
      this.added.push(path);
      this.makeControls();
      const last = find("control-list").lastElementChild;
      (last?.querySelector("input, select") as HTMLElement | null)?.focus();
    });
    on("copy", "click", async () => {
      const toml = await this.toml();
      if (toml !== undefined) await this.copy(toml, "The scenario is on the clipboard, as TOML.");
    });
    on("link", "click", async () => {
      const toml = await this.toml();
      if (toml === undefined) return;
      location.hash = await toHash(toml);
      await this.copy(location.href, "A link that carries the whole scenario is on the clipboard.");
    });
    on("csv", "click", () => this.download());
    on("reset", "click", () => this.adopt(HOME, "scenario.toml"));
    on("text", "input", () => {
      this.edited = true;
    });
    on("run-text", "click", () => this.runText(find<HTMLTextAreaElement>("text").value, "scenario.toml"));
    on("scenario-file", "change", async () => {
      const file = find<HTMLInputElement>("scenario-file").files?.[0];
      if (!file) return;
      const written = await file.text();
      find<HTMLTextAreaElement>("text").value = written;
      await this.runText(written, file.name);
    });
    addEventListener("hashchange", () => {
      if (location.hash.startsWith("#s=") && !this.copying) void this.openHash(false);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.plots.clear();
      this.draw();
      this.packets.paint();
    });
    this.wireTime();
    addEventListener("message", (event: MessageEvent<{ fairwave?: { open?: unknown } }>) => {
      const open = event.data?.fairwave?.open;
      if (event.source === parent && typeof open === "string") void this.adopt(open, "scenario.toml");
    });
  }

  private copying = false;

  private async toml(): Promise<string | undefined> {
    const json = await this.check(JSON.stringify(this.json), "scenario");
    if (json?.ok) return json.toml;
    if (json) this.refuse(json);
    return undefined;
  }

  private async copy(words: string, done: string): Promise<void> {
    this.copying = true;
    try {
      await navigator.clipboard.writeText(words);
      text("said", done);
    } catch {
      find<HTMLTextAreaElement>("text").value = words;
      find("text").focus();
      text("said", "This browser does not let the page write to the clipboard: it stands below, to be copied by hand.");
    }
    document.documentElement.dataset.copied = words;
    this.copying = false;
  }

  /** Runs what stands in the text; a mistake is shown as on the command line, and the cursor is put at its line. */
  private async runText(written: string, file: string): Promise<void> {
    if (await this.adopt(written, file)) return;
    const line = /:(\d+):(\d+)/.exec(find("problem").textContent ?? "");
    const place = find<HTMLTextAreaElement>("text");
    if (!line) return;
    const lines = written.split("\n");
    const begin = lines.slice(0, Number(line[1]) - 1).reduce((sum, one) => sum + one.length + 1, 0);
    place.focus();
    place.setSelectionRange(begin, begin + (lines[Number(line[1]) - 1]?.length ?? 0));
    find("problem").scrollIntoView({ block: "nearest" });
  }

  private download(): void {
    if (!this.seen) return;
    const name = String(this.json.name ?? "scenario").replaceAll(/[^A-Za-z0-9]+/g, "-");
    const runs: Ran[] = this.several.length ? this.several : [this.seen];
    const flows = runs.flatMap((run) => run.flows.map((row) => ({ seed: run.seed, digest: run.digest, ...row })));
    for (const [kind, csv] of [
      ["flows", table(flows)],
      ["over-time", overTime(this.seen)],
    ] as const) {
      const anchor = document.createElement("a");
      anchor.href = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
      anchor.download = `${name}-${kind}.csv`;
      anchor.click();
      setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
    }
    text("said", "Two files: flows of every run, and the first run over time.");
  }

  private wireTime(): void {
    const slider = find<HTMLInputElement>("time");
    const button = find("play");
    const at = (seconds: number) => {
      slider.value = String(seconds);
      slider.setAttribute("aria-valuetext", `${seconds.toFixed(1)} s`);
      text("clock", `${seconds.toFixed(1)} s`);
      this.plots.moveTo(seconds);
      this.network.at(seconds);
    };
    slider.addEventListener("input", () => at(Number(slider.value)));
    this.plots.onTime = (seconds) => this.network.at(seconds);
    button.addEventListener("click", () => {
      this.playing = !this.playing;
      button.setAttribute("aria-pressed", String(this.playing));
      if (!this.playing) return;
      let last: number | undefined;
      const step = (now: number) => {
        if (!this.playing || !this.seen) return;
        const passed = last === undefined ? 0 : (now - last) / 1000;
        last = now;
        // The whole run in twelve seconds.
        const next = Number(slider.value) + (passed * this.seen.duration_s) / 12;
        at(next >= this.seen.duration_s ? 0 : next);
        requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
    });
  }

  /** What the panels ask for. */
  private shown(): Shown {
    const page = this;
    return {
      get engine() {
        return page.first;
      },
      get seen() {
        return page.seen;
      },
      get scenario() {
        return JSON.stringify(page.json);
      },
      get settings() {
        return page.controls.map((control) => `${control.label} ${page.valueOf(control)}`).join(", ");
      },
    };
  }

  private valueOf(control: Control): string {
    const now = this.own?.of(control.path);
    if (!now) return control.kind === "slider" ? shown(control.value, control.dimension) : control.value;
    return now.kind === "slider" ? shown(now.value, now.dimension) : now.value;
  }
}

/** The scenario that was written into the page, as a hash; empty where none was. */
function given(opening: boolean): string {
  const written = opening ? document.querySelector<HTMLMetaElement>('meta[name="fairwave-scenario"]')?.content : "";
  return written ? `#s=${written}` : "";
}

/** Tells whoever holds the page in a frame what has come out. */
function announce(found: { digest: string; scenario: string; voice: Ran["voice"] }): void {
  if (parent !== window) parent.postMessage({ fairwave: found }, "*");
}

compiled()
  .then((module) => new Page(module).start())
  .catch((error: unknown) => {
    const place = find("problem");
    const why = error instanceof Error ? error.message : String(error);
    place.textContent = `This page needs a browser with WebAssembly, workers and DecompressionStream (2023 or newer): ${why}`;
    place.hidden = false;
  });
