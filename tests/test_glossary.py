"""The glossary explains every measure, one sentence each, in alphabetical order."""

import json
import re
import subprocess
import sys
from pathlib import Path

from fairwave.measuring import measures

PAGE = (Path(__file__).parents[1] / "python" / "fairwave" / "glossary.md").read_text(encoding="utf-8")
LINES = [line for line in PAGE.splitlines() if line.startswith("- ")]
ENTRY = re.compile(
    r"- \*\*(?P<term>[^*]+)\*\*(?:, `(?P<measure>[\w-]+)`)?(?: \((?P<unit>[^)]+)\))?: "
    r"(?P<sentence>[^*].*?\.) \*Source: (?P<source>[^*]+)\.\*"
)
ENTRIES = [found for found in map(ENTRY.fullmatch, LINES) if found]
MEASURES = {one["measure"]: one for one in ENTRIES if one["measure"]}


def letters(term):
    """The sort key of a term: words in lower case, without signs."""
    return " ".join(re.findall(r"[a-z0-9]+", term.casefold()))


def test_every_entry_has_a_term_one_sentence_and_a_source():
    assert [line for line in LINES if not ENTRY.fullmatch(line)] == []
    assert [one["term"] for one in ENTRIES if re.search(r"\. [A-Z]", one["sentence"])] == []


def test_no_sentence_has_more_than_25_words():
    assert [one["term"] for one in ENTRIES if len(one["sentence"].split()) > 25] == []


def test_entries_are_in_alphabetical_order_each_under_its_letter():
    terms = [letters(one["term"]) for one in ENTRIES]
    assert terms == sorted(set(terms))
    headings = re.findall(r"^## (.)$", PAGE, re.M)
    assert headings == sorted({term[0].upper() for term in terms})
    for section in re.split(r"^## ", PAGE, flags=re.M)[1:]:
        assert {one["term"][0].upper() for one in map(ENTRY.fullmatch, section.splitlines()) if one} == {
            section[0]
        }


def test_every_measure_that_is_listed_has_an_entry_with_its_unit():
    # In a separate process, because other tests add measures.
    command = [sys.executable, "-m", "fairwave", "list", "measures", "--json"]
    listed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    # `docs/results.md` explains the simulator's measures.
    names = [
        one["name"]
        for one in listed["measures"]
        if one["name"] in MEASURES or one["name"] not in measures.SIMULATED
    ]
    assert [name for name in names if name not in MEASURES] == []
    written = {name: MEASURES[name]["unit"] for name in names}
    assert written == {name: measures.STANDARD[name](None).unit or "no unit" for name in names}
