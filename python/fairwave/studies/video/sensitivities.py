"""Whether the claims hang on what is assumed: every one judged again under other assumptions, one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairwave.studies.video import assumptions as a
from fairwave.studies.video import points as p
from fairwave.studies.video import quantities as q
from fairwave.studies.video.claims import READINGS, SETTLED, TCP_SHARE, TESTS, VIDEO_SHARE
from fairwave.studies.video.systems import DVRC, RTCP
from fairwave.study.grid import IN_STEP
from fairwave.study.study import Sensitivity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairwave.study.claims import Evidence
    from fairwave.study.grid import Grid, Label
    from fairwave.study.measures import Measure
    from fairwave.study.study import Data

    Changes = Mapping[str, Any] | Callable[[dict[str, Label]], Mapping[str, Any]]

ONE_GRID = ("D2", "D5", "D6", "D7", "D9", "D11", "D12")
"""Claims all of whose readings read one grid."""

SEEDS = 5
"""Seeds of the sensitivity tables, at most."""


def of(system: str, **changes: Any) -> Callable[[dict[str, Label]], Mapping[str, Any]]:
    """What one system alone takes on; dots as double underscores, dashes as single ones."""
    paths = {
        f"flow.video.transport.{key.replace('__', '.').replace('_', '-')}": value
        for key, value in changes.items()
    }
    return lambda labels: paths if labels.get("transport", system) == system else {}


RATE: dict[str, Changes] = {
    "as assumed": {},
    "judged by the requested rate": of(DVRC, aiamd__compare="requested-rate"),
    "no deviations below the mean (n = 0)": of(DVRC, aiamd__deviations=0.0),
    "half a deviation (n = 0.5)": of(DVRC, aiamd__deviations=0.5),
    "gains of 1/16 and 1/8": of(DVRC, aiamd__mean_gain=1 / 16, aiamd__deviation_gain=1 / 8),
    "gains of 1/2 and 1/2": of(DVRC, aiamd__mean_gain=0.5, aiamd__deviation_gain=0.5),
    "rate over 50 ms": of(DVRC, measure_over="50 ms"),
    "rate over 500 ms": of(DVRC, measure_over="500 ms"),
    "rate over 2 s": of(DVRC, measure_over="2 s"),
    "α of a quarter packet": of(DVRC, aiamd__alpha_increase=0.25, aiamd__alpha_decrease=-0.25),
    "α_I of a quarter packet": of(DVRC, aiamd__alpha_increase=0.25),
    "α_D of four packets": of(DVRC, aiamd__alpha_decrease=-4.0),
    "headroom 0": of(DVRC, headroom=0.0),
    "headroom 1": of(DVRC, headroom=1.0),
    "three later arrivals": of(DVRC, later_arrivals=3),
}
"""What concerns AIAMD."""

_ALIKE = {"alpha": 1.0, "histogram": [{"low": 999.0, "high": 1001.0, "weight": 1.0}]}

VIDEO: dict[str, Changes] = {
    "frames of one size": {
        "flow.video.traffic.group": "P",
        "flow.video.traffic.fit": {"i": _ALIKE, "p": _ALIKE, "b": _ALIKE},
    },
    "eight equal layers": {"flow.video.traffic.layers": p.equal(8)},
    "half the layer rates": {"flow.video.traffic.layers": p.layers([one / 2 for one in p.LAYER_KILOBITS])},
    "twice the layer rates": {"flow.video.traffic.layers": p.layers([one * 2 for one in p.LAYER_KILOBITS])},
}
"""What concerns the video."""

TIMERS: dict[str, Changes] = {"details of the RFCs": {"preset": "rfc", "hosts": IN_STEP}}


def _buffers(bdp: float, *links: str) -> Mapping[str, Any]:
    return {f"topology.{link}.queue.capacity.bdp": bdp for link in links}


DUMBBELL: dict[str, Changes] = {
    "a quarter of the buffer": _buffers(0.25, "bottleneck"),
    "twice the buffer": _buffers(2.0, "bottleneck"),
    "no random delay of sending": {"flow.ftp.transport.send-jitter": None},
}

_ROUTERS = ("first-bottleneck", "shared-bottleneck")

ROUTERS: dict[str, Changes] = {
    "a quarter of the buffers": _buffers(0.25, *_ROUTERS),
    "twice the buffers": _buffers(2.0, *_ROUTERS),
}

THREE: dict[str, Changes] = {
    **ROUTERS,
    "a first bottleneck of 5 Mb/s": {"topology.first-bottleneck.rate": "5 Mb/s"},
    "bottlenecks of 20 Mb/s": {f"topology.{link}.rate": "20 Mb/s" for link in _ROUTERS},
    "no packet errors": {"topology.sink-access.loss": {"model": "none"}},
    "packet errors one by one, 1 %": {"topology.sink-access.loss": {"model": "bernoulli", "rate": 0.01}},
    "rounds of 100 packets": {"topology.sink-access.loss.mean-length": 100.0},
    "180 s": {"duration": "180 s"},
}

REPORTS: dict[str, Changes] = {
    "as assumed": {},
    "RTCP: drops a layer above 2 %, adds below 1 %": of(RTCP, drop_above=0.02, add_below=0.01),
    "RTCP: drops a layer above 10 %, adds below 5 %": of(RTCP, drop_above=0.1, add_below=0.05),
    "RTCP: no early reports": of(RTCP, early_reports=False),
    "RTCP: reduced minimum interval": of(RTCP, reduced_minimum=True),
    "RTCP: begins with all layers": of(RTCP, start_layers=5),
}
"""What concerns the reports."""

SHORT_PATHS: dict[str, Changes] = {
    "as assumed": {},
    "hops of 5 ms": {"topology.bottleneck.delay": "5 ms"},
    "hops of 20 ms": {"topology.bottleneck.delay": "20 ms"},
    "a quarter of the buffers": _buffers(0.25, "bottleneck"),
    "twice the buffers": _buffers(2.0, "bottleneck"),
}

_JUDGING_MEASURES = (q.JUDGED_RANDOM, *q.SCORES)

_ALL: Mapping[
    str, tuple[str, str, tuple[str, ...], dict[str, Changes], tuple[Measure, ...], tuple[str, ...]]
] = {
    a.ALONE: (
        p.SINGLE,
        "One video beside two TCP flows",
        ("D1", "D2"),
        {**RATE, **VIDEO, **DUMBBELL, **TIMERS},
        (q.COV, q.LARGEST_JITTER, q.GOODPUT),
        ("transport",),
    ),
    a.JUDGING: (
        p.BOUND,
        "Losses judged, one video beside one TCP flow, 3 % of packet errors",
        ("D3",),
        {
            name: change
            for name, change in {**RATE, **VIDEO, **DUMBBELL}.items()
            if name != "judged by the requested rate"
        },
        _JUDGING_MEASURES,
        ("reading",),
    ),
    a.MANY: (
        p.CROSS,
        "With cross traffic",
        ("D4", "D5", "D6", "D7"),
        {**RATE, **VIDEO, **THREE, **TIMERS},
        (q.GOODPUT, q.INDEX, q.DROPS, q.DELAYED, q.WORST_CASE, q.COV),
        ("transport",),
    ),
    a.FAR: (
        p.SPREAD,
        "Spread round trips",
        ("D8",),
        {
            **RATE,
            "delays of 5 to 50 ms": {"flow.video.source-access.delay.to": "50 ms"},
            "delays of 5 to 300 ms": {"flow.video.source-access.delay.to": "300 ms"},
            **ROUTERS,
        },
        (q.FAIRNESS, q.WORST_CASE),
        ("transport",),
    ),
    a.QUEUEING: (
        p.QUEUE,
        "The queue of R2 with 40 videos",
        ("D9",),
        {**RATE, **VIDEO, **ROUTERS},
        (q.DRAINS, q.DRAINED, q.NOT_FULL),
        ("transport",),
    ),
    a.BACK: (
        p.REVERSE,
        "Reverse traffic",
        (f"D10, {p.REVERSE}",),
        {
            **REPORTS,
            **{name: RATE[name] for name in ("half a deviation (n = 0.5)", "α_D of four packets")},
            **ROUTERS,
        },
        (q.GOODPUT, q.INDEX, q.FAIRNESS, q.DROPS),
        ("transport",),
    ),
    a.LONG: (
        p.CHAIN,
        "Over five hops",
        (f"D10, {p.CHAIN}",),
        REPORTS,
        (q.GOODPUT, q.INDEX, q.FAIRNESS, q.DROPS),
        ("transport",),
    ),
    a.FRIENDS: (
        p.FRIENDLY,
        "Friendliness",
        ("D11",),
        {**RATE, **VIDEO, **DUMBBELL},
        (TCP_SHARE, VIDEO_SHARE),
        ("transport",),
    ),
    a.PATH: (
        p.HOPS,
        "One flow over a chain",
        ("D12",),
        {**{name: change for name, change in RATE.items() if name not in SHORT_PATHS}, **SHORT_PATHS},
        (q.per_flow(q.VIDEO), q.per_flow(q.TCP)),
        ("transport",),
    ),
}
"""Table to the grid that it replaces, its title, claims, settings, the measures that it shows, and their columns."""


def _settled(grid: Grid, name: str, settings: Mapping[str, Changes]) -> Grid:
    return replace(grid, id=name, axes={**grid.axes, "setting": settings}, most=SEEDS)


def grids() -> list[Grid]:
    """What the tables simulate. Points that equal others are not simulated twice."""
    known = {grid.id: grid for grid in p.grids(p.ESSENTIAL)}
    return [_settled(known[one[0]], name, one[3]) for name, one in _ALL.items()]


def _tests(names: Sequence[str]) -> dict[str, Callable[[Data], Evidence]]:
    """The claims' tests, with those of their readings that read nothing but the grid that is replaced."""
    tests = {name: SETTLED.get(name) or TESTS[name] for name in names}
    for name in names:
        readings = READINGS.get(name, {}) if name in ONE_GRID else {}
        tests |= {f"{name}, {words}": test for words, test in readings.items()}
    return tests


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
            by,
            caption="Simulated at the fewest points on which the claims can be judged, under at most "
            f"{SEEDS} seeds. Numbers are means over all points of a setting.",
        )
        for name, (grid, title, claims, _, measures, by) in _ALL.items()
    ]
