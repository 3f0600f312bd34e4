"""What windows of time would gain: a model of a dumbbell, measured, and what it says of more cores than two.

`windows.rs` runs the same traffic event by event and window by window, and compares every flow's state. From the shares
of its three parts follows what more threads could give: hosts are divided among threads, the router is one island,
and the hand-over between windows is done by one thread.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benches import machine

SOURCE = Path(__file__).with_name("windows.rs")
SIZES = {100: 4000, 1000: 1000, 10_000: 500, 100_000: 300}
"""Flows, and how many ms are simulated."""
BLOCKS = (1024, 8192)
"""Bytes of a flow, of which ten lines are touched."""
RUNS = 9
CORES = (2, 4, 16, 64)
SHARES = ("plain_ns", "windowed_ns", "hand_over_ns", "router_ns", "hosts_ns")


def measure() -> dict[str, Any]:
    """Per number of flows and size of a flow: ns per event, on one thread and on two, and its parts."""
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
    # The least, with its parts: whatever else the machine does only adds to it.
    best = min(found, key=lambda one: one["windowed_ns"])
    return {key: float(best[key]) for key in SHARES} | {"plain_ns": min(one["plain_ns"] for one in found)}


def gain(one: dict[str, float], cores: int) -> float:
    """How many times as fast `cores` threads are as one, at the most.

    The hand-over is done alone. Then the router is one thread's work, and the hosts' fills whatever time remains.
    """
    whole = one["hand_over_ns"] + one["router_ns"] + one["hosts_ns"]
    together = max(one["router_ns"], (one["router_ns"] + one["hosts_ns"]) / cores)
    return whole / (one["hand_over_ns"] + together)
