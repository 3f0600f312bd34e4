"""The parts of a study besides its claims: data, figures, tables, assumptions and calibrations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Canvas

    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure
    from fairwave.results import Results
    from fairwave.runs.axes import Label
    from fairwave.runs.grid import Grid
    from fairwave_report.figures import Kind


class Data:
    """The results of a study's grids, and measures over them.

    Args:
        results: Grid's id to its results.
    """

    def __init__(self, results: Mapping[str, Results]) -> None:
        self.results = dict(results)
        self._known: dict[tuple[str, int], tuple[Measure, Measured]] = {}

    def measured(self, measure: Measure, grid: str) -> Measured:
        """A measure over a grid, taken once.

        Raises:
            KeyError: That grid has not been run.
        """
        if grid not in self.results:
            raise KeyError(f"grid {grid!r} has not been run; there are {', '.join(self.results)}")
        key = (grid, id(measure))
        if key not in self._known:
            # Keep the measure too, so that its id stays taken.
            self._known[key] = (measure, measure.compute(self.results[grid]))
        return self._known[key][1]


@dataclass(frozen=True)
class Figure:
    """A figure: measures of a grid over an axis, one line per label of another.

    Attributes:
        id: Short name, "000-2"; the stem of its files.
        title: One line.
        grid: Id of the grid it reads.
        measures: The drawn measures, one panel each.
        x: Axis along the horizontal.
        series: Axis with one line or bar per label.
        x_label: Words under the horizontal axis; the axis's name when empty.
        fix: Axes that are held at a label, or at a list of labels.
        source: The paper's figure.
        caption: The main observation and its limits.
        kind: Lines or bars.
        lines: Horizontal lines to compare with, label to value.
        y_from_zero: Whether the vertical axis begins at zero.
        log_x: Whether the horizontal axis is logarithmic.
        panel_titles: Titles above the panels; the measures' when empty.
        draw: Draws everything itself: takes an empty canvas and the data, returns the drawn numbers.
        grids: Further grids that `draw` reads.
        size: Inches, for `draw`.
    """

    id: str
    title: str
    grid: str = ""
    measures: Sequence[Measure] = ()
    x: str = ""
    series: str | None = "transport"
    x_label: str = ""
    fix: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    caption: str = ""
    kind: Kind = "line"
    lines: Mapping[str, float] = field(default_factory=dict)
    y_from_zero: bool = True
    log_x: bool = False
    panel_titles: Sequence[str] = ()
    draw: Callable[[Canvas, Data], pl.DataFrame] | None = None
    grids: tuple[str, ...] = ()
    size: tuple[float, float] | None = None

    def reads(self) -> set[str]:
        """Ids of the grids that it needs."""
        return {one for one in (self.grid, *self.grids) if one}

    def needs(self, grid: Grid) -> Grid:
        """The points of a grid that this figure needs: all, unless axes are held at labels."""
        held = {axis: label for axis, label in self.fix.items() if grid.id == self.grid and axis in grid.axes}

        def keep(labels: dict[str, Label]) -> bool:
            wanted = all(
                labels[axis] in label if isinstance(label, (list, tuple, set)) else labels[axis] == label
                for axis, label in held.items()
            )
            return wanted and (grid.keep is None or grid.keep(labels))

        return replace(grid, keep=keep) if held else grid


@dataclass(frozen=True)
class Table:
    """A table computed from the data.

    Attributes:
        id: Short name; the stem of its files.
        title: One line.
        grids: Ids of the grids it reads.
        build: Computes it.
        source: The paper's table.
        caption: The main observation.
    """

    id: str
    title: str
    grids: tuple[str, ...]
    build: Callable[[Data], pl.DataFrame]
    source: str = ""
    caption: str = ""


@dataclass(frozen=True)
class Assumption:
    """Something that a paper leaves open and the study had to decide.

    Attributes:
        id: Short name.
        statement: The assumption.
        source: Where the gap is, and why it is closed so.
        swept: Ids of the factors that read it otherwise, separated by commas; empty when none does.
    """

    id: str
    statement: str
    source: str = ""
    swept: str = ""


@dataclass(frozen=True)
class Calibration:
    """A parameter that was set so that one named quantity comes out as published.

    Attributes:
        quantity: The fitted quantity.
        target: Its published value, with unit.
        source: Where it is published.
        setting: The parameter and the value found.
        measured: The value of the quantity here, from the data.
    """

    quantity: str
    target: str
    source: str
    setting: str
    measured: Callable[[Data], str] | None = None
    grids: tuple[str, ...] = ()
