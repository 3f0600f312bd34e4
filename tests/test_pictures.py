"""Figures show the results: paths after a failure, groups by name, gaps, and axes and colours by relevance."""

import json
import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg

import fairwave
from fairwave.measuring import measures
from fairwave.provenance import Provenance
from fairwave_report import chart, figures, grids, labels, session, single, style
from fairwave_report.atlas import LETTERS, Atlas, State
from fairwave_report.axes import heading, least_span
from fairwave_report.chart import Chart, ChartPanel, ChartSeries
from fairwave_report.figures import Panel, canvas, draw_panels
from fairwave_report.ways import ways
from made_up import made_up

OFFICE = """
name = "an office with two lines"
duration = "9 s"

[[link]]
from = "office"
to = "router"
rate = "1 Gb/s"
delay = "0 ms"

[[link]]
from = "router"
to = "isp"
rate = "2 Mb/s"
delay = "10 ms"

[[link]]
from = "router"
to = "lte"
rate = "1 Mb/s"
delay = "35 ms"

[[link]]
from = "lte"
to = "pbx"
rate = "1 Gb/s"
delay = "5 ms"

[[link]]
from = "isp"
to = "pbx"
rate = "1 Gb/s"
delay = "5 ms"

[[flow]]
name = "desk"
from = "office"
to = "pbx"
transport = "udp"
traffic = { kind = "voice", codec = "g711" }
failover = "300 ms"

[[flow]]
name = "backup"
from = "office"
to = "pbx"
transport = "tcp/cubic"
traffic = "bulk"
failover = "300 ms"

[[event]]
at = "3 s"
link = "router<>isp"
state = "down"

[[event]]
at = "6 s"
link = "router<>isp"
state = "up"

[record]
bin = "250 ms"
queues = ["*"]
series = ["desk"]
"""


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    """The drawn run, and its folder of figures."""
    scenario = fairwave.load(OFFICE)
    run = single.repeat_run(scenario, scenario.replicate(1), 1)
    folder = tmp_path_factory.mktemp("office")
    drawings = {one.id: one for one in (single.draw_network(run, folder), single.draw_series(run, folder))}
    return run, folder, drawings


def texts(svg):
    return re.findall(r"<text [^>]*>([^<]*)</text>", svg)


def test_the_network_has_the_way_that_failover_takes(office):
    _, folder, drawings = office
    assert "lte" in texts(drawings["network"].svg)
    links = pl.read_csv(folder / "network.csv", comment_prefix="#")["link"].to_list()
    assert {"router>lte", "lte>pbx", "router>isp", "isp>pbx"} <= set(links)
    assert "Dotted links carry packets only after a failure" in drawings["network"].caption


def test_ways_come_in_the_order_of_time(office):
    run, _, _ = office
    taken = [
        (way.since_s, way.links[1], way.is_first) for way in ways(run.scenario, 1) if way.flow == "desk[0]"
    ]
    assert taken == [(0.0, "router>isp", True), (3.3, "router>lte", False), (6.3, "router>isp", False)]


def test_boxes_in_the_network_do_not_cover_each_other(office):
    from fairwave_report.network_picture import add_detours, layout

    run, _, _ = office
    stands, places = layout(run.scenario.plan(1))
    detours = [way.links for way in ways(run.scenario, 1) if not way.is_first]
    assert add_detours(detours, stands, places) >= {"router>lte", "lte>pbx"}
    spots = [(one.x, one.y) for one in places.values()]
    assert all(
        abs(x - a) > 0.08 or abs(y - b) > 0.1 for at, (x, y) in enumerate(spots) for a, b in spots[:at]
    )


def test_a_line_ends_where_data_ends(office):
    _, _, drawings = office
    panel = next(one for one in drawings["series"].chart.panels if one.title == "Queueing delay")
    line = next(one for one in panel.series if one.label == "router>isp")
    idle = [y for x, y in zip(line.x, line.y, strict=True) if 3.6 < x < 6.2]
    assert idle, "there is something that breaks the line"
    assert all(y is None or math.isnan(y) for y in idle)
    assert all(not (a < 4 and b > 6) for a, b in zip(line.x, line.x[1:], strict=False))


