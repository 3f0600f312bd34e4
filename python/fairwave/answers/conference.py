"""What each participant of a call sees and hears: flow groups `CALL.FROM>TO`, as `[[call]]` makes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME = re.compile(r"(?P<call>.+)\.(?P<sender>[^.>]+)>(?P<receiver>[^.>]+)")


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

    >>> [found] = calls(["team.ann>sfu", "team.ben>sfu", "team.ann>ben", "team.ben>ann", "file"])
    >>> found.pairs
    {'ben': {'ann': 'team.ann>ben'}, 'ann': {'ben': 'team.ben>ann'}}
    >>> found.uplinks
    {'ann': 'team.ann>sfu', 'ben': 'team.ben>sfu'}
    """
    found: dict[str, dict[tuple[str, str], str]] = {}
    for group in groups:
        if match := _NAME.fullmatch(group):
            ends = (match["sender"], match["receiver"])
            found.setdefault(match["call"], {})[ends] = group
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
