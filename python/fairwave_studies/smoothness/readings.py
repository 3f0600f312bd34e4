"""Readings of paper 003: the changes that depend on grid and system.

The order of values in `readings.toml` was fixed before the exploration. Three rules decide it. The paper's words on the
very experiment come before its words in general. Printed facts come before defaults of the simulator. Of two simulator
versions, the one available when the manuscript was received (January 2004) comes first. A value that the words or the
tools admit is admitted whatever its effect on a claim. A value that contradicts another sentence of the paper is
admitted and flagged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_studies.smoothness import names as n

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairwave.runs.axes import Label, Overrides
    from fairwave_studies.smoothness.points import Extent
    from fairwave_study.folder import Case
    from fairwave_study.readings import Changes, Reading

    Labels = dict[str, Label]
    Change = Callable[[str, Labels], Overrides]


def tcp_only(changes: Overrides) -> Change:
    """These changes wherever the flows are TCPs."""
    return lambda _grid, labels: changes if labels.get("transport") in n.TCPS else {}


def set_on_grids(grids: tuple[str, ...], changes: Overrides) -> Change:
    """These changes on some grids."""
    return lambda grid, _labels: changes if grid in grids else {}


def _tfrc(preset: str) -> Change:
    changes = {"flow.main.transport.preset": preset}
    return lambda grid, labels: changes if grid == n.AVOIDANCE and labels["transport"] == n.TFRC else {}


def _drop_headers(_grid: str, labels: Labels) -> Overrides:
    known = {*n.TCPS, n.TFRC}
    return {"flow.*.transport.header": "0 B"} if labels.get("transport") in known else {}


def _path(milliseconds: int) -> Change:
    """A round trip of this many ms unless the paper gives or implies another: 10 ms on each access link."""
    changes = {"topology.bottleneck.delay": f"{milliseconds / 2 - 20:g} ms"}
    return lambda grid, _labels: changes if grid not in (n.SPREAD, n.RECOVERY) else {}


def _gamma_at_once(_grid: str, labels: Labels) -> Overrides:
    named = labels.get("transport") in (n.GAMMA, n.GAMMA_DELTA)
    return {"flow.main.transport.at-once": True} if named else {}


def _lose_both_ways(grid: str, _labels: Labels) -> Overrides:
    return {"topology.sink-access.reverse": None} if grid in n.WITH_ERRORS else {}


def _handoffs(grid: str, labels: Labels, *, kind: str) -> Overrides:
    if grid != n.HANDOFFS:
        return {}
    law = {"model": "handoff", "up": "5 s", "down": labels["down"]}
    if kind == "every 5 s":
        law |= {"regular": True}
    return {"topology.sink-access.loss": law}


def set_on_tcp(grids: tuple[str, ...], **changes: object) -> Change:
    """Changes for every TCP, on all grids but these."""
    keys = {f"flow.*.transport.{key.replace('_', '-')}": value for key, value in changes.items()}
    return lambda grid, labels: keys if labels.get("transport") in n.TCPS and grid not in grids else {}


def _as_ns2_counts(_grid: str, labels: Labels) -> Overrides:
    return {"flow.*.transport.header": "0 B"} if labels.get("transport") == n.TFRC else {}


def _joining(when: str, after: str) -> Change:
    """Delay of joining flows after each change of their number."""

    def changes(grid: str, _labels: Labels) -> Overrides:
        if grid != n.GROWING:
            return {}
        groups = {"second": 15, "third": 20, "fourth": 25}
        return {
            f"flow.{name}.start": f"{at} s"
            if when == after
            else {"from": f"{at} s", "to": f"{at + float(after):g} s"}
            for name, at in groups.items()
        }

    return changes


def _bursts(milliseconds: int) -> Change:
    """A bad state of the two-state Markov model with this mean length, at the same share of lost packets."""

    def changes(grid: str, labels: Labels) -> Overrides:
        per = float(labels.get("per", 0.0))
        if grid != n.MARKOV or not per:
            return {}
        good = milliseconds * (1 - per) / per
        return {
            "topology.sink-access.loss": {
                "model": "markov",
                "good": f"{good:g} ms",
                "bad": f"{milliseconds} ms",
            }
        }

    return changes


def _random_phases(grid: str, _labels: Labels) -> Overrides:
    return {"flow.main.traffic.phase": "random"} if grid in n.READ else {}


def _hops(reading: Reading) -> Change:
    """The division of the round trip among links, by the factors `round-trip` and `hops`."""
    trip = float(reading["round-trip"].split()[0])

    def changes(grid: str, _labels: Labels) -> Overrides:
        if grid in (n.SPREAD, n.RECOVERY):
            return {}
        if reading["hops"] == "5 to 15 ms at sources":
            return {"topology.source-access.delay": {"from": "5 ms", "to": "15 ms"}}
        each = f"{trip / 6:g} ms"
        return {f"topology.{link}.delay": each for link in ("bottleneck", "access")}

    return changes


def _count_bytes(reading: Reading, extent: Extent) -> Change:
    """The bottleneck's buffer, if it is drop-tail, in bytes instead of packets of 1000."""
    products = 0.5 if reading["buffers"] == "one way" else 1.0
    trip_ms = float(reading["round-trip"].split()[0])

    def changes(grid: str, labels: Labels) -> Overrides:
        if grid == n.RECOVERY or labels.get("queue") == "RED" or labels.get("transport") == n.RENO_RED:
            return {}
        shortest = 30.0 if grid == n.SPREAD else products * trip_ms
        return {
            "topology.bottleneck.queue.capacity": {
                "bytes": round(_megabits(grid, labels, extent) * shortest * 1e3 / 8)
            }
        }

    return changes


