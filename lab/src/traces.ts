// Traces of a link's rate from files: Mahimahi, Pensieve, and CSV with a head, as `fairwave trace` reads them (docs/links.md).

/** A rate over time. */
export interface Trace {
  format: "mahimahi" | "pensieve" | "csv";
  /** The duration of each step, ns. */
  lengths: number[];
  /** The rate of each step, bit/s. */
  rates: number[];
  /** For Mahimahi: the number of opportunities of 1504 bytes in each millisecond. */
  opportunities?: number[];
}

/** A file without a valid trace. The message states place and remedy. */
export class TraceError extends Error {}

const OPPORTUNITY_BITS = 1504 * 8;
/** Numbers of opportunities in a millisecond as one character each. */
const MARKS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/** A longer file is refused: the trace becomes a part of the scenario and of the page's address. */
const MOST_BYTES = 2_000_000;
const MOST_RATE = 1e15;
const LONGEST_S = 1e9;

const TIMES: Record<string, number> = { s: 1, sec: 1, seconds: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9, min: 60 };
const RATES: Record<string, number> = {
  ...{ bps: 1, "b/s": 1, "bit/s": 1, kbps: 1e3, "kb/s": 1e3, "kbit/s": 1e3 },
  ...{ mbps: 1e6, "mb/s": 1e6, "mbit/s": 1e6, gbps: 1e9, "gb/s": 1e9, "gbit/s": 1e9 },
};
const COLUMNS: Record<string, ["time" | "duration" | "rate", Record<string, number>]> = {
  ...{ time: ["time", TIMES], timestamp: ["time", TIMES], t: ["time", TIMES], duration: ["duration", TIMES] },
  ...{ rate: ["rate", RATES], bandwidth: ["rate", RATES], capacity: ["rate", RATES], throughput: ["rate", RATES] },
};

interface Line {
  at: number;
  text: string;
}

function linesOf(text: string): Line[] {
  return text.split(/\r\n|\r|\n/).map((line, index) => ({ at: index + 1, text: line }));
}

const isBlank = ({ text }: Line): boolean => !text.trim();
const isComment = ({ text }: Line): boolean => text.trimStart().startsWith("#");

/** Reads a trace; `name` is the file's name in messages. */
export function parseTrace(text: string, name: string): Trace {
  if (text.length > MOST_BYTES) {
    throw new TraceError(
      `${name} has ${(text.length / 1e6).toFixed(1)} MB; a trace in the page has at most 2 MB. Run it outside: fairwave run`,
    );
  }
  const lines = linesOf(text.replace(/^\uFEFF/, ""));
  const first = lines.find((line) => !isBlank(line) && !isComment(line));
  if (!first && !headOf(lines)) throw new TraceError(`${name} is empty: write a Mahimahi trace or a CSV file`);
  const words = (first?.text ?? "").trim().split(/\s+/);
  const isNumeric = words.every((word) => word !== "" && Number.isFinite(Number(word)));
  const head = headOf(lines);
  if (head) return parseCsv(lines, head, name);
  if (isNumeric && words.length === 1) return parseMahimahi(lines, name);
  if (isNumeric && words.length === 2) return parsePensieve(lines, name);
  throw new TraceError(
    `${name}, line ${first?.at ?? 1}: "${(first?.text ?? "").slice(0, 40)}" begins no trace that the page reads: write a Mahimahi trace (a time in ms per line), two columns of s and Mb/s, or CSV with a head such as time_s,rate_mbps`,
  );
}

function made(name: string, trace: Trace): Trace {
  if (!trace.rates.some((rate) => rate > 0)) {
    throw new TraceError(`${name} lets nothing through: write at least one rate above 0`);
  }
  return trace;
}

function parseMahimahi(lines: readonly Line[], name: string): Trace {
  let before = 0;
  const times: number[] = [];
  for (const line of lines) {
    if (isBlank(line) || isComment(line)) continue;
    const word = line.text.trim();
    if (!/^\d+$/.test(word)) {
      throw new TraceError(
        `${name}, line ${line.at}: "${word.slice(0, 40)}" is no time: write whole milliseconds from 0 up`,
      );
    }
    const time = Number(word);
    if (time < before) {
      throw new TraceError(
        `${name}, line ${line.at}: ${time} ms comes after ${before} ms: write times in ascending order`,
      );
    }
    // A page holds a trace of up to some hours, one number for each millisecond.
    if (time > 2e7) throw new TraceError(`${name}, line ${line.at}: ${time} ms is too late: write up to 20000000`);
    times.push(time);
    before = time;
  }
  const last = before;
  if (last === 0) {
    throw new TraceError(`${name} lasts no time, because its last line is 0: write times in ms, the last above 0`);
  }
  const opportunities = new Array<number>(last).fill(0);
  // An opportunity at t ms belongs to the millisecond before it; one at 0 belongs to the first.
  for (const time of times) opportunities[Math.max(time, 1) - 1] = (opportunities[Math.max(time, 1) - 1] ?? 0) + 1;
  const [lengths, rates]: [number[], number[]] = [[], []];
  for (const [index, count] of opportunities.entries()) {
    if (index > 0 && opportunities[index - 1] === count) lengths[lengths.length - 1] = (lengths.at(-1) ?? 0) + 1e6;
    else {
      lengths.push(1e6);
      rates.push(count * OPPORTUNITY_BITS * 1000);
    }
  }
  return made(name, { format: "mahimahi", lengths, rates, opportunities });
}

