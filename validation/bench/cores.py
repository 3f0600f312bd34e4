"""Use of the cores by replications: wall time of the same replications on one thread and on all.

Efficiency = time on one thread / (threads × time on all threads). Other load on the machine lowers it, so the best
of several attempts counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from validation.bench import machine, runner

ATTEMPTS = 5


def measure(program: str) -> dict[str, Any]:
    """Measures replications, threads, wall times and the efficiency."""
    threads = len(os.sched_getaffinity(0))
    replications = 8 * threads
    values = runner.contested(100, 30)

    def wall(count: int) -> float:
        arguments = ("--replications", str(replications), "--threads", str(count))
        return runner.run(program, *arguments, **values).wall

    # The two measurements alternate, so that load on the machine affects both.
    attempts = [(wall(1), wall(threads)) for _ in range(ATTEMPTS)]
    one, all_threads = (min(walls) for walls in zip(*attempts, strict=True))
    return {
        "commit": machine.commit(),
        "replications": replications,
        "threads": threads,
        "one_thread_s": round(one, 3),
        "all_threads_s": round(all_threads, 3),
        "efficiency": round(one / (threads * all_threads), 3),
    }


def describe(part: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of the report's section."""
    yield "## Replications"
    yield ""
    yield (
        f"{part['replications']} replications of the dumbbell of 100 flows, 30 s: {part['one_thread_s']} s on one"
        f" thread, {part['all_threads_s']} s on {part['threads']}: efficiency {part['efficiency']:.0%}. Commit"
        f" {part['commit']}."
    )
