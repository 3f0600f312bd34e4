"""A link alone: its scenario, how long it is simulated, what it resembles, and what its run says of calls.

A link direction becomes a small scenario: its rate, delay and queue, and the flows that cross it. Calls over UDP go
into it directly, as nothing upstream reacts to them. All other flows enter over the links that bring them: one link
for each link upstream, as slow as the slowest there, and a fast one for flows that begin here. That link has the
propagation of the rest of the path, so TCP reacts within its round-trip time. Calls take their share of the links
upstream as well, so a link that brings files is slower by it.

**Assumptions.** Losses on the rest of the path all occur before the link †. Flows that enter over the same link have
the mean delay of the rest of their paths †.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fairwave.scenario import Scenario
from fairwave_network import units
from fairwave_network.measuring import LinkRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from fairwave_network.language import Group, Network
    from fairwave_network.topology import Link as Edge

    Numbers = NDArray[np.float64]

FLOWS = 10
"""A link is simulated until so many files have arrived there in all runs, in the mean †."""

PERIODS = 3.0
"""A link is simulated for so many of its relaxation times †, but not longer than the network."""

LEAST = 3.0
"""Least measured time of a link's run, s †; the time before it is at least a second."""

LOSSES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2)
"""Losses on the rest of the path are rounded to the nearest of these."""

WAIT = 1e-3
"""Waits on the rest of the path are rounded to multiples of this, s."""

PLACE = 0.5e-3
"""Propagation of the rest of the path is rounded to multiples of this, s."""

FAST = 10.0
"""A flow that begins at a link's node enters at so many times the link's rate †."""

PACKET = 1500 * 8
"""A packet of TCP, bits."""

WINDOW = 10 * PACKET
"""What a TCP sender may send at once at its start, bits (RFC 6928)."""

RATED = 64
"""So many calls at once are rated, in the mean †. The others send the same packets and have the playout `UNRATED`."""

UNRATED = {"strategy": "fixed", "delay": "60 ms"}
"""Costs less to simulate than a jitter buffer that adapts."""

AT = (0.0, 0.5, 0.95, 0.99, 1.0)
"""Shares at which the distribution of a call's waits is known."""

RANKS = 100
"""A call's waits are represented by so many quantiles, equally far apart."""

_RANKS = (np.arange(RANKS) + 0.5) / RANKS


@dataclass
class Conditions:
    """What is known of a link: its discarded share and its mean wait, s."""

    loss: float = 0.0
    wait: float = 0.0


class Features(NamedTuple):
    """What decides how packets wait on a link, apart from its rate and queue.

    Attributes:
        odds: Logarithm of load / (1 - load).
        wait: Logarithm of an estimate of the mean wait, s.
        local: Share of the files' traffic that begins here.
        slower: By how many doublings the links before it are slower, in the mean.
        lost: Share that files lose on the rest of their paths.
    """

    odds: float
    wait: float
    local: float
    slower: float
    lost: float


@dataclass
class Link:
    """What a run says of a link direction.

    Attributes:
        losses: Share of each of its calls' packets that the link lost.
        waits: Of each of its calls `RANKS` quantiles of the wait, s.
        late: Cost of lateness of each of its calls, in points of R.
        heard: Of each of its calls: the lost share, the cost of loss in points of R, the mouth-to-ear time less the
            95th percentile of delay (s).
        run: Use, discards, mean wait.
        windows: How many times as long as the link's run a call in the network is observed, rounded.
    """

    losses: Numbers
    waits: Numbers
    late: Numbers
    heard: Numbers
    run: LinkRun
    windows: int = 1

    def scaled(self, factor: float, utilisation: float) -> Link:
        """A link that resembles it, with longer waits and more losses by a factor."""
        run = LinkRun(utilisation, min(self.run.dropped * factor, 1.0), self.run.wait_s * factor)
        losses = np.minimum(self.losses * factor, 1.0)
        return Link(losses, self.waits * factor, self.late, self.heard, run, self.windows)

    def pooled(self, several: Sequence[Link]) -> Link:
        """The same with the calls of all runs, where a run is shorter than what a call in the network lasts through."""
        if self.windows == 1:
            return self
        losses, waits, late = (
            np.concatenate([getattr(one, name) for one in several]) for name in ("losses", "waits", "late")
        )
        return Link(losses, waits, late, self.heard, self.run, self.windows)


