"""Logs of downloads in mobile networks.

HSDPA in Norway (Riiser et al. 2013, MMSys) and 4G in Ghent (van der Hooft et al. 2016, IEEE Communications Letters).

Both have six columns: time, time since the start in ms, latitude, longitude, bytes since the row before, and the
milliseconds in which they came. A row without milliseconds has no rate and is left out if it has no bytes either.
"""

from __future__ import annotations

import numpy as np

from fairwave.traces.trace import (
    LONGEST,
    Trace,
    TraceError,
    column_of,
    is_number,
    lines_of,
    made,
    nanoseconds,
    whole_rates,
)

COLUMNS = 6


def fits(text: str) -> bool:
    """Whether a text may be such a log."""
    first = next(iter(lines_of(text)), (0, ""))[1].split()
    return len(first) == COLUMNS and all(map(is_number, first))


def parse(text: str, name: str, _part: str | None) -> Trace:
    """Parses the trace in a text. Messages call the file `name`.

    Raises:
        TraceError: The text holds no trace; the message names the line.
    """
    rows = [(at, line.split()) for at, line in lines_of(text)]
    for at, words in rows:
        if len(words) != COLUMNS:
            raise TraceError(
                f"{name}, line {at}: there are {len(words)} columns: write time, ms, latitude, longitude, bytes and ms"
            )
    sizes = column_of(name, [(at, words[4]) for at, words in rows], "bytes", 0.0)
    times = column_of(name, [(at, words[5]) for at, words in rows], "milliseconds", 0.0, LONGEST * 1e3)
    kept = nanoseconds(times / 1e3) > 0
    lost = np.flatnonzero(~kept & (sizes > 0))
    if lost.size:
        raise TraceError(
            f"{name}, line {rows[lost[0]][0]}: {sizes[lost[0]]:g} bytes came in 0 ms: write the time they took"
        )
    if not kept.any():
        raise TraceError(f"{name} has no row with a time: write one at least")
    rates = whole_rates(
        name, [at for (at, _), one in zip(rows, kept, strict=True) if one], sizes[kept] * 8e3 / times[kept]
    )
    return made(name, nanoseconds(times[kept] / 1e3), rates, "downloads", left_out=("position",))


def text(_trace: Trace) -> str:
    """Refuses to write: a log has positions, and a trace has none.

    Raises:
        TraceError: Always.
    """
    raise TraceError("fairwave reads logs of downloads and writes none: name a file that ends in .csv")
