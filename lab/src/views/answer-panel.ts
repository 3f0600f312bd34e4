// Name, verdict and problem of the scenario.

import { find, setText } from "../dom";
import type { PageState, PageStore } from "../state";
import { scoresOf, verdicts } from "../verdict";

export function connectAnswerPanel(store: PageStore): void {
  store.subscribe(["name", "description"], renderName);
  store.subscribe(["run", "replications"], renderVerdict);
  store.subscribe(["problem"], renderProblem);
  store.subscribe(["isBusy"], ({ isBusy }) => document.body.classList.toggle("busy", isBusy));
}

function renderName({ name, description }: Readonly<PageState>): void {
  setText("title", name);
  setText("lead", description);
  document.title = `${name} – fairwave lab`;
}

function renderVerdict({ run, replications, previousRun }: Readonly<PageState>): void {
  if (!run) return;
  const lines = verdicts(run, scoresOf(replications)).map(({ text, band }) => {
    const line = document.createElement("p");
    line.textContent = text;
    line.className = band;
    return line;
  });
  find("verdict").replaceChildren(...lines);
  const runs =
    replications.length > 1
      ? `${replications.length} runs with different seeds. Curves: first run. Tints: 95 % intervals.`
      : "One run.";
  const dashes = previousRun ? " Dashed: before the last change." : "";
  setText("precision", `${runs}${dashes} Bands: ITU-T G.109 and G.1010.`);
}

function renderProblem({ problem }: Readonly<PageState>): void {
  const place = find("problem");
  const message = problem?.message ?? "";
  if (place.textContent !== message) place.textContent = message;
  place.hidden = !message;
}
