"""Tables: the calls in numbers, and how full the two bottlenecks are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fairwave.report import style
from fairwave.studies.voice import quantities as q
from fairwave.studies.voice.claims import part
from fairwave.studies.voice.points import CALLS
from fairwave.study.study import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.study.measures import Measure
    from fairwave.study.study import Data

TRANSFERS = (0, 20)
CONTENTION = (40, 80, 120)


def _rows(data: Data, measures: Sequence[Measure]) -> pl.DataFrame:
    """Means with intervals at every number of transfers and calls, per transport."""
    rows = []
    for ftp in TRANSFERS:
        measured = {measure: part(data, measure, ftp=ftp, flows=CONTENTION) for measure in measures}
        first = next(iter(measured.values()))
        for flows in first.labels("flows"):
            for transport in first.labels("transport"):
                row: dict[str, str] = {
                    "file transfers": str(ftp),
                    "calls": str(flows),
                    "transport": style.title(transport),
                }
                for measure, values in measured.items():
                    row[measure.label.removeprefix("voice ")] = str(
                        values.interval(flows=flows, transport=transport)
                    )
                rows.append(row)
    return pl.DataFrame(rows)


def _calls(data: Data) -> pl.DataFrame:
    indices = [q.INDEX[reading] for reading in q.NAMES]
    return _rows(
        data, [q.GOODPUT, q.FAIRNESS, q.LOSS, *indices, q.DELAY, q.DELAY_P95, q.TIMEOUTS, q.R_FACTOR, q.MOS]
    )


def _bottlenecks(data: Data) -> pl.DataFrame:
    return _rows(
        data, [q.FIRST_USE, q.FIRST_DROPS, q.FIRST_WAIT, q.SHARED_USE, q.SHARED_DROPS, q.SHARED_WAIT]
    )


def tables() -> list[Table]:
    """Both tables."""
    return [
        Table(
            "calls",
            "The calls in numbers",
            (CALLS,),
            _calls,
            caption="Payload 160 bytes, packet error rate 0.01, threshold 300 ms.",
        ),
        Table(
            "bottlenecks",
            "The two bottlenecks",
            (CALLS,),
            _bottlenecks,
            caption="Use is that of the whole run; waiting is the mean over packets that were not dropped.",
        ),
    ]
