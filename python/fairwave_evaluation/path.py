"""The network of all criteria: senders, one bottleneck, receivers; and the flows that cross it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairwave.building import build, flow
from fairwave.measuring import measures

if TYPE_CHECKING:
    from fairwave.building import Table
    from fairwave.measuring.measures import Measure
    from fairwave.scenario import Scenario

BOTTLENECK = "r1>r2"
"""The direction in which data crosses the bottleneck."""

RATE = 20.0
"""Rate of the bottleneck unless a criterion says otherwise, Mb/s on the wire: an ordinary access line."""

ROUND_TRIP = 50.0
"""Round trip of the empty path unless a criterion says otherwise, ms: a neighbouring country."""

PACKET = 1040
"""Bytes on the wire of a full segment, by which buffers count."""

Choice = str | Mapping[str, Any]
"""A transport or a queue as a scenario names it: its name, or a table with its parameters."""


def named(choice: Choice, key: str) -> str:
    """The name of a transport (`key` "name") or queue (`key` "discipline")."""
    return choice if isinstance(choice, str) else str(choice.get(key, ""))


def ms(value: float) -> str:
    """Milliseconds as a scenario writes them."""
    return f"{value:g} ms"


def mbps(value: float) -> str:
    """Megabits per second as a scenario writes them."""
    return f"{value:g} Mb/s"


def bdp(factor: float) -> Table:
    """A buffer of so many bandwidth-delay products of the path, at least four packets."""
    return {"bdp": factor, "packet": f"{PACKET} B", "at-least-packets": 4}


def path(
    name: str,
    flows: list[Table],
    *,
    rate: Any = RATE,
    round_trip_ms: float = ROUND_TRIP,
    buffer: Table | None = None,
    queue: Choice = "drop-tail",
    duration_s: float = 60,
    warmup_s: float = 20,
    bottleneck: Table | None = None,
    access: Table | None = None,
    **more: Any,
) -> Scenario:
    """Senders, one bottleneck, receivers.

    Args:
        name: The scenario's.
        flows: Groups of flows.
        rate: Of the bottleneck, Mb/s on the wire, or as a scenario writes it; the hosts' own links are of 10 Gb/s.
        round_trip_ms: Of the empty path: half of it on the bottleneck, an eighth on each of the hosts' links.
        buffer: The capacity of the queue; one bandwidth-delay product if None.
        queue: The discipline before the bottleneck.
        duration_s: Simulated seconds.
        warmup_s: Seconds that no measure counts.
        bottleneck: Further keys of the bottleneck, which win.
        access: Further keys of the hosts' links, which win.
        more: Further keys of the scenario.

    Raises:
        fairwave.ScenarioError: What is evaluated does not fit: a transport that carries no bulk data, say.
    """
    waiting: Table = {"discipline": queue} if isinstance(queue, str) else dict(queue)
    waiting.setdefault("capacity", buffer or bdp(1))
    topology: Table = {
        "preset": "dumbbell",
        "bottleneck": {
            "rate": mbps(rate) if isinstance(rate, (int, float)) else rate,
            "delay": ms(round_trip_ms / 4),
            "queue": waiting,
            # Acknowledgements have room on their way back, unless a criterion asks about just that.
            "reverse": {"queue": "drop-tail"},
            **(bottleneck or {}),
        },
        "access": {"rate": "10 Gb/s", "delay": ms(round_trip_ms / 8), **(access or {})},
    }
    more = {"preset": "rfc", **more}
    return build(name, f"{duration_s:g} s", flows=flows, topology=topology, warmup=f"{warmup_s:g} s", **more)


def bulk(name: str, transport: Choice, count: int = 1, **more: Any) -> Table:
    """Flows that always have something to send, which begin within the first second."""
    more.setdefault("start", {"from": "0 s", "to": "1 s"})
    return flow(name, transport, "bulk", count=count, **more)


def short(name: str, transport: Choice, size: str, load: str, **more: Any) -> Table:
    """Files of `size` that come at random moments and together offer `load`."""
    return flow(
        name, transport, {"kind": "transfer", "size": size}, count=10, arrivals={"load": load}, **more
    )


def utilisation() -> Measure:
    """Of the bottleneck, after the warm-up, %."""
    return measures.link("utilisation", BOTTLENECK, "utilisation", "%", 100)


def wait() -> Measure:
    """Mean time that packets which were sent had waited before the bottleneck, ms."""
    return measures.link("mean_wait_s", BOTTLENECK, "mean wait in the queue", "ms", 1e3)
