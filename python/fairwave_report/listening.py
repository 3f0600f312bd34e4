"""Changing between recordings of one call without losing one's place: where each says what the original says when.

A buffer that waits or stretches says the same words later or more slowly than they were spoken. So each recording has a
line of places: seconds of the original beside seconds of the recording, ascending, straight in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

Places = tuple[tuple[float, float], ...]
"""Seconds of the original and seconds of a recording, ascending in both."""

NEAR_S = 0.004
"""A place that the straight line misses by less is not worth a point of its own."""


@dataclass(frozen=True)
class Clip:
    """Something to listen to.

    Attributes:
        title: What it is.
        wav: The file's bytes.
        notes: A line beneath.
        places: Seconds of the original and of this recording at which they say the same, ascending; empty where
            both say it at the same time.
    """

    title: str
    wav: bytes
    notes: str = ""
    places: tuple[tuple[float, float], ...] = ()


def places(said: ArrayLike, heard: ArrayLike) -> Places:
    """The line of places through those of single units, as few points as keep it within `NEAR_S`.

    Args:
        said: Seconds of the original at which each unit begins, ascending.
        heard: Seconds of the recording at which it does, ascending.
    """
    x, y = (np.maximum.accumulate(np.asarray(one, dtype=float)) for one in (said, heard))
    if not len(x):
        return ()
    kept = {0, len(x) - 1}
    spans = [(0, len(x) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        within = slice(first + 1, last)
        if x[last] > x[first]:
            straight = y[first] + (x[within] - x[first]) / (x[last] - x[first]) * (y[last] - y[first])
        else:
            straight = np.full(last - first - 1, y[first])
        far = np.abs(y[within] - straight)
        worst = int(far.argmax())
        if far[worst] > NEAR_S:
            at = first + 1 + worst
            kept.add(at)
            spans += [(first, at), (at, last)]
    return tuple((round(float(x[at]), 4), round(float(y[at]), 4)) for at in sorted(kept))


def heard_at(line: Places, said_s: float) -> float:
    """Where a recording says what the original says at a moment, in seconds."""
    return float(np.interp(said_s, *_columns(line))) if line else said_s


def said_at(line: Places, heard_s: float) -> float:
    """What moment of the original a recording says at one of its own, in seconds."""
    said, heard = _columns(line) if line else ([heard_s], [heard_s])
    return float(np.interp(heard_s, heard, said))


def _columns(line: Places) -> tuple[Sequence[float], Sequence[float]]:
    said, heard = zip(*line, strict=True)
    return said, heard
