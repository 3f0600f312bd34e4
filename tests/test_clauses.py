"""The clause mutants are patches that apply, cover all laws, and are counted rightly."""

from __future__ import annotations

import json
import sys

import pytest

if sys.version_info < (3, 11):
    pytest.skip("the mutants are TOML, read from 3.11 on", allow_module_level=True)

from validation import clauses, mutants
from validation.clauses import BROKEN, HUNG, MISSED, NOTICED, Clause, Ended, Outcome

#: Every law or group of laws has a file of its own.
FAMILIES = {
    "bbr": 20, "bbr1": 10, "cake": 30, "cubic": 20, "dctcp": 5, "delay-queues": 20, "emodel": 10, "hystart": 5,
    "ledbat": 10, "loss-link": 10, "playout": 10, "prague": 10, "price-queues": 6, "prr": 5, "rack-tlp": 20,
    "rap-dvrc": 10, "real-gamma-aimd": 6, "red-family": 10, "rtcp-udp": 6, "speech": 5, "tcp-ends": 20,
    "tcp-recovery": 10, "tfrc": 10, "traffic": 10, "vegas": 5, "westwood": 5,
}  # fmt: skip


def made_up(name: str, family: str = "cubic", before: str = "a + b", after: str = "a - b") -> Clause:
    return Clause(family, name, "RFC 0", "b is added", "crates/fairwave-tcp/src/law.rs", before, after)


@pytest.fixture(scope="module")
def all_clauses() -> list[Clause]:
    return clauses.read()


def test_every_mutant_applies_to_the_code_as_it_is(all_clauses):
    assert clauses.problems(all_clauses) == []


def test_there_are_two_hundred_and_every_family_has_some(all_clauses):
    assert len(all_clauses) >= clauses.LEAST
    counts = {family: sum(clause.family == family for clause in all_clauses) for family in FAMILIES}
    assert {clause.family for clause in all_clauses} == set(FAMILIES)
    assert {family: count for family, count in counts.items() if count < FAMILIES[family]} == {}


def test_every_mutant_names_its_source_and_what_that_demands(all_clauses):
    for clause in all_clauses:
        assert clause.source.strip(), clause.name
        assert clause.clause.endswith("."), clause.name


def test_a_patch_that_does_not_apply_is_named(tmp_path):
    law = tmp_path / "crates/fairwave-tcp/src/law.rs"
    law.parent.mkdir(parents=True)
    law.write_text("let c = a + b;\nlet d = a * b;\nlet e = a * b;\n")
    wrong = [
        made_up("good"),
        made_up("good"),
        made_up("same", after="a + b"),
        made_up("twice", before="a * b"),
        made_up("gone", before="a / b"),
        Clause("cubic", "elsewhere", "RFC 0", "b is added", "crates/fairwave-tcp/src/none.rs", "a", "b"),
        Clause("cubic", "no law", "RFC 0", "b is added", "crates/fairwave-sim/src/lib.rs", "a", "b"),
    ]
    found = clauses.problems(wrong, tmp_path)
    for part in (
        "`good`: another mutant has this name",
        "`same`: `before` and `after` are the same",
        "`twice`: `before` occurs 2 times",
        "`gone`: `before` occurs 0 times",
        "`elsewhere`: `crates/fairwave-tcp/src/none.rs` does not exist",
        "`no law`: `crates/fairwave-sim/src/lib.rs` is not in a crate of laws",
    ):
        assert any(part in line for line in found), part
    assert not any("`good`: `before`" in line for line in found)


def test_a_key_that_no_mutant_has_is_refused(tmp_path):
    (tmp_path / "law.toml").write_text('[[mutant]]\nname = "a"\nsurce = "RFC 0"\n')
    with pytest.raises(ValueError, match=r"law.toml: `a`.*surce"):
        clauses.read(tmp_path)