def odds(load: float) -> float:
    """Load / (1 - load), of loads from 0.1 % to 99.9 %."""
    load = min(max(load, 1e-3), 1 - 1e-3)
    return load / (1 - load)


def direct(group: Group) -> bool:
    """Whether a group's flows go into the link directly: calls over UDP."""
    return group.mix.kind == "calls" and group.mix.flow["transport"] == "udp"


@dataclass(frozen=True)
class _Entry:
    """The flows of several groups that enter over the same link, whose name is empty where they begin here."""

    before: str
    rate: float
    parts: list[tuple[Group, list[str]]]

    @property
    def bits(self) -> float:
        """What they offer, b/s."""
        return sum(group.offered_bps for group, _ in self.parts)

    def lost(self, known: dict[str, Conditions]) -> float:
        """Share that is lost on the rest of the path."""
        return -math.expm1(
            -self.mean({name: -math.log1p(-min(one.loss, 0.9)) for name, one in known.items()})
        )

    def mean(self, of: dict[str, float]) -> float:
        """The sum of something over the links of the rest of the path, the mean over flows."""
        weights = [group.offered_bps for group, _ in self.parts]
        sums = [sum(of.get(name, 0.0) for name in rest) for _, rest in self.parts]
        return sum(weight * one for weight, one in zip(weights, sums, strict=True)) / sum(weights)


