// The scenario as text: to read, to edit, to open from a file.

import { find, setText } from "../dom";
import type { Scheduler } from "../scheduler";
import type { PageState, PageStore } from "../state";

const editor = () => find<HTMLTextAreaElement>("text");

export function connectScenarioPanel(store: PageStore, scheduler: Scheduler): void {
  store.subscribe(["text"], ({ text }) => {
    if (editor().value !== text) editor().value = text;
  });
  store.subscribe(["run"], renderDigest);
  store.subscribe(["cost"], renderCost);
  editor().addEventListener("input", () => store.update({ text: editor().value, isTextEdited: true }));
  find("run-text").addEventListener("click", () => void openText(store, scheduler, editor().value, "scenario.toml"));
  find("scenario-file").addEventListener("change", async () => {
    const file = find<HTMLInputElement>("scenario-file").files?.[0];
    if (!file) return;
    const text = await file.text();
    store.update({ text });
    await openText(store, scheduler, text, file.name);
  });
}

function renderDigest({ run, isCurrent }: Readonly<PageState>): void {
  if (!run || !isCurrent) return;
  setText("digest", run.digest);
  setText("seed", String(run.seed));
  document.documentElement.dataset.digest = run.digest;
}

function renderCost({ cost }: Readonly<PageState>): void {
  if (!cost) return;
  const { seconds, memory_bytes, happenings, flows } = cost;
  const time = seconds < 1 ? "less than 1 s" : `up to ${Math.round(seconds)} s`;
  const memory = memory_bytes < 1e6 ? "less than 1 MB" : `about ${Math.round(memory_bytes / 1e6)} MB`;
  const hops = `${Number(happenings.toPrecision(2)).toLocaleString("en")} packet-hops`;
  setText("cost", `Estimate of a run: ${time}, ${memory}, up to ${hops}, ${flows} ${flows === 1 ? "flow" : "flows"}.`);
}

/** Opens a text. If it has a mistake, the cursor goes to the line of the mistake. */
async function openText(store: PageStore, scheduler: Scheduler, text: string, file: string): Promise<void> {
  if (await scheduler.open(text, file)) return;
  const line = store.state.problem?.line;
  if (!line) return;
  const lines = text.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, before) => sum + before.length + 1, 0);
  editor().focus();
  editor().setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  find("problem").scrollIntoView({ block: "nearest" });
}
