// The controls of the scenario, and the choice of another key.

import { type Control, scaleOf } from "../controls";
import { find, setText } from "../dom";
import { formatPath, type Path } from "../paths";
import { formatDisplay } from "../quantities";
import type { Scheduler } from "../scheduler";
import { controlsOf, type PageState, type PageStore, renewControls } from "../state";

export function connectControlPanel(store: PageStore, scheduler: Scheduler): void {
  store.subscribe(["controls"], (state) => renderControls(state, scheduler));
  find("add").addEventListener("click", () => addControl(store));
}

function addControl(store: PageStore): void {
  const chosen = find<HTMLSelectElement>("add-key").value;
  if (!chosen) return;
  const path = JSON.parse(chosen) as Path;
  if (!controlsOf(store.state)?.of(path)) {
    setText("notice", "This key holds a table or a list. Edit it in the scenario's text.");
    return;
  }
  store.update({ addedKeys: [...store.state.addedKeys, path] });
  renewControls(store);
  find("control-list").lastElementChild?.querySelector<HTMLElement>("input, select")?.focus();
}

function renderControls(state: Readonly<PageState>, scheduler: Scheduler): void {
  const focused = document.activeElement?.id;
  find("control-list").replaceChildren(...state.controls.map((control) => controlElement(control, scheduler)));
  if (focused) document.getElementById(focused)?.focus();
  const keys = controlsOf(state)?.all() ?? [];
  const options = keys.map((path) => new Option(formatPath(path, state.scenario), JSON.stringify(path)));
  find("add-key").replaceChildren(...options);
}

/** The input of a control with its label; `prefix` begins the input's id. */
export function controlElement(control: Control, scheduler: Scheduler, prefix = "control"): HTMLElement {
  const place = document.createElement("div");
  place.className = "control";
  place.dataset.path = control.path.join(".");
  const label = document.createElement("label");
  label.htmlFor = `${prefix}-${control.path.join("-").replaceAll(/[^A-Za-z0-9-]/g, "_")}`;
  if (control.title) label.title = control.title;
  const name = document.createElement("span");
  name.textContent = control.label;
  label.append(name);
  const input = control.kind === "slider" ? slider(control, label, scheduler) : field(control, scheduler);
  input.id = label.htmlFor;
  place.append(label, input);
  return place;
}

function field(control: Exclude<Control, { kind: "slider" }>, scheduler: Scheduler): HTMLElement {
  const input = document.createElement(control.kind === "choice" ? "select" : "input");
  if (control.kind === "choice") input.append(...control.choices.map((choice) => new Option(choice, choice)));
  input.value = control.value;
  input.addEventListener("change", () => scheduler.set(control, input.value));
  return input;
}

/** A slider; its label shows its value. */
function slider(control: Control & { kind: "slider" }, label: HTMLLabelElement, scheduler: Scheduler): HTMLElement {
  const output = document.createElement("output");
  output.htmlFor.add(label.htmlFor);
  label.append(output);
  const input = document.createElement("input");
  const scale = scaleOf(control);
  input.type = "range";
  input.min = String(scale.min);
  input.max = String(scale.max);
  input.step = String(scale.step);
  input.value = String(scale.toPosition(control.value));
  const showValue = (value: number) => {
    output.textContent = formatDisplay(value, control.dimension);
    input.setAttribute("aria-valuetext", output.textContent);
  };
  showValue(control.value);
  input.addEventListener("input", () => {
    const value = scale.toValue(Number(input.value));
    showValue(value);
    scheduler.set(control, value);
  });
  return input;
}
