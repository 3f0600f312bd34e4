"""The scenarios: transports of others × queues, carriers of a call, carriers of a video, and γ among CUBIC."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fairwave.runs.grid import Grid
from fairwave_study.texts import load_scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave_study.folder import Case

QUEUES, CARRIERS, VIDEO, AMONG = "queues", "carriers", "video", "among"
"""Ids of the grids."""

RIVALS = ("tcp/cubic", "tcp/bbr", "tcp/prague", "tcp/reno", "tcp/gamma", "tcp/gamma-delta", "tcp/real")
"""The other transfers on the line: current ones, then Reno, which the papers knew, and the papers' replacements for
it."""

DEPLOYED = ("tcp/cubic", "tcp/bbr", "tcp/prague")

BUFFER = {"bdp": 4.0, "round-trip": "40 ms", "packet": "1040 B"}


def _queue(discipline: str, victim: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "discipline": discipline,
        "capacity": BUFFER,
        **({"victim": victim} if victim else {}),
        **more,
    }


TAIL, SEL, GUARD = "drop-tail", "drop-tail + drop-sel", "drop-tail + voice-guard"
CODEL, CODEL_SEL = "codel", "codel + drop-sel"
APART = ("fq-codel", "cake", "dualpi2")
"""Queues that keep flows, or kinds of flows, apart."""

SCHEMES: dict[str, dict[str, Any]] = {
    TAIL: _queue("drop-tail"),
    SEL: _queue("drop-tail", "drop-sel"),
    GUARD: _queue("drop-tail", "voice-guard"),
    CODEL: _queue("codel"),
    CODEL_SEL: _queue("codel", "drop-sel"),
    "fq-codel": _queue("fq-codel"),
    "cake": _queue("cake"),
    "dualpi2": _queue("dualpi2"),
}
"""Name of a queue to its table."""

CALLS = ("udp", "tcp/cubic", "tcp/real", "tcp/gamma", "tcp/gamma-delta")
"""The carriers of a call."""

STREAMS = ("udp", "rtcp", "dvrc")
"""The carriers of the video: unadapted, adapted by receiver reports, at the rate that the receiver requests."""


def transports(key: str, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """An axis of transports, each by its name. Every segment is acknowledged."""
    each = {name: {"name": name, "delayed-ack": False} if name.startswith("tcp/") else name for name in names}
    return {name: {key: transport} for name, transport in each.items()}


read = partial(load_scenario, __file__)
"""Loads a scenario in the folder of this module."""


def grids(_: Case) -> list[Grid]:
    """All of them."""
    scenario = read("scenario")
    queue = {name: {"topology.bottleneck.queue": table} for name, table in SCHEMES.items()}
    some = {name: queue[name] for name in (TAIL, SEL, "fq-codel")}
    rivals = transports("flow.transfer.transport", RIVALS)
    deployed = transports("flow.transfer.transport", DEPLOYED)
    mixed = scenario.with_overrides({"flow.transfer.count": 2}).to_dict()
    mixed["flow"].append({**mixed["flow"][-1], "name": "smooth"})
    from fairwave.scenario import Scenario

    return [
        Grid(QUEUES, scenario, {"rival": rivals, "queue": queue}),
        Grid(
            CARRIERS,
            scenario,
            {"rival": deployed, "queue": some, "carrier": transports("flow.call.transport", CALLS)},
        ),
        Grid(
            VIDEO,
            scenario,
            {"rival": deployed, "queue": some, "carrier": transports("flow.video.transport", STREAMS)},
        ),
        Grid(
            AMONG,
            Scenario.from_dict(mixed),
            {
                "smooth": transports("flow.smooth.transport", ("tcp/gamma", "tcp/gamma-delta", "tcp/real")),
                "queue": some,
            },
        ),
    ]
