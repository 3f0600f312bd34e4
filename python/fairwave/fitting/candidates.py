"""Scenarios that may explain a capture: one bottleneck, its queue, the captured traffic, and uncaptured traffic.

Each candidate sends the captured traffic again. RTP leaves packet by packet at the times of its timestamps. TCP becomes
downloads over CUBIC, from the first captured segment to the last. The path's delay is half of the captured round trip
in each direction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.building import build

if TYPE_CHECKING:
    from fairwave.fitting.observing import Observed, Transfer
    from fairwave.fitting.packet_arrays import Numbered
    from fairwave.fitting.path import PathSeen
    from fairwave.scenario import Scenario

FAMILIES = {
    "drop-tail": "tail drop",
    "codel": "active, one queue",
    "pie": "active, one queue",
    "red": "active, one queue",
    "fq-codel": "fair queueing",
    "fq-pie": "fair queueing",
}
"""Disciplines to try, and the family of each."""

SMALL = 300_000
"""Bytes below which a download is sent as a file of its size. Larger ones become flows without end."""

ROUND_TRIPS_S = (0.015, 0.04, 0.1)
"""Round trips to try if the capture shows none, in seconds."""

AMPLE, AMPLE_BPS, AMPLE_S = 10, 1e7, 0.5
"""Without a known rate, the link has `AMPLE` times the highest rate that was seen, at least `AMPLE_BPS`, and a buffer
of `AMPLE_S` seconds."""

PACED = 2.5
"""Packets of one video frame leave at this multiple of the stream's rate, as WebRTC's pacer does."""

G711, G729 = {0, 8}, {18}
"""RTP payload types of RFC 3551 with a known codec."""


@dataclass(frozen=True)
class Candidate:
    """One explanation.

    Attributes:
        queue: Discipline of the bottleneck.
        buffer: Bytes that its buffer holds.
        random_loss: Share of packets that the link loses.
        loss_run: Mean length of loss runs, in packets.
        unseen: Downloads that the capture does not show.
        round_trip_s: Propagation delay in both directions together, in seconds.
    """

    queue: str
    buffer: int
    random_loss: float
    loss_run: float
    unseen: int
    round_trip_s: float

    @property
    def family(self) -> str:
        """Family of the queue."""
        return FAMILIES[self.queue]


def candidates(path: PathSeen) -> list[Candidate]:
    """Returns the first explanations to try: each discipline, with buffer and losses from direct estimates."""
    share = path.random_loss.value if path.random_loss else 0.0
    held = path.buffer.value if path.buffer else path.least_buffer
    found = []
    for queue in FAMILIES:
        buffer = max(int(held), 3_000) if queue == "drop-tail" else max(int(4 * held), 150_000)
        one = Candidate(queue, buffer, share, path.loss_run, 0, path.round_trip_s)
        found.append(one)
        # Active queues discard while they are short, so their losses need no other cause.
        if share and queue != "drop-tail":
            found.append(replace(one, random_loss=0.0))
    if path.round_trip_known:
        return found
    return [replace(one, round_trip_s=trip) for one in found for trip in ROUND_TRIPS_S]


def ample_rate(path: PathSeen) -> float:
    """Returns a rate at which no captured packet waits, in bit/s."""
    return max(AMPLE * path.least_rate, AMPLE_BPS)


def never_full(path: PathSeen) -> Candidate:
    """Returns the explanation of a link that was never full: the captured losses and round trip, and no queue."""
    share = path.random_loss.value if path.random_loss else 0.0
    buffer = int(ample_rate(path) * AMPLE_S / 8)
    return Candidate("drop-tail", buffer, share, path.loss_run, 0, path.round_trip_s)


def scenario(what: Observed, path: PathSeen, one: Candidate, *, name: str, judge: bool = False) -> Scenario:
    """Builds the scenario of a candidate.

    Args:
        what: The observed path.
        path: Direct estimates.
        one: The explanation.
        name: Name of the scenario.
        judge: True to turn recognised calls into rated calls; False to replay their packets.
    """
    lasts = float(np.ceil(what.lasts_s)) + 1
    rates = path.rate.rates if path.rate else []
    first = rates[0].value if rates else ample_rate(path)
    link: dict[str, Any] = {
        "from": "far",
        "to": "here",
        "rate": f"{first:.6g} b/s",
        "delay": f"{one.round_trip_s / 2 * 1e3:.4g} ms",
        "queue": {"discipline": one.queue, "capacity": {"bytes": one.buffer}},
        "reverse": {"rate": f"{max(10 * first, 1e8):.6g} b/s", "queue": "drop-tail", "loss": "none"},
    }
    if one.random_loss:
        link["loss"] = (
            {"model": "bernoulli", "rate": one.random_loss}
            if one.loss_run < 1.2
            else {"model": "gilbert", "rate": one.random_loss, "run": one.loss_run}
        )
    if path.rate and len(rates) > 1:
        link["rate"] = [
            {"at": f"{at:.6g} s", "is": f"{rate.value:.6g} b/s"}
            for at, rate in zip(path.rate.from_s, rates, strict=True)
        ]
    flows = []
    for number, (_, several) in enumerate(what.calls, 1):
        flows.append(_call(f"call-{number}" if len(what.calls) > 1 else "call", several, judge=judge))
    for index, transfer in enumerate(what.transfers, 1):
        flows.append(_download(f"download-{index}", transfer, lasts))
    for index, other in enumerate(what.others, 1):
        if len(other.at_s) > 1:
            flows.append(_replayed(f"other-{index}", np.asarray(other.at_s), np.asarray(other.sizes)))
    if one.unseen:
        flows.append({
            "name": "unseen", "from": "far", "to": "here", "count": one.unseen,
            "transport": "tcp/cubic", "traffic": "bulk",
        })  # fmt: skip
    return build(
        name, f"{lasts:g} s", links=[link], flows=flows, preset="linux",
        record={"units": [flow["name"] for flow in flows if flow["name"].startswith("call")]}
        if any(flow["name"].startswith("call") for flow in flows) else {},
    )  # fmt: skip


def _call(name: str, several: list[Numbered], *, judge: bool) -> dict[str, Any]:
    first = several[0]
    if judge and len(several) == 1 and (traffic := _voice(first)):
        start = float(np.nanmin(first.at_s))
        return {
            "name": name, "from": "far", "to": "here", "transport": "udp", "traffic": traffic,
            **({"start": f"{start:.6g} s"} if start > 0.02 else {}),
        }  # fmt: skip
    at, sizes = [], []
    for stream in several:
        # Clock offsets are arbitrary, so the least delay counts as the path's delay.
        sent = stream.sent_s + np.nanmin(stream.delay_s)
        again = np.concatenate([[False], np.diff(stream.sent_s) == 0])
        place = np.arange(len(sent)) - np.maximum.accumulate(np.where(again, 0, np.arange(len(sent))))
        rate = 8 * stream.size * len(sent) / max(np.ptp(stream.sent_s), 1e-3)
        at.append(sent + place * 8 * stream.size / (PACED * rate))
        sizes.append(np.full(len(sent), stream.size))
    return _replayed(name, np.concatenate(at), np.concatenate(sizes))


def _voice(stream: Numbered) -> dict[str, Any] | None:
    """Recognises a call's codec and frame by payload type and timestamp steps; None if unknown."""
    steps = np.diff(stream.sent_s)
    frame = float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0
    codec = "g711" if stream.payload_type in G711 else "g729" if stream.payload_type in G729 else None
    if codec is None or not 0.005 <= frame <= 0.1:
        return None
    return {"kind": "voice", "codec": codec, "packet-time": f"{frame * 1e3:g} ms"}


