"""The first part of a page: the verdict in a sentence with its uncertainty, a small picture, and the deciding values.

`fairwave.answers.verdict` makes the sentences about flows, for terminal and pages. `fairwave_study.answer` makes the
sentences about a study.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairwave.answers.bands import TONES, Scale

if TYPE_CHECKING:
    from collections.abc import Sequence


ADVICE = re.compile(r"[Tt]ry `-n (\d+)`")
"""Matches advice to make more runs."""

OF_FOLDERS = "folder"
"""The axis of a comparison of saved runs."""

LIVE = "A live run cannot be repeated: simulate it, `fairwave run SCENARIO -n {0}`"
SAVED = "Make each folder again with `-n {0}`"
"""Advice on how to get more real-time runs, or more runs that are saved in folders."""


def more_runs_by(how: str, text: str) -> str:
    """Replaces the advice `-n` by another way to get more runs; `{0}` in `how` is their number."""
    return ADVICE.sub(lambda found: how.format(found[1]), text)


@dataclass(frozen=True)
class Mark:
    """One mean in a picture of bands.

    Attributes:
        label: Flow group or alternative of the mean.
        text: The mean with its interval.
        bands: The bands that the interval touches.
        at: Position of the mean, in % from the left.
        low: Lower end of the interval, in % from the left.
        high: Upper end of the interval, in % from the left.
    """

    label: str
    text: str
    bands: Sequence[str]
    at: float
    low: float
    high: float

    @property
    def tone(self) -> str:
        """Tone of the mark: the tone of its band, or undecided if the interval touches several bands."""
        return TONES[self.bands[0]] if len(self.bands) == 1 else "undecided"

    @property
    def words(self) -> str:
        """Its bands in words."""
        return " or ".join(self.bands)


@dataclass(frozen=True)
class Picture:
    """Means in front of the bands of their scale."""

    scale: Scale
    marks: Sequence[Mark]


@dataclass(frozen=True)
class ClaimLine:
    """A claim in one line.

    Attributes:
        id: Id of the claim, and the end of its anchor.
        text: The claim.
        words: Verdict on the claim.
        tone: Tone of the verdict.
        decided_by: The deciding estimate, with interval and bound; empty if no single estimate decides.
    """

    id: str
    text: str
    words: str
    tone: str
    decided_by: str = ""


@dataclass(frozen=True)
class Answer:
    """Content of a page's first screen.

    Attributes:
        sentences: The verdict; the first is the most important one.
        pictures: Means with their bands.
        claims: A study's claims; failed claims come first.
        counts: Number of claims of each tone.
        sure: Confidence of the verdict: replications and level; empty if it does not apply.
        left_out: Flow groups that no sentence mentions, because there are many groups and others fare worse.
    """

    sentences: Sequence[str]
    pictures: Sequence[Picture] = ()
    claims: Sequence[ClaimLine] = ()
    counts: Sequence[tuple[str, int]] = ()
    sure: str = ""
    left_out: Sequence[str] = ()

    def with_more_runs_by(self, how: str) -> Answer:
        """Returns a copy for results that `-n` cannot extend; `how` explains how to get `{0}` runs."""
        sentences = [more_runs_by(how, one) for one in self.sentences]
        return replace(self, sentences=sentences, sure=more_runs_by(how, self.sure))

    def __str__(self) -> str:
        """The verdict, a sentence a line."""
        return "\n".join([*self.sentences, *([self.sure] if self.sure else [])])
