"""Figures do not mislead: the ends of axes, the extent of intervals, and the captions."""

import math

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import LineCollection

from fairwave.answers.lines import lines
from fairwave.measuring import measures
from fairwave.measuring.measures import MOS, PERCENT, RATIO
from fairwave.measuring.relevance import USUAL
from fairwave_report import comparison
from fairwave_report.figures import Panel, canvas, draw_panels
from made_up import made_up

SHOWN = [
    one
    for one in measures.list_measures("voice", "stream")
    if one.applies.to == measures.STREAM
    and one.id not in {"decodable", "decodable-layers", "late", "sender-wait"}
]
"""Measures of a comparison of calls."""


def summary(*rows):
    """Rows of label, mean, low, high."""
    return pl.DataFrame(rows, schema=["transport", "mean", "low", "high"], orient="row")


def panel(*rows, kind="bar", **more):
    return Panel(summary(*rows), "transport", None, "", "", kind=kind, **more)


def drawn(*panels):
    with canvas("test", (6, 3)) as figure:
        draw_panels(figure, panels)
        return figure.axes


def whiskers(axes):
    """Lower and upper ends of all error bars."""
    lines = [one for one in axes.collections if isinstance(one, LineCollection)]
    return [(segment[:, 1].min(), segment[:, 1].max()) for line in lines for segment in line.get_segments()]


def test_bars_of_a_mean_opinion_score_begin_at_one():
    (axes,) = drawn(panel(("udp", 3.0, 2.8, 3.2), ("tfrc", 2.0, 1.9, 2.1), limits=MOS))
    assert axes.get_ylim()[0] == 1.0
    assert [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in axes.patches] == [(1.0, 3.0), (1.0, 2.0)]


def test_lines_of_a_mean_opinion_score_begin_at_one():
    (axes,) = drawn(panel((1, 3.0, 2.8, 3.2), (2, 2.0, 1.9, 2.1), kind="line", limits=MOS))
    assert axes.get_ylim()[0] == 1.0


def test_a_measure_without_a_least_begins_at_zero():
    (axes,) = drawn(panel(("udp", 3.0, 2.8, 3.2)))
    assert axes.get_ylim()[0] == 0.0


def test_whiskers_end_where_the_measure_does():
    (fairness,) = drawn(panel(("udp", 0.97, 0.9, 1.04), limits=RATIO))
    assert whiskers(fairness) == [(0.9, 1.0)]
    (loss,) = drawn(panel(("udp", 0.5, -1.0, 2.0), limits=PERCENT))
    assert whiskers(loss) == [(0.0, 2.0)]
    (free,) = drawn(panel(("udp", 0.5, -1.0, 2.0)))
    assert whiskers(free) == [(-1.0, 2.0)], "what nothing bounds is drawn as it is"


def test_bands_end_where_the_measure_does():
    (axes,) = drawn(panel((1, 0.97, 0.9, 1.04), (2, 0.02, -0.1, 0.1), kind="line", limits=RATIO))
    (band,) = axes.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (0.0, 1.0)


def test_a_single_replication_has_no_whisker():
    (axes,) = drawn(panel(("udp", 3.0, -math.inf, math.inf), ("tfrc", 3.0, None, None), limits=MOS))
    assert whiskers(axes) == [(3.0, 3.0), (3.0, 3.0)]


@pytest.mark.parametrize("kind", ["bar", "line"])
def test_an_axis_ends_where_the_measure_does(kind):
    (axes,) = drawn(panel((1, 0.99, 0.97, 1.2), (2, 1.0, 1.0, 1.0), kind=kind, limits=RATIO))
    assert axes.get_ylim()[0] == 0.0
    assert 1.0 <= axes.get_ylim()[1] <= 1.03
    (axes,) = drawn(panel((1, 0.5, 0.4, 0.6), kind=kind, limits=PERCENT))
    assert axes.get_ylim()[1] < 1.0, "small shares are seen"


def test_a_whole_scale_is_shown_however_small_the_values():
    (axes,) = drawn(panel(("udp", 1.3, 1.1, 1.5), limits=MOS, whole=True))
    assert axes.get_ylim()[0] == 1.0
    assert axes.get_ylim()[1] == pytest.approx(4.5, abs=0.1)


