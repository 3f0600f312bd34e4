"""Whether the claims hang on what is assumed: claims on S1 and S2 judged again under other assumptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave.studies.dropping import points as p
from fairwave.studies.dropping import quantities as q
from fairwave.studies.dropping.claims import TESTS
from fairwave.study.grid import Grid
from fairwave.study.study import Sensitivity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairwave.studies.dropping.points import Extent
    from fairwave.study.grid import Axes, Label

SEEDS = 3
"""Replications of each setting: there are many."""

S1, S2 = "always-on", "on-off"

Settings = dict[str | int | float, dict[str, Any]]

LOADS: Settings = {
    "total 4.4 Mb/s": {"load.total": "4.4 Mb/s"},
    "total 6 Mb/s": {"load.total": "6 Mb/s"},
    "a transfer counts 131 kb/s": {"load.transfer": "131 kb/s"},
    "a transfer counts 524 kb/s": {"load.transfer": "524 kb/s"},
}

ALWAYS: Settings = {
    "as assumed": {},
    **LOADS,
    "RED: half the thresholds": {"red": 0.5},
    "RED: twice the thresholds": {"red": 2.0},
    "RED counts packets": {"red": 1.0, "mode": "packets"},
    "buffer of 150 ms": {"buffer": 0.5},
    "buffer of 600 ms": {"buffer": 2.0},
}
"""Other assumptions about S1, one at a time; `red`, `mode` and `buffer` change the queue."""

TURNS: Settings = {
    "as assumed": {},
    **LOADS,
    "exponential periods": {
        **{f"flow.{group}.traffic": p.turns(group, distribution="exponential") for group in p.VOICE},
        "flow.other.traffic.on": {"distribution": "exponential", "mean": "300 s"},
        "flow.other.traffic.off": {"distribution": "exponential", "mean": "200 s"},
    },
    "everybody 39 ms away": {
        **{f"flow.{group}.source-access": {"delay": "15 ms"} for group in (*p.VOICE, "ftp")},
    },
    "buffers of 150 ms": {"buffer": 0.5},
    "AVQ: virtual buffer of 30 ms": {"AVQ": {"virtual-buffer": "13125 B"}},
    "AVQ as its authors print it": {"AVQ": {"preset": "authors"}},
    "REM counts packets": {"REM": {"mode": "packets"}},
}
"""Other assumptions about S2, one at a time; a queue's name changes that queue."""


def _queue(labels: dict[str, Label], setting: Mapping[str, Any]) -> dict[str, Any]:
    name = str(labels["queue"])
    most = p.CALIBRATED * float(setting.get("red", 1.0))
    found = p.queue(name, str(labels["victim"]), calibrated=most)
    if name == "RED" and setting.get("mode") == "packets":
        # As long a queue in packets of the mean size of those that arrive (about 300 bytes in CA1).
        scale = p.MEAN_PACKET / 300
        found |= {"mode": "packets", "min-threshold": most * scale / 3, "max-threshold": most * scale}
        found["mean-packet"] = "300 B"
    found["capacity"] = {"bytes": round(found["capacity"]["bytes"] * float(setting.get("buffer", 1.0)))}
    return {**found, **setting.get(name, {})}


def _axes(settings: Settings, queues: tuple[str, ...], cases: tuple[str, ...]) -> Axes:
    def place(labels: dict[str, Label]) -> dict[str, Any]:
        setting = settings[labels["setting"]]
        plain = {key: value for key, value in setting.items() if "." in key}
        return {**plain, "topology.bottleneck.queue": _queue(labels, setting)}

    nothing: dict[str, Any] = {}
    return {
        "setting": dict.fromkeys(settings, nothing),
        "case": {case: p.shares(case) for case in cases},
        "queue": dict.fromkeys(queues, nothing),
        "victim": dict.fromkeys(p.PAPERS_VICTIMS, place),
    }


def grids(extent: Extent = p.PAPER) -> list[Grid]:
    """What the tables simulate."""
    return [
        Grid(S1, p.dumbbell(extent), _axes(ALWAYS, ("RED",), p.S1_CASES), most=SEEDS),
        Grid(S2, p.dumbbell(extent, **p.on_off()), _axes(TURNS, p.QUEUES, p.S2_CASES), most=SEEDS),
    ]


def sensitivities() -> list[Sensitivity]:
    """Both tables."""
    return [
        Sensitivity(
            S1, "S1 under other assumptions, one at a time", S1, ("setting",), p.ALWAYS_ON,
            {name: TESTS[name] for name in ("Q1", "Q2", "Q6", "Q12")},
            (q.QUEUEING, q.QUEUE_LOSS, q.SPREAD), ("victim",), "Means over CA1 to CA4.",
        ),
        Sensitivity(
            S2, "S2 under other assumptions, one at a time", S2, ("setting",), p.ON_OFF,
            {name: TESTS[name] for name in ("Q3", "Q4", "Q8")},
            (q.QUEUE_LOSS, q.LATE_LOSS, q.MOS), ("queue", "victim"), "Means over CA5 to CA8.",
        ),
    ]  # fmt: skip
