"""The scenarios: carriers of a call, streams that yield to a queue, DVRC's variants, queues that share by flow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fairwave.runs.axes import vary
from fairwave.runs.grid import Grid
from fairwave_study.texts import load_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairwave_study.folder import Case

CALLS, STREAMS, VIDEO, QUEUES = "calls", "streams", "video", "queues"
"""Ids of the grids."""

DEADLINE = "300 ms"
"""For how long speech is worth sending: the threshold of papers 000 and 001."""

UDP, TFRC, TFRC_SP = "udp", "tfrc", "tfrc-sp"
SACK, SACK_PARTIAL, REAL, REAL_PARTIAL = "tcp/sack", "tcp/sack, partial", "tcp/real", "tcp/real, partial"
RAP, RAP_GAMMA = "rap", "rap, γ"
CARRIERS: Mapping[str, Mapping[str, Any]] = {
    UDP: {"name": "udp", "header": "0 B"},
    TFRC: {"name": "tfrc"},
    TFRC_SP: {"name": "tfrc", "small-packets": True},
    SACK: {"name": "tcp/sack"},
    SACK_PARTIAL: {"name": "tcp/sack", "deadline": DEADLINE},
    REAL: {"name": "tcp/real"},
    REAL_PARTIAL: {"name": "tcp/real", "deadline": DEADLINE},
    RAP: {"name": "rap"},
    RAP_GAMMA: {"name": "rap", "gamma": 0.5},
}
"""The carriers of a call."""

FLOWS = (20, 80)
"""Calls: few, and more than the first bottleneck carries."""

ALONE, BESIDE = "alone", "with Reno"

_DVRC: Mapping[str, Any] = {
    "name": "dvrc",
    "segment": "1000 B",
    "reaction": "gap",
    "headroom": 0.0,
    "aiamd": {"unit": "rate", "alpha-rate": "8 kb/s"},
}
LAYERS, PROFILE, FINE = "dvrc", "dvrc, profile", "dvrc, fine"
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    LAYERS: _DVRC,
    PROFILE: {**_DVRC, "answers": "round-trip"},
    FINE: {**_DVRC, "allocation": "fine"},
}
"""DVRC as paper 002 has it, as a DCCP profile, and with layers that are cut anywhere."""

TRANSFERS = (1, 3)
"""Transfers next to the video."""

CASES: Mapping[str, tuple[int, int, int]] = {
    "CA1": (25, 50, 25),
    "CA2": (50, 25, 25),
    "CA3": (25, 25, 50),
    "CA4": (12, 12, 76),
}
"""Voice, other UDP and TCP in percent of the offered load: paper 004, Table 2."""

TAIL, SEL, AFD, CSFQ, APART = "red", "red + drop-sel", "afd", "csfq", "fq-codel"
CSFQ_SHORT = "csfq, 50 ms"
_RED: Mapping[str, Any] = {
    "discipline": "red",
    "preset": "ns2",
    "mean-packet": "500 B",
    "min-threshold": 26.233,
    "max-threshold": 78.7,
    "gentle": False,
    "wait": False,
    "max-p": 0.02,
    "weight": 0.002,
    "mode": "bytes",
}
_BUFFER: Mapping[str, Any] = {"capacity": {"bytes": 131_250}}
SCHEMES: Mapping[str, Mapping[str, Any]] = {
    TAIL: {**_RED, **_BUFFER, "victim": "tail"},
    SEL: {**_RED, **_BUFFER, "victim": "drop-sel"},
    AFD: {"discipline": "afd", **_BUFFER},
    CSFQ: {"discipline": "csfq", **_BUFFER},
    CSFQ_SHORT: {"discipline": "csfq", "capacity": {"bytes": 21_875}},
    APART: {"discipline": "fq-codel", **_BUFFER},
}
"""Name of a queue to its table: paper 004's, the two that share by flow, and a current one for comparison."""


read = partial(load_scenario, __file__)
"""Loads a scenario in the folder of this module."""


def _axis(key: str, tables: Mapping[str, Mapping[str, Any]], *names: str) -> dict[str, dict[str, Any]]:
    return {name: {key: dict(tables[name])} for name in names or tables}


def grids(_: Case) -> list[Grid]:
    """All of them."""
    loads = {
        name: {"load.shares": dict(zip(("voice", "other-udp", "tcp"), shares, strict=True))}
        for name, shares in CASES.items()
    }
    streams = {
        RAP: {**CARRIERS[RAP], "segment": "1000 B"},
        RAP_GAMMA: {**CARRIERS[RAP_GAMMA], "segment": "1000 B"},
    }
    return [
        Grid(
            CALLS,
            read("voice"),
            {"flows": vary("flow.voice.count", FLOWS), "carrier": _axis("flow.voice.transport", CARRIERS)},
        ),
        Grid(
            STREAMS,
            read("streams"),
            {
                "line": {ALONE: {"flow.ftp.count": 0}, BESIDE: {"flow.ftp.count": 5}},
                "carrier": _axis("flow.stream.transport", streams),
            },
        ),
        Grid(
            VIDEO,
            read("video"),
            {"ftp": vary("flow.ftp.count", TRANSFERS), "carrier": _axis("flow.video.transport", VARIANTS)},
        ),
        Grid(
            QUEUES,
            read("queues"),
            {"case": loads, "queue": _axis("topology.bottleneck.queue", SCHEMES)},
        ),
    ]
