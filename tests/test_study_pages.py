"""The pages of the studies: short, and their measured numbers are kept results.

``study_numbers/NAME.txt`` names the source of each number, one per line: ``TEXT = PATH``. TEXT is a piece of the page.
PATH leads into the ledger of the study, its steps separated by `` > ``:

- a claim (``S5``) or an experiment (``why-S5``), then a comparison, a quantity or a side by its label;
- a share of the readings: ``S5 > reproduced``; of one part of a claim: ``S5 > part NAME > reproduced``;
- the number of claims that hold on fresh seeds: ``003 > likely``;
- a text of the ledger, such as ``why-S5 > words``: it contains the numbers of TEXT;
- ``table > TITLE > ROW``: a row of a table, by its title and its first cells;
- a minus in front of the path changes the sign.
"""

import json
import math
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

from validation import kept

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "studies").glob("*.md"))
NAMES = [page.stem for page in PAGES]
OVERVIEW = ROOT / "docs" / "studies.md"
MOST_WORDS = 1500
VERDICTS = ("reproduced", "alike", "undecided", "not reproduced")
OVER_READINGS = (
    ("reproduced",),
    ("reproduced in most readings",),
    ("hangs on the reading",),
    ("undecided",),
    ("contradicted in most readings", "contradicted in every reading"),
)
"""Columns of the overview, and the verdicts over all readings that each counts."""
NUMBER = re.compile(r"(?<![\w.])[-−+]?\d+(?:\.\d+)?(?:e[+-]\d+)?")
VALUE = r"[-−+]?\d+(?:\.\d+)?"
INTERVAL = re.compile(rf"{VALUE}(?: %)? (?:\[{VALUE}, {VALUE}\]|\({VALUE} to {VALUE}\))|{VALUE} ± {VALUE}")
SHARES = ("reproduced", "alike", "undecided", "contradicted", "points")
FRESH = ("base_anew", "likely", "best_reading")
LISTS = ("claims", "experiments", "papers", "comparisons", "sides", "quantities")


def page_text(name):
    """The page with single spaces."""
    return " ".join((ROOT / f"docs/studies/{name}.md").read_text(encoding="utf-8").split())


