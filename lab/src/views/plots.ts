// Figures over time: throughput, queue, windows, losses, delay of the call. The previous run is drawn dashed.

import uPlot from "uplot";
import { canvasFont } from "../dom";
import type { NetworkLink, ObservedRun } from "../protocol";
import { interval } from "../statistics";

export const CLASSES = ["voice", "other UDP", "TCP"] as const;

/** Okabe and Ito's colours, as in all figures of fairwave: for light and for dark backgrounds. */
const COLOURS: [string, string][] = [
  ["#0072b2", "#56b4e9"],
  ["#d55e00", "#ff9d4d"],
  ["#007f5f", "#33c79b"],
  ["#b03a80", "#e58fc0"],
  ["#8a6d00", "#f0e442"],
  ["#1d2327", "#e6e9ec"],
];

export const isDark = (): boolean => matchMedia("(prefers-color-scheme: dark)").matches;

export function colour(index: number): string {
  return (COLOURS[index % COLOURS.length] as [string, string])[isDark() ? 1 : 0];
}

export interface Line {
  label: string;
  colour: string;
  values: (number | null)[];
  /** It only bounds the other lines, as the rate of a link does. */
  isBound?: boolean;
}

interface Panel {
  id: string;
  title: string;
  unit: string;
  lines: Line[];
  /** The end of the vertical axis; by default the values' end. */
  top?: number;
}

/** A bound of more than this many times the other lines is off the axis; otherwise the lines would be unreadable. */
const OFF = 3;

const largest = (lines: readonly Line[]): number =>
  lines.reduce((most, { values }) => values.reduce<number>((top, value) => Math.max(top, value ?? 0), most), 0);

/** The panel with an axis on which its lines can be read; a bound far above them is named instead. */
export function readable(panel: Panel): Panel {
  const most = largest(panel.lines.filter(({ isBound }) => !isBound));
  const isOff = (line: Line) => !!line.isBound && most > 0 && largest([line]) > OFF * most;
  if (!panel.lines.some(isOff)) return panel;
  const lines = panel.lines.map((line) =>
    isOff(line)
      ? { ...line, label: `${line.label}: ${Number(largest([line]).toPrecision(3))} ${panel.unit}, off the axis` }
      : line,
  );
  return { ...panel, lines, top: 1.1 * most };
}

const times = (run: ObservedRun): number[] =>
  Array.from({ length: run.group_series[0]?.throughput_bps.length ?? 0 }, (_, bin) => (bin + 0.5) * run.bin_s);

/** A sender's samples per bin: the last one in or before the bin. */
function binned(samples: [number, number][], run: ObservedRun, bins: number): (number | null)[] {
  const found: (number | null)[] = new Array(bins).fill(null);
  for (const [time, value] of samples) {
    const bin = Math.floor(time / run.bin_s);
    if (bin >= 0 && bin < bins) found[bin] = value;
  }
  for (let bin = 1; bin < bins; bin++) found[bin] ??= found[bin - 1] ?? null;
  return found;
}

