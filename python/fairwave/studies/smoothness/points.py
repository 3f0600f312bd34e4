"""What is simulated: one grid per experiment of paper 003, and small ones for its equations.

Every grid is a variation of `scenario.toml` (`dynamic.toml` for a changing number of flows), so points that
two experiments
share are simulated once. An `Extent` says how much of each is made: all of the paper's sweeps, or the fewest points
on which the claims can be judged (for sensitivity tables and tests).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from fairwave.scenario import load
from fairwave.studies.smoothness import systems
from fairwave.studies.smoothness.quantities import SETTLED_S
from fairwave.studies.smoothness.systems import (
    GAMMA,
    GAMMA_DELTA,
    RENO,
    RENO_RED,
    SMOOTHEST,
    TFRC,
    family,
    system,
)
from fairwave.study.grid import Axes, Grid, Label, vary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairwave.scenario import Scenario

WIRED_10, WIRED_100 = "wired-10", "wired-100"
CONSTANT = "constant-rate"
GROWING, SHRINKING = "growing", "shrinking"
ERRORS_10, ERRORS_100 = "errors-10", "errors-100"
HANDOFFS = "handoffs"
CONSTANT_ERRORS = "constant-rate-errors"
SPREAD = "spread"
AVOIDANCE = "avoidance"
RECOVERY = "recovery"
MODEL, SAWTOOTH, USE, KNEE = "model", "sawtooth", "use", "knee"

ROUND_TRIP_S = 0.08
"""Round trip without queueing, seconds: assumed."""

PACKET = 1000
"""Bytes by which buffers are counted."""

SHARES = [0.7, 0.9]
"""Shares of a read that the paper's two success percentages ask for."""

LEVELS = [0.8, 0.9, 0.95]
"""Shares of full speed that may count as recovered; the middle one is the study's."""


@dataclass(frozen=True)
class Extent:
    """How much is simulated.

    Attributes:
        flows: Numbers of flows at fixed rates.
        readers: Numbers of applications that read 1 Mb/s each.
        shares: Numbers of flows at 1 Mb/s each in §IV, which has ten.
        errors: Packet error rates.
        many_errors: Packet error rates under which applications still try to read.
        wireless: Rates of the links to the sinks where 100 flows meet errors.
        rates: Rates of the bottleneck where the number of flows changes.
        spreads: Largest round trips, ms; the smallest is 30 ms.
        round_trips: Round trips among which Figure 20's is found, ms.
        losses: Loss rates at which Eq. (1) is held against measurement.
        buffers: Buffers over bandwidth-delay product, for Eqs. (13) and (16).
        slow: Length of runs at 10 Mb/s.
        fast: Length of runs at 100 Mb/s.
        applications: Length of runs at up to 100 Mb/s with packet errors, or with applications that read.
        smooth: Length of the runs in which smoothness is measured, from 15 s on.
        handoffs: Length of the runs with handoffs.
    """

    flows: tuple[int, ...] = (10, 20, 30, 40, 60, 80, 100)
    readers: tuple[int, ...] = (10, 20, 30, 40, 60, 80, 100)
    shares: tuple[int, ...] = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
    errors: tuple[float, ...] = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05)
    many_errors: tuple[float, ...] = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4)
    wireless: tuple[str, ...] = ("100 Mb/s", "10 Mb/s")
    rates: tuple[str, ...] = ("100 Mb/s", "10 Mb/s")
    spreads: tuple[int, ...] = (50, 100, 150, 200, 250, 300)
    round_trips: tuple[int, ...] = (110, 120, 130, 140, 150)
    losses: tuple[float, ...] = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
    buffers: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
    slow: str = "60 s"
    fast: str = "30 s"
    applications: str = "20 s"
    smooth: str = "40 s"
    handoffs: str = "100 s"


PAPER = Extent()
"""The paper's sweeps."""

ESSENTIAL = Extent(
    flows=(10, 20, 50, 100),
    readers=(10, 30, 60),
    shares=(10, 30, 60),
    errors=(0.0, 0.02, 0.05),
    many_errors=(0.0, 0.02, 0.05, 0.1),
    spreads=(50, 150, 300),
    losses=(0.005, 0.02, 0.05),
    buffers=(0.25, 1.0, 2.0),
)
"""The fewest points on which every claim can be judged: what sensitivity tables simulate for each of their settings."""


