// The scheduler with engines that the test controls.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Control } from "../src/controls";
import { type Answer, CancelledError, type EngineClient, type Request, type Table } from "../src/protocol";
import { Scheduler } from "../src/scheduler";
import { Schema } from "../src/schema";
import { initialState, type PageState, Store } from "../src/state";

interface Pending {
  request: Request;
  resolve(answer: Answer<never>): void;
  reject(why: Error): void;
  onProgress: ((share: number) => void) | undefined;
}

class ManualEngine implements EngineClient {
  pending: Pending[] = [];
  cancelled = 0;
  busyFor = 0;

  ask<T>(request: Request, _samples?: Int16Array, onProgress?: (share: number) => void): Promise<Answer<T>> {
    return new Promise((resolve, reject) => {
      this.pending.push({ request, resolve: resolve as Pending["resolve"], reject, onProgress });
    });
  }

  cancel(): void {
    if (!this.pending.length) return;
    this.cancelled++;
    for (const { reject } of this.pending.splice(0)) reject(new CancelledError("cancelled"));
  }

  /** Completes the oldest request, and lets the scheduler continue. */
  async answer(json: object, took = 0): Promise<Request> {
    const pending = this.pending.shift();
    if (!pending) throw new Error("no request is pending");
    pending.resolve({ json: json as never, samples: new Int16Array([7]), took });
    await vi.advanceTimersByTimeAsync(0);
    return pending.request;
  }
}

const checked = (scenario: Table, more: object = {}) => ({
  ok: true,
  name: "a name",
  description: "",
  json: scenario,
  complete: scenario,
  toml: `# ${JSON.stringify(scenario)}`,
  too_large: null,
  question: null,
  ...more,
});
const result = (digest: string, seed = 1, mos: number | null = 4) => ({
  ok: true,
  digest,
  seed,
  network: { groups: [], links: [], nodes: [], node_count: 0, link_count: 0 },
  media_groups: [],
  voice: [{ group: "call", rated: 1, mos, note: "" }],
});
const scenarioOf = (request: Request): Table => JSON.parse("text" in request ? request.text : "{}");
const rate: Control = {
  path: ["rate"],
  label: "rate",
  title: "",
  kind: "slider",
  value: 1,
  least: 0,
  most: 9,
  log: false,
  dimension: "number",
};

let store: Store<PageState>;
let foreground: ManualEngine;
let background: ManualEngine;
let scheduler: Scheduler;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  store = new Store<PageState>({ ...initialState(), schema: new Schema({}) });
  [foreground, background] = [new ManualEngine(), new ManualEngine()];
  scheduler = new Scheduler(store, foreground, background);
});
afterEach(() => {
  vi.useRealTimers();
});

async function open(scenario: Table = { rate: 1 }): Promise<boolean> {
  const opened = scheduler.open("text", "x.toml");
  await background.answer(checked(scenario));
  return opened;
}

