"""The scenarios: one grid per experiment of paper 002, and some for its future work.

Every grid is a variation of one of four scenarios in this folder: `single.toml` (dumbbell), `cross.toml` (Fig. 5a),
`reverse.toml` (Fig. 5b) and `hops.toml` (Fig. 5c). An `Extent` gives the size of each grid: all of the paper's sweeps,
or the fewest points that suffice to judge the claims (for the exploration of readings, and for tests).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from fairwave.runs.axes import Label, vary
from fairwave.runs.grid import Grid
from fairwave_studies.video.systems import (
    AIAD,
    DVRC,
    LAYER_KILOBITS,
    LITERAL,
    RENO,
    RTCP,
    TFRC,
    TOTAL_KILOBITS,
    TRANSPORTS,
    UDP,
    WESTWOOD,
    reno,
    systems,
)
from fairwave_study.texts import load_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairwave_study.folder import Case

SINGLE, BULK = "single", "single-bulk"
BOUND = "bound"
CROSS, SPREAD, QUEUE = "cross-traffic", "spread", "queue"
REVERSE, ADAPTATION = "reverse-traffic", "adaptation"
RULES = "rules"
FRIENDLY = "friendliness"
HOPS, CHAIN = "hops", "chain"
LAYERS = "layers"
ROUND_TRIPS = "round-trips"
MECHANISMS = "mechanisms"
FIXED, SIMULCAST, ALLOCATED, TEMPORAL, BY_SENDER = (
    "DVRC, layers",
    "DVRC, simulcast",
    "DVRC, layers allocated",
    "DVRC, frames left out",
    "RTCP/UDP, simulcast",
)
"""Forms of a video: the paper's cumulative layers and four others."""

JUDGED, JUDGED_LOAD = "judged", "judged-load"

DUMBBELL = (SINGLE, BULK, BOUND, JUDGED, FRIENDLY)
"""Grids of the dumbbell of §5.1 and §5.4, with equally fast links."""

MEGABITS = 10.0
"""Bottlenecks where many flows meet, Mb/s."""

FTP_CROSS = 10
"""File transfers in the cross-traffic topology."""

JOINS_S = 10.0
"""When DVRC joins the chain of Figure 17, seconds."""

SPREAD_TRIPS_MS = (20.0, 200.0)
"""Least and largest round trip of the flows in the experiment on differing round trips."""

SHARING = 10
"""How many flows share there."""

TEXT, EQUATION = "receiving rate (text)", "requested rate (Eq. 11)"
COMPARED: dict[str, dict[str, Any]] = {
    TEXT: {"flow.video.transport": dict(TRANSPORTS[DVRC])},
    EQUATION: {"flow.video.transport": dict(TRANSPORTS[LITERAL])},
}
"""The two rates that DVRC may compare to judge a loss."""


@dataclass(frozen=True)
class Extent:
    """How much is simulated.

    Attributes:
        flows: Numbers of videos.
        crowd: Numbers of file transfers for the measurement of friendliness.
        hops: Lengths of the chain.
        layers: Numbers of layers, in the ablation.
        contention: Numbers of videos in the ablation.
        errors: Packet error rates at which judgements of losses are scored.
        load: Numbers of file transfers at which they are.
        length: Length of the runs of many flows.
        alone: Length of the runs of one video next to file transfers, and of the chain with one video.
    """

    flows: tuple[int, ...] = (1, 5, 10, 15, 20, 30, 40, 50)
    crowd: tuple[int, ...] = (20, 40)
    hops: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    layers: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
    contention: tuple[int, ...] = (10, 20, 40)
    errors: tuple[float, ...] = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05)
    load: tuple[int, ...] = (0, 1, 2, 4, 6, 8)
    length: str = "60 s"
    alone: str = "200 s"


PAPER = Extent()
"""The paper's sweeps."""

ESSENTIAL = Extent(
    flows=(5, 20, 50),
    hops=(1, 5, 10),
    layers=(4, 5, 8),
    contention=(20,),
    length="30 s",
    alone="100 s",
)
"""The fewest points that suffice to judge every claim, for the exploration of readings.

Runs are half as long as the paper's sweeps: with six seeds no verdict of the base reading turned by that.
"""


FASTER = replace(ESSENTIAL, length="20 s")
"""The same where links are twice as fast: no fewer packets."""


scenario = partial(load_scenario, __file__)
"""Loads a scenario in the folder of this module."""


def layers(kilobits: Sequence[float]) -> list[str]:
    """Layer rates as a scenario writes them."""
    return [f"{one:g} kb/s" for one in kilobits]


def equal(count: int) -> list[str]:
    """This many equal layers of the same video."""
    return layers([TOTAL_KILOBITS / count] * count)


def split_above_base(count: int) -> list[str]:
    """The base layer, and the rest of the video cut into `count` − 1 equal layers."""
    base = LAYER_KILOBITS[0]
    if count == 1:
        return equal(1)
    return layers([base] + [(TOTAL_KILOBITS - base) / (count - 1)] * (count - 1))


