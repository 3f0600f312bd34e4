// Editing of the network: the selection in the drawing, and forms that add links and flows. The engine checks each edit.

import { find, setText } from "../dom";
import {
  addFlow,
  addLink,
  FLOW_KINDS,
  isTraced,
  removeFlow,
  removeLink,
  removeNode,
  setQueue,
  writtenLink,
} from "../edit";
import { get, set } from "../paths";
import type { Table } from "../protocol";
import type { Scheduler } from "../scheduler";
import { controlsOf, type PageState, type PageStore } from "../state";
import { fromLaw, parseTrace, toLaw } from "../traces";
import { controlElement } from "./control-panel";
import type { NetworkView, Pick } from "./network";
import { colour } from "./plots";
import { traceFigure } from "./trace-figure";

type Form = "link" | "flow" | undefined;

export class NetworkPanel {
  private pick: Pick | undefined;
  private form: Form;
  /** The last node that was chosen: forms begin with it. */
  private node = "";

  constructor(
    private readonly store: PageStore,
    private readonly scheduler: Scheduler,
    private readonly view: NetworkView,
  ) {
    view.onPick = (pick) => this.choose(pick);
    find("add-flow").addEventListener("click", () => this.openForm("flow"));
    find("add-link").addEventListener("click", () => this.openForm("link"));
    store.subscribe(["controls"], () => this.render());
    store.subscribe(["run"], (state) => this.renderFlows(state));
  }

  private choose(pick: Pick): void {
    if (pick.kind === "node" && this.form) {
      this.node = pick.name;
      this.fillForm(pick.name);
      return;
    }
    if (pick.kind === "node") this.node = pick.name;
    this.form = undefined;
    this.pick = pick;
    this.notify("");
    this.render();
    find("network-editor").focus({ preventScroll: true });
    find("network-editor").scrollIntoView({ block: "nearest" });
  }

  /** A node that the reader chooses while a form is open is its From, then its To. */
  private fillForm(name: string): void {
    const from = document.querySelector<HTMLInputElement>("#new-from");
    const to = document.querySelector<HTMLInputElement>("#new-to");
    if (!from || !to) return;
    const place = from.value && from.value !== name && !to.value ? to : from.value ? to : from;
    place.value = name;
    this.notify(`${place === from ? "From" : "To"}: ${name}.`);
  }

  private openForm(form: Form): void {
    this.form = form;
    this.pick = undefined;
    this.notify("");
    this.render();
    find("network-editor").querySelector<HTMLElement>("select, input")?.focus();
    find("network-editor").scrollIntoView({ block: "nearest" });
  }

  private close(): void {
    this.form = undefined;
    this.pick = undefined;
    this.render();
    find("add-flow").focus();
  }

  private notify(words: string): void {
    setText("network-notice", words);
  }

  private get nodes(): string[] {
    return this.store.state.run?.network.nodes ?? [];
  }

  /** The flows as buttons, in the colours of the figures. */
  private renderFlows({ run }: Readonly<PageState>): void {
    if (!run) return;
    const place = find("network-flows");
    const key = JSON.stringify(run.network.groups.map(({ name, flows }) => [name, flows]));
    if (place.dataset.key === key) return;
    place.dataset.key = key;
    const buttons = run.network.groups.map(({ name, flows }, index) => {
      const button = makeButton(flows === 1 ? name : `${name} × ${flows}`, () => this.choose({ kind: "flow", index }));
      button.className = "flow";
      button.setAttribute("aria-label", `${button.textContent}: edit this flow`);
      const mark = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      mark.setAttribute("viewBox", "0 0 10 10");
      mark.setAttribute("aria-hidden", "true");
      const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      for (const [name, value] of Object.entries({ cx: "5", cy: "5", r: "5", fill: colour(index) }))
        dot.setAttribute(name, value);
      mark.append(dot);
      button.prepend(mark);
      return button;
    });
    place.replaceChildren(...buttons);
  }

  private render(): void {
    const place = find("network-editor");
    const focused = place.contains(document.activeElement) ? document.activeElement?.id : undefined;
    this.view.select(this.pick);
    const content = this.content();
    place.hidden = !content;
    place.replaceChildren(...(content ?? []));
    if (focused && focused !== place.id) document.getElementById(focused)?.focus();
  }

  private content(): HTMLElement[] | undefined {
    if (this.form) return this.formContent(this.form);
    if (!this.pick) return undefined;
    if (this.pick.kind === "link") return this.linkContent(this.pick.name);
    if (this.pick.kind === "node") return this.nodeContent(this.pick.name);
    return this.flowContent(this.pick.index);
  }

