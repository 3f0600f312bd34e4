// Name, verdict and problem of the scenario; progress, Stop, and the question before a long run.

import { find, setText } from "../dom";
import type { Scheduler } from "../scheduler";
import type { PageState, PageStore } from "../state";
import { scoresOf, verdicts } from "../verdict";

export function connectAnswerPanel(store: PageStore, scheduler: Scheduler): void {
  store.subscribe(["name", "description"], renderName);
  store.subscribe(["run", "replications", "kept"], renderVerdict);
  store.subscribe(["problem"], renderProblem);
  store.subscribe(["isBusy"], ({ isBusy }) => document.body.classList.toggle("busy", isBusy));
  store.subscribe(["isBusy", "progress", "isReplicated", "replications", "run", "stopped", "part"], renderProgress);
  store.subscribe(["question"], renderQuestion);
  find("stop").addEventListener("click", () => scheduler.stop());
  find("part").addEventListener("click", () => void scheduler.showPart());
  find("again").addEventListener("click", () => scheduler.runAgain());
  find("agree").addEventListener("click", () => scheduler.answerQuestion(true));
  find("decline").addEventListener("click", () => scheduler.answerQuestion(false));
}

function renderName({ name, description }: Readonly<PageState>): void {
  setText("title", name);
  setText("lead", description);
  document.title = `${name} – fairwave lab`;
}

function renderVerdict({ run, replications, previousRun, kept }: Readonly<PageState>): void {
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
  const dashes = kept ? " Dashed: A." : previousRun ? " Dashed: before the last change." : "";
  setText("precision", `${runs}${dashes} Bands: ITU-T G.109 and G.1010.`);
}

function renderProgress(state: Readonly<PageState>): void {
  const { isBusy, progress, isReplicated, replications, run, isCurrent, stopped, part } = state;
  const isReplicating = !isBusy && run !== undefined && isCurrent && !isReplicated;
  find<HTMLButtonElement>("stop").disabled = !isBusy && !isReplicating;
  const bar = find<HTMLProgressElement>("progress");
  bar.hidden = !isBusy || progress === undefined;
  if (progress !== undefined) bar.value = progress;
  // The page has nothing of this scenario yet, and this may last.
  const isEmpty = run === undefined && (progress !== undefined || (stopped !== undefined && !isBusy));
  document.body.classList.toggle("empty", isEmpty);
  if (isEmpty) setText("verdict", "No result yet.");
  find("again").hidden = stopped === undefined || isBusy || (run !== undefined && isCurrent);
  find("part").hidden = part === undefined || isBusy;
  if (part) setText("part", `Show the first ${part.seconds} s (takes about ${Math.ceil(part.took / 1000)} s)`);
  let words = stopped ?? "Ready.";
  if (isBusy) words = progress === undefined ? "Computing …" : `${Math.floor(progress * 100)} % of the simulated time`;
  else if (isReplicating) words = `Repeating with other seeds: ${Math.max(1, replications.length)} runs so far.`;
  setText("activity", words);
  setText("stop-state", stopped ?? "");
}

function renderQuestion({ question }: Readonly<PageState>): void {
  const place = find("question");
  const wasHidden = place.hidden;
  place.hidden = question === undefined;
  setText("question-text", question ?? "");
  if (question !== undefined && wasHidden) {
    place.scrollIntoView({ block: "nearest" });
    find("agree").focus({ preventScroll: true });
  }
}

function renderProblem({ problem }: Readonly<PageState>): void {
  const place = find("problem");
  const message = problem?.message ?? "";
  if (place.textContent !== message) place.textContent = message;
  place.hidden = !message;
}
