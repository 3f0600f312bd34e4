"""How cost grows with flows: time per packet-hop and memory at 100 to a million flows.

Every flow has the same share of the bottleneck (1 Mb/s) and of its buffer (2.5 packets) whatever their
number, so that flows behave alike and only their number differs. Starts are spread over one second.
"""

from __future__ import annotations

import os
import statistics
from typing import Any

from benches import machine, runner

#: Without huge pages, which spare misses of the translation cache where the state takes hundreds of MiB.
SMALL_PAGES = ("env", "MIMALLOC_ALLOW_THP=0")
SIZES = (100, 1000, 10_000, 100_000, 1_000_000)
#: Simulated seconds: fewer for many flows, so that each run handles some ten million packet-hops or more.
SECONDS = {100: 60, 1000: 20, 10_000: 5, 100_000: 3, 1_000_000: 1}
#: Runs of each kind, of which the median counts: short ones more often.
RUNS = {100: 7, 1000: 5, 10_000: 3, 100_000: 2, 1_000_000: 1}
#: A size for which less memory than this per flow is free is left out.
LEAST_MEMORY = 9000
#: Limit of the time per packet-hop, as a multiple of that of 100 flows, by number of flows.
MOST_GROWTH = {100_000: 1.6, 1_000_000: 2.0}
#: Limits of a flow's memory (bytes) and set-up (µs), from MANY flows on: fewer do not outweigh a run's fixed costs.
MOST_BYTES = 4000
MOST_SETUP_US = 5.0
MANY = 10_000


def measure(program: str) -> dict[str, Any]:
    """Per number of flows: ns per packet-hop (set-up taken off), also without huge pages; set-up; memory."""
    rows: list[dict[str, float]] = []
    base = 0
    load = [os.getloadavg()[0]]
    for size in SIZES:
        if machine.free_memory() < LEAST_MEMORY * size:
            continue
        full, empty, full_small, empty_small = [], [], [], []
        for _ in range(RUNS[size]):
            full.append(runner.run(program, **values(size, SECONDS[size])))
            empty.append(runner.run(program, **values(size, 0)))
            full_small.append(runner.run(program, prefix=SMALL_PAGES, **values(size, SECONDS[size])))
            empty_small.append(runner.run(program, prefix=SMALL_PAGES, **values(size, 0)))
        peak = max(run.peak for run in full)
        base = base or peak
        rows.append(
            {
                "flows": size,
                "runs": RUNS[size],
                "packet_hops": full[0].packet_hops,
                "ns_per_packet_hop": _per_hop(full, empty),
                "ns_range": _range(full, empty),
                "ns_per_packet_hop_small_pages": _per_hop(full_small, empty_small),
                "setup_cpu_s": round(statistics.median(run.cost.cpu for run in empty), 3),
                "setup_kernel_s": round(statistics.median(run.cost.kernel for run in empty), 3),
                # Other programs only add to a time, so the limit holds for the least.
                "setup_least_s": round(min(run.cost.cpu for run in empty + empty_small), 3),
                "peak_mib": round(peak / 2**20, 1),
                "bytes_per_flow": round((peak - base) / (size - SIZES[0])) if size > SIZES[0] else 0,
            }
        )

        load.append(os.getloadavg()[0])

    def growth(key: str) -> list[float]:
        return [round(row[key] / rows[0][key], 2) for row in rows]

    above = exceeded(rows, growth("ns_per_packet_hop"))
    return {
        "commit": machine.commit(),
        "rows": rows,
        "load": [round(min(load), 1), round(max(load), 1)],
        "growth": growth("ns_per_packet_hop"),
        "growth_small_pages": growth("ns_per_packet_hop_small_pages"),
        "most_growth": {str(flows): times for flows, times in MOST_GROWTH.items()},
        "most_bytes": MOST_BYTES,
        "most_setup_us": MOST_SETUP_US,
        "many": MANY,
        "above": above,
        "exceeded": bool(above),
    }


def exceeded(rows: list[dict[str, float]], growth: list[float]) -> list[str]:
    """The limits that are exceeded, in words: time, memory and set-up, by number of flows."""
    above = []
    for row, times in zip(rows, growth, strict=True):
        flows = int(row["flows"])
        if times > MOST_GROWTH.get(flows, times):
            above.append(f"the time at {flows:,} flows, {times} times")
        if flows >= MANY and row["bytes_per_flow"] > MOST_BYTES:
            above.append(f"the memory at {flows:,} flows, {row['bytes_per_flow']:,} bytes")
        setup = row["setup_least_s"] / flows * 1e6
        if flows >= MANY and setup > MOST_SETUP_US:
            above.append(f"the set-up at {flows:,} flows, {setup:.1f} µs")
    return above


def measure_memory(program: str) -> dict[str, Any]:
    """The peak per number of flows, up to a hundred thousand: one run each, as it hardly differs from run to run."""
    rows: list[dict[str, float]] = []
    for size in SIZES[:-1]:
        peak = runner.run(program, **values(size, SECONDS[size])).peak
        base = rows[0]["peak"] if rows else peak
        per_flow = round((peak - base) / (size - SIZES[0])) if rows else 0
        rows.append({"flows": size, "peak": peak, "bytes_per_flow": per_flow})
    return {"commit": machine.commit(), "rows": rows}


def _per_hop(full: list[runner.Run], empty: list[runner.Run]) -> float:
    cpu = statistics.median(run.cost.cpu for run in full) - statistics.median(run.cost.cpu for run in empty)
    return round(cpu / full[0].packet_hops * 1e9, 1)


def _range(full: list[runner.Run], empty: list[runner.Run]) -> list[float]:
    """The least and the most of all runs, likewise."""
    set_up = statistics.median(run.cost.cpu for run in empty)
    each = [round((run.cost.cpu - set_up) / run.packet_hops * 1e9, 1) for run in full]
    return [min(each), max(each)]


def values(flows: int, seconds: float) -> dict[str, Any]:
    """The scenario of so many flows, each with the same share of the bottleneck and of its buffer."""
    return {
        "flows": flows,
        "rate": f"{flows} Mb/s",
        "access": "100 Mb/s",
        "transport": "tcp/reno",
        "discipline": "drop-tail",
        "queue": 5 * flows // 2,
        "interval": f"{1e9 / flows:.0f} ns",
        "duration": f"{seconds} s",
    }
