"""What loss recovery costs on one fast flow: CPU time per packet-hop of SACK and of RACK-TLP with PRR over NewReno's.

NewReno has no scoreboard to look after. One flow crosses a round trip of 40 ms and a drop-tail buffer of one
bandwidth-delay product. So tens of thousands of segments are in flight, and thousands of them are lost at once when
slow start overflows the buffer. The set-up is taken off. Per packet-hop, since NewReno recovers slowly and passes a
third fewer packets in the same time.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from benches import machine, runner

GIGABITS = (1, 4, 10)
SECONDS = 12
ROUND_TRIP_S = 0.04
PACKET_BITS = 8 * 1040
MOST = 2.0
"""SACK and RACK may each cost so many times what NewReno costs, per packet-hop."""

TRANSPORTS = {
    "newreno": '"tcp/newreno"',
    "sack": '"tcp/sack"',
    "rack": '{ name = "tcp/sack", recovery = "rack", prr = true }',
}

TEMPLATE = Path(__file__).with_name("recovery.toml")


def measure(program: str, runs: int) -> dict[str, Any]:
    """For each rate what each costs and the ratios to NewReno; ``exceeded`` where one is above :data:`MOST`."""
    rows = [_at(program, gigabits, runs) for gigabits in GIGABITS]
    return {
        "commit": machine.commit(),
        "runs": runs,
        "seconds": SECONDS,
        "most": MOST,
        "rows": rows,
        "exceeded": any(row[ratio] > MOST for row in rows for ratio in ("ratio", "rack_ratio")),
    }


def _at(program: str, gigabits: int, runs: int) -> dict[str, Any]:
    # In turn, so that what else the machine does meets all.
    costs: dict[str, list[float]] = {name: [] for name in TRANSPORTS}
    hops: dict[str, int] = {}
    for _ in range(runs):
        for name, found in costs.items():
            whole, empty = (_run(program, gigabits, name, seconds) for seconds in (SECONDS, 0))
            found.append(max(whole.cost.cpu - empty.cost.cpu, 1e-3))
            hops[name] = whole.packet_hops
    row: dict[str, Any] = {"gigabits": gigabits}
    for name, found in costs.items():
        row[f"{name}_cpu_s"] = round(statistics.median(found), 3)
        row[f"{name}_packet_hops"] = hops[name]
        row[f"{name}_ns_per_packet_hop"] = round(1e9 * statistics.median(found) / hops[name], 1)
    base = row["newreno_ns_per_packet_hop"]
    row["ratio"] = round(row["sack_ns_per_packet_hop"] / base, 2)
    row["rack_ratio"] = round(row["rack_ns_per_packet_hop"] / base, 2)
    return row


def _run(program: str, gigabits: int, name: str, seconds: float) -> runner.Run:
    product = round(gigabits * 1e9 * ROUND_TRIP_S / PACKET_BITS)
    return runner.run(
        program,
        template=TEMPLATE,
        rate=f"{gigabits} Gb/s",
        queue=product,
        duration=f"{seconds} s",
        transport=TRANSPORTS[name],
    )
