"""What each participant of a call sees and hears: flow groups `CALL-FROM-to-TO`, as `[[call]]` makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairwave.measuring import measures

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairwave.results import Results

WIDEST = 12
"""Of more participants a matrix does not fit a terminal."""

BETWEEN = "-to-"
"""Between sender and receiver in the name of a group."""


@dataclass(frozen=True)
class Call:
    """A call, as the names of its flow groups tell it.

    Attributes:
        name: Of the call.
        pairs: Who receives what whom: receiver to sender to flow group.
        uplinks: With a server: participant to the flow group of what they send to it.
    """

    name: str
    pairs: dict[str, dict[str, str]]
    uplinks: dict[str, str]

    @property
    def groups(self) -> list[str]:
        """All its flow groups."""
        return [*self.uplinks.values(), *(group for of in self.pairs.values() for group in of.values())]


def calls(groups: Iterable[str]) -> list[Call]:
    """The calls among flow groups. Who only receives is a server.

    >>> [found] = calls(
    ...     ["team-ann-to-sfu", "team-ben-to-sfu", "team-ann-to-ben", "team-ben-to-ann", "file", "way-to-go"]
    ... )
    >>> found.pairs
    {'ben': {'ann': 'team-ann-to-ben'}, 'ann': {'ben': 'team-ben-to-ann'}}
    >>> found.uplinks
    {'ann': 'team-ann-to-sfu', 'ben': 'team-ben-to-sfu'}
    """
    parted = [(group, *group.rpartition(BETWEEN)[::2]) for group in groups if BETWEEN in group]
    receivers = sorted({receiver for _, _, receiver in parted}, key=len, reverse=True)
    found: dict[str, dict[tuple[str, str], str]] = {}
    for group, left, receiver in parted:
        # Each participant receives, so the sender is among those who do.
        sender = next((one for one in receivers if left.endswith(f"-{one}")), None)
        if sender:
            found.setdefault(left.removesuffix(f"-{sender}"), {})[sender, receiver] = group
    told = []
    for name, ends in found.items():
        senders = {sender for sender, _ in ends}
        pairs: dict[str, dict[str, str]] = {}
        uplinks: dict[str, str] = {}
        for (sender, receiver), group in ends.items():
            if receiver in senders:
                pairs.setdefault(receiver, {})[sender] = group
            else:
                uplinks[sender] = group
        # One direction alone is no call.
        if len(ends) > 1 and pairs:
            told.append(Call(name, pairs, uplinks))
    return told


def of_results(results: Results) -> list[Call]:
    """The calls of some runs."""
    if "media" not in results.tables:
        return []
    return calls(dict.fromkeys(str(name) for name in results.rows("media")["group"].to_list()))


def matrices(results: Results) -> list[tuple[str, list[str], list[list[str]], str]]:
    """For each call: who sees and hears whom how well. Title, heads, rows and caption of a table.

    A row is a participant, a column one whom they see and hear; a cell is the MOS of the worst stream.
    """
    tables = []
    for call in of_results(results):
        names = list(call.pairs)
        if not 2 < len(names) <= WIDEST:
            continue
        rows = []
        for receiver in names:
            cells = []
            for sender in names:
                group = call.pairs[receiver].get(sender)
                cell = measures.session_mos(group).over(results).interval() if group else None
                cells.append(f"{cell.mean:.2f}" if cell is not None and cell.n else "–")
            rows.append([receiver, *cells])
        caption = "A row is a participant, a column one whom they see and hear: MOS of the worst stream."
        tables.append((f"{call.name}: who sees and hears whom", ["", *names], rows, caption))
    return tables
