"""Bands of each measure (good, fair, poor), their sources, and the classification of means.

Opinion scores of calls: ITU-T G.109 names categories of R, and ITU-T G.107 Annex B gives the score of each. *Good*
covers best, high and medium (R from 70, MOS 3.60). *Fair* is low (from 60, MOS 3.10: many users dissatisfied). *Poor*
covers poor and not recommended. A call with a gap or a freeze is fair at best (`fairwave.answers.events`). A call
without a rating has no band (`fairwave.answers.unrated_calls`).

Other streams: ITU-T G.1010 requires a loss of less than 1 % for video, and of less than 3 % for voice. Delay counts
too: above 150 ms one way (ITU-T G.114), such a stream is fair at best. For frames that are not shown, fairwave defines
this bound: more than one frozen frame in 25 is *poor*. This is one frame per second of a film at 25 frames per
second.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairwave.measuring.statistics import Interval, t_quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TONES = {"good": "reproduced", "fair": "undecided", "poor": "not_reproduced"}
"""Tone of each band on a page."""

UNDECIDED = "undecided"
"""The word for a mean whose interval touches several bands. It is not a band and is counted separately."""

WORDS = (*TONES, UNDECIDED)
"""The bands from best to worst, and the word for an undecided mean."""


@dataclass(frozen=True)
class Held(Interval):
    """A mean that is fair at best, because of events that the mean does not show.

    Attributes:
        because: Description of these events.
    """

    because: str = ""


@dataclass(frozen=True)
class Scale:
    """A measure's bands.

    Attributes:
        measure: Id of the measure.
        name: Its name next to a picture.
        says: Sentence about a mean; {} is replaced by the number.
        unit: Its unit, empty for a plain number.
        ends: Lower and upper end of the picture's scale.
        good: Bound of the good band.
        poor: Bound of the poor band.
        higher: Whether more is better.
        source: Source of the bounds, as a sentence.
    """

    measure: str
    name: str
    says: str
    unit: str
    ends: tuple[float, float]
    good: float
    poor: float
    higher: bool
    source: str

    def band(self, value: float) -> str:
        """Returns the band of a value: `good`, `fair` or `poor`. A bound belongs to the better band."""
        sign = 1.0 if self.higher else -1.0
        if sign * value >= sign * self.good:
            return "good"
        return "fair" if sign * value >= sign * self.poor else "poor"

    def classify_mean(self, mean: Interval) -> str:
        """The band of a mean alone; fair at best if the mean is `Held`."""
        found = self.band(mean.mean)
        return "fair" if found == "good" and isinstance(mean, Held) else found

    def bands(self, mean: Interval) -> list[str]:
        """Every band that a mean's interval touches, best first; the band of the mean without an interval.

        A mean that is held is fair at best.
        """
        order = ["good", "fair", "poor"]
        touched = (mean.mean, mean.mean) if mean.n < 2 else (mean.low, mean.high)
        ends = sorted(order.index(self.band(end)) for end in touched)
        found = order[ends[0] : ends[1] + 1]
        if isinstance(mean, Held):
            found = list(dict.fromkeys("fair" if band == "good" else band for band in found))
        return found

    def word(self, mean: Interval) -> str:
        """Returns the band that contains the mean's whole interval, or `undecided` if the interval touches several."""
        found = self.bands(mean)
        return found[0] if len(found) == 1 else UNDECIDED

    def locate(self, value: float) -> float:
        """Position of a value in the picture, in % from the left, limited to the picture's edges."""
        low, high = self.ends
        return round(100 * (min(max(value, low), high) - low) / (high - low), 2)

    def parts(self) -> list[tuple[str, float, float]]:
        """The bands from left to right: name, start and end in %."""
        first, second = sorted((self.locate(self.good), self.locate(self.poor)))
        names = ["poor", "fair", "good"] if self.higher else ["good", "fair", "poor"]
        return list(zip(names, (0.0, first, second), (first, second, 100.0), strict=True))

    def key(self) -> list[tuple[str, str]]:
        """The bands, best first, each with its bounds in words."""
        unit = f" {self.unit}" if self.unit else ""
        good, poor = f"{self.good:{self._form}}", f"{self.poor:{self._form}}"
        if self.higher:
            words = (f"from {good}{unit}", f"from {poor}{unit}", f"below {poor}{unit}")
        else:
            words = (f"up to {good}{unit}", f"up to {poor}{unit}", f"above {poor}{unit}")
        return list(zip(("good", "fair", "poor"), words, strict=True))

    @property
    def _form(self) -> str:
        return "g" if self.unit else ".2f"


