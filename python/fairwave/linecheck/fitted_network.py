"""Fits a network to a measured line, and simulates the same call over it with other queues.

Rates are direct estimates: the load that TCP carried, with headers and probes. The buffer is the largest queueing
delay times the rate, if packets were lost under load. Simulation finds the queue's discipline as in `fairwave fit`
(`fitting`): each discipline carries the same load and probes, and their results are compared with the measurement.

**Assumptions.** One bottleneck each way, with a steady rate. Only the measurement's load fills it. Each direction has
half of the least round trip. The kernel's TCP is simulated by the counterparts of `fairwave live --beside`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.building import build
from fairwave.fitting.bottleneck import Interval
from fairwave.fitting.candidates import FAMILIES
from fairwave.fitting.choosing import CERTAIN, SCALES, delay_features, distance
from fairwave.fitting.fitted import MISFIT
from fairwave.fitting.path import TOP
from fairwave.live.comparison import SIMULATED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairwave.fitting.choosing import Features
    from fairwave.linecheck.line import Line, Load, Numbers, Span
    from fairwave.scenario import Scenario

HEADERS = 52
"""Bytes of IPv4 and TCP with timestamps before a segment."""

SEGMENT = 1448
"""Payload bytes of a full TCP segment if the system does not report it."""

WINDOWS, WIDEST_S = 12, 0.5
"""A rate is estimated over `WINDOWS` windows, or over more if each would exceed `WIDEST_S` seconds."""

BUSY = 0.75
"""Quantile of the windows' rates that counts as the rate. TCP leaves a short queue empty and the line idle at times."""

BEGIN = 0.25
"""Share of a loaded phase that the rate leaves out, because TCP begins slowly."""

LEAST_S = 2.0
"""Shortest load for a rate estimate, in seconds."""

LEAST_LOSSES = 3
"""Smallest number of losses for a loss model."""

AGAIN = 0.001
"""A larger share of retransmitted segments shows that a queue overflowed, if the idle line loses nothing."""

SEEDS = 3
"""Runs of each explanation."""

LINKS = {"up": "here>far", "down": "far>here"}

SHAPED = 0.95
"""Share of the rate to which your router shapes, so that the queue builds up in your router."""

OTHERS = ("codel", "fq-codel", "cake")
"""Queues to try by default."""


@dataclass(frozen=True)
class Side:
    """One direction of the fitted network.

    Attributes:
        direction: `up` or `down`.
        rate: Rate of the bottleneck, bit/s of IP.
        queue: The discipline that explains the measurement best.
        families: Weight of each family of queues, the largest first.
        buffer: Bytes of the buffer; a lower limit if `full` is false.
        full: Whether overflows were seen, so that the buffer is known.
        deepest_s: The largest queueing delay of a probe, in seconds.
        random_loss: Share of probes that the idle line lost; 0 if there were too few losses.
        loss_run: Mean length of runs of these losses, in packets.
        control: Congestion control of the load.
        distance: Distance of the best explanation, in units of tolerance.
    """

    direction: str
    rate: Interval
    queue: str
    families: dict[str, float]
    buffer: float
    full: bool
    deepest_s: float
    random_loss: float
    loss_run: float
    control: str
    distance: float

    @property
    def certain(self) -> bool:
        """Whether the family of the queue is certain."""
        return next(iter(self.families.values()), 0.0) >= CERTAIN

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as plain data."""
        return {**vars(self), "rate": self.rate.to_dict()}


@dataclass(frozen=True)
class Network:
    """The fitted network.

    Attributes:
        sides: The fitted directions; a direction is missing if its load was too short for an estimate.
        trip_s: The least round trip, in seconds.
        unknown: Properties that the measurement cannot show, one sentence each.
        connections: TCP connections of the load.
    """

    sides: dict[str, Side]
    trip_s: float
    unknown: list[str]
    connections: int

    def scenario(self, loaded: Sequence[str] = ("up", "down"), lasts_s: float = 30.0) -> Scenario:
        """Builds the network with a call each way, and load in some directions."""
        return _scenario(self.sides, self.trip_s, loaded, lasts_s, self.connections, "the measured line")

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as plain data."""
        return {
            "sides": {name: side.to_dict() for name, side in self.sides.items()},
            "least_round_trip_s": self.trip_s, "unknown": self.unknown,
        }  # fmt: skip


