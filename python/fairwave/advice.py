"""Estimates before a run: load of each link, bandwidth-delay products, likely mistakes.

Assumptions:
    A round trip is propagation, plus the transmission of one full packet on each forward link, without queueing.
    Offered load is the load of active applications: silences and pauses do not lower it. It is counted on the wire for
    sources of packets of one size, as payload for video. Bulk data offers all that the network accepts. Files, pages
    and arriving calls offer their mean over the run. Media sessions offer the maximum that their encoders can use. They
    never cause the warning of an overloaded link, because their rate controller follows the path.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairwave.scenario import Cost, Scenario

TCP_SEGMENT, TCP_HEADER = 1000, 40
LINUX_SEGMENT, LINUX_HEADER = 1448, 52
"""Default bytes of a segment's payload and headers."""

NS2_WINDOW = 64
"""The receiver's window under the presets of ns-2, segments; under others it never limits."""

SLACK = 1.02
"""Loads up to this multiple of a link's rate are not reported as overload."""


@dataclass(frozen=True)
class LinkLoad:
    """Offered load of a link direction.

    Attributes:
        name: `from>to`.
        rate_bps: Rate of the link.
        offered_bps: Peak rate of all constant-rate sources together.
        greedy: Flows of bulk data that cross it.
        flows: Flows that cross it, of both kinds.
        round_trip_s: Mean round-trip propagation delay of the flows that cross it.
        bdp_packets: Rate × round trip, in packets of 1000 B.
        buffer: Capacity of its queue, in packets of 1000 B; None if unknown.
        yielding_bps: Share of media sessions in `offered_bps`. They send less if the path carries less.
    """

    name: str
    rate_bps: float
    offered_bps: float
    greedy: int
    flows: int
    round_trip_s: float
    bdp_packets: float
    buffer: float | None
    yielding_bps: float = 0.0

    @property
    def load(self) -> float:
        """Offered load as a share of the rate; bulk data left out."""
        return self.offered_bps / self.rate_bps

    @property
    def steady_bps(self) -> float:
        """Offered load that does not adapt to the path."""
        return self.offered_bps - self.yielding_bps

    @property
    def steady_load(self) -> float:
        """The same as a share of the rate."""
        return self.steady_bps / self.rate_bps


@dataclass(frozen=True)
class Advice:
    """Estimates for a scenario before it runs.

    Attributes:
        links: Link directions that data crosses, the most loaded first.
        mistakes: Likely mistakes, in words with numbers.
        cost: Upper limit of the cost of a run.
    """

    links: Sequence[LinkLoad]
    mistakes: Sequence[str]
    cost: Cost

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "links": [
                {
                    "link": one.name, "rate_bps": one.rate_bps, "offered_bps": one.offered_bps, "load": one.load,
                    "bulk_flows": one.greedy, "flows": one.flows, "round_trip_s": one.round_trip_s,
                    "bdp_packets": one.bdp_packets, "buffer_packets": one.buffer,
                }
                for one in self.links
            ],
            "likely_mistakes": list(self.mistakes),
            "cost": {
                "packet_hops": self.cost.packet_hops, "seconds": self.cost.seconds, "memory_bytes": self.cost.memory,
            },
        }  # fmt: skip