describe("the scheduler", () => {
  test("checks a scenario, then runs it", async () => {
    expect(await open()).toBe(true);
    expect(store.state).toMatchObject({ name: "a name", text: '# {"rate":1}', isBusy: true, run: undefined });
    expect(scenarioOf(await foreground.answer(result("first")))).toEqual({ rate: 1 });
    expect(store.state).toMatchObject({ isBusy: false, isCurrent: true, run: { digest: "first" } });
  });

  test("refuses a mistake with the line that the engine names, and does not run", async () => {
    const opened = scheduler.open("text", "x.toml");
    // The position in the text differs; only the field counts.
    const message = "error --> x.toml:9:9";
    await background.answer({ ok: false, message, problems: [{ line: null }, { line: 3, column: 1 }] });
    expect(await opened).toBe(false);
    expect(store.state.problem).toEqual({ message, line: 3 });
    expect(foreground.pending).toEqual([]);
  });

  test("refuses what is too large for a page", async () => {
    const opened = scheduler.open("text", "x.toml");
    await background.answer(checked({}, { too_large: "too much" }));
    expect(await opened).toBe(false);
    expect(store.state.problem).toEqual({ message: "too much", line: null });
  });

  test("of several changes during a run, runs only the latest; older answers are not current", async () => {
    await open();
    for (const value of [2, 3, 4]) scheduler.set(rate, value);
    expect(foreground.pending).toHaveLength(1);
    expect(scenarioOf(await foreground.answer(result("old")))).toEqual({ rate: 1 });
    expect(store.state).toMatchObject({ run: { digest: "old" }, isCurrent: false, isBusy: true });
    expect(scenarioOf(await foreground.answer(result("new")))).toEqual({ rate: 4 });
    expect(store.state).toMatchObject({ run: { digest: "new" }, isCurrent: true, isBusy: false });
    expect(foreground.pending).toEqual([]);
  });

  test("drops the answer of a scenario that another one has replaced", async () => {
    await open({ rate: 1 });
    await open({ rate: 5 });
    await foreground.answer(result("replaced"));
    expect(store.state.run).toBeUndefined();
    await foreground.answer(result("opened"));
    expect(store.state.run?.digest).toBe("opened");
  });

  test("cancels a run that takes longer than its patience once another is wanted", async () => {
    await open();
    scheduler.set(rate, 2);
    expect(foreground.cancelled).toBe(0);
    foreground.busyFor = 450;
    await vi.advanceTimersByTimeAsync(400);
    expect(foreground.cancelled).toBe(1);
    expect(scenarioOf(await foreground.answer(result("new")))).toEqual({ rate: 2 });
  });

  test("keeps the result before a gesture, not those within it", async () => {
    await open();
    await foreground.answer(result("before"));
    await vi.advanceTimersByTimeAsync(1000);
    for (const value of [2, 3]) {
      scheduler.set(rate, value);
      await foreground.answer(result(`at ${value}`));
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(store.state.previousRun?.digest).toBe("before");
  });

  test("replicates after a pause with the next seeds until the MOS is precise", async () => {
    await open();
    await foreground.answer(result("first", 11));
    await vi.advanceTimersByTimeAsync(300);
    await background.answer(checked({ rate: 1 }));
    for (let seed = 12; seed <= 15; seed++) {
      expect(await background.answer(result(`run ${seed}`, seed))).toMatchObject({ op: "run", seed });
    }
    expect(store.state.isReplicated).toBe(true);
    expect(store.state.replications.map((run) => run.seed)).toEqual([11, 12, 13, 14, 15]);
  });

  test("replicates on while the MOS varies, at most forty times", async () => {
    await open();
    await foreground.answer(result("first", 1));
    await vi.advanceTimersByTimeAsync(300);
    await background.answer(checked({ rate: 1 }));
    for (let seed = 2; seed <= 40; seed++) await background.answer(result("", seed, seed % 2 ? 1 : 4));
    expect(store.state).toMatchObject({ isReplicated: true });
    expect(store.state.replications).toHaveLength(40);
  });

  test("a change ends the replications, and drops those that it made", async () => {
    await open();
    await foreground.answer(result("first"));
    await vi.advanceTimersByTimeAsync(300);
    await background.answer(checked({ rate: 1 }));
    await background.answer(result("second", 2));
    scheduler.set(rate, 2);
    expect(background.cancelled).toBe(1);
    expect(store.state).toMatchObject({ replications: [], isReplicated: false });
    expect(background.pending).toEqual([]);
  });

  test("does not replace a text that the reader edits during a run", async () => {
    await open();
    await foreground.answer(result("first"));
    store.update({ text: "edited", isTextEdited: true });
    await vi.advanceTimersByTimeAsync(300);
    await background.answer(checked({ rate: 1 }, { name: "checked" }));
    expect(store.state).toMatchObject({ text: "edited", name: "checked" });
  });

  test("keeps two takes, each with its settings, and says when a change cancelled one", async () => {
    await open();
    await foreground.answer(result("first"));
    const options = { law: "u", conceal: true } as const;
    const kept = scheduler.keepTake("a", new Int16Array(3), options);
    await foreground.answer({ ok: true, played: 5, units: 6 });
    expect(await kept).toMatchObject({ played: 5 });
    const other = scheduler.keepTake("b", new Int16Array(3), options);
    foreground.cancel();
    expect(await other).toBeUndefined();
    expect(store.state.takes.a).toMatchObject({ audio: { units: 6 }, samples: new Int16Array([7]) });
    expect(store.state.takes.b).toBeUndefined();
  });
});

describe("progress and Stop", () => {
  const report = (share: number) => foreground.pending[0]?.onProgress?.(share);

  test("shows the progress of the current run, and none of a run that a change has replaced", async () => {
    await open();
    report(0.25);
    expect(store.state).toMatchObject({ isBusy: true, progress: 0.25 });
    scheduler.set(rate, 2);
    expect(store.state.progress).toBeUndefined();
    report(0.5);
    expect(store.state.progress).toBeUndefined();
    await foreground.answer(result("old"));
    await foreground.answer(result("new"));
    expect(store.state).toMatchObject({ isBusy: false, progress: undefined });
  });

  test("Stop ends the first run at once, and says that there is no result", async () => {
    await open();
    report(0.437);
    scheduler.stop();
    await vi.advanceTimersByTimeAsync(0);
    expect(foreground.cancelled).toBe(1);
    expect(store.state).toMatchObject({ isBusy: false, progress: undefined, run: undefined });
    expect(store.state.stopped).toBe("Stopped at 43 % of the simulated time. There is no result yet.");
    expect(store.state.part).toBeUndefined();
    scheduler.runAgain();
    expect(store.state.stopped).toBeUndefined();
    await foreground.answer(result("again"));
    expect(store.state.run?.digest).toBe("again");
  });

  test("Stop during a changed run keeps the former result, and says so", async () => {
    await open();
    await foreground.answer(result("former"));
    scheduler.set(rate, 2);
    scheduler.stop();
    await vi.advanceTimersByTimeAsync(500);
    expect(store.state).toMatchObject({
      isBusy: false,
      isCurrent: false,
      run: { digest: "former" },
      scenario: { rate: 2 },
    });
    expect(store.state.stopped).toMatch(/shows the result before the last change/);
    expect([...foreground.pending, ...background.pending]).toEqual([]);
  });

  const timed: Table = { duration: "60 s", warmup: "5 s", event: [{ at: "20 s" }, { at: "40 s" }] };

  test("Stop shows the run until there: the same scenario with an earlier end", async () => {
    await open(timed);
    report(0.437);
    scheduler.stop();
    expect(store.state.stopped).toBe("Stopped at 26.22 s of 60 s. There is no result yet.");
    const request = await foreground.answer(result("part"));
    expect(scenarioOf(request)).toEqual({ duration: "26.22 s", warmup: "5 s", event: [{ at: "20 s" }] });
    expect(request).toMatchObject({ op: "run", observe: true, allowed: true });
    expect(store.state).toMatchObject({ run: { digest: "part" }, isCurrent: false, isReplicated: true, isBusy: false });
    expect(store.state.stopped).toBe("Stopped at 26.22 s of 60 s. The page shows the first 26.22 s.");
    expect(store.state.scenario).toEqual(timed);
    await vi.advanceTimersByTimeAsync(500);
    expect([...foreground.pending, ...background.pending]).toEqual([]);
    scheduler.runAgain();
    expect(scenarioOf(await foreground.answer(result("whole")))).toEqual(timed);
    expect(store.state).toMatchObject({ run: { digest: "whole" }, isCurrent: true, stopped: undefined });
  });

  test("Stop offers the beginning of a run that took long, and Stop ends that, too", async () => {
    await open(timed);
    report(0.5);
    foreground.busyFor = 8000;
    scheduler.stop();
    expect(foreground.pending).toEqual([]);
    expect(store.state.part).toEqual({ seconds: 30, total: 60, took: 8000 });
    void scheduler.showPart();
    expect(store.state).toMatchObject({ isBusy: true, part: undefined });
    scheduler.stop();
    await vi.advanceTimersByTimeAsync(0);
    expect(store.state).toMatchObject({ isBusy: false, run: undefined });
  });

  test("Stop within the warm-up has nothing to show, and a beginning that is refused says why", async () => {
    await open(timed);
    report(0.05);
    scheduler.stop();
    await vi.advanceTimersByTimeAsync(0);
    expect(store.state).toMatchObject({ part: undefined, isBusy: false, run: undefined });
    scheduler.runAgain();
    report(0.5);
    scheduler.stop();
    await foreground.answer({ ok: false, message: "no" });
    expect(store.state.stopped).toBe("Stopped at 30 s of 60 s. The first 30 s cannot be shown: no");
  });

  test("Stop during the replications keeps those that there are", async () => {
    await open();
    await foreground.answer(result("first", 1));
    await vi.advanceTimersByTimeAsync(300);
    await background.answer(checked({ rate: 1 }));
    await background.answer(result("second", 2));
    scheduler.stop();
    await vi.advanceTimersByTimeAsync(500);
    expect(store.state.replications.map(({ digest }) => digest)).toEqual(["first", "second"]);
    expect(store.state).toMatchObject({ isCurrent: true, isReplicated: true, stopped: "Stopped after 2 runs." });
    expect(background.pending).toEqual([]);
    scheduler.stop();
    expect(store.state.stopped).toBe("Stopped after 2 runs.");
  });

  test("Stop cancels a recording of packets, too", async () => {
    await open();
    await foreground.answer(result("first"));
    const packets = scheduler.tracePackets("a>b", 0, 2);
    report(0.1);
    expect(store.state).toMatchObject({ isBusy: true, progress: 0.1 });
    scheduler.stop();
    expect(await packets).toBeUndefined();
    expect(store.state).toMatchObject({ isBusy: false, isCurrent: true, run: { digest: "first" } });
  });

  test("a slow run is not replicated", async () => {
    await open();
    await foreground.answer(result("slow"), 6000);
    await vi.advanceTimersByTimeAsync(300);
    await background.answer(checked({ rate: 1 }));
    expect(background.pending).toEqual([]);
    expect(store.state.isReplicated).toBe(true);
  });
});

test("the estimated cost of the scenario is in the state", async () => {
  const cost = { seconds: 2, memory_bytes: 3e6, happenings: 4e7, flows: 5 };
  const opened = scheduler.open("text", "x.toml");
  await background.answer(checked({ rate: 1 }, { cost }));
  await opened;
  expect(store.state.cost).toEqual(cost);
});

describe("the question before a long run", () => {
  const question = "This run may take 50 seconds.";

  test("is asked when a scenario is opened; the answer runs it or leaves the page as it is", async () => {
    const opened = scheduler.open("text", "x.toml");
    await background.answer(checked({ rate: 9 }, { question }));
    expect(await opened).toBe(false);
    expect(store.state).toMatchObject({ question, isBusy: false, name: "a name" });
    expect(foreground.pending).toEqual([]);
    scheduler.answerQuestion(true);
    await background.answer(checked({ rate: 9 }, { question }));
    expect(store.state.question).toBeUndefined();
    expect(foreground.pending[0]?.request).toMatchObject({ op: "run", allowed: true });
    await foreground.answer(result("long"));
    expect(store.state.run?.digest).toBe("long");
  });

  test("is asked when a control makes the run long; a further change forgets it", async () => {
    await open();
    await foreground.answer(result("short"));
    scheduler.set(rate, 2);
    expect(foreground.pending[0]?.request).toMatchObject({ allowed: false });
    await foreground.answer({ ok: false, question, message: question });
    expect(store.state).toMatchObject({ question, isBusy: false, problem: undefined });
    scheduler.answerQuestion(false);
    expect(store.state).toMatchObject({ question: undefined, run: { digest: "short" } });
    expect(store.state.stopped).toMatch(/^Not run\./);
    scheduler.set(rate, 3);
    await foreground.answer({ ok: false, question, message: question });
    scheduler.answerQuestion(true);
    expect(scenarioOf(await foreground.answer(result("long")))).toEqual({ rate: 3 });
    scheduler.set(rate, 4);
    expect(foreground.pending[0]?.request).toMatchObject({ allowed: false });
  });
});

describe("edits and two settings", () => {
  test("an edit runs if the engine accepts it, and changes nothing otherwise", async () => {
    await open();
    await foreground.answer(result("before"));
    const refused = scheduler.edit({ rate: 2 });
    await background.answer({ ok: false, message: "no path" });
    expect(await refused).toBe("no path");
    expect(store.state).toMatchObject({ scenario: { rate: 1 }, isCurrent: true, run: { digest: "before" } });
    const done = scheduler.edit({ rate: 3 });
    await background.answer(checked({ rate: 3 }));
    expect(await done).toBeUndefined();
    expect(scenarioOf(await foreground.answer(result("after")))).toEqual({ rate: 3 });
    expect(store.state).toMatchObject({ run: { digest: "after" }, previousRun: { digest: "before" } });
  });

  test("A runs with the seeds of B", async () => {
    await open();
    await foreground.answer(result("a", 1));
    scheduler.keep();
    expect(store.state.kept).toMatchObject({ scenario: { rate: 1 }, runs: [{ seed: 1 }] });
    scheduler.set(rate, 2);
    await foreground.answer(result("b", 1));
    await vi.advanceTimersByTimeAsync(300);
    await background.answer(checked({ rate: 2 }));
    for (let seed = 2; seed <= 5; seed++) {
      const b = await background.answer(result("b", seed));
      expect([scenarioOf(b), b]).toMatchObject([{ rate: 2 }, { seed }]);
      const a = await background.answer(result("a", seed));
      expect([scenarioOf(a), a]).toMatchObject([{ rate: 1 }, { seed }]);
    }
    expect(store.state.isReplicated).toBe(true);
    expect(store.state.kept?.runs.map(({ seed }) => seed)).toEqual([1, 2, 3, 4, 5]);
    await scheduler.keepText(undefined);
    expect(store.state.kept).toBeUndefined();
  });

  test("A from a link runs with the seeds that B has run", async () => {
    await open();
    await foreground.answer(result("b", 1));
    const kept = scheduler.keepText("other");
    await background.answer(checked({ rate: 7 }));
    await kept;
    await vi.advanceTimersByTimeAsync(300);
    await background.answer(checked({ rate: 1 }));
    await background.answer(result("b", 2));
    expect(scenarioOf(await background.answer(result("a", 1)))).toEqual({ rate: 7 });
    expect(store.state.kept?.runs).toMatchObject([{ digest: "a", seed: 1 }]);
  });
});

describe("the store", () => {
  test("calls the subscribers of changed keys, once per update", () => {
    const numbers = new Store({ one: 1, two: 2 });
    const react = vi.fn();
    numbers.subscribe(["one"], react);
    numbers.update({ two: 3 });
    numbers.update({ one: 1 });
    expect(react).not.toHaveBeenCalled();
    numbers.update({ one: 5, two: 6 });
    expect(react.mock.calls).toEqual([[{ one: 5, two: 6 }]]);
  });
});
