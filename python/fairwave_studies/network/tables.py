"""Tables: every placement and every failure in numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from fairwave_studies.network import points as p
from fairwave_studies.network import quantities as q
from fairwave_study.study import Table

if TYPE_CHECKING:
    from fairwave_study.study import Data


def _rows(data: Data, grid: str) -> pl.DataFrame:
    """A row per point: means with intervals."""
    found = [data.measured(one, grid) for one in q.shown()]
    return pl.DataFrame(
        [
            {
                **{axis: str(label) for axis, label in point.items()},
                **{one.measure.label: str(one.interval(**point)) for one in found},
            }
            for point in found[0].points()
        ]
    )


TABLES = tuple(Table(grid, title, (grid,), partial(_rows, grid=grid)) for grid, title in p.TITLES.items())
"""Each network, then with failures."""
