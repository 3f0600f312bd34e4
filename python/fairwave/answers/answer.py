"""What a page says first: the verdict in a sentence with its uncertainty, a small picture, and what decides it.

`fairwave.answers.verdict` has the sentences about flows, which terminal and pages share; `fairwave_study.answer` has
those about a study.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairwave.answers.bands import TONES, Scale

if TYPE_CHECKING:
    from collections.abc import Sequence


ADVICE = re.compile(r"[Tt]ry `-n (\d+)`")
"""How an answer asks for more runs."""

OF_FOLDERS = "folder"
"""The axis along which saved runs are compared."""

LIVE = "A live run cannot be repeated: simulate it, `fairwave run SCENARIO -n {0}`"
SAVED = "Make each folder again with `-n {0}`"
"""How to get more runs of live runs, and of runs that are saved in folders."""


def more_runs_by(how: str, text: str) -> str:
    """The text with another way to get more runs than `-n`; `{0}` in `how` stands for their number."""
    return ADVICE.sub(lambda found: how.format(found[1]), text)


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
class ClaimLine:
    """A claim in one line.

    Attributes:
        id: Its id, and the end of its anchor.
        text: The claim.
        words: What became of it.
        tone: The tone in which that is shown.
        decided_by: The estimate that decides, with its interval and the line; empty where nothing single decides.
    """

    id: str
    text: str
    words: str
    tone: str
    decided_by: str = ""


@dataclass(frozen=True)
class Answer:
    """What stands in a page's first screen.

    Attributes:
        sentences: The verdict; the first is the most important one.
        pictures: Means before bands.
        claims: A study's claims, those that do not hold first.
        counts: Tone to how many claims have it.
        sure: How sure all this is: replications, level; empty where there is nothing to be sure of.
        left_out: Flow groups of which no sentence speaks, because there are many and others are worse.
    """

    sentences: Sequence[str]
    pictures: Sequence[Picture] = ()
    claims: Sequence[ClaimLine] = ()
    counts: Sequence[tuple[str, int]] = ()
    sure: str = ""
    left_out: Sequence[str] = ()

    def with_more_runs_by(self, how: str) -> Answer:
        """The same for results that `-n` cannot extend: `how` says how to get `{0}` runs."""
        sentences = [more_runs_by(how, one) for one in self.sentences]
        return replace(self, sentences=sentences, sure=more_runs_by(how, self.sure))

    def __str__(self) -> str:
        """The verdict, a sentence a line."""
        return "\n".join([*self.sentences, *([self.sure] if self.sure else [])])
