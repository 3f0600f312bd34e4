"""Cost of loss recovery on one fast flow: CPU time of SACK and of RACK-TLP with PRR, relative to NewReno.

NewReno needs no scoreboard. One flow has a round-trip time of 40 ms and a drop-tail buffer of one bandwidth-delay
product. Tens of thousands of segments are then in flight, and slow start loses thousands of them at once when it
overflows the buffer. The set-up is subtracted. The cost is per packet-hop, because NewReno recovers slowly and
carries a third fewer packets in the same time.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from validation.bench import machine, runner

GIGABITS = (1, 4, 10)
SECONDS = 12
ROUND_TRIP_S = 0.04
PACKET_BITS = 8 * 1040
MOST = 2.0
"""Maximum cost of SACK and RACK per packet-hop, each relative to NewReno."""

TRANSPORTS = {
    "newreno": '"tcp/newreno"',
    "sack": '"tcp/sack"',
    "rack": '{ name = "tcp/sack", recovery = "rack", prr = true }',
}

TEMPLATE = Path(__file__).with_name("recovery.toml")


def measure(program: str, runs: int) -> dict[str, Any]:
    """Measures cost and ratios to NewReno at each rate. ``exceeded`` is true if a ratio is above :data:`MOST`."""
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
    # Transports alternate, so that load on the machine affects all of them.
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