def test_panels_of_the_same_scale_have_the_same_axis():
    small, large, other = drawn(
        panel(("udp", 1.0, 0.9, 1.1), scale="goodput"),
        panel(("udp", 9.0, 8.0, 10.0), scale="goodput"),
        panel(("udp", 2.0, 1.9, 2.1), scale="delay"),
    )
    assert small.get_ylim() == large.get_ylim()
    assert small.get_ylim()[1] > 10.0
    assert other.get_ylim() != large.get_ylim()


def test_panels_without_a_scale_keep_their_own_axes():
    small, large = drawn(panel(("udp", 1.0, 0.9, 1.1)), panel(("udp", 9.0, 8.0, 10.0)))
    assert small.get_ylim()[1] < 2.0 < large.get_ylim()[1]


def test_measures_that_comparisons_show_know_their_range():
    for measure in [
        *measures.list_measures("voice", "stream"),
        *measures.list_measures("voice", "bulk"),
        *measures.list_measures("voice", "transfer"),
    ]:
        least, most = measure.limits
        assert least in ({-math.inf} if measure.id == "experience" else {0.0, 1.0}), measure.id
        assert most in {1.0, 4.5, 5.0, 100.0, 129.0, math.inf}, measure.id
        assert (most == 100.0) == (measure.unit == "%" or measure.id == "qoo"), measure.id


def test_a_comparisons_pictures_keep_within_ranges_and_share_axes(tmp_path, monkeypatch):
    seen = []
    real = comparison.drawing.draw_panels

    def spy(figure, panels):
        real(figure, panels)
        seen.extend(zip(figure.axes, panels, strict=False))

    monkeypatch.setattr(comparison.drawing, "draw_panels", spy)
    results = made_up(seeds=(1, 2))
    found = lines(results, "transport", "voice", SHOWN)
    drawings = comparison.draw(results, found, "transport", tmp_path)
    by_title = {one.title: axes for axes, one in seen}
    assert by_title["MOS (E-model)"].get_ylim()[0] == 1.0
    kinds = {one.title: one.kind for _, one in seen}
    assert {"bar", "dot"} == set(kinds.values())
    for title, kind in kinds.items():
        if kind == "bar":
            assert by_title[title].get_ylim()[0] in {0.0, 1.0}, title
    missed = [
        one["mean"] for _, panel in seen if panel.title == "Packets missed" for one in panel.data.to_dicts()
    ]
    assert max(one for one in missed if one) - min(one for one in missed if one) < 0.15 * max(
        filter(None, missed)
    )
    assert kinds["Packets missed"] == "dot"
    assert by_title["Packets missed"].get_ylim()[0] > 0.0, "what bars would hide"
    assert "cut at the ends of the measure" in drawings[0].caption


def test_a_star_stands_where_its_caption_says():
    results = made_up(transports=("udp", "tcp/vegas", "tfrc"), shift=2.0)
    found = lines(results, "transport", "voice", SHOWN)
    assert any(line.best for line in found)
    assert any(not line.best for line in found)
    for line in found:
        sign = {"higher": 1, "lower": -1}.get(line.measure.better or "")
        samples = {label: line.measured.samples(transport=label) for label in line.cells}

        rated = [label for label in line.cells if not np.isnan(samples[label]).all()]

        count = len(rated)

        counts = USUAL.find(line.measure)

        def worse(one, other, samples=samples, sign=sign, rated=count, counts=counts):
            difference = sign * (samples[other] - samples[one])
            # Student's t with 2 degrees of freedom; with three alternatives the best has two comparisons, each at 97.5
            # %.
            spread = difference.std(ddof=1) * (4.303 if rated == 2 else 6.205) / math.sqrt(len(difference))
            least = counts.difference(samples[one].mean(), samples[other].mean())
            return difference.mean() - spread >= least > 0

        if sign is None:
            assert not line.best
            continue
        first = max(rated, key=lambda label: sign * samples[label].mean())
        beaten = {one for one in rated if one != first and worse(one, first)}
        assert line.best == (frozenset(rated) - beaten if beaten else frozenset()), line.measure.id
    caption = comparison.table_view(found).caption
    for part in (
        "marks the best value",
        "not worse by a difference that counts",
        "95 %, paired by seed",
        "have no star",
    ):
        assert part in caption
