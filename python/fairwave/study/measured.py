"""One measure over a grid: a number for each point and seed, ready to be picked, paired and summarised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairwave.study.statistics import Interval, interval, summarise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairwave.study.measures import Measure


DEFINED = pl.col("value").fill_nan(None)
"""The values, null where there is none; means and counts skip these."""


@dataclass(frozen=True)
class Measured:
    """What a measure came to, in each run of a grid.

    Attributes:
        measure: What was measured.
        axes: Names of the grid's axes.
        frame: Columns `axes`, `seed`, `value`; `value` is null where the measure is not defined.
    """

    measure: Measure
    axes: tuple[str, ...]
    frame: pl.DataFrame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The numbers for whatever reads Arrow's streams (pandas, polars, DuckDB, pyarrow), without copying."""
        return self.frame.__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        """For notebooks: mean and interval per point."""
        from fairwave.report.notebook import measured

        return measured(self)

    def at(self, **labels: Any) -> Measured:
        """Only the points with these labels; a list of labels keeps each of them.

        Raises:
            KeyError: An axis of that name does not exist.
            ValueError: No point has such a label.
        """
        frame = self.frame
        for axis, label in labels.items():
            if axis not in self.axes:
                raise KeyError(f"no axis {axis!r} here; there are {', '.join(self.axes)}")
            wanted = list(label) if isinstance(label, (list, tuple, set)) else [label]
            known = frame[axis].unique().to_list()
            unknown = [one for one in wanted if one not in known]
            if unknown:
                raise ValueError(f"axis {axis!r} has no {unknown[0]!r}; it has {known}")
            frame = frame.filter(pl.col(axis).is_in(wanted))
        return Measured(self.measure, self.axes, frame)

    def without(self, *axes: str) -> Measured:
        """The same without these axes, which must each be down to one label.

        Raises:
            ValueError: An axis still has several labels.
        """
        for axis in axes:
            if self.frame[axis].n_unique() > 1:
                raise ValueError(f"axis {axis!r} still has several labels and cannot be left out")
        return Measured(
            self.measure, tuple(axis for axis in self.axes if axis not in axes), self.frame.drop(axes)
        )

    def averaged(self, *axes: str) -> Measured:
        """The same with these axes averaged away, seed by seed; what is not defined is left out."""
        kept = tuple(axis for axis in self.axes if axis not in axes)
        mean = self.frame.group_by([*kept, "seed"], maintain_order=True).agg(DEFINED.mean())
        return Measured(self.measure, kept, mean)

    def labels(self, axis: str) -> list[Any]:
        """The labels along one axis, in the grid's order."""
        return self.frame[axis].unique(maintain_order=True).to_list()

    def samples(self, **labels: Any) -> NDArray[np.float64]:
        """One number per seed, in order of seeds, at the one point that `labels` leave.

        NaN where the measure is not defined: arrays of numbers have no null.

        Raises:
            ValueError: The labels leave more than one point.
        """
        part = self.at(**labels).frame
        if part["seed"].n_unique() != part.height:
            loose = [axis for axis in self.axes if part[axis].n_unique() > 1]
            raise ValueError(f"samples need a single point; still open: {', '.join(loose)}")
        return part.sort("seed")["value"].to_numpy().astype(float)

    def interval(self, **labels: Any) -> Interval:
        """Mean and 95 % interval at one point, which ends where the measure ends."""
        return interval(self.samples(**labels)).within(self.measure.limits)

    def summary(self, by: Sequence[str] | None = None) -> pl.DataFrame:
        """Mean and 95 % interval per point, or per combination of the axes `by`; intervals end where the measure ends.

        What the other axes hold is averaged within each seed first, so that `n` stays the number of replications.
        Where the measure is not defined it is left out; `undefined` says how often.
        """
        axes = list(by) if by is not None else list(self.axes)
        frame = self.frame
        if len(axes) < len(self.axes):
            frame = frame.group_by([*axes, "seed"], maintain_order=True).agg(DEFINED.mean())
        least, most = self.measure.limits
        return summarise(frame, axes).with_columns(
            pl.col("low").clip(lower_bound=least), pl.col("high").clip(upper_bound=most)
        )

    def points(self, *, without: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Every combination of labels that occurs, the axes `without` left out."""
        axes = [axis for axis in self.axes if axis not in without]
        if not axes:
            return [{}]
        return self.frame.select(axes).unique(maintain_order=True).to_dicts()
