// Two settings side by side: A is kept, B is the current setting. Both run with the same seeds.

import { find, setText } from "../dom";
import { type ComparedMeasure, compare } from "../measures";
import { formatPath, leaves } from "../paths";
import type { Table } from "../protocol";
import { EXPLAINED, judge } from "../relevance";
import type { Scheduler } from "../scheduler";
import type { PageState, PageStore } from "../state";
import { type Interval, sureOf } from "../statistics";

export function connectComparePanel(store: PageStore, scheduler: Scheduler): void {
  store.subscribe(["kept", "run", "replications", "isCurrent", "controls"], render);
  find("compare-keep").addEventListener("click", () => {
    scheduler.keep();
    setText("compare-notice", "The current setting is A. Change something: the page compares it with A.");
  });
  find("compare-swap").addEventListener("click", () => void scheduler.swap());
  find("compare-remove").addEventListener("click", () => {
    void scheduler.keepText(undefined);
    setText("compare-notice", "A is removed.");
    find("compare-keep").focus();
  });
}

function render(state: Readonly<PageState>): void {
  const { kept, run, isCurrent, replications, scenario } = state;
  find<HTMLButtonElement>("compare-keep").disabled = !run || !isCurrent;
  find("compare-keep").textContent = kept ? "Keep the current setting as the new A" : "Keep the current setting as A";
  for (const id of ["compare-swap", "compare-remove"]) find<HTMLButtonElement>(id).disabled = !kept;
  const place = find("compare-place");
  place.hidden = !kept;
  if (!kept || !run) return;
  const changes = differences(kept.scenario, scenario);
  setText("compare-a", `${kept.settings || String(kept.scenario.name ?? "")}.`);
  setText("compare-b", changes.length ? `As A, but ${changes.join("; ")}.` : "As A. Change something.");
  const runs = replications.length ? replications : [run];
  const rows = compare(kept.runs, runs);
  const seeds = rows[0]?.difference.n ?? 0;
  const many = seeds === 1 ? "one seed" : `${seeds} equal seeds`;
  setText(
    "compare-runs",
    rows.length
      ? `Means over ${many}; differences paired by seed. ${EXPLAINED}`
      : "A has not run with the seeds of B yet.",
  );
  find("compare-rows").replaceChildren(...rows.map(rowOf));
}

/** The keys with different values, for readers; at most twelve. */
function differences(a: Table, b: Table): string[] {
  const valuesOf = (scenario: Table) =>
    new Map([...leaves(scenario)].map(([path, value]) => [formatPath(path, scenario), String(value).slice(0, 40)]));
  const [before, after] = [valuesOf(a), valuesOf(b)];
  const found: string[] = [];
  for (const [path, value] of after) {
    const old = before.get(path);
    if (old !== value) found.push(`${path} is ${value}${old === undefined ? "" : ` instead of ${old}`}`);
  }
  for (const path of before.keys()) if (!after.has(path)) found.push(`without ${path}`);
  return found.length > 12 ? [...found.slice(0, 12), `${found.length - 12} more keys differ`] : found;
}

function rowOf({ label, unit, digits, a, b, difference, counts }: ComparedMeasure): HTMLElement {
  const row = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = unit ? `${label} (${unit})` : label;
  const texts = [format(a, digits), format(b, digits), formatDifference(difference, digits, counts)];
  const names = ["A", "B", "B − A"];
  const cells = texts.map((text, at) => {
    const cell = document.createElement("td");
    cell.textContent = text;
    cell.dataset.name = names[at];
    return cell;
  });
  row.append(head, ...cells);
  return row;
}

function format(found: Interval, digits: number): string {
  return `${found.mean.toFixed(digits)}${sureOf(found, digits)}`;
}

function formatDifference(difference: Interval, digits: number, counts: number): string {
  const { mean, n } = difference;
  const sign = mean > 0 ? "+" : mean < 0 ? "−" : "";
  const value = `${sign}${Math.abs(mean).toFixed(digits)}`;
  if (n < 2) return value;
  return `${value}${sureOf(difference, digits)}, ${judge(difference, counts)}`;
}
