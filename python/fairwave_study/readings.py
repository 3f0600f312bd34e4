"""Readings: how else a paper can be understood, factor by factor, and what each factor admits.

What a paper leaves open, states in two ways, or left to its simulator's version is a *factor*. Each way to close it is
one of its *values*, with the words or the code that admit it. A *reading* takes one value for every factor. The values
stand in the order of their plausibility, judged without a look at what they do to any claim. The first ones together
are the *base reading*, the study's default.
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
"""Dotted paths to values, or a function of a grid's id and a point's labels that answers with them."""


def unknown(what: str, name: str, names: Sequence[str]) -> str:
    """A message about a name that does not exist: the nearest one, and all there are."""
    import difflib

    near = difflib.get_close_matches(name, names, 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"{what} {name!r}{hint}; there are {', '.join(repr(one) for one in names)}"


@dataclass(frozen=True)
class Value:
    """One way to close a gap; `fairwave_study.texts` adds its words where these stand in a file.

    Attributes:
        name: Short and unique within the factor: "1993", "50 packets".
        admits: What admits it: the paper's words in ours, with section or figure, or the simulator's version and file.
        changes: What it sets in the study's scenarios, after all axes; nothing where the study's code asks for the
            value by name.
        plausibility: How likely it is beside the other values of its factor, in any unit; equal where nothing is said.
        flagged: Why a reader should take it with care though the words admit it: what it does alone on an empty path;
            empty where there is no reason to.
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
        open: What is open, one sentence.
        values: In order of plausibility; the first is the base reading's.
        ranking: Why in this order, without a look at the claims.
        kind: Of which kind it is where it is no part of the mechanism that the paper describes: "phase effect",
            "coarse clock", "definition"; the page tells what each kind brings about. Empty where it is a part.
    """

    id: str
    open: str = ""
    values: tuple[Value, ...] = ()
    ranking: str = ""
    kind: str = ""

    def value(self, name: str) -> Value:
        """The value of that name.

        Raises:
            LookupError: There is none; the message lists what there is.
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
        factors: What is open.
        whole: The study under a reading, with every figure and table.
        essential: The study under a reading, down to its claims and the points on which they rest.
        refuses: Why values do not go together, for those combinations that contradict themselves; empty otherwise.
        shortened: What `essential` makes smaller or shorter than `whole`, in words; empty where it makes nothing so.
    """

    factors: Sequence[Factor]
    whole: Callable[[Reading], Study]
    essential: Callable[[Reading], Study]
    refuses: Callable[[Reading], str] = lambda _: ""
    shortened: str = ""

    def factor(self, name: str) -> Factor:
        """The factor of that id.

        Raises:
            LookupError: There is none; the message lists what there is.
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
        """A reading from a JSON file of factors to values; what it does not name is the base reading's.

        Raises:
            ValueError: It is no such file, or does not fit the study; the message says what is allowed.
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
        """Only what differs from the base."""
        return {name: reading[name] for name, value in self.base().items() if reading[name] != value}

    def apply(self, grid: Grid, reading: Reading) -> Grid:
        """The grid with what the reading's values change, set after all axes."""
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
        ForeignFileError: It is no JSON, or a key stands twice.
        OSError: It cannot be read.
    """
    return parse_json(read_bytes(path, "reading"), str(path), "reading")
