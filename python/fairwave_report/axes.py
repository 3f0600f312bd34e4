"""Axes of a grid for figures: the values of a key, as numbers with a unit if possible."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairwave.answers.labels import spelled
from fairwave.answers.naming import short_key
from fairwave.ask.wording import RATES, SIZES, TIMES
from fairwave.measuring.relevance import USUAL, Relevance

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairwave.measuring.measures import Measure

SHARES = {"%": 0.01, "": 1.0}
WIDE = 30.0
"""Values with a larger ratio, in steps of a similar ratio, get a logarithmic axis."""


@dataclass(frozen=True)
class GridAxis:
    """One axis of a grid.

    Attributes:
        key: The scenario's key, or the axis's name.
        labels: The values as given, in order.
        values: The same as numbers; empty if a label is not a number.
        unit: Unit of `values`; empty for plain numbers.
    """

    key: str
    labels: Sequence[Any]
    values: Sequence[float] = ()
    unit: str = ""

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers or quantities of one kind."""
        return bool(self.values)

    @property
    def title(self) -> str:
        """Name for the axis of a figure, with the unit."""
        return f"{short_key(self.key)} ({self.unit})" if self.unit else short_key(self.key)

    @property
    def is_log(self) -> bool:
        """Whether a logarithmic axis fits: a wide range, in steps that grow with the values."""
        if len(self.values) < 3 or min(self.values) <= 0 or max(self.values) < WIDE * min(self.values):
            return False
        each = sorted(self.values)
        middle = each[len(each) // 2]
        return middle < (each[0] + each[-1]) / 4

    @property
    def is_count(self) -> bool:
        """Whether the values are whole numbers without a unit, so that no tick belongs between them."""
        return self.is_number and not self.unit and all(float(one).is_integer() for one in self.values)

    def ticks(self) -> list[str]:
        """Returns tick labels, one per value. Quantities have no unit here, because the title states it."""
        if self.is_number:
            return [f"{one:.4g}" for one in self.values]
        return [spelled(one) for one in self.labels]


def axis(key: str, labels: Sequence[Any]) -> GridAxis:
    """Returns the axis of a key, with numbers in ascending order."""
    values, unit = quantities(labels)
    if not values:
        return GridAxis(key, labels)
    order = sorted(range(len(labels)), key=lambda at: values[at])
    return GridAxis(key, [labels[at] for at in order], [values[at] for at in order], unit)


def quantities(labels: Sequence[Any]) -> tuple[list[float], str]:
    """Reads labels as numbers with a common unit (`500 kb/s`, `1 Mb/s`: 0.5, 1 Mb/s); none if one is no number."""
    read = [_quantity(one) for one in labels]
    if not read or any(one is None for one in read):
        return [], ""
    found = [one for one in read if one is not None]
    units = list(dict.fromkeys(unit for _, unit in found))
    if len(units) == 1:
        return [value for value, _ in found], units[0]
    for kind in (TIMES, RATES, SIZES, SHARES):
        if set(units) <= set(kind):
            # Use the unit of the largest value, so that the other numbers stay short.
            unit = max(found, key=lambda one: abs(one[0]) * kind[one[1]])[1]
            return [float(f"{value * kind[mine] / kind[unit]:.12g}") for value, mine in found], unit
    return [], ""


def _quantity(label: Any) -> tuple[float, str] | None:
    """Returns a label's number and unit, or None if it is not a number."""
    if isinstance(label, bool):
        return None
    if isinstance(label, (int, float)):
        return (float(label), "") if math.isfinite(label) else None
    found = re.fullmatch(r"\s*[\"']?(-?\d*\.?\d+(?:[eE]-?\d+)?)\s*([A-Za-z/%]*)[\"']?\s*", str(label))
    if found is None:
        return None
    known = {"", "%", *TIMES, *RATES, *SIZES}
    return (float(found[1]), found[2]) if found[2] in known else None


def scale_label(measure: Measure) -> str:
    """Returns the axis label below a measure's name: its unit, or its range."""
    if measure.unit:
        return measure.unit
    least, most = measure.limits
    return f"{least:g} to {most:g}" if math.isfinite(least) and math.isfinite(most) else "number"


SPAN = 5.0
"""Colours and fitted axes span at least this many of a measure's smallest relevant differences."""


def least_span(measure: Measure, means: Iterable[float | None], relevance: Relevance = USUAL) -> float:
    """Returns the least span of an axis or a colour range, so that irrelevant differences look alike."""
    there = [one for one in means if one is not None and math.isfinite(one)]
    return SPAN * relevance.find(measure).difference(*there)


def heading(measure: Measure, group: str = "") -> str:
    """Returns a measure's name for a figure, after the group's name. Names of groups keep their case."""
    title = measure.title
    if group and title.startswith(f"{group} "):
        return title
    return title[:1].upper() + title[1:]
