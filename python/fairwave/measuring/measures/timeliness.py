"""Timeliness of streams: the real-time performance index, and delayed units."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from fairwave.measuring.measure import (
    BULK,
    PERCENT,
    RATIO,
    STREAM,
    Applies,
    Measure,
    RowReduction,
    name_of,
    register,
)
from fairwave.measuring.measures.columns import share_of
from fairwave.measuring.parts import parted
from fairwave.tables import Column, Table, concatenate

if TYPE_CHECKING:
    from fairwave.measuring.measure import Numbers, Reduction
    from fairwave.measuring.parts import Parts, PartValues
    from fairwave.results import Results


Reading = Literal["gap", "excess-gap", "delay", "sequence"]
"""Definition of *timely*: gap to the previous arrival (paper 000 §4.3), the same in excess of the sender's gap, one-way
delay, gap to the unit numbered one less (paper 001, Algorithm 1 to the letter: late if that unit never arrived)."""

READINGS: tuple[Reading, ...] = ("gap", "excess-gap", "delay", "sequence")

TIMELINESS = "timeliness"

Part = Literal["timely", "delayed"]

IN_DOCUMENTS = Applies(documents=STREAM | BULK)
"""Only documents for programs have the indices, because only papers use them."""


def index(group: str | None = None, reading: Reading = "delay", threshold_s: float | None = None) -> Measure:
    """Real-time performance index (paper 002: video delivery index): timely units over units sent by the application.

    It is the mean of the flows' indices, as in papers 000 and 001; flows that sent nothing have none.

    Args:
        group: Name of the flow group; all flows when None.
        reading: Definition of *timely*.
        threshold_s: The threshold in seconds; the scenario's first when None.
    """
    title = name_of(f"index ({_describe_reading(reading)})", group)
    return Measure(
        f"index-{reading}",
        title,
        "",
        _timeliness("timely", group, reading, threshold_s),
        "higher",
        table=TIMELINESS,
        limits=RATIO,
        scale="index",
        applies=IN_DOCUMENTS,
    )


def index_gap(group: str | None = None) -> Measure:
    """Real-time performance index by the gap to the previous arrival (papers 000, 002), 0 to 1."""
    return index(group, "gap")


def index_excess_gap(group: str | None = None) -> Measure:
    """Real-time performance index by the gap to the previous arrival in excess of the sender's gap, 0 to 1."""
    return index(group, "excess-gap")


def index_sequence(group: str | None = None) -> Measure:
    """Real-time performance index by the gap to the unit numbered one less (paper 001, Algorithm 1), 0 to 1."""
    return index(group, "sequence")


def delayed(
    group: str | None = None, reading: Reading = "delay", threshold_s: float | None = None
) -> Measure:
    """Units that arrived later than the threshold allows, in % of units sent. Arguments as for `index`."""
    title = name_of(f"delayed ({_describe_reading(reading)})", group)
    reduction = _timeliness("delayed", group, reading, threshold_s)
    return Measure(
        f"delayed_{reading}",
        title,
        "%",
        reduction,
        "lower",
        table=TIMELINESS,
        limits=PERCENT,
        scale="delayed",
    )


def index_by_threshold(group: str | None = None, reading: Reading = "delay") -> Measure:
    """The real-time index at every threshold of the scenario, which becomes the axis `threshold` (in ms)."""
    title = name_of(f"index ({_describe_reading(reading)})", group)
    return Measure(
        f"index_by_threshold_{reading}",
        title,
        "",
        _split_thresholds("timely", group, reading),
        "higher",
        ("threshold",),
        TIMELINESS,
        RATIO,
        "index",
    )


def delayed_by_threshold(group: str | None = None, reading: Reading = "delay") -> Measure:
    """Delayed units in % of those sent at every threshold of the scenario, the axis `threshold` (in ms)."""
    title = name_of(f"delayed ({_describe_reading(reading)})", group)
    reduction = _split_thresholds("delayed", group, reading)
    return Measure(
        f"delayed_by_threshold_{reading}",
        title,
        "%",
        reduction,
        "lower",
        ("threshold",),
        TIMELINESS,
        PERCENT,
        "delayed",
    )


def _describe_reading(reading: Reading) -> str:
    words: dict[Reading, str] = {
        "gap": "gap of arrivals",
        "excess-gap": "excess gap",
        "delay": "one-way delay",
        "sequence": "gap by number",
    }
    return words[reading]


def _timely(results: Results, reading: Reading) -> Table:
    """The rows of a reading, each with the number of units that its flow sent, and with its flow's first threshold."""
    flows = results.rows("flows")

    def make(rows: Table) -> Table:
        names = ("run", "group", "flow")
        whole = concatenate({"flows": Table({name: of[name] for name in names})} for of in (flows, rows))[
            "flows"
        ]
        flow = whole.numbered(*names)
        sent = np.full(int(flow.max(initial=-1)) + 1, math.nan)
        sent[flow[: flows.num_rows]] = flows.numbers("units_sent")
        rest = flow[flows.num_rows :]
        found, first = np.unique(rest, return_index=True)
        threshold = rows.numbers("threshold_s")
        firsts = threshold[first][np.searchsorted(found, rest)]
        known = {"units_sent": Column(sent[rest]), "first_threshold_s": Column(firsts)}
        return rows.with_columns(known).take(rows["reading"].is_(reading))

    return results.rows(TIMELINESS).derived((_timely, flows, reading), make)


def _timeliness(part: Part, group: str | None, reading: Reading, threshold_s: float | None) -> Reduction:
    def rows_of(results: Results) -> Table:
        def make(rows: Table) -> Table:
            threshold = rows.numbers("threshold_s")
            if threshold_s is None:
                return rows.take(threshold == rows.numbers("first_threshold_s"))
            return rows.take(np.abs(threshold - threshold_s) < 1e-6)

        return _timely(results, reading).derived((_timeliness, threshold_s), make)

    return RowReduction(rows_of, group, _part(part))


def _split_thresholds(part: Part, group: str | None, reading: Reading) -> Reduction:
    def reduce(results: Results) -> Table:
        rows = _timely(results, reading)
        rows = rows if group is None else rows.only(group=group)
        in_ms = np.round(rows.numbers("threshold_s") * 1e3, 3)
        rows = rows.with_columns({"threshold": Column(in_ms)})
        parts, first = parted(rows, "run", "threshold")
        value = _part(part)(rows, parts)
        return rows.take(first).with_columns({"value": Column(value)})

    return reduce


@cache
def _part(part: Part) -> PartValues:
    """Timely units: each flow's share of its sent units, averaged over flows. Other units: the share over all flows."""
    if part != "timely":
        return share_of(part, "units_sent", 100)

    def value(rows: Table, parts: Parts) -> Numbers:
        sent = rows.numbers("units_sent")
        # Flows that sent nothing have no share.
        return parts.mean(
            np.divide(rows.numbers(part), sent, out=np.full(len(sent), math.nan), where=sent > 0)
        )

    return value


register("index", index, index.__doc__, IN_DOCUMENTS)
register("index-gap", index_gap, index_gap.__doc__, IN_DOCUMENTS)
register("index-excess-gap", index_excess_gap, index_excess_gap.__doc__, IN_DOCUMENTS)
register("index-sequence", index_sequence, index_sequence.__doc__, IN_DOCUMENTS)
register("delayed", delayed, delayed.__doc__, Applies())