def _read(name: str) -> Scenario:
    return load(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


def base(**overrides: Any) -> Scenario:
    """The scenario that everything is a variation of, with some paths set; it lies beside this module."""
    found = _read("scenario.toml")
    return found.with_overrides(overrides) if overrides else found


def rate(megabits: float) -> dict[str, Any]:
    """Bottleneck and access links alike."""
    return {"topology.bottleneck.rate": f"{megabits:g} Mb/s", "topology.access.rate": f"{megabits:g} Mb/s"}


def errors(per: float) -> dict[str, Any]:
    """Packet errors on the links to the sinks; none is the wired network itself."""
    return {"topology.sink-access.loss": {"model": "bernoulli", "rate": per} if per else {"model": "none"}}


def buffer_packets(megabits: float, round_trip_s: float = ROUND_TRIP_S) -> float:
    """One bandwidth-delay product in packets."""
    return megabits * 1e6 * round_trip_s / (8 * PACKET)


def red(packets: float) -> dict[str, Any]:
    """RED over a buffer of so many packets: thresholds at a sixth and a half of it, the rest as its authors have it."""
    return {
        "discipline": "red",
        "capacity": {"packets": max(round(packets), 1)},
        "min-threshold": packets / 6,
        "max-threshold": packets / 2,
        "max-p": 0.1,
        "weight": 0.002,
        "gentle": True,
        "mean-packet": f"{PACKET} B",
    }


def shared(flows: int) -> dict[str, Any]:
    """So many flows at a bottleneck of 1 Mb/s each."""
    return {"flow.main.count": flows, "topology.bottleneck.rate": f"{flows} Mb/s"}


def constant() -> dict[str, Any]:
    """Applications that send and read 1 Mb/s."""
    return {
        "flow.main.traffic": {"kind": "cbr", "rate": "1 Mb/s", "payload": "1000 B"},
        "flow.main.playback": {"rate": "1 Mb/s", "buffer": "125 kB", "shares": SHARES},
    }


def _per_flow(labels: dict[str, Label]) -> float:
    """The bottleneck's rate where every flow has 1 Mb/s of it."""
    return float(labels["flows"])


def _megabits(rate: Label) -> float:
    return float(str(rate).split()[0])


def _by_flows(extent: Extent) -> list[Grid]:
    fast = base(**rate(100), duration=extent.fast)
    flows = vary("flow.main.count", extent.flows)
    slow = base(duration=extent.slow)
    constant_rate = base(**constant(), duration=extent.applications)
    return [
        Grid(WIRED_10, slow, {"flows": flows, "transport": family(10)}),
        Grid(WIRED_100, fast, {"flows": flows, "transport": family(100)}),
        Grid(
            CONSTANT,
            constant_rate,
            {"flows": {n: shared(n) for n in extent.readers}, "transport": family(_per_flow)},
        ),
    ]


def _changing(extent: Extent) -> list[Grid]:
    growing = _read("dynamic.toml")
    beginning = {"from": "0 s", "to": "100 ms"}
    leaving: dict[str, Any] = {f"flow.{name}.start": beginning for name in ("second", "third", "fourth")}
    leaving |= {"flow.second.stop": "25 s", "flow.third.stop": "20 s", "flow.fourth.stop": "15 s"}
    axes: Axes = {
        "bottleneck": {name: rate(_megabits(name)) for name in extent.rates},
        "transport": family(lambda labels: _megabits(labels["bottleneck"])),
    }
    return [Grid(GROWING, growing, axes), Grid(SHRINKING, growing.with_overrides(leaving), axes)]


def _with_errors(extent: Extent) -> list[Grid]:
    per = {one: errors(one) for one in extent.errors}
    crowd: dict[str, Any] = {"flow.main.count": 100, **rate(100), "duration": extent.applications}
    wireless = vary("topology.sink-access.rate", extent.wireless)
    # As fast as everything else: then it is the same network as without any wireless link.
    if "100 Mb/s" in wireless:
        wireless["100 Mb/s"] = {}
    slow_sinks = {"topology.sink-access.rate": "10 Mb/s"}
    return [
        Grid(ERRORS_10, base(duration=extent.slow), {"per": per, "transport": family(10)}),
        Grid(ERRORS_100, base(**crowd), {"wireless": wireless, "per": per, "transport": family(100)}),
        Grid(
            CONSTANT_ERRORS,
            base(**crowd, **constant(), **slow_sinks),
            {"per": {one: errors(one) for one in extent.many_errors}, "transport": family(100)},
        ),
    ]


def _handoffs(extent: Extent) -> Grid:
    single = base(
        **{
            "flow.main.count": 1,
            "duration": extent.handoffs,
            "warmup": "5 s",
            "record.bin": "1 s",
            "record.goodput": ["main"],
        }
    )
    down = {
        label: {"topology.sink-access.loss": {"model": "handoff", "up": "5 s", "down": label}}
        for label in ("500 ms", "1 s")
    }
    return Grid(HANDOFFS, single, {"down": down, "transport": family()})


def _spread(extent: Extent) -> Grid:
    """Round trips from 30 ms to the label, evenly; buffers hold the product of the rate and the smallest."""
    least = 30
    packets = buffer_packets(10, least / 1e3)
    twenty = base(
        **{
            "flow.main.count": 20,
            "duration": extent.slow,
            "topology.bottleneck.delay": "5 ms",
            "topology.access.queue.capacity": {"bdp": 1.0, "round-trip": f"{least} ms"},
            "topology.sink-access.delay": "5 ms",
        }
    )
    largest = {
        most: {
            "topology.source-access.delay": {
                "from": "5 ms",
                "to": f"{5 + (most - least) / 2:g} ms",
                "spread": "even",
            }
        }
        for most in extent.spreads
    }
    queues = {
        "drop-tail": {
            "topology.bottleneck.queue": {"discipline": "drop-tail", "capacity": {"packets": round(packets)}}
        },
        "RED": {"topology.bottleneck.queue": red(packets)},
    }
    return Grid(SPREAD, twenty, {"queue": queues, "largest": largest, "transport": family(10)})


def _avoidance(extent: Extent) -> Grid:
    """§IV: five systems at 1 Mb/s per flow."""
    watched = base(**{"duration": extent.smooth, "record.bin": "500 ms"})

    def watched_system(name: str) -> Any:
        def changes(labels: dict[str, Label]) -> dict[str, Any]:
            found: dict[str, Any] = dict(system(name, _per_flow)(labels))
            if name == RENO_RED:
                found["topology.bottleneck.queue"] = red(buffer_packets(float(labels["flows"])))
            if name == GAMMA:
                # What γ came to, from the last sample of its senders.
                found |= {"record.window-interval": "5 s", "record.windows": ["main[0..10]"]}
            return found

        return changes

    flows = {n: {"flow.main.count": n, **rate(n)} for n in extent.shares}
    names = (RENO, RENO_RED, GAMMA, SMOOTHEST, TFRC)
    return Grid(
        AVOIDANCE, watched, {"flows": flows, "transport": {name: watched_system(name) for name in names}}
    )


INTERRUPTION = ("20 s", "21 s")
RECOVERY_WINDOW = 200
"""Receiver's window in Figure 20, segments: above the path's 64 kB, within what path and buffer hold."""


def _recovery(extent: Extent) -> Grid:
    begins, ends = INTERRUPTION
    single = base(
        **{
            "flow.main.count": 1,
            "duration": "120 s",
            "warmup": "15 s",
            "record.bin": "500 ms",
            "record.goodput": ["main"],
            "topology.sink-access.loss": {"model": "blackout", "from": begins, "to": ends},
            "flow.main.recovery": {"from": begins, "to": ends, "levels": LEVELS},
        }
    )
    # 10 ms of access links on either side, the rest between the routers.
    path = {each: {"topology.bottleneck.delay": f"{each / 2 - 20:g} ms"} for each in extent.round_trips}
    names = (RENO, GAMMA, SMOOTHEST, GAMMA_DELTA)
    axes: Axes = {
        "round trip": path,
        "transport": {name: system(name, receiver_window=RECOVERY_WINDOW) for name in names},
    }
    return Grid(RECOVERY, single, axes)


def _single(**overrides: Any) -> Scenario:
    """One flow that begins close to where it will settle, behind a fast access link: what equations speak of."""
    return base(
        **{
            "flow.main.count": 1,
            "topology.source-access": {"rate": "100 Mb/s"},
            "topology.sink-access": {"rate": "100 Mb/s", "reverse": {"loss": {"model": "none"}}},
            **overrides,
        }
    )


WIDE: Mapping[str, Any] = {"receiver_window": 1000, "clock": "fine", "tick": "1 ms"}
"""A window that never binds, round trips to the nanosecond."""


def _equations(extent: Extent) -> list[Grid]:
    lossy = _single(duration="300 s", warmup="20 s")
    per = {one: {"topology.sink-access.loss": {"model": "bernoulli", "rate": one}} for one in extent.losses}
    watched = _single(
        **{
            "duration": "200 s",
            "warmup": f"{SETTLED_S:g} s",
            "record.window-interval": "20 ms",
            "record.windows": ["main"],
            "topology.bottleneck.queue.capacity": {"bdp": 0.5},
        }
    )
    buffers = {
        k: {"topology.bottleneck.queue.capacity": {"bdp": k, "packet": f"{PACKET + 40} B"}}
        for k in extent.buffers
    }
    used = _single(duration="180 s", warmup="60 s")
    knee = _single(
        **{
            "duration": "120 s",
            "warmup": "60 s",
            "flow.main.transport": systems.transport(GAMMA, **WIDE),
            "record.window-interval": "1 s",
            "record.windows": ["main"],
        }
    )
    # No overshoot at the beginning. γ needs it: without ever having met a full buffer it takes the least queue for one.
    clean = family(**{**WIDE, "recovery": "newreno", "initial_threshold": 64})
    return [
        Grid(MODEL, lossy, {"loss": per, "transport": family(**WIDE)}),
        Grid(SAWTOOTH, watched, {"transport": clean}),
        Grid(USE, used, {"k": buffers, "transport": clean}),
        Grid(KNEE, knee, {"k": buffers}),
    ]


def grids(extent: Extent) -> list[Grid]:
    """Everything that figures, tables and claims read."""
    return [
        *_by_flows(extent),
        *_changing(extent),
        *_with_errors(extent),
        _handoffs(extent),
        _spread(extent),
        _avoidance(extent),
        _recovery(extent),
        *_equations(extent),
    ]
