"""Axes of a grid: labels, and the overrides that each label applies to the scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fairwave.arguments import shortened
from fairwave.plain_data import inline

Label = str | int | float


Overrides = Mapping[str, Any]


Axes = Mapping[str, Mapping[Any, Overrides | Callable[[dict[str, Label]], Overrides]]]
"""Name of an axis to its labels, in order, each with its overrides.

Overrides may be a function of the point's labels, such as overrides for one transport only.
"""


COLUMNS = ("run", "seed", "scenario", "value", "flow", "group")
"""Columns of the tables, which cannot be names of axes."""


EXAMPLE = "{'flow.voice.transport': ['udp', 'tcp/vegas']}"


def tied(path: str) -> list[str]:
    """The paths that a text names; several, as in `flow.a.count,flow.b.count`, take the same value."""
    return [one.strip() for one in path.split(",")]


def settings(path: str, value: Any) -> dict[str, Any]:
    """Returns the overrides of an axis at one of its values, for each of its paths."""
    return dict.fromkeys(tied(path), value)


def vary(path: str, values: Iterable[Label]) -> dict[Label, dict[str, Any]]:
    """Makes an axis that sets a path of the scenario, or several tied paths, to each of several values (the labels).

    Raises:
        ValueError: A value is given twice.
    """
    found: dict[Label, dict[str, Any]] = {}
    for value in values:
        label = _label(value)
        if label in found:
            raise ValueError(f"the values of {path!r} hold {value!r:.60} twice; write each value once")
        found[label] = settings(path, value)
    return found


def _label(value: Any) -> Label:
    """Returns a value's label: the value itself, or its TOML for a table or a list."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:  # NumPy's
        value = value.item()
    return inline(value) if isinstance(value, (dict, list, tuple)) else value


def read_axes(over: object, call: str) -> Axes:
    """Reads the varied parameters as axes with labels.

    Args:
        over: A dotted path and its values, or an axis and its labels with their overrides.
        call: The function that takes it.

    Raises:
        TypeError: It is not a dictionary, or has invalid values.
        ValueError: An axis has no value, or the name of a column.
    """
    if not isinstance(over, Mapping):
        raise TypeError(
            f"{call} takes what varies as a dictionary of keys to values, not {shortened(over)}; write {EXAMPLE}"
        )
    return {
        name: _labels(name, values) for name, values in ((key_text(one), each) for one, each in over.items())
    }


def key_text(key: object) -> str:
    """A key as text; several in a tuple or list are tied: `"flow.a.count,flow.b.count"`."""
    return ",".join(map(str, key)) if isinstance(key, (tuple, list)) else str(key)


def _labels(name: str, values: Any) -> Mapping[Any, Any]:
    if name in COLUMNS:
        more = "; for several seeds write seeds=[1, 2]" if name == "seed" else ""
        raise ValueError(f"no axis can be called {name!r}, as a column of the tables is{more}")
    if isinstance(values, str):
        parts = [part.strip() for part in values.split(",")]
        raise TypeError(
            f"the values of {name!r} are the text {values!r}, but must be a list; write {parts!r}"
        )
    if isinstance(values, Mapping):
        for label, overrides in values.items():
            if not (isinstance(overrides, Mapping) or callable(overrides)):
                raise TypeError(
                    f"label {label!r} of the axis {name!r} stands for {shortened(overrides)}, but must stand for a "
                    f"dictionary of what it sets; write {{{label!r}: {{'flow.voice.count': 5}}}}"
                )
        labels = values
    elif isinstance(values, Iterable):
        labels = vary(name, values)
    else:
        raise TypeError(
            f"the values of {name!r} are {shortened(values)}, but must be a list; write [{shortened(values)}]"
        )
    if not labels:
        raise ValueError(f"{name!r} has no values; write for example {EXAMPLE}")
    return labels
