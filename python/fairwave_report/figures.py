"""Drawing: lines with error bands, bars with error bars, and saving as SVG, PNG and data."""

from __future__ import annotations

import io
import math
import re
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from fairwave.answers.labels import spelled
from fairwave_report import style

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fairwave.provenance import Provenance
    from fairwave_report.chart import Chart

Kind = Literal["line", "bar", "dot"]


@dataclass(frozen=True)
class Drawing:
    """A finished figure.

    Attributes:
        id: Its id, also the stem of its files.
        title: One line.
        svg: SVG text for a page: no header, colours as variables.
        files: Names of the files with picture and data.
        data: The drawn numbers.
        caption: A sentence or two.
        source: The paper's figure that it corresponds to.
        alt: Description of the picture for readers who cannot see it.
        narrow: Whether a page shows it at less than full width.
        chart: Interactive version for a page's script; None for a still figure.
        is_fixed: Whether a page keeps its colours, on a light background.
    """

    id: str
    title: str
    svg: str
    files: tuple[str, ...]
    data: pl.DataFrame
    caption: str = ""
    source: str = ""
    alt: str = ""
    narrow: bool = False
    chart: Chart | None = None
    is_fixed: bool = False


@dataclass(frozen=True)
class Panel:
    """One set of axes with a measure over x for several series.

    Attributes:
        data: Columns `x`, `series` (optional), `mean`, `low`, `high`.
        x: Column for the horizontal axis.
        series: Column that distinguishes lines or bars.
        y_label: Measure with unit.
        x_label: Label of the horizontal axis.
        title: Title above the panel, if there are several panels.
        kind: Lines; for labels without an order, bars, or dots if bars from zero would look equal.
        lines: Reference lines: label to value.
        y_from_zero: Whether the vertical axis begins at zero.
        log_x: Whether the horizontal axis is logarithmic.
        limits: Range of the measure. The axis does not exceed it.
        scale: Adjacent panels with the same scale share a vertical axis; empty for a separate axis.
        whole: Whether the vertical axis shows the measure's whole range, if both ends are known.
        unit: Unit of the number in a bar's tooltip.
        has_markers: Whether a line marks each of its values.
        span: Least span of an axis that does not begin at zero, so that irrelevant differences look small.
    """

    data: pl.DataFrame
    x: str
    series: str | None
    y_label: str
    x_label: str
    title: str = ""
    kind: Kind = "line"
    lines: dict[str, float] = field(default_factory=dict)
    y_from_zero: bool = True
    log_x: bool = False
    limits: tuple[float, float] = (-math.inf, math.inf)
    scale: str = ""
    whole: bool = False
    unit: str = ""
    has_markers: bool = True
    span: float = 0.0

    @property
    def foot(self) -> float:
        """Start of bars and of an axis with the whole range: the measure's minimum or zero, whichever is greater."""
        return max(self.limits[0], 0.0)


@contextmanager
def canvas(salt: str, size: tuple[float, float]) -> Iterator[Figure]:
    """Yields an empty figure in the chosen style, `size` in inches."""
    import matplotlib as mpl

    from fairwave_report.styled import StyledFigure

    settings = style.settings(salt)
    with mpl.rc_context(cast("Any", settings)):
        yield StyledFigure(settings, figsize=style.inches(size))


_kept: ContextVar[list[Figure] | None] = ContextVar("figures kept", default=None)


@contextmanager
def keeping() -> Iterator[list[Figure]]:
    """Collects the figures that are drawn within the block in a list instead of saving them."""
    kept: list[Figure] = []
    before = _kept.set(kept)
    try:
        yield kept
    finally:
        _kept.reset(before)