def advise(scenario: Scenario, seed: int = 1) -> Advice:
    """Computes loads and bandwidth-delay products, and looks for likely mistakes.

    Raises:
        fairwave.ScenarioError: The scenario cannot be planned.
    """
    plan = scenario.plan(seed)
    links = {link["name"]: link for link in plan["links"]}
    arriving = {flow["name"] for flow in scenario.to_dict().get("flow", []) if flow.get("arrivals")}
    duration = max(float(plan["duration_s"]), 1e-9)
    offered: dict[str, float] = {}
    yielding: dict[str, float] = {}
    greedy: dict[str, int] = {}
    trips: dict[str, list[float]] = {}
    for flow in plan["flows"]:
        there_and_back = sum(links[name]["delay_s"] for name in [*flow["forward"], *flow["backward"]])
        for name in flow["forward"]:
            trips.setdefault(name, []).append(there_and_back)
            if flow["volume_bytes"] is not None:
                offered[name] = offered.get(name, 0.0) + flow["volume_bytes"] * 8 / duration
            elif flow["offered_bps"] is None:
                greedy[name] = greedy.get(name, 0) + 1
            else:
                # Flows that arrive and leave are not always present.
                part = flow["on_s"] / duration if flow["name"].rpartition("[")[0] in arriving else 1.0
                offered[name] = offered.get(name, 0.0) + flow["offered_bps"] * part
                if yields(flow):
                    yielding[name] = yielding.get(name, 0.0) + flow["offered_bps"] * part
    loads = []
    for name, several in trips.items():
        rate, trip = float(links[name]["rate_bps"]), sum(several) / len(several)
        loads.append(
            LinkLoad(
                name, rate, offered.get(name, 0.0), greedy.get(name, 0), len(several), trip, rate * trip / 8000,
                _buffer(links[name]["queue"]), yielding.get(name, 0.0),
            )
        )  # fmt: skip
    loads.sort(key=lambda one: (-one.load - (1 if one.greedy else 0), -one.greedy, one.rate_bps))
    mistakes = [
        *_check_frames(plan),
        *_check_links(loads),
        *_check_steps(plan),
        *_check_bottlenecks(scenario, plan, links),
        *_check_flows(plan, links, {one.name: one for one in loads}),
    ]
    return Advice(loads, mistakes, scenario.cost(seed))


def yields(flow: Mapping[str, Any]) -> bool:
    """Whether a planned flow is a media session with a rate controller that follows the path."""
    control = flow["transport"].get("control", "gcc")
    name = control.get("name") if isinstance(control, dict) else control
    return flow["traffic"].get("kind") == "media" and name != "fixed"


def refusal(plan: Mapping[str, Any]) -> str:
    """Why a run of a plan is refused: media without an encoder, or an encoder without media. Empty if it is not."""
    for flow in plan["flows"]:
        is_media, transport = flow["traffic"].get("kind") == "media", flow["transport"].get("name")
        if is_media and transport != "webrtc":
            return (
                f"{flow['name']}: traffic of the kind `media` needs a transport that encodes it, and {transport} "
                'does not; write transport = "webrtc"'
            )
        if transport == "webrtc" and not is_media:
            return (
                f"{flow['name']}: transport `webrtc` encodes what it sends, and carries traffic of the kind `media` "
                'only; write traffic = "media", or another transport, for example transport = "udp"'
            )
    return ""


def _buffer(queue: dict[str, Any]) -> float | None:
    capacity = queue.get("capacity", {})
    if "packets" in capacity:
        return float(capacity["packets"])
    return capacity["bytes"] / 1000 if "bytes" in capacity else None


def activities(scenario: Scenario) -> dict[str, str]:
    """Share of the time in which each group's speakers talk, in words: `speakers talk 43 % of the time`."""
    return {
        name: "speakers talk all the time"
        if share == 1.0
        else f"speakers talk {share * 100:.0f} % of the time"
        for name, share in scenario.activities.items()
    }