def rate_of(line: Line, direction: str) -> Interval | None:
    """Returns the rate at which a direction carried load, bit/s of IP; None if the load was too short."""
    load, span = line.loads.get(direction), line.span(direction)
    if load is None or span is None or not load.carried:
        return None
    end = _loaded_until(load, span)
    from_s = span.from_s + BEGIN * (end - span.from_s)
    if end - span.from_s < LEAST_S:
        return None
    width = min((end - from_s) / WINDOWS, WIDEST_S)
    edges = np.linspace(from_s, end, round((end - from_s) / width) + 1)
    segment = load.segment or SEGMENT
    carried = load.arrived(edges, segment)
    came = line.delays_during(span, direction)
    probes = 8 * line.size * (1 - float(np.isnan(came).mean())) / line.interval_s if len(came) else 0.0
    rates = 8 * carried * (segment + HEADERS) / segment / np.diff(edges) + probes
    count = len(rates)
    draw = np.random.default_rng(1)
    several = np.quantile(rates[draw.integers(0, count, (400, count))], BUSY, axis=1)
    low, high = np.quantile(several, [0.025, 0.975])
    value = float(np.quantile(rates, BUSY))
    return Interval(value, float(low), float(high))


def least_rate(line: Line, direction: str) -> float | None:
    """Returns the mean rate of the load, bit/s above TCP: a lower limit even for a short load. None without load."""
    load = line.loads.get(direction)
    if load is None or not load.carried:
        return None
    return 8 * load.carried / (float(load.at_s[-1] - load.at_s[0]) + load.bin_s)


def _loaded_until(load: Load, span: Span) -> float:
    """Returns when the load ended: with its phase, or when its allowance was used up."""
    within = load.at_s[(load.at_s >= span.from_s) & (load.at_s < span.to_s)]
    last = float(within[-1]) + load.bin_s if len(within) else span.from_s
    return min(last, span.to_s) if load.ended_early else span.to_s


def fitted(line: Line, progress: Callable[[int, int], None] | None = None) -> Network | None:
    """Fits the network that explains a line best; None if no load came through.

    Args:
        line: The measurement.
        progress: Called with the number of tried explanations and their total.
    """
    rates = {direction: rate_of(line, direction) for direction in ("up", "down")}
    known = {direction: rate for direction, rate in rates.items() if rate is not None and rate.value >= 16e3}
    if not known:
        return None
    connections = max((line.loads[one].connections for one in known), default=4) or 4
    begun = {direction: _first(line, direction, rate) for direction, rate in known.items()}
    total = sum(len(_candidates(one)) for one in begun.values())
    sides, done = {}, 0
    for direction, first in begun.items():
        scored = []
        wanted = _measure_features(line, direction)
        for one in _candidates(first):
            tried = {**begun, direction: one}
            apart, size = distance(
                wanted,
                [_simulated(tried, direction, line, connections, seed) for seed in range(1, SEEDS + 1)],
            )
            scored.append((one, apart, -size * apart**2 / 2))
            done += 1
            if progress is not None:
                progress(done, total)
        weights = np.exp(np.asarray([log for _, _, log in scored]) - max(log for _, _, log in scored))
        weights /= weights.sum()
        families: dict[str, float] = {}
        for (one, _, _), weight in zip(scored, weights.tolist(), strict=True):
            families[FAMILIES[one.queue]] = families.get(FAMILIES[one.queue], 0.0) + weight
        families = dict(sorted(families.items(), key=lambda item: -item[1]))
        best, apart, _ = scored[int(weights.argmax())]
        sides[direction] = replace(best, families=families, distance=apart)
    return Network(sides, line.least_trip_s, _unknown(sides), connections)


def _first(line: Line, direction: str, rate: Interval) -> Side:
    """Makes the direct estimates of a direction, with a tail-drop queue."""
    span, load = line.span(direction), line.loads[direction]
    assert span is not None
    loaded = line.delays_during(span, direction)
    came = loaded[~np.isnan(loaded)]
    deepest = float(np.quantile(came, 0.995)) if len(came) else 0.0
    share, run = _idle_loss(line, direction)
    overflowed = _overflowed(loaded, deepest, share, load.again)
    control = load.control[0] if load.control else "cubic"
    return Side(
        direction, rate, "drop-tail", {}, max(deepest * rate.value / 8, 3000.0), overflowed, deepest, share, run,
        control, float("nan"),
    )  # fmt: skip


def _overflowed(loaded: Numbers, deepest: float, share: float, again: float) -> bool:
    """Whether a queue overflowed: losses at the largest delays, or retransmissions on a line without random loss."""
    if not share and np.isfinite(again) and again > AGAIN:
        return True
    lost = np.isnan(loaded)
    if lost.all() or not lost.any():
        return False
    place = np.arange(len(loaded))
    high = np.interp(place, place[~lost], loaded[~lost]) >= TOP * deepest
    at_top = int((lost & high).sum())
    return at_top >= LEAST_LOSSES and at_top > 3 * share * float(high.sum())


