"""A criterion: a question of a standard, with a scenario, a bound fixed beforehand, and a figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave_study.claims import Claim, Comparison, Evidence, Verdict
from fairwave_study.comparisons import describe_point
from fairwave_study.parts import Figure

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from matplotlib.figure import Figure as Canvas

    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure
    from fairwave.runs.grid import Grid
    from fairwave_study.parts import Data

WORDS = {Verdict.REPRODUCED: "met", Verdict.NOT_REPRODUCED: "not met", Verdict.UNDECIDED: "undecided"}
"""Names of the verdicts about a criterion."""


@dataclass(frozen=True)
class Criterion:
    """A question of a standard.

    Attributes:
        id: Short name, also for its grid and its figure.
        section: The standard's section: "RFC 9743 §5.1.1".
        title: One line.
        line: The bound to meet, a sentence with numbers.
        grid: The runs.
        test: Comparisons that decide about the bound.
        measures: Measures of the figure, a panel each.
        x: Axis along the figure's horizontal.
        x_label: Label of the horizontal axis.
        series: Axis of the figure's lines.
        caption: Description and caveats.
        log_x: Whether the horizontal axis is logarithmic.
        draw: Draws the figure instead.
    """

    id: str
    section: str
    title: str
    line: str
    grid: Grid
    test: Callable[[Data], Evidence]
    measures: Sequence[Measure]
    x: str
    x_label: str = ""
    series: str = "controller"
    caption: str = ""
    log_x: bool = False
    draw: Callable[[Canvas, Data], pl.DataFrame] | None = None
    fix: Mapping[str, Any] = field(default_factory=dict)

    def claim(self) -> Claim:
        """Returns the criterion as a claim for judgement."""
        return Claim(
            self.id, f"{self.title}: {self.line}", self.section, (self.grid.id,), self.test, words=WORDS
        )

    def figure(self) -> Figure:
        """Returns the criterion's figure."""
        return Figure(
            id=self.id,
            title=self.title,
            grid=self.grid.id,
            measures=self.measures,
            x=self.x,
            x_label=self.x_label,
            series=None if self.x == self.series else self.series,
            fix=self.fix,
            source=self.section,
            caption=f"{self.caption} Met if {self.line}.".strip(),
            kind="line" if self._is_numeric() else "bar",
            log_x=self.log_x,
            draw=self.draw,
        )

    def _is_numeric(self) -> bool:
        return all(isinstance(label, (int, float)) for label in self.grid.axes.get(self.x, {"": None}))


def check_above_share(measured: Measured, one: Any, rival: Any, axis: str, share: float) -> Evidence:
    """Compares: `one` has more than this share of the rival's value, at every point, seed by seed."""
    return _shares(measured, one, rival, axis, share, "above")


def check_below_share(measured: Measured, one: Any, rival: Any, axis: str, share: float) -> Evidence:
    """Compares: `one` has less than this multiple of the rival's value, at every point, seed by seed."""
    return _shares(measured, one, rival, axis, share, "below")


def check_below_plus(measured: Measured, one: Any, rival: Any, axis: str, more: float) -> Evidence:
    """Compares: `one` exceeds the rival by at most `more` (in the measure's unit), at every point and seed."""
    return Evidence(
        [
            Comparison(
                f"{measured.measure.title}: {one} − {rival}{at}",
                ours - theirs,
                more,
                "below",
                measured.measure.unit,
                or_equal=True,
            )
            for at, ours, theirs in _pairs(measured, one, rival, axis)
        ]
    )


def check_above_plus(measured: Measured, one: Any, rival: Any, axis: str, less: float) -> Evidence:
    """Compares: `one` has at least the rival's value minus `less` (in the measure's unit), at every point and seed."""
    return Evidence(
        [
            Comparison(
                f"{measured.measure.title}: {one} − {rival}{at}",
                ours - theirs,
                -less,
                "above",
                measured.measure.unit,
                or_equal=True,
            )
            for at, ours, theirs in _pairs(measured, one, rival, axis)
        ]
    )


def _shares(measured: Measured, one: Any, rival: Any, axis: str, share: float, side: Any) -> Evidence:
    return Evidence(
        [
            Comparison(
                f"{measured.measure.title}: {one} − {share:g} × {rival}{at}",
                ours - share * theirs,
                0.0,
                side,
                measured.measure.unit,
                or_equal=True,
            )
            for at, ours, theirs in _pairs(measured, one, rival, axis)
        ]
    )


def _pairs(
    measured: Measured, one: Any, rival: Any, axis: str
) -> list[tuple[str, np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    return [
        (
            f" at {describe_point(point)}" if point else "",
            measured.samples(**point, **{axis: one}),
            measured.samples(**point, **{axis: rival}),
        )
        for point in measured.points(without=[axis])
    ]
