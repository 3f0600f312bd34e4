"""Report on a recorded call: streams, incidents, limits, the worst part, and the verdict over all streams."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from fairwave.answers.bands import TONES, UNDECIDED, scale_of
from fairwave.answers.events import held
from fairwave.answers.naming import listed
from fairwave.measuring.statistics import interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.dumps.events import Limit
    from fairwave.dumps.streams import Span
    from fairwave.judging.courses import Course

Kind = Literal["speech", "picture", "screen", "stream"]
"""What a stream carries."""

ORDER = tuple(TONES)
"""The bands from best to worst."""

SHORTEST_S = 2.0
"""A stream that lasts less is listed, but not judged †."""

MOST_COURSES = 6
"""Largest number of streams that are measured over time, the worst first."""

LONGEST_LIST = 3
"""Largest number of streams that the first sentence names."""


@dataclass(frozen=True)
class Incident:
    """An event of a stream or of the connection.

    Attributes:
        kind: One word, such as `loss`, `freeze`, `gap` or `pause`.
        start_s: Its start, in seconds since the file begins.
        end_s: Its end.
        words: The event as a phrase without its time.
        stream: Name of its stream; empty for the connection.
    """

    kind: str
    start_s: float
    end_s: float
    words: str
    stream: str = ""


@dataclass(frozen=True)
class Rating:
    """The band of a stream by one measure.

    Attributes:
        measure: Id of the measure, as in :data:`fairwave.answers.bands.SCALES`.
        values: Its value, or its bounds if the file does not show it exactly.
        because: An event that limits the rating to *fair*; empty without.
    """

    measure: str
    values: tuple[float, ...]
    because: str = ""

    @property
    def bands(self) -> list[str]:
        """The bands that the values touch, best first."""
        scale = scale_of(self.measure)
        assert scale is not None
        found = {scale.classify_mean(held(interval([one]), self.because)) for one in self.values}
        return [one for one in ORDER if one in found]

    @property
    def words(self) -> str:
        """The value with its name, and the event that limits the rating."""
        scale = scale_of(self.measure)
        assert scale is not None
        form = ".2f" if not scale.unit else ".3g"
        numbers = " to ".join(dict.fromkeys(f"{one:{form}}" for one in sorted(self.values)))
        text = scale.says.format(f"{numbers} {scale.unit}".strip())
        return f"{text}; {self.because}" if self.because else text


@dataclass(frozen=True)
class StreamReport:
    """A stream of speech or pictures.

    Attributes:
        name: Its name.
        kind: `speech`, `picture`, `screen` or `stream`.
        direction: `sent`, `received`, `forward` or `reverse`.
        codec: Its codec; empty if unknown.
        start_s: First packet or sample, in seconds since the file begins.
        end_s: Last packet or sample.
        packets: Packets that arrived; of a sent stream, packets sent.
        lost: Packets lost; NaN if unknown.
        loss: Share of packets lost, 0 to 1; NaN if unknown.
        rate_bps: Mean rate, bit/s.
        jitter_s: Mean jitter (RFC 3550); NaN if unknown.
        round_trip_s: Mean round trip; NaN if unknown.
        freezes: Number of freezes of the picture; NaN if unknown.
        frozen_s: Seconds with a frozen picture; NaN if unknown.
        longest_freeze_s: The longest freeze; NaN if unknown.
        longest_gap_s: The longest gap of speech; NaN if unknown.
        mos: MOS by the E-model; NaN without a rating.
        rating: The rating that decides its band; None if it is not judged.
        unknown: Values that the file does not show, and the assumptions that replace them.
    """

    name: str
    kind: Kind
    direction: str
    codec: str
    start_s: float
    end_s: float
    packets: int
    lost: float
    loss: float
    rate_bps: float
    jitter_s: float = math.nan
    round_trip_s: float = math.nan
    freezes: float = math.nan
    frozen_s: float = math.nan
    longest_freeze_s: float = math.nan
    longest_gap_s: float = math.nan
    mos: float = math.nan
    rating: Rating | None = None
    unknown: list[str] = field(default_factory=list)

    @property
    def word(self) -> str:
        """Its band, `undecided` if several are possible, or `not judged`."""
        if self.rating is None:
            return "not judged"
        bands = self.rating.bands
        return bands[0] if len(bands) == 1 else UNDECIDED

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as plain data."""
        rating = self.rating
        plain = None if rating is None else {"measure": rating.measure, "values": list(rating.values),
                                             "bands": rating.bands, "because": rating.because}  # fmt: skip
        return {**vars(self), "word": self.word, "rating": plain}


