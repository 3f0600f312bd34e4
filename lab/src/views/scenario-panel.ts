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