SPLITS = {"equal layers": equal, "base of 128 kb/s, rest equal": split_above_base}


def _errors(per: float) -> dict[str, Any]:
    """Packet errors on the link to the video's sink, in both directions."""
    return {"flow.video.sink-access": {"loss": {"model": "bernoulli", "rate": per}}} if per else {}


def _alone(extent: Extent) -> list[Grid]:
    watched = {
        "duration": extent.alone,
        "record.goodput": ["video", "ftp"],
        "record.units": ["video"],
        "record.windows": ["video"],
        "record.window-interval": "150 ms",
    }
    single = scenario("single", **watched)
    bulk = scenario("single", **{"duration": extent.alone, "flow.video.traffic": "bulk"})
    bound = scenario("single", **{**watched, "record.units": [], "flow.ftp.count": 1, **_errors(0.03)})
    names = (DVRC, LITERAL, TFRC, WESTWOOD, RTCP, UDP)
    return [
        Grid(SINGLE, single, {"transport": systems(names)}),
        Grid(BULK, bulk, {"transport": systems((DVRC, LITERAL, TFRC), video=False)}),
        Grid(BOUND, bound, {"reading": COMPARED}),
    ]


def _cross(extent: Extent) -> list[Grid]:
    flows = vary("flow.video.count", extent.flows)
    adaptive = systems((DVRC, TFRC, WESTWOOD))
    cross = scenario("cross", duration=extent.length)
    spread = {
        "flow.ftp.count": 0,
        "topology.sink-access.loss": {"model": "none"},
        "flow.video.source-access": {"delay": {"from": "5 ms", "to": "150 ms", "spread": "even"}},
    }
    queue = {"flow.video.count": 40, "record.bin": "50 ms", "record.queues": ["r2>r3"]}
    return [
        Grid(CROSS, cross, {"flows": flows, "transport": adaptive}),
        Grid(SPREAD, cross.with_overrides(spread), {"flows": flows, "transport": adaptive}),
        Grid(QUEUE, cross.with_overrides(queue), {"transport": systems((DVRC, TFRC, WESTWOOD, UDP))}),
        Grid(RULES, cross.with_overrides(queue), {"transport": systems((DVRC, AIAD, RENO))}),
    ]


def _reverse(extent: Extent) -> list[Grid]:
    flows = vary("flow.video.count", extent.flows)
    reverse = scenario("reverse", duration=extent.length)
    watched = {"record.windows": ["video[0..5]"], "record.window-interval": "150 ms"}
    few = {n: {"flow.video.count": n} for n in extent.contention}
    return [
        Grid(REVERSE, reverse, {"flows": flows, "transport": systems((DVRC, TFRC, RTCP))}),
        Grid(ADAPTATION, reverse.with_overrides(watched), {"flows": few, "transport": systems((DVRC, RTCP))}),
    ]


def fast(megabits: float) -> dict[str, Any]:
    """The dumbbell with all links at that rate."""
    rate = f"{megabits:g} Mb/s"
    return {
        "topology.bottleneck.rate": rate,
        "topology.access.rate": rate,
        "flow.ftp.transport": reno(megabits),
    }


def _friendly(extent: Extent) -> Grid:
    base = scenario("single", **{**fast(MEGABITS), "duration": extent.length})
    return Grid(
        FRIENDLY,
        base,
        {
            "tcp": vary("flow.ftp.count", extent.crowd),
            "flows": vary("flow.video.count", extent.flows),
            "transport": systems((DVRC, TFRC)),
        },
    )


def _chain(extent: Extent) -> list[Grid]:
    alone = scenario(
        "hops",
        **{
            "duration": extent.alone,
            "warmup": f"{JOINS_S:g} s",
            "topology.bottleneck.rate": "1 Mb/s",
            "flow.video.count": 1,
            "flow.video.start": f"{JOINS_S:g} s",
        },
    )

    def hops(count: int) -> dict[str, Any]:
        # The buffer fits the video's path: 20 ms of access links and 20 ms per hop, there and back.
        capacity = {"bdp": 1.0, "round-trip": f"{20 + 20 * count} ms"}
        return {
            "topology.hops": count,
            "topology.bottleneck.queue": {"discipline": "drop-tail", "capacity": capacity},
        }

    return [
        Grid(
            HOPS, alone, {"hops": {n: hops(n) for n in extent.hops}, "transport": systems((DVRC, TFRC, RENO))}
        ),
        Grid(
            CHAIN,
            scenario("hops", duration=extent.length),
            {"flows": vary("flow.video.count", extent.flows), "transport": systems((DVRC, TFRC, RTCP))},
        ),
    ]


def _ablation(extent: Extent) -> Grid:
    def cut(labels: dict[str, Label]) -> dict[str, Any]:
        return {"flow.video.traffic.layers": SPLITS[str(labels["split"])](int(labels["layers"]))}

    return Grid(
        LAYERS,
        scenario("cross", duration=extent.length),
        {
            "flows": vary("flow.video.count", extent.contention),
            "split": {name: {} for name in SPLITS},
            "layers": dict.fromkeys(extent.layers, cut),
        },
    )


