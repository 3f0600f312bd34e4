"""The scenarios: one grid per experiment of paper 003, and small ones for its equations and beyond it.

Every grid is a variation of `scenario.toml` (`dynamic.toml` for a changing number of flows, `beside.toml` for a system
next to Reno). So points that two experiments share are simulated once. An `Extent` gives the size of each grid: all of
the paper's sweeps, or the fewest points that suffice to judge the claims. The changes of a reading apply at every point
after its axes (`readings`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from fairwave.runs.axes import Axes, Label, vary
from fairwave.runs.grid import Grid
from fairwave_studies.smoothness import systems
from fairwave_studies.smoothness.names import (
    AVOIDANCE,
    BESIDE,
    BEYOND,
    BEYOND_READERS,
    CONSTANT,
    CONSTANT_ERRORS,
    ERRORS_10,
    ERRORS_100,
    GAMMA,
    GAMMA_DELTA,
    GAMMA_STREAM,
    GROWING,
    HANDOFFS,
    IIAD,
    KNEE,
    MARKOV,
    MODEL,
    RAP,
    RECOVERY,
    RENO,
    RENO_RED,
    RENO_STREAM,
    SAWTOOTH,
    SHRINKING,
    SMOOTHEST,
    SPREAD,
    SQRT,
    TFRC,
    USE,
    WIRED_10,
    WIRED_100,
)
from fairwave_studies.smoothness.quantities import SETTLED_S
from fairwave_studies.smoothness.systems import family, system
from fairwave_study.texts import load_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairwave.scenario import Scenario
    from fairwave_study.folder import Case
    from fairwave_study.readings import Reading

ROUND_TRIP_S = 0.1
"""Round trip without queueing, seconds, in the base reading."""

PACKET = 1000
"""Packet size in bytes for buffers."""

SHARES = [0.7, 0.9]
"""Shares of a read that the paper's two success percentages ask for."""

LEVELS = [0.8, 0.9, 0.95]
"""Shares of full speed that may count as recovered; the middle one is the base reading's."""

BURST_MS = 20
"""Mean time of the two-state Markov model in its bad state, which loses every packet, ms."""

EARLY = "5 s"
"""From here on short runs are measured, at 100 Mb/s or of applications that read; all others from 15 s on."""

ABREAST = (RENO, SMOOTHEST, GAMMA, TFRC, SQRT, IIAD, RAP)
"""The systems of the comparison beyond the paper."""

READERS = (*ABREAST, RENO_STREAM, GAMMA_STREAM)
"""The same where applications read at a constant rate, with §IV's adaptation of γ to streams."""


@dataclass(frozen=True)
class Extent:
    """How much is simulated.

    Attributes:
        flows: Numbers of flows at 10 Mb/s.
        many_flows: Numbers of flows at 100 Mb/s.
        readers: Numbers of applications that read 1 Mb/s each.
        shares: Numbers of flows at 1 Mb/s each in §IV, which has ten.
        errors: Packet error rates with ten flows.
        crowd_errors: Packet error rates with a hundred.
        many_errors: Packet error rates under which applications still try to read.
        spreads: Largest round trips, ms; the smallest is 30 ms.
        round_trips: Round trips among which Figure 20's is found, ms.
        losses: Loss rates at which Eq. (1) is held against measurement.
        buffers: Buffers over bandwidth-delay product, for Eqs. (13) and (16).
        slow: Length of runs at 10 Mb/s.
        fast: Length of runs at 100 Mb/s.
        fast_few: The same with up to 20 flows, whose windows fit into path and buffer.
        applications: Length of runs of applications that read.
        crowd: Length of runs of a hundred flows with packet errors.
        smooth: Length of the runs that measure smoothness, from 15 s on.
        handoffs: Length of the runs with handoffs.
        both_rates: Whether to simulate both captions of the paper, or only the reading's.
        crowd_flows: How many flows those are; the bottleneck has 1 Mb/s for each.
        leavers: With how many flows Figure 8 begins; the bottleneck has 1 Mb/s for each.
        beyond: Whether systems beyond the paper's are made, and its equations.
    """

    flows: tuple[int, ...] = (10, 20, 30, 40, 60, 80, 100)
    many_flows: tuple[int, ...] = (10, 20, 30, 40, 60, 80, 100)
    readers: tuple[int, ...] = (10, 20, 30, 40, 60, 80, 100)
    shares: tuple[int, ...] = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
    errors: tuple[float, ...] = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05)
    crowd_errors: tuple[float, ...] = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05)
    many_errors: tuple[float, ...] = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4)
    spreads: tuple[int, ...] = (50, 100, 150, 200, 250, 300)
    round_trips: tuple[int, ...] = (80, 100, 120, 140, 160, 180, 200, 220, 240, 260)
    losses: tuple[float, ...] = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
    buffers: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
    slow: str = "60 s"
    fast: str = "30 s"
    fast_few: str = "30 s"
    applications: str = "20 s"
    crowd: str = "20 s"
    smooth: str = "40 s"
    handoffs: str = "300 s"
    crowd_flows: int = 100
    leavers: int = 100
    both_rates: bool = True
    beyond: bool = True


