"""A link alone: its scenario, how long it is simulated, what it resembles, and what its run says of calls.

A link direction becomes a small scenario: its rate, delay and queue, and the flows that cross it. Calls over UDP go
into it directly, as nothing on their way reacts to them. All other flows come over the links that bring them and go
on over those that follow: of each path the narrowest link before this one and the narrowest after it are there, with
their rates and queues, and with what other traffic takes of them. So TCP fills the queue that it fills in the network,
and reacts within its round-trip time: a fast link before the first has the propagation of the rest of the path.

Of many calls some are rated. On a link that is offered less than `HOT` the others are not simulated call by call.
Either the link is slower by what they take, or they are one flow at a constant rate. Where a queue holds W bits, a
slower one fills and empties with the same W, and a packet waits W over the rate; so waits are multiplied by how much
slower the link is.

**Assumptions.** Other traffic of other links is constant †. Of their losses those that the scenario gives to them
occur before the link †. Flows with the same narrowest links have the mean propagation of the rest of their paths †.
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

NARROWEST = 50.0
"""Of a link that is offered all of its rate or more, files find one part in so many †."""

HOT = 0.8
"""A link that is offered this share of its rate carries all its calls one by one †."""

SLOWED = 0.35
"""Where calls that are not rated take no more of a link, it is slower by that instead of carrying them †."""

FEWER, BUNDLE = 500, 8000
"""Bytes in a packet of the flow that stands for them, and of other traffic of other links †: few cost little."""

PLACE = 0.5e-3
"""Propagation of the rest of the path is rounded to multiples of this, s."""

FAST = 10.0
"""A flow that begins at a link's node enters at so many times the link's rate †."""

SIZE = 200
"""Bytes of a call's packet on the wire, for the time of transmission †."""

PACKET = 1500 * 8
"""A packet of TCP, bits."""

DEEP = {"discipline": "drop-tail", "capacity": {"packets": 100_000}}
"""A queue that drops nothing."""

WINDOW = 10 * PACKET
"""What a TCP sender may send at once at its start, bits (RFC 6928)."""

RATED = 16
"""So many calls at once are rated, in the mean †. Where the others are simulated, they have the playout `UNRATED`."""

UNRATED = {"strategy": "fixed", "delay": "60 ms"}
"""Costs less to simulate than a jitter buffer that adapts."""

RANKS = 100
"""A call's waits are represented by so many quantiles, equally far apart."""

_RANKS = (np.arange(RANKS) + 0.5) / RANKS


class Features(NamedTuple):
    """What decides how packets wait on a link, apart from its rate and queue.

    Attributes:
        odds: Logarithm of load / (1 - load).
        wait: Logarithm of an estimate of the mean wait, s.
        local: Share of the files' traffic that begins here.
        slower, bound: By how many doublings the narrowest links before and after it leave less to files, in the mean.
    """

    odds: float
    wait: float
    local: float
    slower: float
    bound: float


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
class _Way:
    """The flows of several groups that come over the same link and go on over the same.

    Attributes:
        before, after: The narrowest link before this one and after it; empty where there is none that counts.
        parts: The groups, each with the links of its path before this one and after it.
    """

    before: str
    after: str
    parts: list[tuple[Group, list[str], list[str]]]

    @property
    def bits(self) -> float:
        """What they offer, b/s."""
        return sum(group.offered_bps for group, *_ in self.parts)

    def mean(self, of: dict[str, float]) -> float:
        """The sum of something over the links of the rest of the path, the mean over flows."""
        sums = (
            group.offered_bps * sum(of[name] for name in (*before, *after))
            for group, before, after in self.parts
        )
        return sum(sums) / self.bits


@dataclass(frozen=True)
class Rest:
    """What is known of all link directions of a network, by name.

    Attributes:
        rates, delays: Rate, b/s, and propagation, s.
        offered: What each would carry, b/s.
        bursts: Rate of files while they fill its queue, b/s: twice what calls leave of it, as in slow start †.
        packets: Mean size of the packets that its queue holds then, bits.
        queues, losses: Each one's queue, and losses where it has any, as a scenario says them.
    """

    rates: dict[str, float]
    delays: dict[str, float]
    offered: dict[str, float]
    bursts: dict[str, float]
    packets: dict[str, float]
    queues: dict[str, Any]
    losses: dict[str, Any]


