// The choice of a situation: one of the page's scenarios.

import { find } from "../dom";
import { SITUATIONS } from "../opening";
import type { Scheduler } from "../scheduler";
import type { PageState, PageStore } from "../state";

/** The first name in a scenario's text. */
const nameOf = (toml: string): string => /^name = "(.*)"$/m.exec(toml)?.[1] ?? "";

export function connectSituationPanel(store: PageStore, scheduler: Scheduler): void {
  const choice = find<HTMLSelectElement>("situation");
  const own = new Option("Your own", "");
  own.disabled = true;
  choice.replaceChildren(...SITUATIONS.map(({ id, label }) => new Option(label, id)), own);
  store.subscribe(["name"], ({ name }: Readonly<PageState>) => {
    choice.value = SITUATIONS.find(({ scenario }) => nameOf(scenario) === name)?.id ?? "";
  });
  choice.addEventListener("change", () => {
    const found = SITUATIONS.find(({ id }) => id === choice.value);
    if (!found) return;
    store.update({ kept: undefined, lesson: undefined });
    void scheduler.open(found.scenario, `${found.id}.toml`);
  });
}
