"""Rates recorded speech by the E-model, with the simulator's receiver (`fairwave.live.rating`).

**Assumptions** †: a one-way delay of 50 ms, because a capture does not show it; Opus with in-band FEC. In statistics,
packets have 20 ms of speech, and losses are evenly spread between two samples.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairwave import codecs
from fairwave.live.rating import MOST, replayed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairwave.captures import Stream

    Numbers = NDArray[np.float64]

ASSUMED_DELAY_S = 0.05
"""One-way delay in place of an unknown one †."""

PACKET_S = (0.005, 0.06)
"""Shortest and longest speech of a packet that is rated, in seconds."""

OPUS_RATES = (8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Rates of Opus with impairment factors, kb/s."""

ALIASES = {"pcmu": "g711", "pcma": "g711", "gsm": "gsm-fr", "gsm-efr": "gsm-efr"}
"""Names of encodings in SDP, and the codec in scenarios."""

LARGEST_DRIFT = 2e-4
"""A slope of the least delays up to this counts as a drift of the clocks †."""

DRIFT_WINDOW_S, SHORTEST_DRIFT_S = 10.0, 60.0
"""Least delays are taken over windows of this length, in calls of at least this length."""


LATEST_S = 10.0
"""Packets with a larger delay count as lost. A larger step of the timestamps is a new origin †."""


class Score(NamedTuple):
    """A rating of speech.

    Attributes:
        mos: MOS by the E-model; NaN if not defined.
        gap_s: The longest gap of speech.
    """

    mos: float
    gap_s: float


def find_codec(name: str, rate_bps: float) -> str | None:
    """Returns the codec of scenarios for an encoding, by its name and the rate of its payload; None if not rated."""
    name = name.lower()
    if name == "opus":
        nearest = min(OPUS_RATES, key=lambda one: abs(one - rate_bps / 1e3))
        return f"opus-{nearest}"
    if name == "g723":
        name = "g723.1-6.3" if rate_bps > 5850 else "g723.1-5.3"
    wanted = ALIASES.get(name, name)
    return next((one.codec for one in codecs.known() if one.codec == wanted and one.ie is not None), None)


def score_packets(delay_s: Numbers, packet_s: float, codec: str) -> Score:
    """Rates a call by the delay of each packet; NaN for lost ones. Longer calls are rated in parts."""
    delay_s = np.where((delay_s >= 0) & (delay_s <= LATEST_S), delay_s, np.nan)
    parts = np.array_split(delay_s, math.ceil(len(delay_s) / MOST))
    total, gap = 0.0, 0.0
    for part in parts:
        (row,) = replayed(part, packet_s, codec, None).run().flows.to_pylist()
        total += len(part) * (math.nan if row["mos"] is None else row["mos"])
        gap = max(gap, row["longest_gap_s"] or 0.0)
    return Score(total / len(delay_s), gap)


def measure_packet_s(stream: Stream) -> float:
    """Returns the usual speech of a packet, in seconds, by its timestamps; NaN if they do not show it."""
    chosen = np.flatnonzero(stream.numbers >= 0)
    step = np.diff(stream.stamps[chosen])[np.diff(stream.numbers[chosen]) == 1]
    step = step[step > 0]
    return float(np.median(step)) / stream.clock if len(step) and stream.clock else math.nan


def measure_delays(stream: Stream) -> Numbers:
    """Returns the delay of each arrived packet above the least, in seconds, without a drift of the clocks.

    Packets without a place have NaN. Tones do not advance their timestamps, so they take the delay before them.
    """
    delay = np.full(len(stream.at_ns), np.nan)
    if stream.clock is None:
        return delay
    tones = [one for one, what in stream.formats.items() if what.codec.lower() in {"telephone-event", "tone"}]
    chosen = np.flatnonzero((stream.numbers >= 0) & ~np.isin(stream.types, tones))
    if not len(chosen):
        return delay
    at = (stream.at_ns - stream.at_ns[0]) / 1e9
    delay[chosen] = at[chosen] - (stream.stamps[chosen] - stream.stamps[chosen[0]]) / stream.clock
    # Timestamps that jump begin anew: their new origin is not known.
    jumps = np.abs(np.diff(delay[chosen], prepend=delay[chosen[0]])) > LATEST_S
    jumps |= np.diff(stream.part[chosen], prepend=stream.part[chosen[0]]) != 0
    starts = np.flatnonzero(jumps | (np.arange(len(chosen)) == 0))
    least = np.minimum.reduceat(delay[chosen], starts)
    delay[chosen] -= np.repeat(least, np.diff(np.append(starts, len(chosen))))
    delay -= _estimate_drift(at, delay) * at
    delay -= np.nanmin(delay)
    known = np.flatnonzero(~np.isnan(delay))
    before = known[np.maximum(np.searchsorted(known, np.arange(len(delay)), side="right") - 1, 0)]
    return np.where(np.isnan(delay) & (stream.numbers >= 0), delay[before], delay)


def _estimate_drift(at: Numbers, delay: Numbers) -> float:
    """Returns the drift of the clocks in seconds per second; 0 for short calls and for slopes that are no drift."""
    if at[-1] < SHORTEST_DRIFT_S:
        return 0.0
    window = (at / DRIFT_WINDOW_S).astype(int)
    known = ~np.isnan(delay)
    places = np.unique(window[known])
    least = [delay[known & (window == one)].min() for one in places]
    slope = float(np.polyfit(places * DRIFT_WINDOW_S, least, 1)[0]) if len(places) > 2 else 0.0
    return slope if abs(slope) <= LARGEST_DRIFT else 0.0


def score_stream(stream: Stream, codec: str, packet_s: float) -> Score:
    """Rates a captured stream of speech."""
    delay = np.full(stream.expected, np.nan)
    delay[stream.numbers[stream.is_first]] = measure_delays(stream)[stream.is_first] + ASSUMED_DELAY_S
    return score_packets(delay, packet_s, codec)


def spread_losses(packets: Numbers, missing: Numbers, delay_s: float) -> Numbers:
    """Returns delays of packets with evenly spread losses.

    Args:
        packets: Number of packets in each interval.
        missing: Share of them that is missing, 0 to 1.
        delay_s: One-way delay of the others.
    """
    counts = np.nan_to_num(packets).round().astype(int)
    summed = np.cumsum(np.repeat(np.nan_to_num(missing), counts)) + 1e-9
    lost = np.diff(np.floor(summed), prepend=0.0) >= 1.0
    return np.where(lost, np.nan, delay_s)