def _idle_loss(line: Line, direction: str) -> tuple[float, float]:
    idle = line.span("idle")
    if idle is None:
        return 0.0, 1.0
    lost = np.isnan(line.delays_during(idle, direction))
    if lost.sum() < LEAST_LOSSES:
        return 0.0, 1.0
    runs = int((np.diff(np.concatenate([[0], lost.astype(np.int8)])) == 1).sum())
    return float(lost.mean()), float(lost.sum()) / runs


def _candidates(first: Side) -> list[Side]:
    """Returns all explanations of a direction. Disciplines that discard early get a buffer that they do not fill."""
    return [
        first
        if queue == "drop-tail"
        else replace(first, queue=queue, buffer=max(4 * first.buffer, 150_000.0))
        for queue in FAMILIES
    ]


def _measure_features(line: Line, direction: str) -> Features:
    """Returns the compared features of a loaded phase."""
    span, load = line.span(direction), line.loads[direction]
    assert span is not None
    raised = line.delays_during(span, direction)
    found: Features = {}
    delay_features("delay", raised[~np.isnan(raised)], found)
    found["loss"] = (float(np.sqrt(np.isnan(raised).mean())), SCALES["loss"])
    took = _loaded_until(load, span) - span.from_s
    arrived = load.arrived(np.asarray([span.from_s, span.from_s + took]), load.segment or SEGMENT)
    found["rate"] = (float(np.log(max(8 * arrived[0] / took, 1.0))), SCALES["rate"])
    if np.isfinite(load.again):
        found["segments again"] = (float(np.sqrt(load.again)), SCALES["loss"])
    return found


def _simulated(sides: dict[str, Side], direction: str, line: Line, connections: int, seed: int) -> Features:
    """Returns the same features for one simulated run."""
    span, load = line.span(direction), line.loads[direction]
    assert span is not None
    lasts = span.to_s - span.from_s
    took = _loaded_until(load, span) - span.from_s
    made = _scenario(sides, line.least_trip_s, (direction,), lasts, connections, "an explanation", took)
    results = made.run(seed)
    units, flows = results.rows("units"), results.rows("flows")
    groups = flows["group"].to_list()
    ours = units.only(flow=f"call-{direction}[0]")
    created, arrived = (ours.numbers(name) for name in ("created_s", "arrived_s"))
    came = ~np.isnan(arrived)
    found: Features = {}
    # Delay of a packet without queueing. Measured delays count from this value too.
    side = sides[direction]
    least = line.least_trip_s / 2 + 8 * line.size / side.rate.value
    delay = np.maximum((arrived - created)[came] - least, 0.0)
    delay_features("delay", delay, found)
    # Packets sent shortly before the end may still be on their way.
    settled = created <= lasts - 0.1 - 2 * side.deepest_s
    found["loss"] = (float(np.sqrt(1 - came[settled].mean())) if settled.any() else 0.0, SCALES["loss"])
    load_rows = [place for place, group in enumerate(groups) if group == f"load-{direction}"]
    good = 8 * sum(float(flows.numbers("payload_received")[place]) for place in load_rows)
    found["rate"] = (float(np.log(max(good / took, 1.0))), SCALES["rate"])
    sent = sum(float(flows.numbers("packets_sent")[place]) for place in load_rows)
    gone = sum(float(flows.numbers(name)[place]) for place in load_rows for name in ("dropped", "lost"))
    found["segments again"] = (float(np.sqrt(gone / max(sent, 1.0))), SCALES["loss"])
    return found


def _scenario(
    sides: dict[str, Side],
    trip_s: float,
    loaded: Sequence[str],
    lasts_s: float,
    connections: int,
    name: str,
    load_s: float | None = None,
) -> Scenario:
    delay = f"{max(trip_s / 2, 1e-5) * 1e3:.4g} ms"
    link: dict[str, Any] = {"from": "here", "to": "far", "delay": delay, **_direction(sides.get("up"), sides)}
    link["reverse"] = _direction(sides.get("down"), sides)
    flows: list[dict[str, Any]] = []
    packets = int(lasts_s / 0.02)
    for direction in ("up", "down"):
        ends = {"from": "here", "to": "far"} if direction == "up" else {"from": "far", "to": "here"}
        flows.append({
            "name": f"call-{direction}", **ends, "transport": "udp",
            "traffic": {"kind": "recording", "codec": "g711", "packet-time": "20 ms", "talk": [[0, packets]]},
        })  # fmt: skip
        if direction in loaded and direction in sides:
            control = sides[direction].control
            stop = {} if load_s is None or load_s >= lasts_s - 0.01 else {"stop": f"{load_s:.4g} s"}
            flows.append({
                "name": f"load-{direction}", **ends, "count": connections,
                "transport": dict(SIMULATED.get(f"host/{control}", SIMULATED["host/cubic"])), "traffic": "bulk",
                **stop,
            })  # fmt: skip
    return build(
        name, f"{lasts_s:g} s", links=[link], flows=flows, preset="linux",
        record={"units": ["call-up", "call-down"]},
    )  # fmt: skip


