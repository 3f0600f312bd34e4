"""mahimahi's traces: a time in whole milliseconds per line, at which 1504 bytes may be sent.

Opportunities of the same millisecond are spread over it. Opportunities at 0 ms go to the first millisecond.
"""

from __future__ import annotations

import io
import math
import warnings
from typing import TYPE_CHECKING

import numpy as np

from fairwave.foreign import KINDS
from fairwave.traces.trace import OPPORTUNITY, Trace, TraceError, is_number, lines_of, made

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairwave.traces.trace import Whole


LONGEST = KINDS["mahimahi"].span_s or 0.0
"""Longest trace in seconds. Memory holds a number for each millisecond."""

DIGITS = KINDS["mahimahi"].digits or 0


def fits(text: str) -> bool:
    """Whether a text may be mahimahi's."""
    first = next(iter(lines_of(text)), (0, ""))[1].split()
    return len(first) == 1 and is_number(first[0])


def parse(text: str, name: str, _part: str | None) -> Trace:
    """Parses the trace in a text. Messages call the file `name`.

    Raises:
        TraceError: The text holds no trace; the message names the line.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            # Needs 8 bytes per time, much less than a list of words.
            times = np.fromstring(text, np.int64, sep=" ")
        except (ValueError, DeprecationWarning):
            times = np.array([], np.int64)
    is_right = times.size and times[0] >= 0 and (np.diff(times) >= 0).all() and times[-1] <= LONGEST * 1e3
    if not is_right or text.count("\n") + 1 < times.size:
        times = np.fromiter(_whole_times(text, name), np.int64)
    last = int(times[-1])
    if last == 0:
        raise TraceError(f"{name} lasts no time, its last line being 0: write times in ms, the last above 0")
    # An opportunity at t ms is sent in the millisecond before t; an opportunity at 0 goes to the first millisecond.
    counts = np.bincount(np.maximum(times, 1) - 1, minlength=last)
    edges = np.flatnonzero(np.diff(counts)) + 1
    starts = np.concatenate([[0], edges])
    lengths = np.diff(np.concatenate([starts, [last]])) * 1_000_000
    return made(name, lengths, counts[starts] * OPPORTUNITY * 8_000, "mahimahi", opportunities=counts)


def _whole_times(text: str, name: str) -> Iterable[int]:
    """Yields times line by line, to find the line with a mistake."""
    before = -1
    for at, line in enumerate(io.StringIO(text), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not line.strip().isascii() or not line.strip().isdigit() or len(line.strip()) > DIGITS:
            raise TraceError(
                f"{name}, line {at}: {line.strip()[:40]!r} is no time: write whole milliseconds from 0 up"
            )
        if int(line) < max(before, 0):
            raise TraceError(
                f"{name}, line {at}: {int(line)} ms comes after {before} ms: write times in ascending order"
            )
        if int(line) > LONGEST * 1e3:
            raise TraceError(
                f"{name}, line {at}: {int(line)} ms is too late: write up to {LONGEST * 1e3:.0f}"
            )
        before = int(line)
        yield before
    if before < 0:
        raise TraceError(f"{name} has no times: write a time in whole ms per line")


def times_of_opportunities(trace: Trace) -> Whole:
    """Returns the times, in ms, at which another mahimahi opportunity's worth of bytes has passed.

    A trace with opportunities returns them unchanged. For other traces, a last part of less than one opportunity is
    left out.
    """
    if trace.opportunities is not None:
        return np.repeat(np.arange(1, len(trace.opportunities) + 1), trace.opportunities)
    total = math.ceil(trace.duration * 1e3 - 1e-9)
    ends = np.concatenate([[0.0], np.cumsum(trace.lengths) / 1e6])
    sent = np.concatenate([[0.0], np.cumsum(trace.lengths / 1e9 * trace.rates / 8)])
    by = np.floor(np.interp(np.arange(total + 1), ends, sent) / OPPORTUNITY + 1e-9).astype(np.int64)
    return np.repeat(np.arange(1, total + 1), np.diff(by))


def text(trace: Trace) -> str:
    """Formats a trace as the text of a file."""
    times = times_of_opportunities(trace)
    if not times.size:
        raise TraceError(f"this trace lets less than {OPPORTUNITY} bytes through, and mahimahi knows no less")
    return "\n".join(map(str, times.tolist())) + "\n"