def draw_panels(figure: Figure, panels: Sequence[Panel]) -> None:
    """Draws panels side by side, up to three in a row, with one legend."""
    columns = columns_for(len(panels))
    rows = -(-len(panels) // columns)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        draw_panel(axes, panel)
    _share_scales(list(zip(grid.flat, panels, strict=False)))
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    if len(labels) > 1:
        # Use one row while it fits.
        most = min(len(labels), 2 + 3 * columns)
        figure.legend(handles, labels, loc="outside upper left", ncols=_legend_columns(figure, labels, most))


LETTERS, HANDLE = 15, 6
"""Letters per inch of a legend at the default size, and the width of a line's sample in letters."""


def _legend_columns(figure: Figure, labels: Sequence[str], most: int) -> int:
    """Returns the number of columns, at most `most`, with which a legend fits the figure's width."""
    room = figure.get_figwidth() * LETTERS / style.points(1.0)
    for columns in range(most, 1, -1):
        rows = -(-len(labels) // columns)
        parts = [labels[at : at + rows] for at in range(0, len(labels), rows)]
        if sum(max(map(len, part)) + HANDLE for part in parts) <= room:
            return columns
    return 1


def draw_panel(axes: Axes, panel: Panel) -> None:
    """Draws one panel."""
    import polars as pl

    names = panel.data[panel.series].unique(maintain_order=True).to_list() if panel.series else [None]
    looks = style.looks(names)
    ticks = panel.data[panel.x].unique(maintain_order=True).to_list()
    numeric = panel.kind == "line" and all(isinstance(one, (int, float)) for one in ticks)
    place = {tick: (tick if numeric else i) for i, tick in enumerate(ticks)}
    for i, name in enumerate(names):
        part = panel.data.filter(pl.col(panel.series) == name) if panel.series else panel.data
        x = [place[one] for one in part[panel.x].to_list()]
        # Undefined values are gaps.
        mean = part["mean"].fill_null(math.nan).to_list()
        low, high = (_end(part, end, panel.limits) for end in ("low", "high"))
        look, label = looks[name], (spelled(name) if name is not None else None)
        if panel.kind == "line":
            marker = look.marker if panel.has_markers else None
            axes.plot(x, mean, color=look.colour, marker=marker, linestyle=look.line, label=label, zorder=3)
            axes.fill_between(x, low, high, color=look.colour, alpha=0.18, linewidth=0, zorder=2)
        else:
            width = 0.8 / len(names)
            at = [one - 0.4 + width * (i + 0.5) for one in x]
            each = list(style.looks(ticks).values()) if panel.series is None else [look] * len(x)
            said = [
                tip(panel, name, *one) for one in zip(part[panel.x].to_list(), mean, low, high, strict=True)
            ]
            _draw_apart(axes, panel, at, (mean, low, high), each, said, width * 0.86, label)
    for label, value in panel.lines.items():
        axes.axhline(value, color=style.INK, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
        axes.annotate(
            label,
            (1, value),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            fontsize=style.points(8.5),
        )
    if not numeric:
        name_ticks(axes, [spelled(one) for one in ticks])
        axes.grid(visible=False, axis="x")
        if panel.kind == "dot":
            axes.set_xlim(-0.6, len(ticks) - 0.4)
    if panel.log_x and numeric:
        axes.set_xscale("log")
        plain_numbers(axes.xaxis)
    if panel.kind == "dot" or (panel.span and not panel.y_from_zero):
        axes.set_ylim(*fit_ends(panel))
    elif panel.y_from_zero:
        axes.set_ylim(bottom=panel.foot)
    _keep_within(axes, panel)
    axes.set_xlabel(
        f"{panel.x_label}, log scale" if panel.log_x and numeric and panel.x_label else panel.x_label
    )
    axes.set_ylabel(panel.y_label)
    if panel.title:
        axes.set_title(panel.title)


def _draw_apart(
    axes: Axes,
    panel: Panel,
    at: Sequence[float],
    ends: tuple[Sequence[float], Sequence[float], Sequence[float]],
    looks: Sequence[style.SeriesStyle],
    said: Sequence[str],
    width: float,
    label: str | None,
) -> None:
    """Draws bars or dots with error bars. `said` has the tooltip of each."""
    mean, low, high = ends
    reach = [
        [max(m - lo, 0.0) for m, lo in zip(mean, low, strict=True)],
        [max(hi - m, 0.0) for m, hi in zip(mean, high, strict=True)],
    ]
    if panel.kind == "bar":
        above = [m - panel.foot for m in mean]
        bars = axes.bar(
            at,
            above,
            width,
            panel.foot,
            color=[one.fill or one.colour for one in looks],
            label=label,
            zorder=2,
        )
        for bar, look, words in zip(bars, looks, said, strict=True):
            bar.set(hatch=look.hatch, gid=words)
            if look.hatch or look.fill:
                bar.set(edgecolor=style.INK, linewidth=0.6)
    else:
        for number, (place, m, look, words) in enumerate(zip(at, mean, looks, said, strict=True)):
            axes.plot(
                [place], [m], look.marker, color=look.colour, markersize=style.points(8), gid=words,
                label=None if number else label, zorder=4,
            )  # fmt: skip
    axes.errorbar(
        at,
        mean,
        yerr=reach,
        fmt="none",
        color=style.INK,
        ecolor=style.INK,
        elinewidth=1.2,
        capsize=3,
        zorder=3,
    )


ROW = 34
"""If all labels below a panel have more characters, they are turned so as not to overlap."""


def name_ticks(axes: Axes, words: Sequence[str]) -> None:
    """Sets the labels at 0, 1, … of the horizontal axis."""
    turned = sum(len(one) + 2 for one in words) > ROW
    how: dict[str, Any] = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if turned else {}
    axes.set_xticks(range(len(words)), words, **how)


TIP = "tip|"
"""Prefix of the id of a picture's part that has a tooltip."""


def tip(panel: Panel, name: Any, x: Any, mean: float, low: float, high: float) -> str:
    """Returns the tooltip of a bar."""
    who = ", ".join(spelled(one) for one in (x, name) if one is not None)
    sure = f" (95 %: {format_value(low)} to {format_value(high)})" if low < high else ""
    unit = f" {panel.unit}" if panel.unit else ""
    return f"{TIP}{who}: {format_value(mean)}{unit}{sure}"


def plain_numbers(axis: Any) -> None:
    """Shows plain numbers at a logarithmic axis, at few enough positions that they do not overlap."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    decades = math.log10(high / low) if low > 0 else 9.0
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades < 2.5 else (1.0,), numticks=12))
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(lambda value, _: f"{value:g}")


def whole_ticks(axes: Axes) -> None:
    """Limits the ticks of the horizontal axis to whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins="auto", steps=[1, 2, 5, 10], integer=True))


def fit_ends(panel: Panel) -> tuple[float | None, float | None]:
    """Returns the ends of a vertical axis that fits the intervals, with some room and at least `span`."""
    values = [
        one
        for name in ("mean", "low", "high")
        for one in panel.data[name].to_list()
        if one is not None and math.isfinite(one)
    ]
    if not values:
        return None, None
    least, most = (min(max(one, panel.limits[0]), panel.limits[1]) for one in (min(values), max(values)))
    room = 0.25 * (most - least) or 0.05 * abs(most) or 1.0
    return widen_ends((least - room, most + room), panel.span)


HOLE = 1.5
"""A step longer than this many usual steps is a period without data."""


def with_gaps(rows: pl.DataFrame, series: str, at: str) -> pl.DataFrame:
    """Inserts an undefined row into each period without data, so that no line crosses it.

    Args:
        rows: Ascending in time within each series.
        series: The column that distinguishes series.
        at: The column of the time.
    """
    import polars as pl

    parts = []
    for part in rows.partition_by(series, maintain_order=True):
        step = pl.col(at) - pl.col(at).shift()
        gaps = part.select(series, (pl.col(at) - step / 2).alias(at), is_hole=step > HOLE * step.median())
        gaps = gaps.filter("is_hole").drop("is_hole")
        parts.append(pl.concat([part, gaps], how="diagonal").sort(at, maintain_order=True))
    return pl.concat(parts) if parts else rows


DECADES = 4
"""A logarithmic axis of heights shows at most this many factors of ten, from the greatest value down."""


def log_ends(values: Sequence[float | None], least: float = 0.0) -> tuple[float, float] | None:
    """Returns the ends of a logarithmic axis of heights, without values below `least` or below `DECADES` decades.

    Returns:
        Least and greatest, with a little room; None if no value is positive.
    """
    there = [one for one in values if one is not None and math.isfinite(one) and one > 0]
    if not there:
        return None
    most = max(there)
    low = min(max(min(there), least, most / 10**DECADES), most)
    room = (most / low) ** 0.05 if most > low else 2.0
    return low / room, most * room


def widen_ends(ends: tuple[float, float], span: float) -> tuple[float, float]:
    """Moves the ends of an axis apart evenly to at least `span`."""
    room = max(span - (ends[1] - ends[0]), 0.0) / 2
    return ends[0] - room, ends[1] + room


FLAT = 0.15
"""If all bars and intervals end within this share of the highest, dots on a fitted axis show more."""


SAME = 0.002
"""A smaller relative difference counts as none, because a fitted axis would exaggerate it."""


def choose_kind(data: pl.DataFrame, foot: float) -> Kind:
    """Chooses bars, or dots if all bars would look equally high."""
    ends = [
        one - foot
        for name in ("mean", "low", "high")
        for one in data[name].to_list()
        if one is not None and math.isfinite(one)
    ]
    if not ends or max(ends) <= 0:
        return "bar"
    spread = max(ends) - min(ends)
    return "dot" if SAME * max(ends) < spread < FLAT * max(ends) else "bar"


def _end(part: pl.DataFrame, end: str, limits: tuple[float, float]) -> list[float]:
    """Returns one end of each interval, cut at the measure's limits; the mean itself for a single sample."""
    least, most = limits
    values = zip(part[end].to_list(), part["mean"].fill_null(math.nan).to_list(), strict=True)
    return [min(max(one, least), most) if one is not None and math.isfinite(one) else m for one, m in values]


def _keep_within(axes: Axes, panel: Panel) -> None:
    """Ends the vertical axis at the measure's limits, with room for half a marker."""
    least, most = panel.limits
    if panel.whole and math.isfinite(least) and math.isfinite(most):
        axes.set_ylim(least, most)
    low, high = axes.get_ylim()
    room = 0.02 * (min(high, most) - max(low, least))
    if high >= most:
        axes.set_ylim(top=most + room)
    if low < least:
        axes.set_ylim(bottom=least - room)


def _share_scales(drawn: Sequence[tuple[Axes, Panel]]) -> None:
    """Gives panels of the same scale the same vertical axis, so that heights are comparable."""
    by_scale: dict[tuple[str, bool], list[Axes]] = {}
    for axes, panel in drawn:
        if panel.scale:
            by_scale.setdefault((panel.scale, panel.y_from_zero), []).append(axes)
    for alike in by_scale.values():
        ends = [axes.get_ylim() for axes in alike]
        for axes in alike:
            axes.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))


