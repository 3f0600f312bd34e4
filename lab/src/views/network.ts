// A drawing of the network: nodes from left to right in the order in which flows cross them, and the queue of the bottleneck.

import type { Network, ObservedRun } from "../protocol";
import { rate } from "../verdict";
import { colour } from "./plots";

const SVG = "http://www.w3.org/2000/svg";
/** A drawing of more nodes is unreadable. */
const MOST_NODES = 60;

function element(name: string, attributes: Record<string, string | number>, text?: string): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/** The place of each node that a flow crosses: its column (distance from the senders) and its relative height in the column. */
export function layout(network: Network): Map<number, [number, number]> {
  const links = network.links ?? [];
  const column = new Map<number, number>();
  for (let round = 0; round < 12; round++) {
    for (const group of network.groups) {
      let at = -1;
      for (const index of group.forward ?? []) {
        const link = links[index];
        if (!link) continue;
        at = Math.max(column.get(link.from) ?? 0, at + 1);
        if (!column.has(link.from) || round > 0) column.set(link.from, Math.min(at, 24));
        column.set(link.to, Math.max(column.get(link.to) ?? 0, Math.min(at + 1, 24)));
      }
    }
  }
  const rows = new Map<number, number[]>();
  for (const [node, at] of column) rows.set(at, [...(rows.get(at) ?? []), node]);
  const places = new Map<number, [number, number]>();
  for (const [at, nodes] of rows) {
    for (const [row, node] of nodes.entries()) places.set(node, [at, (row + 1) / (nodes.length + 1)]);
  }
  return places;
}

export class NetworkView {
  private fill: SVGElement | undefined;
  private label: SVGElement | undefined;
  private run: ObservedRun | undefined;
  private full = 1;

  constructor(private readonly place: HTMLElement) {}

  draw(run: ObservedRun): void {
    this.run = run;
    this.fill = undefined;
    const { network } = run;
    const links = network.links ?? [];
    const description = network.groups
      .map(
        (group) =>
          `${group.name}, ${group.flows} ${group.flows === 1 ? "flow" : "flows"}, along ${(group.forward ?? []).map((index) => links[index]?.name ?? "").join(", ")}`,
      )
      .join("; ");
    const places = layout(network);
    if (!network.nodes || places.size > MOST_NODES) {
      const notice = document.createElement("p");
      notice.textContent = `${network.node_count} nodes, ${network.link_count} link directions: too many to draw.`;
      this.place.replaceChildren(notice);
      return;
    }
    const columns = Math.max(1, ...[...places.values()].map(([column]) => column));
    const rows = Math.max(1, ...this.rowsOf(places));
    const [width, height] = [840, Math.max(130, 56 * rows)];
    const at = (node: number): [number, number] => {
      const [column, row] = places.get(node) ?? [0, 0.5];
      return [60 + (column / columns) * (width - 120), row * height];
    };
    const svg = element("svg", {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `The network. ${description}`,
    });
    const busiest = run.link_series[0]?.link;
    const crossed = new Map<number, number[]>();
    for (const [index, group] of network.groups.entries()) {
      for (const link of group.forward ?? []) crossed.set(link, [...(crossed.get(link) ?? []), index]);
    }
    for (const [index, groups] of crossed) {
      const link = links[index];
      if (!link) continue;
      const [[x1, y1], [x2, y2]] = [at(link.from), at(link.to)];
      const isBusiest = link.name === busiest;
      svg.append(element("line", { x1, y1, x2, y2, class: "wire", "stroke-width": isBusiest ? 5 : 2 }));
      for (const [place, group] of groups.entries()) {
        const shift = (place - (groups.length - 1) / 2) * 3;
        svg.append(
          element("line", { x1, y1: y1 + shift, x2, y2: y2 + shift, stroke: colour(group), "stroke-width": 1.8 }),
        );
      }
      if (isBusiest) {
        const [x, y] = [(x1 + x2) / 2, (y1 + y2) / 2];
        svg.append(element("rect", { x: x - 46, y: y - 30, width: 92, height: 14, class: "buffer" }));
        this.fill = element("rect", { x: x - 45, y: y - 29, width: 0, height: 12, class: "filled" });
        svg.append(this.fill);
        const queue = link.queue as { discipline?: string; capacity?: { packets?: number } };
        this.full = queue.capacity?.packets ?? Math.max(1, ...this.total());
        this.label = element("text", { x, y: y - 36, class: "small", "text-anchor": "middle" }, "");
        svg.append(this.label);
        const what = `${rate(link.rate_bps)}, ${Number((link.delay_s * 1000).toPrecision(3))} ms, ${queue.discipline ?? "drop-tail"}`;
        svg.append(element("text", { x, y: y + 22, class: "small", "text-anchor": "middle" }, what));
      }
    }
    for (const [node] of places) {
      const [x, y] = at(node);
      svg.append(element("circle", { cx: x, cy: y, r: 6, class: "node" }));
      const starts = network.groups.findIndex((group) => group.from === node);
      const text = element("text", { x, y: y - 11, "text-anchor": "middle" }, network.nodes[node] ?? "");
      if (starts >= 0) text.setAttribute("fill", colour(starts));
      svg.append(text);
    }
    this.place.replaceChildren(svg);
    this.moveTo(undefined);
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
    this.label.textContent = `${value < 10 ? value.toFixed(1) : Math.round(value)} packets in the queue ${when}`;
  }
}