class Alone:
    """A link direction and the groups that cross it.

    Args:
        network: The network.
        name: `a>b`.
        edge: The link.
        crossing: Groups with data in this direction.
        rest: What is known of all link directions.
    """

    def __init__(
        self, network: Network, name: str, edge: Edge, crossing: Sequence[Group], rest: Rest
    ) -> None:
        self.network, self.name, self.edge, self.rest = network, name, edge, rest
        self.load = sum(group.offered_bps for group in crossing) / edge.rate_bps
        self._calls = [group for group in crossing if direct(group)]
        reacting = [(group, network.crossed(group)) for group in crossing if not direct(group)]
        self._files = [group for group, _ in reacting if group.mix.lasts_s is None]
        self._both: dict[str, float] = defaultdict(float)
        for group, way in reacting:
            for one in way:
                self._both[one] += group.offered_bps
        parts: dict[tuple[str, str], list[tuple[Group, list[str], list[str]]]] = defaultdict(list)
        arrived: dict[str, float] = defaultdict(float)
        here = []
        for group, way in reacting:
            at = way.index(name)
            before, after = way[:at], way[at + 1 :]
            arrived[before[-1] if before else ""] += group.offered_bps
            if not before and group.mix.lasts_s is None:
                here.append((group, after))
            ends = self._narrowest(before[::-1]), self._narrowest(after, name)
            # What calls wait and lose elsewhere would count as of this link.
            parts[ends if group.mix.lasts_s is None else ("", "")].append((group, before, after))
        self._ways = [_Way(*ends, some) for ends, some in sorted(parts.items())]
        self._local = here
        total = sum(arrived.values()) or 1.0
        self._here = arrived[""] / total
        self._meeting = 1 - sum((bits / total) ** 2 for name, bits in arrived.items() if name)
        self.wait_s = self._estimate_s()

    def left(self, name: str) -> float:
        """What the flows that cross this link and that one find there beside the others, b/s."""
        rate = self.rest.rates[name]
        return max(rate - self.rest.offered.get(name, 0.0) + self._both[name], rate / NARROWEST)

    def _narrowest(self, names: Sequence[str], than: str = "") -> str:
        """Where they find least; the first of several. Empty if that is not less than at `than`."""
        found = min(names, key=self.left, default="")
        return "" if found and than and self.left(found) >= self.left(than) else found

    def features(self) -> Features:
        """What decides how packets wait here."""
        total = sum(way.bits for way in self._ways) or 1.0
        own = self.left(self.name)
        slower, bound = (
            sum(way.bits / total * max(math.log2(own / self.left(end)), 0.0) for way, end in ends if end)
            for ends in (
                [(way, way.before) for way in self._ways], [(way, way.after) for way in self._ways]
            )
        )  # fmt: skip
        return Features(math.log(odds(self.load)), math.log(self.wait_s), self._here, slower, bound)

    def _estimate_s(self) -> float:
        """An estimate of the mean wait, s: that of M/G/1 with packets in batches (Pollaczek and Khinchine).

        What begins here comes in windows of TCP, which grow to half of a file or to what a round-trip time holds. What
        other links bring comes packet by packet, and waits only for what comes over another link at the same time.
        """
        rate = self.edge.rate_bps
        batch: float = PACKET
        if self._local:
            bits = sum(group.offered_bps for group, _ in self._local)
            half = bits / sum(group.per_second for group, _ in self._local) / 2
            trip = 2 * self.edge.delay_s + 2 / bits * sum(
                group.offered_bps * sum(self.rest.delays[name] for name in after)
                for group, after in self._local
            )
            batch = max(WINDOW, min(half, trip * rate))
        met = max(self._meeting - self._here, 0.02)
        return odds(self.load) * (self._here * batch + met * PACKET) / (2 * rate)

    @property
    def loses(self) -> bool:
        """Whether the scenario says that packets are lost here."""
        return self.name in self.rest.losses

    def relaxation_s(self) -> float:
        """The time in which the queue of files forgets how it began, s: that of M/M/1, 1 / (µ (1 - √load)²).

        Source: Cohen 1982 (*The Single Server Queue*), part III; the server is what other traffic leaves.
        """
        bits = sum(group.offered_bps for group in self._files)
        if not bits:
            return 0.0
        left = self.edge.rate_bps * (1 - self.load) + bits
        size = bits / sum(group.per_second for group in self._files)
        load = bits / left if left > 0 else 1.0
        return size / left / (1 - math.sqrt(load)) ** 2 if load < 1 else math.inf

    def spans_s(self, runs: int = 1) -> tuple[float, float]:
        """For how long it is measured in each of several runs, and the time before, whole seconds."""
        whole, before = self.network.measured_s()
        files = sum(group.per_second for group in self._files)
        relaxation = self.relaxation_s()
        wanted = max(LEAST, PERIODS * relaxation, FLOWS / files / runs if files else 0.0)
        return min(whole, math.ceil(wanted) if wanted < whole else whole), min(
            before, max(1.0, math.ceil(relaxation) if relaxation < before else before)
        )

    def scenario(self, *, runs: int = 1) -> Scenario:
        """The scenario, where so many runs there are."""
        edge = self.edge
        common = {
            key: value
            for key, value in self.network.table.get("links", {}).items()
            if key not in ("rate", "delay")
        }
        own = {
            "from": "x", "to": "y", "rate": units.rate_text(edge.rate_bps), "delay": units.span_text(edge.delay_s),
            **common, **edge.direction,
            "reverse": {"queue": DEEP},
        }  # fmt: skip
        left_out = self._unrated() if self.load < HOT else 0.0
        links, flows = [own], _flows("x", "y", self._calls, unrated=not left_out)
        slower = left_out <= SLOWED * edge.rate_bps
        if left_out:
            rated = sum(group.offered_bps for group in self._calls) - left_out
            left = mean_bits(self.rest.bursts[self.name], rated, 0.0 if slower else left_out)
            own["queue"] = _resized(
                self.rest.queues[self.name], "packets", self.rest.packets[self.name] / left
            )
        if slower:
            own["rate"] = units.rate_text(edge.rate_bps - left_out)
        else:
            flows += _steady("others_x-y", "x", "y", left_out, FEWER)
        ends = {
            end: (f"{side}-{number}", at)
            for side, at, several in (
                ("in", "x", {way.before for way in self._ways}), ("out", "y", {way.after for way in self._ways})
            )
            for number, end in enumerate(sorted(several - {""}))
        }  # fmt: skip
        for end, (node, at) in ends.items():
            links.append(self._other(end, *((node, at) if at == "x" else (at, node))))
            flows += self._others(end, *((node, at) if at == "x" else (at, node)))
        for number, way in enumerate(self._ways):
            first = ends[way.before][0] if way.before else "x"
            last = ends[way.after][0] if way.after else "y"
            delay = round(way.mean(self.rest.delays) / PLACE) * PLACE
            links.append({
                "from": f"host-{number}", "to": first, "rate": units.rate_text(edge.rate_bps * FAST),
                "delay": units.span_text(delay), "queue": DEEP, "reverse": {"queue": DEEP, "loss": "none"},
                **self._lossy(way),
            })  # fmt: skip
            flows += _flows(f"host-{number}", last, (group for group, *_ in way.parts))
        measured, before = self.spans_s(runs)
        frame: dict[str, Any] = {
            "name": "link",
            "duration": units.span_text(before + measured),
            "warmup": units.span_text(before),
        }
        frame |= {key: self.network.table[key] for key in ("preset", "hosts") if key in self.network.table}
        late = send_jitter_s(self.network.table)
        if late > 0:  # what a host adds counts once for each path, and not on every link
            frame["hosts"] = {**frame.get("hosts", {}), "send-jitter": "0 s"}
            for flow in flows:
                flow["transport"] = _jittered(flow["transport"], late)
        calls = {group.mix.name for group in self.network.groups.values() if group.mix.kind == "calls"}
        heard = [flow["name"] for flow in flows if flow["name"].rpartition("_")[0] in calls]
        if heard:
            frame["record"] = {"units": heard}
        return Scenario.from_dict({**frame, "link": links, "flow": flows})

    def _unrated(self) -> float:
        """What the calls that are not rated offer, b/s."""
        busy: dict[str, float] = defaultdict(float)
        bits = {}
        for group in self._calls:
            if "playout" not in group.mix.flow:
                busy[group.mix.name] += group.busy
                bits[group.mix.name] = group.mix.bits
        return sum(max(several - RATED, 0.0) * bits[name] for name, several in busy.items())

    def _lossy(self, way: _Way) -> dict[str, Any]:
        """Losses that the scenario gives to the rest of a way: together where they are Bernoulli's, else the first."""
        files = [part for part in way.parts if part[0].mix.lasts_s is None]
        names = [name for part in files[:1] for name in (*part[1], *part[2]) if name in self.rest.losses]
        models = [self.rest.losses[name] for name in names]
        if models and all(isinstance(one, dict) and one.get("model") == "bernoulli" for one in models):
            kept = math.prod(1 - float(one["rate"]) for one in models)
            return {"loss": {"model": "bernoulli", "rate": float(f"{1 - kept:.6g}")}}
        return {"loss": models[0]} if models else {}

    def _other(self, name: str, from_: str, to: str) -> dict[str, Any]:
        """Another link of the paths, with its rate and queue."""
        queue = self.rest.queues.get(name, self.network.table.get("access", {}).get("queue", "drop-tail"))
        return {
            "from": from_, "to": to, "rate": units.rate_text(self.rest.rates[name]), "delay": "0 s",
            "queue": _resized(queue, "bytes", self.rest.packets.get(name, PACKET) / 8), "reverse": {"queue": DEEP},
        }  # fmt: skip

    def _others(self, name: str, from_: str, to: str) -> list[dict[str, Any]]:
        """What other traffic takes of another link."""
        return _steady(f"others_{from_}-{to}", from_, to, self.rest.rates[name] - self.left(name), BUNDLE)