class Alone:
    """A link direction and the groups that cross it.

    Args:
        network: The network.
        name: `a>b`.
        edge: The link.
        crossing: Groups with data in this direction.
        rates: The rate of each link direction, b/s.
        delays: The propagation of each link direction, s.
        taken: What calls over UDP take of each link direction, b/s.
    """

    def __init__(
        self, network: Network, name: str, edge: Edge, crossing: Sequence[Group], rates: dict[str, float],
        delays: dict[str, float], taken: dict[str, float],
    ) -> None:  # fmt: skip
        self.network, self.name, self.edge = network, name, edge
        self._delays = delays
        self.load = sum(group.offered_bps for group in crossing) / edge.rate_bps
        self._calls = [group for group in crossing if direct(group)]
        parts: dict[str, list[tuple[Group, list[str]]]] = defaultdict(list)
        for group in crossing:
            if not direct(group):
                way = network.crossed(group)
                at = way.index(name)
                parts[way[at - 1] if at else ""].append((group, way[:at] + way[at + 1 :]))
        self._entries = [
            _Entry(
                before, max(rates[before] - taken.get(before, 0.0), rates[before] / FAST) if before
                else edge.rate_bps * FAST, some,
            )
            for before, some in sorted(parts.items())
        ]  # fmt: skip
        self._files = [
            (entry, group) for entry in self._entries for group, _ in entry.parts if group.mix.lasts_s is None
        ]
        total = sum(entry.bits for entry in self._entries) or 1.0
        self._shares = [(entry.bits / total, entry) for entry in self._entries]
        self._here = sum(share for share, entry in self._shares if not entry.before)
        self.wait_s = self._estimate_s()

    def features(self, known: dict[str, Conditions]) -> Features:
        """What decides how packets wait here, with what is known of other links."""
        slower = (
            share * math.log2(max(self.edge.rate_bps / entry.rate, 1.0)) for share, entry in self._shares
        )
        lost = sum(share * entry.lost(known) for share, entry in self._shares)
        return Features(math.log(odds(self.load)), math.log(self.wait_s), self._here, sum(slower), lost)

    def _estimate_s(self) -> float:
        """An estimate of the mean wait, s: that of M/G/1 with packets in batches (Pollaczek and Khinchine).

        What begins here comes in windows of TCP, which grow to half of a file or to what a round-trip time holds. What
        other links bring comes packet by packet, and waits only for what comes over another link at the same time.
        """
        rate = self.edge.rate_bps
        batch: float = PACKET
        meeting = 1 - sum(share**2 for share, entry in self._shares if entry.before)
        local = [entry for entry in self._entries if not entry.before]
        files = [group for entry, group in self._files if not entry.before]
        if local and files:
            half = sum(group.offered_bps for group in files) / sum(group.per_second for group in files) / 2
            trip = 2 * (self.edge.delay_s + local[0].mean(self._delays))
            batch = max(WINDOW, min(half, trip * rate))
        return odds(self.load) * (self._here * batch + max(meeting - self._here, 0.02) * PACKET) / (2 * rate)

    @property
    def loses(self) -> bool:
        """Whether the scenario says that packets are lost here."""
        return "loss" in self.edge.direction or "loss" in self.network.table.get("links", {})

    def relaxation_s(self) -> float:
        """The time in which the queue of files forgets how it began, s: that of M/M/1, 1 / (µ (1 - √load)²).

        Source: Cohen 1982 (*The Single Server Queue*), part III; the server is what other traffic leaves.
        """
        bits = sum(group.offered_bps for _, group in self._files)
        if not bits:
            return 0.0
        left = self.edge.rate_bps * (1 - self.load) + bits
        size = bits / sum(group.per_second for _, group in self._files)
        load = bits / left if left > 0 else 1.0
        return size / left / (1 - math.sqrt(load)) ** 2 if load < 1 else math.inf

    def spans_s(self, runs: int = 1) -> tuple[float, float]:
        """For how long it is measured in each of several runs, and the time before, whole seconds."""
        whole, before = self.network.measured_s()
        files = sum(group.per_second for _, group in self._files)
        relaxation = self.relaxation_s()
        wanted = max(LEAST, PERIODS * relaxation, FLOWS / files / runs if files else 0.0)
        return min(whole, math.ceil(wanted) if wanted < whole else whole), min(
            before, max(1.0, math.ceil(relaxation) if relaxation < before else before)
        )

    def scenario(self, known: dict[str, Conditions], *, runs: int = 1, part: float = 1.0) -> Scenario:
        """The scenario, with what is known of the links of the rest of the paths.

        Args:
            known: By name of the link.
            runs: So many runs there are.
            part: Share of the time for which the link is simulated, but at least `LEAST`.
        """
        edge = self.edge
        common = {
            key: value
            for key, value in self.network.table.get("links", {}).items()
            if key not in ("rate", "delay")
        }
        own = {
            "from": "x", "to": "y", "rate": units.rate_text(edge.rate_bps), "delay": units.span_text(edge.delay_s),
            **common, **edge.direction,
            "reverse": {"queue": {"discipline": "drop-tail", "capacity": {"packets": 10_000}}},
        }  # fmt: skip
        links, flows = [own], _flows("x", self._calls)
        waits = {name: one.wait for name, one in known.items()}
        for number, entry in enumerate(self._entries):
            from_ = f"in-{number}"
            delay = round(entry.mean(self._delays) / PLACE) * PLACE + round(entry.mean(waits) / WAIT) * WAIT
            link: dict[str, Any] = {
                "from": from_, "to": "x", "rate": units.rate_text(entry.rate), "delay": units.span_text(delay),
                "queue": {"discipline": "drop-tail", "capacity": {"packets": 100_000}},
            }  # fmt: skip
            lost = entry.lost(known)
            rounded = min(LOSSES, key=lambda one, lost=lost: abs(one - lost))  # type: ignore[misc]
            if rounded > 0:
                link |= {"loss": {"model": "bernoulli", "rate": rounded}, "reverse": {"loss": "none"}}
            links.append(link)
            flows += _flows(from_, (group for group, _ in entry.parts))
        measured, before = self.spans_s(runs)
        measured = min(measured, max(LEAST, math.ceil(measured * part)))
        frame = {
            "name": "link",
            "duration": units.span_text(before + measured),
            "warmup": units.span_text(before),
        }
        frame |= {key: self.network.table[key] for key in ("preset", "hosts") if key in self.network.table}
        return Scenario.from_dict({**frame, "link": links, "flow": flows})


def _flows(from_: str, groups: Iterable[Group]) -> list[dict[str, Any]]:
    """One flow group for each mix of groups that enter at the same place, called `MIX_PLACE`.

    Of many calls over UDP, those that are not rated are a group `MIX_rest_PLACE`.
    """
    busy: dict[str, float] = defaultdict(float)
    of = {}
    for group in groups:
        of[group.mix.name] = group
        busy[group.mix.name] += group.busy
    made = []
    for name, several in sorted(busy.items()):
        mix = of[name].mix
        rated = min(several, RATED) if direct(of[name]) and "playout" not in mix.flow else several
        parts = [(name, rated, mix.flow), (f"{name}_rest", several - rated, mix.flow | {"playout": UNRATED})]
        made += [
            {
                "name": f"{called}_{from_}", "from": from_, "to": "y", **flow,
                "arrivals": mix.arrivals(float(f"{some / (mix.lasts_s or 1.0):.9g}")),
            }
            for called, some, flow in parts if some > 0
        ]  # fmt: skip
    return made


