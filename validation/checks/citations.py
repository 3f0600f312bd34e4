"""Which sources the code claims to follow, where, and the test that shows it.

A comment or docstring cites an RFC, a paper of the studies (000 to 004), an ITU-T Recommendation, or authors with a
year. The sections (§), equations, algorithms, tables and annexes that follow it in the same paragraph belong to the
citation. A place without a document belongs to the one that was cited last for the same item, else to the first one
that its file cites.

``citations.toml`` binds citations to tests: tables ``shown`` (``source``, ``places``, ``tests``), and ``background``
(``source``, ``places``, ``why``) for sources that are named and not followed. A document as a whole needs an entry only
if none of its places has one. Studies (``fairwave_studies``) are left out: their figures, equations and claims have a
ledger with a verdict each.

``python -m validation citations`` prints the problems; `make results` renders the page.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT, writing
from validation.writing import folded

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = Path(__file__).with_name("citations.toml")

#: Files whose comments are evidence, not claims.
_EVIDENCE = re.compile(r"(^|/)(tests?|testing|fuzz|storyboards|(\w+_)?clauses|\w+_(tests?|fuzz))\.rs$")

_NAME = r"(?:[A-Z]\. )*(?:(?:Di|Mc)[A-Z]|[A-Z])[a-zéø]+(?:-[A-Z][a-zéø]+)?"
_DOCUMENT = re.compile(
    r"RFC (?P<rfc>\d{4})"
    r"|(?<=\d{4}, )(?P<more>\d{4})(?=[,;.:) ]|$)"
    r"|(?:[Pp]apers? |\b)(?P<paper>00[0-4])(?P<end>–00[0-4])?(?![\d])"
    r"|(?:ITU-T )(?P<itu>[GP]\.\d{3,4}(?:\.\d)?|P\.59)"
    r"|3GPP2 (?P<threegpp2>C\.R\d+)"
    r"|3GPP (?P<threegpp>T[SR] 3\d\.\d{3})"
    r"|\b(?P<g107>G\.1(?:07|13|14|09))\b"
    r"|ISO/IEC (?P<iso>\d+(?:-\d+)?)"
    r"|IEEE (?P<ieee>802\.\d+[a-z]*-\d{4})"
    rf"|(?P<authors>(?!The|Processing){_NAME}(?:, {_NAME})*(?: et al\.| (?:&|and) {_NAME})?,?"
    r" \(?(?:19|20)\d\d)(?=[,;.:) *]|$)"
    rf"|(?P<titled>{_NAME}(?:, {_NAME})*(?: et al\.|,? (?:&|and) {_NAME})?),? [\"*][^\"*]{{5,160}}[\"*],?"
    r"[^.;:\"]{0,60}?\b(?P<year>(?:19|20)\d\d)\b"
    r"|(?P<alias>Kleinrock|PFTK|Mathis et al\.)"
)
_NUMBERED = {
    "rfc": "RFC",
    "more": "RFC",
    "itu": "ITU-T",
    "threegpp2": "3GPP2",
    "threegpp": "3GPP",
    "g107": "ITU-T",
    "iso": "ISO/IEC",
    "ieee": "IEEE",
}
_PLACE = re.compile(
    r"§§? ?(?P<section>[\dIVX]+(?:\.[\dA-Z]+)*)(?P<to>[–-][\d.]*\d)?"
    r"|\bEqs?\. ?\(?(?P<equation>[A-Z]?-?\d+[a-z]?)\)?(?P<rest>(?:(?:, | and |–|, and )\(?[A-Z]?-?\d+[a-z]?\)?)*)"
    r"|\b(?P<named>(?:Algorithm|Appendix|Annex|Table) [\dA-Z]+(?:\.\d+)*)"
)

#: Sources that the code cites by author or name alone. The year is in their first citation.
_ALIASES = {
    "Kleinrock": "Kleinrock 1975",
    "PFTK": "Padhye et al. 1998",
    "Mathis et al.": "Mathis et al. 1997",
}


@dataclass(frozen=True, order=True)
class Citation:
    """A place in a document, cited by an item of a file. ``place`` is empty for the document as a whole."""

    source: str
    place: str
    file: str
    item: str


def collect() -> list[Citation]:
    """Every citation of the code, in order, each once per file and item."""
    found: set[Citation] = set()
    for file in sorted(ROOT.glob("crates/*/src/**/*.rs")):
        name = file.relative_to(ROOT).as_posix()
        if not _EVIDENCE.search(name):
            found.update(_find_citations(name, _rust(file.read_text(encoding="utf-8"))))
    for file in sorted([*ROOT.glob("python/**/*.py"), *ROOT.glob("validation/compare/**/*.py")]):
        name = file.relative_to(ROOT).as_posix()
        if not name.startswith("python/fairwave_studies/"):
            found.update(_find_citations(name, _python(file.read_text(encoding="utf-8"))))
    return sorted(found)


def _find_citations(name: str, paragraphs: Iterator[tuple[str, str]]) -> Iterator[Citation]:
    first, first_paper, before, source, paper = "", "", "", "", ""
    for item, text in paragraphs:
        if not item or item != before:
            source, paper = "", ""
        before, end = item, 0
        tokens = sorted(
            [(match.start(), match, True) for match in _DOCUMENT.finditer(text)]
            + [(match.start(), match, False) for match in _PLACE.finditer(text)],
            key=lambda token: token[0],
        )
        for start, match, is_document in tokens:
            if is_document:
                for source in _documents(match):
                    first = first or source
                    if not source.startswith("RFC"):
                        paper, first_paper = source, first_paper or source
                    yield Citation(source, "", name, item)
            else:
                # RFCs seldom number equations: one belongs to an RFC only if it follows directly.
                far = match["equation"] and (source or first).startswith("RFC") and start - end > 12
                owner = (paper or first_paper or source or first) if far else (source or first)
                for place in _places(match) if owner else []:
                    yield Citation(owner, place, name, item)
            end = match.end()


def _documents(match: re.Match[str]) -> list[str]:
    for group, publisher in _NUMBERED.items():
        if match[group]:
            return [f"{publisher} {match[group]}"]
    if match["paper"]:
        last = int((match["end"] or match["paper"])[-1])
        return [f"paper {number:03d}" for number in range(int(match["paper"]), last + 1)]
    if match["alias"]:
        return [_ALIASES[match["alias"]]]
    if match["titled"]:
        return [_signed(match["titled"], match["year"])]
    authors, year = re.sub(r",? \(?(\d{4})$", r"\n\1", match["authors"]).split("\n")
    return [_signed(authors, year)]


def _signed(authors: str, year: str) -> str:
    names = re.split(r",? (?:&|and) |, ", re.sub(r"\b[A-Z]\. ", "", authors))
    return (f"{names[0]} et al." if len(names) > 2 else " & ".join(names)) + f" {year}"


def _places(match: re.Match[str]) -> list[str]:
    if match["section"]:
        return [f"§{match['section']}"]
    if match["equation"]:
        several = re.findall(r"(–?)\(?([A-Z]?-?\d+[a-z]?)", match["rest"])
        numbers = [match["equation"]]
        for dash, number in several:
            if dash and numbers[-1].isdigit() and number.isdigit():
                numbers += [str(between) for between in range(int(numbers[-1]) + 1, int(number))]
            numbers.append(number)
        return [f"Eq. ({number})" for number in numbers]
    return [match["named"]]


def _rust(text: str) -> Iterator[tuple[str, str]]:
    """Paragraphs of comments, each with the item that it is about."""
    lines = re.split(r"\n#\[cfg\(test\)\]\nmod \w+ \{", text)[0].splitlines()
    pending: list[str] = []
    for place, line in enumerate(lines):
        match = re.match(r"\s*//[/!]? ?(.*)", line)
        if match and match[1].strip():
            pending.append(match[1])
            continue
        if pending:
            module = lines[place - 1].lstrip().startswith("//!")
            yield ("" if module else _item(lines, place)), " ".join(pending)
            pending = []


def _item(lines: list[str], place: int) -> str:
    """The name of the item after a comment, or of the item around it."""
    pattern = (
        r"\s*(?:pub(?:\([^)]*\))? )?(?:const |async )?"
        r"(?:fn|struct|enum|trait|const|static|type|mod|impl(?:<[^>]*>)?) (\w+)"
    )
    for line in lines[place : place + 6]:
        if match := re.match(pattern, line) or re.match(
            r"\s*(?:pub(?:\([^)]*\))? )?(\w+)(?:: |,$| \{|\()", line
        ):
            return match[1]
        if line.strip() and not re.match(r"\s*(#\[|//)", line):
            break
    for line in reversed(lines[:place]):
        if match := re.match(pattern, line):
            return match[1]
    return ""


def _python(text: str) -> Iterator[tuple[str, str]]:
    """Paragraphs of docstrings and comments, each with the definition that it is in."""
    item, pending, inside = "", [], False
    for line in [*text.splitlines(), ""]:
        if match := re.match(r"\s*(?:async )?(?:def|class) (\w+)", line):
            item = match[1]
        quotes = line.count('"""')
        comment = re.match(r"\s*#:? ?(.*)", line)
        if inside or quotes or comment:
            words = (comment[1] if comment and not inside else line).replace('"""', " ").strip()
            if words:
                pending.append(words)
        if quotes % 2:
            inside = not inside
        if pending and ((not inside and not comment) or not line.strip()):
            yield item, " ".join(pending)
            pending = []


