"""A peer connection over time: its streams, and the network path that it used."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairwave.dumps.members import LOCAL
from fairwave.dumps.recording import SAME_SAMPLE
from fairwave.dumps.streams import RECEIVED, REPORT_HOLDS_S, SENT, Span, Stream, find_gaps, sum_known

if TYPE_CHECKING:
    from fairwave.dumps.recording import Numbers, StatsObject

FAILED = frozenset({"failed", "cancelled", "frozen", "waiting", "in-progress", "inprogress"})
"""States of a candidate pair that carries nothing."""


@dataclass(frozen=True)
class PairChange:
    """A change of the candidate pair that carries the call, for example from Wi-Fi to a mobile network.

    Attributes:
        at_s: Time of the first sample of the new pair, in seconds since the beginning of the dump.
        before: Description of the pair before.
        after: Description of the pair since then.
    """

    at_s: float
    before: str
    after: str


@dataclass(frozen=True, eq=False)
class Connection:
    """One peer connection.

    Attributes:
        name: Its name in the file.
        page: Address of its page, if the file has it.
        objects: All its objects, by id.
    """

    name: str
    page: str
    objects: dict[str, StatsObject]

    def select(self, *kinds: str) -> list[StatsObject]:
        """Returns its objects of these types."""
        return [one for one in self.objects.values() if one.kind in kinds]

    @cached_property
    def _ticks(self) -> tuple[Numbers, float]:
        """Times of the polls, and how far samples of one poll may be apart."""
        local = [one.time_s for one in self.select(*LOCAL)]
        if not local:
            return np.empty(0), 0.0
        steps = [np.diff(one) for one in local if len(one) > 1]
        usual = min((float(np.median(one)) for one in steps), default=0.0)
        slack = SAME_SAMPLE * usual
        times = np.unique(np.concatenate(local))
        # A poll ends with its last sample.
        ends = np.concatenate([np.diff(times) > slack, [True]])
        return times[ends], slack

    @property
    def time_s(self) -> Numbers:
        """Times of its polls, in seconds since the beginning of the dump."""
        return self._ticks[0]

    @property
    def slack_s(self) -> float:
        """How far samples of one poll may be apart, in seconds."""
        return self._ticks[1]

    @property
    def gaps(self) -> list[Span]:
        """Times without any statistics, for example while the browser slept."""
        return find_gaps(self.time_s)

    @cached_property
    def streams(self) -> list[Stream]:
        """Its streams, in the order of the file."""
        return [self._stream(one) for one in self.select("outbound-rtp", "inbound-rtp")]

    @property
    def sent(self) -> list[Stream]:
        """Streams that this end sends."""
        return [one for one in self.streams if one.direction == SENT]

    @property
    def received(self) -> list[Stream]:
        """Streams that this end receives."""
        return [one for one in self.streams if one.direction == RECEIVED]

    def _stream(self, item: StatsObject) -> Stream:
        direction = SENT if item.kind == "outbound-rtp" else RECEIVED
        codec = self.objects.get(item.text("codecId"))
        return Stream(
            item, direction, self.time_s, self.slack_s,
            self._remote(item) if direction == SENT else None, self.objects.get(item.text("trackId")),
            self.objects.get(item.text("mediaSourceId")), codec.text("mimeType") if codec is not None else "",
        )  # fmt: skip

    def _remote(self, item: StatsObject) -> StatsObject | None:
        """Returns the other end's reports about a sent stream: by reference, by SSRC, or the only one."""
        remotes = self.select("remote-inbound-rtp")
        ssrc = item.last("ssrc")
        named = [
            one for one in remotes if one.text("localId") == item.name or item.text("remoteId") == one.name
        ]
        named += [one for one in remotes if one.last("ssrc") == ssrc]  # NaN equals nothing
        if named:
            return named[0]
        # Without references, the only report about a kind belongs to the only stream of that kind.
        anonymous = [one for one in remotes if not one.text("localId") and math.isnan(one.last("ssrc"))]
        kind = item.text("kind")
        alike = [one for one in anonymous if not kind or one.text("kind") in {"", kind}]
        others = [one for one in self.select("outbound-rtp") if not kind or one.text("kind") in {"", kind}]
        return alike[0] if len(alike) == 1 and len(others) == 1 else None

    @property
    def unassigned_remotes(self) -> list[StatsObject]:
        """Reports of the other end that belong to no known stream."""
        used = {stream.remote.name for stream in self.sent if stream.remote is not None}
        return [one for one in self.select("remote-inbound-rtp") if one.name not in used]

    @property
    def sent_bps(self) -> Numbers:
        """Rate of all sent streams together, bit/s: RTP with headers. NaN while nothing is known."""
        return _sum_rates(self.sent, self.time_s)

    @property
    def received_bps(self) -> Numbers:
        """Rate of all received streams together, bit/s."""
        return _sum_rates(self.received, self.time_s)

    @property
    def target_bps(self) -> Numbers:
        """Sum of the target rates of all encoders, bit/s; NaN if none is known."""
        return sum_series([one.target_bps for one in self.sent], len(self.time_s))

    @property
    def media_bytes(self) -> float:
        """Bytes of media of all streams, in both directions."""
        members = {SENT: "bytesSent", RECEIVED: "bytesReceived"}
        totals = (one.total(members[one.direction]) for one in self.streams)
        return float(sum(one for one in totals if not math.isnan(one)))

    @property
    def sent_bytes(self) -> float:
        """Bytes of media of all sent streams."""
        return float(sum(one for stream in self.sent if not math.isnan(one := stream.total("bytesSent"))))

    @cached_property
    def pairs(self) -> list[StatsObject]:
        """Its candidate pairs."""
        return self.select("candidate-pair")

    @cached_property
    def _chosen(self) -> list[int]:
        """Index of the pair in use at each time; -1 for none."""
        pairs, count = self.pairs, len(self.time_s)
        chosen = np.full(count, -1)
        if not pairs:
            return [-1] * count
        at_s, slack = self.time_s + self.slack_s, self.slack_s
        alive = np.array([one.covers(self.time_s, slack) for one in pairs])
        grown = np.array([_carried(one, self.time_s, slack) for one in pairs])
        for index, pair in enumerate(pairs):
            states = np.array([one in FAILED for one in pair.texts_at("state", at_s)])
            alive[index] &= ~states
        # Preference of a pair at each time; the largest wins.
        score = np.where(alive, 1.0, -np.inf)
        score += np.where(alive & (grown > 0), 1.0, 0.0)
        for index, pair in enumerate(pairs):
            nominated = pair.gauge("nominated", self.time_s, slack, np.inf)
            score[index] += 4.0 * (nominated > 0) * alive[index]
            score[index] += 16.0 * (pair.gauge("selected", self.time_s, slack, np.inf) > 0) * alive[index]
            if pair.has("availableOutgoingBitrate"):
                estimates = pair.gauge("availableOutgoingBitrate", self.time_s, slack)
                score[index] += 2.0 * ~np.isnan(estimates) * alive[index]
        for transport in self.select("transport"):
            selected = transport.texts_at("selectedCandidatePairId", at_s)
            there = transport.covers(self.time_s, slack)
            for index, pair in enumerate(pairs):
                is_it = np.array([one == pair.name for one in selected]) & there & alive[index]
                score[index] += 64.0 * is_it
        best = score.max(axis=0)
        births = np.array([_birth(one) for one in pairs])
        undecided: dict[int, list[int]] = {}
        for at in np.flatnonzero(best > -np.inf).tolist():
            several = np.flatnonzero(score[:, at] == best[at])
            several = several[grown[several, at] == grown[several, at].max()]
            # Chrome leaves the pair before nominated, so among equals the youngest counts; then the one used before.
            several = several[births[several] == births[several].max()]
            before = chosen[at - 1] if at else -1
            if len(several) == 1 or before in several:
                chosen[at] = several[0] if len(several) == 1 else before
            else:
                undecided[at] = several.tolist()
        for at in sorted(undecided, reverse=True):
            after = chosen[at + 1] if at + 1 < count else -1
            chosen[at] = after if after in undecided[at] else undecided[at][-1]
        return [int(one) for one in chosen]

    def _follow(self, member: str) -> Numbers:
        """Returns a number of the pair in use at each time."""
        values = [one.gauge(member, self.time_s, self.slack_s) for one in self.pairs]
        return np.array(
            [values[pair][at] if pair >= 0 else np.nan for at, pair in enumerate(self._chosen)], dtype=float
        )

    @property
    def available_bps(self) -> Numbers:
        """Bandwidth estimate of the pair in use, bit/s; NaN without one. Firefox never does."""
        return self._follow("availableOutgoingBitrate")

    @property
    def has_estimate(self) -> bool:
        """Whether the browser gives its bandwidth estimate."""
        return bool((~np.isnan(self.available_bps)).any())

    @property
    def pair_round_trip_s(self) -> Numbers:
        """Round trip of the pair in use (STUN), in seconds."""
        return self._follow("currentRoundTripTime")

    @property
    def round_trip_s(self) -> Numbers:
        """Round trip in seconds: of the pair in use, or else by RTCP (the least of all streams)."""
        by_rtcp = [one.round_trip_s for one in self.sent]
        by_rtcp += [
            one.gauge("roundTripTime", self.time_s, self.slack_s, REPORT_HOLDS_S)
            for one in (*self.unassigned_remotes, *self.select("remote-outbound-rtp"))
        ]
        found = self.pair_round_trip_s
        if by_rtcp:
            found = np.where(np.isnan(found), np.fmin.reduce(by_rtcp), found)
        return found

    @cached_property
    def pair_changes(self) -> list[PairChange]:
        """Changes of the pair in use."""
        found, before = [], -1
        for at, pair in enumerate(self._chosen):
            if pair >= 0 and before >= 0 and pair != before:
                found.append(PairChange(float(self.time_s[at]), self.describe(before), self.describe(pair)))
            before = pair if pair >= 0 else before
        return found

    def describe(self, index: int) -> str:
        """Describes a candidate pair by the types of its ends, its protocol and its network, or by its id."""
        pair = self.pairs[index]
        near, far = (self.objects.get(pair.text(f"{end}CandidateId")) for end in ("local", "remote"))
        members = ("candidateType", "protocol", "networkType")
        words = [near.text(one) for one in members] if near is not None else []
        named = " ".join(one for one in words if one and one != "unknown")
        if not named:
            return pair.name
        return named + (f" → {far.text('candidateType')}" if far is not None else "")

    @property
    def lost(self) -> Numbers:
        """Packets of all sent streams that the other end reports lost, in each interval."""
        series = [one.lost for one in self.sent]
        others = self.unassigned_remotes
        series += [one.growth("packetsLost", self.time_s, self.slack_s) for one in others]
        return sum_series(series, len(self.time_s))

    @property
    def packets_sent(self) -> Numbers:
        """Packets of all sent streams, in each interval."""
        return sum_series([one.packets for one in self.sent], len(self.time_s))

    @property
    def limited_s(self) -> dict[str, float]:
        """Reason to the seconds that it limited the picture, summed over the sent streams. Empty if not known."""
        found: dict[str, float] = {}
        for stream in self.sent:
            for reason, seconds in stream.limited_s.items():
                total = sum_known(seconds)
                found[reason] = found.get(reason, 0.0) + (0.0 if math.isnan(total) else total)
        return found

    @property
    def summary(self) -> str:
        """One line about it: streams and duration."""
        lasts = float(self.time_s[-1] - self.time_s[0]) if len(self.time_s) else 0.0
        parts = [f"{len(one)} {way}" for way, one in ((SENT, self.sent), (RECEIVED, self.received)) if one]
        return f"{self.name} ({' and '.join(parts) or 'no'} streams, {lasts:.3g} s)"


def sum_series(series: list[Numbers], count: int) -> Numbers:
    """Returns the sum of the known values at each time; NaN without any."""
    if not series:
        return np.full(count, np.nan)
    table = np.array(series)
    known = ~np.isnan(table)
    return np.where(known.any(axis=0), np.where(known, table, 0.0).sum(axis=0), np.nan)


def _sum_rates(streams: list[Stream], time_s: Numbers) -> Numbers:
    return sum_series([one.rate_bps for one in streams], len(time_s))


def _birth(pair: StatsObject) -> float:
    """Returns when a pair was nominated first, or when it appeared if it never was."""
    values = pair.numbers.get("nominated", np.empty(0))
    nominated = pair.time_s[: len(values)][values > 0]
    return float(nominated[0] if len(nominated) else pair.time_s[0])


def _carried(pair: StatsObject, time_s: Numbers, slack_s: float) -> Numbers:
    """Returns the bytes that a pair carried in each interval, in both directions."""
    ways = [pair.growth(one, time_s, slack_s) for one in ("bytesSent", "bytesReceived")]
    return np.nan_to_num(sum_series(ways, len(time_s)))
