"""Content of pictures: paths after a failure, groups, times without data, and axes and colours by relevance."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from functools import cache

import polars as pl
from matplotlib import colormaps

import fairwave
from fairwave.measuring import measures
from fairwave_report import figures, grids, labels, network_picture, session, style
from fairwave_report.chart import Chart, ChartPanel, ChartSeries
from fairwave_report.page import fonts
from fairwave_report.ways import ways
from made_up import made_up
from practice.situation import Situation, about, exactly, flow, link, near


@cache
def two_lines() -> fairwave.Scenario:
    """An office with a line that is cut from 3 to 6 s; its packets take another line 0.3 s later."""
    return fairwave.load(
        json.dumps(
            {
                "name": "an office with two lines",
                "duration": "9 s",
                "link": [
                    link("2 Mb/s", "10 ms", **{"from": "office", "to": "isp"}),
                    link("2 Mb/s", "5 ms", **{"from": "isp", "to": "pbx"}),
                    link("1 Mb/s", "35 ms", **{"from": "office", "to": "lte"}),
                    link("1 Mb/s", "5 ms", **{"from": "lte", "to": "pbx"}),
                ],
                "flow": [
                    flow("desk", "udp", {"kind": "voice", "codec": "g711"}, failover="300 ms")
                    | {"from": "office", "to": "pbx"}
                ],
                "event": [
                    {"at": "3 s", "link": "office<>isp", "state": "down"},
                    {"at": "6 s", "link": "office<>isp", "state": "up"},
                ],
            }
        )
    )


def detours() -> tuple[int, int]:
    """Nodes in the figure of the network, and links that only failover uses."""
    several = ways(two_lines(), 1)
    stands, places = network_picture.layout(two_lines().plan(1))
    taken = network_picture.add_detours([way.links for way in several if not way.is_first], stands, places)
    return len(places), len(taken - {name for way in several if way.is_first for name in way.links})


def share_of_colours(measure: measures.Measure, low: float, high: float) -> float:
    """The part of the colour range between two means, %."""
    ends = grids.colour_ends(measure, [low, high])
    return 100 * (high - low) / (ends[1] - ends[0])


def light_ends() -> int:
    """Number of maps with a good light end, for two measures that should be high and two that should be low."""
    good = 0
    for one in (measures.mos("a"), measures.goodput("a"), measures.delay("a"), measures.loss("a")):
        colours = grids._directed(colormaps[style.HOUSE.map], one)
        high, low = (grids._lightness(colours(end)) for end in (1.0, 0.0))
        good += (high > low) == (one.better == "higher")
    return good


def decades(values: Sequence[float], least: float) -> float:
    """Factors of ten on a logarithmic axis."""
    ends = figures.log_ends(values, least)
    assert ends is not None
    return math.log10(ends[1] / ends[0])


def holes(*without: tuple[float, float]) -> pl.DataFrame:
    """The points that break a line over 60 s in steps of 0.5 s without these times."""
    times = [at / 2 for at in range(121) if not any(low < at / 2 < high for low, high in without)]
    rows = pl.DataFrame({"name": "link", "time_s": times, "value": 1.0})
    return figures.with_gaps(rows, "name", "time_s").filter(pl.col("value").is_null())


def estimate_on_axis(capacity: float) -> float:
    """The part of the axis that an estimate of 2 Mb/s uses next to a capacity, %."""

    def line(label: str, value: float, *, is_bound: bool) -> session._Line:
        return session._Line(label, pl.DataFrame({"time_s": [0.0, 1.0], "value": [value, value]}), is_bound)

    lines = [line("capacity", capacity, is_bound=True), line("estimate", 2.0, is_bound=False)]
    _, most = session._readable(lines, "Mb/s")
    return 100 * 2.0 / (most or capacity)


def crowded() -> int:
    """Pairs of overlapping names: 25 nodes 40 apart, with names that are 58 wide."""
    points = {f"router{at:02}": (100.0 + 40 * (at % 5), 100.0 + 40 * (at // 5)) for at in range(25)}
    return labels.overlaps(labels.place(points, [], 11.0, 6.0, (0.0, 0.0, 800.0, 720.0)), 11.0)


def named_groups() -> int:
    """Number of the four figures of distributions that name the group."""
    drawn = [made_up().plot("goodput.voice", kind=kind) for kind in ("ecdf", "box", "violin", "difference")]
    return sum(one.axes[0].get_title(loc="left").startswith("voice ") for one in drawn)


def nulls() -> int:
    """Values without a number in a page's chart of three."""
    line = ChartSeries("a", style.look(0), [0.0, 10.0, 20.0], [1.0, math.nan, 2.0])
    (panel,) = json.loads(Chart([ChartPanel("", "", "", [line])]).to_json())["panels"]
    return panel["series"][0]["y"].count(None)


