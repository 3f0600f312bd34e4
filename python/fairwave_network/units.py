"""Quantities as a network's file writes them: text with a unit."""

from __future__ import annotations

import math
import re
from typing import Any

from fairwave import _native

RATES = {"b/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9, "Tb/s": 1e12}
SPANS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}

_QUANTITY = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*([^\s\d]\S*)\s*")


def error(place: str, what: str, write: str) -> _native.ScenarioError:
    """An error about a network: where it is, what is wrong, what to write instead."""
    return _native.ScenarioError(f"error: {place}: {what}; {write}")


def _read(value: Any, units: dict[str, float], place: str, example: str) -> float:
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if found is None or found[2] not in units or not math.isfinite(float(found[1])):
        raise error(
            place,
            f"{value!r:.60} is no quantity with one of the units {', '.join(units)}",
            f"write {example}",
        )
    return float(found[1]) * units[found[2]]


def rate(value: Any, place: str) -> float:
    """Bits per second, above 0."""
    found = _read(value, RATES, place, 'for example "100 Mb/s"')
    if found <= 0:
        raise error(place, "a rate is above 0", 'write for example "100 Mb/s"')
    return found


def span(value: Any, place: str) -> float:
    """Seconds, 0 or more."""
    return _read(value, SPANS, place, 'for example "5 ms"')


def share(value: Any, place: str) -> float:
    """A share from 0 on: `0.3`, or `"30 %"`."""
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
    """A rate as the scenario language reads it: whole bits per second."""
    return f"{round(bits_per_second)} b/s"


def span_text(seconds: float) -> str:
    """A time as the scenario language reads it: whole nanoseconds."""
    return f"{round(seconds * 1e9)} ns"