def test_waits_that_do_not_count_leave_the_axis_to_those_that_do(office):
    _, _, drawings = office
    panel = next(one for one in drawings["series"].chart.panels if one.title == "Queueing delay")
    assert "office>router" not in [one.label for one in panel.series], "0.003 ms on a link of 1 Gb/s"
    assert re.search(r"always below 0\.1 ms, and not drawn: [^.]*office>router", drawings["series"].caption)
    low, high = panel.ends
    assert not panel.log_y or math.log10(high / low) < figures.DECADES + 1


@pytest.mark.parametrize(
    ("values", "least", "decades"),
    [
        ([1e-7, 0.0, 5.0, 60.0], 0.1, math.log10(600)),
        ([1e-7, 60.0], 0.0, figures.DECADES),
        ([2.0, 20.0], 0.1, 1.0),
        ([math.nan, None, 3.0], 0.0, 0.0),
    ],
)
def test_a_logarithmic_axis_has_few_decades(values, least, decades):
    low, high = figures.log_ends(values, least)
    assert low < max(one for one in values if one and one > 0) < high
    inner = math.log10(high / low)
    assert inner == pytest.approx(1.1 * decades if decades else math.log10(4))


def test_nothing_positive_has_no_logarithmic_axis():
    assert figures.log_ends([0.0, None, math.nan]) is None


def test_a_missing_bin_is_a_gap_and_even_steps_are_none():
    even = pl.DataFrame({"name": ["a"] * 4, "time_s": [0.0, 1.0, 2.0, 3.0], "value": [1.0] * 4})
    assert figures.with_gaps(even, "name", "time_s").equals(even)
    longer = pl.DataFrame({"name": ["a"] * 5, "time_s": [0.0, 1.0, 2.0, 4.0, 5.0], "value": [1.0] * 5})
    found = figures.with_gaps(longer, "name", "time_s")
    assert found.filter(pl.col("value").is_null()).rows() == [("a", 3.0, None)]


def test_a_hole_breaks_the_line_of_its_series_alone():
    rows = pl.DataFrame(
        {
            "name": ["a"] * 6 + ["b"] * 3,
            "time_s": [0.0, 1.0, 2.0, 22.0, 23.0, 24.0, 0.0, 1.0, 2.0],
            "value": [1.0] * 9,
        }
    )
    found = figures.with_gaps(rows, "name", "time_s")
    assert found.filter(pl.col("value").is_null()).rows() == [("a", 12.0, None)]
    assert found.filter(name="a")["time_s"].is_sorted()


def test_a_chart_keeps_gaps():
    panel = ChartPanel("", "", "", [ChartSeries("a", style.look(0), [0.0, 10.0, 20.0], [1.0, math.nan, 2.0])])
    assert json.loads(Chart([panel]).to_json())["panels"][0]["series"][0]["y"] == [1.0, None, 2.0]


def test_over_a_parameter_a_point_that_is_not_defined_is_a_gap():
    data = pl.DataFrame(
        {"x": [1, 2, 3], "mean": [1.0, None, 3.0], "low": [1.0, None, 3.0], "high": [1.0, None, 3.0]}
    )
    with canvas("test", (4, 3)) as figure:
        draw_panels(figure, [Panel(data, "x", None, "", "")])
        (line,) = figure.axes[0].lines
    assert np.isnan(line.get_ydata()).tolist() == [False, True, False]


def test_headings_name_groups_as_they_are_written():
    goodput = measures.goodput("mine")
    assert heading(goodput, "mine") == "mine goodput"
    assert heading(measures.goodput("other"), "other") == "other goodput"
    assert heading(measures.goodput()) == "Goodput"


DUEL = """
name = "two flows"
duration = "4 s"
warmup = "1 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "2 Mb/s", delay = "10 ms", queue = { discipline = "drop-tail", capacity = { packets = 20 } } }
[[flow]]
name = "mine"
transport = "tcp/cubic"
traffic = "bulk"
[[flow]]
name = "other"
transport = "tcp/cubic"
traffic = "bulk"
"""


@pytest.fixture(scope="module")
def duel():
    return fairwave.compare(fairwave.load(DUEL), {"flow.mine.transport": ["tcp/cubic", "tcp/vegas"]}, n=3)