def situations() -> Iterator[Situation]:
    """In the order of the page."""
    count = "one line of two routers, and a second one that packets take after a cut"
    yield Situation(
        "picture/nodes-after-failover", "An office with two lines, one cut for 3 s: nodes in the network's figure",
        "", *exactly(4), "office, isp and pbx, and lte on the way around", lambda: detours()[0],
    )  # fmt: skip
    yield Situation(
        "picture/links-after-failover", "The same: links that are dotted, for only failover takes them",
        "", *exactly(2), count, lambda: detours()[1],
    )  # fmt: skip
    smallest = "colours span five smallest differences that count"
    yield Situation(
        "picture/colours-of-4-ms", "Delays from 65 to 69 ms in a map: part of the range of colours",
        "%", *near(8, 1e-9), f"{smallest} (10 ms each): 4 of 50 ms", lambda: share_of_colours(measures.delay("a"), 65, 69),
    )  # fmt: skip
    yield Situation(
        "picture/colours-of-loss", "Losses of 0 and 0.1 % in a map: part of the range of colours",
        "%", *near(4, 1e-9), f"{smallest} (0.5 points each): 0.1 of 2.5", lambda: share_of_colours(measures.loss("a"), 0, 0.1),
    )  # fmt: skip
    yield Situation(
        "picture/colours-of-mos", "MOS from 2.4 to 4.4 in a map: part of the range of colours",
        "%", *near(100, 1e-9), "the range fits what differs by more", lambda: share_of_colours(measures.mos("a"), 2.4, 4.4),
    )  # fmt: skip
    yield Situation(
        "picture/light-is-good", "Maps of MOS, goodput, delay and loss: those whose light end is good",
        "", *exactly(4), "one direction everywhere", light_ends,
    )  # fmt: skip
    yield Situation(
        "picture/decades-of-waits", "Waits of 10⁻⁷ and 60 ms on a logarithmic axis that begins at 0.1 ms: decades",
        "", *about(1.1 * math.log10(600), 0.001), "log 600, and a twentieth at each end", lambda: decades([1e-7, 60.0], 0.1),
    )  # fmt: skip
    yield Situation(
        "picture/decades-at-most", "Rates of 1 b/s and 1 Gb/s on a logarithmic axis: decades",
        "", *about(1.1 * 4, 0.001), "four at most, and a twentieth at each end", lambda: decades([1.0, 1e9], 0.0),
    )  # fmt: skip
    yield Situation(
        "picture/gap-of-20-s", "A line in steps of 0.5 s without data from 20 to 40 s: where it is broken",
        "s", *near(30, 1e-9), "in the middle", lambda: float(holes((20, 40))["time_s"][0]),
    )  # fmt: skip
    yield Situation(
        "picture/two-gaps", "The same, and without data from 50 to 52 s: breaks",
        "", *exactly(2), "one for each time without data", lambda: holes((20, 40), (50, 52)).height,
    )  # fmt: skip
    yield Situation(
        "picture/no-gap", "The same with all data: breaks",
        "", *exactly(0), "even steps", lambda: holes().height,
    )  # fmt: skip
    yield Situation(
        "picture/null-in-a-chart", "A page's chart of three values, one of which is no number: values left out",
        "", *exactly(1), "a line ends at null", nulls,
    )  # fmt: skip
    yield Situation(
        "picture/estimate-below-60", "An estimate of 2 Mb/s next to a capacity of 60: part of the axis that it takes",
        "%", *near(100 / 1.1, 0.01), "60 is off the axis, which ends a tenth above 2", lambda: estimate_on_axis(60),
    )  # fmt: skip
    yield Situation(
        "picture/estimate-below-5", "An estimate of 2 Mb/s next to a capacity of 5: part of the axis that it takes",
        "%", *near(40, 0.01), "both are on the axis", lambda: estimate_on_axis(5),
    )  # fmt: skip
    yield Situation(
        "picture/crowded-names", "25 nodes 40 apart on a map, with names 58 wide: pairs of names that cover each other",
        "", *exactly(0), "there is room above and below", crowded,
    )  # fmt: skip
    yield Situation(
        "picture/groups-in-spreads", "CDF, box, violin and difference of a group's goodput: figures that name the group",
        "", *exactly(4), "each does", named_groups,
    )  # fmt: skip
    yield Situation(
        "picture/fonts-of-a-page", "Fonts within a page, for text and for code",
        "", *exactly(2), "a page asks for nothing", lambda: fonts().count("data:font/woff2;base64,"),
    )  # fmt: skip
