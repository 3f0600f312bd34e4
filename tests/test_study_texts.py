"""The prose of studies, in files beside their code: allowed content, and the connection with the code."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

from fairwave.layers import studies, study
from fairwave_study import texts
from fairwave_study.parts import Assumption
from fairwave_study.readings import Factor, Value

CLAIMS = """
[A1]
statement = '''
The first line,
and the second.'''
source = "§1"
grids = ["main"]
assumptions = ["clock"]

[A2]
statement = "Another."
source = "§2"
"""

READINGS = """
shortened = "Fewer points."

[factors.clock]
open = "How fine the clock is."
ranking = "The coarse one is the default."
kind = "coarse clock"
[factors.clock.values."10 ms"]
admits = "§3"
flagged = "Rare."
plausibility = 2
changes = { a = 1 }
[factors.clock.values."500 ms"]
admits = "ns-2"

[[refused]]
what = "no clock"
why = "§3 has one"
"""


@pytest.fixture
def write(tmp_path):
    def write(stem, text):
        (tmp_path / f"{stem}.toml").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_claims_have_their_words_in_the_order_of_the_file(write):
    found = texts.claims(write("claims", CLAIMS), ["A2", "A1"])
    assert list(found) == ["A1", "A2"]
    assert found["A1"] == ("The first line, and the second.", "§1", ("main",), (), ("clock",))
    assert found["A2"].assumptions == ()


def test_a_file_in_the_study_names_its_folder(write):
    module = write("claims", CLAIMS) / "claims.py"
    assert texts.claims(str(module), ["A1", "A2"]) == texts.claims(module.parent, ["A1", "A2"])


def test_an_empty_line_stays_one(write):
    found = texts.title(write("study", 'title = "T"\nquestion = """\none\ntwo\n\nthree"""\n'))
    assert found == ("T", "one two\n\nthree")


def test_a_text_without_a_test_and_a_test_without_a_text_are_errors(write):
    folder = write("claims", CLAIMS)
    with pytest.raises(
        ValueError, match=r"claims\.toml: A2: this claim has a text and not a test of that id"
    ):
        texts.claims(folder, ["A1"])
    with pytest.raises(
        ValueError, match=r"claims\.toml: claim 'A3' has a test .* no text: write a table \[A3\]"
    ):
        texts.claims(folder, ["A1", "A2", "A3"])


def test_factors_have_their_words_and_the_changes_of_their_values(write):
    (found,) = texts.factors(write("readings", READINGS), {"clock": {"500 ms": {"b": 2}}})
    assert found == Factor(
        "clock",
        "How fine the clock is.",
        (Value("10 ms", "§3", {"a": 1}, 2, "Rare."), Value("500 ms", "ns-2", {"b": 2})),
        "The coarse one is the default.",
        "coarse clock",
    )
    assert texts.written_changes(write("readings", READINGS)) == {"clock": {"10 ms": {"a": 1}, "500 ms": {}}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"clocks": {}}, "factors: readings.py changes the factor 'clocks' (did you mean 'clock'?)"),
        (
            {"clock": {"1 s": {}}},
            "factors.clock.values: readings.py changes the value '1 s' (did you mean '10 ms'?)",
        ),
        (
            {"clock": {"10 ms": {}}},
            'factors.clock.values."10 ms" has changes here and in readings.py; keep one',
        ),
    ],
)
def test_changes_in_code_that_do_not_fit_the_file_are_errors(write, changes, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        texts.factors(write("readings", READINGS), changes)


def test_what_is_refused_and_what_is_shortened_stand_beside_the_factors(write):
    folder = write("readings", READINGS)
    assert texts.refused(folder) == (texts.Refused("no clock", "§3 has one"),)
    assert texts.shortened(folder) == "Fewer points."


def test_assumptions_have_what_they_need_and_no_more(write):
    folder = write(
        "assumptions", '[a]\nstatement = "S"\nsource = "W"\nswept = "clock"\n[b]\nstatement = "T"\n'
    )
    assert texts.assumptions(folder) == [Assumption("a", "S", "W", "clock"), Assumption("b", "T", "", "")]


def test_accounts_name_the_likely_set_up(write):
    text = '[001]\nwhy = "V"\nclosing = "E"\nsetup = { clock = "10 ms" }\n'
    text += '[009]\nwhy = "W"\n[009.words]\n"coarse clock" = "C"\n'
    first, second = texts.accounts(write("accounts", text))
    assert (first.paper, first.setup, first.why, first.words, first.closing) == (
        "001", {"clock": "10 ms"}, "V", {}, "E",
    )  # fmt: skip
    assert (second.paper, second.setup, second.words, second.closing) == (
        "009",
        {},
        {"coarse clock": "C"},
        "",
    )


@pytest.mark.parametrize(
    ("stem", "text", "said"),
    [
        ("claims", "[A1]\nstatement = 3\nsource = '§'", "claims.toml: A1.statement is 3; write a text"),
        ("claims", "[A1]\nstatement = ' '\nsource = '§'", "claims.toml: A1.statement is ' '; write a text"),
        ("claims", "[A1]\nsource = '§'", "claims.toml: A1.statement is missing; write a text in quotation marks"),
        ("claims", "[A1]\nstatment = 'S'", "claims.toml: A1: there is no key 'statment' (did you mean 'statement'?)"),
        ("claims", "[A1]\nstatement = 'S'\nsource = '§'\nassumptions = 'a'", "A1.assumptions is 'a'; write a list"),
        ("claims", "A1 = 'S'", "claims.toml: A1 is 'S'; write a table [A1]"),
        ("claims", "[A1\n", "claims.toml is not TOML: "),
        ("assumptions", "[a]\nstatement = 'S'\nsweeps = 'b'", "assumptions.toml: a: there is no key 'sweeps'"),
        ("accounts", "[001]\nwhy = 'W'\nwords = 'C'", "accounts.toml: 001.words is 'C'; write a table [001.words]"),
        ("accounts", "[001]\nwhy = 'W'\n[001.words]\nclock = 1", "accounts.toml: 001.words.clock is 1; write a text"),
        ("study", "title = 'T'\nquestion = 'Q'\nname = 'N'", "study.toml: there is no key 'name'"),
    ],
)  # fmt: skip
def test_mistakes_name_file_and_key(write, stem, text, said):
    folder = write(stem, text)
    read = {
        "claims": lambda: texts.claims(folder, ["A1"]),
        "assumptions": lambda: texts.assumptions(folder),
        "accounts": lambda: texts.accounts(folder),
        "study": lambda: texts.title(folder),
    }[stem]
    with pytest.raises(ValueError, match=re.escape(said)):
        read()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[factor.clock]", "readings.toml: there is no key 'factor' (did you mean 'factors'?)"),
        ("shortened = 'S'", "readings.toml: factors is missing; write a table [factors]"),
        ("[factors.clock]\nopen = 'O'\nranking = 'R'", "factors.clock.values is missing; write a table"),
        ("[factors.clock]\nkinds = 'K'", "factors.clock: there is no key 'kinds' (did you mean 'kind'?)"),
        (READINGS.replace("= 2", "= 0"), 'factors.clock.values."10 ms": value \'10 ms\' has plausibility 0'),
        (READINGS.replace("= 2", "= 'x'"), 'factors.clock.values."10 ms": '),
        (READINGS.replace('admits = "ns-2"', 'admit = "ns-2"'),
         'readings.toml: factors.clock.values."500 ms": there is no key \'admit\' (did you mean \'admits\'?)'),
    ],
)  # fmt: skip
def test_mistakes_in_readings_name_file_and_key(write, text, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        texts.factors(write("readings", text), {})


def test_a_list_of_what_is_refused_is_a_list_of_tables(write):
    with pytest.raises(
        ValueError, match=re.escape("readings.toml: refused is 'x'; write a list of tables: [[refused]]")
    ):
        texts.refused(write("readings", "refused = 'x'"))
    with pytest.raises(ValueError, match=re.escape("readings.toml: refused.1.why is missing")):
        texts.refused(write("readings", "[[refused]]\nwhat = 'x'"))


def test_explanations_are_filled_with_what_the_code_gives(write):
    notes = texts.notes(write("explanations", 'late = """With 80 calls\n{late:.1f} % {late:g}."""\n'))
    assert list(notes) == ["late"]
    assert notes.fill("late", late=2.04) == "With 80 calls 2.0 % 2.04."


@pytest.mark.parametrize(
    ("key", "values", "said"),
    [
        ("late", {}, "explanations.toml: late: the code does not give share"),
        ("late", {"share": 1, "lost": 2}, "explanations.toml: late: the code gives lost, which the text does not have"),
        ("late", {"lost": 2}, "late: the code does not give share, and gives lost, which the text does not have"),
        ("lat", {"share": 1}, "explanations.toml: there is no text 'lat' (did you mean 'late'?)"),
    ],
)  # fmt: skip
def test_an_explanation_with_other_values_names_file_and_key(write, key, values, said):
    notes = texts.notes(write("explanations", 'late = "{share} % late"\n'))
    with pytest.raises(ValueError, match=re.escape(said)):
        notes.fill(key, **values)


def test_an_explanation_with_a_stray_brace_names_file_and_key(write):
    with pytest.raises(ValueError, match=r"explanations\.toml: late is no text with names in braces"):
        texts.notes(write("explanations", 'late = "{share % late"\n'))


@pytest.mark.parametrize(
    "name",
    [
        *(f"fairwave_studies.{study}.explanations" for study in ("voice", "video", "dropping")),
        "fairwave_evaluation.controller",
        "fairwave_evaluation.discipline",
    ],
)
def test_every_explanation_gets_the_values_that_it_names_and_none_is_left_over(name):
    module = import_module(name)
    filled = {}
    for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "WORDS.fill":
            assert node.args[0].value not in filled
            filled[node.args[0].value] = {one.arg for one in node.keywords}
    assert set(filled) == set(module.WORDS)
    for key, values in filled.items():
        assert values == module.WORDS.names(key), key


def test_every_study_says_something_of_each_claim_factor_and_value():
    for name in studies():
        found = study(name)
        assert all(one.statement and one.source for one in found.claims), name
        for factor in found.readings.factors if found.readings else ():
            assert factor.open and factor.ranking, (name, factor.id)  # noqa: PT018
            assert all(one.admits for one in factor.values), (name, factor.id)


def test_the_layers_that_an_assumption_names_are_those_that_are_simulated():
    from fairwave_studies.video.systems import LAYER_KILOBITS, TOTAL_KILOBITS

    (layers,) = (one for one in study("video").assumptions if one.id == "layers")
    wanted = f"Five layers of {', '.join(str(one) for one in LAYER_KILOBITS)} kb/s, {TOTAL_KILOBITS} kb/s together."
    assert layers.statement == wanted