def _replayed(name: str, at: np.ndarray, sizes: np.ndarray) -> dict[str, Any]:
    order = np.argsort(at, kind="stable")
    at, sizes = at[order], sizes[order]
    start = max(float(at[0]), 0.0)
    gaps = np.concatenate([[0.0], np.maximum(np.diff(at), 0)])
    each = [
        f"{gap:.3f}".rstrip("0").rstrip(".") + f":{max(int(size) - 20, 1)}"
        for gap, size in zip((gaps * 1e6).tolist(), sizes.tolist(), strict=True)
    ]
    alike = [(word, sum(1 for _ in several)) for word, several in groupby(each)]
    words = " ".join(word + (f"*{count}" if count > 1 else "") for word, count in alike)
    return {
        "name": name, "from": "far", "to": "here", "start": f"{start:.6f} s",
        "transport": {"name": "udp", "header": "20 B", "max-payload": "65000 B"},
        "traffic": {"kind": "replay", "packets": words},
    }  # fmt: skip


def _download(name: str, one: Transfer, lasts: float) -> dict[str, Any]:
    flow: dict[str, Any] = {"name": name, "from": "far", "to": "here", "transport": "tcp/cubic"}
    if one.first_s > 0.05:
        flow["start"] = f"{one.first_s:.6g} s"
    if one.payload < SMALL:
        return {**flow, "traffic": {"kind": "transfer", "size": f"{one.payload} B"}}
    if one.last_s < lasts - 3:
        flow["stop"] = f"{one.last_s:.6g} s"
    return {**flow, "traffic": "bulk"}