@dataclass(frozen=True)
class Entry:
    """An entry of the table: places of a document, with the tests that show them or the reason why none does."""

    source: str
    places: tuple[str, ...]
    tests: tuple[str, ...]
    why: str


def entries() -> list[Entry]:
    """The table. Raises KeyError where an entry lacks a key; needs Python 3.11 for reading TOML."""
    import tomllib

    data = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    shown = [
        Entry(one["source"], tuple(one.get("places", [""])), tuple(one["tests"]), "")
        for one in data.get("shown", [])
    ]
    background = [
        Entry(one["source"], tuple(one.get("places", [""])), (), one["why"])
        for one in data.get("background", [])
    ]
    return shown + background


def problems(citations: list[Citation], table: list[Entry]) -> list[str]:
    """Lists citations without an entry, entries without a citation, and tests that do not exist."""
    cited = {(one.source, one.place) for one in citations}
    known = {(one.source, place) for one in table for place in one.places}
    with_place = {source for source, place in known if place}
    found = []
    for source, place in sorted(cited - known):
        if place or source not in with_place:
            where = ", ".join(
                sorted({one.file for one in citations if (one.source, one.place) == (source, place)})
            )
            found.append(
                f"{source} {place}".rstrip() + f" ({where}) has no entry in validation/checks/citations.toml"
            )
    found += [
        f"validation/checks/citations.toml: nothing cites {source} {place}".rstrip()
        for source, place in sorted(known - cited)
    ]
    for test in sorted({test for one in table for test in one.tests}):
        if not _exists(test):
            found.append(f"validation/checks/citations.toml: there is no test {test}")
    return found


