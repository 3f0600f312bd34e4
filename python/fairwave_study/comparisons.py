"""The comparisons that claims are made of: 'A is at least B', 'A is highest', 'rises with x', 'lies below a line'.

Each takes a measure over a grid (`Measured`) and answers with `Evidence`. Points are compared one by one, at every
combination of the labels that are left open, seed by seed.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairwave_study.claims import Comparison, Evidence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from fairwave.measuring.measured import Measured

EQUAL_WITHIN = 0.01
"""Share of the rival's mean that 'at least' and 'at most' count as equal."""

LITTLE_MOS = 0.1
"""MOS that people do not notice: what 'little worse' says of a call."""

LITTLE_COST = 0.05
"""Share of goodput that is a little: what 'costs little' says of a transfer."""

LITTLE_SEEN = 5.0
"""Percentage points of a video's frames that are a little."""


def where(point: dict[str, Any]) -> str:
    """A point in words: "flows 80, PER 0.01"."""
    return ", ".join(f"{axis} {label}" for axis, label in point.items())


def _labelled(what: str, point: dict[str, Any]) -> str:
    return f"{what} at {where(point)}" if point else what


def _rivals(measured: Measured, axis: str, one: Any, rivals: Iterable[Any] | None) -> list[Any]:
    others = (
        list(rivals) if rivals is not None else [label for label in measured.labels(axis) if label != one]
    )
    if not others:
        raise ValueError(f"nothing to compare {one!r} with along {axis!r}")
    return others


def _against(
    measured: Measured,
    one: Any,
    rivals: Iterable[Any] | None,
    axis: str,
    side: Literal["above", "below"],
    margin: float,
    *,
    or_equal: bool,
) -> Evidence:
    comparisons = []
    for rival in _rivals(measured, axis, one, rivals):
        for point in measured.points(without=[axis]):
            ours, theirs = (measured.samples(**point, **{axis: label}) for label in (one, rival))
            defined = theirs[~np.isnan(theirs)]
            room = margin * abs(float(np.mean(defined))) if len(defined) else 0.0
            comparisons.append(
                Comparison(
                    _labelled(f"{one} − {rival}", point),
                    ours - theirs,
                    -room if side == "above" else room,
                    side,
                    measured.measure.unit,
                    or_equal,
                )
            )
    return Evidence(comparisons)


def at_least(
    measured: Measured,
    one: Any,
    rivals: Iterable[Any] | None = None,
    *,
    axis: str = "transport",
    margin: float = EQUAL_WITHIN,
) -> Evidence:
    """`one` has at least as much as each rival at every point, where `margin` (share of the rival's mean) is equal."""
    return _against(measured, one, rivals, axis, "above", margin, or_equal=True)


def at_most(
    measured: Measured,
    one: Any,
    rivals: Iterable[Any] | None = None,
    *,
    axis: str = "transport",
    margin: float = EQUAL_WITHIN,
) -> Evidence:
    """`one` has at most as much as each rival at every point, where `margin` (share of the rival's mean) is equal."""
    return _against(measured, one, rivals, axis, "below", margin, or_equal=True)


def highest(
    measured: Measured, one: Any, rivals: Iterable[Any] | None = None, *, axis: str = "transport"
) -> Evidence:
    """`one` has more than each rival at every point."""
    return _against(measured, one, rivals, axis, "above", 0.0, or_equal=False)


def lowest(
    measured: Measured, one: Any, rivals: Iterable[Any] | None = None, *, axis: str = "transport"
) -> Evidence:
    """`one` has less than each rival at every point."""
    return _against(measured, one, rivals, axis, "below", 0.0, or_equal=False)


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
    """`one` less `factor` times `other` lies above the line, in the measure's unit, at every point; or below it."""
    times = "" if factor == 1 else f"{factor:g} × "
    return Evidence(
        [
            Comparison(
                _labelled(f"{one} − {times}{other}", point),
                measured.samples(**point, **{axis: one})
                - factor * measured.samples(**point, **{axis: other}),
                line,
                "below" if below else "above",
                measured.measure.unit,
            )
            for point in measured.points(without=[axis])
        ]
    )


def above(measured: Measured, line: float) -> Evidence:
    """The measure lies above `line` (in its unit) at every point."""
    return Evidence(
        [
            Comparison(
                where(point) or measured.measure.title,
                measured.samples(**point),
                line,
                "above",
                measured.measure.unit,
            )
            for point in measured.points()
        ]
    )


