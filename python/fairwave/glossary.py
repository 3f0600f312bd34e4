"""The terms of the glossary, as data: `fairwave explain` shows them.

The terms are in `glossary.md` next to this module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ENTRY = re.compile(
    r"- \*\*(?P<term>[^*]+)\*\*(?P<measures>(?:, `[\w-]+`)*)(?: \((?P<unit>[^)]+)\))?: "
    r"(?P<sentence>[^*].*?\.) \*Source: (?P<source>[^*]+)\.\*"
)
"""Pattern of a line of the page."""


@dataclass(frozen=True)
class Term:
    """A term.

    Attributes:
        term: The heading of its entry: `active queue management (AQM)`.
        sentence: The definition.
        source: Source of the definition, without links.
        measures: The measures that have this meaning.
        abbreviations: Abbreviations in brackets after the term.
        names: All names of the term, letters only: the full heading, the term without abbreviation, the abbreviation.
    """

    term: str
    sentence: str
    source: str
    measures: tuple[str, ...]
    abbreviations: tuple[str, ...]
    names: frozenset[str]


def letters(text: str) -> str:
    """Letters and digits of a text in lower case."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())


@cache
def terms() -> tuple[Term, ...]:
    """Every term, in the order of the page."""
    lines = Path(__file__).with_name("glossary.md").read_text(encoding="utf-8").splitlines()
    return tuple(_term(found) for line in lines if (found := ENTRY.fullmatch(line)))


def _term(found: re.Match[str]) -> Term:
    term = found["term"]
    measures = tuple(re.findall(r"`([\w-]+)`", found["measures"]))
    abbreviations = tuple(
        one for inner in re.findall(r"\(([^)]*)\)", term) for one in re.split(r",\s*", inner)
    )
    names = [term, re.sub(r"\s*\([^)]*\)", "", term), *abbreviations, *measures]
    source = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found["source"])
    known = frozenset(map(letters, names)) - {""}
    return Term(term, found["sentence"], source, measures, abbreviations, known)
