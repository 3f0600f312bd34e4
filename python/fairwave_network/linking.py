"""A link alone: its scenario, its simulated time, the links that it resembles, and its effect on calls.

A link direction becomes a small scenario: its rate, delay and queue, and the flows that cross it. Traffic from upstream
links arrives over these links, with their rates, queues and other traffic. So it arrives at no more than their rates,
and packets that have waited before one link do not wait again at the next. For TCP paths, the scenario also contains
the narrowest link before these and the narrowest link after this one. So TCP fills the queue that it fills in the
network, and reacts within its round-trip time. A fast link before the first has the propagation of the rest of the
path.

Some calls over UDP are rated. These go into the link directly, so they wait and lose packets only there. Calls that
begin here arrive and leave. Among calls from upstream links, a fixed number is rated: the upstream links carry the
constant rest, so the sum is constant at busy upstream links.

On a link with an offered load below `HOT` the other calls are not simulated one by one. Either the link's rate is
reduced by their rate, or they are one flow at a constant rate. If a queue holds W bits, a slower one fills and empties
with the same W, and a packet waits W over the rate; so waits are scaled by the ratio of the rates.

**Limits.** A link needs no run if the links before it bring at most its rate together (`Alone.is_limited`). A packet
waits there for at most one packet of each of those links. Parsimon limits each flow by the rate of its first link;
here each upstream link limits its traffic.

**Assumptions.** Other traffic of other links is constant †, and so are acknowledgements that cross the link †; they
are ignored if a link needs no run †. Of the losses of other links, those that the scenario sets occur before the
link †. Flows with the same links before and after have the mean propagation of the rest of their paths †.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fairwave import ScenarioError
from fairwave.scenario import Scenario
from fairwave_network import units
from fairwave_network.measuring import LinkRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from fairwave_network.language import Group, Network
    from fairwave_network.mixes import Mix
    from fairwave_network.topology import Link as Edge

    Numbers = NDArray[np.float64]

FLOWS = 10
"""A link is simulated until this mean number of files has arrived there, over all runs †."""

PERIODS = 3.0
"""A link is simulated for this many of its relaxation times †, but not longer than the network."""

LEAST = 3.0
"""Least measured time of a link's run, s †; the time before it is at least a second."""

NARROWEST = 50.0
"""Least rate for files on an overloaded link: its rate divided by this †."""

HOT = 0.8
"""From this offered load on, a link carries all its calls one by one †."""

SLOWED = 0.35
"""If calls that are not rated take at most this share, the link's rate is reduced instead of carrying them †."""

FEWER, BUNDLE = 500, 8000
"""Packet sizes in bytes for the flow that replaces such calls and for other traffic of other links † (few packets)."""

PLACE = 0.5e-3
"""Propagation of the rest of the path is rounded to multiples of this, s."""

FAST = 10.0
"""A flow that begins at a link's node enters at this many times its rate †. A faster link before it is no limit."""

BACK = 16
"""Number of links of each path before a link that may limit its inflow."""

SIZE = 200
"""Bytes of a call's packet on the wire, for the time of transmission †."""

PACKET = 1500 * 8
"""A packet of TCP, bits."""

ACK, PER_ACK = 52, 2
"""Bytes of an acknowledgement, and packets that it acknowledges (RFC 1122 §4.2.3.2)."""

DEEP = {"discipline": "drop-tail", "capacity": {"packets": 100_000}}
"""A queue that drops nothing."""

WINDOW = 10 * PACKET
"""Initial window of a TCP sender, bits (RFC 6928)."""

RATED = 16
"""Mean number of rated calls at once †. If the others are simulated, they have the playout `UNRATED`."""

UNRATED = {"strategy": "fixed", "delay": "60 ms"}
"""Cheaper to simulate than an adaptive jitter buffer."""

PLAIN = {"rate", "delay", "queue"}
"""Keys of a link that neither loses nor delays packets while its offered load is below its rate."""

RANKS = 100
"""Number of quantiles that represent a call's waits, equally far apart."""

_RANKS = (np.arange(RANKS) + 0.5) / RANKS