LONGEST = 900
"""Greatest length of a picture's description, in characters. Longer ones refer to the numbers below the picture."""


def describe_panels(panels: Sequence[Panel]) -> str:
    """Describes panels for readers who cannot see them: each bar's mean, and the first and last value of each line."""
    import polars as pl

    parts = []
    for panel in panels:
        head = panel.title or panel.y_label
        names = panel.data[panel.series].unique(maintain_order=True).to_list() if panel.series else [None]
        said = []
        for name in names:
            rows = panel.data.filter(pl.col(panel.series) == name) if panel.series else panel.data
            rows = rows.filter(pl.col("mean").is_not_null() & pl.col("mean").is_not_nan())
            if not rows.height:
                continue
            if panel.kind != "line":
                bars = zip(rows[panel.x], rows["mean"], strict=True)
                each = ", ".join(f"{spelled(x)} {format_value(mean)}" for x, mean in bars)
                said.append(f"{spelled(name)}: {each}" if name is not None else each)
                continue
            (first, start), (last, end) = (
                (rows[panel.x][at], format_value(rows["mean"][at])) for at in (0, rows.height - 1)
            )
            course = f"{start} at {format_value(first)}, {end} at {format_value(last)}"
            said.append(f"{spelled(name)} {course}" if name is not None else course)
        unit = f" ({panel.y_label})" if panel.title and panel.y_label else ""
        parts.append(f"{head}{unit}: {'; '.join(said) or 'nothing is defined'}")
    text = ". ".join(parts)
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rsplit(';', 1)[0]}; and more, in the numbers"


