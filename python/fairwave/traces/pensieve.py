"""Pensieve's traces: two columns, seconds and the rate in Mb/s since the row before.

So the first row gives only the time at which the trace begins, as in Pensieve's simulator.
"""

from __future__ import annotations

import numpy as np

from fairwave.traces.trace import (
    LONGEST,
    Trace,
    TraceError,
    check_ascending,
    column_of,
    decimal,
    is_number,
    lines_of,
    made,
    nanoseconds,
    whole_rates,
)


def fits(text: str) -> bool:
    """Whether a text may be Pensieve's."""
    first = next(iter(lines_of(text)), (0, ""))[1].split()
    return len(first) == 2 and all(map(is_number, first))


def parse(text: str, name: str, _part: str | None) -> Trace:
    """Parses the trace in a text. Messages call the file `name`.

    Raises:
        TraceError: The text holds no trace; the message names the line.
    """
    rows = []
    for at, line in lines_of(text):
        words = line.split()
        if len(words) != 2:
            raise TraceError(
                f"{name}, line {at}: {line.strip()[:40]!r} has {len(words)} columns: write seconds and Mb/s"
            )
        rows.append((at, words))
    if len(rows) < 2:
        raise TraceError(
            f"{name} has {len(rows)} row: write two at least, as each rate holds since the row before"
        )
    times = column_of(name, [(at, words[0]) for at, words in rows], "seconds", -LONGEST * 1e3)
    rates = column_of(name, [(at, words[1]) for at, words in rows], "Mb/s", 0.0) * 1e6
    check_ascending(name, [at for at, _ in rows], times)
    lengths = np.diff(nanoseconds(times - times[0]))
    return made(name, lengths, whole_rates(name, [at for at, _ in rows], rates)[1:], "pensieve")


def text(trace: Trace) -> str:
    """Formats a trace as the text of a file."""
    ends = np.cumsum(trace.lengths).tolist()
    rows = zip(ends, trace.rates.tolist(), strict=True)
    first = f"0 {decimal(int(trace.rates[0]), 6)}"
    return "\n".join([first, *(f"{decimal(end, 9)} {decimal(rate, 6)}" for end, rate in rows)]) + "\n"
