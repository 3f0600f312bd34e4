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
    columns = list(q.SHOWN.values())
    if case in p.RATES:
        columns.append(q.convergence)
    found = [data.measured(of(case), case) for of in columns]
    rows = []
    for point in found[0].points():
        row = {axis: str(label) for axis, label in point.items()}
        for one in found:
            cell = one.interval(**point)
            if cell.n or one.measure.id.partition("_")[0] not in ("balance", "others"):
                row[one.measure.label] = str(cell)
        rows.append(row)
    return pl.DataFrame(rows)


TABLES = tuple(
    Table(case, f"§{section}", (case,), partial(_rows, case=case)) for case, section in p.SECTIONS.items()
)
"""In the order of the RFC."""
