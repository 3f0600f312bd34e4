// A drawing of the network: nodes in the order of the flows' paths, and the queue of the bottleneck. Nodes and links are
// buttons: a pointer or the arrow keys choose one.

import type { Network, NetworkLink, ObservedRun } from "../protocol";
import { rate } from "../verdict";
import { colour } from "./plots";

const SVG = "http://www.w3.org/2000/svg";
/** A drawing of more nodes is unreadable. */
const MOST_NODES = 60;
/** A narrower place gets a drawing from top to bottom. */
const NARROW_PX = 620;

function element(name: string, attributes: Record<string, string | number>, text?: string): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/** The place of each node: its column (distance from the senders) and its relative height in the column. */
export function layout(network: Network): Map<number, [number, number]> {
  const links = network.links ?? [];
  const column = new Map<number, number>();
  // If flows cross a link in both directions, the first group's direction decides; the others are followed backwards.
  const leads = new Set<string>();
  const isBackwards = ({ from, to }: NetworkLink): boolean => leads.has(`${to}>${from}`);
  for (const link of network.groups.flatMap(({ forward }) => forward ?? []).map((index) => links[index])) {
    if (link && !isBackwards(link)) leads.add(`${link.from}>${link.to}`);
  }
  for (let round = 0; round < 12; round++) {
    for (const group of network.groups) {
      let at = -1;
      for (const index of group.forward ?? []) {
        const link = links[index];
        if (!link) continue;
        if (isBackwards(link)) {
          at = (column.get(link.to) ?? 0) - 1;
          continue;
        }
        at = Math.max(column.get(link.from) ?? 0, at + 1);
        if (!column.has(link.from) || round > 0) column.set(link.from, Math.min(at, 24));
        column.set(link.to, Math.max(column.get(link.to) ?? 0, Math.min(at + 1, 24)));
      }
    }
  }
  // Nodes that no flow crosses stand next to their neighbours. Only the first pair of a group's hosts is drawn.
  const crossed = new Set([...column.keys()].map((node) => network.nodes?.[node]));
  const isMember = (node: number): boolean => {
    const name = network.nodes?.[node] ?? "";
    const first = name.replace(/\d+$/, "0");
    return first !== name && crossed.has(first);
  };
  const rest = links.filter(({ from, to }) => !isMember(from) && !isMember(to));
  for (let round = 0; round < rest.length; round++) {
    const before = column.size;
    for (const { from, to } of rest) {
      const [one, other] = [column.get(from), column.get(to)];
      if (one !== undefined && other === undefined) column.set(to, Math.min(one + 1, 24));
      else if (one === undefined && other !== undefined) column.set(from, Math.max(other - 1, 0));
    }
    if (column.size > before) continue;
    const lonely = rest.find(({ from }) => !column.has(from));
    if (!lonely) break;
    column.set(lonely.from, 0);
  }
  const rows = new Map<number, number[]>();
  for (const [node, at] of column) rows.set(at, [...(rows.get(at) ?? []), node]);
  const places = new Map<number, [number, number]>();
  for (const [at, nodes] of rows) {
    for (const [row, node] of nodes.entries()) places.set(node, [at, (row + 1) / (nodes.length + 1)]);
  }
  return places;
}

/** The selection in the drawing: a link direction by its name, a node by its name, or a flow by its index. */
export type Pick = { kind: "link"; name: string } | { kind: "node"; name: string } | { kind: "flow"; index: number };

const keyOf = (pick: Pick): string => (pick.kind === "flow" ? `flow:${pick.index}` : `${pick.kind}:${pick.name}`);

function disciplineOf(link: NetworkLink): string {
  return (link.queue as { discipline?: string }).discipline ?? "drop-tail";
}

export class NetworkView {
  private fill: SVGElement | undefined;
  private label: SVGElement | undefined;
  private run: ObservedRun | undefined;
  private full = 1;
  private isNarrow = false;
  /** The keyboard's place in the drawing. */
  private current = "";
  private selected = "";
  /** Called when the reader chooses a node or a link. */
  onPick: (pick: Pick) => void = () => {};
  private readonly picks = new Map<string, Pick>();

  constructor(private readonly place: HTMLElement) {
    place.addEventListener("click", (event) => this.pickAt(event.target));
    place.addEventListener("keydown", (event) => this.onKey(event));
    let width = place.clientWidth;
    new ResizeObserver(() => {
      const wasNarrow = width < NARROW_PX;
      width = place.clientWidth;
      if (this.run && wasNarrow !== width < NARROW_PX) this.draw(this.run);
    }).observe(place);
  }

