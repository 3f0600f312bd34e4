"""Growth of cost with the number of flows: time per packet-hop and memory at 100 to a million flows.

Every flow has the same share of the bottleneck (1 Mb/s) and of its buffer (2.5 packets). Therefore flows behave
alike, and only their number differs. Starts are spread over one second.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator
from typing import Any

from validation.bench import machine, runner
from validation.writing import table

#: Environment without huge pages. Huge pages reduce TLB misses if the state takes hundreds of MiB.
SMALL_PAGES = ("env", "MIMALLOC_ALLOW_THP=0")
SIZES = (100, 1000, 10_000, 100_000, 1_000_000)
#: Simulated seconds: fewer for many flows, so that each run handles at least some ten million packet-hops.
SECONDS = {100: 60, 1000: 20, 10_000: 5, 100_000: 3, 1_000_000: 1}
#: Number of runs of each kind. The median counts. Short runs are repeated more often.
RUNS = {100: 7, 1000: 5, 10_000: 3, 100_000: 2, 1_000_000: 1}
#: Required free memory per flow, bytes. Sizes that need more than the free memory are skipped.
LEAST_MEMORY = 9000
#: Maximum memory per flow (bytes), and maximum CPU time of its set-up relative to a packet-hop of the same run, from
#: MANY flows on. With fewer flows, a run's fixed costs dominate. The kernel's time is not part of the set-up: it clears
#: new memory, and its speed depends on the host of the virtual machine.
MOST_BYTES = 4000
MOST_SETUP_HOPS = 75
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
                "ns_per_packet_hop": time_per_hop(full, empty),
                "ns_range": find_range(full, empty),
                "ns_per_packet_hop_small_pages": time_per_hop(full_small, empty_small),
                "setup_cpu_s": round(statistics.median(run.cost.cpu for run in empty), 3),
                "setup_kernel_s": round(statistics.median(run.cost.kernel for run in empty), 3),
                # The limit applies to the minimum, because other programs only add time.
                "setup_user_s": round(min(run.cost.cpu - run.cost.kernel for run in empty + empty_small), 4),
                "peak_mib": round(peak / 2**20, 1),
                "bytes_per_flow": round((peak - base) / (size - SIZES[0])) if size > SIZES[0] else 0,
            }
        )

        load.append(os.getloadavg()[0])

    return {"commit": machine.commit(), "rows": rows, "load": [round(min(load), 1), round(max(load), 1)]}


def list_exceeded(part: dict[str, Any]) -> Iterator[str]:
    """Yields each limit that the measurement exceeds."""
    for row in part["rows"]:
        flows = int(row["flows"])
        if flows < MANY:
            continue
        if row["bytes_per_flow"] > MOST_BYTES:
            yield f"{row['bytes_per_flow']:,} bytes per flow at {flows:,} flows"
        if (hops := count_setup_hops(row)) > MOST_SETUP_HOPS:
            yield f"a set-up of {hops:.0f} packet-hops per flow at {flows:,} flows"


def count_setup_hops(row: dict[str, Any]) -> float:
    """CPU time of a flow's set-up without the kernel's, in packet-hops of the same size."""
    return float(row["setup_user_s"] / row["flows"] * 1e9 / row["ns_per_packet_hop"])


def describe(part: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of the report's section."""
    yield "## Many flows"
    yield ""
    yield (
        "Each flow has 1 Mb/s of the bottleneck and 2.5 packets of its buffer, whatever their number. Time is CPU time"
        " without the set-up, median and, in brackets, range of the runs. *Without huge pages* means"
        " `MIMALLOC_ALLOW_THP=0`. Bytes per flow are the growth of the peak over that of 100 flows. *Set-up per flow*"
        " is its CPU time without the kernel's, in packet-hops of the same row. The kernel's part, in brackets, clears"
        " new memory: on a virtual machine it varies tenfold, because the host has free memory or has to find it."
    )
    yield ""
    base = part["rows"][0]["ns_per_packet_hop"]
    rows = [
        (
            *(f"{row['flows']:,}", f"{row['packet_hops']:,}"),
            f"{row['ns_per_packet_hop']} [{row['ns_range'][0]}–{row['ns_range'][1]}]",
            *(f"{row['ns_per_packet_hop_small_pages']}", f"{row['ns_per_packet_hop'] / base:.2f}"),
            f"{row['setup_cpu_s']} ({row['setup_kernel_s']})",
            f"{count_setup_hops(row):.0f}" if row["flows"] >= MANY else "–",
            f"{row['peak_mib']}",
            f"{row['bytes_per_flow']:,}" if row["bytes_per_flow"] else "–",
            f"{row['runs']}",
        )
        for row in part["rows"]
    ]
    head = (
        *("flows", "packet-hops", "ns per packet-hop", "without huge pages", "times 100 flows"),
        *("set-up s (the kernel's part)", "set-up per flow", "peak MiB", "bytes per flow", "runs of each"),
    )
    yield from table(head, rows)
    yield ""
    yield (
        f"The load of the machine was {part['load'][0]} to {part['load'][1]}: other programs used its caches and"
        f" memory as well. Limits from {MANY:,} flows on: {MOST_BYTES:,} bytes per flow, and {MOST_SETUP_HOPS}"
        " packet-hops for a flow's set-up. The growth of the time has no limit of its own. A flow's state takes about"
        " 3.9 kB, so that of 100 flows stays in a cache next to the core, and that of 100,000 flows in memory alone."
        " The next section compares the time with other simulators at the same numbers of flows."
        f" Commit {part['commit']}."
    )


def measure_memory(program: str) -> dict[str, Any]:
    """Measures peak memory up to 100,000 flows. One run each suffices, because the peak barely varies."""
    rows: list[dict[str, Any]] = []
    for size in SIZES[:-1]:
        peak = runner.run(program, **values(size, SECONDS[size])).peak
        base = rows[0]["peak"] if rows else peak
        per_flow = round((peak - base) / (size - SIZES[0])) if rows else 0
        rows.append({"flows": size, "peak": peak, "bytes_per_flow": per_flow})
    return {"commit": machine.commit(), "rows": rows}


def time_per_hop(full: list[runner.Run], empty: list[runner.Run]) -> float:
    """CPU time per packet-hop in ns: medians, without the set-up."""
    cpu = statistics.median(run.cost.cpu for run in full) - statistics.median(run.cost.cpu for run in empty)
    return round(cpu / full[0].packet_hops * 1e9, 1)


def find_range(full: list[runner.Run], empty: list[runner.Run]) -> list[float]:
    """The minimum and the maximum over all runs, minus the set-up."""
    set_up = statistics.median(run.cost.cpu for run in empty)
    each = [round((run.cost.cpu - set_up) / run.packet_hops * 1e9, 1) for run in full]
    return [min(each), max(each)]


def describe_memory(part: dict[str, Any]) -> Iterator[str]:
    """Yields the lines about memory, which follow the section."""
    each = ", ".join(f"{row['flows']:,}: {row['bytes_per_flow']:,}" for row in part["rows"][1:])
    yield f"Bytes per flow from one run each, which needs no quiet machine: {each}. Commit {part['commit']}."


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
