// Schedules the work of the engines. The latest change wins: each change starts a new generation. Results of older
// generations are drawn only during a drag, and dropped otherwise.

import type { Control } from "./controls";
import {
  type Answer,
  type CallAudio,
  CancelledError,
  type CheckedScenario,
  type EngineClient,
  type ExpandedScenario,
  type Json,
  type ObservedRun,
  type PacketTrace,
  type Refusal,
  type Request,
  type Table,
} from "./protocol";
import { parse } from "./quantities";
import {
  controlsOf,
  type KeptSetting,
  type PageStore,
  renewControls,
  type Side,
  type StoppedRun,
  settingsOf,
} from "./state";
import { isPrecise, scoresOf } from "./verdict";

const BINS = 300;
/** Replications continue until the 95 % interval of each call's MOS is at most ± this, or until `MOST_RUNS`. */
const PRECISE_MOS = 0.05;
const LEAST_RUNS = 5;
const MOST_RUNS = 40;
/** A run is cancelled after this time if the scenario has changed. */
const PATIENCE_MS = 400;
/** A change after a longer pause begins a new gesture. */
const GESTURE_PAUSE_MS = 800;
/** Scenarios with longer runs are not replicated, because that would take minutes. */
const MOST_REPLICATED_MS = 5000;
/** The text and the replications wait for this pause. */
const SETTLE_MS = 300;

/** The beginning of a run that Stop has ended is computed immediately if that takes at most this time; otherwise the page asks. */
const AT_ONCE_MS = 3000;

/** How a call becomes audio. */
export interface AudioOptions {
  law: "u" | "a";
  conceal: boolean;
}

/** Seconds until a share of a duration, rounded down to hundredths. */
function secondsUntil(share: number, total: number): number {
  return Math.floor(share * total * 100) / 100;
}

/** Whether an event of a scenario comes before a time in seconds. */
function isBefore(event: Json, seconds: number): boolean {
  const at = event !== null && typeof event === "object" && !Array.isArray(event) ? parse(event.at) : undefined;
  return at === undefined || at.value < seconds;
}

export class Scheduler {
  /** Rises with each change of the scenario. */
  private generation = 0;
  /** Rises with each scenario that replaces the one before. */
  private openings = 0;
  private checks = 0;
  private isWanted = false;
  private isRunning = false;
  private areControlsStale = false;
  private lastChange = Number.NEGATIVE_INFINITY;
  /** The reader has agreed to a long run of the current scenario. */
  private isAllowed = false;
  /** Continues if the reader agrees to a long run. */
  private asked: (() => void) | undefined;
  /** Computing time of the current scenario's run, ms. */
  private took = 0;
  private settleTimer: ReturnType<typeof setTimeout> | undefined;

  /** `foreground` runs the work that the reader waits for, `background` checks and replications. */
  constructor(
    private readonly store: PageStore,
    private readonly foreground: EngineClient,
    private readonly background: EngineClient,
  ) {}

  /**
   * Opens a scenario and runs it; `file` is its name in messages. False if it cannot be used: then the state has the problem; or if
   * its run is long: then the state has the question.
   */
  async open(text: string, file: string, isAllowed = false): Promise<boolean> {
    this.startGeneration();
    this.store.update({ linkProblem: undefined });
    const answer = await this.check(text, file);
    if (!answer) return false;
    if (!answer.ok) {
      this.refuse(answer);
      return false;
    }
    if (answer.too_large) {
      this.report(answer.too_large);
      return false;
    }
    if (answer.question && !isAllowed) {
      this.store.update({ problem: undefined });
      const { name, description, toml } = answer;
      if (!this.store.state.run) this.store.update({ name, description, text: toml });
      this.askFirst(answer.question, () => void this.open(text, file, true));
      return false;
    }
    this.openings++;
    this.isAllowed = isAllowed;
    this.store.update({ addedKeys: [], previousRun: undefined, run: undefined });
    this.take(answer, true);
    this.run();
    return true;
  }

  /**
   * Runs an edited scenario if the engine accepts it. Otherwise nothing changes and the reason is returned. Undefined for
   * success, and if a newer edit replaced this one.
   */
  async edit(scenario: Table): Promise<string | undefined> {
    const answer = await this.check(JSON.stringify(scenario), "scenario");
    if (!answer) return undefined;
    if (!answer.ok) return answer.message;
    if (answer.too_large) return answer.too_large;
    const { run } = this.store.state;
    if (run) this.store.update({ previousRun: run });
    this.areControlsStale = true;
    this.isAllowed = false;
    this.take(answer, true);
    this.run();
    return undefined;
  }

  /** The current scenario with the preset of its topology written out as links, or the reason why that is impossible. */
  async expandPreset(): Promise<Table | string> {
    const answer = await this.query<ExpandedScenario>({ op: "expand", text: this.scenarioText() });
    if (!answer) return "Cancelled. Try again.";
    return answer.json.ok ? answer.json.json : answer.json.message;
  }

