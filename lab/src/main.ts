// The page: a store, a scheduler with two engines, and the views. Text of a scenario is shown as text, never as markup.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { find } from "./dom";
import { compileEngine, WorkerEngine } from "./engine";
import { fromHash } from "./link";
import { HOME } from "./opening";
import type { Table } from "./protocol";
import { Scheduler } from "./scheduler";
import { Schema } from "./schema";
import { initialState, type PageStore, renewControls, Store } from "./state";
import { connectAnswerPanel } from "./views/answer-panel";
import { connectControlPanel } from "./views/control-panel";
import { connectExportPanel } from "./views/export-panel";
import { HearingPanel } from "./views/hearing-panel";
import { LessonPanel } from "./views/lesson-panel";
import { PacketPanel } from "./views/packet-panel";
import { connectScenarioPanel } from "./views/scenario-panel";
import { TimePanel } from "./views/time-panel";

async function start(): Promise<void> {
  const module = await compileEngine();
  const store: PageStore = new Store(initialState());
  const scheduler = new Scheduler(store, new WorkerEngine(module), new WorkerEngine(module));
  // The schema is large and only the controls need it: the first picture does not wait for it.
  const schema = new WorkerEngine(module).ask<{ ok: true; schema: Table }>({ op: "schema" });
  connectViews(store, scheduler);
  connectWindow(store, scheduler);
  await openFirst(store, scheduler);
  const { json } = await schema;
  if (json.ok) store.update({ schema: new Schema(json.schema) });
  renewControls(store);
}

function connectViews(store: PageStore, scheduler: Scheduler): void {
  const time = new TimePanel(store);
  connectAnswerPanel(store);
  connectControlPanel(store, scheduler);
  connectExportPanel(store, scheduler);
  connectScenarioPanel(store, scheduler);
  const packets = new PacketPanel(store, scheduler);
  new HearingPanel(store, scheduler);
  new LessonPanel(store, scheduler);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    time.repaint();
    packets.repaint();
  });
}

/** The page's address, and the page that holds this page in a frame. */
function connectWindow(store: PageStore, scheduler: Scheduler): void {
  addEventListener("hashchange", () => void openHash(store, scheduler, location.hash));
  addEventListener("message", (event: MessageEvent<{ fairwave?: { open?: unknown } }>) => {
    const text = event.data?.fairwave?.open;
    if (event.source === parent && typeof text === "string") void scheduler.open(text, "scenario.toml");
  });
  store.subscribe(["run"], ({ run, isCurrent, scenario }) => {
    if (parent === window || !run || !isCurrent) return;
    const { digest, voice } = run;
    parent.postMessage({ fairwave: { digest, scenario: JSON.stringify(scenario), voice } }, "*");
  });
}

/** Opens the scenario of a hash. False without one, or if it cannot be used: then the state has the problem. */
async function openHash(store: PageStore, scheduler: Scheduler, hash: string): Promise<boolean> {
  try {
    const text = await fromHash(hash);
    if (text === undefined) return false;
    store.update({ text });
    return await scheduler.open(text, "link");
  } catch (error) {
    scheduler.report(error instanceof Error ? error.message : String(error));
    return false;
  }
}

/** Opens the scenario of the address, else the one that was written into the page, else the default one. */
async function openFirst(store: PageStore, scheduler: Scheduler): Promise<void> {
  const written = document.querySelector<HTMLMetaElement>('meta[name="fairwave-scenario"]')?.content;
  if (await openHash(store, scheduler, location.hash || (written ? `#s=${written}` : ""))) return;
  const { problem } = store.state;
  await scheduler.open(HOME, "scenario.toml");
  store.update({ linkProblem: problem, problem });
}

start().catch((error: unknown) => {
  const place = find("problem");
  const why = error instanceof Error ? error.message : String(error);
  place.textContent = `This page needs a browser with WebAssembly, workers and DecompressionStream (2023 or newer): ${why}`;
  place.hidden = false;
});