def _steady(name: str, from_: str, to: str, rate: float, size: int) -> list[dict[str, Any]]:
    """Traffic at a constant rate, b/s, in packets of `size` bytes."""
    if rate <= 0:
        return []
    traffic = {"kind": "cbr", "rate": units.rate_text(float(f"{rate:.3g}")), "payload": f"{size} B"}
    transport = {"name": "udp", "header": "0 B", "max-payload": f"{size} B"}
    return [{"name": name, "from": from_, "to": to, "transport": transport, "traffic": traffic}]


def send_jitter_s(table: dict[str, Any]) -> float:
    """The most by which packets of a network leave their hosts late, s."""
    late = table.get("hosts", {}).get("send-jitter")
    if late is None:
        return 0.0 if str(table.get("preset", "")).startswith("ns2") else 1e-3
    return units.span(late, "hosts.send-jitter")


def _jittered(transport: Any, late: float) -> Any:
    """A TCP that sends late by itself, as its host would make it."""
    whole = {"name": transport} if isinstance(transport, str) else dict(transport)
    if not whole["name"].startswith("tcp/"):
        return transport
    return {"send-jitter": units.span_text(late), **whole}


def mean_bits(files: float, calls: float, bundled: float = 0.0) -> float:
    """The mean size of packets, bits, where files, calls and the flow that stands for calls have these rates."""
    packets = files / PACKET + calls / (8 * SIZE) + bundled / (8 * FEWER)
    return (files + calls + bundled) / packets if packets > 0 else PACKET


