"""The rate of a link from the texts in which graphs describe it, such as the labels of the Topology Zoo.

A text contains a number with a unit ("10 Gbps", "155-599Mbps"), an interface ("8*GbE", "10GE"), or a level of a
hierarchy ("STM-16", "OC-48", "E3"). A range counts as its lower end. "<2.5 Gbps" counts as 2.5 Gb/s.

Sources: ITU-T G.707 Table 6-1 (STM-N, N × 155.52 Mb/s), ANSI T1.105 (OC-N, N × 51.84 Mb/s), ITU-T G.702 (E1 to DS3).
"""

from __future__ import annotations

import math
import re
from typing import Any

PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

TEXTS = ("LinkSpeedRaw", "LinkSpeed", "LinkLabel", "LinkType", "LinkNote", "bandwidth", "capacity", "label")
"""Attributes of an edge whose text can contain a rate, in the order of their precedence."""

HIERARCHY = {"E1": 2.048e6, "E3": 34.368e6, "T1": 1.544e6, "DS1": 1.544e6, "T3": 44.736e6, "DS3": 44.736e6}

_BITS = r"(?:(?:bits?|b)(?:/s(?:ec)?|ps|p/s)?|BPS|B?PS|bE|E|igE|ig-?E|igabit(?: Ethernet)?)"
_UNIT = rf"(?:([KMGT]){_BITS}?|([kmgt]){_BITS})"
_AMOUNT = re.compile(
    rf"(?<![\w.])(\d+(?:\.\d+)?)\s*{_UNIT}?\s*(?:-|–|to)\s*\d+(?:\.\d+)?\s*{_UNIT}(?![A-Za-z])"
    rf"|(?<![\w.])(\d+(?:\.\d+)?)\s*{_UNIT}(?=[^A-Za-z]|x\d|$)"
)
_LEVEL = re.compile(r"(?<!\w)(OC|STM)\s*-?\s*(\d+)", re.IGNORECASE)
_INTERFACE = re.compile(
    r"(?<!\w)(Fast\s*Ethernet|FE|G(?:b|ig)?-?E|Gigabit(?: Ethernet)?|E1|E3|T1|T3|DS-?1|DS-?3)(?!\w)"
)
_TIMES = re.compile(r"(?<![\w.-])(\d{1,3})\s*[x*×]\s*(?=[A-Za-z\d])|(?<=[A-Za-z\d])\s*[x×](\d{1,3})(?!\w)")


def read_rate(text: str) -> float | None:
    """Returns the rate that a text states, bits per second; None if it states none."""
    found = _read_single(text[:200])
    if found is None:
        return None
    times = _TIMES.search(text[:200])
    return found * int(times[1] or times[2]) if times and int(times[1] or times[2]) else found


def _read_single(text: str) -> float | None:
    if level := _LEVEL.search(text):
        count = int(level[2][:6])
        return count * (51.84e6 if level[1].upper() == "OC" else 155.52e6) or None
    bare = _TIMES.sub(" ", text)
    if amount := _AMOUNT.search(bare):
        value = float((amount[1] or amount[6])[:30])
        prefix = next(found for found in (*amount.groups()[1:5], *amount.groups()[6:]) if found).upper()
        return value * PREFIXES[prefix] or None
    if interface := _INTERFACE.search(bare):
        name = re.sub(r"[\s-]", "", interface[1])
        return HIERARCHY.get(name, 100e6 if name.startswith("F") else 1e9)
    return None


def read_described_rate(data: dict[str, Any]) -> tuple[float, str] | None:
    """Returns the rate in the descriptions of an edge, and the attribute with its value; None without one.

    Args:
        data: Attributes of the edge.
    """
    unit = data.get("LinkSpeedUnits")
    speed = _number(data.get("LinkSpeed"))
    if speed is not None and isinstance(unit, str) and unit.strip().upper()[:1] in {"K", "M", "G", "T"}:
        return speed * PREFIXES[
            unit.strip().upper()[:1]
        ], f"LinkSpeed {data['LinkSpeed']!s:.20} {unit.strip():.10}"
    raw = _number(data.get("LinkSpeedRaw"))
    if raw is not None and isinstance(data["LinkSpeedRaw"], str):
        return raw, f"LinkSpeedRaw {data['LinkSpeedRaw']!r:.40}"
    for key in TEXTS:
        value = data.get(key)
        if isinstance(value, str) and (found := read_rate(value)) is not None:
            return found, f"{key} {value.strip()!r:.60}"
    return None


def _number(value: Any) -> float | None:
    """Returns a value above 0 as a number; None for others."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and found > 0 else None
