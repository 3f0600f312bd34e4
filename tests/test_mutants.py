"""The sample of broken laws: drawn the same each time, counted correctly, and no survivor without a reason."""

from __future__ import annotations

import sys

import pytest

if sys.version_info < (3, 11):
    pytest.skip("the reasons are TOML, read from 3.11 on", allow_module_level=True)

from validation import kept
from validation.checks import mutants

NAMES = [
    f"crates/fairwave-network/src/queue/red.rs:{line}:9: replace + with - in Red::arrive"
    for line in range(400)
]


def test_a_seed_and_the_code_decide_the_sample():
    assert mutants.sample(NAMES, 100, seed=7) == mutants.sample(NAMES, 100, seed=7)
    assert mutants.sample(NAMES, 100, seed=7) != mutants.sample(NAMES, 100, seed=8)
    assert len(mutants.sample(NAMES, 100, seed=7)) >= 100
    assert mutants.sample(NAMES[:5], 100, seed=7) == NAMES[:5]


def test_a_reason_outlives_edits_that_move_lines():
    assert (
        mutants.plain(NAMES[0])
        == mutants.plain(NAMES[300])
        == "queue/red.rs: replace + with - in Red::arrive"
    )


def test_what_does_not_compile_is_not_counted_and_a_survivor_needs_a_reason(tmp_path, monkeypatch):
    reasons = tmp_path / "mutants.toml"
    reasons.write_text("")
    monkeypatch.setattr(mutants, "REASONS", reasons)
    outcomes = mutants.Outcomes(caught=NAMES[:19], survived=NAMES[19:20], unviable=NAMES[20:25])
    data, unexplained = mutants.report(outcomes, seed=1, population=400)
    page = mutants.markdown(data)
    assert (data["sampled"], data["caught"], data["unviable"]) == (20, 19, 5)
    assert "19 of 20 are caught (95.0%)" in page
    assert unexplained == ["queue/red.rs: replace + with - in Red::arrive"]
    reasons.write_text(
        '[[survivor]]\nmutant = "queue/red.rs: replace + with - in Red::arrive"\nwhy = "both are 0 there"\n'
    )
    data, unexplained = mutants.report(outcomes, seed=1, population=400)
    page = mutants.markdown(data)
    assert unexplained == []
    assert "both are 0 there" in page


def test_a_files_code_is_what_is_left_without_its_tests():
    declared = '#[cfg(test)]\nmod clauses;\n#[cfg(test)]\n#[path = "x.rs"]\nmod tests;\n'
    held = "\n#[cfg(test)]\nmod more {\n    fn g() {}\n}\n"
    assert mutants.strip_tests(f"mod a;\n{declared}fn f() {{}}\n{held}") == "mod a;\nfn f() {}"


def test_what_was_caught_is_known_while_the_code_is_the_same_and_survivors_are_tried_again():
    found = {"a": "CaughtMutant", "b": "MissedMutant", "c": "Unviable", "d": "Timeout"}
    then = mutants.Version("code", "tests")
    assert mutants.still_known(found, then, then) == found
    assert set(mutants.still_known(found, then, mutants.Version("code", "more"))) == {"a", "c", "d"}
    assert mutants.still_known(found, then, mutants.Version("other", "tests")) == {}


def test_files_of_tests_alone_are_no_code():
    names = [
        "tcp/storyboards.rs",
        "queue/red_tests.rs",
        "loss/tests.rs",
        "transport/wire_tests.rs",
        "endpoint/test_path.rs",
        "queue/fuzz.rs",
    ]
    assert all(mutants._OF_TESTS.search(name) for name in names)
    assert not any(
        mutants._OF_TESTS.search(name) for name in ["queue/red.rs", "tcp/latest.rs", "tcp/contests.rs"]
    )


def test_the_kept_report_holds_what_is_asked_of_it():
    data, page = kept.read(mutants.PUBLISHED), mutants.render(None)
    assert data["sampled"] >= 300
    assert data["caught"] >= mutants.ASKED * data["sampled"]
    assert data["caught"] + len(data["survived"]) == data["sampled"]
    for one in data["survived"]:
        assert one["why"]
        assert one["mutant"] in page.replace("\\|", "|")
