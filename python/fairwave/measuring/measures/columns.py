"""Measures that are a column of a table, for any column: of flow groups and of links."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from fairwave.measuring.measure import (
    POSITIVE,
    UNBOUNDED,
    Measure,
    Reduction,
    RowReduction,
    name_of,
    rows_of_one_group,
)

if TYPE_CHECKING:
    from fairwave.measuring.measure import Limits
    from fairwave.measuring.parts import PartValues
    from fairwave.results import Results


@cache
def share_of(column: str, whole: str, scale: float = 1.0) -> PartValues:
    """The sum of one column over the sum of another."""
    return lambda rows, parts: parts.share(rows.numbers(column), rows.numbers(whole), scale)


@cache
def mean_of(column: str, scale: float = 1.0) -> PartValues:
    """The mean of a column."""
    return lambda rows, parts: parts.mean(rows.numbers(column)) * scale


def reduce_flows(group: str | None, value: PartValues) -> Reduction:
    """A number for each run from the rows of its flows."""
    return RowReduction("flows", group, value)


def link(column: str, name: str, title: str, unit: str = "", scale: float = 1.0) -> Measure:
    """A column of the `links` table for the link direction `name`, for example `mean_queue_packets` of `r2>r3`."""

    def reduce(results: Results) -> dict[str, Any]:
        rows = results.rows("links").only(link=name)
        return {"run": rows["run"].to_list(), "value": rows.numbers(column) * scale}

    return Measure(f"{column}:{name}", title, unit, reduce, table="links", limits=POSITIVE)


def group_column(
    column: str,
    title: str,
    group: str | None,
    unit: str = "",
    scale: float = 1.0,
    *,
    id: str = "",  # noqa: A002  # it is the measure's id
    better: Literal["higher", "lower"] | None = None,
    limits: Limits = UNBOUNDED,
    table: str = "groups",
    over: str = "",
    has_long_tail: bool = False,
) -> Measure:
    """A column of the `groups` table, which the simulator measures over all flows of a group.

    Args:
        column: Name of the column.
        title: Name for axes and tables, without group and unit.
        group: Name of the group; when None, the only group of the runs.
        unit: Unit after scaling.
        scale: Factor.
        id: Short name; the column's when empty.
        better: Which direction is good.
        limits: Least and greatest value, after scaling.
        table: Another table with one row per group.
        over: Column of the denominator, for a share.
        has_long_tail: Whether few runs usually exceed the others by far.

    Raises:
        ValueError: On use: no group is named and the runs have several.
    """
    # There is one row for each run and group.
    reduce = RowReduction(
        rows_of_one_group(title, table, group),
        group,
        share_of(column, over, scale) if over else mean_of(column, scale),
    )
    return Measure(
        id or column, name_of(title, group), unit, reduce, better, table=table, limits=limits,
        has_long_tail=has_long_tail,
    )  # fmt: skip
