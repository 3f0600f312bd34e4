"""Pages in a browser: self-contained, accessible, on a phone, in the dark; playback keeps its position."""

import json
import re
from itertools import pairwise

import pytest

from accessibility import list_violations

KINDS = ("run", "compare", "sweep", "find", "study")

WIDER = """
() => [...document.querySelectorAll("body *")].filter((one) => {
  for (let at = one.parentElement; at; at = at.parentElement) {
    if (["auto", "scroll"].includes(getComputedStyle(at).overflowX)) return false;
  }
  const box = one.getBoundingClientRect();
  return box.width > 1 && (box.right > innerWidth + 1 || (box.left < -1 && box.right > 0));
}).map((one) => one.outerHTML.slice(0, 120))
"""

LETTERS = """
() => [...document.querySelectorAll(".picture svg text")].filter((one) => one.checkVisibility()).map((one) => {
  const svg = one.ownerSVGElement;
  return parseFloat(getComputedStyle(one).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
})
"""

STARTED = """
window.started = [];
const start = AudioBufferSourceNode.prototype.start;
const stop = AudioBufferSourceNode.prototype.stop;
AudioBufferSourceNode.prototype.start = function (when, offset) {
  this.number = window.started.length;
  window.started.push({ when, offset, samples: this.buffer.length, gain: null });
  return start.call(this, when, offset);
};
AudioBufferSourceNode.prototype.stop = function (when) {
  window.started[this.number].stopped = when;
  return stop.call(this, when);
};
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_keeps_anybody_from_reading_a_page(opened, kind):
    assert list_violations(opened(kind).page) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_alone_asks_for_nothing_and_complains_of_nothing(opened, kind):
    seen = opened(kind)
    asked = [one for one in seen.asked if not one.startswith("data:")]
    assert len(asked) == 1, asked
    assert seen.complaints == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_does_not_belong_to_a_page_does_not_run_in_it(pages, chromium, tmp_path, kind):
    text = pages[kind].read_text(encoding="utf-8")
    intruders = (
        "<script>window.ran = 1</script><img src=data:, onerror='window.ran = 2'>"
        "<p id=wide style='width: 77px'>x</p>"
    )
    changed = tmp_path / "changed.html"
    changed.write_text(text.replace("</main>", f"{intruders}</main>"), encoding="utf-8")
    context = chromium.new_context()
    page = context.new_page()
    page.goto(changed.as_uri())
    assert page.evaluate("window.ran") is None
    assert page.evaluate("document.getElementById('wide').clientWidth") != 77
    context.close()


@pytest.mark.parametrize("kind", KINDS)
def test_no_page_allows_what_is_merely_written_in_it(pages, kind):
    text = pages[kind].read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert "unsafe-inline" not in policy
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == (3 if kind == "compare" else 2)
    assert len(re.findall("'sha256-", policy.split("; ")[1])) == len(scripts), (
        "each by its hash, nothing else"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_phone_shows_everything_without_scrolling_sideways(opened, kind):
    page = opened(kind, 400).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert page.evaluate(WIDER) == []
    # Wide tables scroll separately, and the first column stays in place.
    for table in page.locator("section .scroll:has(> table)").all():
        if not table.is_visible():
            continue
        left = table.evaluate(
            "(one) => { one.scrollLeft = 9999; const cell = one.querySelector('tbody th');"
            " return cell.getBoundingClientRect().left - one.getBoundingClientRect().left; }"
        )
        assert abs(left) < 2
    sizes = page.evaluate(LETTERS)
    # The only figure of a search is a chart, with letters of the page's size.
    assert sizes or kind == "find"
    assert min(sizes, default=12) > 8, "letters in pictures can be read"


def test_the_answer_stands_in_the_first_screen(opened):
    for kind in KINDS:
        page = opened(kind).page
        box = page.locator(".verdicts strong").bounding_box()
        assert box["y"] + box["height"] < 500
    assert page.locator(".named a").count() == 2


@pytest.mark.parametrize("kind", KINDS)
def test_the_keyboard_reaches_whatever_can_be_used(opened, kind):
    page = opened(kind).page
    reached = set()
    for _ in range(250):
        page.keyboard.press("Tab")
        at = page.evaluate(
            "(() => { const one = document.activeElement; if (one === document.body) return null;"
            " if (!one.dataset.met) one.dataset.met = 1; else return null; return true; })()"
        )
        if not at:
            break
        reached.add(at)
    missed = page.evaluate(
        "[...document.querySelectorAll('a[href], button, input, summary, audio')].filter((one) =>"
        " one.checkVisibility() && !one.dataset.met && !(one.type === 'radio' && !one.checked))"
        ".map((one) => one.outerHTML.slice(0, 90))"
    )
    assert missed == []


def test_an_outline_shows_where_the_keyboard_is(opened):
    page = opened("compare").page
    page.locator(".play").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2


def test_who_wants_no_motion_gets_none(opened):
    page = opened("study").page
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_on_paper_there_is_nothing_to_press(opened):
    page = opened("compare").page
    page.emulate_media(media="print")
    for part in ("nav", ".player", ".files", "audio"):
        assert not page.locator(part).first.is_visible(), part
    assert page.locator(".verdicts").is_visible()


@pytest.fixture
def listening(opened):
    seen = opened("compare", script=STARTED)
    page = seen.page
    page.locator(".play").click()
    page.locator(".player[data-playing='true']").wait_for()
    yield seen
    assert seen.complaints == []


def lines(page):
    return [json.loads(one.get_attribute("data-places")) for one in page.locator(".clip").all()]


def across(line, source, target, value):
    """Interpolates along a line of positions from one column to the other."""
    import numpy as np

    columns = list(zip(*line, strict=True)) if line else [(0, 1e6), (0, 1e6)]
    return float(np.interp(value, columns[source], columns[target]))


def test_changing_what_is_heard_keeps_the_place_in_the_sentence(listening):
    page = listening.page
    places = lines(page)
    assert len(places) == 3
    assert any(abs(said - heard) > 0.1 for said, heard in places[2]), "what TCP says late would show a shift"
    page.locator(".place").evaluate(
        "(one) => { one.value = 3; one.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    order = [1]
    for key in "32132":
        page.wait_for_timeout(120)
        page.keyboard.press(key)
        order.append(int(key))
    started = page.evaluate("window.started")[1:]  # after the choice of the position
    assert len(started) == len(order)
    for (before, after), (was, now) in zip(pairwise(started), pairwise(order), strict=True):
        assert before["stopped"] - after["when"] < 0.02, "no gap and no echo"
        assert after["when"] <= before["stopped"]
        heard = before["offset"] + after["when"] - before["when"]
        left_at = across(places[was - 1], 1, 0, heard)
        went_on = across(places[now - 1], 1, 0, after["offset"])
        assert abs(went_on - left_at) < 0.05
    page.keyboard.press("1")
    assert page.locator(".status").inner_text() == "Playing The original"


def test_arrows_change_what_is_heard_and_pausing_keeps_the_place(listening):
    page = listening.page
    page.locator(".player input[type=radio]:checked").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".status").inner_text() == "Playing UDP"
    assert page.locator(".clip.sounding h3").inner_text() == "UDP"
    page.locator(".play").click()
    stood = float(page.locator(".player").get_attribute("data-said"))
    page.wait_for_timeout(100)
    assert float(page.locator(".player").get_attribute("data-said")) == stood > 0
    page.keyboard.press("3")
    assert float(page.locator(".player").get_attribute("data-said")) == pytest.approx(stood, abs=0.05)
    assert page.locator(".status").inner_text() == "Ready: Reno"


def test_blind_hides_the_names_until_it_is_over(listening):
    page = listening.page
    titles = page.locator(".player .title")
    page.locator(".blind input").check()
    assert titles.all_inner_texts() == ["A", "B", "C"]
    page.locator(".play").click()
    page.keyboard.press("2")
    assert page.locator(".status").inner_text() == "Playing B"
    assert page.locator(".clip.sounding").count() == 0
    page.locator(".blind input").uncheck()
    assert titles.all_inner_texts() == ["The original", "UDP", "Reno"]


def test_sound_is_decoded_as_long_as_it_was_made(opened):
    seen = opened("compare", script=STARTED)
    page = seen.page
    page.locator(".play").click()
    page.locator(".player[data-playing='true']").wait_for()
    assert page.evaluate("window.started.length") == 1
    rate = page.evaluate("new AudioContext().sampleRate")
    assert page.evaluate("window.started[0].samples") / rate > 5
