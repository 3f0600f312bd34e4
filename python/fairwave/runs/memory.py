"""Store of completed runs for the lifetime of the process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from fairwave.tables import Tables


class Keep(Protocol):
    """Store of completed runs."""

    def get(self, scenario: str, seed: int) -> Tables | None:
        """The run's tables, if they are stored."""

    def put(self, scenario: str, seed: int, tables: Tables) -> None:
        """Stores a run."""


@dataclass
class Memory:
    """Stores runs for the lifetime of the process."""

    kept: dict[tuple[str, int], Tables] = field(default_factory=dict)

    def get(self, scenario: str, seed: int) -> Tables | None:
        """The run's tables, if they are stored."""
        return self.kept.get((scenario, seed))

    def put(self, scenario: str, seed: int, tables: Tables) -> None:
        """Stores a run."""
        self.kept[scenario, seed] = tables