def _direction(side: Side | None, sides: dict[str, Side]) -> dict[str, Any]:
    if side is None:
        # Without an estimate, assume ten times the rate of the other direction.
        fastest = max(one.rate.value for one in sides.values())
        return {"rate": f"{10 * fastest:.6g} b/s", "queue": "drop-tail", "loss": "none"}
    made: dict[str, Any] = {
        "rate": f"{side.rate.value:.6g} b/s",
        "queue": {"discipline": side.queue, "capacity": {"bytes": int(side.buffer)}},
        "loss": "none",
    }
    if side.random_loss:
        made["loss"] = (
            {"model": "bernoulli", "rate": side.random_loss}
            if side.loss_run < 1.2
            else {"model": "gilbert", "rate": side.random_loss, "run": side.loss_run}
        )
    return made


def _unknown(sides: dict[str, Side]) -> list[str]:
    said = []
    for direction in ("up", "down"):
        side = sides.get(direction)
        if side is None:
            said.append(f"Rate and queue {direction}ward: too little load came through.")
            continue
        if side.random_loss:
            said.append(
                f"The rate {direction}ward: the line loses packets while it is idle, and TCP may not have filled it. "
                f"It is at least {side.rate.value / 1e6:.3g} Mb/s."
            )
        if not side.full or side.queue != "drop-tail":
            said.append(
                f"The buffer {direction}ward: no overflow of it was seen. It holds at least "
                f"{side.deepest_s * side.rate.value / 8e3:.3g} kB."
            )
        if not side.certain:
            shares = ", ".join(
                f"{name} {share:.0%}" for name, share in side.families.items() if share >= 0.02
            )
            said.append(f"The queue {direction}ward for certain: {shares}.")
        if side.distance > MISFIT:
            said.append(
                f"Much of what was seen {direction}ward: the best explanation is {side.distance:.1f} units away (1 "
                "is alike)."
            )
    return said


@dataclass(frozen=True)
class Alternative:
    """The call over the fitted network under one queue.

    Attributes:
        queue: The discipline.
        shaped: Share of the rate to which a router shapes; 1 without shaping.
        mos: Loaded direction to the MOS of the call in that direction, one value per run.
    """

    queue: str
    shaped: float
    mos: dict[str, list[float]]

    @property
    def title(self) -> str:
        """The queue in words."""
        return self.queue if self.shaped == 1 else f"{self.queue} at {100 * self.shaped:.0f} % of the rate"

    def median(self, direction: str) -> float:
        """Returns the median MOS of the runs: under FQ-CoDel a call may share its queue with a transfer by chance."""
        return float(np.median(self.mos[direction])) if self.mos.get(direction) else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as plain data."""
        return {"queue": self.queue, "shaped": self.shaped, "title": self.title, "mos": self.mos}


def alternatives(network: Network, queues: Sequence[str] = OTHERS, seeds: int = 20) -> list[Alternative]:
    """Simulates the call with load in each direction: over the fitted line, then with other queues in your router.

    Args:
        network: The fitted network.
        queues: Disciplines, as the scenario language names them.
        seeds: Runs of each queue.

    Raises:
        ScenarioError: There is no such discipline.
    """
    return [
        _alternative(network, queue, shaped, seeds)
        for queue, shaped in ((None, 1.0), *((one, SHAPED) for one in queues))
    ]


def tried(queue: str) -> None:
    """Checks before the measurement that a discipline can replace the line's queue.

    Raises:
        ScenarioError: There is no such discipline, or it needs more than a size.
    """
    rate = Interval(1e6, 1e6, 1e6)
    side = Side("up", rate, queue, {}, 150_000.0, full=False, deepest_s=0.1, random_loss=0.0, loss_run=1.0,
                control="cubic", distance=0.0)  # fmt: skip
    _scenario({"up": side}, 0.03, ("up",), 1.0, 1, "a queue").plan()


def _alternative(network: Network, queue: str | None, shaped: float, seeds: int) -> Alternative:
    found = {}
    for direction, side in network.sides.items():
        changed = network
        if queue is not None:
            rate = side.rate
            other = replace(
                side, queue=queue, rate=Interval(shaped * rate.value, shaped * rate.low, shaped * rate.high),
                buffer=max(side.buffer, 150_000.0),
            )  # fmt: skip
            changed = replace(network, sides={**network.sides, direction: other})
        results = changed.scenario((direction,)).replicate(seeds)
        scores = results.rows("flows").only(group=f"call-{direction}").numbers("mos")
        found[direction] = [float(one) for one in scores if np.isfinite(one)]
    return Alternative(
        queue or " and ".join(dict.fromkeys(one.queue for one in network.sides.values())), shaped, found
    )
