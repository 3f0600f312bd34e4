"""The clause mutants are patches that apply, cover all laws, and are counted correctly."""

from __future__ import annotations

import json
import sys

import pytest

if sys.version_info < (3, 11):
    pytest.skip("the mutants are TOML, read from 3.11 on", allow_module_level=True)

from validation import kept as results
from validation.checks import mutants
from validation.clauses import runner as clauses
from validation.clauses import switches
from validation.clauses.runner import BROKEN, HUNG, MISSED, NOTICED, Clause, Ended, Outcome

#: The fewest mutants in each file of `validation/clauses/`.
PER_FAMILY = 3


def made_up(name: str, family: str = "cubic", before: str = "a + b", after: str = "a - b") -> Clause:
    return Clause(family, name, "RFC 0", "b is added", "crates/fairwave-tcp/src/law.rs", before, after)


@pytest.fixture(scope="module")
def all_clauses() -> list[Clause]:
    return clauses.read()


def test_every_mutant_applies_to_the_code_as_it_is(all_clauses):
    assert clauses.problems(all_clauses) == []


def test_every_mutant_can_be_switched_on(all_clauses):
    files = [file.relative_to(clauses.ROOT).as_posix() for file in clauses.ROOT.glob("crates/*/src/**/*.rs")]
    numbered = dict(enumerate(all_clauses, 1))
    build = switches.switched(numbered, lambda file: (clauses.ROOT / file).read_text(encoding="utf-8"), files)
    inside = {number for parts in build.lines.values() for _, _, numbers in parts for number in numbers}
    assert [numbered[number].name for number in sorted(set(numbered) - inside)] == []


def test_there_are_two_hundred_and_every_family_has_some(all_clauses):
    assert len(all_clauses) >= clauses.LEAST
    families = {file.stem for file in clauses.FOLDER.glob("*.toml")}
    counts = {family: sum(clause.family == family for clause in all_clauses) for family in families}
    assert {family: count for family, count in counts.items() if count < PER_FAMILY} == {}
    assert {clause.crate for clause in all_clauses} == {"network", "media", "tcp", "rtc", "transport"}


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


def test_only_a_test_that_fails_notices_a_mutant():
    assert (
        clauses.judge(Ended(101, "test law ... FAILED\ntest result: FAILED. 3 passed; 1 failed")) == NOTICED
    )
    assert clauses.judge(Ended(0, "test result: ok. 4 passed; 0 failed")) == MISSED
    # Out of time, even after a failed test; out of memory, or ended by a signal.
    assert clauses.judge(Ended(None, "test law ... FAILED")) == HUNG
    assert (
        clauses.judge(Ended(101, "memory allocation of 8589934592 bytes failed (signal: 6, SIGABRT)")) == HUNG
    )


def outcomes(family, **found):
    return {
        clause.name: Outcome(found[clause.name], clause.digest, "code", "tests")
        for clause in family
        if clause.name in found
    }


def test_hanging_counts_as_missed_and_what_has_not_run_is_said():
    family = [made_up(name) for name in ("a", "b", "c", "d", "e")]
    page, data = clauses.report(family, outcomes(family, a=NOTICED, b=MISSED, c=HUNG, d=BROKEN))
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


def test_an_equivalent_mutant_counts_neither_way_and_is_shown_with_its_reason_and_no_test_may_notice_it():
    same = Clause("cubic", "same", "RFC 0", "b is added", "f.rs", "a + b", "b + a", "addition | commutes")
    family = [*(made_up(str(number)) for number in range(10)), same]
    found = {**{clause.name: NOTICED for clause in family}, "same": MISSED}
    page, data = clauses.report(family, outcomes(family, **found))
    assert (data["run"], data["noticed"], data["missed"]) == (10, 10, {})
    assert data["equivalent"] == {"same": "addition | commutes"}
    assert "| `same` | RFC 0 | addition \\| commutes |" in page
    assert clauses.verdict(family, found) == 0
    assert clauses.verdict(family, {**found, "same": NOTICED}) == 1


def test_few_mutants_are_equivalent_and_each_says_why(all_clauses):
    equivalent = [clause for clause in all_clauses if clause.equivalent]
    assert len(equivalent) < clauses.MOST_EQUIVALENT * len(all_clauses)
    assert all(clause.equivalent.endswith(".") for clause in equivalent)


LAW = """use std::f64::consts::LN_2;

const GAIN: f64 = 4.0 * LN_2;
const NAMES: [&str; 2] = ["} fn no() {", "GAIN"];

/// Twice GAIN { as it is.
fn twice(x: f64) -> f64 {
    // }
    fn inner(y: f64) -> f64 { y * GAIN }
    if x > 0.0 { inner(x) * 2.0 } else { 0.0 }
}

fn also() -> char { '}' }
"""


def law_mutant(name: str, before: str, after: str) -> Clause:
    return Clause("law", name, "RFC 0", "A clause.", "crates/fairwave-tcp/src/law.rs", before, after)


def switched_law(*mutants: Clause, below: str = "") -> switches.Switched:
    files = {"crates/fairwave-tcp/src/law.rs": LAW, "crates/fairwave-tcp/src/law/below.rs": below}
    return switches.switched(dict(enumerate(mutants, 1)), files.__getitem__, list(files))