function numberOf(name: string, at: number, cell: string, title: string, most: number): number {
  const value = cell.trim() === "" ? Number.NaN : Number(cell);
  if (!Number.isFinite(value) || value < 0 || value > most) {
    throw new TraceError(
      `${name}, line ${at}: "${cell.trim().slice(0, 40)}" is no number of ${title}: write a number from 0 up`,
    );
  }
  return value;
}

/** Two columns: seconds, and the rate in Mb/s that has held since the row before. */
function parsePensieve(lines: readonly Line[], name: string): Trace {
  const rows = lines.filter((line) => !isBlank(line) && !isComment(line));
  const cells = rows.map(({ at, text }) => {
    const words = text.trim().split(/\s+/);
    return {
      at,
      time: numberOf(name, at, words[0] ?? "", "s", LONGEST_S),
      rate: numberOf(name, at, words[1] ?? "", "Mb/s", 1e9),
    };
  });
  if (cells.length < 2) throw new TraceError(`${name} has one row: write at least two`);
  const lengths = stepsOf(
    name,
    cells.map(({ at, time }) => ({ at, time })),
  );
  return made(name, { format: "pensieve", lengths, rates: cells.slice(1).map(({ rate }) => Math.round(rate * 1e6)) });
}

/** The times between rows, ns. Each row must be later than the row before it. */
function stepsOf(name: string, rows: readonly { at: number; time: number }[]): number[] {
  const first = rows[0]?.time ?? 0;
  const times = rows.map(({ time }) => Math.round((time - first) * 1e9));
  return times.slice(1).map((time, index) => {
    const step = time - (times[index] as number);
    if (step <= 0) {
      const [row, before] = [rows[index + 1], rows[index]];
      throw new TraceError(
        `${name}, line ${row?.at}: ${row?.time} s comes after ${before?.time} s: write times in ascending order, each once`,
      );
    }
    return step;
  });
}

interface Head {
  at: number;
  separator: string;
  names: string[];
}

function cellsOf(text: string, separator: string): string[] {
  if (separator === " ") return text.trim().split(/\s+/);
  return text.split(separator).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
}

function meaningOf(
  name: string,
): { what: "time" | "duration" | "rate"; unit: string; worth: number | undefined } | undefined {
  const found = /^\s*([a-z]+)\s*(?:[_\s]*[([]\s*([^)\]]*)\s*[)\]]|_(.+))?\s*$/.exec(name.toLowerCase());
  const column = found && COLUMNS[found[1] as string];
  if (!found || !column) return undefined;
  const unit = (found[2] ?? found[3] ?? "").trim();
  return { what: column[0], unit, worth: column[1][unit] };
}