def below(measured: Measured, line: float) -> Evidence:
    """The measure lies below `line` (in its unit) at every point."""
    return Evidence(
        [
            Comparison(
                where(point) or measured.measure.title,
                measured.samples(**point),
                line,
                "below",
                measured.measure.unit,
            )
            for point in measured.points()
        ]
    )


def within(measured: Measured, low: float, high: float) -> Evidence:
    """The measure lies between `low` and `high` (in its unit) at every point."""
    return above(measured, low) & below(measured, high)


def rises(measured: Measured, along: str, *, least: float = 0.0) -> Evidence:
    """The measure's slope along a numeric axis, fitted seed by seed, exceeds `least` (unit per unit of the axis)."""
    return _trend(measured, along, "above", least)


def falls(measured: Measured, along: str, *, least: float = 0.0) -> Evidence:
    """The measure's slope along a numeric axis, fitted seed by seed, lies below −`least`."""
    return _trend(measured, along, "below", -least)


def steps_up(measured: Measured, along: str) -> Evidence:
    """From each label to the next along an axis the measure grows: stricter than `rises`."""
    return _steps(measured, along, "above")


def steps_down(measured: Measured, along: str) -> Evidence:
    """From each label to the next along an axis the measure shrinks: stricter than `falls`."""
    return _steps(measured, along, "below")


def grows_from(measured: Measured, axis: str, first: Any, last: Any, *, factor: float = 1.0) -> Evidence:
    """At `last` the measure exceeds `factor` times what it is at `first`."""
    return Evidence(
        [
            Comparison(
                _labelled(f"{axis} {last} − {factor:g} × {axis} {first}", point),
                measured.samples(**point, **{axis: last})
                - factor * measured.samples(**point, **{axis: first}),
                unit=measured.measure.unit,
            )
            for point in measured.points(without=[axis])
        ]
    )


def shrinks_from(measured: Measured, axis: str, first: Any, last: Any, *, factor: float = 1.0) -> Evidence:
    """At `last` the measure lies below `factor` times what it is at `first`."""
    return Evidence(
        [
            Comparison(one.label, one.samples, one.line, "below", one.unit)
            for one in grows_from(measured, axis, first, last, factor=factor).comparisons
        ]
    )


def less_steep(
    measured: Measured, one: Any, rivals: Iterable[Any] | None = None, *, along: str, axis: str = "transport"
) -> Evidence:
    """The measure of `one` changes less along a numeric axis than that of each rival: |slope| compared seed by seed."""
    comparisons = []
    for rival in _rivals(measured, axis, one, rivals):
        for point in measured.points(without=[axis, along]):
            ours, theirs = (
                np.abs(_slopes(measured, along, {**point, axis: label})) for label in (one, rival)
            )
            label = _labelled(f"|slope| of {one} − {rival} along {along}", point)
            comparisons.append(Comparison(label, ours - theirs, 0.0, "below", measured.measure.unit))
    return Evidence(comparisons)


def _slopes(measured: Measured, along: str, point: dict[str, Any]) -> NDArray[np.float64]:
    x = np.asarray(measured.labels(along), dtype=float)
    if len(x) < 2:
        raise ValueError(f"a slope along {along!r} needs two labels or more")
    values = np.stack([measured.samples(**point, **{along: label}) for label in measured.labels(along)])
    centred = (x - x.mean())[:, None]
    slopes: NDArray[np.float64] = (centred * values).sum(axis=0) / (centred**2).sum()
    return slopes


def _trend(measured: Measured, along: str, side: Literal["above", "below"], line: float) -> Evidence:
    unit = f"{measured.measure.unit} per {along}".strip()
    return Evidence(
        [
            Comparison(
                _labelled(f"slope along {along}", point), _slopes(measured, along, point), line, side, unit
            )
            for point in measured.points(without=[along])
        ]
    )


def _steps(measured: Measured, along: str, side: Literal["above", "below"]) -> Evidence:
    labels = measured.labels(along)
    comparisons = []
    for point in measured.points(without=[along]):
        for earlier, later in itertools.pairwise(labels):
            change = measured.samples(**point, **{along: later}) - measured.samples(
                **point, **{along: earlier}
            )
            label = _labelled(f"{along} {later} − {earlier}", point)
            comparisons.append(Comparison(label, change, 0.0, side, measured.measure.unit))
    return Evidence(comparisons)
