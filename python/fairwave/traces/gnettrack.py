"""Logs of G-NetTrack, as the 4G and 5G data sets of Raca et al. (2018 and 2020, MMSys) publish them.

A table with `Timestamp` (`2018.01.18_09.57.54`), `DL_bitrate` and `UL_bitrate` in kb/s, separated by commas or tabs. A
rate holds until the next time; of several rows of one second, the mean counts. A `-` is a missing rate: the last holds.
"""

from __future__ import annotations

import csv
import re
from datetime import datetime, timezone

import numpy as np

from fairwave.traces.trace import (
    Trace,
    TraceError,
    check_ascending,
    column_of,
    made,
    nanoseconds,
    whole_rates,
)

TIME = "Timestamp"
_TIME = re.compile(r"(\d{4})[.-](\d\d)[.-](\d\d)[_ ](\d\d)[.:](\d\d)[.:](\d\d)")
PARTS = {"downlink": "DL_bitrate", "uplink": "UL_bitrate"}
"""Column of each direction."""


def _head(text: str) -> tuple[list[str], str]:
    first = text.lstrip("\ufeff").partition("\n")[0].strip()
    separator = "\t" if "\t" in first else ","
    return [name.strip().strip('"') for name in first.split(separator)], separator


def fits(text: str) -> bool:
    """Whether a text may be a log of G-NetTrack."""
    names, _ = _head(text)
    return TIME in names and any(column in names for column in PARTS.values())


def parse(text: str, name: str, part: str | None) -> Trace:
    """Parses the trace in a text: the downlink unless `part` names the uplink. Messages call the file `name`.

    Raises:
        TraceError: The text holds no trace; the message names the line.
    """
    names, separator = _head(text)
    part = part or "downlink"
    if part not in PARTS or PARTS[part] not in names:
        there = " or ".join(f'`part = "{one}"`' for one, column in PARTS.items() if column in names)
        raise TraceError(f"{name} has no {part:.40}: write {there}")
    places = names.index(TIME), names.index(PARTS[part])
    lines, times, cells = [], [], []
    last = "-"
    for at, row in enumerate(csv.reader(text.splitlines()[1:], delimiter=separator), 2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) <= max(places):
            raise TraceError(
                f"{name}, line {at}: there are {len(row)} columns, but the head has {len(names)}"
            )
        cell = row[places[1]].strip()
        last = cell if cell not in {"", "-"} else last
        if last != "-":
            lines.append(at)
            times.append(_seconds(row[places[0]].strip(), at, name))
            cells.append((at, last))
    if not cells:
        raise TraceError(f"{name} has no rate in {PARTS[part]}: write kb/s")
    rates = column_of(name, cells, f"{PARTS[part]} (kb/s)", 0.0) * 1e3
    seconds, first, members = np.unique(np.array(times), return_index=True, return_inverse=True)
    back = np.flatnonzero(np.diff(times) < 0)
    if back.size:
        raise TraceError(
            f"{name}, line {lines[back[0] + 1]}: its time comes after a later one: sort the rows by time"
        )
    means = np.bincount(members, rates) / np.bincount(members)
    rows = [lines[one] for one in first]
    check_ascending(name, rows, seconds)
    steps = nanoseconds(np.append(np.diff(seconds), seconds[-1] - seconds[-2] if len(seconds) > 1 else 1.0))
    other = [column for one, column in PARTS.items() if one != part and column in names]
    return made(name, steps, whole_rates(name, rows, means), "gnettrack", left_out=(*other, "radio"))


def _seconds(text: str, at: int, name: str) -> float:
    """Returns a time in seconds."""
    numbers = _TIME.fullmatch(text)
    try:
        year, month, day, hour, minute, second = map(int, numbers.groups() if numbers else ())
        return datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc).timestamp()
    except ValueError:
        raise TraceError(
            f"{name}, line {at}: {text[:40]!r} is no time: write for example 2018.01.18_09.57.54"
        ) from None


def text(_trace: Trace) -> str:
    """Refuses to write: a log has radio measurements, and a trace has none.

    Raises:
        TraceError: Always.
    """
    raise TraceError("fairwave reads logs of G-NetTrack and writes none: name a file that ends in .csv")
