"""Readings of papers 000 and 001: the changes that depend on a point's transport.

`readings.toml` lists all factors and the other changes. The values of a factor are in the order of plausibility, which
the papers' words and the tools of their time decide, not the effect on a claim. The order was not fixed blind: the
results of an earlier exploration of fewer factors were known.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairwave.runs.axes import Label, Overrides
    from fairwave_study.readings import Changes

    Change = Callable[[str, dict[str, Label]], Overrides]


def _tcp(name: str = "tcp", **keys: Any) -> Change:
    """Sets keys of the calls' transport if its name begins with `name`."""
    changes = {f"flow.voice.transport.{key.replace('_', '-')}": value for key, value in keys.items()}
    return lambda _, labels: changes if str(labels["transport"]).startswith(name) else {}


def _timers(**keys: Any) -> Change:
    """Sets keys of every TCP, the calls' and the transfers'."""
    transfers = {f"flow.ftp.transport.{key.replace('_', '-')}": value for key, value in keys.items()}
    calls = _tcp(**keys)
    return lambda grid, labels: {**transfers, **calls(grid, labels)}


def _headers(udp: str | None, tcp: str | None) -> Change:
    """Headers of the calls' packets, over UDP and over TCP; None leaves the preset's."""

    def changes(_: str, labels: dict[str, Label]) -> Overrides:
        header = udp if str(labels["transport"]).startswith("udp") else tcp
        return {} if header is None else {"flow.voice.transport.header": header}

    return changes


SHORTEST = 160
"""Bytes of the packet that both papers' error rates are given with."""

ACKNOWLEDGEMENT = 40


def _errors_by_byte(_: str, labels: dict[str, Label]) -> Overrides:
    """Errors per byte: the rate is that of a packet of 160 bytes; longer packets suffer more and shorter ones less."""
    rate = float(labels.get("per", 0.01))

    def error_rate(size: int) -> float:
        return 1.0 - math.pow(1.0 - rate, size / SHORTEST)

    payload = int(str(labels.get("payload", "160 B")).removesuffix(" B"))
    return {
        "topology.sink-access.loss.rate": error_rate(payload),
        "topology.sink-access.reverse": {"loss": {"model": "bernoulli", "rate": error_rate(ACKNOWLEDGEMENT)}},
    }


CHANGES: Mapping[str, Mapping[str, Changes]] = {
    "headers": {
        "as ns-2": _headers("0 B", None),
        "none": _headers("0 B", "0 B"),
        "as ns-2, UDP with 40 bytes": _headers("40 B", None),
        "40 bytes for all": _headers("40 B", "40 B"),
    },
    "timers": {
        "ns-2 of 2005": _timers(min_rto="200 ms", initial_rto="6 s"),
        "ns-2 before October 2004": _timers(min_rto="1 s", initial_rto="6 s"),
        "ns-2.35": _timers(min_rto="200 ms", initial_rto="3 s"),
    },
    "clock": {
        "10 ms": _timers(tick="10 ms"),
        "100 ms": _timers(tick="100 ms"),
        "500 ms": _timers(tick="500 ms"),
    },
    "window": {
        "64 segments": _timers(receiver_window=64),
        "20 segments": _timers(receiver_window=20),
        "none": _timers(receiver_window=1000),
    },
    "acknowledgements": {
        "each": _timers(delayed_ack=False),
        "delayed": _timers(delayed_ack=True),
    },
    "send-jitter": {
        "none": _timers(send_jitter="0 s"),
        "1 ms": _timers(send_jitter="1 ms"),
    },
    "recovery": {
        "all as NewReno": _tcp(recovery="newreno"),
        "Real as Reno": _tcp("tcp/real", recovery="reno"),
    },
    "real": {
        "1/100, 1/8, 1/2": _tcp("tcp/real", hold=0.01, cut=0.125, jitter=0.5),
        "small up to 1/2": _tcp("tcp/real", hold=0.01, cut=0.5, jitter=0.5),
        "no drop up to 1/20": _tcp("tcp/real", hold=0.05, cut=0.125, jitter=0.5),
        "jitter low up to 1/4": _tcp("tcp/real", hold=0.01, cut=0.125, jitter=0.25),
    },
    "errors": {"per byte": _errors_by_byte},
}