def _exists(test: str) -> bool:
    name, _, function = test.partition("::")
    file = ROOT / name
    if not function or not file.is_file():
        return False
    text = file.read_text(encoding="utf-8")
    if name.endswith(".py"):
        return re.search(rf"^def {re.escape(function)}\(", text, re.MULTILINE) is not None
    return re.search(rf"#\[test\]\s*(?:#\[[^\]]*\]\s*)*fn {re.escape(function)}\(", text) is not None


FAMILIES = {
    "RFC": "RFCs",
    "ITU-T": "ITU-T Recommendations",
    "ISO/IEC": "ISO and 3GPP2 standards",
    "3GPP2": "ISO and 3GPP2 standards",
    "paper": "Papers of the studies",
    "": "Other papers and books",
}
"""The beginning of a source, and the name of its family, in the order of the page."""


def markdown(citations: list[Citation], table: list[Entry]) -> str:
    """The page."""
    known = {(one.source, place): one for one in table for place in one.places}
    shown = sum(1 for one in known.values() if one.tests)
    cited: dict[str, dict[str, list[Citation]]] = {}
    for one in citations:
        cited.setdefault(one.source, {}).setdefault(one.place, []).append(one)
    families: dict[str, list[str]] = {words: [] for words in FAMILIES.values()}
    for source in sorted(cited, key=_rank):
        families[_family(source)].append(source)
    background = len(known) - shown
    lines = [
        "# Citations",
        "",
        f"**The code cites {len(cited)} sources. Tests show {shown} cited places; {background} are background.**",
        "A test that fails names the clause that the code no longer follows. `make test` fails when the code cites a",
        "section, an equation or a clause that no test shows. The figures and claims of the studies have",
        "[ledgers](studies.md).",
        "",
        "The page is made of the comments of the code and of `validation/checks/citations.toml`.",
        "",
        "| family | sources | places | shown by tests | background |",
        "|---|--:|--:|--:|--:|",
    ]
    for family, sources in families.items():
        places = [one for (source, _), one in known.items() if source in sources]
        by_tests = sum(1 for one in places if one.tests)
        counts = (len(sources), len(places), by_tests, len(places) - by_tests)
        lines.append(f'| <a href="#{_slug(family)}">{family}</a> | ' + " | ".join(map(str, counts)) + " |")
    lines += ["", "Open a family to see each place, what cites it, and the test that shows it.", ""]
    for family, sources in families.items():
        rows = [row for source in sources for row in _rows(source, cited[source], known)]
        table_of = ["| source and place | cited in | shown by |", "|---|---|---|", *rows]
        lines += folded(f"{family}: {len(sources)}", table_of, _slug(family))
    return "\n".join(lines).rstrip() + "\n"


