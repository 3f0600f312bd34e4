"""Reasons for differences between two simulators: data, matched to cases and measures by pattern."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Explanation:
    """One reason. ``cases`` and ``measures`` are shell patterns; ``text`` is the reason, in Markdown."""

    id: str
    cases: tuple[str, ...]
    measures: tuple[str, ...]
    text: str

    def covers(self, case: str, measure: str) -> bool:
        """True where this explains a difference of ``measure`` in ``case``."""
        return any(fnmatchcase(case, pattern) for pattern in self.cases) and any(
            fnmatchcase(measure, pattern) for pattern in self.measures
        )


def read(file: Path) -> list[Explanation]:
    """The explanations in a TOML file: tables ``explanation`` of ``id``, ``cases``, ``measures``, ``text``.

    Raises:
        ValueError: A key is missing, or an id occurs twice.
        RuntimeError: Python is older than 3.11, which has no TOML reader.
    """
    if sys.version_info < (3, 11):
        raise RuntimeError("the validation report needs Python 3.11 or newer, which can read TOML")
    import tomllib

    found: list[Explanation] = []
    for place, table in enumerate(tomllib.loads(file.read_text(encoding="utf-8")).get("explanation", [])):
        missing = {"id", "cases", "measures", "text"} - set(table)
        if missing:
            raise ValueError(f"{file.name}: explanation {place + 1} has no `{'`, `'.join(sorted(missing))}`")
        one = Explanation(table["id"], tuple(table["cases"]), tuple(table["measures"]), table["text"].strip())
        if any(one.id == other.id for other in found):
            raise ValueError(f"{file.name}: two explanations are called `{one.id}`")
        found.append(one)
    return found


def find(explanations: list[Explanation], case: str, measure: str) -> Explanation | None:
    """The first explanation that covers a difference, or None."""
    return next((one for one in explanations if one.covers(case, measure)), None)