  /**
   * Ends all computation immediately. The page then shows the run so far if that is quick to compute, and otherwise offers it. Without a
   * run so far, the page keeps its content, and the state describes the stop.
   */
  stop(): void {
    const { run, isBusy, isCurrent, progress, replications, isReplicated, stopped: before } = this.store.state;
    if (!isBusy && (isReplicated || !run)) return;
    // Otherwise the engine draws packets, renders audio, or replicates.
    const wasRunning = this.isRunning;
    const took = this.foreground.busyFor;
    const part = wasRunning && progress !== undefined ? this.partUntil(progress, took) : undefined;
    this.startGeneration();
    this.isWanted = false;
    this.foreground.cancel();
    const runs = replications.length;
    let stopped: string;
    if (!wasRunning && run && !isCurrent) stopped = before ?? "Stopped.";
    else if (!wasRunning) stopped = runs > 1 ? `Stopped after ${runs} runs.` : "Stopped after one run.";
    else {
      const place = progress === undefined ? undefined : this.placeOf(progress);
      const result = run ? "The page shows the result before the last change." : "There is no result yet.";
      stopped = `Stopped${place ? ` at ${place}` : ""}. ${result}`;
    }
    this.store.update({ stopped, part, replications, isReplicated: !wasRunning, isCurrent: !wasRunning && isCurrent });
    if (part && took <= AT_ONCE_MS) void this.showPart();
  }

  /** A simulated share in words: `26.2 s of 60 s`, or a percentage if the duration is unknown. */
  private placeOf(share: number): string {
    const total = parse(this.store.state.scenario.duration)?.value;
    if (total === undefined) return `${Math.floor(share * 100)} % of the simulated time`;
    return `${secondsUntil(share, total)} s of ${total} s`;
  }

  /** The run until a share of its time; undefined if nothing is measured until then. */
  private partUntil(share: number, took: number): StoppedRun | undefined {
    const { scenario, complete } = this.store.state;
    const total = parse(scenario.duration)?.value;
    if (total === undefined) return undefined;
    const seconds = secondsUntil(share, total);
    const warmup = parse(complete.warmup ?? scenario.warmup ?? "0 s")?.value ?? 0;
    return seconds > warmup ? { seconds, total, took } : undefined;
  }

  /**
   * Shows the beginning of the run that Stop has ended: the engine runs the same scenario with the same seed and an earlier end. A run does
   * not depend on its end, so this equals the run until Stop.
   */
  async showPart(): Promise<void> {
    const { part, scenario } = this.store.state;
    if (!part) return;
    const { generation } = this;
    const { seconds, total } = part;
    const shorter: Table = { ...scenario, duration: `${seconds} s` };
    const events = scenario.event;
    if (Array.isArray(events)) shorter.event = events.filter((event) => isBefore(event, seconds));
    this.store.update({ part: undefined });
    const text = JSON.stringify(shorter);
    const base = { op: "run", text, file: "scenario", observe: true, bins: BINS, allowed: true } as const;
    const json = (await this.query<ObservedRun>(base))?.json;
    if (!json || generation !== this.generation) return;
    const place = `Stopped at ${seconds} s of ${total} s.`;
    if (!json.ok) {
      this.store.update({ stopped: `${place} The first ${seconds} s cannot be shown: ${json.message}` });
      return;
    }
    const stopped = `${place} The page shows the first ${seconds} s.`;
    const isFirst = this.store.state.run === undefined;
    this.store.update({ run: json, replications: [], isReplicated: true, isCurrent: false, stopped });
    if (isFirst) renewControls(this.store);
  }

  /** Runs the scenario again, after a stop. */
  runAgain(): void {
    this.run();
  }

  /** Handles the reader's decision about a long run. */
  answerQuestion(isAgreed: boolean): void {
    const { asked } = this;
    this.asked = undefined;
    this.store.update({ question: undefined });
    if (isAgreed) asked?.();
    else this.store.update({ stopped: "Not run. Shorten `duration`, or write smaller counts or rates." });
  }

  private askFirst(question: string, asked: () => void): void {
    this.asked = asked;
    this.store.update({ question });
  }

  /** Keeps the current setting as A. Its runs so far are kept with it. */
  keep(): void {
    const { scenario, toml, run, isCurrent, replications } = this.store.state;
    if (!run || !isCurrent) return;
    const runs = replications.length ? [...replications] : [run];
    this.store.update({ kept: { scenario, toml, settings: settingsOf(this.store.state), runs } });
  }