PAPER = Extent()
"""The paper's sweeps."""

ESSENTIAL = Extent(
    flows=(10, 50, 100),
    many_flows=(10, 20, 40),
    readers=(10, 20),
    shares=(10, 20),
    errors=(0.0, 0.01, 0.05),
    crowd_errors=(0.0, 0.01, 0.05),
    many_errors=(0.0, 0.01, 0.05),
    spreads=(50, 300),
    round_trips=(100, 160, 240),
    slow="30 s",
    fast="9 s",
    fast_few="7 s",
    applications="11 s",
    crowd="10 s",
    crowd_flows=20,
    leavers=48,
    smooth="30 s",
    handoffs="200 s",
    both_rates=False,
    beyond=False,
)
"""The fewest points that suffice to judge every claim, for each of many readings."""

RATES = ("10 Mb/s", "100 Mb/s")
"""What Figure 7's bottleneck and Figures 10 and 12's wireless links may have."""


_read = partial(load_scenario, __file__)
"""Loads a scenario in the folder of this module."""


def base(**overrides: Any) -> Scenario:
    """The base scenario in the folder of this module, with some paths set."""
    return _read("scenario", **overrides)


def rate(megabits: float) -> dict[str, Any]:
    """Bottleneck and access links alike."""
    return {"topology.bottleneck.rate": f"{megabits:g} Mb/s", "topology.access.rate": f"{megabits:g} Mb/s"}


def errors(per: float) -> dict[str, Any]:
    """Packet errors on the links to the sinks; none is the wired network itself."""
    return {"topology.sink-access.loss": {"model": "bernoulli", "rate": per} if per else {"model": "none"}}


def buffer_packets(megabits: float, round_trip_s: float = ROUND_TRIP_S) -> float:
    """One bandwidth-delay product in packets."""
    return megabits * 1e6 * round_trip_s / (8 * PACKET)


THRESHOLDS = {"a sixth and a half": (1 / 6, 1 / 2), "a quarter and three quarters": (1 / 4, 3 / 4)}
"""RED's thresholds as shares of the buffer, by reading."""

RED_LAWS: Mapping[str, Mapping[str, Any]] = {
    "1993": {"max-p": 0.02, "weight": 0.002, "gentle": False, "wait": False, "mean-packet": f"{PACKET} B"},
    "ns2-2004": {"preset": "ns2-2004"},
    "2000": {"max-p": 0.1, "weight": 0.002, "gentle": True, "wait": False, "mean-packet": f"{PACKET} B"},
}
"""RED's law by reading."""


def red(packets: float, reading: Reading) -> dict[str, Any]:
    """RED over a buffer of this many packets, by the reading."""
    shares = THRESHOLDS.get(reading["red-thresholds"])
    low, high = (packets * shares[0], packets * shares[1]) if shares else (5, 15)
    return {
        "discipline": "red",
        "capacity": {"packets": max(round(packets), 1)},
        "min-threshold": low,
        "max-threshold": high,
        **RED_LAWS[reading["red"]],
    }


def round_trip_s(reading: Reading) -> float:
    """The round trip without queueing, seconds."""
    return float(reading["round-trip"].split()[0]) / 1e3


def shared(flows: int) -> dict[str, Any]:
    """This many flows at a bottleneck of 1 Mb/s each."""
    return {"flow.main.count": flows, "topology.bottleneck.rate": f"{flows} Mb/s"}


