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
"""The bottleneck's link direction for data."""

RATE = 20.0
"""Default rate of the bottleneck, Mb/s on the wire: an ordinary access line."""

ROUND_TRIP = 50.0
"""Default round trip of the empty path, ms: to a neighbouring country."""

PACKET = 1040
"""Bytes of a full segment on the wire, the unit of buffers."""

Choice = str | Mapping[str, Any]
"""A transport or a queue in a scenario: its name, or a table with its parameters."""


def named(choice: Choice, key: str) -> str:
    """Returns the name of a transport (`key` "name") or queue (`key` "discipline")."""
    return choice if isinstance(choice, str) else str(choice.get(key, ""))


def ms(value: float) -> str:
    """Formats milliseconds for a scenario."""
    return f"{value:g} ms"


def mbps(value: float) -> str:
    """Formats megabits per second for a scenario."""
    return f"{value:g} Mb/s"


def bdp(factor: float) -> Table:
    """Returns a buffer of `factor` bandwidth-delay products of the path, at least four packets."""
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
    """Returns a scenario of senders, one bottleneck, and receivers.

    Args: name: The scenario's name. flows: Groups of flows. rate: Rate of the bottleneck, Mb/s on the wire, or a
        scenario's value; the hosts' links have 10 Gb/s. round_trip_ms: Round trip of the empty path: half of it on the
        bottleneck, an eighth on each of the hosts' links. buffer: The capacity of the queue; one bandwidth-delay
        product if None. queue: The discipline at the bottleneck. duration_s: Simulated seconds. warmup_s: Seconds that
        no measure counts. bottleneck: Further keys of the bottleneck, which take precedence. access: Further keys of
        the hosts' links, which take precedence. more: Further keys of the scenario.

    Raises:
        fairwave.ScenarioError: The subject does not fit, for example a transport that carries no bulk data.
    """
    waiting: Table = {"discipline": queue} if isinstance(queue, str) else dict(queue)
    waiting.setdefault("capacity", buffer or bdp(1))
    topology: Table = {
        "preset": "dumbbell",
        "bottleneck": {
            "rate": mbps(rate) if isinstance(rate, (int, float)) else rate,
            "delay": ms(round_trip_ms / 4),
            "queue": waiting,
            # Acknowledgements get a free return path, unless a criterion examines it.
            "reverse": {"queue": "drop-tail"},
            **(bottleneck or {}),
        },
        "access": {"rate": "10 Gb/s", "delay": ms(round_trip_ms / 8), **(access or {})},
    }
    more = {"preset": "rfc", **more}
    return build(name, f"{duration_s:g} s", flows=flows, topology=topology, warmup=f"{warmup_s:g} s", **more)


def bulk(name: str, transport: Choice, count: int = 1, **more: Any) -> Table:
    """Returns flows that always have data to send and begin within the first second."""
    more.setdefault("start", {"from": "0 s", "to": "1 s"})
    return flow(name, transport, "bulk", count=count, **more)


def short(name: str, transport: Choice, size: str, load: str, **more: Any) -> Table:
    """Returns files of `size` with random arrivals that together offer `load`."""
    return flow(
        name, transport, {"kind": "transfer", "size": size}, count=10, arrivals={"load": load}, **more
    )


def utilisation() -> Measure:
    """Utilisation of the bottleneck after the warm-up, %."""
    return measures.link("utilisation", BOTTLENECK, "utilisation", "%", 100)


def wait() -> Measure:
    """Mean wait at the bottleneck of packets that were sent, ms."""
    return measures.link("mean_wait_s", BOTTLENECK, "mean wait in the queue", "ms", 1e3)