def _rows(
    source: str, places: dict[str, list[Citation]], known: dict[tuple[str, str], Entry]
) -> Iterator[str]:
    """The rows of a source: each place, the code that cites it, and the tests that show it."""
    for place in sorted(places, key=_natural):
        where = "<br>".join(dict.fromkeys(_format_place(one) for one in places[place]))
        entry = known.get((source, place))
        if entry is None:
            words = "see its places"
        else:
            words = "<br>".join(f"`{_short(test)}`" for test in entry.tests) or f"background: {entry.why}"
        yield (
            f"| {source} {place} | {where} | {words} |" if place else f"| **{source}** | {where} | {words} |"
        )


def _family(source: str) -> str:
    return next(words for start, words in FAMILIES.items() if source.startswith(start))


def _slug(words: str) -> str:
    return re.sub(r"\W+", "-", words.lower()).strip("-")


def _format_place(one: Citation) -> str:
    short = re.sub(
        r"^(crates/fairwave-(\w+)/src/|(python)/fairwave[/_]|(validation)/)",
        lambda m: f"{m[2] or m[3] or m[4]}: ",
        one.file,
    )
    return f"`{short}`" + (f" {one.item}" if one.item else "")


def _short(test: str) -> str:
    name, _, function = test.partition("::")
    return f"{name.removeprefix('crates/fairwave-')}::{function}"


def _rank(source: str) -> tuple[int, str]:
    kinds = ("RFC", "ITU-T", "ISO/IEC", "paper")
    return next((place for place, kind in enumerate(kinds) if source.startswith(kind)), len(kinds)), source


def _natural(place: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", place)]


def render(_: Path) -> str:
    """Renders the page from the current code."""
    return markdown(collect(), entries())


def main() -> int:
    """Prints the problems and returns the exit status."""
    writing.parser(__doc__).parse_args()
    wrong = problems(collect(), entries())
    for problem in wrong:
        print(problem, file=sys.stderr)
    return int(bool(wrong))
