"""Tables: every queue beside every rival, and the carriers, in numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from fairwave.measuring import measures
from fairwave_studies.today import points as p
from fairwave_studies.today.claims import MOS, SEEN, SMOOTH, TRANSFERS
from fairwave_studies.today.figures import WAIT
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
        p.QUEUES,
        "Queues and what shares the line",
        MOS,
        measures.worst_mos("call"),
        measures.loss("call"),
        TRANSFERS,
        WAIT,
        SEEN,
    ),
    _table(p.CARRIERS, "Carriers of a call", MOS, measures.mouth_to_ear("call"), TRANSFERS),
    _table(p.VIDEO, "Carriers of a video", SEEN, measures.goodput("video"), MOS, TRANSFERS),
    _table(p.AMONG, "The papers' transports among CUBIC", SMOOTH, TRANSFERS, MOS),
)
"""In the order in which they are told."""