  /** Keeps a scenario as A that is not on the page, for example from a link; undefined removes A. */
  async keepText(text: string | undefined): Promise<void> {
    if (text === undefined) {
      this.store.update({ kept: undefined });
      return;
    }
    const answer = await this.check(text, "A");
    if (!answer?.ok) return;
    this.store.update({
      kept: { scenario: answer.json, toml: answer.toml, settings: answer.name, runs: [] },
    });
    this.replicateAgain();
  }

  /** Opens A; the current setting becomes A. */
  async swap(): Promise<void> {
    const { kept, run } = this.store.state;
    if (!kept || !run) return;
    this.keep();
    await this.open(kept.toml, "A", true);
  }

  /** Sets a control and runs the scenario. */
  set(control: Control, value: number | string): void {
    const { store } = this;
    const controls = controlsOf(store.state);
    if (!controls) return;
    try {
      store.update({ scenario: controls.with(control, value) });
      this.isAllowed = false;
    } catch (error) {
      this.report(error instanceof Error ? error.message : String(error));
      return;
    }
    const now = performance.now();
    if (now - this.lastChange > GESTURE_PAUSE_MS && store.state.run) store.update({ previousRun: store.state.run });
    this.lastChange = now;
    store.update({ linkProblem: undefined });
    this.run();
    if (control.kind !== "slider") this.areControlsStale = true;
  }

  /** Shows a problem that has no place in the scenario's text. */
  report(message: string): void {
    this.store.update({ problem: { message, line: null } });
  }

  /** The current scenario as TOML; undefined if it cannot be used, and then the state has the problem. */
  async toml(): Promise<string | undefined> {
    const answer = await this.check(this.scenarioText(), "scenario");
    if (answer?.ok) {
      this.store.update({ toml: answer.toml });
      return answer.toml;
    }
    if (answer) this.refuse(answer);
    return undefined;
  }

  /** Every packet at a link direction between two times; undefined if a newer request replaced this one. */
  async tracePackets(link: string, from_s: number, until_s: number): Promise<PacketTrace | Refusal | undefined> {
    const request: Request = { op: "packets", text: this.scenarioText(), link, from_s, until_s, allowed: true };
    return (await this.query<PacketTrace>(request))?.json;
  }

  /** Renders the call of the current scenario and keeps it as A or B; undefined if a newer request replaced this one. */
  async keepTake(
    side: Side,
    speech: Int16Array,
    { law, conceal }: AudioOptions,
  ): Promise<CallAudio | Refusal | undefined> {
    const settings = settingsOf(this.store.state);
    const answer = await this.query<CallAudio>(
      { op: "speech", text: this.scenarioText(), law, conceal, allowed: true },
      speech,
    );
    if (answer?.json.ok) {
      const take = { settings, audio: answer.json, samples: answer.samples };
      this.store.update({ takes: { ...this.store.state.takes, [side]: take } });
    }
    return answer?.json;
  }

  private async query<T>(request: Request, samples?: Int16Array): Promise<Answer<T> | undefined> {
    try {
      this.store.update({ isBusy: true });
      return await this.foreground.ask<T>(request, samples, (progress) => this.store.update({ progress }));
    } catch (error) {
      if (error instanceof CancelledError) return undefined;
      const message = error instanceof Error ? error.message : String(error);
      return { json: { ok: false, message }, samples: new Int16Array(), took: 0 };
    } finally {
      if (!this.isRunning) this.store.update({ isBusy: false, progress: undefined });
    }
  }

  private scenarioText(): string {
    return JSON.stringify(this.store.state.scenario);
  }

  /** The result of a check; undefined if a newer check replaced it. */
  private async check(text: string, file: string): Promise<CheckedScenario | Refusal | undefined> {
    const check = ++this.checks;
    for (;;) {
      try {
        return (await this.background.ask<CheckedScenario>({ op: "check", text, file })).json;
      } catch (error) {
        // A change cancels the replications, and with them a check that waits behind them.
        if (!(error instanceof CancelledError)) throw error;
        if (check !== this.checks) return undefined;
      }
    }
  }

  /** Takes over a checked scenario; the editor's text only with `replacesText`, or if the reader has not changed it. */
  private take(checked: CheckedScenario, replacesText: boolean): void {
    const { json: scenario, complete, name, description, toml, cost } = checked;
    this.store.update({ scenario, complete, name, description, toml, cost });
    if (!replacesText && this.store.state.isTextEdited) return;
    this.store.update({ text: toml, problem: this.store.state.linkProblem });
  }

  private startGeneration(): void {
    this.generation++;
    clearTimeout(this.settleTimer);
    this.background.cancel();
    this.asked = undefined;
    const nothing = { question: undefined, stopped: undefined, part: undefined, progress: undefined };
    this.store.update({ replications: [], isReplicated: false, isCurrent: false, ...nothing });
  }

