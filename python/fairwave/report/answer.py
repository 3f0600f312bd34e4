"""What a page says first: the verdict in a sentence with its uncertainty, a small picture, and what decides it.

What is said of flows is in `fairwave.report.verdict`, which terminal and pages share; here what is said of a study.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairwave.report.bands import TONES, Scale
from fairwave.study.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.study.claims import Judgement
    from fairwave.study.ledger import Ledger


@dataclass(frozen=True)
class Mark:
    """One mean in a picture of bands.

    Attributes:
        label: Whose it is.
        text: The mean with its interval.
        bands: The bands that the interval touches.
        at: Where the mean lies, in % from the left.
        low: Where the interval begins.
        high: Where it ends.
    """

    label: str
    text: str
    bands: Sequence[str]
    at: float
    low: float
    high: float

    @property
    def tone(self) -> str:
        """The tone in which it is shown: that of its band, undecided where there are several."""
        return TONES[self.bands[0]] if len(self.bands) == 1 else "undecided"

    @property
    def words(self) -> str:
        """Its bands in words."""
        return " or ".join(self.bands)


@dataclass(frozen=True)
class Picture:
    """Means before the bands of their scale."""

    scale: Scale
    marks: Sequence[Mark]


@dataclass(frozen=True)
class Named:
    """A claim in one line.

    Attributes:
        id: Its id, and the end of its anchor.
        text: The claim.
        words: What became of it.
        tone: The tone in which that is shown.
    """

    id: str
    text: str
    words: str
    tone: str


@dataclass(frozen=True)
class Answer:
    """What stands in a page's first screen.

    Attributes:
        sentences: The verdict; the first is the most important one.
        pictures: Means before bands.
        claims: A study's claims, those that do not hold first.
        counts: Tone to how many claims have it.
        sure: How sure all this is: replications, level; empty where there is nothing to be sure of.
    """

    sentences: Sequence[str]
    pictures: Sequence[Picture] = ()
    claims: Sequence[Named] = ()
    counts: Sequence[tuple[str, int]] = ()
    sure: str = ""


def of_study(
    ledger: Ledger,
    judgements: Sequence[Judgement],
    replications: int,
    called: tuple[str, str] = ("claim", "claims"),
) -> Answer:
    """How many of a study's claims hold and which do not; over all readings, where those were judged."""
    from fairwave.report.readings import TONES as OVERALL

    if not judgements:
        return Answer([f"No {called[0]} was judged: one figure or table was made alone."])
    claims = [
        Named(
            one.claim.id,
            one.claim.statement,
            str(one.about.verdict) if one.about else one.word,
            OVERALL[one.about.verdict] if one.about else one.verdict.name.lower(),
        )
        for one in judgements
    ]
    order = ["not_reproduced", "undecided", "reproduced"]
    claims.sort(key=lambda one: order.index(one.tone))
    counts = Counter(one.tone for one in claims)
    fail, rest, hold = (counts[tone] for tone in order)
    if ledger.exploration is not None:
        readings = len(ledger.exploration.drawn)
        sentence = (
            f"Of {len(claims)} claims {_number(hold, 'holds', 'hold')} in all or most of {readings} readings, "
            f"{_number(fail, 'is', 'are')} contradicted in all or most, and {_number(rest, 'is', 'are')} open or "
            f"{'hangs' if rest == 1 else 'hang'} on the reading."
        )
    else:
        sentence = (
            f"Of {len(claims)} {called[1]} {_held(hold, judgements)}, {_failed(fail, judgements)} not, and "
            f"{_number(rest, 'is', 'are')} undecided."
        )
    few = (
        "; with one replication there is no interval, and nothing can be decided" if replications < 2 else ""
    )
    sure = f"Judged by 95 % intervals over {_number(replications, 'replication', 'replications')} per point{few}."
    return Answer([sentence], claims=claims, counts=[(tone, counts[tone]) for tone in order], sure=sure)


def _held(count: int, judgements: Sequence[Judgement]) -> str:
    """How many hold, or are what their words call it."""
    if word := judgements[0].claim.words.get(Verdict.REPRODUCED):
        return f"{_number(count, 'is', 'are')} {word}"
    return _number(count, "holds", "hold")


def _failed(count: int, judgements: Sequence[Judgement]) -> str:
    return _number(count, "is", "are") if judgements[0].claim.words else _number(count, "does", "do")


def _number(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"
