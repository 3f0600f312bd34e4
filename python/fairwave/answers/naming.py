"""Wording for the keys of a scenario, their values, and varied parameters, in sentences and column heads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairwave.answers.labels import spelled
from fairwave.runs.axes import tied

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def short_key(key: str) -> str:
    """A scenario's key without its table, as in sentences; tied keys as `a.count = b.count`."""
    return " = ".join(re.sub(r"^(flow|link|topology)\.", "", one) for one in tied(key))


def column_names(keys: Sequence[str]) -> dict[str, str]:
    """Returns the column head of each key: as few of its last parts as make it unique.

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
    """Returns a sentence with the full keys of abbreviated column heads; empty if no head is abbreviated."""
    said = ", ".join(f"{name} is {key}" for key, name in names.items() if name != key)
    return f"{said}." if said else ""


@dataclass(frozen=True)
class VariedAxis:
    """A varied parameter, and the wording of its values.

    Attributes:
        axis: Name of the axis.
        group: The flow group that is compared.
        key: The varied scenario key; empty if several keys vary, or if only the axis is known.
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
        """Returns the alternatives with a preposition: `over UDP and Vegas`, `with voice.count = 5 and 10`."""
        return f"{'over' if self.is_own_transport else 'with'} {self.names(labels)}"


MOST_NAMES = 12
"""Largest number of names in an unabridged list."""


def shortened(names: Sequence[str]) -> str:
    """Names separated by commas. More than `MOST_NAMES` are abridged to three names and the number of others."""
    if len(names) <= MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:3])} and {len(names) - 3} others"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
