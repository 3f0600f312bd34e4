"""`Results.plot`: the figure of a measure, its content, and the errors for wrong arguments."""

import math

import pytest
from matplotlib.figure import Figure

import fairwave
from fairwave import extras
from fairwave.answers.answer import Answer
from fairwave.answers.naming import column_names
from fairwave_report import grids, plotting
from made_up import made_up

QUEUES = "link.home>isp.queue"


@pytest.fixture(scope="module")
def line():
    """A short call next to an upload."""
    return fairwave.load("examples/home-call.toml").with_overrides(
        {
            "duration": "6 s", "warmup": "2 s", "record.units": [], "record.goodput": [], "record.bin": "1 s",
            "record.series": ["call", "upload"], "record.queues": ["home>isp"],
        }
    )  # fmt: skip


@pytest.fixture(scope="module")
def runs(line):
    return line.replicate(3)


@pytest.fixture(scope="module")
def compared(line):
    return fairwave.compare(line, {QUEUES: ["drop-tail", "fq-codel"]}, n=3)


@pytest.fixture(scope="module")
def swept(line):
    over = {"flow.call.count": [1, 2, 4], QUEUES: ["drop-tail", "fq-codel"]}
    return fairwave.sweep(line, over, n=3).results


def heights(figure):
    return [bar.get_y() + bar.get_height() for bar in figure.axes[0].patches]


def names(figure):
    return [one.get_text() for legend in figure.legends for one in legend.get_texts()]


def test_bars_are_the_means_of_the_alternatives(compared):
    figure = compared.plot("mos.call")
    assert isinstance(figure, Figure)
    means = [
        compared.measured("mos", "call").interval(**{QUEUES: one}).mean for one in ("drop-tail", "fq-codel")
    ]
    assert heights(figure) == pytest.approx(means)
    assert [one.get_text() for one in figure.axes[0].get_xticklabels()] == ["drop-tail", "fq-codel"]
    assert heights(compared.plot("mos", "call")) == pytest.approx(means), "the group may be named apart"


def test_a_sweep_over_a_number_is_a_curve_and_over_two_axes_a_map(swept):
    figure = swept.plot("mos.call", at={QUEUES: "drop-tail"})
    (curve, *_) = figure.axes[0].lines
    assert list(curve.get_xdata()) == [1, 2, 4]
    measured = swept.measured("mos", "call")
    expected = [measured.interval(**{"flow.call.count": n, QUEUES: "drop-tail"}).mean for n in (1, 2, 4)]
    assert list(curve.get_ydata()) == pytest.approx(expected)
    assert len(swept.plot("mos.call").axes[0].patches) == 6, "a cell for each point"
    assert names(swept.plot("mos.call", kind="curve")) == [
        "home>isp.queue = drop-tail", "home>isp.queue = fq-codel",
    ]  # fmt: skip
    over = swept.plot("mos.call", kind="bar", over=QUEUES)
    assert [one.get_text() for one in over.axes[0].get_xticklabels()] == ["drop-tail", "fq-codel"]


def test_runs_of_one_scenario_are_a_share_or_a_bar(line, runs):
    figure = runs.plot("goodput.upload")
    x, y = figure.axes[0].lines[0].get_data()
    values = sorted(runs.measured("goodput", "upload").values)
    assert list(x[::2]) == pytest.approx(values)
    assert (y[0], y[-1]) == (0, 100)
    one = line.run(1)
    assert len(one.plot("goodput.upload").axes[0].patches) == 1


@pytest.mark.parametrize("kind", ["ecdf", "box", "violin", "difference"])
def test_the_spread_has_a_panel_for_each_measure(compared, kind):
    figure = compared.plot(["mos.call", "goodput.upload"], kind=kind)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["call MOS (E-model)", "upload goodput"]


def test_differences_are_paired_by_seed(compared):
    figure = compared.plot("goodput.upload", kind="difference")
    measured = compared.measured("goodput", "upload")
    apart = measured.samples(**{QUEUES: "fq-codel"}) - measured.samples(**{QUEUES: "drop-tail"})
    assert sorted(figure.axes[0].lines[0].get_ydata()) == pytest.approx(sorted(apart))


