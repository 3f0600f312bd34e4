"""OpenNetLab's traces, as AlphaRTC's gym reads them: JSON with rows of `duration` (ms) and `capacity` (kb/s).

Rows may also have `loss` (a share) and `rtt` (ms; each direction gets half).
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.foreign import parse_json
from fairwave.traces.trace import LONGEST, MOST_RATE, Trace, TraceError, made, nanoseconds

if TYPE_CHECKING:
    from fairwave.traces.trace import Numbers


def fits(text: str) -> bool:
    """Whether a text may be OpenNetLab's."""
    return text.lstrip().startswith("{")


def parse(text: str, name: str, part: str | None) -> Trace:
    """Parses the trace in a text. Messages call the file `name`.

    Raises:
        TraceError: The text holds no trace; the message names the place.
    """
    table = parse_json(text.encode(), name, "trace")
    if not isinstance(table, dict):
        raise TraceError(f"{name} is no JSON object: write one with `uplink` or `downlink`")
    parts = {key: one.get("trace_pattern") for key, one in table.items() if isinstance(one, dict)}
    there = [key for key in ("uplink", "downlink") if parts.get(key)]
    if not there:
        raise TraceError(
            f"{name} has no `trace_pattern` in `uplink` or `downlink`: write one with `duration` and `capacity`"
        )
    if part is None and len(there) > 1:
        raise TraceError(
            f'{name} has an uplink and a downlink: say which by `part = "uplink"` or `part = "downlink"`'
        )
    if part is not None and part not in there:
        raise TraceError(
            f'{name} has no {part} with a trace_pattern, but {there[0]}: write `part = "{there[0]}"`'
        )
    key = part or there[0]
    rows = parts[key]
    if not isinstance(rows, list):
        raise TraceError(f"{name}: {key}.trace_pattern is no list")

    def column(of: str, unit: str, most: float = math.inf, *, needed: bool = True) -> Numbers | None:
        found = []
        for place, row in enumerate(rows):
            value: Any = row.get(of) if isinstance(row, dict) else None
            if value is None and not needed:
                found.append(math.nan)
                continue
            right = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= most
            if not right or not math.isfinite(value) or (of == "duration" and value == 0):
                least = "above 0" if of == "duration" else "from 0"
                noun = "a share" if unit == "share" else f"a number of {unit}"
                allowed = f"{noun} {least}{' up' if math.isinf(most) else f' to {most:g}'}"
                raise TraceError(
                    f"{name}: {key}.trace_pattern[{place}].{of} is {value!r:.60}: write {allowed}"
                )
            found.append(float(value))
        return None if np.isnan(found).all() else np.array(found)

    durations, capacities = (
        column("duration", "ms", LONGEST * 1e3),
        column("capacity", "kb/s", MOST_RATE / 1e3),
    )
    assert durations is not None  # required columns are always present
    assert capacities is not None
    if durations.sum() > LONGEST * 1e3:
        raise TraceError(f"{name} lasts {durations.sum():g} ms: write up to {LONGEST * 1e3:g} ms in all")
    lengths = nanoseconds(durations / 1e3)
    if (lengths == 0).any():
        place = int(np.flatnonzero(lengths == 0)[0])
        raise TraceError(
            f"{name}: {key}.trace_pattern[{place}].duration is less than a nanosecond: write more ms"
        )
    trips, loss = column("rtt", "ms", needed=False), column("loss", "share", 1.0, needed=False)
    left_out = [of for of in ("jitter",) if any(row.get(of) for row in rows if isinstance(row, dict))] + [
        other for other in there if other != key
    ]
    return made(
        name, lengths, np.rint(capacities * 1e3).astype(np.int64), "opennetlab",
        delay=None if trips is None else trips / 2e3, loss=loss, left_out=tuple(left_out),
    )  # fmt: skip


def text(trace: Trace) -> str:
    """Formats a trace as the text of a file."""
    rows = []
    for place, (length, rate) in enumerate(zip(trace.lengths.tolist(), trace.rates.tolist(), strict=True)):
        row = {"duration": length / 1e6, "capacity": rate / 1e3}
        for key, values, scale in (("loss", trace.loss, 1.0), ("rtt", trace.delay, 2e3)):
            if values is not None and not math.isnan(values[place]):
                row[key] = float(values[place]) * scale
        rows.append(row)
    return json.dumps({"type": "video", "downlink": {}, "uplink": {"trace_pattern": rows}}, indent=1) + "\n"
