"""``make bench``: speed of fairwave, compared with ns-2 on the same experiment if ns-2 is installed.

Keeps the numbers in ``results/bench`` and prints a report. Exits with status 1 if a limit is exceeded. The page states
each limit and its reason. Timed limits compare two measurements of the same run of the benchmark.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from validation import kept, writing
from validation.bench import (
    cores,
    instructions,
    machine,
    others,
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
)
from validation.compare.ns2 import simulator as ns2

if TYPE_CHECKING:
    from collections.abc import Callable

#: Parts that need no separate program.
WITHOUT_PROGRAM = ("overhead", "starting", "radio", "queue")
PARTS = (*report.SECTIONS, "memory", "queue")


def main() -> int:
    """Runs the chosen parts, writes the report and returns the exit status."""
    parser = writing.parser(__doc__)
    parser.add_argument("--only", choices=PARTS, action="append", help="this part alone (may be repeated)")
    parser.add_argument("--runs", type=int, default=5, help="alternating runs per simulator (default 5)")
    parser.add_argument("--record-budget", action="store_true", help="make the instruction counts the budget")
    parser.add_argument("--page", action="store_true", help="measure nothing and print the report")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error(f"--runs is {options.runs}: write 1 or more")
    parts = () if options.page else options.only or PARTS
    if "queue" in parts:
        kept.write(queue_cost.KEPT, queue_cost.measure())
    program = "" if set(parts) <= set(WITHOUT_PROGRAM) else runner.build()
    if "speed" in parts and ns2.find() is None:
        print(ns2.ABSENT + "; fairwave's own figures follow")
    # A part that does not run keeps its previous numbers. Each part states its commit.
    results = kept.read(report.KEPT) if kept.exists(report.KEPT) else {}
    measures: dict[str, Callable[[], dict[str, Any]]] = {
        "speed": lambda: speed.measure(program, options.runs),
        "instructions": lambda: instructions.measure(program, record=options.record_budget),
        "rates": lambda: rates.measure(program, options.runs),
        "recovery": lambda: recovery.measure(program, options.runs),
        "scale": lambda: scale.measure(program),
        "others": lambda: others.measure(program),
        "memory": lambda: scale.measure_memory(program),
        "cores": lambda: cores.measure(program),
        "overhead": overhead.measure,
        "starting": starting.measure,
        "threads": lambda: threads.measure(program),
        "radio": lambda: radio.measure(options.runs),
    }
    for part, measure in measures.items():
        if part in parts:
            # Write after each part, so that a later failure loses nothing.
            results |= {part: measure(), "machine": machine.describe()}
            kept.write(report.KEPT, results)
    if set(parts) == {"queue"}:
        return 0
    print(report.markdown(results))
    exceeded = report.list_exceeded(results)
    for limit in exceeded:
        print(f"make bench: above a limit: {limit}", file=sys.stderr)
    return int(bool(exceeded))