def test_over_time_the_means_of_what_was_recorded_are_drawn(runs, compared):
    figure = runs.plot(["goodput.upload", "mean-wait.home>isp"], kind="time")
    x, y = figure.axes[0].lines[0].get_data()
    assert list(x) == [1, 2, 3, 4, 5, 6]
    rows = runs.to_polars("series").filter(kind="group_goodput_bps", name="upload", time_s=6.0)
    assert rows.height == 3
    assert y[-1] == pytest.approx(rows["value"].mean() * 1e-6)
    waits = runs.to_polars("series").filter(kind="queueing_delay_s", name="home>isp", time_s=6.0)
    assert figure.axes[1].lines[0].get_ydata()[-1] == pytest.approx(waits["value"].mean() * 1e3)
    assert names(compared.plot("mos.call", kind="time")) == ["drop-tail", "fq-codel"]
    assert names(compared.plot("goodput", kind="time", at={QUEUES: "fq-codel"})) == ["call", "upload"]


def test_what_is_saved_has_the_style_and_is_the_same_each_time(compared, tmp_path):
    figure = compared.plot("mos.call", style="paper", save=tmp_path / "new" / "mos.pdf")
    assert figure.get_size_inches()[0] == 3.5
    first = (tmp_path / "new" / "mos.pdf").read_bytes()
    assert b"CreationDate" not in first
    compared.plot("mos.call", style="paper", save=str(tmp_path / "again.pdf"))
    assert (tmp_path / "again.pdf").read_bytes() == first
    figure.savefig(tmp_path / "later.svg")
    assert "STIXGeneral" in (tmp_path / "later.svg").read_text(), "the style holds when it is saved later"
    compared.plot("mos.call", save=tmp_path / "house.svg")
    assert "STIXGeneral" not in (tmp_path / "house.svg").read_text()