class Features(NamedTuple):
    """Features that determine how packets wait on a link, apart from its rate and queue.

    Attributes:
        odds: Logarithm of load / (1 - load).
        wait: Logarithm of an estimate of the mean wait, s.
        local: Share of the files' traffic that begins here.
        slower, bound: Mean number of doublings by which the narrowest links before and after it leave less to files.
        inflow: Number of doublings by which the links before can exceed its rate, at most those of `FAST`.
    """

    odds: float
    wait: float
    local: float
    slower: float
    bound: float
    inflow: float


@dataclass
class Link:
    """Result of a run for a link direction.

    Attributes:
        losses: Share of each of its calls' packets that the link lost.
        waits: `RANKS` quantiles of the wait for each of its calls, s.
        late: Cost of lateness of each of its calls, in points of R.
        gaps: The longest gap of speech of each of its calls, s.
        heard: For each of its calls: the lost share, the cost of loss in points of R, the mouth-to-ear time less the
            95th percentile of delay (s).
        run: Utilisation, discards, mean wait.
        windows: Observed time of a call in the network as a multiple of the link's run, rounded.
    """

    losses: Numbers
    waits: Numbers
    late: Numbers
    gaps: Numbers
    heard: Numbers
    run: LinkRun
    windows: int = 1

    def scale(self, factor: float, utilisation: float) -> Link:
        """Returns the result of a similar link, with waits and losses scaled by a factor."""
        run = LinkRun(utilisation, min(self.run.dropped * factor, 1.0), self.run.wait_s * factor)
        losses = np.minimum(self.losses * factor, 1.0)
        return Link(losses, self.waits * factor, self.late, self.gaps, self.heard, run, self.windows)

    def pool(self, several: Sequence[Link]) -> Link:
        """Adds the calls of all runs, if a run is shorter than the observed time of a call in the network."""
        if self.windows == 1:
            return self
        losses, waits, late, gaps = (
            np.concatenate([getattr(one, name) for one in several])
            for name in ("losses", "waits", "late", "gaps")
        )
        return Link(losses, waits, late, gaps, self.heard, self.run, self.windows)


def odds(load: float) -> float:
    """Returns load / (1 - load), with load limited to 0.1 % to 99.9 %."""
    load = min(max(load, 1e-3), 1 - 1e-3)
    return load / (1 - load)


def direct(group: Group) -> bool:
    """Whether a group's flows go into the link directly: calls over UDP."""
    return group.mix.kind == "calls" and group.mix.flow["transport"] == "udp"


@dataclass(frozen=True)
class _Way:
    """Flows of several groups with the same links before and after this link.

    Attributes:
        early, before, after: The narrowest link before `before`, the last upstream link, and the narrowest link after
            this one; empty if no link is a limit.
        parts: The groups, each with the links of its path before this one and after it.
    """

    early: str
    before: str
    after: str
    parts: list[tuple[Group, list[str], list[str]]]

    @property
    def bits(self) -> float:
        """Offered load, b/s."""
        return sum(group.offered_bps for group, *_ in self.parts)

    def mean(self, of: dict[str, float]) -> float:
        """Returns the sum of a property over the links of the rest of the path, as a mean over flows."""
        sums = (
            group.offered_bps * sum(of[name] for name in (*before, *after))
            for group, before, after in self.parts
        )
        return sum(sums) / self.bits


@dataclass(frozen=True)
class Rest:
    """Properties of all link directions of a network, by name.

    Attributes:
        rates, delays: Rate, b/s, and propagation, s.
        offered: Offered load, b/s.
        bursts: Rate of files while they fill its queue, b/s: twice the rate that calls leave, as in slow start †.
        packets: Mean size of the packets in its queue during a burst, bits.
        means: Mean size of the packets that cross it, bits.
        acks: Acknowledgements of files of the other direction, b/s.
        queues, losses: Queue, and losses if any, as in a scenario.
    """

    rates: dict[str, float]
    delays: dict[str, float]
    offered: dict[str, float]
    bursts: dict[str, float]
    packets: dict[str, float]
    means: dict[str, float]
    acks: dict[str, float]
    queues: dict[str, Any]
    losses: dict[str, Any]


