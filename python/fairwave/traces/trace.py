"""A rate over time, and the checks that all trace formats share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.foreign import KINDS, ForeignFileError, check_span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Whole = NDArray[np.int64]

OPPORTUNITY = 1504
"""Bytes that one of mahimahi's opportunities lets through."""

MOST_RATE = 1e15
"""Largest plausible rate, bit/s. A larger value has a wrong unit."""

LONGEST = KINDS["trace"].span_s or 0.0
"""Longest plausible trace, in seconds. A longer trace has a wrong unit."""

DIGITS = 400
"""Largest number of characters of a number."""


class TraceError(ForeignFileError):
    """A file is no trace; the message names the place, its content, and the allowed content."""


@dataclass(frozen=True)
class Trace:
    """A rate over time.

    Attributes:
        lengths: Duration of each step in nanoseconds, above 0.
        rates: Rate of each step, bit/s.
        format: Format of the source file.
        opportunities: Number of mahimahi opportunities in each millisecond; None for other formats.
        delay: One-way delay of each step in seconds, NaN for unknown; None if all are unknown.
        loss: Share of lost packets of each step, in the same form.
        left_out: Names of other contents of the file.
    """

    lengths: Whole
    rates: Whole
    format: str
    opportunities: Whole | None = None
    delay: Numbers | None = None
    loss: Numbers | None = None
    left_out: tuple[str, ...] = ()

    @property
    def duration(self) -> float:
        """Duration in seconds."""
        return float(self.lengths.sum()) / 1e9

    @property
    def size(self) -> int:
        """Bytes that the trace lets through, rounded down."""
        if self.opportunities is not None:
            return int(self.opportunities.sum()) * OPPORTUNITY
        return (
            sum(int(one) * int(rate) for one, rate in zip(self.lengths, self.rates, strict=True))
            // 8_000_000_000
        )

    def bin_rates(self, width: float) -> tuple[Numbers, Numbers]:
        """Returns the mean rate of each bin of this width: begins (s) and rates (bit/s).

        An incomplete last bin is left out, unless it is the only one.
        """
        ends = np.concatenate([[0.0], np.cumsum(self.lengths) / 1e9])
        sent = np.concatenate([[0.0], np.cumsum(self.lengths / 1e9 * self.rates)])
        # The factor corrects for rounding that leaves a whole number of bins slightly too small.
        bins = max(1, math.floor(self.duration / width * (1 + 1e-12)))
        edges = np.minimum(np.arange(bins + 1) * width, self.duration)
        return edges[:-1], np.diff(np.interp(edges, ends, sent)) / np.diff(edges)


def made(name: str, lengths: Whole, rates: Whole, kind: str, **more: Any) -> Trace:
    """Creates a trace and checks its duration and that a rate is above 0. Steps must have positive length.

    Raises:
        ForeignFileError: The trace lasts too long.
        TraceError: No rate is above 0.
    """
    check_span(float(lengths.sum(dtype=float)) / 1e9, name, "mahimahi" if kind == "mahimahi" else "trace")
    if not (rates > 0).any():
        raise TraceError(f"{name} lets nothing through: write one rate above 0 at least")
    return Trace(lengths, rates, kind, **more)


def nanoseconds(seconds: Numbers) -> Whole:
    """Converts seconds to whole nanoseconds, rounded to nearest."""
    return np.rint(seconds * 1e9).astype(np.int64)


def lines_of(text: str) -> list[tuple[int, str]]:
    """Returns the lines that are neither empty nor comments, with their numbers."""
    lines = enumerate(text.splitlines(), 1)
    return [(at, line) for at, line in lines if line.strip() and not line.lstrip().startswith("#")]


def first_line(text: str) -> str:
    """Returns the first line that is not empty, cut short."""
    return next(line for line in text.splitlines() if line.strip())[:60]


def is_number(word: str) -> bool:
    """Whether a word can be read as a number."""
    if len(word) > DIGITS:
        return False
    try:
        float(word)
    except ValueError:
        return False
    return True


def column_of(
    name: str, cells: Sequence[tuple[int, str]], unit: str, least: float, most: float = math.inf
) -> Numbers:
    """Parses the numbers of a column and checks their range."""
    found = np.empty(len(cells))
    for place, (at, cell) in enumerate(cells):
        value = float(cell) if is_number(cell) else math.nan
        if not (least <= value <= most) or math.isinf(value):
            allowed = f"from {least:g} up" if least > -1 else "finite"
            allowed = f"from {least:g} to {most:g}" if math.isfinite(most) else allowed
            raise TraceError(
                f"{name}, line {at}: {cell.strip()[:40]!r} is no number of {unit:.60}: write a number {allowed}"
            )
        found[place] = value
    return found


def check_ascending(name: str, lines: Sequence[int], times: Numbers) -> None:
    """Checks that times increase by at least a nanosecond and that the trace is not too long."""
    if not abs(times - times[0]).max() <= LONGEST:
        place = int(np.flatnonzero(~(abs(times - times[0]) <= LONGEST))[0])
        raise TraceError(
            f"{name}, line {lines[place]}: {times[place]:.10g} s is {abs(times[place] - times[0]):.6g} s from the "
            f"first time: write traces of up to {LONGEST:g} s"
        )
    late = np.flatnonzero(np.diff(nanoseconds(times - times[0])) <= 0)
    if late.size:
        place = int(late[0]) + 1
        raise TraceError(
            f"{name}, line {lines[place]}: {times[place]:.10g} s comes after {times[place - 1]:.10g} s: write times in "
            "ascending order, each once"
        )


def whole_rates(name: str, lines: Sequence[int], rates: Numbers) -> Whole:
    """Rounds rates to whole bits per second and checks their limit."""
    over = np.flatnonzero(rates > MOST_RATE)
    if over.size:
        at = lines[int(over[0])]
        raise TraceError(
            f"{name}, line {at}: {rates[over[0]]:g} b/s is no rate: write up to {MOST_RATE:g} b/s"
        )
    return np.rint(rates).astype(np.int64)


def decimal(value: int, places: int) -> str:
    """Formats an integer divided by a power of ten, without trailing zeros."""
    whole, rest = divmod(value, 10**places)
    return f"{whole}.{rest:0{places}d}".rstrip("0") if rest else str(whole)