@pytest.mark.parametrize("kind", ["ecdf", "box", "violin", "difference"])
def test_the_spread_of_runs_names_groups(duel, kind):
    figure = duel.plot(["goodput.mine", "goodput.other"], kind=kind)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["mine goodput", "other goodput"]


def test_the_page_of_a_comparison_names_groups_in_each_figure(tmp_path, fairwave, monkeypatch):
    (tmp_path / "duel.toml").write_text(DUEL, encoding="utf-8")
    words = ("--vary", "flow.mine.transport=tcp/cubic,tcp/vegas", "-n", 3, "--figures", "svg")
    status, _, said = fairwave("compare", tmp_path / "duel.toml", *words, "--out", tmp_path / "out")
    assert status == 0, said
    drawn = sorted((tmp_path / "out" / "figures").glob("*.svg"))
    assert {one.stem for one in drawn} == {"box", "cdf", "differences", "others", "violin"}
    for one in drawn:
        words = " ".join(texts(one.read_text(encoding="utf-8")))
        assert "mine" in words, one.name
        assert "other" in words, one.name


@pytest.mark.parametrize(
    ("measure", "means", "share"),
    [
        (measures.delay("call"), (65.0, 69.0), 4 / 50),
        (measures.mos("call"), (4.0, 4.04), 0.04 / 0.5),
        (measures.loss("call"), (0.0, 0.1), 0.1 / 2.5),
        (measures.delay("call"), (20.0, 400.0), 1.0),
        (measures.goodput("call"), (10.0, 10.1), 0.1 / (5 * 0.02 * 10.1)),
    ],
)
def test_colours_show_differences_that_count(measure, means, share):
    low, high = grids.colour_ends(measure, means)
    assert low <= means[0] <= means[1] <= high
    assert measure.limits[0] <= low
    assert high <= measure.limits[1]
    assert (means[1] - means[0]) / (high - low) == pytest.approx(share)


@pytest.mark.parametrize(("means", "share"), [((65.0, 69.0), 4 / 50), ((20.0, 400.0), 1 / 1.5)])
def test_axes_that_fit_show_differences_that_count(means, share):
    rows = {"x": [1, 2], "mean": list(means), "low": list(means), "high": list(means)}
    span = least_span(measures.delay("call"), means)
    for kind in ("dot", "line"):
        panel = Panel(pl.DataFrame(rows), "x", None, "ms", "", kind=kind, y_from_zero=False, span=span)
        with canvas("test", (4, 3)) as figure:
            draw_panels(figure, [panel])
            low, high = figure.axes[0].get_ylim()
        assert (means[1] - means[0]) / (high - low) == pytest.approx(share)
        if kind == "line":
            assert chart.chart_panels([panel]).panels[0].ends == pytest.approx((low, high))


@pytest.mark.parametrize("kind", ["ecdf", "box", "violin"])
def test_the_spread_of_runs_that_are_alike_looks_small(kind):
    results = made_up()
    figure = results.plot("delay.voice", kind=kind)
    assert results.measured("delay.voice").samples(transport="udp").tolist() == [50.0] * 3
    ends = figure.axes[0].get_xlim() if kind == "ecdf" else figure.axes[0].get_ylim()
    assert ends[1] - ends[0] >= 50


@pytest.mark.parametrize("name", [style.HOUSE.map, "cividis", "Greys", "viridis"])
@pytest.mark.parametrize("measure", [measures.delay("call"), measures.mos("call"), measures.loss("call")])
def test_light_is_good_in_every_map(name, measure):
    colours = grids._directed(colormaps[name], measure)
    good, bad = (1.0, 0.0) if measure.better == "higher" else (0.0, 1.0)
    assert grids._lightness(colours(good)) > grids._lightness(colours(bad)) + 0.5


def test_no_map_has_yellow_which_is_fair_elsewhere():
    colours = colormaps[style.HOUSE.map](np.linspace(0, 1, 50))
    assert (colours[:, 2] >= colours[:, :2].max(axis=1) - 0.01).all(), "blue is never less than red and green"


