"""The demo: two questions on one page."""

import re

import pytest

from fairwave_report import demo


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "out"
    # From the checkout, as `make demo` does it: the examples lie there.
    demo.demo(out, replications=2)
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


def test_the_commands_of_the_page_ask_the_same(page):
    text = page.read_text(encoding="utf-8")
    commands = re.findall(r"Make them again: <code>(.*?)</code>", text)
    assert len(commands) == 2
    assert all(one.startswith("fairwave compare examples/") for one in commands)