@dataclass(frozen=True)
class Judgement:
    """The verdict on a recorded call.

    Attributes:
        source: The file.
        kind: `capture` or the format of the statistics.
        lasts_s: Length of the recording.
        streams: Its streams; those that are judged come first, the worst first.
        incidents: Events by their start.
        limits: Times with a limiting factor.
        worst: The worst ten seconds; None if nothing bad happened.
        badness: Mean badness of that part, 0 to 1; 0 without one.
        assumptions: Values that the file does not show, and the assumptions that replace them.
        notes: Repairs and omissions of the reader.
    """

    source: str
    kind: str
    lasts_s: float
    streams: Sequence[StreamReport]
    incidents: Sequence[Incident]
    limits: Sequence[Limit]
    worst: Span | None
    badness: float
    assumptions: Sequence[str] = ()
    notes: Sequence[str] = ()
    courses: Sequence[Course] = ()

    @property
    def bands(self) -> list[str]:
        """The bands that the call may have, best first: the worst stream counts. Empty if no stream is judged."""
        judged = [one.rating.bands for one in self.streams if one.rating is not None]
        if not judged:
            return []
        best = max(ORDER.index(one[0]) for one in judged)
        worst = max(ORDER.index(one[-1]) for one in judged)
        return list(ORDER[best : worst + 1])

    @property
    def word(self) -> str:
        """`good`, `fair`, `poor`, or `undecided`."""
        return self.bands[0] if len(self.bands) == 1 else UNDECIDED

    @property
    def sentences(self) -> list[str]:
        """The verdict first, then the limiting factor and the worst part."""
        return [self._describe_verdict(), *self._describe_limits(), *self._describe_worst()]

    def _describe_verdict(self) -> str:
        if not self.bands:
            return "Undecided: no stream lasts long enough to be judged."
        word = self.word if self.word != UNDECIDED else f"{UNDECIDED}, {self.bands[-1]} to {self.bands[0]}"
        judged = [one for one in self.streams if one.rating is not None]
        decisive = [
            one for one in judged if one.rating is not None and one.rating.bands[-1] == self.bands[-1]
        ]
        named = [f"{one.name}: {one.rating.words}" for one in decisive[:LONGEST_LIST] if one.rating]
        more = len(decisive) - LONGEST_LIST
        rest = [f"and {more} more streams"] if more > 0 else []
        return f"The call was {word} ({'; '.join(named + rest)})."

    def _describe_limits(self) -> list[str]:
        names = {
            "bandwidth": "bandwidth",
            "cpu": "the CPU",
            "other end": "the other end",
            "other": "another factor",
        }
        found = []
        for factor, name in names.items():
            spans = sorted({(one.start_s, one.end_s) for one in self.limits if one.factor == factor})
            if spans:
                times = [f"{start:.3g} to {end:.3g} s" for start, end in spans[:LONGEST_LIST]]
                more = len(spans) - LONGEST_LIST
                if more > 0:
                    times.append(f"{more} more times")
                found.append(f"Limited by {name} from {listed(times)}.")
        return found or ["The file shows no limiting factor."]

    def _describe_worst(self) -> list[str]:
        if self.worst is None:
            return []
        start, end = self.worst.start_s, self.worst.end_s
        inside = [one.words for one in self.incidents if one.start_s < end and one.end_s > start]
        what = f": {'; '.join(dict.fromkeys(inside[:LONGEST_LIST]))}" if inside else ""
        return [f"The worst part is from {start:.3g} to {end:.3g} s{what}."]

    def to_dict(self) -> dict[str, Any]:
        """Returns everything as plain data."""
        worst = None if self.worst is None else {**vars(self.worst), "badness": self.badness}
        return {
            "source": self.source, "kind": self.kind, "lasts_s": self.lasts_s, "word": self.word, "bands": self.bands,
            "sentences": self.sentences, "streams": [one.to_dict() for one in self.streams],
            "events": [vars(one) for one in self.incidents], "limits": [vars(one) for one in self.limits],
            "worst": worst, "assumptions": list(self.assumptions), "notes": list(self.notes),
        }  # fmt: skip


def sort_streams(streams: Sequence[StreamReport]) -> list[StreamReport]:
    """Returns the judged streams, the worst first, then the others."""

    def rank(one: StreamReport) -> tuple[int, float]:
        worst = -1 if one.rating is None else ORDER.index(one.rating.bands[-1])
        return (-worst, one.start_s)

    return sorted(streams, key=rank)