def _megabits(grid: str, labels: Labels, extent: Extent) -> float:
    """The bottleneck's rate at a point, Mb/s."""
    if "bottleneck" in labels:
        return float(str(labels["bottleneck"]).split()[0]) * (
            extent.leavers / 100 if grid == n.SHRINKING else 1
        )
    if grid in (n.CONSTANT, n.AVOIDANCE):
        return float(labels["flows"])
    if grid in n.CROWDS:
        return float(extent.crowd_flows)
    if grid == n.WIRED_100:
        return 100.0
    return 20.0 if grid in (n.BEYOND, n.BESIDE, n.BEYOND_READERS) else 10.0


def _small_access(grid: str, _labels: Labels) -> Overrides:
    if grid in (n.SPREAD, n.RECOVERY):
        return {}
    return {"topology.access.queue.capacity": {"packets": 50}}


def _halve_buffers(grid: str, labels: Labels) -> Overrides:
    if grid in (n.SPREAD, n.RECOVERY):
        return {}
    found: dict[str, object] = {"topology.access.queue.capacity": {"bdp": 0.5}}
    if labels.get("transport") != n.RENO_RED:
        found["topology.bottleneck.queue.capacity"] = {"bdp": 0.5}
    return found


CHANGES: Mapping[str, Mapping[str, Changes]] = {
    "recovery": {
        "newreno": tcp_only({"flow.*.transport.recovery": "newreno"}),
        "sack": tcp_only({"flow.*.transport.recovery": "sack"}),
    },
    "round-trip": {
        "100 ms": _path(100),
        "80 ms": _path(80),
        "60 ms": _path(60),
    },
    "buffers": {
        "round trip, bottleneck only": _small_access,
        "one way": _halve_buffers,
    },
    "headers": {
        "none": _drop_headers,
        "as ns-2 counts": _as_ns2_counts,
    },
    "acknowledgements": {"every second segment": tcp_only({"flow.*.transport.delayed-ack": True})},
    "sending": {
        "none": tcp_only({"flow.*.transport.send-jitter": None}),
        "1 ms": tcp_only({"flow.*.transport.send-jitter": "1 ms"}),
    },
    "starts": {
        "together": set_on_grids(n.MANY_FLOWS, {"flow.main.start": {"from": "0 s", "to": "100 ms"}}),
        "within 1 s": set_on_grids(n.MANY_FLOWS, {"flow.main.start": {"from": "0 s", "to": "1 s"}}),
        "within 5 s": set_on_grids(n.MANY_FLOWS, {"flow.main.start": {"from": "0 s", "to": "5 s"}}),
        "at 0 s": set_on_grids(n.MANY_FLOWS, {"flow.main.start": "0 s"}),
    },
    "errors": {"both directions": _lose_both_ways},
    "handoffs": {
        "every 5 s": lambda grid, labels: _handoffs(grid, labels, kind="every 5 s"),
        "both exponential": lambda grid, labels: _handoffs(grid, labels, kind="both exponential"),
    },
    "bin": {
        "500 ms": set_on_grids(n.BINNED, {"record.bin": "500 ms"}),
        "1 s": set_on_grids(n.BINNED, {"record.bin": "1 s"}),
        "200 ms": set_on_grids(n.BINNED, {"record.bin": "200 ms"}),
    },
    "tfrc": {
        "ns-2's": _tfrc("ns2"),
        "RFC 5348's": _tfrc("rfc"),
    },
    "gamma": {"at once": _gamma_at_once},
    "clock": {
        "100 ms": set_on_tcp((), tick="100 ms"),
        "500 ms": set_on_tcp((), tick="500 ms"),
    },
    "window": {
        "20 segments": set_on_tcp((n.RECOVERY,), receiver_window=20),
        "none": set_on_tcp((n.RECOVERY,), receiver_window=1000),
    },
    "joining": {
        "at the instant": _joining("at", "at"),
        "within 1 s": _joining("within", "1"),
    },
    "measured": {"the whole connection": set_on_grids(n.OVERALL, {"warmup": "0 s"})},
    "bursts": {"100 ms": _bursts(100)},
    "application": {"each at its time": _random_phases},
}

UNCHANGED = (n.MODEL, n.SAWTOOTH, n.USE, n.KNEE)
"""The grids that hold equations against measurement: no reading changes them."""


def joint_changes(case: Case) -> list[Changes]:
    """Changes that depend on several factors: delays of links, and buffers in bytes."""
    found: list[Changes] = []
    if case.reading["hops"] != "10 ms on each access link":
        found.append(_hops(case.reading))
    if case.reading["buffer-unit"] != "packets":
        found.append(_count_bytes(case.reading, case.extent))
    return found
