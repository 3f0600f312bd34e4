"""One measure over a grid: a number for each point and seed, ready to be picked, paired and summarised."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.arguments import checked_methods
from fairwave.extras import need
from fairwave.measuring.statistics import Interval, summarise
from fairwave.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

    from fairwave.measuring.measures import Measure


@checked_methods
@dataclass(frozen=True)
class Measured:
    """The values of a measure in each run of a grid.

    Attributes:
        measure: The measure.
        axes: Names of the grid's axes.
        rows: Columns `axes`, `seed`, `value`; `value` is null if the measure is not defined. May be a polars frame.
    """

    measure: Measure
    axes: tuple[str, ...]
    rows: Table

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", Table.from_columns(self.rows))

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The rows as a polars frame.

        Raises:
            fairwave.extras.MissingExtraError: polars is not installed.
        """
        return self.rows.to_polars()

    @property
    def values(self) -> list[float | None]:
        """The measure in each row; None if it is not defined."""
        return [None if math.isnan(one) else one for one in self.rows.numbers("value").tolist()]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The numbers for readers of Arrow's streams (pandas, polars, DuckDB, pyarrow), without copying."""
        return self.frame.__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        """For notebooks: mean and interval per point."""
        from fairwave.notebook import measured

        return measured(self)

    def select(self, **labels: Any) -> Measured:
        """Only the points with these labels; a list of labels keeps each of them.

        Raises:
            KeyError: An axis of that name does not exist.
            ValueError: No point has such a label.
        """
        rows = self.rows
        for axis, label in labels.items():
            if axis not in self.axes:
                raise KeyError(f"no axis {axis!r} here; there are {', '.join(self.axes)}")
            wanted = list(label) if isinstance(label, (list, tuple, set)) else [label]
            known = rows[axis].unique()
            unknown = [one for one in wanted if one not in known]
            if unknown:
                raise ValueError(f"axis {axis!r} has no {unknown[0]!r}; it has {known}")
            rows = rows.take(np.any([rows[axis].is_(one) for one in wanted], axis=0))
        return Measured(self.measure, self.axes, rows)

    def drop_axes(self, *axes: str) -> Measured:
        """The same without these axes, each of which must have one label left.

        Raises:
            ValueError: An axis still has several labels.
        """
        for axis in axes:
            if len(self.rows[axis].unique()) > 1:
                raise ValueError(f"axis {axis!r} still has several labels and cannot be left out")
        rest = {name: column for name, column in self.rows.columns.items() if name not in axes}
        return Measured(self.measure, tuple(axis for axis in self.axes if axis not in axes), Table(rest))

    def averaged(self, *axes: str) -> Measured:
        """Averages over these axes, seed by seed; undefined values are left out."""
        kept = tuple(axis for axis in self.axes if axis not in axes)
        parts = list(self.rows.parted(*kept, "seed"))
        columns = {name: _first(parts, name) for name in (*kept, "seed")}
        means = np.array([_mean(part.numbers("value")) for part in parts], dtype=float)
        return Measured(self.measure, kept, Table({**columns, "value": Column(means, ~np.isnan(means))}))

    def labels(self, axis: str) -> list[Any]:
        """The labels along one axis, in the grid's order."""
        return self.rows[axis].unique()

    def samples(self, **labels: Any) -> NDArray[np.float64]:
        """One number per seed, in order of seeds, at the one point that `labels` select.

        NaN if the measure is not defined: arrays of numbers have no null.

        Raises:
            ValueError: The labels select more than one point.
        """
        part = self.select(**labels).rows
        seeds = part["seed"].values
        if len(set(seeds.tolist())) != part.num_rows:
            loose = [axis for axis in self.axes if len(part[axis].unique()) > 1]
            raise ValueError(f"samples need a single point; still open: {', '.join(loose)}")
        return part.numbers("value")[np.argsort(seeds, kind="stable")]

    def map_seeds(self, **labels: Any) -> dict[int, float]:
        """Each seed with its number, at the one point that `labels` leave.

        Raises:
            ValueError: The labels leave more than one point.
        """
        seeds = sorted(self.select(**labels).rows["seed"].to_list())
        return dict(zip(seeds, self.samples(**labels).tolist(), strict=True))

    def interval(self, **labels: Any) -> Interval:
        """Mean and 95 % interval at one point, cut at the measure's limits."""
        return self.measure.interval(self.samples(**labels))

    def summary(self, by: Sequence[str] | None = None) -> pl.DataFrame:
        """Mean and 95 % interval per point, or per combination of the axes `by`, cut at the measure's limits.

        Values are first averaged over the other axes within each seed, so that `n` remains the number of replications.
        Undefined values are left out; `undefined` counts them.
        """
        need("polars", "tables")
        import polars as pl

        axes = list(by) if by is not None else list(self.axes)
        rest = [axis for axis in self.axes if axis not in axes]
        frame = (self.averaged(*rest) if rest else self).frame
        least, most = self.measure.limits
        return summarise(frame, axes, has_long_tail=self.measure.has_long_tail).with_columns(
            pl.col("low").clip(lower_bound=least), pl.col("high").clip(upper_bound=most)
        )

    def points(self, *, without: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Every combination of labels that occurs, the axes `without` left out."""
        axes = [axis for axis in self.axes if axis not in without]
        if not axes:
            return [{}]
        each = Table({axis: self.rows[axis] for axis in axes})
        return [part.take([0]).to_dicts()[0] for part in each.parted(*axes)]


def _first(parts: Sequence[Table], name: str) -> Column:
    """Values of a column in the first row of each part."""
    each = [part[name].take([0]) for part in parts]
    if not each:
        return Column.from_values([])
    valid = (
        None
        if each[0].valid is None
        else np.concatenate([one.valid for one in each if one.valid is not None])
    )
    return Column(np.concatenate([one.values for one in each]), valid, each[0].words, each[0].plain)


def _mean(values: NDArray[np.float64]) -> float:
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else math.nan