def constant() -> dict[str, Any]:
    """Applications that send and read 1 Mb/s."""
    return {
        "flow.main.traffic": {"kind": "cbr", "rate": "1 Mb/s", "payload": "1000 B", "phase": "zero"},
        "flow.main.playback": {"rate": "1 Mb/s", "buffer": "125 kB", "shares": SHARES},
    }


def _rate_of_flows(labels: dict[str, Label]) -> float:
    """The bottleneck's rate where every flow has 1 Mb/s of it."""
    return float(labels["flows"])


def _megabits(rate: Label) -> float:
    return float(str(rate).split()[0])


def _grids_over_flows(extent: Extent) -> list[Grid]:
    fast = base(**rate(100), warmup=EARLY)
    flows = vary("flow.main.count", extent.flows)
    many = {
        number: {"flow.main.count": number, "duration": extent.fast_few if number <= 20 else extent.fast}
        for number in extent.many_flows
    }
    slow = base(duration=extent.slow)
    constant_rate = base(**constant(), duration=extent.applications, warmup=EARLY)
    return [
        Grid(WIRED_10, slow, {"flows": flows, "transport": family(10)}),
        Grid(WIRED_100, fast, {"flows": many, "transport": family(100)}),
        Grid(
            CONSTANT,
            constant_rate,
            {"flows": {n: shared(n) for n in extent.readers}, "transport": family(_rate_of_flows)},
        ),
    ]


def _rates(extent: Extent, of_reading: str) -> tuple[str, ...]:
    return RATES if extent.both_rates else (of_reading,)


GROUPS, GROUP_COUNTS = ("first", "second", "third", "fourth"), (12, 13, 25, 50)
"""The groups of Figures 7 and 8, and how many flows each has."""


def _changing(extent: Extent, reading: Reading) -> list[Grid]:
    growing = _read("dynamic")
    beginning = {"from": "0 s", "to": "100 ms"}
    leaving: dict[str, Any] = {f"flow.{name}.start": beginning for name in ("second", "third", "fourth")}
    leaving |= {"flow.second.stop": "25 s", "flow.third.stop": "20 s", "flow.fourth.stop": "15 s"}

    share = extent.leavers / 100
    counts = zip(GROUPS, GROUP_COUNTS, strict=True)
    leaving |= {f"flow.{name}.count": round(count * share) for name, count in counts}

    def axes(rates: tuple[str, ...], share: float = 1.0) -> Axes:
        return {
            "bottleneck": {name: rate(_megabits(name) * share) for name in rates},
            "transport": family(lambda labels: _megabits(labels["bottleneck"]) * share),
        }

    return [
        Grid(GROWING, growing, axes(_rates(extent, reading["rate-of-7"]))),
        # Figure 8's caption and the text agree on 100 Mb/s.
        Grid(SHRINKING, growing.with_overrides(leaving), axes(_rates(extent, "100 Mb/s"), share)),
    ]


def markov(per: float) -> dict[str, Any]:
    """The same share of packets lost by a two-state Markov model, in bursts."""
    if not per:
        return errors(per)
    good = BURST_MS * (1 - per) / per
    return {"topology.sink-access.loss": {"model": "markov", "good": f"{good:g} ms", "bad": f"{BURST_MS} ms"}}


def _with_errors(extent: Extent, reading: Reading) -> list[Grid]:
    many = extent.crowd_flows
    crowd: dict[str, Any] = {"flow.main.count": many, **rate(many), "duration": extent.crowd, "warmup": EARLY}
    reading_crowd = {**crowd, "duration": extent.applications}
    wireless = vary("topology.sink-access.rate", _rates(extent, reading["wireless"]))
    # As fast as everything else: then it is the same network as without any wireless link.
    if "100 Mb/s" in wireless:
        wireless["100 Mb/s"] = {}
    slow_sinks = {"topology.sink-access.rate": "10 Mb/s"}
    slow, dense = base(duration=extent.slow), max(extent.errors)

    def lossy(rates: tuple[float, ...]) -> dict[float, dict[str, Any]]:
        return {one: errors(one) for one in rates}

    return [
        Grid(ERRORS_10, slow, {"per": lossy(extent.errors), "transport": family(10)}),
        Grid(MARKOV, slow, {"per": {one: markov(one) for one in (0.0, dense)}, "transport": family(10)}),
        Grid(
            ERRORS_100,
            base(**crowd),
            {"wireless": wireless, "per": lossy(extent.crowd_errors), "transport": family(many)},
        ),
        Grid(
            CONSTANT_ERRORS,
            base(**reading_crowd, **constant(), **slow_sinks),
            {"per": lossy(extent.many_errors), "transport": family(many)},
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
        label: {
            "topology.sink-access.loss": {"model": "handoff", "up": "5 s", "down": label, "regular": True}
        }
        for label in ("500 ms", "1 s")
    }
    return Grid(HANDOFFS, single, {"down": down, "transport": family()})


def _spread(extent: Extent, reading: Reading) -> Grid:
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
        "RED": {"topology.bottleneck.queue": red(packets, reading)},
    }
    return Grid(SPREAD, twenty, {"queue": queues, "largest": largest, "transport": family(10)})