def test_places_are_function_bodies_and_constants_whatever_comments_and_strings_hold():
    found = [(place.name, LAW[place.begins : place.ends].strip()) for place in switches.places(LAW)]
    assert [name for name, _ in found] == ["", "", "GAIN", "NAMES"]
    assert found[0][1].startswith("// }")
    assert found[0][1].endswith("else { 0.0 }")
    assert found[1:3] == [("", "'}'"), ("GAIN", "4.0 * LN_2")]


def test_mutants_of_a_function_become_branches_and_the_original_is_the_last():
    less = law_mutant("less", "if x > 0.0 {", "if x < 0.0 {")
    thrice = law_mutant(
        "thrice",
        "fn twice(x: f64) -> f64 {\n    // }\n    fn inner",
        "fn twice(x: f64) -> f64 {\n    fn inner",
    )
    text = switched_law(less, thrice).texts["crates/fairwave-tcp/src/law.rs"]
    body = text[text.index("fn twice") : text.index("fn also")]
    assert body.count("fn inner") == 3
    first, second, original = (
        body.index("clause_on(1)"),
        body.index("clause_on(2)"),
        body.rindex("} else {\n\n    // }"),
    )
    assert first < body.index("x < 0.0") < second < original < body.rindex("x > 0.0")


def test_a_constant_becomes_a_function_that_is_called_wherever_it_is_seen_but_in_imports():
    half = law_mutant("half", "4.0 * LN_2", "2.0 * LN_2")
    built = switched_law(half, below="use super::GAIN;\nfn f() -> f64 { GAIN + 1.0 }\n")
    law, below = built.texts.values()
    assert "fn GAIN() -> f64 {\nif crate::clause_on(1) {\n 2.0 * LN_2\n} else {\n 4.0 * LN_2\n}}" in law
    for part in ("{ y * GAIN() }", '"GAIN"', "/// Twice GAIN {"):
        assert part in law
    assert below == "use super::GAIN;\nfn f() -> f64 { GAIN() + 1.0 }\n"


def test_what_is_no_function_and_no_constant_is_not_switched():
    built = switched_law(law_mutant("import", "consts::LN_2;", "consts::LN_10;"))
    assert built.lines == {}


def test_an_error_is_that_of_the_mutant_in_whose_copy_it_is_or_of_the_constant_that_the_line_names():
    less, more = law_mutant("less", "if x > 0.0 {", "if x < 0.0 {"), law_mutant("more", "* 2.0 }", "* 3.0 }")
    half = law_mutant("half", "4.0 * LN_2", "2.0 * LN_2")
    file = "crates/fairwave-tcp/src/law.rs"
    built = switched_law(less, more, half)
    lines = built.texts[file].splitlines()

    def blamed(part: str) -> set[int]:
        return built.blamed(file, 1 + next(n for n, line in enumerate(lines) if part in line), "")

    assert (blamed("x < 0.0"), blamed("* 3.0"), blamed("2.0 * LN_2")) == ({1}, {2}, {3})
    assert built.blamed(file, 1, "let x = GAIN() + 1;") == {3}
    assert built.blamed("elsewhere.rs", 1, "GAIN()") == {3}
    assert built.blamed(file, 1, "let x = 1;") == set()


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
    # Until it has run again, the page shows it as missed.
    assert missed.holds(clause, more_tests)
    assert not missed.is_settled(more_tests)
    assert not noticed.holds(clause, mutants.Version("other code", "tests"))
    assert not noticed.holds(made_up("a", after="a * b"), then)


def test_where_few_ran_the_page_keeps_the_published_outcomes_and_counts_those_on_earlier_code(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(clauses, "KEPT", tmp_path / "KEPT")
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    family = [made_up(name) for name in ("a", "b", "c", "d")]
    then = outcomes(family, a=NOTICED, b=NOTICED, c=MISSED)
    clauses.write(family, {**then, "c": Outcome(MISSED, then["c"].digest, "older code", "tests")})
    now = {"tcp": mutants.Version("code", "tests")}
    # Nothing is kept on another machine: published results of this code need no new run, all others do.
    assert set(clauses.known(family, now)) == {"a", "b"}
    # A mutant that has changed has not run.
    family[0] = made_up("a", after="a * b")
    clauses.write(family, {**clauses.known(family, now), **outcomes(family, d=NOTICED)})
    data = results.read(clauses.PUBLISHED)
    assert (data["run"], data["noticed"], data["missed"], data["not_yet_run"]) == (3, 2, {"c": MISSED}, ["a"])
    assert data["on_earlier_code"] == 1
    monkeypatch.setattr(clauses, "read", lambda: family)
    said = "Not yet run: 1 of 4. 1 ran before the code of their crates last changed."
    assert said in clauses.render(tmp_path)


def test_what_was_kept_is_known_again(tmp_path, monkeypatch):
    monkeypatch.setattr(clauses, "KEPT", tmp_path / "clauses.json")
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    a, b = made_up("a"), made_up("b")
    versions = {"tcp": mutants.Version("code", "tests")}
    assert clauses.known([a, b], versions) == {}
    kept = {"a": Outcome(NOTICED, a.digest, "code", "tests"), "b": Outcome(MISSED, b.digest, "old", "tests")}
    clauses.keep(kept)
    assert clauses.known([a, b], versions) == {"a": kept["a"]}
    assert set(json.loads((tmp_path / "clauses.json").read_text())) == {"a", "b"}