  /** Runs the scenario, now or when the current run ends. A run that takes long is cancelled. */
  private run(): void {
    this.startGeneration();
    this.isWanted = true;
    this.store.update({ isTextEdited: false, isBusy: true });
    if (this.isRunning && this.foreground.busyFor > PATIENCE_MS) this.foreground.cancel();
    else if (this.isRunning) {
      // The current run may turn out to take long.
      const { generation } = this;
      setTimeout(() => {
        const isStillWaiting = this.isWanted && generation === this.generation;
        if (isStillWaiting && this.foreground.busyFor > PATIENCE_MS) this.foreground.cancel();
      }, PATIENCE_MS);
    }
    void this.runWanted();
  }

  private request(seed?: number, text = this.scenarioText()): Request {
    const allowed = this.isAllowed || seed !== undefined;
    const base = { op: "run", text, file: "scenario", observe: true, bins: BINS, allowed } as const;
    return seed === undefined ? base : { ...base, seed };
  }

  private async runWanted(): Promise<void> {
    if (this.isRunning) return;
    this.isRunning = true;
    while (this.isWanted) {
      this.isWanted = false;
      const { generation, openings } = this;
      try {
        const { json, took } = await this.foreground.ask<ObservedRun>(this.request(), undefined, (progress) => {
          if (generation === this.generation) this.store.update({ progress });
        });
        const isCurrent = generation === this.generation;
        if (isCurrent) this.took = took;
        // During a drag, a result of an older generation is drawn, because another follows it.
        if (json.ok && openings === this.openings) this.show(json, isCurrent);
        else if (!json.ok && isCurrent && json.question) {
          this.askFirst(json.question, () => {
            this.isAllowed = true;
            this.run();
          });
        } else if (!json.ok && isCurrent) this.refuse(json);
      } catch (error) {
        if (!(error instanceof CancelledError)) this.report(String(error));
      }
    }
    this.isRunning = false;
    this.store.update({ isBusy: false, progress: undefined });
  }

  private show(run: ObservedRun, isCurrent: boolean): void {
    const isFirst = this.store.state.run === undefined;
    this.store.update({ run, isCurrent, problem: this.store.state.linkProblem });
    if (isFirst) renewControls(this.store);
    if (!isCurrent) return;
    const { generation } = this;
    this.settleTimer = setTimeout(() => void this.settle(generation), SETTLE_MS);
  }

  /** After a pause: the text, and replications until the interval is small. */
  private async settle(generation: number): Promise<void> {
    const answer = await this.check(this.scenarioText(), "scenario");
    if (!answer || generation !== this.generation) return;
    if (answer.ok) {
      this.take(answer, false);
      if (this.areControlsStale) renewControls(this.store);
      this.areControlsStale = false;
    }
    await this.replicate(generation);
  }

  private async replicate(generation: number): Promise<void> {
    const { store } = this;
    const { run } = store.state;
    if (!run) return;
    const runs = [run];
    const isEnough = () =>
      this.took > MOST_REPLICATED_MS ||
      runs.length >= MOST_RUNS ||
      (runs.length >= LEAST_RUNS && isPrecise(scoresOf(runs), PRECISE_MOS));
    try {
      while (!isEnough()) {
        const { json } = await this.background.ask<ObservedRun>(this.request(run.seed + runs.length));
        if (generation !== this.generation || !json.ok) return;
        runs.push(json);
        store.update({ replications: [...runs] });
        await this.replicateKept(generation, runs);
        if (generation !== this.generation) return;
      }
      await this.replicateKept(generation, runs);
    } catch {
      // A newer generation has begun, or the engine has failed: the runs so far stay on the page.
      return;
    }
    if (generation === this.generation) store.update({ isReplicated: true });
  }

  /** Runs A with the seeds of the current setting's runs, so that the comparison pairs equal seeds. */
  private async replicateKept(generation: number, runs: readonly ObservedRun[]): Promise<void> {
    const { store } = this;
    for (const { seed } of runs) {
      const { kept } = store.state;
      if (!kept || kept.runs.some((one) => one.seed === seed)) continue;
      const { json } = await this.background.ask<ObservedRun>(this.request(seed, JSON.stringify(kept.scenario)));
      if (generation !== this.generation || !json.ok) return;
      const now: KeptSetting | undefined = store.state.kept;
      if (now?.toml === kept.toml) store.update({ kept: { ...now, runs: [...now.runs, json] } });
    }
  }

  /** Replicates once more if the replications have ended, because A is new. */
  private replicateAgain(): void {
    const { isReplicated, isCurrent, replications, run } = this.store.state;
    if (!isReplicated || !isCurrent || !run) return;
    const { generation } = this;
    void this.replicateKept(generation, replications.length ? replications : [run]).catch(() => {});
  }

  private refuse(refusal: Refusal): void {
    const line = refusal.problems?.find((problem) => problem.line !== null)?.line ?? null;
    this.store.update({ problem: { message: refusal.message, line } });
  }
}