def _round_trips(extent: Extent) -> Grid:
    """Ten flows of one kind with evenly spread round trips; 60 ms of each belong to the dumbbell."""
    least, most = SPREAD_TRIPS_MS
    # One way: 5 ms between the routers, 1 ms to the sink, the rest of half a round trip from the source.
    delay = {"from": f"{least / 2 - 6:g} ms", "to": f"{most / 2 - 6:g} ms", "spread": "even"}
    base = scenario(
        "single",
        **{
            **fast(MEGABITS),
            "duration": extent.alone,
            "warmup": "20 s",
            "flow.ftp.count": 0,
            "flow.video.count": SHARING,
            "topology.bottleneck.delay": "5 ms",
            "topology.access.delay": "1 ms",
            "topology.access.rate": "100 Mb/s",
            "flow.video.source-access": {"delay": delay},
            "topology.bottleneck.queue.capacity": {"bdp": 1.0, "round-trip": f"{(least + most) / 2:g} ms"},
        },
    )
    bulk = {"flow.video.traffic": "bulk"}
    carried: dict[str, dict[str, Any]] = {
        "AIAMD, video": {"flow.video.transport": dict(TRANSPORTS[DVRC])},
        "AIAMD, bulk": {"flow.video.transport": dict(TRANSPORTS[DVRC]), **bulk},
        "TFRC, bulk": {"flow.video.transport": dict(TRANSPORTS[TFRC]), **bulk},
        "Reno, bulk": {"flow.video.transport": reno(MEGABITS), **bulk},
    }
    return Grid(ROUND_TRIPS, base, {"system": carried})


def _judged(extent: Extent) -> list[Grid]:
    base = scenario("single", duration=extent.alone)
    per = {one: _errors(one) for one in extent.errors}
    load = vary("flow.ftp.count", extent.load)
    return [
        Grid(JUDGED, base, {"per": per, "tcp": load, "reading": COMPARED}),
        Grid(
            JUDGED_LOAD,
            scenario("cross", duration=extent.length),
            {"flows": vary("flow.video.count", extent.flows), "reading": COMPARED},
        ),
    ]


def _mechanisms(extent: Extent) -> Grid:
    """Other forms of a video, beyond the paper: each layer or version of each frame is a unit."""
    base = scenario("reverse", **{"duration": extent.length, "flow.video.traffic.packet": None})
    cumulative = layers([sum(LAYER_KILOBITS[: count + 1]) for count in range(len(LAYER_KILOBITS))])
    simulcast = {"flow.video.traffic.coding": "simulcast", "flow.video.traffic.layers": cumulative}
    dvrc, rtcp = ({"flow.video.transport": dict(TRANSPORTS[name])} for name in (DVRC, RTCP))
    found: dict[str, dict[str, Any]] = {
        FIXED: dvrc,
        SIMULCAST: {**dvrc, **simulcast},
        ALLOCATED: {"flow.video.transport": {**TRANSPORTS[DVRC], "allocation": "group"}},
        TEMPORAL: {**dvrc, "flow.video.traffic.coding": "temporal"},
        BY_SENDER: {**rtcp, **simulcast},
    }
    return Grid(MECHANISMS, base, {"flows": vary("flow.video.count", extent.contention), "mechanism": found})


def grids(case: Case) -> list[Grid]:
    """All grids; for the essential claims only theirs, with the labels that they compare."""
    if not case.essential:
        return _complete_grids(case.extent)
    extent = case.extent
    if extent is ESSENTIAL and case.reading["rates"] == "20 Mb/s":
        extent = FASTER
    return _needed(extent, case.reading)


def _needed(extent: Extent, reading: Mapping[str, str]) -> list[Grid]:
    compared = EQUATION if reading.get("compared") == "requested rate" else TEXT
    wanted: dict[str, dict[str, tuple[Label, ...]]] = {
        SINGLE: {"transport": (DVRC, TFRC)},
        BOUND: {"reading": (compared,)},
        CROSS: {},
        SPREAD: {},
        QUEUE: {"transport": (DVRC, UDP)},
        RULES: {},
        REVERSE: {},
        FRIENDLY: {},
        HOPS: {"transport": (DVRC,)},
        CHAIN: {},
        LAYERS: {},
    }
    found = []
    for grid in _complete_grids(extent):
        if grid.id in wanted:
            axes = {
                axis: {
                    label: value
                    for label, value in labels.items()
                    if label in wanted[grid.id].get(axis, labels)
                }
                for axis, labels in grid.axes.items()
            }
            found.append(replace(grid, axes=axes))
    return found


def _complete_grids(extent: Extent) -> list[Grid]:
    return [
        *_alone(extent),
        *_cross(extent),
        *_reverse(extent),
        _friendly(extent),
        *_chain(extent),
        _ablation(extent),
        _round_trips(extent),
        *_judged(extent),
        _mechanisms(extent),
    ]
