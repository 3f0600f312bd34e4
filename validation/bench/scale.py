"""Growth of cost with the number of flows: time per packet-hop and memory at 100 to a million flows.

Every flow has the same share of the bottleneck (1 Mb/s) and of its buffer (2.5 packets). Therefore flows behave
alike, and only their number differs. Starts are spread over one second.
"""

from __future__ import annotations

import os
import statistics
from typing import Any

from validation.bench import machine, runner

#: Environment without huge pages. Huge pages reduce TLB misses if the state takes hundreds of MiB.
SMALL_PAGES = ("env", "MIMALLOC_ALLOW_THP=0")
SIZES = (100, 1000, 10_000, 100_000, 1_000_000)
#: Simulated seconds: fewer for many flows, so that each run handles at least some ten million packet-hops.
SECONDS = {100: 60, 1000: 20, 10_000: 5, 100_000: 3, 1_000_000: 1}
#: Number of runs of each kind. The median counts. Short runs are repeated more often.
RUNS = {100: 7, 1000: 5, 10_000: 3, 100_000: 2, 1_000_000: 1}
#: Required free memory per flow, bytes. Sizes that need more than the free memory are skipped.
LEAST_MEMORY = 9000
#: Maximum time per packet-hop by number of flows, relative to 100 flows.
MOST_GROWTH = {100_000: 1.6, 1_000_000: 2.0}
#: Maximum memory (bytes) and set-up time (µs) per flow, from MANY flows on. With fewer flows, a run's fixed costs
#: dominate.
MOST_BYTES = 4000
MOST_SETUP_US = 5.0
MANY = 10_000


def measure(program: str) -> dict[str, Any]:
    """Measures, per number of flows, ns per packet-hop (also without huge pages), set-up and memory."""
    rows: list[dict[str, Any]] = []
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
                # The limit applies to the minimum, because other programs only add time.
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


def exceeded(rows: list[dict[str, Any]], growth: list[float]) -> list[str]:
    """Describes the exceeded limits of time, memory and set-up, by number of flows."""
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
    """Measures peak memory up to 100,000 flows. One run each suffices, because the peak barely varies."""
    rows: list[dict[str, Any]] = []
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
    """The minimum and the maximum over all runs, minus the set-up."""
    set_up = statistics.median(run.cost.cpu for run in empty)
    each = [round((run.cost.cpu - set_up) / run.packet_hops * 1e9, 1) for run in full]
    return [min(each), max(each)]


def values(flows: int, seconds: float) -> dict[str, Any]:
    """Values of the scenario with ``flows`` flows, each with the same share of the bottleneck and of its buffer."""
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
