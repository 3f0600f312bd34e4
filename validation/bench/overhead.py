"""Overhead of a sweep: processor time per run of 10 000 short runs, minus the time of the runs alone.

The runs alone are the same jobs in the simulator, with results discarded. The overhead is reading, planning of
points, storage of all runs on disk, measures, intervals, and tables.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from validation.bench import machine

POINTS = 100
EACH = 100
SHORT = """
name = "short"
duration = "1 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms" }
[[flow]]
name = "voice"
transport = "udp"
traffic = "voice"
"""
KEY = "topology.bottleneck.rate"
#: Maximum overhead, ms per run.
MOST_MS = 0.3


def measure() -> dict[str, Any]:
    """Measures runs, processor time of a sweep and of its runs alone, and the overhead per run, ms."""
    import fairwave
    from fairwave import _native
    from fairwave.ask import sweep
    from fairwave.runs.keeping import Folder

    scenario = fairwave.load(SHORT)
    values = [f"{1000 + number} kb/s" for number in range(POINTS)]
    points = [scenario.with_overrides({KEY: value}).native for value in values]
    jobs = [(point, seed) for point in points for seed in range(1, EACH + 1)]
    begun = time.process_time()
    batch = _native.Batch(jobs)
    while batch.several() is not None:
        pass
    alone = time.process_time() - begun
    with TemporaryDirectory() as folder:
        begun, wall = time.process_time(), time.perf_counter()
        found = sweep(
            scenario, {KEY: values}, ["mos.voice:±0.001"], n=EACH, most=EACH, keep=Folder(Path(folder))
        )
        found.results.save(Path(folder) / "out")
        whole, wall = time.process_time() - begun, time.perf_counter() - wall
    runs = len(jobs)
    return {
        "commit": machine.commit(),
        "runs": runs,
        "runs_alone_s": round(alone, 2),
        "sweep_s": round(whole, 2),
        "sweep_wall_s": round(wall, 2),
        "beyond_ms": round((whole - alone) / runs * 1e3, 2),
    }


def list_exceeded(part: dict[str, Any]) -> Iterator[str]:
    """Yields each limit that the measurement exceeds."""
    if part["beyond_ms"] > MOST_MS:
        yield f"{part['beyond_ms']} ms per run of a sweep"


def describe(part: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of the report's section."""
    yield "## A sweep of short runs"
    yield ""
    yield (
        f"{part['runs']} runs of a call of 1 s at {POINTS} points, stored on disk as they end, measured and written as"
        f" tables: {part['sweep_s']} s of processor time ({part['sweep_wall_s']} s wall time). The runs alone take"
        f" {part['runs_alone_s']} s, so each run costs {part['beyond_ms']} ms beyond its simulation. The limit is"
        f" {MOST_MS} ms. Commit {part['commit']}."
    )
