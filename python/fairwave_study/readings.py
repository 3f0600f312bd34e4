"""Readings: the ways to understand a paper, factor by factor, with the admissible values of each factor.

A *factor* is a detail that a paper leaves open, states in two ways, or leaves to its simulator's version. Each way to
close the gap is one of its *values*, admitted by the paper's words or by code. A *reading* takes one value for every
factor. The values are in order of plausibility, ranked before their effect on any claim was known. The first ones
together are the *base reading*, the study's default.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fairwave.foreign import gated, parse_json, read_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from fairwave.runs.axes import Label, Overrides
    from fairwave.runs.grid import Grid
    from fairwave_study.study import Study

Reading = Mapping[str, str]
"""Factor's id to the name of one of its values."""


Changes = Mapping[str, Any] | Callable[[str, "dict[str, Label]"], "Overrides"]
"""Dotted paths to values, or a function that returns them for a grid's id and a point's labels."""


def unknown(what: str, name: str, names: Sequence[str]) -> str:
    """A message about a name that does not exist: the nearest one, and all there are."""
    import difflib

    near = difflib.get_close_matches(name, names, 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"{what} {name!r}{hint}; there are {', '.join(repr(one) for one in names)}"


@dataclass(frozen=True)
class Value:
    """One way to close a gap.

    Attributes:
        name: Short and unique within the factor: "1993", "50 packets".
        admits: The reason: the paper's words in ours, with section or figure, or the simulator's version and file.
        changes: Changes to the study's scenarios, after all axes; empty if the study's code asks for the value by name.
        plausibility: Weight compared with the other values of its factor, in any unit; equal by default.
        flagged: Reason for caution although the words admit it: its effect alone on an empty path. Usually empty.
    """

    name: str
    admits: str = ""
    changes: Changes = field(default_factory=dict)
    plausibility: float = 1.0
    flagged: str = ""

    def __post_init__(self) -> None:
        """Refuses a plausibility that is none."""
        if not 0 < self.plausibility < math.inf:
            raise ValueError(
                f"value {self.name!r} has plausibility {self.plausibility:g}; it is above 0: a value that cannot be is "
                "not admitted"
            )


@dataclass(frozen=True)
class Factor:
    """Something that a paper leaves open, with all that it admits; `fairwave_study.texts` adds its words.

    Attributes:
        id: Short name, as in reading files: "red", "minimum-timeout".
        open: The open detail, one sentence.
        values: In order of plausibility; the first is the base reading's.
        ranking: Why in this order, without a look at the claims.
        kind: Kind of a factor outside the mechanism that the paper describes: "phase effect", "coarse clock",
            "definition". The page shows the effect of each kind. Empty if the factor is part of the mechanism.
    """

    id: str
    open: str = ""
    values: tuple[Value, ...] = ()
    ranking: str = ""
    kind: str = ""

    def value(self, name: str) -> Value:
        """The value of that name.

        Raises:
            LookupError: There is none; the message lists the values.
        """
        for one in self.values:
            if one.name == name:
                return one
        raise LookupError(
            unknown(f"factor {self.id!r} has no value", name, [one.name for one in self.values])
        )


@dataclass(frozen=True)
class Readings:
    """All readings of a study.

    Attributes:
        factors: The factors.
        whole: The study under a reading, with every figure and table.
        essential: The study under a reading, down to its claims and the points on which they rest.
        refuses: Why values do not go together, for those combinations that contradict themselves; empty otherwise.
        shortened: The differences of `essential` from `whole` in size and length, in words; may be empty.
    """

    factors: Sequence[Factor]
    whole: Callable[[Reading], Study]
    essential: Callable[[Reading], Study]
    refuses: Callable[[Reading], str] = lambda _: ""
    shortened: str = ""

    def factor(self, name: str) -> Factor:
        """The factor of that id.

        Raises:
            LookupError: There is none; the message lists the factors.
        """
        for one in self.factors:
            if one.id == name:
                return one
        raise LookupError(unknown("there is no factor", name, [one.id for one in self.factors]))

    def base(self) -> dict[str, str]:
        """The most plausible reading: the first value of every factor."""
        return {one.id: one.values[0].name for one in self.factors}

    def complete(self, part: Reading) -> dict[str, str]:
        """A reading from some of its values, the others being the base reading's.

        Raises:
            LookupError: There is no such factor, or it has no such value.
            ValueError: These values do not go together.
        """
        found = self.base()
        for name, value in part.items():
            found[name] = self.factor(name).value(value).name
        if reason := self.refuses(found):
            raise ValueError(reason)
        return found

    def read(self, path: Path) -> dict[str, str]:
        """A reading from a JSON file of factors to values. Missing factors keep the base value.

        Raises:
            ValueError: It is no such file, or does not fit the study; the message lists the allowed names.
            OSError: It cannot be read.
        """
        found = _plain(path)
        if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
            first = self.factors[0]
            raise ValueError(
                f"{path} is no reading: it is a JSON object of factors to values, such as "
                f"{json.dumps({first.id: first.values[0].name})}"
            )
        try:
            return self.complete(found)
        except LookupError as error:
            raise ValueError(f"{path}: {error}") from None

    def distance(self, reading: Reading) -> int:
        """In how many factors a reading differs from the base."""
        return sum(reading[name] != value for name, value in self.base().items())

    def differs(self, reading: Reading) -> dict[str, str]:
        """The differences from the base."""
        return {name: reading[name] for name, value in self.base().items() if reading[name] != value}

    def apply(self, grid: Grid, reading: Reading) -> Grid:
        """The grid with the changes of the reading's values, set after all axes."""
        changes = [self.factor(name).value(value).changes for name, value in reading.items()]
        return self.changed(grid, *changes)

    @staticmethod
    def changed(grid: Grid, *changes: Changes) -> Grid:
        """The grid with these changes, set after all axes and earlier changes. A table replaces earlier keys in it."""
        before = grid.settings

        def settings(labels: dict[str, Label]) -> Overrides:
            found: dict[str, Any] = dict(before(labels)) if before is not None else {}
            for one in changes:
                later = one(grid.id, labels) if callable(one) else one
                below = tuple(f"{path}." for path in later)
                found = {path: value for path, value in found.items() if not path.startswith(below)} | dict(
                    later
                )
            return found

        return replace(grid, settings=settings)


@gated("reading")
def _plain(path: Path) -> Any:
    """A reading's file as plain data.

    Raises:
        ForeignFileError: It is no JSON, or has a key twice.
        OSError: It cannot be read.
    """
    return parse_json(read_bytes(path, "reading"), str(path), "reading")