def rate_in_words(bits_per_second: float) -> str:
    """A rate with the unit that suits it: `10 Mb/s`."""
    for unit, size in (("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3)):
        if bits_per_second >= size:
            return f"{bits_per_second / size:.3g} {unit}"
    return f"{bits_per_second:.3g} b/s"


def _check_frames(plan: dict[str, Any]) -> list[str]:
    duration, warmup = plan["duration_s"], plan["warmup_s"]
    said = []
    if duration and warmup > duration / 2:
        said.append(
            f"the warm-up ({warmup:g} s) is more than half of the run ({duration:g} s): little is left to measure"
        )
    gone = {flow["name"].rpartition("[")[0] for flow in plan["flows"] if 0 < flow["stop_s"] <= warmup}
    said += [
        f"flows of {name} stop within the warm-up ({warmup:g} s): nothing of them is measured"
        for name in sorted(gone)
    ]
    return said


def _check_links(loads: Sequence[LinkLoad]) -> list[str]:
    said = []
    for one in loads:
        if one.steady_load > SLACK:
            said.append(
                f"{one.name} is offered {rate_in_words(one.steady_bps)} by constant-rate sources, but has "
                f"{rate_in_words(one.rate_bps)}: when all send, {1 - 1 / one.steady_load:.0%} of it or more is "
                "lost or delayed"
            )
        wait = one.buffer * 8000 / one.rate_bps if one.buffer is not None else 0.0
        if wait > 1.0 and (one.greedy or one.steady_load > SLACK):
            said.append(
                f"the queue of {one.name} holds {one.buffer:g} packets, {wait:.1f} s at "
                f"{rate_in_words(one.rate_bps)}: a flow that "
                "fills it delays all others by that time (bufferbloat)"
            )
        if one.greedy and one.buffer is not None and one.buffer < one.bdp_packets / 10:
            said.append(
                f"the queue of {one.name} holds {one.buffer:g} packets, less than a tenth of its "
                "bandwidth-delay product "
                f"({one.bdp_packets:.0f}): bulk flows will not fill the link"
            )
    return said


def _check_steps(plan: dict[str, Any]) -> list[str]:
    """Warns about sources of one period that begin at the same moment of it, at the link that most of them cross."""
    meeting: dict[tuple[int, int], dict[str, list[str]]] = {}
    for flow in plan["flows"]:
        if flow["period_s"] is None or flow["traffic"]["phase"] != "zero":
            continue
        period = max(round(flow["period_s"] * 1e9), 1)
        beat = period, round(flow["start_s"] * 1e9) % period
        for link in flow["forward"]:
            meeting.setdefault(beat, {}).setdefault(link, []).append(flow["name"].rpartition("[")[0])
    said = []
    for (period, _), links in meeting.items():
        link, groups = max(links.items(), key=lambda one: len(one[1]))
        if len(groups) > 1:
            said.append(
                f"{len(groups)} sources ({', '.join(dict.fromkeys(groups))}) are in step at {link}: each repeats "
                f"every {period / 1e6:g} ms, and all begin at the same moment of it, so their packets meet in the "
                'queue for the whole run; write phase = "random" in their traffic'
            )
    return said


def _check_bottlenecks(scenario: Scenario, plan: dict[str, Any], links: dict[str, Any]) -> list[str]:
    """Bottlenecks that never queue, because the access links before them are slower together."""
    named = _bottlenecks(scenario, plan)
    feeding: dict[str, dict[str, float]] = {name: {} for name in named}
    for flow in plan["flows"]:
        slowest, feeder = math.inf, ""
        for name in flow["forward"]:
            if name in named:
                feeding[name][feeder] = min(slowest, feeding[name].get(feeder, math.inf))
            slowest, feeder = min(slowest, links[name]["rate_bps"]), name
    said = []
    for name, feeders in feeding.items():
        most, rate = sum(feeders.values()), links[name]["rate_bps"]
        if not feeders or most >= rate or named & set(feeders):
            continue
        slow = min(feeders, key=lambda one: feeders[one])
        before = slow if len(feeders) == 1 else f"{len(feeders)} links such as {slow}"
        said.append(
            f"{name} ({rate_in_words(rate)}) is no bottleneck: {before} before it can send at most "
            f"{rate_in_words(most)}, so packets wait there and the queue of {name} stays empty"
        )
    return said


def _bottlenecks(scenario: Scenario, plan: dict[str, Any]) -> set[str]:
    """Link directions intended as bottlenecks: between a preset's routers, or with an explicit discipline."""
    table = scenario.to_dict()
    if "topology" in table:
        hosts = {flow[end] for flow in plan["flows"] for end in ("from", "to")}
        return {link["name"] for link in plan["links"] if hosts.isdisjoint(link["name"].split(">", 1))}
    queues = {f"{link['from']}>{link['to']}": link.get("queue", {}) for link in table.get("link", [])}
    named = {name for name, queue in queues.items() if queue.get("discipline", "drop-tail") != "drop-tail"}
    return named & {link["name"] for link in plan["links"]}


def _check_flows(plan: dict[str, Any], links: dict[str, Any], loads: dict[str, LinkLoad]) -> list[str]:
    said: list[str] = []
    seen: set[str] = set()
    for flow in plan["flows"]:
        group = flow["name"].rpartition("[")[0]
        if group in seen or not flow["forward"]:
            continue
        seen.add(group)
        path = [links[name] for name in flow["forward"]]
        bottleneck = min(path, key=lambda link: link["rate_bps"])
        trip = sum(links[name]["delay_s"] for name in [*flow["forward"], *flow["backward"]])
        transport = flow["transport"]
        if str(transport.get("name", "")).startswith("tcp/"):
            share = min((loads[name] for name in flow["forward"]), key=lambda one: one.rate_bps / one.flows)
            said += _check_window(group, transport, flow, path, trip, share)
        offered = flow["offered_bps"]
        if offered is not None and not yields(flow) and offered > SLACK * bottleneck["rate_bps"]:
            said.append(
                f"a single flow of {group} offers {rate_in_words(offered)}, more than {bottleneck['name']} has "
                f"({rate_in_words(bottleneck['rate_bps'])})"
            )
        one_way = sum(link["delay_s"] for link in path)
        timely = min(flow["thresholds_s"], default=math.inf)
        if one_way >= timely:
            said.append(
                f"nothing of {group} can be timely: propagation alone takes {one_way * 1e3:g} ms, and "
                f"{timely * 1e3:g} ms are allowed"
            )
    return said


def _check_window(
    group: str,
    transport: dict[str, Any],
    flow: dict[str, Any],
    path: Sequence[dict[str, Any]],
    trip: float,
    tightest: LinkLoad,
) -> list[str]:
    """Warns if the receiver's window limits a flow below its share of the tightest link, or below its offered rate."""
    window = transport.get("receiver-window")
    preset = transport.get("preset", "linux")
    if window is None and preset.startswith("ns2"):
        window = NS2_WINDOW
    if window is None:
        return []
    linux = preset == "linux"
    segment = _bytes(transport.get("segment"), LINUX_SEGMENT if linux else TCP_SEGMENT)
    wire = (segment + _bytes(transport.get("header"), LINUX_HEADER if linux else TCP_HEADER)) * 8
    # A window's worth per round trip; a round trip is at least propagation and a segment's transmission.
    whole = trip + sum(wire / link["rate_bps"] for link in path)
    most = window * segment * 8 / whole
    part = tightest.rate_bps / tightest.flows
    wanted = part if flow["offered_bps"] is None else min(part, flow["offered_bps"])
    # Headers use part of the link's rate.
    if most >= wanted * segment * 8 / wire * 0.98:
        return []
    would = math.ceil(wanted * whole / wire)
    return [
        (
            f"the window of {window} segments holds a flow of {group} to {rate_in_words(most)} (round trip "
            f"{whole * 1e3:.3g} ms), but {tightest.name} has {rate_in_words(part)} for it: a window of {would} "
            "would use that"
        )
    ]


def _bytes(text: Any, otherwise: int) -> float:
    """Bytes of a quantity of the language, `1.2 kB`."""
    if text is None:
        return float(otherwise)
    number, _, unit = str(text).partition(" ")
    return float(number) * {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024, "MiB": 1048576}.get(unit, 1)
