"""Tables: every point in numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from fairwave.measuring import measures
from fairwave_studies.future import points as p
from fairwave_studies.future.claims import (
    CALL_MOS,
    MOS,
    OTHER,
    PICTURE,
    RETURN,
    SEEN,
    STREAM,
    STREAM_LOSS,
    TRANSFERS,
    WAIT,
)
from fairwave_study.study import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.measuring.measures import Measure
    from fairwave_study.study import Data


def _rows(data: Data, grid: str, shown: Sequence[Measure]) -> pl.DataFrame:
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


def _table(grid: str, title: str, *shown: Measure) -> Table:
    return Table(grid, title, (grid,), partial(_rows, grid=grid, shown=shown))


TABLES = (
    _table(
        p.CALLS,
        "Carriers of a contested call",
        CALL_MOS,
        measures.loss("voice"),
        measures.delay("voice"),
        TRANSFERS,
    ),
    _table(p.STREAMS, "γ for unreliable streams", STREAM, TRANSFERS, STREAM_LOSS, WAIT),
    _table(p.VIDEO, "Variants of DVRC", PICTURE, SEEN, measures.cov("video"), TRANSFERS, RETURN),
    _table(p.QUEUES, "Queues", MOS, TRANSFERS, OTHER, WAIT),
)
"""In the order in which they are told."""
