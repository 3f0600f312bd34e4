"""The comparisons of claims: 'A is at least B', 'A is highest', 'rises with x', 'is below a line'.

Each takes a measure over a grid (`Measured`) and returns `Evidence`. It compares the points one by one, at every
combination of the open labels, paired by seed.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairwave.measuring.relevance import USUAL, Relevance
from fairwave_study.claims import Comparison, Evidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure

_COUNTING: ContextVar[Relevance] = ContextVar("counting", default=USUAL)


@contextmanager
def counted_by(relevance: Relevance) -> Iterator[None]:
    """Judges claims by these smallest differences within the block."""
    token = _COUNTING.set(relevance)
    try:
        yield
    finally:
        _COUNTING.reset(token)


LITTLE_MOS = 0.1
"""Difference of MOS that people do not notice: the meaning of 'little worse' for a call."""

LITTLE_COST = 0.05
"""Share of goodput that is little: the meaning of 'costs little' for a transfer."""

LITTLE_SEEN = 5.0
"""Percentage points of a video's frames that are a little."""


def counts(measure: Measure, *samples: NDArray[np.float64]) -> float:
    """The smallest difference between these samples of a measure that counts, in its unit."""
    means = [float(np.nanmean(one)) for one in samples if not np.isnan(one).all()]
    return _COUNTING.get().find(measure).difference(*means)


def contrast(
    label: str,
    ours: NDArray[np.float64],
    theirs: NDArray[np.float64],
    measure: Measure,
    side: Literal["above", "below"] = "above",
    *,
    or_equal: bool = False,
) -> Comparison:
    """`ours` minus `theirs`, two values of a measure: they must differ by the smallest difference that counts.

    With `or_equal` the two may be alike.
    """
    relevant = counts(measure, ours, theirs)
    line = (-relevant if side == "above" else relevant) if or_equal else 0.0
    return Comparison(
        label, ours - theirs, line, side, measure.unit, or_equal, relevant=0.0 if or_equal else relevant
    )


def describe_point(point: dict[str, Any]) -> str:
    """A point in words: "flows 80, PER 0.01"."""
    return ", ".join(f"{axis} {label}" for axis, label in point.items())


def _labelled(what: str, point: dict[str, Any]) -> str:
    return f"{what} at {describe_point(point)}" if point else what


def _rivals(measured: Measured, axis: str, one: Any, rivals: Iterable[Any] | None) -> list[Any]:
    others = (
        list(rivals) if rivals is not None else [label for label in measured.labels(axis) if label != one]
    )
    if not others:
        raise ValueError(f"nothing to compare {one!r} with along {axis!r}")
    return others


def _compare(
    measured: Measured,
    one: Any,
    rivals: Iterable[Any] | None,
    axis: str,
    side: Literal["above", "below"],
    *,
    is_strict: bool = True,
    margin: float | None = None,
) -> Evidence:
    """`one` against each rival at every point; unless it `is_strict`, values that are alike satisfy it."""
    comparisons = []
    for rival in _rivals(measured, axis, one, rivals):
        for point in measured.points(without=[axis]):
            ours, theirs = (measured.samples(**point, **{axis: label}) for label in (one, rival))
            label = _labelled(f"{one} − {rival}", point)
            found = contrast(label, ours, theirs, measured.measure, side, or_equal=not is_strict)
            if margin is not None:
                defined = theirs[~np.isnan(theirs)]
                room = margin * abs(float(np.mean(defined))) if len(defined) else 0.0
                found = replace(found, line=-room if side == "above" else room)
            comparisons.append(found)
    return Evidence(comparisons)


def is_at_least(
    measured: Measured,
    one: Any,
    rivals: Iterable[Any] | None = None,
    *,
    axis: str = "transport",
    margin: float | None = None,
) -> Evidence:
    """`one` has at least as much as each rival at every point: they are alike, or differ as claimed.

    A `margin`, a share of the rival's mean, replaces the smallest difference that counts.
    """
    return _compare(measured, one, rivals, axis, "above", is_strict=False, margin=margin)


def is_at_most(
    measured: Measured,
    one: Any,
    rivals: Iterable[Any] | None = None,
    *,
    axis: str = "transport",
    margin: float | None = None,
) -> Evidence:
    """`one` has at most as much as each rival at every point: they are alike, or differ as claimed.

    A `margin`, a share of the rival's mean, replaces the smallest difference that counts.
    """
    return _compare(measured, one, rivals, axis, "below", is_strict=False, margin=margin)


def highest(
    measured: Measured, one: Any, rivals: Iterable[Any] | None = None, *, axis: str = "transport"
) -> Evidence:
    """`one` has more than each rival at every point."""
    return _compare(measured, one, rivals, axis, "above")


def lowest(
    measured: Measured, one: Any, rivals: Iterable[Any] | None = None, *, axis: str = "transport"
) -> Evidence:
    """`one` has less than each rival at every point."""
    return _compare(measured, one, rivals, axis, "below")


