"""Which measures of a flow group people see, and in which order: one list for terminal and pages.

What decides whether a group fares well comes first: of calls MOS, R, delay from mouth to ear and packets missed.
Indices that only papers use are shown where `--measures` names them; documents for programs have all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from fairwave.study import measures, watched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.results import Results
    from fairwave.study.measures import Measure

TRANSFERS = frozenset({"transfer", "web"})
"""Kinds of traffic that are wanted as a whole: they have a completion time and no rating as a stream."""


@dataclass(frozen=True)
class Shown:
    """One measure of one flow group.

    Attributes:
        group: The flow group.
        measure: The measure.
        usual: Whether people see it unless they name measures; programs always do.
    """

    group: str
    measure: Measure
    usual: bool = True


def is_transfer(results: Results, group: str) -> bool:
    """Whether a group's units are wanted as a whole: files and pages."""
    return "transfers" in results.tables and group in set(
        results.to_polars("transfers")["group"].cast(pl.String).unique()
    )


def count_transfers(results: Results, group: str) -> int:
    """The most files or pages that a group had in one run."""
    rows = results.to_polars("transfers").filter(pl.col("group").cast(pl.String) == group)
    return int(rows.group_by("run").len()["len"].max() or 0)  # type: ignore[arg-type]  # counts


def is_conversation(results: Results, group: str) -> bool:
    """Whether a group's flows are pairs that talk with each other."""
    return "conversations" in results.tables and group in set(
        results.to_polars("conversations")["group"].cast(pl.String).unique()
    )


def is_bulk(results: Results, group: str) -> bool:
    """Whether a group sends endless data, which has no units."""
    flows = results.to_polars("flows").filter(pl.col("group").cast(pl.String) == group)
    counts = [one for one in ("units_sent", "units_in_flight", "units_skipped") if one in flows.columns]
    return not any(flows[one].sum() for one in counts) and not (
        "quality_note" in flows.columns
        and flows["quality_note"].cast(pl.String).fill_null("").str.len_bytes().sum()
    )


def is_single(results: Results, group: str) -> bool:
    """Whether a group has one flow at most, of which fairness says nothing."""
    flows = results.to_polars("groups").filter(pl.col("group").cast(pl.String) == group)["flows"]
    return not len(flows) or int(flows.max() or 0) < 2  # type: ignore[arg-type]  # counts


def headline(group: str) -> list[Measure]:
    """What comes first of calls, videos and other streams; those that do not apply are not defined."""
    return [
        measures.conversation_mos(group),
        measures.mos(group),
        measures.r_factor(group),
        measures.mouth_to_ear(group),
        watched.decodable(group),
        watched.decodable_layers(group),
        measures.missed(group),
    ]


def of_stream(group: str) -> list[Measure]:
    """What is shown of calls, videos and other streams."""
    return [
        *headline(group),
        measures.worst_mos(group),
        measures.conversation_mos_mean(group),
        measures.round_trip(group),
        measures.double_talk(group),
        measures.double_talk_heard(group),
        measures.loss(group),
        measures.worst_loss(group),
        measures.late_for_playout(group),
        watched.late(group),
        measures.waiting(group),
        watched.sender_wait(group),
        measures.delay(group),
        measures.delay_p95(group),
        measures.jitter(group),
        measures.goodput_per_flow(group),
    ]


def of_transfers(group: str) -> list[Measure]:
    """What is shown of files and pages: how long they take and what they get."""
    return [
        measures.completion(group),
        measures.completion_median(group),
        measures.completion_p95(group),
        measures.slowdown(group),
        measures.unfinished(group),
        measures.goodput(group),
        measures.packet_loss(group),
        measures.retransmitted(group),
    ]


def of_bulk(group: str) -> list[Measure]:
    """What is shown of endless data."""
    return [
        measures.goodput(group),
        measures.worst_goodput(group),
        measures.packet_loss(group),
        measures.retransmitted(group),
    ]


def of_others(results: Results, group: str) -> list[Measure]:
    """What a comparison shows of a group that is not compared."""
    if is_transfer(results, group):
        return [*of_transfers(group)[:5], measures.goodput(group), measures.retransmitted(group)]
    return [
        measures.mos(group),
        watched.decodable(group),
        measures.missed(group),
        measures.goodput(group),
        measures.worst_goodput(group),
        measures.retransmitted(group),
    ]


def of_group(results: Results, group: str, *, brief: bool = False) -> list[Shown]:
    """Every measure of a group, in order; `brief` for what a comparison says of groups that are not compared."""
    if brief:
        chosen = of_others(results, group)
    elif is_transfer(results, group):
        chosen = of_transfers(group)
    elif is_bulk(results, group):
        chosen = of_bulk(group)
    else:
        chosen = of_stream(group)
    found = [Shown(group, one) for one in chosen]
    found.append(Shown(group, measures.fairness(group), usual=not is_single(results, group)))
    found.append(Shown(group, measures.refused(group)))
    if chosen and not brief and not is_transfer(results, group):
        found += [Shown(group, measures.index(group, reading), usual=False) for reading in measures.READINGS]
    return [*found, *(Shown(group, one) for one in measures.own(group))]


def asked(results: Results, names: Sequence[str], group: str) -> list[Shown]:
    """The measures that are asked for by name, of one group: `mos`, or `mos.voice` for that group alone.

    Raises:
        KeyError: No measure has such a name; the message lists them.
    """
    if "all" in names:
        usual = of_group(results, group)
        known = {one.measure.id for one in usual}
        every = [find(group) for find in measures.STANDARD.values()]
        return [Shown(one.group, one.measure) for one in usual] + [
            Shown(group, one) for one in every if one.id not in known
        ]
    found = []
    for name in names:
        bare, dot, whose = name.partition(".")
        if not dot or whose == group:
            found.append(Shown(group, measures.find(bare, group)))
    return found
