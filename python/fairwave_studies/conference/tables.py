"""Tables: every case in numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from fairwave_studies.conference import points as p
from fairwave_studies.conference import quantities as q
from fairwave_study.study import Table

if TYPE_CHECKING:
    from fairwave_study.study import Data


def _rows(data: Data, case: str) -> pl.DataFrame:
    """A row per queue and controller: means with intervals."""
    found = [data.measured(one, case) for one in q.shown(case)]
    return pl.DataFrame(
        [
            {
                **{axis: str(label) for axis, label in point.items()},
                **{one.measure.label: str(one.interval(**point)) for one in found},
            }
            for point in found[0].points()
        ]
    )


TABLES = tuple(
    Table(case, f"§{section}", (case,), partial(_rows, case=case)) for case, section in p.SECTIONS.items()
)
"""In the order of the RFC."""
