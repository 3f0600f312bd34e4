"""Arguments of the Python API: a wrong one is answered with what is allowed and what to write instead."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.runs.grid import Axes

COLUMNS = ("run", "seed", "scenario", "value", "flow", "group")
"""Columns of the tables that an axis cannot be called like."""

EXAMPLE = "{'flow.voice.transport': ['udp', 'tcp/vegas']}"


def check_scenario(value: object, call: str) -> None:
    """Refuses what is no scenario; `call` is the function that takes it.

    Raises:
        TypeError: It is none.
    """
    from fairwave.scenario import Scenario

    if isinstance(value, Scenario):
        return
    if isinstance(value, (str, PathLike)):
        what, write = f"the path {str(value)!r}", f"fairwave.load({str(value)!r})"
    elif isinstance(value, Mapping):
        what, write = "a dictionary", "fairwave.Scenario.from_dict(…)"
    else:
        what, write = f"{_short(value)} ({type(value).__name__})", "fairwave.load('calls.toml')"
    raise TypeError(f"{call} takes a scenario, not {what}; write {call}({write}, …)")


def axes(over: object, call: str) -> Axes:
    """What varies, as axes with labels.

    Args:
        over: A dotted path to the values that it takes, or an axis to labels with their overrides.
        call: The function that takes it.

    Raises:
        TypeError: It is no dictionary, or holds what are no values.
        ValueError: An axis has no value, or the name of a column.
    """
    if not isinstance(over, Mapping):
        raise TypeError(
            f"{call} takes what varies as a dictionary of keys to values, not {_short(over)}; write {EXAMPLE}"
        )
    return {
        name: _labels(name, values) for name, values in ((key_text(one), each) for one, each in over.items())
    }


def key_text(key: object) -> str:
    """A key as text; several in a tuple or list are tied, as `"flow.a.count,flow.b.count"` is."""
    return ",".join(map(str, key)) if isinstance(key, (tuple, list)) else str(key)


def _labels(name: str, values: Any) -> Mapping[Any, Any]:
    from fairwave.runs.grid import vary

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
                    f"label {label!r} of the axis {name!r} stands for {_short(overrides)}, but must stand for a "
                    f"dictionary of what it sets; write {{{label!r}: {{'flow.voice.count': 5}}}}"
                )
        labels = values
    elif isinstance(values, Iterable):
        labels = vary(name, values)
    else:
        raise TypeError(
            f"the values of {name!r} are {_short(values)}, but must be a list; write [{_short(values)}]"
        )
    if not labels:
        raise ValueError(f"{name!r} has no values; write for example {EXAMPLE}")
    return labels


def whole(name: str, value: object, example: int = 10) -> int:
    """A whole number of 1 or more.

    Raises:
        TypeError: It is no whole number.
        ValueError: It is less.
    """
    try:
        found = operator.index(value)  # type: ignore[arg-type]  # that is what is asked
    except TypeError:
        found = None
    if found is None or isinstance(value, bool):
        raise TypeError(
            f"{name} is {_short(value)}, but must be a whole number; write for example {name}={example}"
        )
    if found < 1:
        raise ValueError(f"{name} is {found}, but must be 1 or more; write for example {name}={example}")
    return found


def seeds(n: object, given: object) -> Sequence[int]:
    """The seeds that are asked for, by how many or one by one.

    Raises:
        TypeError: They are no whole numbers.
        ValueError: There are none.
    """
    from fairwave.scenario import check_seed

    if given is None:
        return range(1, whole("n", n) + 1)
    if isinstance(given, range):
        found: Sequence[int] = given
    elif isinstance(given, Iterable) and not isinstance(given, (str, Mapping)):
        found = list(given)
        for seed in found:
            check_seed(seed)
    else:
        raise TypeError(
            f"seeds are {_short(given)}, but must be a list; write seeds=[1, 2, 3], or n=10 for the first ten"
        )
    if not found:
        raise ValueError(
            "seeds are empty: nothing would run; write seeds=[1, 2, 3], or n=10 for the first ten"
        )
    return found


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
