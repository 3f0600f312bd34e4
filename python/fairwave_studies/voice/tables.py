"""Tables: the calls in numbers, and how full the two bottlenecks are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave.answers.labels import spelled
from fairwave_studies.voice import quantities as q
from fairwave_studies.voice.points import BEYOND, CALLS
from fairwave_studies.voice.selecting import part
from fairwave_study.parts import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure
    from fairwave_studies.voice.quantities import ShareDefinition
    from fairwave_study.folder import Case
    from fairwave_study.parts import Data

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
                    "transport": spelled(transport),
                }
                for measure, values in measured.items():
                    row[measure.label.removeprefix("voice ")] = str(
                        values.interval(flows=flows, transport=transport)
                    )
                rows.append(row)
    return pl.DataFrame(rows)


def _calls(data: Data, how: ShareDefinition) -> pl.DataFrame:
    indices = [q.index(how._replace(timely=timely)) for timely in q.TIMELY.values()]
    return _rows(
        data,
        [
            q.GOODPUT,
            q.FAIRNESS,
            q.loss(how.sent),
            *indices,
            q.DELAY,
            q.DELAY_P95,
            q.TIMEOUTS,
            q.R_FACTOR,
            q.MOS,
        ],
    )


def _bottlenecks(data: Data) -> pl.DataFrame:
    return _rows(
        data, [q.FIRST_USE, q.FIRST_DROPS, q.FIRST_WAIT, q.SHARED_USE, q.SHARED_DROPS, q.SHARED_WAIT]
    )


def _tabulate_extras(data: Data, how: ShareDefinition) -> pl.DataFrame:
    measures = [
        q.GOODPUT, q.WIRE, q.loss(how.sent), q.index(how), q.index(how._replace(timely="delay")), q.DELAY, q.DELAY_P95,
        q.R_FACTOR, q.MOS,
    ]  # fmt: skip
    measured = {measure: data.measured(measure, BEYOND) for measure in measures}
    first = next(iter(measured.values()))
    return pl.DataFrame([_row(measured, point) for point in _sort_points(first.points())])


def _sort_points(points: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(points, key=lambda point: (point["ftp"], point["flows"]))


def _row(measured: Mapping[Measure, Measured], point: dict[str, Any]) -> dict[str, str]:
    names = {"file transfers": str(point["ftp"]), "calls": str(point["flows"])}
    values = {
        measure.label.removeprefix("voice "): str(values.interval(**point))
        for measure, values in measured.items()
    }
    return {**names, "transport": spelled(point["transport"]), **values}


def tables(case: Case) -> list[Table]:
    """All tables."""
    how = q.define_shares(case.reading)
    return [
        Table(
            "beyond",
            "Redundant speech and partial reliability",
            (BEYOND,),
            partial(_tabulate_extras, how=how),
            source="beyond the papers; 000 §4.1.3 and §6",
            caption="Payload 160 bytes, packet error rate 0.01, threshold and deadline 300 ms, one copy.",
        ),
        Table(
            "calls",
            "The calls in numbers",
            (CALLS,),
            partial(_calls, how=how),
            caption="Payload 160 bytes, packet error rate 0.01, threshold 300 ms.",
        ),
        Table(
            "bottlenecks",
            "The two bottlenecks",
            (CALLS,),
            _bottlenecks,
            caption="Use covers the whole run; waiting is the mean over packets that were not dropped.",
        ),
    ]
