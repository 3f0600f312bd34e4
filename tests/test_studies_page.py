"""The page of all claims and readings, and the full pages of the studies."""

import pytest

from fairwave_study.digest import digest
from validation import kept
from validation.pages import studies

BEST = {"held": 3, "of": 5, "found": 4, "claims": ["A", "B", "C"], "against": ["D"], "judged_on": [11, 12]}
ANEW = {"held": 1, "of": 5, "found": 2, "claims": ["A"], "against": ["C", "D"], "judged_on": [11, 12]}


def test_a_table_tells_what_holds_on_seeds_that_nothing_else_uses():
    head, _, *rows = studies.fresh({"best_reading": BEST, "base_anew": ANEW, "likely": None}).splitlines()
    assert head.startswith("| on seeds 11, 12, ")
    assert rows == [
        "| the base reading | 1 of 5 | 2 | A |",
        "| the reading in which most claims hold | 3 of 5 (4 on the seeds that chose it) | 1 | A, B, C |",
    ]


def test_a_ledger_of_an_earlier_release_has_no_more_than_the_best_reading():
    entry = {"best_reading": {"held": 3, "of": 5, "found": 4, "judged_on": [4, 5]}}
    (row,) = studies.fresh(entry).splitlines()[2:]
    assert row == "| the reading in which most claims hold | 3 of 5 (4 on the seeds that chose it) | – |  |"


@pytest.mark.parametrize(
    ("explained", "words"),
    [
        ([], ""),
        (["A"], "for 1 of 2 claims and [say why](study-x.md#why) they come out so; none do for B."),
        (["A", "B", "B"], "for 2 of 2 claims and [say why](study-x.md#why) they come out so."),
    ],
)
def test_it_says_for_which_claims_experiments_say_why(explained, words):
    ledger = {"claims": [{"id": "A"}, {"id": "B"}], "experiments": [{"claim": one} for one in explained]}
    assert studies.whys("x", ledger).endswith(words)
    assert bool(studies.whys("x", ledger)) == bool(words)


@pytest.mark.parametrize("name", [*studies.NAMES, *studies.OWN])
def test_a_kept_ledger_renders_as_the_page_of_its_study(name):
    ledger = kept.read(f"studies/{name}")
    text = digest(ledger)
    assert text.startswith(f"# {ledger['title']}\n\n{ledger['question']}\n\nMade by fairwave ")
    for claim in ledger["claims"]:
        assert f"| {claim['id']} | {claim['statement']} | **{claim['verdict']}** |" in text
        assert f"**{claim['id']}** ({claim['source']}): {claim['verdict']}." in text
    for table in ledger["tables"]:
        assert f"## {table['title']}" in text
    assert text.count("\n![") == len(ledger["experiments"])