def test_a_notebook_shows_the_figure_and_keeps_its_own_backend(compared):
    import matplotlib as mpl

    before = mpl.rcParams["font.size"]
    picture, size = compared.plot("mos.call", style="slides")._repr_png_()
    assert picture.startswith(b"\x89PNG")
    assert size["width"] == 900
    assert mpl.rcParams["font.size"] == before


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "says"),
    [
        ((3,), {}, TypeError, "measure is 3, but must be a text or a list of texts; write for example 'mos.voice'"),
        (([],), {}, TypeError, "measure is []"),
        (("mo.call",), {}, ValueError, "did you mean 'mos'?"),
        (("mos.cal",), {}, LookupError, "did you mean 'call'?"),
        (("mos", "cal"), {}, LookupError, "no flow group 'cal'"),
        (("mean-wait.a>b",), {}, LookupError, "no link direction 'a>b' in these runs, which have home>isp"),
        (("mos.call",), {"kind": "cdf"}, ValueError, "did you mean 'ecdf'?"),
        (("mos.call",), {"kind": 3}, TypeError, "kind='violin'"),
        (("mos.call",), {"kind": "curve", "at": {"flow.call.count": 1}}, ValueError, "write kind='bar'"),
        (("mos.call",), {"kind": "map", "at": {"flow.call.count": 1}}, ValueError, "needs two axes"),
        ((["mos.call", "loss.call"],), {}, ValueError, "shows one measure, not 2"),
        (("mos.call",), {"over": "count"}, LookupError, "the axes are 'flow.call.count', 'link.home>isp.queue'"),
        (("mos.call",), {"at": {"count": 1}}, LookupError, "at names the axis 'count'"),
        (("mos.call",), {"at": {"flow.call.count": 3}}, LookupError, "at has 3 for 'flow.call.count', which has 1, 2"),
        (("mos.call",), {"at": 3}, TypeError, "at={'flow.voice.count': 10}"),
        (("mos.call",), {"style": "pap"}, ValueError, "style is 'pap'"),
        (("mos.call",), {"save": "mos.gif"}, ValueError, "save='mos.pdf'"),
        (("mos.call",), {"save": 3}, TypeError, "save='mos.pdf'"),
        (("jitter.call",), {"kind": "time"}, ValueError, "goodput, delay, loss, mos, rtt, mean-wait, mean-queue"),
        (("mean-wait.isp>far",), {"kind": "time"}, LookupError, "'record.queues': ['isp>far']"),
        (("completion.call",), {}, LookupError, "not defined in any"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_answered_with_what_is_allowed(swept, arguments, options, kind, says):
    with pytest.raises(kind) as error:
        swept.plot(*arguments, **options)
    assert says in str(error.value)


def test_too_few_runs_have_no_spread_and_one_alternative_no_difference(line, runs):
    with pytest.raises(ValueError, match=r"needs 3 runs or more.*n=10"):
        line.run(1).plot("mos.call", kind="box")
    with pytest.raises(ValueError, match="needs two alternatives"):
        runs.plot("mos.call", kind="difference")


def test_more_than_can_be_told_apart_is_refused_with_what_to_hold():
    many = made_up(transports=[f"udp {number}" for number in range(plotting.MOST_LINES + 1)])
    with pytest.raises(ValueError, match="at most 12 alternatives, and there are 13"):
        many.plot("goodput.voice", kind="violin")


def test_without_matplotlib_the_extra_is_named(compared, monkeypatch):
    monkeypatch.setattr(extras, "is_there", lambda package: package != "matplotlib")
    with pytest.raises(
        extras.MissingExtraError, match=r"results.plot needs the package 'matplotlib'.*fairwave\[report\]"
    ):
        compared.plot("mos.call")


def test_every_kind_is_drawn_and_documented():
    assert set(plotting.DRAWN) == set(plotting.KINDS)
    for kind in plotting.KINDS:
        assert f"- `{kind}`:" in (fairwave.Results.plot.__doc__ or "")
    assert math.isfinite(plotting.MOST_LINES)


@pytest.fixture(scope="module")
def wide():
    """A sweep over three axes; the third has more values than a page has room for maps."""
    call = fairwave.build(
        "a call", "300 ms", topology="dumbbell", flows=[fairwave.flow("call", "udp", "voice")]
    )
    bottleneck = "topology.bottleneck"
    return fairwave.sweep(
        call,
        {
            f"{bottleneck}.rate": ["1 Mb/s", "2 Mb/s"],
            f"{bottleneck}.delay": [f"{ms} ms" for ms in range(1, 14)],
            "flow.call.traffic.codec": ["g711", "g729"],
        },
        show="loss.call", n=1,
    )  # fmt: skip


def test_a_page_without_room_for_its_maps_says_so_and_what_to_do(wide, tmp_path, monkeypatch):
    page = grids.write_sweep(
        wide, ["loss.call"], Answer(["Said."]), tmp_path / "page", title="wide"
    ).read_text()
    assert "No heat maps" not in page
    assert "map-loss-call" in page, "two codecs are two maps"
    monkeypatch.setattr(grids, "MOST_MULTIPLES", 1)
    page = grids.write_sweep(
        wide, ["loss.call"], Answer(["Said."]), tmp_path / "page", title="wide"
    ).read_text()
    assert "map-loss-call" not in page
    said = "the values of call.traffic.codec would make 2 maps of each measure, and a page has room for 1"
    assert said in page
    assert "plot(&#39;loss.call&#39;, at={&#39;flow.call.traffic.codec&#39;: &#39;g711&#39;})" in page
    assert '<th scope="col" title="topology.bottleneck.rate">rate</th>' in page
    assert "rate is topology.bottleneck.rate, delay is topology.bottleneck.delay" in page


def test_more_maps_than_a_figure_has_room_for_are_refused_with_what_to_hold(wide, monkeypatch):
    assert len(wide.results.plot("loss.call").axes) == 3, "two maps and their colour bar"
    monkeypatch.setattr(grids, "MOST_MULTIPLES", 1)
    with pytest.raises(
        ValueError, match=r"would make 2; hold some: at=\{'flow.call.traffic.codec': 'g711'\}"
    ):
        wide.results.plot("loss.call")


@pytest.mark.parametrize(
    ("keys", "heads"),
    [
        (["topology.bottleneck.rate", "topology.bottleneck.delay"], ["rate", "delay"]),
        (["flow.call.count", "flow.files.count", "duration"], ["call.count", "files.count", "duration"]),
        (["link.a>b.queue", "link.b>c.queue"], ["a>b.queue", "b>c.queue"]),
        (["rate", "topology.bottleneck.rate"], ["rate", "bottleneck.rate"]),
    ],
)
def test_heads_are_as_short_as_they_can_be_told_apart(keys, heads):
    assert list(column_names(keys).values()) == heads