/** The line that names columns: the first line that is no comment, or a comment in the first line. */
function headOf(lines: readonly Line[]): Head | undefined {
  const rest = lines.filter((line) => !isBlank(line));
  for (const line of rest) {
    const isHeadInComment = isComment(line) && line === rest[0];
    const text = isHeadInComment ? line.text.trimStart().replace(/^#+\s*/, "") : line.text;
    if (text.trimStart().startsWith("#")) continue;
    const separator = [",", ";", "\t"].find((one) => text.includes(one)) ?? " ";
    const names = cellsOf(text, separator);
    if (names.some((name) => meaningOf(name)?.what === "rate")) return { at: line.at, separator, names };
    if (!isComment(line)) return undefined;
  }
  return undefined;
}

function parseCsv(lines: readonly Line[], { at, separator, names }: Head, name: string): Trace {
  const columns = new Map<string, { place: number; worth: number; title: string }>();
  for (const [place, title] of names.entries()) {
    const meaning = meaningOf(title);
    if (!meaning) continue;
    const { what, unit, worth } = meaning;
    if (worth === undefined) {
      const units = Object.keys(what === "rate" ? RATES : TIMES).join(", ");
      const found = unit ? `the unit "${unit}"` : "no unit";
      throw new TraceError(`${name}, line ${at}: column "${title}" has ${found}: write one of ${units}`);
    }
    if (columns.has(what)) throw new TraceError(`${name}, line ${at}: two columns of ${what}: leave one`);
    columns.set(what, { place, worth, title });
  }
  const [time, duration, rate] = [columns.get("time"), columns.get("duration"), columns.get("rate")];
  if (!rate || (time === undefined) === (duration === undefined)) {
    const many = time ? "both a time and a duration" : "neither a time nor a duration";
    throw new TraceError(`${name}, line ${at}: ${many}: write one of them, for example time_s,rate_mbps`);
  }
  const rows = lines.filter((line) => line.at > at && !isBlank(line) && !isComment(line));
  if (!rows.length) throw new TraceError(`${name} has no rows: write at least one below its head`);
  const column = ({ place, worth, title }: { place: number; worth: number; title: string }, most: number) =>
    rows.map((row) => numberOf(name, row.at, cellsOf(row.text, separator)[place] ?? "", title, most / worth) * worth);
  const rates = column(rate, MOST_RATE).map(Math.round);
  let lengths: number[];
  if (duration) {
    lengths = column(duration, LONGEST_S).map((seconds) => Math.round(seconds * 1e9));
    const wrong = lengths.indexOf(0);
    if (wrong >= 0) throw new TraceError(`${name}, line ${rows[wrong]?.at}: a duration of 0: write a time above 0`);
  } else {
    const times = column(time as NonNullable<typeof time>, LONGEST_S * 1e3);
    if (times.length < 2)
      throw new TraceError(`${name} has one row: write at least two, or a duration instead of a time`);
    lengths = stepsOf(
      name,
      rows.map((row, index) => ({ at: row.at, time: times[index] as number })),
    );
    // The last row holds as long as the one before it.
    lengths.push(lengths.at(-1) as number);
  }
  return made(name, { format: "csv", lengths, rates });
}

/** A whole number over a power of ten, without needless zeros. */
function decimal(value: number, places: number): string {
  const digits = String(Math.round(value)).padStart(places + 1, "0");
  const [whole, rest] = [digits.slice(0, -places), digits.slice(-places).replace(/0+$/, "")];
  return rest ? `${whole}.${rest}` : whole;
}

/** The trace as the rate law `trace`. The trace begins again when it ends. */
export function toLaw({ lengths, rates, opportunities }: Trace): { [key: string]: string } {
  const law = { law: "trace", after: "repeat" };
  if (opportunities?.every((count) => count < MARKS.length)) {
    return { ...law, opportunities: opportunities.map((count) => MARKS[count]).join("") };
  }
  return {
    ...law,
    series: lengths.map((length, at) => `${decimal(length, 6)} ${decimal(rates[at] as number, 3)}`).join(","),
  };
}

/** The trace of a rate law `trace`; undefined for another law, and for one that names a file. */
export function fromLaw(law: unknown): Trace | undefined {
  if (law === null || typeof law !== "object") return undefined;
  const { series, opportunities } = law as Record<string, unknown>;
  if (typeof opportunities === "string") {
    const counts = [...opportunities].map((mark) => Math.max(0, MARKS.indexOf(mark)));
    const rates = counts.map((count) => count * OPPORTUNITY_BITS * 1000);
    return { format: "mahimahi", lengths: counts.map(() => 1e6), rates, opportunities: counts };
  }
  if (typeof series === "string") {
    const steps = series.split(",").map((step) => step.trim().split(/\s+/).map(Number));
    return {
      format: "csv",
      lengths: steps.map(([ms = 0]) => ms * 1e6),
      rates: steps.map(([, kbps = 0]) => kbps * 1e3),
    };
  }
  return undefined;
}

export interface TraceSummary {
  duration_s: number;
  mean_bps: number;
  least_bps: number;
  most_bps: number;
}

/** Mean rates over `bins` equal parts of the first `duration_s` seconds; a trace that is shorter begins again. */
export function meanRates({ lengths, rates }: Trace, bins: number, duration_s: number): number[] {
  const ends: number[] = [0];
  const sent: number[] = [0];
  for (const [at, length] of lengths.entries()) {
    ends.push((ends.at(-1) as number) + length / 1e9);
    sent.push((sent.at(-1) as number) + (length / 1e9) * (rates[at] as number));
  }
  const [period, all] = [ends.at(-1) as number, sent.at(-1) as number];
  const by = (time: number): number => {
    const rounds = Math.floor(time / period + 1e-12);
    const rest = Math.max(0, time - rounds * period);
    let [low, high] = [0, lengths.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((ends[middle] as number) <= rest) low = middle;
      else high = middle;
    }
    return rounds * all + (sent[low] as number) + (rest - (ends[low] as number)) * (rates[low] as number);
  };
  const width = duration_s / bins;
  return Array.from({ length: bins }, (_, bin) => (by((bin + 1) * width) - by(bin * width)) / width);
}

export function summarize(trace: Trace): TraceSummary {
  const duration_s = trace.lengths.reduce((sum, length) => sum + length, 0) / 1e9;
  const bins = meanRates(trace, Math.max(1, Math.min(2000, Math.floor(duration_s * 10))), duration_s);
  const bits = trace.lengths.reduce((sum, length, at) => sum + (length / 1e9) * (trace.rates[at] as number), 0);
  return { duration_s, mean_bps: bits / duration_s, least_bps: Math.min(...bins), most_bps: Math.max(...bins) };
}
