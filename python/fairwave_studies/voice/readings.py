"""How papers 000 and 001 can be read: what they leave open, and what their words and their simulator admit.

The words are in `readings.toml`.

The values of each factor stand in the order of plausibility, by the words and the tools of the time and not by what
they do to any claim. But an earlier exploration of fewer factors had been seen: the order was not fixed blind. The
first ones together are the base reading. How plausible a value is beside the others of its factor is said in whole
numbers, none being 1. What both papers fix is no factor: 60 s, 160 bytes, drop-tail, transfers over Reno, means of 1.00
s and 1.35 s and shape 1.5. They also fix a Bernoulli error rate of 0.01 in both directions of the calls' sink links.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fairwave_study import texts
from fairwave_study.readings import Factor, Value, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairwave.runs.axes import Label

TIMELY, SENT = "timely", "sent"
"""Ids of the factors that change only the judging."""

Changes = dict[str, Any]


def _tcp(name: str = "tcp", **keys: Any) -> Callable[[str, dict[str, Label]], Changes]:
    """Sets keys of the calls' transport where that is a TCP, or the one named."""
    changes = {f"flow.voice.transport.{key.replace('_', '-')}": value for key, value in keys.items()}
    return lambda _, labels: changes if str(labels["transport"]).startswith(name) else {}


def _timers(**keys: Any) -> Callable[[str, dict[str, Label]], Changes]:
    """Sets keys of every TCP, the calls' and the transfers'."""
    transfers = {f"flow.ftp.transport.{key.replace('_', '-')}": value for key, value in keys.items()}
    calls = _tcp(**keys)
    return lambda grid, labels: {**transfers, **calls(grid, labels)}


def _buffers(first: Any, shared: Any) -> Changes:
    return {
        "topology.first-bottleneck.queue": {"discipline": "drop-tail", "capacity": first},
        "topology.shared-bottleneck.queue": {"discipline": "drop-tail", "capacity": shared},
    }


def _hops(delay: str) -> Changes:
    return {
        "topology.first-bottleneck.delay": delay,
        "topology.shared-bottleneck.delay": delay,
    }


def _headers(udp: str | None, tcp: str | None) -> Callable[[str, dict[str, Label]], Changes]:
    """Headers of the calls' packets, over UDP and over TCP; None leaves the preset's."""

    def changes(_: str, labels: dict[str, Label]) -> Changes:
        header = udp if str(labels["transport"]).startswith("udp") else tcp
        return {} if header is None else {"flow.voice.transport.header": header}

    return changes


SHORTEST = 160
"""Bytes of the packet that both papers' error rates are given with."""

ACKNOWLEDGEMENT = 40


def _errors_by_byte(_: str, labels: dict[str, Label]) -> Changes:
    """Errors of bytes: the rate is that of a packet of 160, longer packets suffer more and shorter ones less."""
    rate = float(labels.get("per", 0.01))

    def of(size: int) -> float:
        return 1.0 - math.pow(1.0 - rate, size / SHORTEST)

    payload = int(str(labels.get("payload", "160 B")).removesuffix(" B"))
    return {
        "topology.sink-access.loss.rate": of(payload),
        "topology.sink-access.reverse": {"loss": {"model": "bernoulli", "rate": of(ACKNOWLEDGEMENT)}},
    }


