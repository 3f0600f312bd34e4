"""Traces as tables: a head that names each column with its unit, `time_s,rate_mbps`.

With `time`, a row holds until the next row, and the last row as long as the row before it. Otherwise each row has its
`duration`. `delay` and `loss` are optional. Lines that begin with `#` are ignored, but the first line may be the head.
"""

from __future__ import annotations

import csv
import io
import math
import re
from typing import TYPE_CHECKING

import numpy as np

from fairwave.traces.trace import (
    LONGEST,
    Trace,
    TraceError,
    check_ascending,
    column_of,
    decimal,
    first_line,
    made,
    nanoseconds,
    whole_rates,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairwave.traces.trace import Numbers

TIMES = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0}
BYTES = {
    f"{prefix}{unit}": 8 * worth
    for prefix, worth in {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}.items()
    for unit in ("B/s", "Bps", "Byte/s", "byte/s", "bytes/s", "Bytes/s")
}
"""Units in bytes, with a capital B or the word, and their bits per second."""

CAPITALS = frozenset({"BPS", "KBPS", "MBPS", "GBPS", "B/S", "KB/S", "MB/S", "GB/S"})
"""Ambiguous units: they may count bits or bytes."""

RATES = {
    "bps": 1.0, "b/s": 1.0, "bit/s": 1.0, "kbps": 1e3, "kb/s": 1e3, "kbit/s": 1e3, "mbps": 1e6, "mb/s": 1e6,
    "mbit/s": 1e6, "gbps": 1e9, "gb/s": 1e9, "gbit/s": 1e9,
}  # fmt: skip
SHARES = {"": 1.0, "share": 1.0, "fraction": 1.0, "%": 0.01, "percent": 0.01}
MEANING = {
    "time": ("time", TIMES), "timestamp": ("time", TIMES), "t": ("time", TIMES), "duration": ("duration", TIMES),
    "rate": ("rate", RATES), "bandwidth": ("rate", RATES), "capacity": ("rate", RATES), "throughput": ("rate", RATES),
    "delay": ("delay", TIMES), "loss": ("loss", SHARES),
}  # fmt: skip
"""Names of columns, with their meaning and units."""

HEAD = "time_s,rate_mbps"
"""Example of a head, for messages."""