def differs(
    measured: Measured,
    axis: str,
    one: Any,
    other: Any,
    line: float = 0.0,
    *,
    below: bool = False,
    factor: float = 1.0,
) -> Evidence:
    """`one` minus `factor` times `other` is above the line (or below it), in the measure's unit, at every point.

    Without line and factor the two must differ by the smallest difference that counts. A line or a factor is a bound
    that the claim states.
    """
    times = "" if factor == 1 else f"{factor:g} × "
    comparisons = []
    for point in measured.points(without=[axis]):
        ours, theirs = (measured.samples(**point, **{axis: label}) for label in (one, other))
        comparisons.append(
            Comparison(
                _labelled(f"{one} − {times}{other}", point),
                ours - factor * theirs,
                line,
                "below" if below else "above",
                measured.measure.unit,
                relevant=counts(measured.measure, ours, theirs) if line == 0 and factor == 1 else 0.0,
            )
        )
    return Evidence(comparisons)


def join(*several: Evidence) -> Evidence:
    """All comparisons together: each of them is needed."""
    return reduce(and_, several)


def is_above(measured: Measured, line: float) -> Evidence:
    """The measure is above `line` (in its unit) at every point."""
    return Evidence(
        [
            Comparison(
                describe_point(point) or measured.measure.title,
                measured.samples(**point),
                line,
                "above",
                measured.measure.unit,
            )
            for point in measured.points()
        ]
    )


def is_below(measured: Measured, line: float) -> Evidence:
    """The measure is below `line` (in its unit) at every point."""
    return Evidence(
        [
            Comparison(
                describe_point(point) or measured.measure.title,
                measured.samples(**point),
                line,
                "below",
                measured.measure.unit,
            )
            for point in measured.points()
        ]
    )


def is_within(measured: Measured, low: float, high: float) -> Evidence:
    """The measure is between `low` and `high` (in its unit) at every point."""
    return is_above(measured, low) & is_below(measured, high)


def rises(measured: Measured, along: str, *, least: float = 0.0) -> Evidence:
    """The measure's slope along a numeric axis, fitted seed by seed, exceeds `least` (unit per unit of the axis)."""
    return _trend(measured, along, "above", least)


def falls(measured: Measured, along: str, *, least: float = 0.0) -> Evidence:
    """The measure's slope along a numeric axis, fitted per seed, is below −`least`."""
    return _trend(measured, along, "below", -least)


def grows_from(measured: Measured, axis: str, first: Any, last: Any, *, factor: float = 1.0) -> Evidence:
    """At `last` the measure exceeds `factor` times its value at `first`."""
    comparisons = []
    for point in measured.points(without=[axis]):
        later, earlier = (measured.samples(**point, **{axis: label}) for label in (last, first))
        comparisons.append(
            Comparison(
                _labelled(f"{axis} {last} − {factor:g} × {axis} {first}", point),
                later - factor * earlier,
                unit=measured.measure.unit,
                relevant=counts(measured.measure, later, earlier) if factor == 1 else 0.0,
            )
        )
    return Evidence(comparisons)


def shrinks_from(measured: Measured, axis: str, first: Any, last: Any, *, factor: float = 1.0) -> Evidence:
    """At `last` the measure is below `factor` times its value at `first`."""
    return Evidence(
        [
            replace(one, side="below")
            for one in grows_from(measured, axis, first, last, factor=factor).comparisons
        ]
    )


def less_steep(
    measured: Measured, one: Any, rivals: Iterable[Any] | None = None, *, along: str, axis: str = "transport"
) -> Evidence:
    """The measure of `one` changes less along a numeric axis than for each rival: |slope|, paired by seed."""
    comparisons = []
    for rival in _rivals(measured, axis, one, rivals):
        for point in measured.points(without=[axis, along]):
            both = [{**point, axis: label} for label in (one, rival)]
            ours, theirs = (np.abs(_slopes(measured, along, each)) for each in both)
            comparisons.append(
                Comparison(
                    _labelled(f"|slope| of {one} − {rival} along {along}", point),
                    ours - theirs,
                    0.0,
                    "below",
                    measured.measure.unit,
                    relevant=_least_slope(measured, along, *both),
                )
            )
    return Evidence(comparisons)


def _slopes(measured: Measured, along: str, point: dict[str, Any]) -> NDArray[np.float64]:
    x = np.asarray(measured.labels(along), dtype=float)
    if len(x) < 2:
        raise ValueError(f"a slope along {along!r} needs two labels or more")
    values = np.stack([measured.samples(**point, **{along: label}) for label in measured.labels(along)])
    centred = (x - x.mean())[:, None]
    slopes: NDArray[np.float64] = (centred * values).sum(axis=0) / (centred**2).sum()
    return slopes


def _least_slope(measured: Measured, along: str, *points: dict[str, Any]) -> float:
    """The smallest slope that counts: the one that adds up to a difference that counts over the whole axis."""
    labels = measured.labels(along)
    each = [measured.samples(**point, **{along: label}) for point in points for label in labels]
    return counts(measured.measure, *each) / float(np.ptp(np.asarray(labels, dtype=float)))


def _trend(measured: Measured, along: str, side: Literal["above", "below"], line: float) -> Evidence:
    unit = f"{measured.measure.unit} per {along}".strip()
    return Evidence(
        [
            Comparison(
                _labelled(f"slope along {along}", point), _slopes(measured, along, point), line, side, unit,
                relevant=0.0 if line else _least_slope(measured, along, point),
            )
            for point in measured.points(without=[along])
        ]
    )  # fmt: skip