FACTORS = texts.factors(
    __file__,
    (
        Factor(
            TIMELY,
            values=plain(
                {
                    "gap to the packet numbered before": 4,
                    "gap to the arrival before": 2,
                    "one-way delay": 1,
                    "gap beyond the sender's": 1,
                }
            ),
            kind="definition",
        ),
        Factor(SENT, values=plain({"by the application": 3, "by the transport": 1}), kind="definition"),
        Factor(
            "first-bottleneck",
            values=(
                Value("2 Mb/s", changes={"topology.first-bottleneck.rate": "2 Mb/s"}, plausibility=3),
                Value("1.2 Mb/s", changes={"topology.first-bottleneck.rate": "1.2 Mb/s"}, plausibility=2),
                Value("4 Mb/s", changes={"topology.first-bottleneck.rate": "4 Mb/s"}),
            ),
        ),
        Factor(
            "shared-bottleneck",
            values=(
                Value("3 Mb/s", changes={"topology.shared-bottleneck.rate": "3 Mb/s"}, plausibility=3),
                Value("2 Mb/s", changes={"topology.shared-bottleneck.rate": "2 Mb/s"}, plausibility=2),
                Value("6 Mb/s", changes={"topology.shared-bottleneck.rate": "6 Mb/s"}, plausibility=2),
            ),
        ),
        Factor(
            "buffers",
            values=(
                Value("50 packets", changes=_buffers({"packets": 50}, {"packets": 50}), plausibility=4),
                Value(
                    "1 BDP",
                    changes=_buffers({"bdp": 1.0, "packet": "160 B"}, {"bdp": 1.0, "packet": "1000 B"}),
                    plausibility=3,
                ),
                Value("1 BDP in bytes", changes=_buffers({"bdp": 1.0}, {"bdp": 1.0})),
                Value("50 kB", changes=_buffers({"bytes": 50_000}, {"bytes": 50_000})),
                Value("75 kB", changes=_buffers({"bytes": 75_000}, {"bytes": 75_000})),
            ),
        ),
        Factor(
            "rate-reading",
            values=(
                Value("while talking", changes={"flow.voice.traffic.reading": "peak-rate"}, plausibility=3),
                Value("on the mean", changes={"flow.voice.traffic.reading": "mean-rate"}),
            ),
        ),
        Factor(
            "periods",
            values=(
                Value(
                    "Pareto",
                    changes={
                        "flow.voice.traffic.talk": {"distribution": "pareto", "mean": "1 s", "shape": 1.5},
                        "flow.voice.traffic.silence": {
                            "distribution": "pareto",
                            "mean": "1.35 s",
                            "shape": 1.5,
                        },
                    },
                    plausibility=4,
                ),
                Value(
                    "exponential",
                    changes={
                        "flow.voice.traffic.talk": {"distribution": "exponential", "mean": "1 s"},
                        "flow.voice.traffic.silence": {"distribution": "exponential", "mean": "1.35 s"},
                    },
                ),
            ),
        ),
        Factor(
            "entering",
            values=(
                Value(
                    "first second, silent",
                    changes={
                        "flow.voice.traffic.first": "silence",
                        "flow.*.start": {"from": "0 s", "to": "1 s"},
                    },
                    plausibility=3,
                ),
                Value(
                    "first 10 s, silent",
                    changes={
                        "flow.voice.traffic.first": "silence",
                        "flow.*.start": {"from": "0 s", "to": "10 s"},
                    },
                ),
                Value(
                    "first second, under way",
                    changes={
                        "flow.voice.traffic.first": "stationary",
                        "flow.*.start": {"from": "0 s", "to": "1 s"},
                    },
                ),
            ),
        ),
        Factor(
            "headers",
            values=(
                Value("as ns-2", changes=_headers("0 B", None), plausibility=4),
                Value("none", changes=_headers("0 B", "0 B"), plausibility=2),
                Value("as ns-2, UDP with 40 bytes", changes=_headers("40 B", None)),
                Value("40 bytes for all", changes=_headers("40 B", "40 B")),
            ),
            kind="way of counting sizes",
        ),
        Factor(
            "timers",
            values=(
                Value("ns-2 of 2005", changes=_timers(min_rto="200 ms", initial_rto="6 s"), plausibility=3),
                Value(
                    "ns-2 before October 2004",
                    changes=_timers(min_rto="1 s", initial_rto="6 s"),
                    plausibility=2,
                ),
                Value("ns-2.35", changes=_timers(min_rto="200 ms", initial_rto="3 s")),
            ),
            kind="coarse clock",
        ),
        Factor(
            "clock",
            values=(
                Value("10 ms", changes=_timers(tick="10 ms"), plausibility=3),
                Value("100 ms", changes=_timers(tick="100 ms"), plausibility=2),
                Value("500 ms", changes=_timers(tick="500 ms")),
            ),
            kind="coarse clock",
        ),
        Factor(
            "window",
            values=(
                Value("64 segments", changes=_timers(receiver_window=64), plausibility=3),
                Value("20 segments", changes=_timers(receiver_window=20), plausibility=2),
                Value("none", changes=_timers(receiver_window=1000)),
            ),
        ),
        Factor(
            "acknowledgements",
            values=(
                Value("each", changes=_timers(delayed_ack=False), plausibility=3),
                Value("delayed", changes=_timers(delayed_ack=True)),
            ),
        ),
        Factor(
            "send-jitter",
            values=(
                Value("none", changes=_timers(send_jitter="0 s"), plausibility=3),
                Value("1 ms", changes=_timers(send_jitter="1 ms")),
            ),
            kind="phase effect",
        ),
        Factor(
            "hops",
            values=(
                Value("10 ms", changes=_hops("10 ms"), plausibility=3),
                Value("20 ms", changes=_hops("20 ms")),
                Value("50 ms", changes=_hops("50 ms")),
            ),
        ),
        Factor(
            "access",
            values=(
                Value(
                    "5 to 15 ms",
                    changes={"topology.access.delay": {"from": "5 ms", "to": "15 ms"}},
                    plausibility=2,
                ),
                Value("10 ms for all", changes={"topology.access.delay": "10 ms"}),
            ),
            kind="phase effect",
        ),
        Factor(
            "recovery",
            values=(
                Value("each its own", plausibility=3),
                Value(
                    "all as NewReno",
                    changes=lambda _, labels: (
                        {"flow.voice.transport.recovery": "newreno"}
                        if str(labels["transport"]).startswith("tcp")
                        else {}
                    ),
                ),
                Value("Real as Reno", changes=_tcp("tcp/real", recovery="reno")),
            ),
        ),
        Factor(
            "real",
            values=(
                Value(
                    "1/100, 1/8, 1/2",
                    changes=_tcp("tcp/real", hold=0.01, cut=0.125, jitter=0.5),
                    plausibility=3,
                ),
                Value("small up to 1/2", changes=_tcp("tcp/real", hold=0.01, cut=0.5, jitter=0.5)),
                Value("no drop up to 1/20", changes=_tcp("tcp/real", hold=0.05, cut=0.125, jitter=0.5)),
                Value("jitter low up to 1/4", changes=_tcp("tcp/real", hold=0.01, cut=0.125, jitter=0.25)),
            ),
        ),
        Factor(
            "errors",
            values=(
                Value("per packet", plausibility=4),
                Value("per byte", changes=_errors_by_byte),
            ),
        ),
    ),
)
"""All that is open, each with its values in order of plausibility."""


REFUSED = texts.refused(__file__)
"""What was thought of and not admitted, with the words that rule it out."""
