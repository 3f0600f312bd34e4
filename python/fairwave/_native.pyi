"""Types of the compiled part: thin bindings over the scenario language and the simulator."""

from collections.abc import Iterator, Sequence
from typing import Literal, final

version: str

Column = tuple[Literal["f64", "i64"], bytes] | tuple[Literal["dictionary"], bytes, list[str]]
"""A column in Arrow's layout: little-endian values, or 32-bit indices into a list of strings."""

RawTables = dict[str, dict[str, Column]]
"""Name of a table to names of its columns to columns, in order."""

class ScenarioError(ValueError):
    """A scenario cannot be used; the message names file, line, key, what is allowed and what to write instead."""

class RunError(RuntimeError):
    """A run was refused, or broke an invariant of the simulator."""

@final
class Scenario:
    """A checked scenario."""

    @staticmethod
    def from_text(text: str, file: str = "-") -> Scenario: ...
    @staticmethod
    def schema() -> str: ...
    @staticmethod
    def override_value(text: str) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def hash(self) -> str: ...
    def to_json(self) -> str: ...
    def to_toml(self) -> str: ...
    def with_overrides(self, overrides: str) -> Scenario: ...
    def plan(self, seed: int) -> str: ...

@final
class Batch(Iterator[tuple[int, RawTables]]):
    """Runs in progress on several threads; yields each as it ends. Dropping it begins no further runs."""

    def __init__(self, jobs: Sequence[tuple[Scenario, int]], threads: int | None = None) -> None: ...
    def __iter__(self) -> Batch: ...
    def __next__(self) -> tuple[int, RawTables]: ...
    def cancel(self) -> None: ...

def names() -> dict[str, list[tuple[str, str]]]: ...
def play(
    created: bytes, arrived: bytes, packet_time: int, config: str | None = None
) -> tuple[bytes, bytes]: ...
