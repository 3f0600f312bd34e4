"""Measures of a flow group that people see, in order: one list for terminal and pages.

The measures that decide the group's quality come first: for calls MOS, R, mouth-to-ear delay and missed packets.
Indices that only papers use are shown if `--measures` names them. Documents for programs contain all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairwave.measuring import measures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.measuring.measures import Measure
    from fairwave.results import Results

TRANSFERS = frozenset({"transfer", "web", "stream"})
"""Kinds of traffic that users want complete: they have a completion time and no rating as a stream."""


@dataclass(frozen=True)
class GroupMeasure:
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
    """Whether users want a group's units complete: files and pages."""
    return "transfers" in results.tables and group in results.rows("transfers")["group"].unique()


def count_transfers(results: Results, group: str) -> int:
    """The most files or pages that a group had in one run."""
    rows = results.rows("transfers").only(group=group)
    return max((part.num_rows for part in rows.parted("run")), default=0)


def is_conversation(results: Results, group: str) -> bool:
    """Whether a group's flows are pairs of conversation partners."""
    return "conversations" in results.tables and group in results.rows("conversations")["group"].unique()


def is_bulk(results: Results, group: str) -> bool:
    """Whether a group sends endless data, which has no units."""
    flows = results.rows("flows").only(group=group)
    # A conference's server forwards packets and counts no units for them.
    if "media" in results.tables and group in results.rows("media")["group"].to_list():
        return False
    counts = [one for one in ("units_sent", "units_in_flight", "units_skipped") if one in flows]
    return not any(np.nansum(flows.numbers(one)) for one in counts) and not (
        "quality_note" in flows and any(flows["quality_note"].to_list())
    )


def most_flows(results: Results, group: str) -> int:
    """The most flows that a group had in one run."""
    flows = results.rows("groups").only(group=group).numbers("flows")
    return int(np.nanmax(flows)) if len(flows) else 0


def kind_of(results: Results, group: str) -> measures.Kind:
    """Returns the kind of a group's traffic."""
    if is_transfer(results, group):
        return "transfer"
    return "bulk" if is_bulk(results, group) else "stream"


def headline(group: str) -> list[Measure]:
    """Returns the leading measures of calls, videos and other streams. Measures that do not apply are undefined."""
    return [one for one in measures.list_measures(group, "stream") if one.applies.headline]


def list_measures(results: Results, group: str, *, brief: bool = False) -> list[GroupMeasure]:
    """Returns every measure of a group, in order; with `brief` the short list for groups that are not compared."""
    kind = kind_of(results, group)
    flows = most_flows(results, group)
    return [
        GroupMeasure(
            group, one, usual=kind in one.applies.to | one.applies.beside and flows >= one.applies.least_flows
        )
        for one in measures.list_measures(group, kind, beside=brief)
    ]


def asked(results: Results, names: Sequence[str], group: str) -> list[GroupMeasure]:
    """Returns the measures with these names, of one group: `mos`, or `mos.voice` for that group alone.

    Raises:
        KeyError: No measure has such a name; the message lists them.
    """
    if "all" in names:
        usual = list_measures(results, group)
        known = {one.measure.id for one in usual}
        every = [find(group) for find in measures.STANDARD.values()]
        return [GroupMeasure(one.group, one.measure) for one in usual] + [
            GroupMeasure(group, one) for one in every if one.id not in known
        ]
    found = []
    for name in names:
        bare, dot, whose = name.partition(".")
        if not dot or whose == group:
            found.append(GroupMeasure(group, measures.find(bare, group)))
    return found
