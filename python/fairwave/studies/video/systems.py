"""The systems of paper 002: DVRC, and what it sets against it.

Labels are the paper's names. DVRC and RTCP/UDP send the layers that they find room for; TFRC and Westwood+ carry the
video 'at the optimal quality', that is all layers; UDP alone does, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DVRC, TFRC, WESTWOOD, RTCP, UDP, RENO = "DVRC", "TFRC", "Westwood+", "RTCP/UDP", "UDP", "Reno"

LITERAL = "DVRC, Eq. (11)"
"""DVRC that judges a loss by the rate it asked for, R(t − 1), as Eq. (11) prints; the text says the receiving rate."""

TRANSPORTS: Mapping[str, Mapping[str, Any]] = {
    DVRC: {"name": "dvrc", "segment": "1000 B"},
    LITERAL: {"name": "dvrc", "segment": "1000 B", "aiamd": {"compare": "requested-rate"}},
    TFRC: {"name": "tfrc", "segment": "1000 B"},
    WESTWOOD: {"name": "tcp/westwood+", "segment": "1000 B"},
    RTCP: {"name": "rtcp", "max-payload": "1000 B"},
    UDP: {"name": "udp", "max-payload": "1000 B"},
    RENO: {"name": "tcp/reno", "segment": "1000 B"},
}
"""Each system's transport as a scenario writes it: all packets carry 1000 bytes (§4.1)."""

WIRE_BITS = 8 * 1040
"""A full TCP segment on the wire."""


def systems(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """These systems as labels of an axis."""
    return {name: {"flow.video.transport": dict(TRANSPORTS[name])} for name in names}


def reno(megabits: float) -> dict[str, Any]:
    """The file transfers' transport across a bottleneck of that rate.

    Each sending is delayed by up to the time that a packet takes there, without which drop-tail shuts some of several
    like flows out for good (phase effects).
    """
    return {**TRANSPORTS[RENO], "send-jitter": f"{WIRE_BITS / 1000 / megabits:.6g} ms"}
