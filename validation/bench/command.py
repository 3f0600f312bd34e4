"""``make bench``: speed of fairwave, compared with ns-2 on the same experiment if ns-2 is installed.

Writes ``docs/performance.json`` (numbers), ``docs/performance.md`` (a report of these numbers) and
``docs/queue-cost.md`` (cost of removing a victim). Exits with status 1 if a limit is exceeded:
- instructions per packet-hop, compared with the recorded budget;
- cost of CUBIC, FQ-CoDel, a trace or a recovery, compared with a simpler law;
- gain from two threads, and cost of many flows;
- overhead of a sweep, start of a command, and time per frame on a shared medium.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validation.bench import (
    cores,
    instructions,
    machine,
    overhead,
    queue_cost,
    radio,
    rates,
    recovery,
    report,
    runner,
    scale,
    speed,
    starting,
    threads,
    windows,
)
from validation.compare.ns2 import simulator as ns2

if TYPE_CHECKING:
    from collections.abc import Callable

PARTS = (
    "speed",
    "instructions",
    "rates",
    "recovery",
    "scale",
    "memory",
    "cores",
    "threads",
    "overhead",
    "starting",
    "windows",
    "radio",
    "queue",
)

#: Parts that need no separate program.
WITHOUT_PROGRAM = ("overhead", "starting", "windows", "radio", "queue")
#: Parts that have a limit.
LIMITED = ("instructions", "rates", "recovery", "scale", "overhead", "starting", "radio", "threads")


def main() -> int:
    """Runs the chosen parts, writes the report and returns the exit status."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", choices=PARTS, action="append", help="this part alone (may be repeated)")
    parser.add_argument("--runs", type=int, default=5, help="alternating runs per simulator (default 5)")
    parser.add_argument("--out", type=Path, default=Path("docs"), help="where the report goes (default docs)")
    parser.add_argument(
        "--record-budget", action="store_true", help="make today's instruction counts the budget"
    )
    options = parser.parse_args()
    if options.runs < 1:
        parser.error(f"--runs is {options.runs}: write 1 or more")
    parts = options.only or PARTS

    if "queue" in parts:
        queue_cost.write(options.out)
        if set(parts) == {"queue"}:
            return 0
    program = "" if set(parts) <= set(WITHOUT_PROGRAM) else runner.build()
    if ns2.find() is None and "speed" in parts:
        print(ns2.ABSENT + "; fairwave's own figures follow")
    target = options.out / "performance.json"
    # A part that is not run keeps its previous numbers. Each part states its commit.
    results = json.loads(target.read_text()) if target.exists() else {}
    measures: dict[str, Callable[[], dict[str, Any]]] = {
        "speed": lambda: speed.measure(program, options.runs),
        "instructions": lambda: {"instructions": instructions.measure(program, record=options.record_budget)},
        "rates": lambda: {"rates": rates.measure(program, options.runs)},
        "recovery": lambda: {"recovery": recovery.measure(program, options.runs)},
        "scale": lambda: {"scale": scale.measure(program)},
        "memory": lambda: {"memory": scale.measure_memory(program)},
        "cores": lambda: {"cores": cores.measure(program)},
        "threads": lambda: {"threads": threads.measure(program)},
        "overhead": lambda: {"overhead": overhead.measure()},
        "starting": lambda: {"starting": starting.measure()},
        "windows": lambda: {"windows": windows.measure()},
        "radio": lambda: {"radio": radio.measure(options.runs)},
    }
    options.out.mkdir(parents=True, exist_ok=True)
    for part, measure in measures.items():
        if part in parts:
            # Write after each part, so that a later failure loses nothing.
            results |= measure() | {"machine": machine.describe()}
            target.write_text(json.dumps(results, indent=1) + "\n")
    text = report.markdown(results)
    (options.out / "performance.md").write_text(text)
    print(text)
    above = [part for part in LIMITED if results.get(part, {}).get("exceeded", False)]
    if above:
        print(f"make bench: above a limit: {', '.join(above)}", file=sys.stderr)
    return int(bool(above))