MOST_ROWS = 4
"""Labels of events that would overlap use up to this many rows. Further labels share them."""


def mark_rows(marks: Sequence[dict[str, Any]]) -> int:
    """Returns the number of rows that the labels of events use."""
    return min(len(marks), MOST_ROWS)


def mark(axes: Axes, marks: Sequence[dict[str, Any]], *, labels: bool) -> None:
    """Marks events with thin vertical lines, and with labels above the topmost panel."""
    for place, one in enumerate(marks):
        axes.axvline(one["at_s"], color=style.INK, linewidth=0.7, linestyle=(0, (2, 2)), zorder=0.5)
        if labels:
            height = 20 + 9 * (place % MOST_ROWS)
            axes.annotate(
                one["label"], (one["at_s"], 1.0), xycoords=("data", "axes fraction"), xytext=(2, height),
                textcoords="offset points", fontsize=style.points(7.5), color=style.INK, annotation_clip=False,
            )  # fmt: skip
            axes.annotate(
                "", (one["at_s"], 1.0), xycoords=("data", "axes fraction"), xytext=(0, height),
                textcoords="offset points", arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": style.INK},
            )  # fmt: skip


def columns_for(panels: int) -> int:
    """Returns the number of panels side by side. Four panels form two rows of two."""
    return min(2 if panels == 4 else panels, style.current().most_columns)


