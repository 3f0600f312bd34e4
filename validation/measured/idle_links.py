"""Captures of links that are never full, packet by packet: negative controls for `fairwave fit`.

Each kind changes delays or times in a way that is no queue of the captured traffic: `fit` must claim no rate.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Random = np.random.Generator

LINE = 20e6
"""Rate of the link, bit/s of IP. The captured traffic never fills it."""

FRAME_S, LASTS_S = 0.02, 40
SPEECH, SEGMENT = 160, 1200
"""Payload bytes: 20 ms of G.711, and one packet of video or of a download."""

BEGIN = 1_700_000_000


def _follow(sent: Numbers, delays: Numbers) -> Numbers:
    """Returns arrival times in order: a packet waits for the packet before, and for its own transmission."""
    spacing = 8 * (SEGMENT + 40) / LINE
    steps = np.arange(len(sent)) * spacing
    return np.asarray(np.maximum.accumulate(sent + delays - steps) + steps, float)


def _hold(sent: Numbers, outages: list[tuple[float, float]]) -> Numbers:
    """Returns arrival times over a link that pauses, then sends all it holds at the rate of the line."""
    ready = sent + 0.02
    for begin, end in outages:
        ready = np.where((ready >= begin) & (ready < end), end, ready)
    return _follow(ready, np.zeros(len(sent)))


def _wander(draw: Random, count: int, step: float, most: float) -> Numbers:
    """A delay that changes slowly and at random between 0 and `most` seconds."""
    walk = np.cumsum(draw.normal(0, step, count))
    return np.asarray(np.abs((walk + most) % (2 * most) - most), float)


def _pauses(draw: Random, every: float, shortest: float, longest: float) -> list[tuple[float, float]]:
    found, at = [], float(draw.uniform(1, 3))
    while at < LASTS_S:
        found.append((at, at + float(draw.uniform(shortest, longest))))
        at = found[-1][1] + float(draw.exponential(every))
    return found


def _sawtooth(sent: Numbers, draw: Random) -> Numbers:
    """Delays behind the transfer of another host, which fills a line with it and backs off."""
    period = draw.uniform(2, 5)
    return 0.1 + 0.12 * ((sent / period) % 1) * (sent > 10)


KINDS: dict[str, Callable[[Numbers, Random], Numbers]] = {
    "steady": lambda sent, _: sent + 0.02,
    "independent jitter": lambda sent, draw: _follow(sent, draw.uniform(0, 0.015, len(sent))),
    "long-tailed jitter": lambda sent, draw: _follow(sent, 0.02 + draw.gamma(1.2, 0.02, len(sent))),
    "jitter with reordering": lambda sent, draw: sent + 0.02 + draw.uniform(0, 0.05, len(sent)),
    "slow jitter": lambda sent, draw: _follow(sent, 0.02 + _wander(draw, len(sent), 0.002, 0.04)),
    "drifting clock": lambda sent, draw: sent * (1 + draw.choice([-3e-4, 1e-4, 2e-4, 5e-4])) + 0.05,
    "longer route": lambda sent, draw: sent + 0.02 + np.where(sent > draw.uniform(10, 25), 0.035, 0.0),
    "shorter route": lambda sent, draw: _follow(sent, 0.06 - np.where(sent > draw.uniform(10, 25), 0.035, 0.0)),
    "routes that alternate": lambda sent, _: _follow(sent, 0.02 + np.where(sent % 8 > 4, 0.03, 0.0)),
    "handovers": lambda sent, draw: _hold(sent, _pauses(draw, 8, 0.3, 1.5)),
    "Wi-Fi outages": lambda sent, draw: _hold(sent, _pauses(draw, 0.7, 0.04, 0.25)),
    "power save": lambda sent, _: _hold(sent, [(at, at + 0.1) for at in np.arange(0, LASTS_S, 0.1024)]),
    "slots of a radio link": lambda sent, _: _follow(np.ceil((sent + 0.02) / 0.03) * 0.03, np.zeros(len(sent))),
    "transfer of another host": lambda sent, draw: _follow(sent, _sawtooth(sent, draw)),
}  # fmt: skip
"""Arrival times from sending times, for each kind of path."""

SOURCES = ("speech", "speech with pauses", "two calls", "video")


def packets(source: str, draw: Random) -> list[tuple[Numbers, Numbers, int, int]]:
    """Sending times, RTP time stamps, payload bytes and payload type of each stream of a source."""
    at = np.arange(0, LASTS_S, FRAME_S)
    if source == "speech with pauses":
        talk = (np.floor(at / draw.uniform(1, 2)) % 2 == 0) | (np.arange(len(at)) % 20 == 0)
        at = at[talk]
    if source == "video":
        frames = np.arange(0, LASTS_S, 1 / 30)
        counts = draw.integers(1, 6, len(frames))
        sent = np.concatenate(
            [one + np.arange(count) * 0.004 for one, count in zip(frames, counts, strict=True)]
        )
        stamps = np.repeat(frames, counts) * 90_000
        return [(sent, np.floor(stamps), SEGMENT, 96)]
    found = [(at, np.round(at * 8_000), SPEECH, 0)]
    return [*found, (at + 0.007, np.round(at * 8_000), SPEECH, 0)] if source == "two calls" else found


def write(path: Path, kind: str, source: str, seed: int, loss: float = 0.0) -> Path:
    """Writes the capture at the receiver of a source over one kind of path; loses a share of the packets at random."""
    draw = np.random.default_rng(seed)
    found: list[tuple[float, bytes]] = []
    for number, (sent, stamps, payload, payload_type) in enumerate(packets(source, draw)):
        arrived = KINDS[kind](sent, draw)
        kept = draw.random(len(sent)) >= loss
        ends = bytes((10, 0, 0, 2)) + bytes((10, 0, 0, 1))
        for index in np.flatnonzero(kept).tolist():
            rtp = struct.pack(
                ">BBHII", 0x80, payload_type, index & 0xFFFF, int(stamps[index]) & 0xFFFFFFFF, 7 + number
            )
            udp = (
                struct.pack(">HHHH", 5004 + 2 * number, 6000 + 2 * number, 20 + payload, 0)
                + rtp
                + bytes(payload)
            )
            ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), index & 0xFFFF, 0, 64, 17, 0) + ends + udp
            found.append((float(arrived[index]), ip))
    data = bytearray(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    for at, ip in sorted(found, key=lambda one: one[0]):
        microseconds = round(at * 1e6)
        data += (
            struct.pack("<IIII", BEGIN + microseconds // 10**6, microseconds % 10**6, len(ip), len(ip)) + ip
        )
    path.write_bytes(data)
    return path
