// Results as CSV: a table of rows, and time series.

import type { ObservedRun, Row } from "./protocol";

function cell(value: number | string | boolean | null | undefined): string {
  if (value === null || value === undefined) return "";
  const text = String(value);
  // Spreadsheets would calculate a text that begins like a formula.
  const safe = typeof value === "string" && /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function table(rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => columns.map((column) => cell(row[column])).join(","));
  return `${[columns.map(cell).join(","), ...lines].join("\n")}\n`;
}

/** One row per bin: throughput, losses, queue length by class, delay of calls. */
export function overTime(run: ObservedRun): string {
  const bins = run.group_series[0]?.throughput_bps.length ?? 0;
  const classes = ["voice", "other-udp", "tcp"];
  const rows = Array.from({ length: bins }, (_, bin) => {
    const row: Row = { seed: run.seed, digest: run.digest, time_s: Number(((bin + 1) * run.bin_s).toFixed(6)) };
    for (const group of run.group_series) {
      row[`throughput_bps ${group.group}`] = group.throughput_bps[bin] ?? null;
      row[`lost_packets ${group.group}`] = group.missing[bin] ?? null;
    }
    for (const link of run.link_series) {
      for (const [index, name] of classes.entries()) {
        row[`queue_packets ${link.link} ${name}`] = link.waiting[index]?.[bin] ?? null;
      }
    }
    for (const call of run.calls) {
      row[`delay_s ${call.flow}`] = call.delay_s[bin] ?? null;
      row[`played_after_s ${call.flow}`] = call.played_s[bin] ?? null;
    }
    return row;
  });
  return table(rows);
}