def test_the_mutant_is_in_the_tree_only_while_it_is_tried(tmp_path):
    law = tmp_path / "crates/fairwave-tcp/src/law.rs"
    law.parent.mkdir(parents=True)
    law.write_text("let c = a + b;\n")
    with clauses.applied(made_up("one"), tmp_path):
        assert law.read_text() == "let c = a - b;\n"
    assert law.read_text() == "let c = a + b;\n"


def test_only_a_test_that_fails_notices_a_mutant():
    assert (
        clauses.judge(Ended(101, "test law ... FAILED\ntest result: FAILED. 3 passed; 1 failed")) == NOTICED
    )
    assert clauses.judge(Ended(0, "test result: ok. 4 passed; 0 failed")) == MISSED
    # Out of time, even if a test has failed before; out of memory, or ended by a signal.
    assert clauses.judge(Ended(None, "test law ... FAILED")) == HUNG
    assert (
        clauses.judge(Ended(101, "memory allocation of 8589934592 bytes failed (signal: 6, SIGABRT)")) == HUNG
    )


def test_hanging_counts_as_missed_and_what_has_not_run_is_said():
    family = [made_up(name) for name in ("a", "b", "c", "d", "e")]
    page, data = clauses.report(family, {"a": NOTICED, "b": MISSED, "c": HUNG, "d": BROKEN})
    assert (data["mutants"], data["run"], data["noticed"]) == (5, 3, 1)
    assert data["missed"] == {"b": MISSED, "c": HUNG}
    assert (data["does_not_compile"], data["not_yet_run"]) == (["d"], ["e"])
    assert "**1 of 3 mutants are noticed (33.3%).** Not yet run: 1 of 5." in page
    assert "| `c` | RFC 0 | b is added (the tests hang) |" in page
    assert "| cubic | 5 | 3 | 1 |" in page


def test_the_run_fails_below_ninety_seven_percent_or_if_anything_is_unknown():
    hundred = [made_up(str(number)) for number in range(100)]
    found = {clause.name: NOTICED for clause in hundred}
    assert clauses.verdict(hundred, found) == 0
    assert clauses.verdict(hundred, {**found, "1": MISSED, "2": HUNG, "3": MISSED}) == 0
    assert clauses.verdict(hundred, {**found, "1": MISSED, "2": HUNG, "3": MISSED, "4": MISSED}) == 1
    assert clauses.verdict(hundred, {**found, "1": BROKEN}) == 1
    del found["1"]
    assert clauses.verdict(hundred, found) == 1


def test_an_outcome_holds_while_mutant_and_code_are_the_same_and_what_was_missed_is_tried_with_new_tests():
    clause, then = made_up("a"), mutants.Version("code", "tests")
    noticed, missed, hung = (Outcome(end, clause.digest, "code", "tests") for end in (NOTICED, MISSED, HUNG))
    assert all(one.holds(clause, then) for one in (noticed, missed, hung))
    assert noticed.is_settled(then)
    assert missed.is_settled(then)
    # The machine may have been busy.
    assert not hung.is_settled(then)
    more_tests = mutants.Version("code", "more tests")
    assert noticed.is_settled(more_tests)
    # Until it has run again it stays on the page as missed.
    assert missed.holds(clause, more_tests)
    assert not missed.is_settled(more_tests)
    assert not noticed.holds(clause, mutants.Version("other code", "tests"))
    assert not noticed.holds(made_up("a", after="a * b"), then)


def test_what_was_kept_is_known_again(tmp_path, monkeypatch):
    monkeypatch.setattr(clauses, "KEPT", tmp_path / "clauses.json")
    a, b = made_up("a"), made_up("b")
    versions = {"tcp": mutants.Version("code", "tests")}
    assert clauses.known([a, b], versions) == {}
    kept = {"a": Outcome(NOTICED, a.digest, "code", "tests"), "b": Outcome(MISSED, b.digest, "old", "tests")}
    clauses.keep(kept)
    assert clauses.known([a, b], versions) == {"a": kept["a"]}
    assert set(json.loads((tmp_path / "clauses.json").read_text())) == {"a", "b"}