/** A moving average over `over` bins on each side. */
function smooth(values: number[], over: number): number[] {
  return values.map((_, at) => {
    const part = values.slice(Math.max(0, at - over), at + over + 1);
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}

function sum(rows: readonly number[][]): number[] {
  return (rows[0] ?? []).map((_, bin) => rows.reduce((total, row) => total + (row[bin] ?? 0), 0));
}

let made = new WeakMap<ObservedRun, Panel[]>();

/** The figures of a run, made once for each run. */
export function panels(run: ObservedRun): Panel[] {
  const known = made.get(run) ?? makePanels(run);
  made.set(run, known);
  return known;
}

function makePanels(run: ObservedRun): Panel[] {
  const bins = times(run).length;
  const found: Panel[] = [];
  found.push({
    id: "throughput",
    title: "Throughput on the wire, by group",
    unit: "Mb/s",
    lines: run.group_series.map((group, index) => ({
      label: group.group,
      colour: colour(index),
      values: smooth(group.throughput_bps, Math.max(1, Math.round(bins / 150))).map((bps) => bps / 1e6),
    })),
  });
  found.push(...ofSessions(run, bins));
  const link = run.link_series[0];
  if (link) {
    const used = link.waiting.map((row, index) => ({ row, index })).filter(({ row }) => row.some((value) => value > 0));
    found.push({
      id: "queue",
      title: `Queue at ${link.link}`,
      unit: "packets",
      lines: [
        { label: "all", colour: colour(5), values: sum(link.waiting) },
        ...used.map(({ row, index }) => ({ label: CLASSES[index] as string, colour: colour(index), values: row })),
      ],
    });
  }
  const windows = run.senders.filter((sender) => sender.window.length);
  if (windows.length) {
    found.push({
      id: "window",
      title: "Congestion windows",
      unit: "segments",
      lines: windows.map((sender, index) => ({
        label: sender.flow,
        colour: colour(index),
        values: binned(sender.window, run, bins),
      })),
    });
  }
  const missing = run.group_series.filter((group) => group.missing.some((count) => count > 0));
  found.push({
    id: "losses",
    title: "Packets dropped or lost",
    unit: "packets per bin",
    lines: run.group_series.map((group, index) => ({
      label: group.group,
      colour: colour(index),
      values: missing.length ? group.missing : group.missing.map(() => 0),
    })),
  });
  const call = run.calls[0];
  if (call) {
    const millis = (values: (number | null)[]) => values.map((value) => (value === null ? null : value * 1000));
    found.push({
      id: "delay",
      title: `Delay of ${call.flow}`,
      unit: "ms",
      lines: [
        { label: "in the network", colour: colour(0), values: millis(call.delay_s) },
        { label: "until it is played", colour: colour(1), values: millis(call.played_s) },
      ],
    });
  }
  return found;
}

/** The slowest of the links that a group's packets cross; undefined for a network that is not drawn. */
export function narrowestLink(run: ObservedRun, group: string): NetworkLink | undefined {
  const path = run.network.groups.find(({ name }) => name === group)?.forward ?? [];
  const links = path.flatMap((index) => run.network.links?.[index] ?? []);
  return links.reduce<NetworkLink | undefined>(
    (best, one) => (best && best.rate_bps <= one.rate_bps ? best : one),
    undefined,
  );
}

/**
 * A media session's estimate and the rate of the narrowest link of its path, for the session with the narrowest path; and the
 * pictures of all sessions.
 */
function ofSessions(run: ObservedRun, bins: number): Panel[] {
  const sessions = run.session_series.filter(({ time_s }) => time_s.length);
  if (!sessions.length) return [];
  // A sample holds since the one before it.
  const line = (times: number[], values: number[]): (number | null)[] => {
    const found: (number | null)[] = new Array(bins).fill(null);
    let sample = 0;
    for (let bin = 0; bin < bins; bin++) {
      while (sample < times.length && (times[sample] as number) < (bin + 0.5) * run.bin_s) sample++;
      found[bin] = values[sample] ?? null;
    }
    return found;
  };
  const capacity = (group: string) => narrowestLink(run, group)?.rate_bps ?? Number.POSITIVE_INFINITY;
  const narrowest = sessions.reduce((best, one) => (capacity(one.group) < capacity(best.group) ? one : best));
  const name = narrowest.group;
  const lines: Line[] = [
    {
      label: "estimate",
      colour: colour(0),
      values: line(
        narrowest.time_s,
        narrowest.available_bps.map((bps) => bps / 1e6),
      ),
    },
    {
      label: "target",
      colour: colour(1),
      values: line(
        narrowest.time_s,
        narrowest.target_bps.map((bps) => bps / 1e6),
      ),
    },
  ];
  const received = run.group_series.find(({ group }) => group === name)?.throughput_bps;
  const single = run.network.groups.find((group) => group.name === name)?.flows === 1;
  if (received && single) {
    const values = smooth(received, Math.max(1, Math.round(1 / run.bin_s / 2))).map((bps) => bps / 1e6);
    lines.push({ label: "received", colour: colour(2), values });
  }
  const found: Panel[] = [
    { id: "estimate", title: `Estimate of ${name} and what its path carries`, unit: "Mb/s", lines },
  ];
  const link = narrowestLink(run, name);
  if (link) {
    const values = new Array(bins).fill(link.rate_bps / 1e6);
    lines.push({ label: `rate of ${link.name}`, colour: colour(5), values, isBound: true });
  }
  const pictures = sessions.flatMap(({ group, pictures }) =>
    pictures.map((of) => ({ ...of, label: pictures.length > 1 ? `${group}, ${of.stream}` : group })),
  );
  if (pictures.length) {
    const panel = (
      id: string,
      title: string,
      unit: string,
      of: (one: (typeof pictures)[number]) => number[],
    ): Panel => ({
      id,
      title,
      unit,
      lines: pictures.map((one, index) => ({
        label: one.label,
        colour: colour(index),
        values: line(one.time_s, of(one)),
      })),
    });
    found.push(
      panel("height", "Height of the pictures", "pixels", ({ height }) => height),
      panel("frozen", "Time in freezes, each second", "s", ({ frozen_s }) => frozen_s),
    );
  }
  return found;
}

/** A summary of a figure for screen readers. */
export function summary(panel: Panel): string {
  const each = panel.lines.map((line) => {
    const values = line.values.filter((value): value is number => value !== null && Number.isFinite(value));
    if (!values.length) return `${line.label}: no values`;
    const mean = values.reduce((total, value) => total + value, 0) / values.length;
    return `${line.label} mean ${Number(mean.toPrecision(3))}, maximum ${Number(Math.max(...values).toPrecision(3))}`;
  });
  return `${panel.title} (${panel.unit}) over time: ${each.join("; ")}`;
}

/** The 95 % interval per bin of a figure's first line, over replications. */
export function intervalOf(
  id: string,
  replications: readonly ObservedRun[],
): { low: (number | null)[]; high: (number | null)[] } | undefined {
  const rows = replications.flatMap((run) => {
    const line = panels(run).find((panel) => panel.id === id)?.lines[0];
    return line ? [line.values] : [];
  });
  const first = rows[0];
  if (!first || rows.length < 3) return undefined;
  const low: (number | null)[] = [];
  const high: (number | null)[] = [];
  for (let bin = 0; bin < first.length; bin++) {
    const values = rows.map((row) => row[bin]).filter((value): value is number => typeof value === "number");
    const found = interval(values);
    low.push(values.length < 3 ? null : Math.max(0, found.low));
    high.push(values.length < 3 ? null : found.high);
  }
  return { low, high };
}

/** A value in a legend, with three digits. */
const formatValue = (_: uPlot, value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : String(Number(value.toPrecision(3)));

interface Figure {
  figure: HTMLElement;
  plot: uPlot;
  shape: string;
}

export class Plots {
  private readonly drawn = new Map<string, Figure>();
  /** The end of the vertical axis of a figure; by default its values' end. */
  private tops = new Map<string, number | undefined>();
  /** Called with the time under the pointer. */
  onTime: (seconds: number | undefined) => void = () => {};
  private cursor: number | undefined;

  constructor(private readonly place: HTMLElement) {
    new ResizeObserver(() => this.resize()).observe(place);
  }

  private width(): number {
    return Math.max(240, (this.place.firstElementChild?.clientWidth ?? this.place.clientWidth) - 24);
  }

  private lastWidth = 0;

  private resize(): void {
    if (this.width() === this.lastWidth) return;
    this.lastWidth = this.width();
    for (const { plot } of this.drawn.values()) plot.setSize({ width: this.width(), height: 170 });
  }

  /** Removes all figures, so that the next `draw` uses the current colours. */
  clear(): void {
    made = new WeakMap();
    for (const { plot, figure } of this.drawn.values()) {
      plot.destroy();
      figure.remove();
    }
    this.drawn.clear();
  }

  /** Draws a vertical line at a time in every figure. */
  moveTo(seconds: number | undefined): void {
    this.cursor = seconds;
    for (const { plot } of this.drawn.values()) plot.redraw(false, false);
  }

  /** `other` is drawn dashed, with its word in the legend; `capacity` is a line of the throughput figure. */
  draw(
    run: ObservedRun,
    other: { run: ObservedRun; word: string } | undefined,
    replications: readonly ObservedRun[],
    capacity?: Line,
  ): void {
    const withCapacity = (panel: Panel): Panel => {
      if (!capacity) return panel;
      if (panel.id === "throughput") return { ...panel, lines: [...panel.lines, capacity] };
      // The rate of a trace replaces the nominal rate.
      return { ...panel, lines: panel.lines.map((line) => (line.label === capacity.label ? capacity : line)) };
    };
    const now = panels(run).map((panel) => readable(withCapacity(panel)));
    this.tops = new Map(now.map(({ id, top }) => [id, top]));
    const previous = other?.run;
    const before = previous ? panels(previous) : [];
    const x = times(run);
    for (const [id, { plot, figure }] of this.drawn) {
      if (now.some((panel) => panel.id === id)) continue;
      plot.destroy();
      figure.remove();
      this.drawn.delete(id);
    }
    for (const panel of now) {
      const old = before.find((one) => one.id === panel.id);
      // The bins of a run of another duration do not match.
      const previousLines = old && previous && Math.abs(previous.bin_s - run.bin_s) < 1e-9 ? old.lines : [];
      const band = panel.id === "queue" || panel.id === "delay" ? intervalOf(panel.id, replications) : undefined;
      const data = [
        x,
        ...panel.lines.map((line) => line.values),
        ...previousLines.map((line) => line.values),
        ...(band ? [band.high, band.low] : []),
      ] as uPlot.AlignedData;
      const shape = JSON.stringify([
        panel.title,
        panel.lines.map((line) => line.label),
        previousLines.map((line) => line.label),
        other?.word,
        !!band,
      ]);
      const known = this.drawn.get(panel.id);
      if (known?.shape === shape) {
        known.plot.setData(data);
        known.figure.querySelector(".canvas")?.setAttribute("aria-label", summary(panel));
        continue;
      }
      known?.plot.destroy();
      const figure = known?.figure ?? document.createElement("figure");
      figure.className = "plot";
      figure.dataset.panel = panel.id;
      const caption = document.createElement("figcaption");
      caption.textContent = `${panel.title} (${panel.unit})`;
      const canvas = document.createElement("div");
      canvas.className = "canvas";
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", summary(panel));
      figure.replaceChildren(caption, canvas);
      if (!known) this.insert(figure, now.indexOf(panel));
      const plot = new uPlot(this.options(panel, previousLines, other?.word ?? "", !!band), data, canvas);
      this.drawn.set(panel.id, { figure, plot, shape });
    }
  }

  private insert(figure: HTMLElement, at: number): void {
    this.place.insertBefore(figure, this.place.children[at] ?? null);
  }

  private options(panel: Panel, previousLines: Line[], word: string, band: boolean): uPlot.Options {
    const style = getComputedStyle(document.documentElement);
    const soft = style.getPropertyValue("--soft").trim();
    const rule = style.getPropertyValue("--rule").trim();
    const axis = {
      font: canvasFont(12),
      stroke: soft,
      grid: { stroke: rule, width: 0.5 },
      ticks: { stroke: rule, width: 0.5 },
    };
    const count = panel.lines.length;
    const series: uPlot.Series[] = [
      { label: "time", value: (_, value) => (value === null ? "–" : `${value.toFixed(1)} s`) },
      ...panel.lines.map(
        (line): uPlot.Series => ({
          label: line.label,
          stroke: line.colour,
          width: 1.6,
          points: { show: false },
          value: formatValue,
        }),
      ),
      ...previousLines.map(
        (line): uPlot.Series => ({
          label: `${line.label}, ${word}`,
          stroke: `${line.colour}80`,
          dash: [4, 4],
          width: 1,
          points: { show: false },
          value: formatValue,
        }),
      ),
    ];
    const bands: uPlot.Band[] = [];
    if (band) {
      const tint = `${panel.lines[0]?.colour ?? soft}26`;
      series.push(
        { label: "95 %, upper", stroke: "transparent", points: { show: false }, value: formatValue },
        { label: "95 %, lower", stroke: "transparent", points: { show: false }, value: formatValue },
      );
      bands.push({ series: [1 + count + previousLines.length, 2 + count + previousLines.length], fill: tint });
    }
    return {
      width: this.width(),
      height: 170,
      series,
      bands,
      scales: {
        x: { time: false },
        y: { range: (_, __, most) => [0, this.tops.get(panel.id) ?? Math.max(most * 1.05, 1e-3)] },
      },
      axes: [
        { ...axis, values: (_, ticks) => ticks.map((tick) => `${tick} s`) },
        { ...axis, size: 52 },
      ],
      cursor: { sync: { key: "time" }, drag: { x: true, y: false } },
      legend: { live: true },
      hooks: {
        setCursor: [(plot) => this.onTime(plot.cursor.idx == null ? undefined : plot.data[0][plot.cursor.idx])],
        draw: [
          (plot) => {
            if (this.cursor === undefined) return;
            const at = plot.valToPos(this.cursor, "x", true);
            const { left, top, width, height } = plot.bbox;
            if (at < left || at > left + width) return;
            plot.ctx.save();
            plot.ctx.strokeStyle = style.getPropertyValue("--link").trim();
            plot.ctx.lineWidth = 2;
            plot.ctx.beginPath();
            plot.ctx.moveTo(at, top);
            plot.ctx.lineTo(at, top + height);
            plot.ctx.stroke();
            plot.ctx.restore();
          },
        ],
      },
    };
  }
}