def measured(name):
    """Text and path of each number that the page takes from the ledger."""
    lines = (ROOT / f"tests/study_numbers/{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line.split(" = ", 1) for line in lines]


@cache
def ledger(name):
    return kept.read(f"studies/{name}")


def table_row(name, title, first):
    """The row of the table `title` that begins with the cells `first`, without these."""
    cells = first.split(" | ")
    (table,) = (one for one in ledger(name)["tables"] if one["title"] == title)
    (row,) = (one for one in table["rows"] if one[: len(cells)] == cells)
    return " ".join(row[len(cells) :])


def find(found, step):
    """The member of a table, or of a list of tables, that a step of a path names."""
    if isinstance(found, dict):
        if step in found:
            return found[step]
        if step in SHARES and found.get("readings"):
            return share(found["readings"], step)
        if step.startswith("part ") and found.get("readings"):
            return find(found["readings"]["parts"], step.removeprefix("part "))
        return find([one for kind in LISTS for one in found.get(kind, [])], step)
    for one in found:
        if step in (one.get("id"), one.get("label"), one.get("name"), one.get("paper")):
            return one
    raise AssertionError(f"no {step!r}")


def share(readings, name):
    return {"estimate": 100 * readings[name], "interval": [100 * one for one in readings["intervals"][name]]}


def resolve(name, path):
    """Numbers or text at the end of a path, and the sign that it asks for."""
    sign = -1 if path.startswith("−") else 1
    steps = path.removeprefix("−").strip().split(" > ")
    if steps[0] == "table":
        return table_row(name, *steps[1:]), 1
    found = ledger(name)
    for step in steps:
        if step in SHARES and isinstance(found, dict) and "intervals" in found:
            found = share(found, step)
        else:
            found = find(found, step)
    if isinstance(found, dict) and "held" in found:
        return [found["held"], found["of"]], 1
    if isinstance(found, dict) and "estimate" in found:
        return [found["estimate"], *sorted(sign * one for one in found["interval"])], sign
    if isinstance(found, dict | list):
        return json.dumps(found, ensure_ascii=False), 1
    return found, sign


def numbers(text):
    return [one.replace("−", "-").lstrip("+") for one in NUMBER.findall(text)]


def agrees(written, value):
    """Whether a written number equals the rounded value."""
    decimals = len(written.partition(".")[2])
    return math.isclose(float(written), value, rel_tol=1e-9, abs_tol=0.5001 * 10**-decimals)


@pytest.mark.parametrize("file", [*PAGES, OVERVIEW], ids=lambda file: file.stem)
def test_a_page_has_at_most_1500_words(file):
    assert len(file.read_text(encoding="utf-8").split()) <= MOST_WORDS


@pytest.mark.parametrize("name", NAMES)
def test_the_table_of_verdicts_is_that_of_the_ledger(name):
    verdicts = defaultdict(list)
    for claim in ledger(name)["claims"]:
        verdicts[claim["verdict"]].append(claim["id"])
    text = (ROOT / f"docs/studies/{name}.md").read_text(encoding="utf-8")
    rows = re.findall(rf"^\| ({'|'.join(VERDICTS)}) \| (\d+) \| (.*?) \|$", text, re.M)
    assert {row[0]: (int(row[1]), row[2].split(", ")) for row in rows} == {
        verdict: (len(claims), claims) for verdict, claims in verdicts.items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_that_contradicts_its_source_is_explained(name):
    text = (ROOT / f"docs/studies/{name}.md").read_text(encoding="utf-8")
    prose = re.sub(r"^\| not reproduced \|.*$", "", text, flags=re.M)
    contradicted = [claim["id"] for claim in ledger(name)["claims"] if claim["verdict"] == "not reproduced"]
    assert [claim for claim in contradicted if not re.search(rf"\b{claim}\b", prose)] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_measured_number_is_the_kept_one(name):
    page = page_text(name)
    for text, path in measured(name):
        assert text in page, f"the page does not contain {text!r}"
        source, sign = resolve(name, path)
        written = numbers(text)
        assert written, f"no number in {text!r}"
        if isinstance(source, str):
            there = [abs(float(one)) for one in numbers(source)]
            missing = [one for one in written if not any(agrees(one.lstrip("-"), value) for value in there)]
            assert missing == [], (text, path)
        else:
            values = source if isinstance(source, list) else [source]
            values = [sign * values[0], *values[1:]]
            assert len(written) <= len(values), (text, values)
            pairs = zip(written, values, strict=False)
            assert [pair for pair in pairs if not agrees(*pair)] == [], (text, path)


@pytest.mark.parametrize("name", NAMES)
def test_every_interval_on_a_page_has_its_source(name):
    page = page_text(name)
    sources = [text for text, _ in measured(name)]
    assert [one for one in INTERVAL.findall(page) if not any(one in text for text in sources)] == []


def test_a_wrong_number_is_noticed():
    assert agrees("0.48", 0.4843)
    assert not agrees("0.49", 0.4843)
    assert agrees("-0.03", -0.0264)
    assert not agrees("0.03", -0.0264)


def overview_rows(pattern):
    """The rows of a table of the overview, by their first cell: the numbers behind it."""
    rows = re.findall(pattern + r"((?: \d+ \|)+)$", OVERVIEW.read_text(encoding="utf-8"), re.M)
    return {name: [int(one) for one in numbers.split("|")[:-1]] for name, numbers in rows}


def test_the_overview_counts_the_verdicts_of_each_study():
    expected = {}
    for name in NAMES:
        verdicts = Counter(claim["verdict"] for claim in ledger(name)["claims"])
        expected[name] = [verdicts.total(), *(verdicts[one] for one in VERDICTS)]
    assert overview_rows(r"^\| \[(\w+)\]\(studies/\w+\.md\) \|[^|]*\|") == expected


def test_the_overview_counts_the_verdicts_over_all_readings():
    expected = {}
    for name in NAMES:
        verdicts = Counter(
            claim["readings"]["verdict"] for claim in ledger(name)["claims"] if claim["readings"]
        )
        if verdicts:
            expected[name] = [sum(verdicts[one] for one in column) for column in OVER_READINGS]
            assert sum(expected[name]) == verdicts.total()
    assert overview_rows(r"^\| (\w+) \|") == expected


def test_the_overview_counts_the_claims_that_hold_on_fresh_seeds():
    expected = {
        f"{entry['paper']}, {name}": [
            entry["base_anew"]["of"],
            *(entry[one]["held"] for one in FRESH),
        ]
        for name in NAMES
        for entry in ledger(name)["papers"]
    }
    assert overview_rows(r"^\| (\d{3}, \w+) \|") == expected
