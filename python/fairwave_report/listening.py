"""Switching between recordings of one call at the same spoken position.

A playout buffer that waits or stretches plays the same words later or more slowly than they were spoken. So each
recording has a line of positions: pairs of seconds in the original and in the recording, ascending, with linear
interpolation.
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
"""A position within this distance of the straight line needs no point."""


@dataclass(frozen=True)
class Clip:
    """A recording on a page.

    Attributes:
        title: Its title.
        wav: The file's bytes.
        notes: A line below the player.
        places: Seconds of the original and of this recording at which the same speech plays, ascending; empty if the
            times are equal.
    """

    title: str
    wav: bytes
    notes: str = ""
    places: tuple[tuple[float, float], ...] = ()


def places(said: ArrayLike, heard: ArrayLike) -> Places:
    """Returns the line of positions with the fewest points that keep every unit within `NEAR_S`.

    Args:
        said: Seconds of the original at which each unit begins, ascending.
        heard: Seconds of the recording at which it begins, ascending.
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


def to_recording(line: Places, said_s: float) -> float:
    """Converts seconds of the original to seconds of a recording."""
    return float(np.interp(said_s, *_columns(line))) if line else said_s


def to_original(line: Places, heard_s: float) -> float:
    """Converts seconds of a recording to seconds of the original."""
    said, heard = _columns(line) if line else ([heard_s], [heard_s])
    return float(np.interp(heard_s, heard, said))


def _columns(line: Places) -> tuple[Sequence[float], Sequence[float]]:
    said, heard = zip(*line, strict=True)
    return said, heard
