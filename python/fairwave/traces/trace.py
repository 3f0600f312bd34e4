"""A rate over time, and what all formats ask of the numbers that they hold."""

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
"""Bits per second; more was meant as less."""

LONGEST = KINDS["trace"].span_s or 0.0
"""Seconds; a longer trace was meant as a shorter one."""

DIGITS = 400
"""A number of more characters is none."""


class TraceError(ForeignFileError):
    """A file is no trace; the message says where, what is there, and what is allowed."""


@dataclass(frozen=True)
class Trace:
    """A rate over time.

    Attributes:
        lengths: How long each step holds, nanoseconds, above 0.
        rates: Its rate, bits per second.
        format: Of the file from which it comes.
        opportunities: Of mahimahi's: how many there are in each millisecond; None of others.
        delay: Of each step the one-way delay in seconds, NaN where it is not said; None where nothing says so.
        loss: Likewise the share of packets that are lost.
        left_out: What the file holds beside that, in words.
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
        """Seconds."""
        return float(self.lengths.sum()) / 1e9

    @property
    def size(self) -> int:
        """Bytes that it lets through, rounded down."""
        if self.opportunities is not None:
            return int(self.opportunities.sum()) * OPPORTUNITY
        return (
            sum(int(one) * int(rate) for one, rate in zip(self.lengths, self.rates, strict=True))
            // 8_000_000_000
        )

    def bin_rates(self, width: float) -> tuple[Numbers, Numbers]:
        """The mean rate of each bin of this length: beginnings (s) and rates (b/s).

        A last bin that is not whole is left out, unless it is the only one.
        """
        ends = np.concatenate([[0.0], np.cumsum(self.lengths) / 1e9])
        sent = np.concatenate([[0.0], np.cumsum(self.lengths / 1e9 * self.rates)])
        # A whole number of bins that rounding has left a little below one.
        bins = max(1, math.floor(self.duration / width * (1 + 1e-12)))
        edges = np.minimum(np.arange(bins + 1) * width, self.duration)
        return edges[:-1], np.diff(np.interp(edges, ends, sent)) / np.diff(edges)


def made(name: str, lengths: Whole, rates: Whole, kind: str, **more: Any) -> Trace:
    """A trace with at least one rate above 0, in steps of positive length.

    Raises:
        ForeignFileError: It lasts too long.
        TraceError: No rate is above 0.
    """
    check_span(float(lengths.sum(dtype=float)) / 1e9, name, "mahimahi" if kind == "mahimahi" else "trace")
    if not (rates > 0).any():
        raise TraceError(f"{name} lets nothing through: write one rate above 0 at least")
    return Trace(lengths, rates, kind, **more)


def nanoseconds(seconds: Numbers) -> Whole:
    """Times in whole nanoseconds, to the nearest."""
    return np.rint(seconds * 1e9).astype(np.int64)


def lines_of(text: str) -> list[tuple[int, str]]:
    """Lines that say something, with their numbers."""
    lines = enumerate(text.splitlines(), 1)
    return [(at, line) for at, line in lines if line.strip() and not line.lstrip().startswith("#")]


def first_line(text: str) -> str:
    """The first line that says something, cut short."""
    return next(line for line in text.splitlines() if line.strip())[:60]


def is_number(word: str) -> bool:
    """Whether a word is read as a number."""
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
    """Numbers of a column within their range."""
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
    """Times that go on by a nanosecond at least."""
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
    """Rates in whole bits per second, to the nearest."""
    over = np.flatnonzero(rates > MOST_RATE)
    if over.size:
        at = lines[int(over[0])]
        raise TraceError(
            f"{name}, line {at}: {rates[over[0]]:g} b/s is no rate: write up to {MOST_RATE:g} b/s"
        )
    return np.rint(rates).astype(np.int64)


def decimal(value: int, places: int) -> str:
    """An integer over a power of ten, without needless zeros."""
    whole, rest = divmod(value, 10**places)
    return f"{whole}.{rest:0{places}d}".rstrip("0") if rest else str(whole)
