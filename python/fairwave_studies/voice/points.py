"""The scenarios: every point that a figure or a claim of papers 000 and 001 needs, each once.

The papers' scenarios overlap (20 file transfers and payloads of 160 bytes occur in four of them), so they are cut out
of one grid. Its axes are the number of file transfers, the voice payload, the packet error rate, the number of calls
and their transport. Thresholds of timeliness need no axis, since every run measures all of them. A small second grid
has the ideas that the papers only name (redundant speech, partial reliability).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from fairwave.runs.axes import Axes, Label, vary
from fairwave.runs.grid import Grid
from fairwave_study.texts import load_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairwave_study.folder import Case

CALLS = "calls"
"""Id of the grid that all claims and the papers' figures read."""

BEYOND = "beyond"
"""Id of the grid for ideas that the papers name and do not try."""

TCPS = ("tcp/vegas", "tcp/westwood", "tcp/real")
UDP_CALLS = {"name": "udp", "header": "0 B"}
TRANSPORTS: Axes = {
    "transport": {
        "udp": {"flow.voice.transport": UDP_CALLS},
        **{name: {"flow.voice.transport": {"name": name}} for name in TCPS},
    }
}

DEADLINE = "300 ms"
"""For how long speech is worth sending over a partially reliable TCP: the papers' threshold."""

REPEATING, PARTIAL = "udp, redundant", "tcp/real, partial"
CARRIERS: Axes = {
    "transport": {
        "udp": {"flow.voice.transport": UDP_CALLS},
        REPEATING: {"flow.voice.transport": {**UDP_CALLS, "redundancy": 1}},
        "tcp/real": {"flow.voice.transport": {"name": "tcp/real"}},
        PARTIAL: {"flow.voice.transport": {"name": "tcp/real", "deadline": DEADLINE}},
    }
}
"""The transports of the grid beyond the papers."""

PAYLOADS = ("160 B", "300 B", "500 B")
ERRORS = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05)
FLOWS = (10, 20, 40, 60, 80, 100, 120)
FLOWS_OF_001 = (10, 20, 40, 60, 80)

ERROR_RATE = "topology.sink-access.loss.rate"

Sweep = dict[str, tuple[Label, ...]]


def sweep(
    ftp: int, *, flows: Sequence[Label], payload: Sequence[Label] = ("160 B",), per: Sequence[Label] = (0.01,)
) -> Sweep:
    """Every combination of these labels, under every transport."""
    return {"ftp": (ftp,), "payload": tuple(payload), "per": tuple(per), "flows": tuple(flows)}


PAPER: Mapping[str, Sweep] = {
    "000 §5.1, Figures 2–6": sweep(0, flows=FLOWS),
    "000 §5.2, Figures 7–14; §5.3, Figure 15; 001 Figure 7": sweep(20, flows=FLOWS, payload=PAYLOADS),
    "000 §5.2, longer packets without errors": sweep(
        20, flows=(80,), payload=("160 B", "500 B"), per=(0.0, 0.01)
    ),
    "000 §5.3, Figure 16; 001 Figure 8": sweep(60, flows=FLOWS),
    "000 §5.4, Figures 17–20": sweep(20, flows=(80, 120), per=ERRORS),
    "000 §5.5, Figures 21–24; 001 Figures 9–12": sweep(20, flows=(40, 80, 120)),
    "001 §IV.A, Figures 2–6": sweep(10, flows=FLOWS_OF_001),
}
"""The papers' scenarios."""

ESSENTIAL: Mapping[str, Sweep] = {
    "no cross traffic": sweep(0, flows=(40, 80, 120)),
    "payload": sweep(20, flows=(80,), payload=("160 B", "500 B"), per=(0.0, 0.01)),
    "thresholds, light cross traffic": sweep(20, flows=(40, 80, 120)),
    "heavy cross traffic": sweep(60, flows=(40, 120)),
    "errors": sweep(20, flows=(80, 120), per=(0.0, 0.01, 0.05)),
    "001": sweep(10, flows=(40, 60, 80)),
}
"""The fewest points that suffice to judge every claim, for each of many readings."""


def grids(case: Case) -> list[Grid]:
    """The papers' grid, and a grid beyond them; for the essential claims the papers' alone, in shorter runs."""
    return [brief(grid(case.extent))] if case.essential else [grid(case.extent), extra_grid()]


read = partial(load_scenario, __file__)
"""Loads a scenario in the folder of this module."""


def grid(sweeps: Mapping[str, Sweep] = PAPER) -> Grid:
    """The union of sweeps."""

    def labels(axis: str) -> list[Label]:
        found = {label for one in sweeps.values() for label in one[axis]}
        return sorted(found, key=lambda label: (isinstance(label, str), label))

    axes: Axes = {
        "ftp": vary("flow.ftp.count", labels("ftp")),
        "payload": vary("flow.voice.traffic.payload", labels("payload")),
        "per": vary(ERROR_RATE, labels("per")),
        "flows": vary("flow.voice.count", labels("flows")),
        **TRANSPORTS,
    }

    def keep(point: dict[str, Label]) -> bool:
        return any(all(point[axis] in allowed for axis, allowed in one.items()) for one in sweeps.values())

    return Grid(CALLS, read("scenario"), axes, keep)


def brief(whole: Grid) -> Grid:
    """The same with shorter runs, for the claims under many readings.

    At the essential points of the base reading and of calls of 64 kb/s on the mean no verdict of 5 replications turned
    into its contrary against runs of 60 s.
    """
    return replace(whole, base=whole.base.with_overrides({"duration": "40 s"}))


def extra_grid() -> Grid:
    """Redundant speech and partial reliability, at low and at high contention."""
    axes: Axes = {
        "ftp": vary("flow.ftp.count", (0, 20)),
        "flows": vary("flow.voice.count", (20, 40, 80, 120)),
        **CARRIERS,
    }
    return Grid(BEYOND, read("scenario"), axes)
