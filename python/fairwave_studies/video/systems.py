"""The systems of paper 002: DVRC, and the systems compared with it.

Labels are the paper's names. DVRC and RTCP/UDP send the layers that they find room for. TFRC and Westwood+ carry the
video 'at the optimal quality', adaptation being disabled (§4.1): one stream of the rate of all layers. UDP alone does,
too.

DVRC follows the paper's words if they differ from the protocol's defaults. Every gap in sequence numbers is a loss
event (§3.1). Both α have the unit of R, a packet per second (Eq. 11). R does not exceed the need of all layers (§5.4).
So it does well alone on an empty path. It does badly if losses of a round trip are one event and α is a packet per
round trip (`tests/studies/test_video_alone.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DVRC, TFRC, WESTWOOD, RTCP, UDP, RENO = "DVRC", "TFRC", "Westwood+", "RTCP/UDP", "UDP", "Reno"

LITERAL = "DVRC, Eq. (11)"
"""DVRC that judges a loss by its requested rate, R(t − 1), as Eq. (11) prints; the text has the receiving rate."""

AIAD = "DVRC, AIAD"
"""DVRC that takes every loss for random: additive decrease alone, the control that §3.2 sets AIAMD against."""

_DVRC: Mapping[str, Any] = {"name": "dvrc", "segment": "1000 B", "reaction": "gap", "headroom": 0.0}
_RULE: Mapping[str, Any] = {"unit": "rate", "alpha-rate": "8 kb/s"}

TRANSPORTS: Mapping[str, Mapping[str, Any]] = {
    DVRC: {**_DVRC, "aiamd": _RULE},
    LITERAL: {**_DVRC, "aiamd": {**_RULE, "compare": "requested-rate"}},
    AIAD: {**_DVRC, "aiamd": {**_RULE, "deviations": 1000.0}},
    TFRC: {"name": "tfrc", "segment": "1000 B"},
    WESTWOOD: {"name": "tcp/westwood+", "segment": "1000 B"},
    RTCP: {"name": "rtcp", "max-payload": "1000 B"},
    UDP: {"name": "udp", "max-payload": "1000 B"},
    RENO: {"name": "tcp/reno", "segment": "1000 B"},
}
"""Each system's transport as a scenario writes it: all packets carry 1000 bytes (§4.1)."""

LAYER_KILOBITS = (128, 128, 128, 256, 384)
"""Rate of each of the five layers, kb/s: assumed."""

TOTAL_KILOBITS = sum(LAYER_KILOBITS)

ONE_STREAM = (TFRC, WESTWOOD, UDP, RENO)
"""Systems under which the video is not adapted."""

WIRE_BITS = 8 * 1040
"""A full TCP segment on the wire."""


def systems(names: Sequence[str], *, video: bool = True) -> dict[str, dict[str, Any]]:
    """These systems as labels of an axis, each with the video as it carries it; or with data, unless `video`."""
    return {
        name: {
            "flow.video.transport": dict(TRANSPORTS[name]),
            **(
                {"flow.video.traffic.layers": [f"{TOTAL_KILOBITS} kb/s"]}
                if video and name in ONE_STREAM
                else {}
            ),
        }
        for name in names
    }


def reno(megabits: float) -> dict[str, Any]:
    """The file transfers' transport across a bottleneck of that rate.

    Each sending is delayed by up to the time that a packet takes there, without which drop-tail shuts some of several
    like flows out for good (phase effects).
    """
    return {**TRANSPORTS[RENO], "send-jitter": f"{WIRE_BITS / 1000 / megabits:.6g} ms"}