def _avoidance(extent: Extent, reading: Reading) -> Grid:
    """§IV: five systems at 1 Mb/s per flow."""
    watched = base(**{"duration": extent.smooth, "record.bin": "500 ms"})
    products = 0.5 if reading["buffers"] == "one way" else 1.0

    def watched_system(name: str) -> Any:
        def changes(labels: dict[str, Label]) -> dict[str, Any]:
            found: dict[str, Any] = dict(system(name, _rate_of_flows)(labels))
            if name == RENO_RED:
                packets = products * buffer_packets(float(labels["flows"]), round_trip_s(reading))
                found["topology.bottleneck.queue"] = red(packets, reading)
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


def _extra_grids(extent: Extent) -> list[Grid]:
    """Smooth systems of the time: among themselves, with applications that read, and next to Reno."""
    twenty = {"flow.main.count": 20, **rate(20)}
    smooth = base(**twenty, **{"duration": extent.smooth, "record.bin": "500 ms"})
    # Access links of 10 Mb/s, as in Figure 6.
    readers = base(**shared(20), **constant(), duration=extent.slow)
    per = {one: errors(one) for one in (0.0, 0.01, 0.02)}
    beside = _read("beside")
    return [
        Grid(BEYOND, smooth, {"transport": {name: system(name, 20) for name in ABREAST}}),
        Grid(
            BEYOND_READERS, readers, {"per": per, "transport": {name: system(name, 20) for name in READERS}}
        ),
        Grid(BESIDE, beside, {"transport": {name: system(name, 20, flows="main") for name in ABREAST}}),
    ]


INTERRUPTION = ("20 s", "21 s")
RECOVERY_MOST_S = 99.0
"""Time from the end of the interruption to the end of the run, seconds: the longest visible recovery."""

RECOVERY_PRODUCTS = 1.25
"""Receiver's window in Figure 20 over the bandwidth-delay product: it fills the path, and path and buffer hold it."""


def recovery_window(round_trip_ms: float) -> int:
    """Receiver's window in Figure 20, segments."""
    return round(RECOVERY_PRODUCTS * buffer_packets(10, round_trip_ms / 1e3))


def _recovery(extent: Extent, reading: Reading) -> Grid:
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
    elsewhere = round(1e3 * round_trip_s(reading))
    trips = extent.round_trips if reading["figure-20"] == "calibrated" else (elsewhere,)
    path = {each: {"topology.bottleneck.delay": f"{each / 2 - 20:g} ms"} for each in trips}

    def wide(name: str) -> Any:
        return lambda labels: system(name, receiver_window=recovery_window(labels["round trip"]))(labels)

    names = (RENO, GAMMA, SMOOTHEST, GAMMA_DELTA)
    axes: Axes = {"round trip": path, "transport": {name: wide(name) for name in names}}
    return Grid(RECOVERY, single, axes)


def _single(**overrides: Any) -> Scenario:
    """One flow that begins close to its equilibrium, behind a fast access link: the situation of the equations.

    With ns-2.35's decreases, which are not rounded to whole segments.
    """
    return base(
        **{
            "preset": "ns2",
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


def grids(case: Case) -> list[Grid]:
    """All grids. No reading changes the grids of the equations (`readings.UNCHANGED`)."""
    extent, reading = case.extent, case.reading
    return [
        *_grids_over_flows(extent),
        *_changing(extent, reading),
        *_with_errors(extent, reading),
        _handoffs(extent),
        _spread(extent, reading),
        _avoidance(extent, reading),
        _recovery(extent, reading),
        *([*_extra_grids(extent), *_equations(extent)] if extent.beyond else []),
    ]
