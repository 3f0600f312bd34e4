// The scenario as TOML and as a link, the results as CSV, and the return to the first scenario.

import { overTime, table } from "../csv";
import { find, setText } from "../dom";
import { toHash } from "../link";
import { HOME } from "../opening";
import type { Scheduler } from "../scheduler";
import type { PageStore } from "../state";

export function connectExportPanel(store: PageStore, scheduler: Scheduler): void {
  find("copy").addEventListener("click", async () => {
    const toml = await scheduler.toml();
    if (toml !== undefined) await copy(store, toml, "The scenario is on the clipboard, as TOML.");
  });
  find("link").addEventListener("click", async () => {
    const toml = await scheduler.toml();
    if (toml === undefined) return;
    const { kept, addedKeys, lesson } = store.state;
    const hash = await toHash(toml, { kept: kept?.toml, keys: addedKeys, lesson });
    await copy(store, new URL(hash, location.href).href, "A link with the whole page is on the clipboard.");
  });
  find("csv").addEventListener("click", () => download(store));
  find("reset").addEventListener("click", () => void scheduler.open(HOME, "scenario.toml"));
}

async function copy(store: PageStore, text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    setText("notice", done);
  } catch {
    store.update({ text });
    find("text").focus();
    setText("notice", "The browser blocked the clipboard. Copy the text from the editor below.");
  }
  document.documentElement.dataset.copied = text;
}

function download(store: PageStore): void {
  const { run, replications, scenario } = store.state;
  if (!run) return;
  const name = String(scenario.name ?? "scenario").replaceAll(/[^A-Za-z0-9]+/g, "-");
  const runs = replications.length ? replications : [run];
  const flows = runs.flatMap(({ seed, digest, flows }) => flows.map((row) => ({ seed, digest, ...row })));
  for (const [kind, csv] of [
    ["flows", table(flows)],
    ["over-time", overTime(run)],
  ] as const) {
    const anchor = document.createElement("a");
    anchor.href = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
    anchor.download = `${name}-${kind}.csv`;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
  }
  setText("notice", "Two files: the flows of every run, and the first run over time.");
}
