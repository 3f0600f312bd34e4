"""Transfers and pages: how long they take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.measuring.measure import EVERY, PERCENT, POSITIVE, TRANSFER, Applies, measure

if TYPE_CHECKING:
    from fairwave.measuring.measure import Numbers
    from fairwave.measuring.parts import Parts
    from fairwave.tables import Table


TABLE = "completions"


@measure(
    "completion", "s", POSITIVE, title="completion time", better="lower", table=TABLE, is_of_one_group=True,
    has_long_tail=True, applies=Applies(TRANSFER, TRANSFER, figure="call"),
)  # fmt: skip
def completion(rows: Table, parts: Parts) -> Numbers:
    """Completion time of transfers, or load time of pages, in s: mean over completed ones.

    Unfinished transfers do not count; the measure `unfinished` gives their share.
    """
    return parts.mean(rows.numbers("mean_s"))


@measure(
    "completion-median", "s", POSITIVE, title="completion time, median", better="lower", table=TABLE,
    is_of_one_group=True, has_long_tail=True, applies=Applies(TRANSFER, TRANSFER),
)  # fmt: skip
def completion_median(rows: Table, parts: Parts) -> Numbers:
    """Median completion time of completed transfers or pages, in s."""
    return parts.mean(rows.numbers("p50_s"))


@measure(
    "completion-p95", "s", POSITIVE, title="completion time, 95th percentile", better="lower", table=TABLE,
    is_of_one_group=True, has_long_tail=True, applies=Applies(TRANSFER, TRANSFER),
)  # fmt: skip
def completion_p95(rows: Table, parts: Parts) -> Numbers:
    """95th percentile of the completion times of completed transfers or pages, in s."""
    return parts.mean(rows.numbers("p95_s"))


@measure(
    "slowdown", "", POSITIVE, better="lower", table=TABLE, is_of_one_group=True, has_long_tail=True,
    applies=Applies(TRANSFER, TRANSFER),
)  # fmt: skip
def slowdown(rows: Table, parts: Parts) -> Numbers:
    """Completion time divided by the payload's time at the narrowest link's rate, mean over completed transfers."""
    return parts.mean(rows.numbers("slowdown"))


@measure(
    "unfinished", "%", PERCENT, better="lower", table=TABLE, is_of_one_group=True, applies=Applies(TRANSFER, TRANSFER)
)  # fmt: skip
def unfinished(rows: Table, parts: Parts) -> Numbers:
    """Transfers or pages that were unfinished at the end of the run, in % of those begun or refused."""
    return parts.share(rows.numbers("unfinished"), rows.numbers("transfers"), 100)


@measure(
    "refused", "%", PERCENT, better="lower", table=TABLE, is_of_one_group=True,
    applies=Applies(EVERY, EVERY, only_above_zero=True),
)  # fmt: skip
def refused(rows: Table, parts: Parts) -> Numbers:
    """Arrivals of flows that were refused because the limit of simultaneous flows was reached, in % of arrivals."""
    return parts.share(rows.numbers("refused"), rows.numbers("transfers"), 100)
