"""Rates a call from the fates of its packets: the simulator's receiver plays them out again.

The E-model, the playout buffer and the mouth-to-ear delay are the simulator's (``quality``); this module has no rating
code. It builds a scenario of one link. Packet k is created at k packet times and is lost or delayed as in the real
call. The result table of this run rates the call. So live and simulated calls are rated by the same equations.

**Assumptions**: packets leave the sender's microphone at even intervals. Lateness of the sending program counts as
delay, less its smallest value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from fairwave.live.packets import Stream
    from fairwave.scenario import Scenario

MOST = 100_000
"""Longest call that is rated, in packets."""

_LINK_S = 2e-6
"""Serialisation time of a packet on the replayed link, in seconds: 200 bytes at 1 Gb/s, and a little margin."""


@dataclass(frozen=True)
class Rating:
    """Quality of a call at the receiver.

    Attributes:
        mos: Mean opinion score by the E-model; None if not defined.
        r_factor: Rating factor R of the E-model.
        late: Share of all packets that came too late for the playout buffer.
        mouth_to_ear_s: Mean mouth-to-ear delay with that buffer, in seconds.
    """

    mos: float | None
    r_factor: float | None
    late: float
    mouth_to_ear_s: float | None


def rate_stream(stream: Stream, packet_s: float = 0.02, codec: str = "g711") -> Rating:
    """Rates a stream of RTP that carries a call.

    Args:
        stream: The stream. Gaps in the sequence numbers are not counted as packets.
        packet_s: Duration of the speech in one packet, in seconds.
        codec: Name of the codec in the scenario language.
    """
    numbers = stream.sequence - stream.sequence[0]
    even = numbers * packet_s
    begun = float((stream.sent_s - even).min())
    return rated(np.maximum(stream.arrived_s - begun - even, 0.0), packet_s, codec)


def rated(
    delay_s: ArrayLike, packet_s: float = 0.02, codec: str = "g711", playout: Mapping[str, Any] | None = None
) -> Rating:
    """Rates a call by the delay of each of its packets.

    Args:
        delay_s: One-way delay of every packet in seconds, in order of creation; NaN for lost packets.
        packet_s: Time between packets, in seconds.
        codec: Name of the codec in the scenario language.
        playout: The playout buffer, in the form of scenarios; None for the default.

    Raises:
        ValueError: There are no packets or too many, or a delay is negative.
    """
    delay = np.asarray(delay_s, dtype=float)
    if not 1 <= len(delay) <= MOST:
        raise ValueError(f"a call of {len(delay)} packets: must be 1 to {MOST}; rate a part of it")
    if np.nanmin(delay, initial=0.0) < 0.0:
        raise ValueError(f"a delay of {np.nanmin(delay)} s: must be 0 or more; take both times by one clock")
    (row,) = replayed(delay, packet_s, codec, playout).run().flows.to_pylist()
    sent = row["units_sent"] + row["units_in_flight"]
    return Rating(row["mos"], row["r_factor"], row["late_units"] / sent, row["mouth_to_ear_s"])


def replayed(
    delay_s: NDArray[np.float64], packet_s: float, codec: str, playout: Mapping[str, Any] | None
) -> Scenario:
    """Builds the scenario that delays packets by a schedule and loses packets by a pattern, as given."""
    from fairwave.scenario import load

    lost = np.isnan(delay_s)
    # Lost packets need no delay, so the schedule has no steps for them.
    kept = np.flatnonzero(~lost)
    known = delay_s[kept] if len(kept) else np.zeros(1)
    at = np.maximum((kept - 0.5) * packet_s, 0.0) if len(kept) else np.zeros(1)
    at[0] = 0.0
    steps = [
        {"at": f"{round(when * 1e9)} ns", "is": f"{max(round((delay - _LINK_S) * 1e9), 0)} ns"}
        for when, delay in zip(at.tolist(), known.tolist(), strict=True)
    ]
    length = len(delay_s) * packet_s
    flow: dict[str, Any] = {
        "name": "call",
        "from": "mouth",
        "to": "ear",
        "transport": "udp",
        "traffic": {
            "kind": "recording",
            "codec": codec,
            "packet-time": f"{round(packet_s * 1e9)} ns",
            "talk": [[0, len(delay_s)]],
        },
    }
    if playout is not None:
        flow["playout"] = dict(playout)
    pattern = "".join("1" if one else "0" for one in lost)
    link = {
        "from": "mouth",
        "to": "ear",
        "rate": "1 Gb/s",
        "delay": steps,
        "loss": {"model": "pattern", "pattern": pattern},
    }
    least = load(_LEAST)
    longest = length + float(known.max()) + 1.0
    return least.with_overrides({"duration": f"{round(longest * 1e9)} ns", "link": [link], "flow": [flow]})


_LEAST = """
name = "replayed"
duration = "1 s"
hosts = { clock-skew = "0 ppm", send-jitter = "0 s" }
record = { units = ["call[0]"] }
[[link]]
from = "mouth"
to = "ear"
rate = "1 Gb/s"
delay = "1 ms"
[[flow]]
name = "call"
from = "mouth"
to = "ear"
transport = "udp"
traffic = "voice"
"""
