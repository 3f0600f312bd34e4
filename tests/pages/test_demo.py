"""The demo: two questions on one page."""

import re
from pathlib import Path

import pytest

from fairwave.cli import demo
from fairwave.cli.comparing import alternatives
from fairwave.scenario import load


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "out"
    # ViSQOL scores one part of each clip: this takes most of the time.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairwave_report.call.SCORED", 1)
        demo.show_demo(out, replications=3)
    return out / "index.html"


def test_both_questions_are_answered_on_one_page(page):
    text = page.read_text(encoding="utf-8")
    for question in demo.QUESTIONS:
        assert f'<h2 id="title-{question.id}">{question.title}</h2>' in text
        assert (page.parent / question.id / "index.html").is_file()
        assert f'href="{question.id}/index.html"' in text
    assert re.search("With queue = (CAKE and FQ-CoDel|FQ-CoDel and CAKE) the call is good", text)
    assert re.search("With queue = (Drop-Sel and drop-tail|drop-tail and Drop-Sel) it is poor", text)
    assert "Over UDP the 21 calls are good" in text


def test_each_question_has_a_player_of_its_own(page):
    text = page.read_text(encoding="utf-8")
    players = text.count('class="listen"')
    if not players:
        pytest.skip("there is no recording here")
    assert players == 2
    assert set(re.findall(r'name="(heard-[a-z-]+)"', text)) == {
        "heard-audio-home-line",
        "heard-audio-contested",
    }
    assert len(re.findall(r'<li class="clip"', text)) == 10


@pytest.mark.parametrize("question", demo.QUESTIONS, ids=lambda one: one.id)
def test_the_command_that_the_page_names_asks_the_same(question):
    option, words = question.command
    over, vary = (words, []) if option == "--over" else (None, [words])
    asked = alternatives(over, vary, question.group)
    base = load(question.example)
    typed, shown = (
        [base.with_overrides(one).plan() for one in changes.values()]
        for changes in (asked.changes, question.changes)
    )
    assert typed == shown


def test_readme_states_what_its_example_gives():
    said = re.search(
        r"the call is poor, with MOS (\S+ ± \S+) \(ten runs\)", Path("README.md").read_text(encoding="utf-8")
    )
    made = load("home-call").replicate(10)
    assert made.measured("mos", "call").interval().text(2) == said[1]
