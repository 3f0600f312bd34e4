"""One stream of a connection over time: rates, losses, and the quality at its end."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairwave.dumps.members import DURATIONS, REASONS

if TYPE_CHECKING:
    from fairwave.dumps.recording import Numbers, StatsObject

SENT, RECEIVED = "sent", "received"
"""Directions of a stream."""

REPORT_HOLDS_S = 15.0
"""How long a report of the other end stays valid without another one: RTCP sends one every 5 s or more often."""

GAP_INTERVALS, LEAST_GAP_S = 3.0, 3.0
"""A pause in the statistics is a gap if it lasts this many usual intervals and this long †."""

_CHROME_ID = re.compile(r"[IO]T\d+([AV])\d*\Z")
_FRAMES = ("framesEncoded", "framesDecoded", "framesReceived", "framesSent", "frameHeight", "framesPerSecond")
_SAMPLES = ("audioLevel", "totalSamplesReceived", "concealedSamples")


@dataclass(frozen=True)
class Span:
    """A time without statistics, in seconds since the beginning of the dump."""

    start_s: float
    end_s: float


def find_gaps(time_s: Numbers) -> list[Span]:
    """Returns pauses between samples that are much longer than usual."""
    steps = np.diff(time_s)
    if len(steps) < 2:
        return []
    longest = max(GAP_INTERVALS * float(np.median(steps)), LEAST_GAP_S)
    return [Span(float(time_s[at]), float(time_s[at + 1])) for at in np.flatnonzero(steps > longest)]


@dataclass(frozen=True, eq=False)
class Stream:
    """A stream that this end sends or receives.

    Series have one value for each time of the connection, :attr:`time_s`. Values of counters describe the interval
    that ends at this time: a rate, a share, a number of events. NaN means: not known, or the stream did not exist.

    Attributes:
        item: Its object, `outbound-rtp` or `inbound-rtp`.
        direction: `sent` or `received`.
        time_s: Times of the connection's polls, in seconds since the beginning of the dump.
        slack_s: How far samples of one poll may be apart, in seconds.
        remote: The other end's reports about it (`remote-inbound-rtp`), for sent streams.
        track: The object of type `track` of older browsers.
        source: The object of its camera, screen or microphone (`media-source`), for sent streams.
        codec: MIME type of its codec, for example `video/VP8`; empty if unknown.
    """

    item: StatsObject
    direction: str
    time_s: Numbers
    slack_s: float
    remote: StatsObject | None = None
    track: StatsObject | None = None
    source: StatsObject | None = None
    codec: str = ""
    _cache: dict[str, Numbers] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """Its id in the file."""
        return self.item.name

    @cached_property
    def kind(self) -> str:
        """`audio` or `video`; empty if the file does not show it."""
        named = self.item.text("kind") or self.codec.partition("/")[0]
        if named in {"audio", "video"}:
            return named
        chrome = _CHROME_ID.match(self.item.name)
        if chrome:
            return "audio" if chrome[1] == "A" else "video"
        for one, kind in (("video", "video"), ("audio", "audio")):
            if one in self.item.name.lower():
                return kind
        objects = [one for one in (self.item, self.track) if one is not None]
        if any(one.has(member) for one in objects for member in _FRAMES):
            return "video"
        return "audio" if any(one.has(member) for one in objects for member in _SAMPLES) else ""

    @property
    def is_screen(self) -> bool:
        """Whether it is a shared screen, by its content type (`screenshare`)."""
        return self.item.text("contentType") == "screenshare"

    @property
    def ssrc(self) -> int | None:
        """Its synchronisation source."""
        value = self.item.last("ssrc")
        return None if math.isnan(value) else int(value)

    @property
    def rid(self) -> str:
        """Its layer of a simulcast, for example `h`; empty without simulcast."""
        return self.item.text("rid")

    @property
    def track_name(self) -> str:
        """The identifier of its track; layers of one simulcast share it. Empty if the file has none."""
        named = self.item.text("trackIdentifier") or (
            self.source.text("trackIdentifier") if self.source else ""
        )
        return named or self.item.text("mediaSourceId") or self.item.text("trackId") or self.item.text("mid")

    @property
    def label(self) -> str:
        """A name for people: direction, kind, and the layer or the SSRC."""
        what = "screen" if self.is_screen else self.kind or "stream"
        which = f" {self.rid}" if self.rid else f" {self.ssrc}" if self.ssrc is not None else f" {self.name}"
        return f"{self.direction} {what}{which}"

    @property
    def start_s(self) -> float:
        """Its first sample."""
        return float(self.item.time_s[0])

    @property
    def end_s(self) -> float:
        """Its last sample."""
        return float(self.item.time_s[-1])

    @property
    def has_media(self) -> bool:
        """Whether any packet was sent or received. Some applications announce streams that stay empty."""
        return bool((self.packets > 0).any()) or bool((self.rate_bps > 0).any())

    @property
    def gaps(self) -> list[Span]:
        """Times between its samples without statistics."""
        return find_gaps(self.item.time_s)

    @property
    def restarts_s(self) -> list[float]:
        """Times at which its counters began again."""
        member = "packetsSent" if self.direction == SENT else "packetsReceived"
        other = "bytesSent" if self.direction == SENT else "bytesReceived"
        found = {
            *self.item.counter(member).restarts_s.tolist(),
            *self.item.counter(other).restarts_s.tolist(),
        }
        return sorted(found)

    def count(self, member: str) -> Numbers:
        """Returns the growth of a counter in each interval, for example of `nackCount` or `framesDropped`."""
        if member not in self._cache:
            owner = next(
                (one for one in (self.item, self.track) if one is not None and one.has(member)), self.item
            )
            self._cache[member] = owner.growth(member, self.time_s, self.slack_s)
        return self._cache[member]

    def value(self, member: str) -> Numbers:
        """Returns a value at each time, for example of `frameHeight` or `targetBitrate`."""
        owner = next(
            (one for one in (self.item, self.track) if one is not None and one.has(member)), self.item
        )
        return owner.gauge(member, self.time_s, self.slack_s)

    def total(self, member: str) -> float:
        """Returns the growth of a counter over the whole stream; NaN without it."""
        return sum_known(self.count(member))

    @property
    def step_s(self) -> Numbers:
        """Length of each interval; NaN at the first time."""
        return np.concatenate([[np.nan], np.diff(self.time_s)])[: len(self.time_s)]

    @property
    def rate_bps(self) -> Numbers:
        """Its rate: RTP payload and headers, bit/s; without UDP and IP. Older browsers count the payload only."""
        way = "Sent" if self.direction == SENT else "Received"
        headers = self.count(f"headerBytes{way}")
        grown = self.count(f"bytes{way}") + np.where(np.isnan(headers), 0.0, headers)
        found: Numbers = 8 * grown / self.step_s
        return found

    @property
    def packets(self) -> Numbers:
        """Packets sent, or packets received."""
        return self.count("packetsSent" if self.direction == SENT else "packetsReceived")

    @property
    def lost(self) -> Numbers:
        """Packets lost: counted here, or reported by the other end. Negative if late packets arrived after all."""
        if self.direction == RECEIVED:
            return self.count("packetsLost")
        if self.remote is None:
            return np.full(len(self.time_s), np.nan)
        counter = self.remote.counter("packetsLost")
        if not len(counter.time_s):
            return np.full(len(self.time_s), np.nan)
        # Until its first report, and after its last one, the other end counts nothing.
        values = np.interp(self.time_s, counter.time_s, counter.total)
        grown = np.concatenate([[np.nan], np.diff(values)])
        return np.where(np.isnan(self.packets), np.nan, grown)

    @property
    def lost_total(self) -> float:
        """Packets lost over the whole stream, less those that came late; NaN if the file does not show it."""
        owner = self.item if self.direction == RECEIVED else self.remote
        total = owner.counter("packetsLost").total if owner is not None else np.empty(0)
        return float(total[-1] - total[0]) if len(total) else math.nan

    @property
    def loss(self) -> Numbers:
        """Share of packets lost, 0 to 1."""
        lost, packets = self.lost, self.packets
        sent = packets + lost if self.direction == RECEIVED else packets
        return divide(np.maximum(lost, 0.0), sent)

    @property
    def jitter_s(self) -> Numbers:
        """Interarrival jitter (RFC 3550), in seconds: at this end, or as the other end reports it."""
        return self.value("jitter") if self.direction == RECEIVED else self._reported("jitter")

    @property
    def round_trip_s(self) -> Numbers:
        """Round trip by RTCP, in seconds; for sent streams only."""
        return self._reported("roundTripTime")

    def _reported(self, member: str) -> Numbers:
        if self.remote is None:
            return np.full(len(self.time_s), np.nan)
        return self.remote.gauge(member, self.time_s, self.slack_s, REPORT_HOLDS_S)

    @property
    def target_bps(self) -> Numbers:
        """Target rate of the encoder, bit/s."""
        return self.value("targetBitrate")

    @property
    def frames_per_second(self) -> Numbers:
        """Pictures encoded, or shown, per second: by their number, or as the browser gives it."""
        names = (
            ("framesEncoded", "framesSent") if self.direction == SENT else ("framesRendered", "framesDecoded")
        )
        for member in names:
            rate: Numbers = self.count(member) / self.step_s
            if not np.isnan(rate).all():
                return rate
        return self.value("framesPerSecond")

    @property
    def height(self) -> Numbers:
        """Height of the picture, in pixels."""
        return self.value("frameHeight")

    @property
    def freezes(self) -> Numbers:
        """Number of freezes that ended in each interval."""
        return self.count("freezeCount")

    @property
    def frozen_s(self) -> Numbers:
        """Seconds that the picture was frozen."""
        return self.count("totalFreezesDuration")

    @property
    def concealed(self) -> Numbers:
        """Share of the played speech that the receiver made up for missing packets, 0 to 1, without silence."""
        made, quiet, all_ = (
            self.count(one) for one in ("concealedSamples", "silentConcealedSamples", "totalSamplesReceived")
        )
        made = made - np.where(np.isnan(quiet), 0.0, quiet)
        return divide(np.clip(made, 0.0, all_), all_)

    @property
    def buffer_s(self) -> Numbers:
        """Mean time in the jitter buffer, in seconds."""
        delay, emitted = self.count("jitterBufferDelay"), self.count("jitterBufferEmittedCount")
        return divide(delay, emitted)

    @property
    def limited_s(self) -> dict[str, Numbers]:
        """Reason (`bandwidth`, `cpu`, `other`, `none`) to the seconds of each interval that it limited the picture.

        Browsers without durations give the reason of the moment, which then counts for its whole interval. Empty
        without either.
        """
        if any(self.item.has(f"{DURATIONS}.{reason}") for reason in REASONS):
            return {reason: self.count(f"{DURATIONS}.{reason}") for reason in REASONS}
        if "qualityLimitationReason" not in self.item.texts:
            return {}
        there = self.item.covers(self.time_s, self.slack_s)
        now = np.array(self.item.texts_at("qualityLimitationReason", self.time_s + self.slack_s))
        return {reason: np.where(there, self.step_s * (now == reason), np.nan) for reason in REASONS}


def divide(values: Numbers, by: Numbers) -> Numbers:
    """Returns a quotient; NaN for divisors of 0 or less."""
    found: Numbers = np.divide(values, by, out=np.full(len(values), np.nan), where=by > 0)
    return found


def sum_known(values: Numbers) -> float:
    """Returns the sum of the values that are known; NaN if none is."""
    known = values[~np.isnan(values)]
    return float(known.sum()) if len(known) else math.nan
