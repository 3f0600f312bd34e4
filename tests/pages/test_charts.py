"""Interactive figures: value, zoom, legend, keys, and the still picture on paper and without scripts."""

import base64
import hashlib
import json
import math
import re
from pathlib import Path

import pytest

from fairwave_report.chart import MOST_POINTS, Chart, ChartPanel, ChartSeries
from fairwave_report.page import _text, plotting
from fairwave_report.style import LOOKS

ROOT = Path(__file__).parents[2]
VENDORED = ROOT / "python" / "fairwave_report" / "templates" / "uplot"

SHA256 = {
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}
"""The files in the npm package with the version and checksum of the lab's lock file."""


def test_uplot_is_that_of_the_lock_file_with_its_licence():
    locked = json.loads((ROOT / "lab" / "package-lock.json").read_text())["packages"]["node_modules/uplot"]
    assert locked["version"] == "1.6.32", "renew the files, and their checksums here"
    assert locked["integrity"] == (
        "sha512-KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw=="
    )
    for name, digest in SHA256.items():
        assert hashlib.sha256((VENDORED / name).read_bytes()).hexdigest() == digest, name
    text = plotting()
    assert "The MIT License" in text
    assert "Leon Sorokin" in text


def test_a_chart_cannot_end_its_script_element():
    series = ChartSeries("</script><b>", LOOKS[0], [1.0, 2.0], [1.0, None])
    text = Chart([ChartPanel("&<!--", "x", "y", [series])]).to_json()
    assert "<" not in text
    assert ">" not in text
    read = json.loads(text)["panels"][0]
    assert read["series"][0]["label"] == "</script><b>"
    assert read["series"][0]["y"] == [1.0, None]
    assert read["title"] == "&<!--"


def test_a_chart_has_gaps_for_what_is_no_number():
    series = ChartSeries("a", LOOKS[1], [0.0, 1.0, 2.0], [float("nan"), float("inf"), 1.23456789])
    read = json.loads(Chart([ChartPanel("", "x", "y", [series])]).to_json())
    assert read["panels"][0]["series"][0]["y"] == [None, None, 1.23457]
    assert read["panels"][0]["series"][0]["dash"] == [12.0, 4.0]
    assert MOST_POINTS > 1000


def chart(page, figure):
    found = page.locator(f"#figure-{figure} .canvas").first
    found.scroll_into_view_if_needed()
    return found


RECORD = """
window.drawn = [];
let made;
Object.defineProperty(window, "uPlot", {
  configurable: true,
  get: () => made,
  set: (plot) => {
    made = new Proxy(plot, { construct: (of, [options, data, place]) => {
      const one = new of(options, data, place);
      window.drawn.push({ data, plot: one });
      return one;
    } });
  },
});
"""


def charted(chromium, folder, panel):
    """uPlot's drawing of a panel: its data, undefined positions as None, and the ends of the vertical axis."""
    file = folder / "chart.html"
    file.write_text(
        '<!doctype html><meta charset="utf-8"><main><figure><script type="application/json" class="chart">'
        f"{Chart([panel]).to_json()}</script></figure></main><script>{plotting()}</script>"
        f"<script>{_text('chart.js')}</script>",
        encoding="utf-8",
    )
    page = chromium.new_page()
    page.add_init_script(RECORD)
    page.goto(file.as_uri())
    found = page.evaluate("[drawn.at(-1).data, drawn.at(-1).plot.scales.y]")
    page.close()
    return found


def test_a_gap_goes_on_where_another_line_has_values(chromium, tmp_path):
    several = [
        ChartSeries("with a gap", LOOKS[0], [0.0, 1.0, 11.0, 21.0, 22.0], [1.0, 1.0, math.nan, 2.0, 2.0]),
        ChartSeries("without", LOOKS[1], [float(at) for at in range(23)], [3.0] * 23),
    ]
    times, gap, whole = charted(chromium, tmp_path, ChartPanel("", "time (s)", "ms", several))[0]
    assert [at for at, one in zip(times, gap, strict=True) if one is not None] == [0, 1, 21, 22]
    assert whole == [3] * 23
    file = (tmp_path / "chart.html").as_uri()
    page = chromium.new_page()
    page.add_init_script(RECORD)
    page.goto(file)
    # In the gap, the pointer shows only the value of the other line.
    page.evaluate("() => drawn.at(-1).plot.setCursor({ left: drawn.at(-1).plot.valToPos(11, 'x'), top: 10 })")
    assert page.locator(".tip-box span").all_inner_texts() == ["without 3"]
    # uPlot joins values over `undefined` and ends a line at `null`.
    assert page.evaluate("drawn.at(-1).data[1].slice(2, 21).every((one) => one === null)")
    page.close()


def test_a_logarithmic_axis_ends_where_the_figure_says(chromium, tmp_path):
    line = ChartSeries("a", LOOKS[0], [0.0, 1.0, 2.0], [1e-7, 1.0, 50.0])
    panel = ChartPanel("", "time (s)", "ms", [line], log_y=True, ends=(0.1, 60.0))
    _, axis = charted(chromium, tmp_path, panel)
    assert [axis["min"], axis["max"]] == pytest.approx([0.1, 60.0])