def _resized(queue: Any, unit: str, factor: float) -> Any:
    """A queue whose capacity counts packets, with so many times that number in another unit or of other packets."""
    capacity = queue.get("capacity") if isinstance(queue, dict) else None
    if not isinstance(capacity, dict) or "packets" not in capacity:
        return queue
    least = 2 * BUNDLE if unit == "bytes" else 2
    return queue | {"capacity": {unit: max(round(capacity["packets"] * factor), least)}}


def _flows(from_: str, to: str, groups: Iterable[Group], *, unrated: bool = True) -> list[dict[str, Any]]:
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
        parts = [(name, rated, mix.flow)]
        if unrated:
            parts.append((f"{name}_rest", several - rated, mix.flow | {"playout": UNRATED}))
        made += [
            {
                "name": f"{called}_{from_}", "from": from_, "to": to, **flow,
                "arrivals": mix.arrivals(float(f"{some / (mix.lasts_s or 1.0):.9g}")),
            }
            for called, some, flow in parts if some > 0
        ]  # fmt: skip
    return made


def of_tables(tables: Any, scenario: Scenario, network: Network, name: str) -> Link:
    """What a run says of a link. Of one that is slower there than in the network, waits are shorter in proportion."""
    links = tables["links"]
    row = list(links["link"].texts).index("x>y")
    use = [
        float(np.nan_to_num(links[name].numbers[row])) for name in ("utilisation", "drop_rate", "mean_wait_s")
    ]
    data = scenario.to_dict()
    rate = next(units.rate(one["rate"], "rate") for one in data["link"] if one["from"] == "x")
    share = rate / network.rates()[name]
    use[2] *= share
    begin = units.span(data.get("warmup", "0 s"), "warmup")
    span = units.span(data["duration"], "duration") - begin
    windows = max(1, round(network.measured_s()[0] / span))
    if "flows" not in tables or "units" not in tables:  # no call, or none arrived
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
        name: own + units.span(one["delay"], "delay")
        for name, one in entries.items()
        if name.startswith("host-")
    }
    base = np.array([delay[name] for name in at]) + 8 * SIZE / rate
    of = {
        what: flows[what].numbers[keep]
        for what in ("units_lost", "units_sent", "r_cost_loss", "r_cost_lateness", "mouth_to_ear_s")
    }
    p95 = flows["delay_p95_s"].numbers[keep]
    names_of = [f"{flows['group'].texts[row]}[{int(flows['flow'].numbers[row])}]" for row in keep]
    waits = share * _waits(tables["units"], names_of, base, begin)
    loss = of["units_lost"] / np.maximum(of["units_sent"], 1)
    heard = np.stack([loss, of["r_cost_loss"], of["mouth_to_ear_s"] - p95], axis=1)
    return Link(
        np.clip(loss, 0, 1), waits, np.nan_to_num(of["r_cost_lateness"]), heard, LinkRun(*use), windows,
    )  # fmt: skip


