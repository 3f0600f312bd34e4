// The page: a store, a scheduler with two engines, and the views. Text of a scenario is shown as text, never as markup.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Address } from "./address";
import { canvasFont, find } from "./dom";
import { compileEngine, WorkerEngine } from "./engine";
import { fromHash, type PageLink } from "./link";
import { HOME } from "./opening";
import type { Table } from "./protocol";
import { Scheduler } from "./scheduler";
import { Schema } from "./schema";
import { initialState, type PageStore, renewControls, Store } from "./state";
import { connectAnswerPanel } from "./views/answer-panel";
import { connectComparePanel } from "./views/compare-panel";
import { connectControlPanel } from "./views/control-panel";
import { connectExportPanel } from "./views/export-panel";
import { HearingPanel } from "./views/hearing-panel";
import { connectHistoryPanel } from "./views/history-panel";
import { LessonPanel } from "./views/lesson-panel";
import { NetworkView } from "./views/network";
import { NetworkPanel } from "./views/network-panel";
import { PacketPanel } from "./views/packet-panel";
import { connectScenarioPanel } from "./views/scenario-panel";
import { connectSituationPanel } from "./views/situation-panel";
import { TimePanel } from "./views/time-panel";

async function start(): Promise<void> {
  // A canvas keeps the font of its drawing, so the page's font must be loaded first.
  const font = document.fonts.load(canvasFont(12)).catch(() => []);
  const [module] = await Promise.all([compileEngine(), font]);
  const store: PageStore = new Store(initialState());
  const scheduler = new Scheduler(store, new WorkerEngine(module), new WorkerEngine(module));
  // The schema is large and only the controls need it, so the first picture does not wait for it.
  const schema = new WorkerEngine(module).ask<{ ok: true; schema: Table }>({ op: "schema" });
  const address = new Address(store, (link) => openLink(store, scheduler, link), parent !== window);
  connectViews(store, scheduler, address, new WorkerEngine(module));
  connectWindow(store, scheduler);
  await openFirst(store, scheduler, address);
  const { json } = await schema;
  if (json.ok) store.update({ schema: new Schema(json.schema) });
  renewControls(store);
  address.begin();
}

/** `side` computes next to the scheduler's engines. */
function connectViews(store: PageStore, scheduler: Scheduler, address: Address, side: WorkerEngine): void {
  const network = new NetworkView(find("network"));
  const time = new TimePanel(store, network);
  connectAnswerPanel(store, scheduler);
  connectSituationPanel(store, scheduler);
  connectControlPanel(store, scheduler);
  new NetworkPanel(store, scheduler, network);
  connectComparePanel(store, scheduler);
  connectHistoryPanel(store, address);
  connectExportPanel(store, scheduler);
  connectScenarioPanel(store, scheduler);
  const packets = new PacketPanel(store, scheduler);
  new HearingPanel(store, scheduler);
  new LessonPanel(store, scheduler, side);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    time.repaint();
    packets.repaint();
  });
}

/** Connects the parent of a frame, and handles anchors within the page, which must not replace the state in the address. */
function connectWindow(store: PageStore, scheduler: Scheduler): void {
  addEventListener("message", (event: MessageEvent<{ fairwave?: { open?: unknown } }>) => {
    const text = event.data?.fairwave?.open;
    if (event.source === parent && typeof text === "string") void scheduler.open(text, "scenario.toml");
  });
  document.addEventListener("click", (event) => {
    const anchor = (event.target as Element | null)?.closest?.('a[href^="#"]');
    const target = anchor && document.getElementById(anchor.getAttribute("href")?.slice(1) ?? "");
    if (!target) return;
    event.preventDefault();
    target.scrollIntoView();
    if (!target.hasAttribute("tabindex")) target.tabIndex = -1;
    target.focus({ preventScroll: true });
  });
  store.subscribe(["run"], ({ run, isCurrent, scenario }) => {
    if (parent === window || !run || !isCurrent) return;
    const { digest, voice, media_groups: sessions } = run;
    parent.postMessage({ fairwave: { digest, scenario: JSON.stringify(scenario), voice, sessions } }, "*");
  });
}

/** Opens the scenario that is embedded in the page, else the default one. */
async function openDefault(store: PageStore, scheduler: Scheduler): Promise<void> {
  const written = document.querySelector<HTMLMetaElement>('meta[name="fairwave-scenario"]')?.content;
  if (written) {
    try {
      const link = await fromHash(`#s=${written}`);
      if (link && (await scheduler.open(link.text, "scenario.toml"))) return;
      if (store.state.question) return;
    } catch (error) {
      scheduler.report(error instanceof Error ? error.message : String(error));
    }
  }
  const { problem } = store.state;
  await scheduler.open(HOME, "scenario.toml");
  store.update({ linkProblem: problem, problem });
}

/** Opens the state in an address: scenario, added controls, A, and the step of a lesson. */
async function openLink(store: PageStore, scheduler: Scheduler, link: PageLink | undefined): Promise<void> {
  if (!link) {
    store.update({ kept: undefined, lesson: undefined, problem: undefined });
    await openDefault(store, scheduler);
    return;
  }
  const { text, view } = link;
  store.update({ text, lesson: view.lesson, isCurrent: false });
  if (!(await scheduler.open(text, "link"))) return;
  store.update({ addedKeys: [...(view.keys ?? [])] });
  renewControls(store);
  if (view.kept !== store.state.kept?.toml) await scheduler.keepText(view.kept);
}

/** Opens the address, else the default. */
async function openFirst(store: PageStore, scheduler: Scheduler, address: Address): Promise<void> {
  const isRead = await address.openHash(location.hash, (message) => scheduler.report(message));
  const { run, isBusy, question } = store.state;
  if (question || (isRead && (run || isBusy))) return;
  await openDefault(store, scheduler);
}

start().catch((error: unknown) => {
  const place = find("problem");
  const why = error instanceof Error ? error.message : String(error);
  place.textContent = `This page needs a browser with WebAssembly, workers and DecompressionStream (2023 or newer): ${why}`;
  place.hidden = false;
});