  /** Shows the selection. */
  select(pick: Pick | undefined): void {
    this.selected = pick ? keyOf(pick) : "";
    for (const one of this.elements()) one.setAttribute("aria-pressed", String(one.dataset.pick === this.selected));
  }

  private elements(): SVGElement[] {
    return [...this.place.querySelectorAll<SVGElement>("[data-pick]")];
  }

  private pickAt(target: EventTarget | null): void {
    const chosen = (target as Element | null)?.closest<SVGElement>("[data-pick]");
    const pick = chosen && this.picks.get(chosen.dataset.pick ?? "");
    if (!pick) return;
    this.moveFocus(chosen);
    this.onPick(pick);
  }

  private onKey(event: KeyboardEvent): void {
    const elements = this.elements();
    const at = elements.indexOf(document.activeElement as SVGElement);
    if (at < 0) return;
    const steps: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined) this.moveFocus(elements[(at + step + elements.length) % elements.length]);
    else if (event.key === "Home") this.moveFocus(elements[0]);
    else if (event.key === "End") this.moveFocus(elements.at(-1));
    else if (event.key === "Enter" || event.key === " ") this.pickAt(document.activeElement);
    else return;
    event.preventDefault();
  }

  private moveFocus(next: SVGElement | undefined): void {
    if (!next) return;
    for (const one of this.elements()) one.setAttribute("tabindex", one === next ? "0" : "-1");
    this.current = next.dataset.pick ?? "";
    next.focus({ preventScroll: true });
  }

  /** A group that the reader can choose. */
  private button(pick: Pick, label: string): SVGElement {
    const key = keyOf(pick);
    this.picks.set(key, pick);
    return element("g", {
      class: `pick ${pick.kind}`,
      role: "button",
      tabindex: -1,
      "data-pick": key,
      "aria-label": label,
      "aria-pressed": String(key === this.selected),
    });
  }

  draw(run: ObservedRun): void {
    this.run = run;
    this.fill = undefined;
    const { network } = run;
    const links = network.links ?? [];
    const places = layout(network);
    const hadFocus = this.place.contains(document.activeElement);
    this.picks.clear();
    if (!network.nodes || places.size > MOST_NODES) {
      const notice = document.createElement("p");
      notice.textContent = `${network.node_count} nodes, ${network.link_count} link directions: too many to draw.`;
      this.place.replaceChildren(notice);
      return;
    }
    const nodes = network.nodes;
    const columns = Math.max(1, ...[...places.values()].map(([column]) => column));
    const rows = Math.max(1, ...this.rowsOf(places));
    const isNarrow = this.place.clientWidth < NARROW_PX;
    this.isNarrow = isNarrow;
    const [width, height] = isNarrow ? [360, 90 * columns + 80] : [840, Math.max(150, 56 * rows)];
    const at = (node: number): [number, number] => {
      const [column, row] = places.get(node) ?? [0, 0.5];
      const along = column / columns;
      return isNarrow ? [row * width, 36 + along * (height - 72)] : [60 + along * (width - 120), row * height];
    };
    const svg = element("svg", {
      viewBox: `0 0 ${width} ${height}`,
      role: "group",
      "aria-label": `The network: ${describe(network)}. Arrow keys go from part to part, Enter edits one.`,
    });
    const busiest = run.link_series[0]?.link;
    const crossed = new Map<number, number[]>();
    for (const [index, group] of network.groups.entries()) {
      for (const link of group.forward ?? []) crossed.set(link, [...(crossed.get(link) ?? []), index]);
    }
    for (const index of this.directions(links, crossed)) {
      const link = links[index] as NetworkLink;
      if (!places.has(link.from) || !places.has(link.to)) continue;
      const groups = crossed.get(index) ?? [];
      const [[x1, y1], [x2, y2]] = [at(link.from), at(link.to)];
      const isBusiest = link.name === busiest;
      const what = `${rate(link.rate_bps)}, ${Number((link.delay_s * 1000).toPrecision(3))} ms, ${disciplineOf(link)}`;
      const [from, to] = [nodes[link.from] ?? "", nodes[link.to] ?? ""];
      const part = this.button({ kind: "link", name: link.name }, `Link from ${from} to ${to}: ${what}`);
      part.append(element("line", { x1, y1, x2, y2, class: "wire", "stroke-width": isBusiest ? 5 : 2 }));
      for (const [place, group] of groups.entries()) {
        const shift = (place - (groups.length - 1) / 2) * 3;
        const [dx, dy] = isNarrow ? [shift, 0] : [0, shift];
        const line = { x1: x1 + dx, y1: y1 + dy, x2: x2 + dx, y2: y2 + dy };
        part.append(element("line", { ...line, stroke: colour(group), "stroke-width": 1.8 }));
      }
      part.append(element("line", { x1, y1, x2, y2, class: "hit" }));
      svg.append(part);
      if (isBusiest) this.drawQueue(svg, link, [(x1 + x2) / 2, (y1 + y2) / 2], what, isNarrow);
    }
    for (const [node] of places) {
      const [x, y] = at(node);
      const part = this.button({ kind: "node", name: nodes[node] ?? "" }, `Node ${nodes[node] ?? ""}`);
      part.append(element("circle", { cx: x, cy: y, r: 6, class: "node" }));
      part.append(element("circle", { cx: x, cy: y, r: 14, class: "hit" }));
      const starts = network.groups.findIndex((group) => group.from === node);
      const text = element("text", { x, y: y - 11, "text-anchor": "middle" }, shorten(nodes[node] ?? "", isNarrow));
      if (starts >= 0) text.setAttribute("fill", colour(starts));
      part.append(text);
      svg.append(part);
    }
    this.place.replaceChildren(svg);
    const elements = this.elements();
    const next = elements.find((one) => one.dataset.pick === this.current) ?? elements[0];
    if (hadFocus) this.moveFocus(next);
    else next?.setAttribute("tabindex", "0");
    this.moveTo(undefined);
  }

  /** The direction of each link that flows cross. */
  private directions(links: readonly NetworkLink[], crossed: ReadonlyMap<number, number[]>): number[] {
    const chosen = new Map<string, number>();
    for (const [index, { from, to }] of links.entries()) {
      const key = `${Math.min(from, to)} ${Math.max(from, to)}`;
      const known = chosen.get(key);
      if (known === undefined || (crossed.has(index) && !crossed.has(known))) chosen.set(key, index);
    }
    const both = [...crossed.keys()].filter((index) => ![...chosen.values()].includes(index));
    return [...chosen.values(), ...both];
  }

  private drawQueue(
    svg: SVGElement,
    link: NetworkLink,
    [x, y]: [number, number],
    what: string,
    isNarrow: boolean,
  ): void {
    const queue = link.queue as { capacity?: { packets?: number } };
    this.full = queue.capacity?.packets ?? Math.max(1, ...this.total());
    const [left, top] = isNarrow ? [x + 14, y - 12] : [x - 46, y - 30];
    const anchor = isNarrow ? { x: left, "text-anchor": "start" } : { x, "text-anchor": "middle" };
    svg.append(element("rect", { x: left, y: top, width: 92, height: 14, class: "buffer level" }));
    this.fill = element("rect", { x: left + 1, y: top + 1, width: 0, height: 12, class: "filled level" });
    this.label = element("text", { ...anchor, y: top - 6, class: "small level" }, "");
    svg.append(
      this.fill,
      this.label,
      element("text", { ...anchor, y: isNarrow ? y + 18 : y + 22, class: "small" }, what),
    );
  }

  private rowsOf(places: Map<number, [number, number]>): number[] {
    const count = new Map<number, number>();
    for (const [column] of places.values()) count.set(column, (count.get(column) ?? 0) + 1);
    return [...count.values()];
  }

  private total(): number[] {
    const waiting = this.run?.link_series[0]?.waiting;
    return (waiting?.[0] ?? []).map((_, bin) => (waiting ?? []).reduce((all, row) => all + (row[bin] ?? 0), 0));
  }

  /** Shows the queue at a time; without a time, its mean. */
  moveTo(seconds: number | undefined): void {
    if (!this.run || !this.fill || !this.label) return;
    const total = this.total();
    const mean = total.reduce((sum, value) => sum + value, 0) / Math.max(1, total.length);
    const bin = seconds === undefined ? -1 : Math.min(total.length - 1, Math.floor(seconds / this.run.bin_s));
    const value = total[bin] ?? mean;
    this.fill.setAttribute("width", String(90 * Math.min(1, value / this.full)));
    const when = bin >= 0 && seconds !== undefined ? `at ${seconds.toFixed(1)} s` : "on average";
    const where = this.isNarrow ? "" : " in the queue";
    this.label.textContent = `${value < 10 ? value.toFixed(1) : Math.round(value)} packets${where} ${when}`;
  }
}

function shorten(name: string, isNarrow: boolean): string {
  return isNarrow && name.length > 13 ? `${name.slice(0, 12)}…` : name;
}

/** The flows of a network and their paths, for screen readers. */
function describe({ links, groups }: Network): string {
  const one = ({ name, flows, forward }: Network["groups"][number]) => {
    const path = (forward ?? []).map((index) => links?.[index]?.name ?? "").join(", ");
    return `${name}, ${flows} ${flows === 1 ? "flow" : "flows"}, along ${path}`;
  };
  return groups.map(one).join("; ");
}