def line_of(label, *values, is_bound=False):
    return session._Line(label, pl.DataFrame({"time_s": range(len(values)), "value": values}), is_bound)


@pytest.mark.parametrize(("capacity", "share"), [(60.0, 1 / 1.1), (5.0, None), (2.0, None)])
def test_a_capacity_does_not_flatten_the_estimate(capacity, share):
    bound = line_of("capacity of the path", capacity, capacity, is_bound=True)
    shown, most = session._readable([bound, line_of("estimate", 1.5, 2.0, None)], "Mb/s")
    if share is None:
        assert most is None
        assert shown[0].label == "capacity of the path"
    else:
        assert 2.0 / most == pytest.approx(share)
        assert shown[0].label == f"capacity of the path: {capacity:g} Mb/s, off the axis"


def test_a_capacity_without_an_estimate_is_drawn():
    bound = line_of("capacity of the path", 60.0, is_bound=True)
    shown, most = session._readable([bound, line_of("estimate", None)], "Mb/s")
    assert (shown[0].label, most) == ("capacity of the path", None)


def test_names_on_the_map_of_germany_do_not_cover_each_other():
    pytest.importorskip("topohub", reason="topologies of TopoHub are not installed: fairwave[network]")
    from fairwave_network.reading import from_topohub

    graph = from_topohub("sndlib/germany50", "topology")
    places = {data["name"]: tuple(data["pos"]) for _, data in graph.nodes(data=True)}
    links = [f"{graph.nodes[one]['name']}>{graph.nodes[other]['name']}" for one, other in graph.edges()]
    atlas = Atlas(places, links, [State("", "", [], {}, {})], [], degrees=True)
    beside = [labels.Label(name, x + 6, y - 6, "start") for name, (x, y) in atlas.nodes.items()]
    assert labels.overlaps(beside, LETTERS) == 7, "to the right and above: how it was"
    assert len(atlas.labels) == 50
    assert labels.overlaps(atlas.labels, LETTERS) == 0
    for one in atlas.labels:
        left, top, right, bottom = one.box(LETTERS)
        assert left >= 0
        assert top >= 0
        assert right <= 800
        assert bottom <= 720
        assert not any(left < x < right and top < y < bottom for x, y in atlas.nodes.values())


def test_boxes_of_labels_are_as_wide_as_their_letters():
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    for name in ("Frankfurt", "Norden", "Oberhausen", "Saarbruecken", "Muenchen", "Wesel"):
        text = TextPath((0, 0), name, size=LETTERS, prop=FontProperties(family="DejaVu Sans"))
        left, _, right, _ = labels.Label(name, 0.0, 0.0, "start").box(LETTERS)
        assert right - left >= text.get_extents().width


def test_labels_of_two_points_at_one_place_do_not_cover_each_other():
    found = labels.place({"one": (50.0, 50.0), "two": (50.0, 50.0)}, [], 10.0, 5.0, (0.0, 0.0, 100.0, 100.0))
    assert labels.overlaps(found, 10.0) == 0


@pytest.mark.parametrize("name", ["contested-call", "germany", "failover", "home-uplink", "conference"])
def test_words_in_the_picture_of_a_network_do_not_cover_each_other(name):
    if name == "germany":
        pytest.importorskip("topohub", reason="topologies of TopoHub are not installed: fairwave[network]")
    scenario = fairwave.load(f"examples/{name}.toml")
    links = pl.DataFrame([{"link": one["name"], "utilisation": 0.5} for one in scenario.plan(1)["links"]])
    results = SimpleNamespace(to_polars=lambda _: links, provenance=Provenance.collect({}, [1]))
    with figures.keeping() as kept:
        single.draw_network(SimpleNamespace(scenario=scenario, seed=1, results=results), Path())
    drawn = FigureCanvasAgg(kept[0])
    drawn.draw()
    boxes = [one.get_window_extent(drawn.get_renderer()) for one in kept[0].axes[0].texts if one.get_text()]
    assert len(boxes) > 3
    assert sum(one.overlaps(other) for at, one in enumerate(boxes) for other in boxes[:at]) == 0
    assert all(one.x0 >= 0 and one.x1 <= kept[0].bbox.x1 for one in boxes)
