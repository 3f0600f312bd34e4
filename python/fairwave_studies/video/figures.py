"""The figures of paper 002 in order, then those beyond it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_studies.video import beyond, sweeps, traces
from fairwave_studies.video.claims import MeasuredTerms

if TYPE_CHECKING:
    from fairwave_study.folder import Case
    from fairwave_study.parts import Figure


def figures(case: Case) -> list[Figure]:
    """All figures."""
    words = MeasuredTerms.from_reading(case.reading)
    return [
        *traces.alone(),
        *sweeps.cross(words),
        traces.queues(words.capacity),
        *sweeps.reverse(words),
        *sweeps.friendliness(),
        traces.hops(),
        *sweeps.chain(words),
        *beyond.figures(),
    ]
