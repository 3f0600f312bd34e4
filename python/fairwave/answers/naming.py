"""How sentences and heads of columns name keys of a scenario, their values, and what is varied."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairwave.answers.labels import spelled
from fairwave.runs.axes import tied

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def short_key(key: str) -> str:
    """A scenario's key as sentences name it: without the table that it is in; tied keys as `a.count = b.count`."""
    return " = ".join(re.sub(r"^(flow|link|topology)\.", "", one) for one in tied(key))


def column_names(keys: Sequence[str]) -> dict[str, str]:
    """Each key as the head of a column: as many of its last parts as tell it apart from the others.

    `topology.bottleneck.rate` is `rate`; next to `link.a>b.rate` it is `bottleneck.rate`.
    """
    parts = {key: key.split(".") for key in keys}
    found = {}
    for key, mine in parts.items():
        if len(tied(key)) > 1:
            found[key] = short_key(key)
            continue
        others = [theirs for other, theirs in parts.items() if other != key]
        length = next(
            (n for n in range(1, len(mine)) if all(theirs[-n:] != mine[-n:] for theirs in others)), len(mine)
        )
        found[key] = ".".join(mine[-length:])
    return found


def written_out(names: Mapping[str, str]) -> str:
    """The keys that heads of columns stand for, in a sentence; empty where heads are the keys."""
    said = ", ".join(f"{name} is {key}" for key, name in names.items() if name != key)
    return f"{said}." if said else ""


@dataclass(frozen=True)
class VariedAxis:
    """What is varied, and how sentences name its values.

    Attributes:
        axis: Name of the axis.
        group: The flow group that is compared.
        key: The scenario's key that takes the values; empty where several keys vary, or where only the axis is known.
    """

    axis: str
    group: str
    key: str = ""

    @property
    def is_own_transport(self) -> bool:
        """Whether the values are transports of the group itself."""
        return self.key == f"flow.{self.group}.transport" or (not self.key and self.axis == "transport")

    def name(self, label: Any) -> str:
        """One alternative: `UDP`, `download.transport = tcp/cubic`."""
        if self.is_own_transport:
            return spelled(label)
        if self.key:
            return f"{short_key(self.key)} = {label}"
        return str(label) if self.axis == "alternative" else f"{self.axis} = {label}"

    def names(self, labels: Sequence[Any]) -> str:
        """Several of them: `UDP and Vegas`, `voice.count = 5 and 10`."""
        if self.is_own_transport:
            return listed([spelled(label) for label in labels])
        if self.axis == "alternative" and not self.key:
            return "; ".join(str(label) for label in labels)
        first, *others = labels
        return listed([self.name(first), *(str(label) for label in others)])

    def describe(self, *labels: Any) -> str:
        """Under which alternatives: `over UDP and Vegas`, `with voice.count = 5 and 10`."""
        return f"{'over' if self.is_own_transport else 'with'} {self.names(labels)}"


MOST_NAMES = 12
"""A list of names has so many."""


def shortened(names: Sequence[str]) -> str:
    """Names with commas between them; of more than `MOST_NAMES` the first three, and how many others there are."""
    if len(names) <= MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:3])} and {len(names) - 3} others"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
