"""Tables: a verdict on each idea, and every point in numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairwave.measuring import measures
from fairwave.measuring.statistics import interval
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
    TIMELY,
    TRANSFERS,
    WAIT,
)
from fairwave_study.parts import Table
from fairwave_study.tables import list_points

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairwave.measuring.measures import Measure
    from fairwave.measuring.statistics import Interval
    from fairwave_study.parts import Data


def _table(grid: str, title: str, *shown: Measure) -> Table:
    return list_points(grid, title, shown)


@dataclass(frozen=True)
class Idea:
    """An idea and its comparison.

    Attributes:
        name: Its name.
        grid: Where it is tried.
        pair: The labels with and without it.
        benefit: The measure that it should improve.
        cost: The measure of its cost to others or to the stream.
        fix: Labels of the grid's other axes, where not all of them count.
    """

    name: str
    grid: str
    pair: tuple[str, str]
    benefit: Measure
    cost: Measure
    fix: dict[str, str] = field(default_factory=dict)


COV = measures.cov("video")
IDEAS = (
    Idea("TFRC-SP for calls", p.CALLS, (p.TFRC_SP, p.TFRC), TIMELY, TRANSFERS),
    Idea("deadline, TCP with SACK", p.CALLS, (p.SACK_PARTIAL, p.SACK), TIMELY, TRANSFERS),
    Idea("deadline, TCP-Real", p.CALLS, (p.REAL_PARTIAL, p.REAL), TIMELY, TRANSFERS),
    Idea("γ for calls over RAP", p.CALLS, (p.RAP_GAMMA, p.RAP), TIMELY, TRANSFERS),
    Idea("γ for streams, alone", p.STREAMS, (p.RAP_GAMMA, p.RAP), STREAM_LOSS, STREAM, {"line": p.ALONE}),
    Idea(
        "γ for streams, with Reno", p.STREAMS, (p.RAP_GAMMA, p.RAP), STREAM_LOSS, STREAM, {"line": p.BESIDE}
    ),
    Idea("AIAMD as a DCCP profile", p.VIDEO, (p.PROFILE, p.LAYERS), RETURN, SEEN),
    Idea("layers cut anywhere, by the amount", p.VIDEO, (p.FINE, p.LAYERS), PICTURE, TRANSFERS),
    Idea("layers cut anywhere, by smoothness", p.VIDEO, (p.FINE, p.LAYERS), COV, TRANSFERS),
    Idea("AFD instead of RED with Drop-Sel", p.QUEUES, (p.AFD, p.SEL), MOS, TRANSFERS),
    Idea("AFD instead of RED", p.QUEUES, (p.AFD, p.TAIL), MOS, TRANSFERS),
    Idea("CSFQ instead of RED with Drop-Sel", p.QUEUES, (p.CSFQ, p.SEL), MOS, TRANSFERS),
    Idea("CSFQ with 50 ms instead of RED", p.QUEUES, (p.CSFQ_SHORT, p.TAIL), MOS, TRANSFERS),
)
"""In the order of the page."""


def _samples(data: Data, idea: Idea, measure: Measure) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """With the idea and without it: a number per seed, the mean over the points of its grid."""
    found = data.measured(measure, idea.grid)
    axis = "queue" if idea.grid == p.QUEUES else "carrier"
    points = [
        point
        for point in found.points(without=[axis])
        if all(str(point[key]) == label for key, label in idea.fix.items())
    ]
    with_it, without = (
        np.mean([found.samples(**point, **{axis: one}) for point in points], axis=0) for one in idea.pair
    )
    return with_it, without


def _turn(found: Interval, measure: Measure) -> str:
    """Better, worse or no difference, by an interval that does not hold 0."""
    if found.low <= 0 <= found.high:
        return "no difference"
    return "better" if (found.mean > 0) == (measure.better == "higher") else "worse"


def _verdict(benefit: str, cost: str) -> str:
    if benefit == "better":
        return "helps, at a cost" if cost == "worse" else "helps"
    return "does not help" if benefit == "no difference" else "harms"


def _verdicts(data: Data) -> pl.DataFrame:
    rows = []
    for idea in IDEAS:
        (ours, theirs), (others, before) = (_samples(data, idea, one) for one in (idea.benefit, idea.cost))
        gain, price = interval(ours - theirs), interval(others - before)
        rows.append(
            {
                "idea": idea.name,
                "in what": idea.benefit.label,
                "without it": str(interval(theirs)),
                "difference": str(gain),
                "at whose cost": idea.cost.label,
                "without it there": str(interval(before)),
                "difference there": str(price),
                "verdict": _verdict(_turn(gain, idea.benefit), _turn(price, idea.cost)),
            }
        )
    return pl.DataFrame(rows)


TABLES = (
    Table(
        "verdicts",
        "Does it help? Mean differences over the points, paired by seed",
        (p.CALLS, p.STREAMS, p.VIDEO, p.QUEUES),
        _verdicts,
    ),
    _table(
        p.CALLS,
        "Carriers of a contested call",
        CALL_MOS,
        TIMELY,
        measures.loss("voice"),
        measures.delay("voice"),
        TRANSFERS,
    ),
    _table(p.STREAMS, "γ for unreliable streams", STREAM, TRANSFERS, STREAM_LOSS, WAIT),
    _table(p.VIDEO, "Variants of DVRC", PICTURE, SEEN, COV, TRANSFERS, RETURN),
    _table(p.QUEUES, "Queues", MOS, TRANSFERS, OTHER, WAIT),
)
"""In the order of the page."""
