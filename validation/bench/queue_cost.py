"""Cost of removing a victim per packet, by number of waiting packets. It shows that the cost does not grow.

Runs the queue benchmarks (``cargo bench -p fairwave-core --bench queue``) and reads its table.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

from validation import kept
from validation.bench import machine

KEPT = "bench/queue-cost"

COLUMNS = {
    "overflow_drop_sel": "Drop-Sel",
    "overflow_front": "Drop-Front",
    "overflow_random": "Drop-Random",
    "backlog_scan": "Drop-Sel by searching",
}
"""Benchmarks and their column titles."""

PER_CALL = {"backlog_scan": 10}
"""Number of packets per measured call. Default 1000."""

_UNITS = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9}
_NAME = re.compile(r"^[├╰]─ (\w+)")
_ROW = re.compile(r"^[│ ]  [├╰]─ (\d+)\s+(.*)$")
_TIME = re.compile(r"([\d.]+) (ns|µs|ms|s)\b")


def read(text: str) -> dict[str, dict[int, float]]:
    """Reads nanoseconds per packet (median) by benchmark and backlog from the benchmark's table."""
    found: dict[str, dict[int, float]] = {}
    name = ""
    for line in text.splitlines():
        if heading := _NAME.match(line):
            name = heading.group(1)
        elif (row := _ROW.match(line)) and name in COLUMNS:
            # Fastest, slowest, median, mean.
            times = _TIME.findall(row.group(2))
            if len(times) >= 3:
                value, unit = times[2]
                found.setdefault(name, {})[int(row.group(1))] = (
                    float(value) * _UNITS[unit] / PER_CALL.get(name, 1000)
                )
    return found


def measure() -> dict[str, Any]:
    """Runs the benchmarks."""
    command = [
        "cargo",
        "bench",
        "--locked",
        "-p",
        "fairwave-core",
        "--bench",
        "queue",
        "--",
        "overflow",
        "backlog",
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {
        "commit": machine.commit(),
        "machine": machine.describe(),
        "ns_per_packet": {
            name: {str(n): round(t, 1) for n, t in row.items()} for name, row in read(done.stdout).items()
        },
    }


def markdown(measured: dict[str, Any]) -> str:
    """The report in Markdown."""
    costs: dict[str, dict[str, float]] = measured["ns_per_packet"]
    backlogs = sorted({int(n) for row in costs.values() for n in row})
    names = [name for name in COLUMNS if name in costs]
    about = (
        "Nanoseconds per packet (median): a full queue takes an arrival, finds a victim and removes it. `make "
        "bench` makes "
        "this page (`python -m validation bench --only queue`)."
    )
    heads = " | ".join(COLUMNS[name] for name in names)
    lines = ["# What choosing a victim costs", "", about, "", f"| packets waiting | {heads} |"]
    lines.append("|---" * (len(names) + 1) + "|")
    for n in backlogs:
        cells = [f"{costs[name][str(n)]:.0f}" if str(n) in costs[name] else "–" for name in names]
        lines.append(f"| {n:,} | ".replace(",", " ") + " | ".join(cells) + " |")
    drop_sel = list(costs.get("overflow_drop_sel", {}).values())
    if drop_sel:
        said = (
            f"From {backlogs[0]} to {backlogs[-1]} packets Drop-Sel's cost varies by a factor of "
            f"{max(drop_sel) / min(drop_sel):.1f}, which is what the processor's caches make of more memory; by "
            f"searching it "
            "grows with the queue."
        )
        lines += ["", said]
    box = measured["machine"]
    lines += ["", f"Measured at {measured['commit']} on {box['processor']}, {box['cores']} cores, shared."]
    return "\n".join(lines) + "\n"


def render(_: Path) -> str:
    """Renders the page from the kept numbers."""
    return markdown(kept.read(KEPT))