class Alone:
    """A link direction and the groups that cross it.

    Args:
        network: The network.
        name: `a>b`.
        edge: The link.
        crossing: Groups with data in this direction.
        rest: Properties of all link directions.
    """

    def __init__(
        self, network: Network, name: str, edge: Edge, crossing: Sequence[Group], rest: Rest
    ) -> None:
        self.network, self.name, self.edge, self.rest = network, name, edge, rest
        self.load = sum(group.offered_bps for group in crossing) / edge.rate_bps
        ways = []
        for group in crossing:
            way = network.crossed_links(group)
            at = way.index(name)
            ways.append((group, way[:at], way[at + 1 :]))
        self.inflow_bps = _inflow({tuple(before[-BACK:]) for _, before, _ in ways}, rest.rates)
        self._brings = {rest.rates[before[-1]] for _, before, _ in ways if before}
        reacting = [part for part in ways if not direct(part[0])]
        self._files = [group for group, *_ in reacting if group.mix.lasts_s is None]
        self._both: dict[str, float] = defaultdict(float)
        for group, before, after in reacting:
            for one in (*before, name, *after):
                self._both[one] += group.offered_bps
        parts: dict[tuple[str, str, str], list[tuple[Group, list[str], list[str]]]] = defaultdict(list)
        arrived: dict[str, float] = defaultdict(float)
        here = []
        for group, before, after in reacting:
            arrived[before[-1] if before else ""] += group.offered_bps
            if not before and group.mix.lasts_s is None:
                here.append((group, after))
            # Calls skip the other links, because their waits and losses there would count for this link.
            ends = (*self._limits(before), self._narrowest(after, name))
            parts[ends if group.mix.kind != "calls" else ("", "", "")].append((group, before, after))
        self._ways = [_Way(*ends, some) for ends, some in sorted(parts.items())]
        self._local = here
        total = sum(arrived.values()) or 1.0
        self._here = arrived[""] / total
        self._meeting = 1 - sum((bits / total) ** 2 for name, bits in arrived.items() if name)
        self._calls: dict[str, list[Group]] = defaultdict(list)
        for group, before, _ in ways:
            if direct(group):
                # Calls from a link that is no limit are treated as calls that begin here.
                limit = before[-1] if before and self._is_limit(before[-1]) else ""
                self._calls[limit].append(group)
        self.wait_s = self._estimate_s()

    @property
    def is_limited(self) -> bool:
        """Whether the inflow is at most the rate, and the link has no other effect on packets."""
        return self.is_plain and self.inflow_bps <= self.edge.rate_bps * (1 + 1e-9)

    @property
    def is_plain(self) -> bool:
        """Whether the scenario sets only a rate, a delay and one queue for the link."""
        given = {**self.network.table.get("links", {}), **self.edge.direction}
        queue = given.get("queue")
        return given.keys() <= PLAIN and not (
            isinstance(queue, dict) and queue.keys() & {"classes", "bandwidth"}
        )

    def left(self, name: str) -> float:
        """Returns the rate that a link leaves to the flows that cross both links, b/s."""
        rate = self.rest.rates[name]
        return max(rate - self.rest.offered.get(name, 0.0) + self._both[name], rate / NARROWEST)

    def _is_limit(self, name: str) -> bool:
        """Whether a link before this one brings TCP at less than the rate of a host."""
        return self.left(name) < FAST * self.edge.rate_bps

    def _limits(self, before: Sequence[str]) -> tuple[str, str]:
        """Returns the links that limit the inflow of a path: the narrowest before the last one, and the last one."""
        *rest, last = before if before else [""]
        if last and self._is_limit(last):
            return self._narrowest(rest[::-1], last), last
        found = self._narrowest(rest[::-1])
        return "", found if found and self._is_limit(found) else ""

    def _narrowest(self, names: Sequence[str], than: str = "") -> str:
        """Returns the first link that leaves the least rate; empty if that is not less than at `than`."""
        found = min(names, key=self.left, default="")
        return "" if found and than and self.left(found) >= self.left(than) else found

    def features(self) -> Features:
        """Returns the features that determine how packets wait here."""
        total = sum(way.bits for way in self._ways) or 1.0
        own = self.left(self.name)
        slower, bound = (
            sum(way.bits / total * max(math.log2(own / self.left(end)), 0.0) for way, end in ends if end)
            for ends in (
                [(way, way.early or way.before) for way in self._ways], [(way, way.after) for way in self._ways]
            )
        )  # fmt: skip
        inflow = math.log2(min(max(self.inflow_bps / self.edge.rate_bps, 1.0), FAST))
        return Features(math.log(odds(self.load)), math.log(self.wait_s), self._here, slower, bound, inflow)

    def _estimate_s(self) -> float:
        """Estimates the mean wait, s: M/G/1 with packets in batches (Pollaczek and Khinchine).

        Traffic that begins here arrives in windows of TCP, which grow to half of a file or to the bandwidth-delay
        product. Traffic from other links arrives packet by packet. It waits only for simultaneous packets of other
        links.
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

    def limited_result(self) -> Link:
        """Returns the effect on calls of a link that is not simulated because its inflow is limited.

        The links before space packets by their rates. So a small packet that follows a large one there waits here while
        the large one is transmitted. This happens if files preceded it in the same busy period †. Packets of different
        links may meet, one of each.
        """
        files = sum(group.offered_bps for group in self._files)
        rate = self.edge.rate_bps
        calls = self.load - files / rate
        behind = min(files / rate / max(1 - calls, 1e-9), 1.0)
        brings = min(self._brings, default=rate)
        wait = max(PACKET / rate - 8 * SIZE / brings, 0.0)
        met = self._meeting * files / rate
        waits = np.where(1 - behind < _RANKS, wait, 0.0)
        if met > 0:
            waits += PACKET / rate * np.clip((_RANKS - 1 + met) / met, 0.0, 1.0)
        small = calls / (8 * SIZE) / (calls / (8 * SIZE) + files / rate / PACKET) if self.load > 0 else 0.0
        zero = np.zeros(1)
        run = LinkRun(min(self.load, 1.0), 0.0, float(waits.mean()) * small)
        return Link(zero, waits[None, :], zero, zero, np.zeros((0, 3)), run)

    def relaxation_s(self) -> float:
        """Returns the time in which the queue of files forgets its initial state, s: M/M/1, 1 / (µ (1 - √load)²).

        Source: Cohen 1982 (*The Single Server Queue*), part III; the server is the rate that other traffic leaves.
        """
        bits = sum(group.offered_bps for group in self._files)
        if not bits:
            return 0.0
        left = self.edge.rate_bps * (1 - self.load) + bits
        size = bits / sum(group.per_second for group in self._files)
        load = bits / left if left > 0 else 1.0
        return size / left / (1 - math.sqrt(load)) ** 2 if load < 1 else math.inf

    def spans_s(self, runs: int = 1) -> tuple[float, float]:
        """Returns the measured time of each of several runs and the time before it, in whole seconds."""
        whole, before = self.network.measured_s()
        files = sum(group.per_second for group in self._files)
        relaxation = self.relaxation_s()
        wanted = max(LEAST, PERIODS * relaxation, FLOWS / files / runs if files else 0.0)
        return min(whole, math.ceil(wanted) if wanted < whole else whole), min(
            before, max(1.0, math.ceil(relaxation) if relaxation < before else before)
        )

    def scenario(self, *, runs: int = 1) -> Scenario:
        """Returns the scenario of each of `runs` runs."""
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
        links, flows = [own], self._calls_here(all_others=not left_out)
        slower = left_out <= SLOWED * edge.rate_bps
        if left_out:
            rated = self._bits * sum(self._busy(name) for name in self._calls) - left_out
            left = mean_bits(self.rest.bursts[self.name], rated, 0.0 if slower else left_out)
            own["queue"] = _resized(
                self.rest.queues[self.name], "packets", self.rest.packets[self.name] / left
            )
        if slower:
            own["rate"] = units.rate_text(edge.rate_bps - left_out)
        else:
            flows += _steady("others_x-y", "x", "y", left_out, FEWER)
        flows += _steady("acks_x-y", "x", "y", self.rest.acks[self.name], ACK)
        through = {} if left_out else self._brought()
        entries, exits = {"": "x"}, {"": "y"}
        early: dict[tuple[str, str], str] = {}

        def add_other(name: str, from_: str, to: str, simulated: float = 0.0) -> None:
            link, others = self._add_link(name, from_, to, simulated)
            links.append(link)
            flows.extend(others)

        for number, name in enumerate(
            sorted({way.before for way in self._ways if way.before} | through.keys())
        ):
            entries[name] = f"in-{number}"
            add_other(name, entries[name], "x", through.get(name, 0.0) * self._bits)
        for number, pair in enumerate(sorted({(way.early, way.before) for way in self._ways if way.early})):
            early[pair] = f"early-{number}"
            add_other(pair[0], early[pair], entries[pair[1]])
        for number, name in enumerate(sorted({way.after for way in self._ways if way.after})):
            exits[name] = f"out-{number}"
            add_other(name, "y", exits[name])
        for name, busy in sorted(through.items()):
            flows += self._arriving("rest", entries[name], "y", busy, playout=UNRATED)
        for number, way in enumerate(self._ways):
            first = early.get((way.early, way.before), entries[way.before])
            delay = round(way.mean(self.rest.delays) / PLACE) * PLACE
            links.append({
                "from": f"host-{number}", "to": first, "rate": units.rate_text(edge.rate_bps * FAST),
                "delay": units.span_text(delay), "queue": DEEP, "reverse": {"queue": DEEP, "loss": "none"},
                **self._lossy(way),
            })  # fmt: skip
            flows += _flows(f"host-{number}", exits[way.after], (group for group, *_ in way.parts))
        measured, before = self.spans_s(runs)
        frame: dict[str, Any] = {
            "name": "link",
            "duration": units.span_text(before + measured),
            "warmup": units.span_text(before),
        }
        frame |= {key: self.network.table[key] for key in ("preset", "hosts") if key in self.network.table}
        late = send_jitter_s(self.network.table)
        if late > 0:  # jitter of a host counts once per path, not on every link
            frame["hosts"] = {**frame.get("hosts", {}), "send-jitter": "0 s"}
            for flow in flows:
                flow["transport"] = _jittered(flow["transport"], late)
        calls = {group.mix.name for group in self.network.groups.values() if group.mix.kind == "calls"}
        heard = [flow["name"] for flow in flows if flow["name"].rpartition("_")[0] in calls]
        if heard:
            frame["record"] = {"units": heard}
        try:
            return Scenario.from_dict({**frame, "link": links, "flow": flows})
        except ScenarioError as found:
            raise units.reword_error(found, units.place_in_link) from None

    def _rated(self) -> tuple[float, int]:
        """Returns the number of rated calls: the mean of those that begin here, and the fixed number of others."""
        here = min(self._busy(""), RATED)
        brought = sum(self._busy(name) for name in self._calls if name)
        return here, max(round(min(brought, RATED - here)), 1) if brought > 0 and here < RATED else 0

    def _busy(self, name: str) -> float:
        """Returns the mean number of calls at once from a link; without a name, of those that begin here."""
        return sum(group.busy for group in self._calls.get(name, ()))

    @property
    def _bits(self) -> float:
        """Rate of a call, b/s."""
        return self._mix.bits if self._calls else 0.0

    @property
    def _mix(self) -> Mix:
        """The mix of its calls. A network has only one."""
        return next(group.mix for several in self._calls.values() for group in several)

    def _brought(self) -> dict[str, float]:
        """Returns the mean number of unrated calls at once from each link before this one."""
        busy = {name: self._busy(name) for name in self._calls if name}
        left = 1 - self._rated()[1] / max(sum(busy.values()), 1e-9)
        return {name: several * left for name, several in busy.items() if left > 0}

    def _unrated(self) -> float:
        """Rate of the unrated calls, b/s."""
        return self._bits * (self._busy("") - self._rated()[0] + sum(self._brought().values()))

    def _calls_here(self, *, all_others: bool) -> list[dict[str, Any]]:
        """Returns the flow groups of calls that go into the link directly: rated ones, and others that begin here."""
        here, brought = self._rated()
        flows = self._arriving("", "x", "y", here)
        if all_others:
            flows += self._arriving("rest", "x", "y", self._busy("") - here, playout=UNRATED)
        if brought:
            mix = self._mix
            flows.append(
                {"name": f"{mix.name}_brought", "from": "x", "to": "y", **mix.flow, "count": brought}
            )
        return flows

    def _arriving(self, what: str, from_: str, to: str, busy: float, **other: Any) -> list[dict[str, Any]]:
        """Returns calls that arrive and leave, `busy` at once on average: the group `MIX_PLACE` or `MIX_WHAT_PLACE`."""
        if busy <= 0:
            return []
        mix = self._mix
        name = "_".join(part for part in (mix.name, what, from_) if part)
        arrivals = mix.arrivals(float(f"{busy / (mix.lasts_s or 1.0):.9g}"))
        return [{"name": name, "from": from_, "to": to, **mix.flow, **other, "arrivals": arrivals}]

    def _lossy(self, way: _Way) -> dict[str, Any]:
        """Returns the scenario's losses on the rest of a path: combined if all are Bernoulli, else the first."""
        files = [part for part in way.parts if part[0].mix.lasts_s is None]
        names = [name for part in files[:1] for name in (*part[1], *part[2]) if name in self.rest.losses]
        models = [self.rest.losses[name] for name in names]
        if models and all(isinstance(one, dict) and one.get("model") == "bernoulli" for one in models):
            kept = math.prod(1 - float(one["rate"]) for one in models)
            return {"loss": {"model": "bernoulli", "rate": float(f"{1 - kept:.6g}")}}
        return {"loss": models[0]} if models else {}

    def _add_link(
        self, name: str, from_: str, to: str, simulated: float
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Adds another link of the paths, with its rate and queue, and with flows for traffic that is not simulated.

        If calls are simulated there and most traffic continues over this link, the queue counts packets and other
        traffic has packets of mean size. This includes rated calls that do not come this way. Otherwise other traffic
        is a few large packets, and the queue counts bytes. If other traffic exceeds a multiple of this link's rate, the
        other link's rate is reduced by it. So other traffic costs no more than the link's traffic.
        """
        queue = self.rest.queues.get(name, self.network.table.get("access", {}).get("queue", "drop-tail"))
        rate = self.rest.rates[name]
        taken = max(rate - self.left(name) - simulated, 0.0)
        left = 1.0
        if taken > FAST * self.edge.rate_bps:
            left, taken = 1 - taken / rate, 0.0
        if simulated > 0 and taken <= self._both[name] + simulated:
            rated, acks = min(self._bits * self._busy(name) - simulated, taken), self.rest.acks[name]
            packets = rated / (8 * SIZE) + (taken - rated) / self.rest.means[name] + acks / (8 * ACK)
            taken += acks
            unit, factor, size = "packets", left, round(taken / max(packets, 1e-9) / 8)
        else:
            unit, factor, size = "bytes", left * self.rest.packets.get(name, PACKET) / 8, BUNDLE
        return {
            "from": from_, "to": to, "rate": units.rate_text(rate * left), "delay": "0 s",
            "queue": _resized(queue, unit, factor), "reverse": {"queue": DEEP},
        }, _steady(f"others_{from_}-{to}", from_, to, taken, size)  # fmt: skip


def _inflow(paths: set[tuple[str, ...]], rates: dict[str, float]) -> float:
    """Returns the highest inflow of paths, b/s: each link limits the sum of its upstream links."""
    if () in paths:
        return math.inf
    before: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for path in paths:
        before[path[-1]].add(path[:-1])
    return math.fsum(min(rates[name], _inflow(several, rates)) for name, several in before.items())


def _steady(name: str, from_: str, to: str, rate: float, size: int) -> list[dict[str, Any]]:
    """Returns traffic at a constant rate, b/s, in packets of `size` bytes."""
    if rate <= 0:
        return []
    traffic = {"kind": "cbr", "rate": units.rate_text(float(f"{rate:.6g}")), "payload": f"{size} B"}
    transport = {"name": "udp", "header": "0 B", "max-payload": f"{size} B"}
    return [{"name": name, "from": from_, "to": to, "transport": transport, "traffic": traffic}]


def send_jitter_s(table: dict[str, Any]) -> float:
    """Returns the greatest delay that a network's hosts add to packets, s."""
    late = table.get("hosts", {}).get("send-jitter")
    if late is None:
        return 0.0 if str(table.get("preset", "")).startswith("ns2") else 1e-3
    return units.span(late, "hosts.send-jitter")


def _jittered(transport: Any, late: float) -> Any:
    """Returns a TCP transport with the send jitter of its host."""
    whole = {"name": transport} if isinstance(transport, str) else dict(transport)
    if not whole["name"].startswith("tcp/"):
        return transport
    return {"send-jitter": units.span_text(late), **whole}


def mean_bits(files: float, calls: float, bundled: float = 0.0) -> float:
    """Returns the mean size of packets, bits, for these rates of files, calls and the flow that replaces calls."""
    packets = files / PACKET + calls / (8 * SIZE) + bundled / (8 * FEWER)
    return (files + calls + bundled) / packets if packets > 0 else PACKET


def _resized(queue: Any, unit: str, factor: float) -> Any:
    """Converts a queue's capacity in packets to `factor` times that number, in another unit or of other packets."""
    capacity = queue.get("capacity") if isinstance(queue, dict) else None
    if not isinstance(capacity, dict) or "packets" not in capacity:
        return queue
    least = 2 * BUNDLE if unit == "bytes" else 2
    return queue | {"capacity": {unit: max(round(capacity["packets"] * factor), least)}}


def _flows(from_: str, to: str, groups: Iterable[Group]) -> list[dict[str, Any]]:
    """Returns one flow group for each mix of groups that enter at the same node, called `MIX_PLACE`."""
    per_second: dict[str, float] = defaultdict(float)
    mixes = {}
    for group in groups:
        mixes[group.mix.name] = group.mix
        per_second[group.mix.name] += group.per_second
    return [
        {
            "name": f"{name}_{from_}", "from": from_, "to": to, **mixes[name].flow,
            "arrivals": mixes[name].arrivals(float(f"{several:.9g}")),
        }
        for name, several in sorted(per_second.items()) if several > 0
    ]  # fmt: skip


def read_link(tables: Any, scenario: Scenario, network: Network, name: str) -> Link:
    """Reads the result of a link from a run. For a link with a reduced rate, waits are scaled back."""
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
        return Link(none, np.zeros((0, RANKS)), none, none, np.zeros((0, 3)), LinkRun(*use), windows)
    flows = tables["flows"]
    entries = {one["from"]: one for one in data["link"]}
    own = units.span(entries["x"]["delay"], "delay")
    calls = {group.mix.name for group in network.groups.values() if group.mix.kind == "calls"}
    names = [str(name).rpartition("_") for name in flows["group"].texts]
    keep = np.flatnonzero([name in calls for name, _, _ in names] & np.isfinite(flows["mos"].numbers))
    at = [names[row][2] for row in keep]
    delay = {"x": own, "brought": own} | {
        name: own + units.span(one["delay"], "delay")
        for name, one in entries.items()
        if name.startswith("host-")
    }
    base = np.array([delay[name] for name in at]) + 8 * SIZE / rate
    of = {
        what: flows[what].numbers[keep]
        for what in (
            "units_lost", "units_sent", "r_cost_loss", "r_cost_lateness", "mouth_to_ear_s", "longest_gap_s"
        )
    }  # fmt: skip
    p95 = flows["delay_p95_s"].numbers[keep]
    names_of = [f"{flows['group'].texts[row]}[{int(flows['flow'].numbers[row])}]" for row in keep]
    waits = share * _waits(tables["units"], names_of, base, begin)
    loss = of["units_lost"] / np.maximum(of["units_sent"], 1)
    heard = np.stack([loss, of["r_cost_loss"], of["mouth_to_ear_s"] - p95], axis=1)
    return Link(
        np.clip(loss, 0, 1), waits, np.nan_to_num(of["r_cost_lateness"]), np.nan_to_num(of["longest_gap_s"]), heard,
        LinkRun(*use), windows,
    )  # fmt: skip


def _waits(recorded: Any, names: Sequence[str], base: Numbers, begin: float) -> Numbers:
    """Returns the quantiles of each flow's waits, s; 0 for flows without arrivals."""
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


def estimate_link(load: float, wait: float) -> Link:
    """Returns the result of a link without a simulation: a packet waits with probability `load`, exponentially."""
    busy = min(max(load, 1e-9), 0.95)
    waits = np.where(1 - busy < _RANKS, wait / busy * -np.log((1 - _RANKS) / busy), 0.0)
    zero = np.zeros(1)
    return Link(zero, np.maximum(waits, 0.0)[None, :], zero, zero, np.zeros((0, 3)), LinkRun(load, 0.0, wait))
