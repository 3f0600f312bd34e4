"""Tables: every queue with every rival, and the carriers, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.measuring import measures
from fairwave_studies.today import points as p
from fairwave_studies.today.claims import MOS, SEEN, SMOOTH, TRANSFERS
from fairwave_studies.today.figures import WAIT
from fairwave_study.parts import Table
from fairwave_study.tables import list_points

if TYPE_CHECKING:
    from fairwave.measuring.measures import Measure


def _table(grid: str, title: str, *shown: Measure) -> Table:
    return list_points(grid, title, shown)


TABLES = (
    _table(
        p.QUEUES,
        "Queues and the other traffic on the line",
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
"""In the order of the page."""