def size_for(panels: int) -> tuple[float, float]:
    """Returns the size in inches for a number of panels."""
    return {1: (6.4, 3.7), 2: (9.2, 3.7), 4: (9.2, 7.0)}.get(panels, (11.4, 3.7 * -(-panels // 3)))


def save(
    figure: Figure,
    folder: Path,
    stem: str,
    data: pl.DataFrame,
    provenance: Provenance,
    *,
    title: str,
    caption: str = "",
    source: str = "",
    alt: str = "",
    chart: Chart | None = None,
) -> Drawing:
    """Writes the figure in the formats of the style, `stem`.svg and .png, and its numbers, `stem`.csv and .parquet.

    Call this inside `canvas`. Inside `keeping` it writes nothing.
    """
    kept = _kept.get()
    if kept is not None:
        kept.append(figure)
        return Drawing(stem, title, "", (), data, caption, source, alt or title)

    from matplotlib import rcParams
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from fairwave.table_files import write_table

    folder.mkdir(parents=True, exist_ok=True)
    buffer = io.StringIO()
    metadata = {"Date": None, "Creator": f"fairwave {provenance.version}", "Title": title}
    figure.savefig(buffer, format="svg", metadata=metadata)
    svg = with_tips(buffer.getvalue())
    formats = style.current().formats
    if "svg" in formats:
        (folder / f"{stem}.svg").write_text(svg, encoding="utf-8")
    # The layout is final here. `savefig` would draw the figure once more to compute it again.
    figure.set_layout_engine("none")
    if "png" in formats:
        figure.set_dpi(rcParams["savefig.dpi"])
        software = {"Software": f"fairwave {provenance.version}", "Title": title}
        cast("Any", FigureCanvasAgg(figure)).print_png(folder / f"{stem}.png", metadata=software)
    if "pdf" in formats:
        from matplotlib.backends.backend_pdf import FigureCanvasPdf

        about = {"CreationDate": None, "Creator": f"fairwave {provenance.version}", "Title": title}
        cast("Any", FigureCanvasPdf(figure)).print_pdf(folder / f"{stem}.pdf", metadata=about)
    written = write_table(data.to_arrow(), folder / stem, provenance)
    names = (*(f"{stem}.{one}" for one in formats), *(path.name for path in reversed(written)))
    is_fixed = style.current().is_fixed
    shown = for_page(svg, recoloured=not is_fixed)
    return Drawing(
        stem, title, shown, names, data, caption, source, alt or title, figure.get_figwidth() < style.WIDE,
        chart, is_fixed,
    )  # fmt: skip


def with_tips(svg: str) -> str:
    """Converts the tooltips in an SVG to `title` elements."""
    return re.sub(rf'<g id="{re.escape(TIP)}([^"]*)"([^>]*)>', r'<g class="tip"\2><title>\1</title>', svg)


def for_page(svg: str, *, recoloured: bool = True) -> str:
    """Prepares an SVG for a page: no XML header; if `recoloured`, its colours follow the page's theme."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    # Remove ids of groups: nothing refers to them, they repeat in every picture, and ids must be unique in a page.
    body = re.sub(r'<g id="[^"]*"', "<g", body)
    variables: dict[str, str] = {}
    if recoloured:
        variables = {style.INK: "var(--ink)", style.FAINT: "var(--rule)", style.PAPER: "var(--ground)"}
        variables.update({look.colour: f"var(--{look.name})" for look in style.LOOKS})
    for colour, variable in variables.items():
        body = body.replace(colour, variable)
    body = re.sub(r'(<svg [^>]*?)width="[^"]*"', r"\1", body, count=1)
    body = re.sub(r'(<svg [^>]*?)height="[^"]*"', r"\1", body, count=1)
    return body.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1).strip()


def table_rows(frame: pl.DataFrame) -> list[list[str]]:
    """Formats a data frame's rows for a page or a terminal."""
    return [[format_value(value) for value in row] for row in frame.iter_rows()]


def format_value(value: Any) -> str:
    """Formats a value with four digits, or as a dash if it is undefined."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return "–" if value != value else f"{value:.4g}"  # noqa: PLR0124  # only NaN differs from itself
    return str(value)