@pytest.mark.parametrize(("kind", "figure"), [("run", "series"), ("sweep", "curves"), ("find", "limit")])
def test_the_value_at_the_pointer_is_told(opened, kind, figure):
    seen = opened(kind)
    page = seen.page
    canvas = chart(page, figure)
    tip = page.locator(f"#figure-{figure} .tip-box").first
    assert not tip.is_visible()
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip.wait_for(state="visible")
    told = tip.inner_text()
    assert re.search(r"\d", told.splitlines()[0])
    page.mouse.move(2, 2)
    tip.wait_for(state="hidden")
    assert seen.complaints == []


def test_what_the_pointer_is_told_is_what_was_measured(opened, pages):
    import polars as pl

    page = opened("find").page
    canvas = chart(page, "limit")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    tip = page.locator("#figure-limit .tip-box")
    tip.wait_for(state="visible")
    tried = pl.read_csv(pages["find"].parent / "tried.csv")
    first, told = tried.row(0, named=True), tip.inner_text()
    assert told.splitlines()[0] == f"voice.count {first['flow.voice.count']}"
    mean = float(f"{first['mean']:.4g}")
    assert f"voice loss {mean:g}" in told
    page.keyboard.press("ArrowRight")
    second = tried.row(1, named=True)
    assert tip.inner_text().splitlines()[0] == f"voice.count {second['flow.voice.count']}"
    page.keyboard.press("Escape")
    tip.wait_for(state="hidden")


def test_dragging_zooms_and_the_whole_range_comes_back(opened):
    page = opened("run").page
    canvas = chart(page, "series")
    reset = page.locator("#figure-series .reset")
    assert not reset.is_visible()
    over = page.locator("#figure-series .u-over").first.bounding_box()
    y = over["y"] + over["height"] / 2
    page.mouse.move(over["x"] + over["width"] * 0.3, y)
    page.mouse.down()
    page.mouse.move(over["x"] + over["width"] * 0.6, y, steps=4)
    page.mouse.up()
    reset.wait_for(state="visible")
    reset.click()
    reset.wait_for(state="hidden")
    assert canvas.is_visible()


def test_a_legend_hides_and_shows_a_line(opened):
    page = opened("sweep").page
    chart(page, "curves")
    button = page.locator("#figure-curves .legend button").first
    name = button.inner_text().strip()
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    box = chart(page, "curves").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = page.locator("#figure-curves .tip-box").first
    tip.wait_for(state="visible")
    assert name not in tip.inner_text()
    button.click()
    page.mouse.move(box["x"] + box["width"] / 2 + 3, box["y"] + box["height"] / 2)
    assert button.get_attribute("aria-pressed") == "true"
    tip.wait_for(state="visible")
    assert name in tip.inner_text()


def test_a_bar_and_a_cell_say_their_number(opened):
    for kind, words in (("compare", r"UDP: \d"), ("sweep", r"voice\.count \d.*: \d")):
        page = opened(kind).page
        part = page.locator("#figures .picture .tip").first
        part.scroll_into_view_if_needed()
        box = part.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.8)
        tip = page.locator(".tip-box.afloat")
        tip.wait_for(state="visible")
        assert re.search(words, tip.inner_text())


def test_on_paper_and_without_scripts_the_still_picture_is_seen(opened, chromium, pages):
    page = opened("sweep").page
    still, live = page.locator("#figure-curves > .still"), page.locator("#figure-curves .live")
    assert (still.is_visible(), live.is_visible()) == (False, True)
    page.emulate_media(media="print")
    assert (still.is_visible(), live.is_visible()) == (True, False)
    context = chromium.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(pages["sweep"].as_uri())
    assert plain.locator("#figure-curves > .still").is_visible()
    assert plain.locator("#figure-curves .live").count() == 0
    context.close()


def test_a_chart_in_a_closed_part_is_there_when_it_opens(opened):
    seen = opened("compare")
    page = seen.page
    canvas = page.locator("#figure-cdf canvas").first
    assert not canvas.is_visible()
    page.locator("details.folded > summary").click()
    canvas.wait_for(state="visible")
    box = canvas.bounding_box()
    figure = page.locator("#figure-cdf").bounding_box()
    assert 200 < box["width"] <= figure["width"]
    assert seen.complaints == []


def test_bars_of_a_verdict_begin_and_end_below_each_other(opened):
    page = opened("compare").page
    page.locator(".bands li .badge").first.evaluate(
        "(one) => { one.textContent = 'good or fair or poor, perhaps'; }"
    )
    tracks = [one.bounding_box() for one in page.locator(".bands .track").all()]
    assert len(tracks) > 1
    assert len({round(one["x"], 1) for one in tracks}) == 1
    assert len({round(one["width"], 1) for one in tracks}) == 1


def test_scripts_of_a_page_are_those_of_the_package(pages):
    text = pages["find"].read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    digest = base64.b64encode(hashlib.sha256(plotting().encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy
