"""Whether the claims hang on what is assumed: every claim judged again under other assumptions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from fairwave.studies.voice import quantities as q
from fairwave.studies.voice.claims import PLAIN, TIMELY
from fairwave.studies.voice.points import CALLS, ESSENTIAL, TCPS, grid
from fairwave.study.grid import IN_STEP
from fairwave.study.study import Sensitivity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairwave.study.claims import Evidence
    from fairwave.study.grid import Axes, Grid, Label
    from fairwave.study.study import Data

PATH, ONE_BY_ONE = "path", "one-by-one"

CAPTION = (
    "Each setting is simulated at the fewest points on which every claim can be judged (40, 80 and 120 calls); the "
    "numbers are means over all of them."
)

SEEDS = 5
"""Replications of each setting: there are many."""

RATES = ("1 Mb/s", "2 Mb/s", "4 Mb/s")
BUFFERS = (0.5, 1, 4)


def _buffer(products: float) -> dict[str, Any]:
    """So many bandwidth-delay products at both bottlenecks, in the packets that wait there."""

    def queue(packet: str) -> dict[str, Any]:
        return {"discipline": "drop-tail", "capacity": {"bdp": products, "packet": packet}}

    return {
        "topology.first-bottleneck.queue": queue("160 B"),
        "topology.shared-bottleneck.queue": queue("1000 B"),
    }


def _only(transports: tuple[str, ...], **parameters: Any) -> Callable[[dict[str, Label]], dict[str, Any]]:
    """Sets parameters of the calls' transport where it is one of these."""
    changes = {f"flow.voice.transport.{key.replace('_', '-')}": value for key, value in parameters.items()}
    return lambda labels: changes if labels["transport"] in transports else {}


PATHS: Axes = {
    "R1→R2": {rate: {"topology.first-bottleneck.rate": rate} for rate in RATES},
    "buffers": {"as assumed": {}, **{f"{products:g} BDP": _buffer(products) for products in BUFFERS}},
}
"""The sweep of rates and buffers."""

SETTINGS: Axes = {
    "setting": {
        "as assumed": {},
        "64 kb/s on the mean": {"flow.voice.traffic.reading": "mean-rate"},
        "playout after 300 ms": {
            "flow.voice.playout": {"strategy": "fixed", "delay": "300 ms", "reference": "creation"}
        },
        "exponential periods": {
            "flow.voice.traffic.talk": {"distribution": "exponential", "mean": "1 s"},
            "flow.voice.traffic.silence": {"distribution": "exponential", "mean": "1.35 s"},
        },
        "stationary beginning": {"flow.voice.traffic.first": "stationary"},
        "entering within 10 s": {"flow.*.start": {"from": "0 s", "to": "10 s"}},
        "R2→R3 2 Mb/s": {"topology.shared-bottleneck.rate": "2 Mb/s"},
        "R2→R3 6 Mb/s": {"topology.shared-bottleneck.rate": "6 Mb/s"},
        "UDP with 40 B of headers": _only(("udp",), header="40 B"),
        "details of the RFCs": {"preset": "rfc", "hosts": IN_STEP},
        "delayed acknowledgements": _only(TCPS, delayed_ack=True),
        "window of 20 segments": _only(TCPS, receiver_window=20),
        "all TCPs recover as NewReno": _only(("tcp/vegas", "tcp/westwood"), recovery="newreno"),
        "TCP-Real recovers as Reno": _only(("tcp/real",), recovery="reno"),
        "TCP-Real: no drop up to 5 %": _only(("tcp/real",), hold=0.05),
        "TCP-Real: small up to 1/4": _only(("tcp/real",), cut=0.25),
        "TCP-Real: small up to 1/2": _only(("tcp/real",), cut=0.5),
        "TCP-Real: jitter low up to 1/4": _only(("tcp/real",), jitter=0.25),
        "TCP-Real: jitter low up to 0.99": _only(("tcp/real",), jitter=0.99),
        "errors on data only": {"topology.sink-access.reverse": {"loss": {"model": "none"}}},
        "transfers over NewReno": {"flow.ftp.transport": {"name": "tcp/newreno", "segment": "1000 B"}},
    }
}
"""Other assumptions, one at a time."""


def grids() -> list[Grid]:
    """What the tables simulate. Points that equal others are not simulated twice."""
    several = (grid(PATH, ESSENTIAL, PATHS), grid(ONE_BY_ONE, ESSENTIAL, SETTINGS))
    return [replace(one, most=SEEDS) for one in several]


def _tests() -> Mapping[str, Callable[[Data], Evidence]]:
    tests: dict[str, Callable[[Data], Evidence]] = {}
    for name in sorted([*PLAIN, *TIMELY], key=lambda name: int(name[1:])):
        if name in PLAIN:
            tests[name] = PLAIN[name]
            continue
        for reading, words in q.NAMES.items():
            tests[f"{name}, {words}"] = partial(TIMELY[name], reading=reading)
    return tests


def sensitivities() -> list[Sensitivity]:
    """Both tables."""
    tests = _tests()
    return [
        Sensitivity(
            PATH,
            "The bottleneck of the calls and the buffers",
            PATH,
            tuple(PATHS),
            CALLS,
            tests,
            (q.GOODPUT, q.LOSS, q.INDEX[q.PRINTED], q.INDEX["delay"], q.MOS),
            caption=f"{CAPTION} Bandwidth-delay products count packets of 160 bytes at R1→R2, of 1000 at R2→R3.",
        ),
        Sensitivity(
            ONE_BY_ONE,
            "Other assumptions, one at a time",
            ONE_BY_ONE,
            tuple(SETTINGS),
            CALLS,
            tests,
            (q.GOODPUT, q.LOSS, q.INDEX[q.PRINTED], q.INDEX["delay"], q.MOS),
            caption=CAPTION,
        ),
    ]
