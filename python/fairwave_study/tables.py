"""Tables with a row per point of a grid: most tables of studies."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from fairwave_study.parts import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.measuring.measures import Measure
    from fairwave_study.parts import Data


def rows(data: Data, grid: str, shown: Sequence[Measure]) -> pl.DataFrame:
    """A row per point: its labels, and means with intervals."""
    found = [data.measured(one, grid) for one in shown]
    return pl.DataFrame(
        [
            {
                **{axis: str(label) for axis, label in point.items()},
                **{one.measure.label: str(one.interval(**point)) for one in found},
            }
            for point in found[0].points()
        ]
    )


def list_points(
    grid: str, title: str, shown: Sequence[Measure], *, name: str | None = None, caption: str = ""
) -> Table:
    """A table with a row per point of a grid; its name is the grid's id by default."""
    return Table(name or grid, title, (grid,), partial(rows, grid=grid, shown=shown), caption=caption)
