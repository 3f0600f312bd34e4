"""Whether the claims hang on what is assumed: every one judged again under other assumptions, one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairwave.studies.smoothness import assumptions as a
from fairwave.studies.smoothness import points as p
from fairwave.studies.smoothness import quantities as q
from fairwave.studies.smoothness.claims import READINGS, TESTS
from fairwave.studies.smoothness.systems import RENO_RED, TFRC
from fairwave.study.grid import IN_STEP
from fairwave.study.study import Sensitivity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairwave.study.claims import Evidence
    from fairwave.study.grid import Grid, Label
    from fairwave.study.measures import Measure
    from fairwave.study.study import Data

    Changes = Mapping[str, Any] | Callable[[dict[str, Label]], Mapping[str, Any]]


def _but(
    systems: Sequence[str], changes: Mapping[str, Any]
) -> Callable[[dict[str, Label]], Mapping[str, Any]]:
    """What all systems but these take on."""
    return lambda labels: {} if labels["transport"] in systems else changes


TCP: dict[str, Changes] = {
    "as assumed": {},
    "NewReno's recovery": _but([TFRC], {"flow.*.transport.recovery": "newreno"}),
    "SACK's recovery": _but([TFRC], {"flow.*.transport.recovery": "sack"}),
    "no random delay of sending": _but([TFRC], {"flow.*.transport.send-jitter": None}),
    "details of the RFCs": {"preset": "rfc", "hosts": IN_STEP},
    "delayed acknowledgements": _but([TFRC], {"flow.*.transport.delayed-ack": True}),
}
"""What concerns TCP."""

PATH: dict[str, Changes] = {
    "round trip 60 ms": {"topology.bottleneck.delay": "10 ms"},
    "round trip 100 ms": {"topology.bottleneck.delay": "30 ms"},
    "a quarter of the buffers": {"topology.bottleneck.queue.capacity": {"bdp": 0.25}},
    "twice the buffers": {"topology.bottleneck.queue.capacity": {"bdp": 2.0}},
    "faster access links": {"topology.source-access": {"rate": "1 Gb/s"}},
}
"""What concerns the path."""

LATER: dict[str, Changes] = {"starts within 10 s": {"flow.main.start": {"from": "0 s", "to": "10 s"}}}


def _red(
    low: float, high: float, probability: float = 0.1
) -> Callable[[dict[str, Label]], Mapping[str, Any]]:
    """RED with thresholds at these shares of the buffer, wherever RED is."""

    def changes(labels: dict[str, Label]) -> Mapping[str, Any]:
        if labels.get("queue") == "RED":
            packets = p.buffer_packets(10, 0.03)
        elif labels["transport"] == RENO_RED:
            packets = p.buffer_packets(float(labels["flows"]))
        else:
            return {}
        queue = {
            **p.red(packets),
            "min-threshold": packets * low,
            "max-threshold": packets * high,
            "max-p": probability,
        }
        return {"topology.bottleneck.queue": queue}

    return changes


RED: dict[str, Changes] = {
    "RED: thresholds 1/12 and 1/4": _red(1 / 12, 1 / 4),
    "RED: thresholds 1/4 and 3/4": _red(1 / 4, 3 / 4),
    "RED: largest probability 0.02": _red(1 / 6, 1 / 2, 0.02),
}

_SOME: dict[str, tuple[str, str, tuple[str, ...], dict[str, Changes], tuple[Measure, ...]]] = {
    a.WIRED: (
        p.WIRED_10,
        "On wires, 10 Mb/s",
        ("S1", "S3"),
        {**TCP, **PATH, **LATER, "120 s": {"duration": "120 s"}},
        (q.GOODPUT, q.OVERHEAD),
    ),
    a.CROWDED: (
        p.WIRED_100,
        "On wires, 100 Mb/s",
        ("S2", "S4"),
        {**TCP, **PATH, **LATER, "60 s": {"duration": "60 s"}},
        (q.GOODPUT, q.OVERHEAD),
    ),
    a.APPLICATIONS: (
        p.CONSTANT,
        "Applications at a constant rate",
        ("S5",),
        {
            **TCP,
            **PATH,
            "buffer of two reads": {"flow.main.playback.buffer": "250 kB"},
            "no header": {"flow.*.transport.header": "0 B"},
        },
        (q.SUCCESS[0.9], q.SUCCESS_BY_BUFFER[0.9]),
    ),
    a.LOSSY: (
        p.ERRORS_10,
        "Packet errors, 10 flows",
        ("S8, 10 flows", "S9, 10 flows"),
        {**TCP, **PATH, "errors in both directions": {"topology.sink-access.reverse": None}},
        (q.GOODPUT, q.OVERHEAD),
    ),
    a.MANY: (
        p.CONSTANT_ERRORS,
        "Packet errors, applications at a constant rate",
        ("S10",),
        {**TCP, "errors in both directions": {"topology.sink-access.reverse": None}},
        (q.SUCCESS[0.7],),
    ),
    a.FAR: (
        p.SPREAD,
        "Spread round trips",
        ("S11", "S12"),
        {**TCP, **LATER, **RED, "180 s": {"duration": "180 s"}},
        (q.FAIRNESS, q.GOODPUT),
    ),
    a.SMOOTH: (
        p.AVOIDANCE,
        "Systems at 1 Mb/s per flow",
        ("S13", "S14", "S16"),
        {
            **TCP,
            **PATH,
            **LATER,
            **RED,
            **{f"bins of {width}": {"record.bin": width} for width in ("200 ms", "1 s", "2 s")},
            "120 s": {"duration": "120 s"},
        },
        (q.SHORT_TERM_FAIRNESS, q.COV, q.GOODPUT),
    ),
}
"""Table to the grid that it replaces, its title, claims, settings and the measures that it shows."""

_LOAD: dict[str, Changes] = {
    **TCP,
    "round trip 60 ms": {"topology.bottleneck.delay": "10 ms"},
    "round trip 100 ms": {"topology.bottleneck.delay": "30 ms"},
    "bins of 500 ms": {"record.bin": "500 ms"},
}
_LOADS = {
    f"{a.LOAD}-{grid}": (grid, f"Changing load: {grid}", (claim,), _LOAD, ())
    for grid, claim in ((p.GROWING, "S6"), (p.SHRINKING, "S7"))
}


def _settled(grid: Grid, name: str, settings: Mapping[str, Changes]) -> Grid:
    return replace(grid, id=name, axes={**grid.axes, "setting": settings})


def _everything() -> Mapping[str, Any]:
    return {**_SOME, **_LOADS}


def grids() -> list[Grid]:
    """What the tables simulate. Points that equal others are not simulated twice."""
    known = {grid.id: grid for grid in p.grids(p.ESSENTIAL)}
    return [_settled(known[one[0]], name, one[3]) for name, one in _everything().items()]


def _tests(names: Sequence[str]) -> dict[str, Callable[[Data], Evidence]]:
    """The claims' tests with all their readings."""
    tests = dict(TESTS)
    for claim, readings in READINGS.items():
        tests |= {f"{claim}, {words}": test for words, test in readings.items()}
    return {
        name: test
        for name, test in tests.items()
        if any(name == one or name.startswith(f"{one}, ") for one in names)
    }


def sensitivities() -> list[Sensitivity]:
    """One table per experiment."""
    return [
        Sensitivity(
            name,
            title,
            name,
            ("setting",),
            grid,
            _tests(claims),
            measures,
            caption="Simulated at the fewest points on which the claims can be judged. Numbers are means "
            "over all points of a setting.",
        )
        for name, (grid, title, claims, _, measures) in _everything().items()
    ]
