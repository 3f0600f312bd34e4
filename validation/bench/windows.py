"""Gain from windows of time: measurements with a model of a dumbbell, and a prediction for more than two cores.

`windows.rs` runs the same traffic event by event and window by window, and compares every flow's state. The shares
of its three parts determine the gain from more threads: hosts are divided among threads, the router is one island,
and one thread exchanges packets between windows.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from validation.bench import machine

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
