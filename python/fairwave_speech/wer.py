"""Word accuracy and correct sentences, as paper 004 counts them (§4.4.2).

Recognised and spoken words are aligned by dynamic programming with the fewest errors; then, with nₜ words
spoken,

    WER = (nᵢ + nₛ + n_d) / nₜ × 100      (Eq. 3)        WA = 100 − WER      (Eq. 4)

Insertions count, so accuracy can fall below zero. A sentence is *correct* in two readings: the paper's
words ('whenever no word insertions or word substitutions are incurred') let deletions pass; the strict
reading lets none pass.

**Assumption**: among alignments with equally many errors, the one with the most substitutions is taken; the
rates of Eq. 3 and 4 do not depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Alignment:
    """Errors of recognition, of one sentence or summed over many.

    Attributes:
        words: words spoken, nₜ.
        substitutions: nₛ.
        deletions: n_d.
        insertions: nᵢ.
        sentences: sentences spoken.
        correct_as_printed: sentences without insertion and substitution.
        correct: sentences without any error.
    """

    words: int = 0
    substitutions: int = 0
    deletions: int = 0
    insertions: int = 0
    sentences: int = 0
    correct_as_printed: int = 0
    correct: int = 0

    def __add__(self, other: Alignment) -> Alignment:
        """Sum over sentences."""
        return Alignment(
            self.words + other.words,
            self.substitutions + other.substitutions,
            self.deletions + other.deletions,
            self.insertions + other.insertions,
            self.sentences + other.sentences,
            self.correct_as_printed + other.correct_as_printed,
            self.correct + other.correct,
        )

    @property
    def word_error_rate(self) -> float:
        """Eq. 3, in percent; NaN if no word was spoken."""
        errors = self.substitutions + self.deletions + self.insertions
        return 100.0 * errors / self.words if self.words else float("nan")

    @property
    def word_accuracy(self) -> float:
        """Eq. 4, in percent; can be negative."""
        return 100.0 - self.word_error_rate

    @property
    def sentence_accuracy(self) -> float:
        """Sentences without any error, in percent."""
        return 100.0 * self.correct / self.sentences if self.sentences else float("nan")

    @property
    def sentence_accuracy_as_printed(self) -> float:
        """Sentences without insertion and substitution, in percent: the paper's definition to the letter."""
        return 100.0 * self.correct_as_printed / self.sentences if self.sentences else float("nan")


def align(spoken: Sequence[str], recognised: Sequence[str]) -> Alignment:
    """Align one sentence and count its errors.

    Args:
        spoken: the correct words.
        recognised: the recogniser's words.
    """
    # Row by row: (errors, −substitutions, substitutions, deletions, insertions) of the best alignment up to each cell.
    row = [(count, 0, 0, 0, count) for count in range(len(recognised) + 1)]
    for word in spoken:
        above = row
        row = [_worse(above[0], deletion=1)]
        for column, heard in enumerate(recognised):
            row.append(
                min(
                    _worse(above[column], substitution=int(word != heard)),
                    _worse(above[column + 1], deletion=1),
                    _worse(row[column], insertion=1),
                )
            )
    errors, _, substitutions, deletions, insertions = row[-1]
    return Alignment(
        len(spoken),
        substitutions,
        deletions,
        insertions,
        1,
        int(substitutions + insertions == 0),
        int(errors == 0),
    )


_Cell = tuple[int, int, int, int, int]


def _worse(cell: _Cell, *, substitution: int = 0, deletion: int = 0, insertion: int = 0) -> _Cell:
    errors, preference, substitutions, deletions, insertions = cell
    return (
        errors + substitution + deletion + insertion,
        preference - substitution,
        substitutions + substitution,
        deletions + deletion,
        insertions + insertion,
    )