  private linkContent(name: string): HTMLElement[] | undefined {
    const { state } = this.store;
    if (!state.run?.network.links?.some((link) => link.name === name)) return undefined;
    const [from = "", to = ""] = name.split(">");
    const back = `${to}>${from}`;
    const other = state.run.network.links.some((link) => link.name === back)
      ? [makeButton("Other direction", () => this.choose({ kind: "link", name: back }), "edit-other")]
      : [];
    const close = makeButton("Close", () => this.close(), "edit-close");
    const title = heading(`Link from ${from} to ${to}`);
    const written = writtenLink(state.scenario, name);
    if (!written) {
      const words =
        "This link belongs to the preset of the topology. Write the preset out to edit its links one by one.";
      return [
        title,
        paragraph(words),
        row(
          makeButton("Write the preset out", () => void this.expand(), "edit-expand"),
          ...other,
          close,
        ),
      ];
    }
    const controls = controlsOf(state)?.ofLink(written.path) ?? [];
    const parts = controls.map((control) => controlElement(control, this.scheduler, "edit"));
    const buttons = [...other];
    if (get(state.scenario, [...written.path, "queue"]) === undefined) {
      const queue: Table = { discipline: "fq-codel", capacity: { packets: 1000 } };
      const add = () => void this.edit(setQueue(state.scenario, written.path, queue), `${name} has a queue: FQ-CoDel.`);
      buttons.unshift(makeButton("Add a queue", add, "edit-queue"));
    } else {
      const remove = () =>
        void this.edit(setQueue(state.scenario, written.path, undefined), `${name} has the default queue.`);
      buttons.unshift(makeButton("Remove the queue", remove, "edit-queue"));
    }
    const { index } = written;
    if (index !== undefined) {
      const remove = () => void this.edit(removeLink(state.scenario, index), `The link ${name} is removed.`, true);
      buttons.push(makeButton("Remove this link", remove, "edit-remove"));
    }
    return [title, grid(...parts), ...this.traceContent(name, written.path), row(...buttons, close)];
  }

  private traceContent(name: string, path: readonly (string | number)[]): HTMLElement[] {
    const { scenario } = this.store.state;
    const input = document.createElement("input");
    Object.assign(input, {
      type: "file",
      id: "edit-trace",
      accept: ".mahi,.mahimahi,.up,.down,.csv,.txt,.log,.pensieve,text/*",
    });
    input.addEventListener("change", () => void this.loadTrace(name, path, input.files?.[0]));
    const label = document.createElement("label");
    label.append("Rate by a trace (Mahimahi, CSV, Pensieve) ", input);
    const found: HTMLElement[] = [row(label)];
    const trace = fromLaw(get(scenario, [...path, "rate"]));
    if (trace) found.push(traceFigure(trace, name));
    if (isTraced(scenario, path)) {
      const mean = this.store.state.run?.network.links?.find((link) => link.name === name)?.rate_bps ?? 1e6;
      const constant = `${Number((mean / 1e6).toPrecision(3))} Mb/s`;
      const remove = () =>
        void this.edit(set(scenario, [...path, "rate"], constant), `${name} has a constant rate of ${constant}.`);
      found.push(row(makeButton("Remove the trace", remove, "edit-trace-remove")));
    }
    return found;
  }

  private async loadTrace(name: string, path: readonly (string | number)[], file: File | undefined): Promise<void> {
    if (!file) return;
    try {
      const trace = parseTrace(await file.text(), file.name);
      const scenario = set(this.store.state.scenario, [...path, "rate"], toLaw(trace));
      await this.edit(scenario, `The rate of ${name} follows ${file.name} (${trace.format}).`);
    } catch (error) {
      this.notify(error instanceof Error ? error.message : String(error));
    }
  }

  private nodeContent(node: string): HTMLElement[] | undefined {
    const { run, scenario } = this.store.state;
    const index = run?.network.nodes?.indexOf(node) ?? -1;
    if (!run || index < 0) return undefined;
    const names = (run.network.links ?? [])
      .filter(({ from }) => from === index)
      .map(({ to }) => run.network.nodes?.[to]);
    const open = (form: Form) => {
      this.node = node;
      this.openForm(form);
    };
    const remove = () =>
      void this.edit(removeNode(scenario, node), `The node ${node}, its links and its flows are removed.`, true);
    return [
      heading(`Node ${node}`),
      paragraph(names.length ? `Linked to ${names.join(", ")}.` : "Not linked."),
      row(
        makeButton("Add a link from here", () => open("link"), "edit-link"),
        makeButton("Add a flow from here", () => open("flow"), "edit-flow"),
        makeButton("Remove this node, its links and flows", remove, "edit-remove"),
        makeButton("Close", () => this.close(), "edit-close"),
      ),
    ];
  }

  private flowContent(index: number): HTMLElement[] | undefined {
    const { state } = this.store;
    const flow = get(state.scenario, ["flow", index]) as Table | undefined;
    if (!flow) return undefined;
    const name = String(flow.name);
    const parts = (controlsOf(state)?.ofFlow(index) ?? []).map((control) =>
      controlElement(control, this.scheduler, "edit"),
    );
    for (const [key, label] of [
      ["from", "From"],
      ["to", "To"],
    ] as const) {
      const written = flow[key];
      if (typeof written !== "string") continue;
      const select = choice(`edit-${key}`, label, this.nodes, written);
      select.addEventListener("change", () => {
        const value = select.querySelector("select")?.value ?? written;
        void this.edit(set(state.scenario, ["flow", index, key], value), `${name} goes ${key} ${value}.`);
      });
      parts.push(select);
    }
    const remove = () => void this.edit(removeFlow(state.scenario, index), `The flow ${name} is removed.`, true);
    return [
      heading(`Flow ${name}`),
      grid(...parts),
      row(
        makeButton("Remove this flow", remove, "edit-remove"),
        makeButton("Close", () => this.close(), "edit-close"),
      ),
    ];
  }

