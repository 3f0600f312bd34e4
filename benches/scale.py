"""How cost grows with flows: time per packet-hop and memory at 100 to 100 000 flows.

Every flow has the same share of the bottleneck (1 Mb/s) and of its buffer (2.5 packets) whatever their
number, so that flows behave alike and only their number differs. Starts are spread over one second.
"""

from __future__ import annotations

import statistics
from typing import Any

from benches import machine, runner

SIZES = (100, 1000, 10_000, 100_000)
#: Simulated seconds: fewer for many flows, so that each run handles some ten million packet-hops or more.
SECONDS = {100: 60, 1000: 10, 10_000: 2, 100_000: 1}
RUNS = 2


def measure(program: str) -> dict[str, Any]:
    """Per number of flows: nanoseconds per packet-hop (set-up taken off), peak bytes, bytes per flow."""
    rows: list[dict[str, float]] = []
    base = 0
    for size in SIZES:
        full = [runner.run(program, **_values(size, SECONDS[size])) for _ in range(RUNS)]
        empty = [runner.run(program, **_values(size, 0)) for _ in range(RUNS)]
        cpu = statistics.median(run.cost.cpu for run in full) - statistics.median(
            run.cost.cpu for run in empty
        )
        peak = max(run.cost.peak for run in full)
        base = base or peak
        rows.append(
            {
                "flows": size,
                "packet_hops": full[0].packet_hops,
                "ns_per_packet_hop": round(cpu / full[0].packet_hops * 1e9, 1),
                "setup_cpu_s": round(statistics.median(run.cost.cpu for run in empty), 3),
                "peak_mib": round(peak / 2**20, 1),
                "bytes_per_flow": round((peak - base) / (size - SIZES[0])) if size > SIZES[0] else 0,
            }
        )
    growth = rows[-1]["ns_per_packet_hop"] / rows[0]["ns_per_packet_hop"]
    return {"commit": machine.commit(), "rows": rows, "growth": round(growth, 2)}


def _values(flows: int, seconds: float) -> dict[str, object]:
    return {
        "flows": flows,
        "rate": f"{flows} Mb/s",
        "access": "100 Mb/s",
        "queue": 5 * flows // 2,
        "interval": f"{1e9 / flows:.0f} ns",
        "duration": f"{seconds} s",
    }