def describe_bands(bands: Sequence[str], runs: int) -> str:
    """Bands, best first, in the wording of a sentence: "good", or "undecided after 2 runs: poor to good"."""
    return bands[0] if len(bands) == 1 else f"undecided after {runs} runs: {bands[-1]} to {bands[0]}"


def counted(words: Iterable[str], form: str = "{count} {word}") -> list[str]:
    """Counts the good, fair, poor and undecided words, each in a phrase. Words with count 0 are left out."""
    counts = Counter(words)
    return [form.format(word=word, count=counts[word]) for word in WORDS if counts[word]]


MORE = (10, 20, 30, 50, 100, 200, 500, 1000)
"""Numbers of replications that are suggested."""


def enough(scale: Scale, cell: Interval) -> int | None:
    """Returns the least of `MORE` replications that probably decides the band of a mean; None if 1000 may not."""
    return runs_to_decide(cell, [scale.good, scale.poor])


def runs_to_decide(cell: Interval, bounds: Sequence[float]) -> int | None:
    """The least of `MORE` replications after which a mean's interval probably holds no bound; none beyond 1000."""
    within = [bound for bound in bounds if cell.low <= bound <= cell.high]
    near = min((abs(cell.mean - bound) for bound in within), default=math.inf)
    nearest = min(within, key=lambda bound: abs(cell.mean - bound), default=cell.mean)
    half = cell.high - cell.mean if nearest > cell.mean else cell.mean - cell.low
    deviation = half * math.sqrt(cell.n) / t_quantile(cell.level, cell.n)
    fits = (n for n in MORE if n > cell.n and t_quantile(cell.level, n) * deviation / math.sqrt(n) < near)
    found = next(fits, None)
    # The spread estimated from a few runs is too uncertain to plan more than a first attempt.
    return min(found or 20, 100) if cell.n < 10 else found


SCALES: tuple[Scale, ...] = (
    Scale(
        "mos", "MOS", "MOS {}", "", (1.0, 4.5), 3.60, 3.10, higher=True,
        source="Bands after ITU-T G.109: good from R 70 (MOS 3.60), fair from R 60 (MOS 3.10), poor below, where "
        "nearly all users are dissatisfied. MOS of R by G.107 Annex B; it ends at 4.5.",
    ),
    Scale(
        "session-mos", "MOS of the worst stream", "MOS {} of the worst stream", "", (1.0, 5.0), 3.60, 3.10, higher=True,
        source="Bands of sessions with speech and pictures: those of calls (ITU-T G.109), for the worst stream. "
        "Pictures are rated from 1 to 5, with time in freezes as 1; that one scale serves both is an assumption of "
        "fairwave's own.",
    ),
    Scale(
        "decodable", "frames decodable when shown", "{} of the frames could be decoded when shown", "%",
        (80.0, 100.0), 99.0, 96.0, higher=True,
        source="Bands: good where at most 1 % is missing (what ITU-T G.1010 wants of video); poor where more than one "
        "frame in 25 is, a freeze each second at 25 frames per second (a bound of fairwave's own).",
    ),
    Scale(
        "responsiveness", "responsiveness", "{}", "round trips/min", (0.0, 2000.0), 1000.0, 200.0, higher=True,
        source="Bands of pings: good from 1000 round trips per minute (60 ms each), fair from 200 (300 ms each, ITU-T "
        "G.114's 150 ms one way), poor below. The lower bound is G.114's, the upper one fairwave's own.",
    ),
    Scale(
        "missed", "packets missed", "{} of the packets missed", "%", (0.0, 10.0), 1.0, 3.0, higher=False,
        source="Bands after ITU-T G.1010: good up to 1 % of the information lost, what it asks for video; fair up "
        "to 3 %, what it asks for a voice. Missed is what was lost or overdue at the end.",
    ),
)  # fmt: skip
"""All measures with bands; the most important for users come first."""


def scale_of(measure: str) -> Scale | None:
    """The bands of a measure; None if neither a high nor a low value is good or poor in itself."""
    return next((one for one in SCALES if one.measure == measure), None)


def finite(value: float, other: float) -> float:
    """Returns `value`, or `other` if it is infinite or not a number."""
    return value if math.isfinite(value) else other
