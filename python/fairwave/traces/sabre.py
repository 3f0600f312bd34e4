"""Sabre's traces: a JSON list of periods with `duration_ms`, `bandwidth_kbps` and `latency_ms`.

Sabre adds the latency to each request (Spiteri et al. 2018, MMSys), so each direction gets half of it.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from fairwave.foreign import parse_json
from fairwave.traces.trace import LONGEST, MOST_RATE, Trace, TraceError, made, nanoseconds

KEYS = (("duration_ms", LONGEST * 1e3), ("bandwidth_kbps", MOST_RATE / 1e3), ("latency_ms", LONGEST * 1e3))
"""Keys of a period, with their largest values."""


def fits(text: str) -> bool:
    """Whether a text may be Sabre's."""
    return text.lstrip().startswith("[") and '"duration_ms"' in text


def parse(text: str, name: str, _part: str | None) -> Trace:
    """Parses the trace in a text. Messages call the file `name`.

    Raises:
        TraceError: The text holds no trace; the message names the place.
    """
    rows = parse_json(text.encode(), name, "trace")
    if not isinstance(rows, list) or not rows:
        raise TraceError(f"{name} is no list of periods: write one with `duration_ms` and `bandwidth_kbps`")
    table = np.array(
        [[_value(row, place, key, most, name) for key, most in KEYS] for place, row in enumerate(rows)]
    )
    lengths = nanoseconds(table[:, 0] / 1e3)
    if (lengths <= 0).any():
        place = int(np.flatnonzero(lengths <= 0)[0])
        raise TraceError(
            f"{name}: [{place}].duration_ms is {rows[place]['duration_ms']!r:.60}: write a number above 0"
        )
    latency = table[:, 2]
    return made(
        name, lengths, np.rint(table[:, 1] * 1e3).astype(np.int64), "sabre",
        delay=None if np.isnan(latency).all() else latency / 2e3,
    )  # fmt: skip


def _value(row: Any, place: int, key: str, most: float, name: str) -> float:
    """Returns a number of a period; NaN if a latency is missing."""
    value = row.get(key) if isinstance(row, dict) else None
    if value is None and key == "latency_ms":
        return math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        raise TraceError(f"{name}: [{place}].{key} is {value!r:.60}: write a number from 0 to {most:g}")
    return float(value)


def text(trace: Trace) -> str:
    """Formats a trace as the text of a file."""
    rows = []
    for place, (length, rate) in enumerate(zip(trace.lengths.tolist(), trace.rates.tolist(), strict=True)):
        known = trace.delay is not None and not math.isnan(trace.delay[place])
        latency = float(trace.delay[place]) * 2e3 if trace.delay is not None and known else 0.0
        rows.append({"duration_ms": length / 1e6, "bandwidth_kbps": rate / 1e3, "latency_ms": latency})
    return json.dumps(rows, indent=1) + "\n"
