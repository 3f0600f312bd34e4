"""Terminal output: control characters of names, files and other programs are shown as text."""

import json

import pytest

from fairwave.cli import console

ESCAPES = "\x1b]0;taken\x07 \x1b[31mred\x9b0m \rover \u202eback"
SHOWN = r"\x1b]0;taken\x07 \x1b[31mred\x9b0m \rover \u202eback"

SCENARIO = """
name = "n\\u001b[31mred\\u009b0m"
description = "\\u001b]0;title\\u0007"
duration = "1 s"
[[link]]
from = "a"
to = "b"
rate = "1 Mb/s"
delay = "10 ms"
[[flow]]
name = "stream"
from = "a"
to = "b"
transport = "udp"
traffic = { kind = "cbr", rate = "100 kb/s", payload = "500 B" }
"""


@pytest.mark.parametrize(
    "show",
    [
        console.complain,
        console.say,
        lambda text: console.table(text, [text], [[text]], caption=text),
        lambda text: console.pairs(text, [(text, text)]),
        console.out.print,
    ],
)
def test_escapes_are_shown_and_not_obeyed(show, capsys):
    show(ESCAPES)
    printed = "".join(capsys.readouterr())
    assert SHOWN in printed
    assert console.CONTROL.search(printed) is None


def test_line_ends_and_tabs_stay_what_they_are():
    assert console.visible("one\n\ttwo é 你") == "one\n\ttwo é 你"


def test_a_json_document_has_no_control_character_and_says_the_same(capsys):
    console.document({"name": ESCAPES})
    printed = capsys.readouterr().out
    assert console.CONTROL.search(printed) is None
    assert json.loads(printed) == {"name": ESCAPES}


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "--json"],
        ["check"],
        ["check", "--expand"],
        ["compare", "--over", "udp,tfrc", "-n", "2"],
    ],
)
def test_a_scenarios_names_change_no_terminal(fairwave, tmp_path, words):
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO)
    status, printed, error = fairwave(words[0], path, *words[1:])
    assert status == 0, error
    assert console.CONTROL.search(printed + error) is None


def test_neither_do_files_that_are_not_there_and_words_that_are_none(fairwave):
    for words in (["run", f"no{ESCAPES}.toml"], ["run", f"--no{ESCAPES}"]):
        status, printed, error = fairwave(*words)
        assert status == 2
        assert console.CONTROL.search(printed + error) is None
        assert r"\x1b" in error