def of_tables(tables: Any, scenario: Scenario, network: Network) -> Link:
    """What a link's run says."""
    links = tables["links"]
    row = list(links["link"].texts).index("x>y")
    use = [
        float(np.nan_to_num(links[name].numbers[row])) for name in ("utilisation", "drop_rate", "mean_wait_s")
    ]
    data = scenario.to_dict()
    span = units.span(data["duration"], "duration") - units.span(data["warmup"], "warmup")
    windows = max(1, round(network.measured_s()[0] / span))
    if "flows" not in tables:  # none arrived
        none = np.zeros(0)
        return Link(none, np.zeros((0, RANKS)), none, np.zeros((0, 3)), LinkRun(*use), windows)
    flows = tables["flows"]
    entries = {one["from"]: one for one in data["link"]}
    own = units.span(entries["x"]["delay"], "delay")
    calls = {group.mix.name for group in network.groups.values() if group.mix.kind == "calls"}
    names = [str(name).rpartition("_") for name in flows["group"].texts]
    keep = np.flatnonzero([name in calls for name, _, _ in names] & np.isfinite(flows["mos"].numbers))
    at = [names[row][2] for row in keep]
    delay = {"x": own} | {
        name: own + units.span(one["delay"], "delay") for name, one in entries.items() if name != "x"
    }
    base = np.array([delay[name] for name in at])
    around = np.array(
        [float((entries[name].get("loss") or {}).get("rate", 0.0)) if name != "x" else 0.0 for name in at]
    )
    of = {
        what: flows[what].numbers[keep]
        for what in ("units_lost", "units_sent", "r_cost_loss", "r_cost_lateness", "mouth_to_ear_s")
    }
    columns = [flows[f"delay_{what}_s"].numbers[keep] for what in ("p50", "p95", "p99", "max")]
    known = np.stack([np.zeros(len(keep)), *(np.maximum(column - base, 0) for column in columns)], axis=1)
    mean = np.maximum(flows["delay_mean_s"].numbers[keep] - base, 0)
    loss = of["units_lost"] / np.maximum(of["units_sent"], 1)
    waits = quantiles(np.nan_to_num(known), np.nan_to_num(mean))
    heard = np.stack([loss, of["r_cost_loss"], of["mouth_to_ear_s"] - columns[1]], axis=1)
    return Link(
        np.clip(1 - (1 - loss) / np.maximum(1 - around, 1e-9), 0, 1), waits,
        np.nan_to_num(of["r_cost_lateness"]), heard, LinkRun(*use), windows,
    )  # fmt: skip


def quantiles(known: Numbers, mean: Numbers, where: Numbers = _RANKS) -> Numbers:
    """Values at shares `where` of distributions (a row each) of which the mean and the values at `AT` are known.

    Up to the second last share values grow by a power between two that are known, such that the mean is right: packets
    wait rarely, and then long. Above that they grow in proportion.
    """
    at = np.array(AT)
    width = np.diff(at)
    rise = np.diff(known, axis=1)
    flat = (known[:, :-1] * width).sum(1) + (rise[:, 2:] * width[2:] / 2).sum(1)
    growing = (rise[:, :2] * width[:2]).sum(1)
    power = np.clip(growing / np.maximum(mean - flat, growing / 51 + 1e-15) - 1, 1.0, 50.0)
    upper = np.clip(np.searchsorted(at, where, side="right"), 1, len(AT) - 1)
    part = (where - at[upper - 1]) / width[upper - 1]
    shape = np.where(upper[None, :] <= 2, part[None, :] ** power[:, None], part[None, :])
    found: Numbers = known[:, upper - 1] + rise[:, upper - 1] * shape
    return found


def light(load: float, wait: float) -> Link:
    """A link that is not simulated: as often as it is busy a packet waits, exponentially, `wait` s in the mean."""
    busy = min(max(load, 1e-9), 0.95)
    waits = np.where(1 - busy < _RANKS, wait / busy * -np.log((1 - _RANKS) / busy), 0.0)
    zero = np.zeros(1)
    return Link(zero, np.maximum(waits, 0.0)[None, :], zero, np.zeros((0, 3)), LinkRun(load, 0.0, wait))
