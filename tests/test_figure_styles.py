"""Styles and formats of figures: values of `--style` and `--figures`, and their effect."""

import re

import matplotlib as mpl
import polars as pl
import pytest

from fairwave.provenance import Provenance
from fairwave_report import style
from fairwave_report.axes import axis, quantities
from fairwave_report.chosen_style import StyleError, read
from fairwave_report.embedding import list_downloads
from fairwave_report.figures import Panel, canvas, choose_kind, draw_panels, save, whole_ticks

BARS = pl.DataFrame(
    [("udp", 3.0, 2.8, 3.2), ("tfrc", 2.0, 1.9, 2.1)], schema=["x", "mean", "low", "high"], orient="row"
)


def made(folder, wanted, formats=None, panels=1, kind="bar"):
    with (
        style.using(read(wanted, formats)),
        canvas("t", (6.4, 3.7) if panels == 1 else (11.4, 3.7)) as figure,
    ):
        draw_panels(figure, [Panel(BARS, "x", None, "ms", "", "Delay", kind) for _ in range(panels)])
        size = figure.get_size_inches()
        return size, save(figure, folder, "t", BARS, Provenance(), title="Delay")


def test_a_figure_is_saved_in_the_formats_that_are_asked_for(tmp_path):
    _, drawn = made(tmp_path, None)
    assert drawn.files == ("t.svg", "t.png", "t.csv", "t.parquet")
    assert not (tmp_path / "t.pdf").exists()
    only = tmp_path / "only"
    _, drawn = made(only, None, "pdf")
    assert drawn.files == ("t.pdf", "t.csv", "t.parquet")
    assert (only / "t.pdf").read_bytes().startswith(b"%PDF-")
    assert not (only / "t.svg").exists()
    assert drawn.svg.startswith("<svg"), "the page has its picture all the same"
    assert [one.kind for one in list_downloads(only, drawn.files)] == ["PDF", "CSV"]


def test_a_pdf_is_the_same_every_time_and_carries_its_letters(tmp_path):
    for name in ("a", "b"):
        made(tmp_path / name, "paper", "pdf")
    first, second = ((tmp_path / name / "t.pdf").read_bytes() for name in ("a", "b"))
    assert first == second
    assert b"CreationDate" not in first
    assert b"/FontFile2" in first, "TrueType, not Type 3"
    assert b"/Subtype /Type3" not in first


@pytest.mark.parametrize(
    ("wanted", "one", "several", "letters"), [("paper", 3.5, 7.16, 8.0), ("slides", 9.0, 13.0, 15.0)]
)
def test_a_style_has_its_width_and_letters(tmp_path, wanted, one, several, letters):
    size, _ = made(tmp_path, wanted)
    assert size[0] == pytest.approx(one)
    size, drawn = made(tmp_path, wanted, panels=2)
    assert size[0] == pytest.approx(several)
    sizes = {float(found) for found in re.findall(r"font-size: ([\d.]+)px", drawn.svg)}
    assert sizes
    assert min(sizes) >= 0.9 * letters, "in points, as the SVG's pixels"
    assert max(sizes) <= 1.1 * letters


def test_without_colour_there_are_greys_and_hatches(tmp_path):
    _, drawn = made(tmp_path, "mono")
    colours = set(re.findall(r"#[0-9a-f]{6}", drawn.svg))
    for colour in colours - {style.INK, style.FAINT}:
        assert colour[1:3] == colour[3:5] == colour[5:7], colour
    assert "<pattern" in drawn.svg
    assert drawn.is_fixed
    assert "var(--" not in drawn.svg
    greys = [look.colour for look in style.MONOCHROME]
    assert len(set(greys)) == len(greys) == len({look.marker for look in style.MONOCHROME})


def test_styles_go_together_and_end_with_their_block(tmp_path):
    both = read("paper,mono", None)
    assert (both.width, both.is_fixed) == (7.16, True)
    with style.using(both):
        assert style.look(0).name == "grey-0"
        assert style.points(10) == 8.0
    assert style.look(0).name == "vermilion"
    assert style.points(10) == 10.0


def test_a_style_sheet_gives_width_colours_and_letters(tmp_path):
    sheet = tmp_path / "thesis.mplstyle"
    sheet.write_text(
        "font.size: 9\nfigure.figsize: 5, 3\naxes.prop_cycle: cycler('color', ['4477AA', 'EE6677'])\n"
        "backend: pdf\nsavefig.directory: /tmp\n",
        encoding="utf-8",
    )
    before = mpl.rcParams["backend"]
    size, drawn = made(tmp_path / "out", str(sheet))
    assert size[0] == pytest.approx(5.0)
    assert "#4477aa" in drawn.svg
    assert "#ee6677" in drawn.svg
    assert drawn.is_fixed
    assert mpl.rcParams["backend"] == before
    assert mpl.rcParams["font.size"] == 10.0, "for these figures alone"