  private formContent(form: "link" | "flow"): HTMLElement[] {
    const cancel = makeButton("Cancel", () => this.close(), "edit-close");
    if (form === "link") {
      const from = field("new-from", "From (a node, or a new name)", this.node, this.nodes);
      const to = field("new-to", "To (a node, or a new name)", "", this.nodes);
      const rate = field("new-rate", "Rate", "10 Mb/s");
      const delay = field("new-delay", "Delay, one way", "10 ms");
      const add = () => {
        const link = { from: inputValue(from), to: inputValue(to), rate: inputValue(rate), delay: inputValue(delay) };
        if (!link.from || !link.to) this.notify("Write both nodes of the link, or choose them in the drawing.");
        else
          void this.edit(
            addLink(this.store.state.scenario, link),
            `The link from ${link.from} to ${link.to} is added.`,
            true,
          );
      };
      const help = "You can also choose the nodes in the drawing: first From, then To.";
      return [
        heading("A new link"),
        paragraph(help),
        grid(from, to, rate, delay),
        row(makeButton("Add the link", add, "new-add"), cancel),
      ];
    }
    const kind = choice("new-kind", "What", Object.keys(FLOW_KINDS), "call", (one) => FLOW_KINDS[one]?.label ?? one);
    const name = field("new-name", "Name (optional)", "");
    const hasPreset = this.store.state.scenario.topology !== undefined;
    const ends = hasPreset
      ? []
      : [choice("new-from", "From", ["", ...this.nodes], this.node), choice("new-to", "To", ["", ...this.nodes], "")];
    const add = () => {
      const [from = "", to = ""] = ends.map(inputValue);
      const flow = { kind: inputValue(kind), name: inputValue(name), from, to };
      if (!hasPreset && (!from || !to || from === to)) this.notify("Choose two nodes: From and To.");
      else
        void this.edit(addFlow(this.store.state.scenario, flow), `The flow ${flow.name || flow.kind} is added.`, true);
    };
    const help = hasPreset
      ? "The preset of the topology gives the flow its hosts."
      : "You can also choose the nodes in the drawing: first From, then To.";
    return [
      heading("A new flow"),
      paragraph(help),
      grid(kind, name, ...ends),
      row(makeButton("Add the flow", add, "new-add"), cancel),
    ];
  }

  private async expand(): Promise<void> {
    const expanded = await this.scheduler.expandPreset();
    if (typeof expanded === "string") this.notify(expanded);
    else await this.edit(expanded, "The preset is written out as links.");
  }

  /** Runs an edited scenario, or shows why the engine refuses it. */
  private async edit(scenario: Table, done: string, closes = false): Promise<void> {
    const refused = await this.scheduler.edit(scenario);
    if (refused !== undefined) {
      this.notify(`Not done, and nothing has changed. ${refused}`);
      return;
    }
    if (closes) this.close();
    this.notify(done);
  }
}

function heading(text: string): HTMLElement {
  const title = document.createElement("h3");
  title.textContent = text;
  title.id = "network-editor-title";
  return title;
}

function paragraph(text: string): HTMLElement {
  const place = document.createElement("p");
  place.className = "small";
  place.textContent = text;
  return place;
}

function makeButton(text: string, action: () => void, id?: string): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  if (id) button.id = id;
  button.addEventListener("click", action);
  return button;
}

function wrap(className: string, parts: HTMLElement[]): HTMLElement {
  const place = document.createElement("div");
  place.className = className;
  place.append(...parts);
  return place;
}

const row = (...parts: HTMLElement[]): HTMLElement => wrap("row", parts);
const grid = (...parts: HTMLElement[]): HTMLElement => wrap("grid", parts);

function labelled(id: string, label: string, input: HTMLElement): HTMLElement {
  const caption = document.createElement("label");
  caption.htmlFor = id;
  caption.textContent = label;
  input.id = id;
  return wrap("control", [caption, input]);
}

function field(id: string, label: string, value: string, known: readonly string[] = []): HTMLElement {
  const input = document.createElement("input");
  input.type = "text";
  input.value = value;
  const place = labelled(id, label, input);
  if (known.length) {
    const list = document.createElement("datalist");
    list.id = `${id}-list`;
    list.append(...known.map((one) => new Option(one)));
    input.setAttribute("list", list.id);
    place.append(list);
  }
  return place;
}

function choice(
  id: string,
  label: string,
  known: readonly string[],
  value: string,
  nameOf = (one: string) => one || "Choose …",
): HTMLElement {
  const select = document.createElement("select");
  select.append(...known.map((one) => new Option(nameOf(one), one)));
  select.value = value;
  return labelled(id, label, select);
}

function inputValue(place: HTMLElement): string {
  return place.querySelector<HTMLInputElement | HTMLSelectElement>("input, select")?.value.trim() ?? "";
}
