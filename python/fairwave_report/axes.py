"""The axes of a grid as figures have them: values of a key as numbers with a unit, where they are some."""

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
"""Values that span a larger ratio, in steps of a similar ratio, are drawn on a logarithmic axis."""


@dataclass(frozen=True)
class GridAxis:
    """What is varied.

    Attributes:
        key: The scenario's key, or the axis's name.
        labels: Its values as they were given, in order.
        values: The same as numbers; empty where they are none.
        unit: Their unit; empty for plain numbers.
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
        """Its name at an axis, with the unit."""
        return f"{short_key(self.key)} ({self.unit})" if self.unit else short_key(self.key)

    @property
    def is_log(self) -> bool:
        """Whether a logarithmic axis fits: over a wide range, in steps that grow with the values."""
        if len(self.values) < 3 or min(self.values) <= 0 or max(self.values) < WIDE * min(self.values):
            return False
        each = sorted(self.values)
        middle = each[len(each) // 2]
        return middle < (each[0] + each[-1]) / 4

    @property
    def is_count(self) -> bool:
        """Whether the values are whole numbers without a unit: no tick belongs between them."""
        return self.is_number and not self.unit and all(float(one).is_integer() for one in self.values)

    def ticks(self) -> list[str]:
        """Its values at an axis that names each; quantities without their unit, which the title has."""
        if self.is_number:
            return [f"{one:.4g}" for one in self.values]
        return [spelled(one) for one in self.labels]


def axis(key: str, labels: Sequence[Any]) -> GridAxis:
    """The axis of a key with its values, numbers in ascending order."""
    values, unit = quantities(labels)
    if not values:
        return GridAxis(key, labels)
    order = sorted(range(len(labels)), key=lambda at: values[at])
    return GridAxis(key, [labels[at] for at in order], [values[at] for at in order], unit)


def quantities(labels: Sequence[Any]) -> tuple[list[float], str]:
    """Labels as numbers and their unit: `500 kb/s` and `1 Mb/s` are 0.5 and 1 Mb/s; nothing where one is no number."""
    read = [_quantity(one) for one in labels]
    if not read or any(one is None for one in read):
        return [], ""
    found = [one for one in read if one is not None]
    units = list(dict.fromkeys(unit for _, unit in found))
    if len(units) == 1:
        return [value for value, _ in found], units[0]
    for kind in (TIMES, RATES, SIZES, SHARES):
        if set(units) <= set(kind):
            # The unit of the largest: numbers of the others stay short.
            unit = max(found, key=lambda one: abs(one[0]) * kind[one[1]])[1]
            return [float(f"{value * kind[mine] / kind[unit]:.12g}") for value, mine in found], unit
    return [], ""


def _quantity(label: Any) -> tuple[float, str] | None:
    """A label's number and unit; nothing where it is none."""
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
    """What stands at the axis of a measure whose name is above it: its unit, or from where to where it goes."""
    if measure.unit:
        return measure.unit
    least, most = measure.limits
    return f"{least:g} to {most:g}" if math.isfinite(least) and math.isfinite(most) else "number"


SPAN = 5.0
"""Colours and axes that fit the values span at least so many of a measure's smallest differences that count."""


def least_span(measure: Measure, means: Iterable[float | None], relevance: Relevance = USUAL) -> float:
    """What an axis or a range of colours spans at least: what does not count looks alike."""
    there = [one for one in means if one is not None and math.isfinite(one)]
    return SPAN * relevance.find(measure).difference(*there)


def heading(measure: Measure, group: str = "") -> str:
    """A measure's name above a figure, with the group before it; names of groups keep their letters."""
    title = measure.title
    if group and title.startswith(f"{group} "):
        return title
    return title[:1].upper() + title[1:]
