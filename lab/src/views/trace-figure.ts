// A trace of a rate as a small figure with its numbers.

import { meanRates, summarize, type Trace } from "../traces";
import { rate } from "../verdict";

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [360, 120, 62, 20];
const BINS = 280;
const SVG = "http://www.w3.org/2000/svg";

function element(name: string, attributes: Record<string, string | number>, text?: string): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/** The rate over the trace's duration. */
export function traceFigure(trace: Trace, link: string): HTMLElement {
  const { duration_s, mean_bps, least_bps, most_bps } = summarize(trace);
  const figure = document.createElement("figure");
  figure.className = "trace";
  const caption = document.createElement("figcaption");
  const seconds = Number(duration_s.toPrecision(4));
  const words = `Trace of ${link}: ${seconds} s, mean ${rate(mean_bps)}, from ${rate(least_bps)} to ${rate(most_bps)} (means over 100 ms)`;
  caption.textContent = words;
  const values = meanRates(trace, BINS, duration_s);
  const top = Math.max(...values, 1) * 1.05;
  const x = (bin: number): number => LEFT + (bin / BINS) * (WIDTH - LEFT - 4);
  const y = (value: number): number => 6 + (1 - value / top) * (HEIGHT - BOTTOM - 6);
  const points = values.flatMap((value, bin) => [
    `${x(bin).toFixed(1)},${y(value).toFixed(1)}`,
    `${x(bin + 1).toFixed(1)},${y(value).toFixed(1)}`,
  ]);
  const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": words });
  for (const value of [0, top / 2 / 1.05, top / 1.05]) {
    svg.append(
      element("line", { x1: LEFT, x2: WIDTH - 4, y1: y(value), y2: y(value), class: "rule" }),
      element("text", { x: LEFT - 4, y: y(value) + 4, "text-anchor": "end" }, rate(value)),
    );
  }
  svg.append(
    element("polyline", { points: points.join(" "), class: "line" }),
    element("text", { x: LEFT, y: HEIGHT - 4 }, "0 s"),
    element("text", { x: WIDTH - 4, y: HEIGHT - 4, "text-anchor": "end" }, `${seconds} s`),
  );
  figure.append(caption, svg);
  return figure;
}
