// Results as CSV: one file over time, one of flows, one of links.

import type { Row, Seen } from "./protocol";

function cell(value: number | string | boolean | null | undefined): string {
  if (value === null || value === undefined) return "";
  const text = String(value);
  // A text that begins like a formula is a text: spreadsheets would reckon it.
  const safe = typeof value === "string" && /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function table(rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => columns.map((column) => cell(row[column])).join(","));
  return `${[columns.map(cell).join(","), ...lines].join("\n")}\n`;
}

/** One row per bin: throughputs, queue by class, losses, delays of calls. */
export function overTime(seen: Seen): string {
  const bins = seen.groups_seen[0]?.throughput_bps.length ?? 0;
  const classes = ["voice", "other-udp", "tcp"];
  const rows = Array.from({ length: bins }, (_, bin) => {
    const row: Row = { seed: seen.seed, digest: seen.digest, time_s: Number(((bin + 1) * seen.bin_s).toFixed(6)) };
    for (const group of seen.groups_seen) {
      row[`throughput_bps ${group.group}`] = group.throughput_bps[bin] ?? null;
      row[`lost_packets ${group.group}`] = group.missing[bin] ?? null;
    }
    for (const link of seen.links_seen) {
      for (const [index, name] of classes.entries()) {
        row[`queue_packets ${link.link} ${name}`] = link.waiting[index]?.[bin] ?? null;
      }
    }
    for (const call of seen.calls) {
      row[`delay_s ${call.flow}`] = call.delay_s[bin] ?? null;
      row[`played_after_s ${call.flow}`] = call.played_s[bin] ?? null;
    }
    return row;
  });
  return table(rows);
}
