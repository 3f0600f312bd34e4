"""Gain from windows of time: measurements with a model of a dumbbell, and a prediction for more than two cores.

`windows.rs` runs the same traffic event by event and window by window, and compares every flow's state. The shares
of its three parts determine the gain from more threads: hosts are divided among threads, the router is one island,
and one thread exchanges packets between windows.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from validation.bench import machine
from validation.writing import table

SOURCE = Path(__file__).with_name("windows.rs")
SIZES = {100: 4000, 1000: 1000, 10_000: 500, 100_000: 300}
"""Number of flows, and simulated time in ms."""
BLOCKS = (1024, 8192)
"""Bytes of a flow's state. An event touches ten cache lines of it."""
RUNS = 9
CORES = (2, 4, 16, 64)
SHARES = ("plain_ns", "windowed_ns", "hand_over_ns", "router_ns", "hosts_ns")


def measure() -> dict[str, Any]:
    """Measures, per number of flows and size of a flow: ns per event on one and two threads, and the parts."""
    rows = []
    with TemporaryDirectory() as folder:
        program = Path(folder) / "windows"
        subprocess.run(["rustc", "--edition", "2024", "-O", "-o", program, SOURCE], check=True)
        for block in BLOCKS:
            for flows, ms in SIZES.items():
                one, two = (_least(program, flows, block, threads, ms) for threads in (1, 2))
                rows.append(
                    {"flows": flows, "block": block}
                    | {key: round(one[key], 1) for key in SHARES}
                    | {"two_threads_ns": round(two["windowed_ns"], 1)}
                    | {f"gain_{cores}": round(gain(one, cores), 2) for cores in CORES}
                )
    return {"commit": machine.commit(), "rows": rows}


def _least(program: Path, flows: int, block: int, threads: int, ms: int) -> dict[str, float]:
    words = [str(one) for one in (program, flows, block, threads, ms)]
    found = [
        json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        for _ in range(RUNS)
    ]
    if not all(one["same"] for one in found):
        raise RuntimeError(f"windows change the outcome: {' '.join(words)}")
    # The minimum, with its parts: other load on the machine only adds time.
    best = min(found, key=lambda one: one["windowed_ns"])
    return {key: float(best[key]) for key in SHARES} | {"plain_ns": min(one["plain_ns"] for one in found)}


def gain(one: dict[str, float], cores: int) -> float:
    """Maximum gain of `cores` threads over one.

    The exchange runs alone. Then one thread processes the router, and the hosts' work fills the remaining time.
    """
    whole = one["hand_over_ns"] + one["router_ns"] + one["hosts_ns"]
    together = max(one["router_ns"], (one["router_ns"] + one["hosts_ns"]) / cores)
    return whole / (one["hand_over_ns"] + together)


def describe(part: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of the report's section."""
    yield "## Possible gain from windows of time"
    yield ""
    yield (
        "A model, not the simulator: `validation/bench/windows.rs` runs a dumbbell of simple flows event by event in"
        " order of time, and window by window of 5 ms (conservative lookahead). Within a window the hosts' events are"
        " processed flow by flow, in the order of memory. The router's events follow after a merge into the one order"
        f" of events. Both ways produce the same bytes. Times are wall time per event in ns, the minimum of {RUNS} runs"
        " on a shared machine. The bounds follow from the parts on one thread: the hand-over runs alone, the router is"
        " one island, the hosts are divided among all threads."
    )
    yield ""
    gains = [key for key in part["rows"][0] if key.startswith("gain_")]
    head = (
        "flows",
        "bytes a flow",
        "by time",
        "by windows",
        "hand-over",
        "router",
        "hosts",
        "2 threads, measured",
    )
    yield from table(
        (*head, *(f"{key.removeprefix('gain_')} threads, bound" for key in gains)),
        (
            (
                *(f"{row[key]:,}" for key in ("flows", "block")),
                *(str(row[key]) for key in (*SHARES, "two_threads_ns")),
                *(f"{row[key]}×" for key in gains),
            )
            for row in part["rows"]
        ),
    )
    yield ""
    yield (
        "Order in memory also helps one thread. The router limits the gain from threads: every packet of a dumbbell"
        " passes its queue, so more than about four threads help only in networks with several routers. The simulator"
        f" has larger flows and other parts; the section above measures it. Commit {part['commit']}."
    )