@pytest.mark.parametrize(
    ("wanted", "formats", "says"),
    [
        ("nosuch", None, "--style is 'nosuch', but there are paper"),
        ("papr", None, "did you mean 'paper'?"),
        ("", None, "names nothing"),
        (",", None, "names nothing"),
        (None, "jpg", "--figures has no format 'jpg'; there are svg, png, pdf"),
        (None, "", "names nothing"),
        ("https://example.org/x.mplstyle", None, "--style is 'https://example.org/x.mplstyle'"),
    ],
)
def test_what_is_no_style_is_refused_with_what_to_write(wanted, formats, says):
    with pytest.raises(StyleError) as error:
        read(wanted, formats)
    assert says in str(error.value)
    assert "write for example" in str(error.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("font.sise: 9\n", "Bad key font.sise"),
        ("font.size: huge\n", "Could not convert 'huge' to float"),
        ("what is this\n", "Missing colon"),
        ("", "it sets nothing"),
        (b"\xff\xfe\x00", "cannot be read"),
        ("#" * 100_001, "but a style sheet at most 100 kB"),
    ],
)
def test_what_is_no_style_sheet_is_refused(tmp_path, text, says):
    sheet = tmp_path / "x.mplstyle"
    sheet.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(StyleError, match=re.escape(says)):
        read(str(sheet), None)


def test_a_sheet_that_needs_latex_is_refused_where_there_is_none(tmp_path, monkeypatch):
    sheet = tmp_path / "x.mplstyle"
    sheet.write_text("text.usetex: True\n", encoding="utf-8")
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(StyleError, match="there is no latex here"):
        read(str(sheet), None)


def numbers(*means, reach=0.0):
    rows = [(m, m - reach, m + reach) for m in means]
    return pl.DataFrame(rows, schema=["mean", "low", "high"], orient="row")


def test_bars_that_would_be_equally_high_are_dots():
    assert choose_kind(numbers(0.93, 0.97), 0.0) == "dot"
    assert choose_kind(numbers(0.5, 0.97), 0.0) == "bar"
    assert choose_kind(numbers(0.93, 0.97, reach=0.3), 0.0) == "bar", "intervals count"
    assert choose_kind(numbers(0.97, 0.97), 0.0) == "bar", "equal means are equal bars"
    assert choose_kind(numbers(11.9998, 11.9997), 0.0) == "bar", "and so are nearly equal ones"
    assert choose_kind(numbers(0.0, 0.0), 0.0) == "bar"


def test_dots_stand_on_an_axis_that_fits_them():
    data = BARS.with_columns(
        pl.Series("mean", [0.93, 0.97]), pl.Series("low", [0.92, 0.96]), pl.Series("high", [0.94, 0.98])
    )
    with canvas("t", (6, 3)) as figure:
        draw_panels(figure, [Panel(data, "x", None, "0 to 1", "", kind="dot", limits=(0.0, 1.0))])
        low, high = figure.axes[0].get_ylim()
    assert 0.88 < low < 0.92
    assert 0.98 < high <= 1.01


def test_a_logarithmic_axis_says_so():
    data = pl.DataFrame(
        [(1, 3.0, 2.8, 3.2), (100, 2.0, 1.9, 2.1)], schema=["x", "mean", "low", "high"], orient="row"
    )
    with canvas("t", (6, 3)) as figure:
        draw_panels(figure, [Panel(data, "x", None, "ms", "rate (kb/s)", log_x=True)])
        assert figure.axes[0].get_xlabel() == "rate (kb/s), log scale"


def test_quantities_of_one_kind_are_numbers_with_one_unit():
    assert quantities(["500 kb/s", "1 Mb/s", "2 Mb/s"]) == ([0.5, 1.0, 2.0], "Mb/s")
    assert quantities(["20 ms", "1 s"]) == ([0.02, 1.0], "s")
    assert quantities([5, 10]) == ([5.0, 10.0], "")
    assert quantities(["1 %", "5 %"]) == ([1.0, 5.0], "%")
    for mixed in (["1 Mb/s", "20 ms"], ["red", "codel"], ["1 Mb/s", "fast"], [True, False], []):
        assert quantities(mixed) == ([], "")


def test_an_axis_is_in_the_order_of_its_numbers():
    found = axis("link.a>b.rate", ["2 Mb/s", "500 kb/s", "1 Mb/s"])
    assert found.labels == ["500 kb/s", "1 Mb/s", "2 Mb/s"]
    assert found.title == "a>b.rate (Mb/s)"
    assert not found.is_log
    assert axis("x", [1, 10, 100, 1000]).is_log
    assert not axis("x", [1, 500, 1000]).is_log, "even steps"
    assert axis("x", ["red", "codel"]).labels == ["red", "codel"]


@pytest.mark.parametrize(
    ("labels", "whole"),
    [([1, 7, 12], True), ([0.5, 1, 2], False), (["1 Mb/s", "2 Mb/s"], False), (["red", "pie"], False)],
)
def test_an_axis_that_counts_has_ticks_at_whole_numbers_alone(labels, whole):
    along = axis("flow.calls.count", labels)
    assert along.is_count is whole
    if whole:
        with canvas("t", (6.4, 3.7)) as figure:
            axes = figure.subplots()
            axes.plot(along.values, along.values)
            whole_ticks(axes)
            assert all(float(one).is_integer() for one in axes.get_xticks())