def _head(text: str) -> tuple[int, str, list[str]] | None:
    """Finds the line that names the columns: line number, separator and names. A comment on the first line counts."""
    lines = [(at, line) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
    for at, line in lines:
        bare = line.lstrip()
        candidate = bare.lstrip("#").strip() if bare.startswith("#") and at == lines[0][0] else bare
        if candidate.startswith("#"):
            continue
        separator = next((one for one in (",", ";", "\t") if one in candidate), " ")
        names = candidate.split() if separator == " " else next(csv.reader([candidate], delimiter=separator))
        meanings = [_meaning(one) for one in names]
        if any(one and one[0] == "rate" for one in meanings):
            return at, separator, names
        if not bare.startswith("#"):
            return None
    return None


def _meaning(name: str) -> tuple[str, str, float | None] | None:
    """Returns a column's meaning, its unit, and the factor of the unit; the factor is None for unknown units."""
    found = re.fullmatch(r"\s*([A-Za-z]+)\s*(?:[_\s]*[(\[]\s*([^)\]]*)\s*[)\]]|_(.+))?\s*", name)
    if found is None or found[1].lower() not in MEANING:
        return None
    what, units = MEANING[found[1].lower()]
    unit = (found[2] or found[3] or "").strip()
    if units is RATES and unit in CAPITALS:
        return what, unit, None
    if units is RATES and unit in BYTES:
        return what, unit, BYTES[unit]
    return what, unit, units.get(unit.lower())


def fits(text: str) -> bool:
    """Whether a text may be a table."""
    return not text.lstrip().startswith(("{", "[")) and _head(text) is not None


def parse(text: str, name: str, _part: str | None) -> Trace:  # noqa: PLR0912  # one branch a mistake
    """Parses the trace in a text. Messages call the file `name`.

    Raises:
        TraceError: The text holds no trace; the message names the line.
    """
    head = _head(text)
    if head is None:
        raise TraceError(f"{name}, line 1: {first_line(text)!r} is no head: write for example {HEAD}")
    begins, separator, names = head
    columns: dict[str, tuple[int, float, str]] = {}
    left_out = []
    for place, one in enumerate(names):
        meaning = _meaning(one)
        if meaning is None:
            left_out.append(one.strip())
            continue
        what, unit, worth = meaning
        if worth is None:
            units = ", ".join(key for key in MEANING[what][1] if key)
            if what == "rate":
                units = "b/s, kb/s, Mb/s, Gb/s (bits), B/s, kB/s, MB/s, GB/s (bytes)"
            raise TraceError(
                f"{name}, line {begins}: column {one.strip()!r:.60} has "
                f"{f'the unit {unit!r:.40}' if unit else 'no unit'}: write one of {units}; for example the head {HEAD}"
            )
        if what in columns:
            raise TraceError(
                f"{name}, line {begins}: two columns of {what}, {columns[what][2]!r:.60} and "
                f"{one.strip()!r:.60}: leave one"
            )
        columns[what] = (place, worth, one.strip())
    if ("time" in columns) == ("duration" in columns):
        many = "both a time and a duration" if "time" in columns else "neither a time nor a duration"
        raise TraceError(f"{name}, line {begins}: {many}: write one of them, for example {HEAD}")
    cells: dict[str, list[tuple[int, str]]] = {what: [] for what in columns}
    lines = text.splitlines()[begins:]
    reader: Iterable[list[str]] = (
        (line.split() for line in lines) if separator == " " else csv.reader(lines, delimiter=separator)
    )
    for at, row in enumerate(reader, begins + 1):
        if not any(cell.strip() for cell in row) or row[0].lstrip().startswith("#"):
            continue
        for what, (place, _, _) in columns.items():
            cells[what].append((at, row[place] if place < len(row) else ""))
    numbers = [at for at, _ in cells["rate"]]
    if not numbers:
        raise TraceError(f"{name} has no rows: write one at least beneath its head")

    def column(what: str, least: float, most: float = math.inf) -> Numbers:
        _, worth, title = columns[what]
        return column_of(name, cells[what], title, least, most / worth) * worth

    rates = whole_rates(name, numbers, column("rate", 0.0))
    if "time" in columns:
        times = column("time", -LONGEST * 1e12)
        if len(times) < 2:
            raise TraceError(f"{name} has one row: write two at least, or a duration instead of a time")
        check_ascending(name, numbers, times)
        steps = np.diff(nanoseconds(times - times[0]))
        lengths = np.concatenate([steps, steps[-1:]])
    else:
        durations = column("duration", 0.0, LONGEST)
        lengths = nanoseconds(durations)
        if (lengths == 0).any():
            at = numbers[int(np.flatnonzero(lengths == 0)[0])]
            raise TraceError(f"{name}, line {at}: a duration of 0: write a time above 0")
    more = {
        what: column(what, 0.0, most)
        for what, most in (("delay", math.inf), ("loss", 1.0))
        if what in columns
    }
    return made(name, lengths, rates, "csv", left_out=tuple(left_out), **more)


def text(trace: Trace) -> str:
    """Formats a trace as the text of a file."""
    out = io.StringIO()
    more = [
        (name, values)
        for name, values in (("delay_s", trace.delay), ("loss", trace.loss))
        if values is not None
    ]
    more = [(name, values) for name, values in more if not np.isnan(values).any()]
    out.write(",".join(["duration_ms", "rate_kbps", *(name for name, _ in more)]) + "\n")
    for place, (length, rate) in enumerate(zip(trace.lengths.tolist(), trace.rates.tolist(), strict=True)):
        cells = [decimal(length, 6), decimal(rate, 3), *(repr(float(values[place])) for _, values in more)]
        out.write(",".join(cells) + "\n")
    return out.getvalue()
