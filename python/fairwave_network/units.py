"""Quantities in a network's file: text with a unit."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from fairwave import _native

if TYPE_CHECKING:
    from collections.abc import Callable

RATES = {"b/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9, "Tb/s": 1e12}
SPANS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}

_QUANTITY = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*([^\s\d]\S*)\s*")


def error(place: str, what: str, write: str) -> _native.ScenarioError:
    """Returns an error about a network: place, problem, remedy. Names in it may come from an untrusted file."""
    return _native.ScenarioError(f"error: {shortened(f'{place}: {what}; {write}')}")


def shortened(text: str) -> str:
    """Cuts the longest words of a text, so that an error stays shorter than a screen."""
    return re.sub(r"(\S{200})\S{20,}", r"\1…", text)


MOST_SAID = 5
"""Number of errors about one network that are shown."""


def reword_error(found: _native.ScenarioError, own_place: Callable[[str], str]) -> _native.ScenarioError:
    """Converts an error about a generated scenario to one about the network's file, which the user wrote.

    Args:
        found: The error.
        own_place: Maps a key of the scenario to its source key in the network's file.
    """
    said: dict[str, None] = {}
    for block in str(found).split("\n\n"):
        first, *rest = block.splitlines()
        place = re.search(r"--> [^\n]*\((.*)\)", block)
        where = f"{own_place(place[1])}: " if place else ""
        notes = [line.strip() for line in rest if line.lstrip().startswith("= ")]
        said["\n  ".join([f"error: {shortened(where + first.removeprefix('error: '))}", *notes])] = None
    return _native.ScenarioError("\n\n".join(list(said)[:MOST_SAID]))


def place_in_link(place: str) -> str:
    """Maps a key of a single link's scenario to the key of the network's file."""
    return re.sub(r"^flow\[\d+\]", "mix", re.sub(r"^link\[\d+\]", "links", place))


def _read(value: Any, units: dict[str, float], place: str, example: str) -> float:
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if found is None or found[2] not in units or not math.isfinite(float(found[1])):
        raise error(
            place,
            f"{value!r:.60} is no quantity with one of the units {', '.join(units)}",
            f"write {example}",
        )
    return float(found[1]) * units[found[2]]


MOST_BPS = 1e15
"""The highest rate, in bit/s."""

LONGEST_S = 1e9
"""The longest time, in seconds."""


def checked_rate(bits_per_second: float, place: str) -> float:
    """Checks a link's rate: above 0, at most `MOST_BPS`."""
    if not 0 < bits_per_second <= MOST_BPS:
        raise error(
            place,
            f"{bits_per_second:g} b/s is no rate from above 0 to {MOST_BPS:g} b/s",
            'write for example "100 Mb/s"',
        )
    return bits_per_second


def checked_span(seconds: float, place: str) -> float:
    """Checks a time: 0 to `LONGEST_S`."""
    if not 0 <= seconds <= LONGEST_S:
        raise error(place, f"{seconds:g} s is no time from 0 to {LONGEST_S:g} s", 'write for example "5 ms"')
    return seconds


def rate(value: Any, place: str) -> float:
    """Reads bits per second, above 0."""
    return checked_rate(_read(value, RATES, place, 'for example "100 Mb/s"'), place)


def span(value: Any, place: str) -> float:
    """Reads seconds, 0 or more."""
    return checked_span(_read(value, SPANS, place, 'for example "5 ms"'), place)


def share(value: Any, place: str) -> float:
    """Reads a share, 0 or more: `0.3`, or `"30 %"`."""
    found = math.nan
    if isinstance(value, str):
        number = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*%\s*", value)
        found = float(number[1]) / 100 if number else math.nan
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        found = float(value)
    if not (math.isfinite(found) and found >= 0):
        raise error(place, f"{value!r:.60} is no share from 0 on", 'write for example "30 %"')
    return found


def rate_text(bits_per_second: float) -> str:
    """Formats a rate for the scenario language: whole bits per second."""
    return f"{round(bits_per_second)} b/s"


def span_text(seconds: float) -> str:
    """Formats a time for the scenario language: whole nanoseconds."""
    return f"{round(seconds * 1e9)} ns"