def _waits(recorded: Any, names: Sequence[str], base: Numbers, begin: float) -> Numbers:
    """Of each of these flows the quantiles of its packets' waits, s; 0 where none arrived."""
    flow, made = recorded["flow"], recorded["created_s"].numbers
    wait = recorded["arrived_s"].numbers - made
    there = np.flatnonzero(np.isfinite(wait) & (made >= begin))
    codes, wait = flow.codes[there], wait[there]
    order = np.lexsort((wait, codes))
    of = {word: code for code, word in enumerate(flow.words)}
    wanted = np.array([of.get(name, -1) for name in names])
    first, last = (np.searchsorted(codes[order], wanted, side=side) for side in ("left", "right"))
    found = np.zeros((len(names), RANKS))
    some = last > first
    at = first[some, None] + np.floor(_RANKS * (last - first)[some, None]).astype(int)
    found[some] = np.maximum(wait[order][at] - base[some, None], 0)
    return found


def light(load: float, wait: float) -> Link:
    """A link that is not simulated: as often as it is busy a packet waits, exponentially, `wait` s in the mean."""
    busy = min(max(load, 1e-9), 0.95)
    waits = np.where(1 - busy < _RANKS, wait / busy * -np.log((1 - _RANKS) / busy), 0.0)
    zero = np.zeros(1)
    return Link(zero, np.maximum(waits, 0.0)[None, :], zero, np.zeros((0, 3)), LinkRun(load, 0.0, wait))
