"""Sweep page: curves with 95 % bands along one axis, heat maps over two, small multiples over three.

The page starts with the verdict. Every figure has its numbers, and a file next to the page has the table of all points.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave.answers.bands import scale_of
from fairwave.answers.events import RATINGS, Events
from fairwave.answers.labels import spelled
from fairwave.answers.naming import column_names, short_key, written_out
from fairwave.staging import staging
from fairwave.table_files import write_table
from fairwave_report import chart, style
from fairwave_report import figures as drawing
from fairwave_report.axes import GridAxis, axis, heading, least_span, scale_label
from fairwave_report.page import Card, Page, TableView

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from fairwave.answers.answer import Answer
    from fairwave.ask import Cell, Sweep
    from fairwave.measuring.measures import Measure

MOST_MEASURES = 6
"""Number of measures that are drawn; the table contains all."""

MOST_MULTIPLES = 12
"""Greatest number of heat maps side by side."""

MOST_CURVES = 6
"""Two axes also get curves if one of them has at most this many values."""

MOST_WRITTEN = 150
"""Heat maps with more cells show no numbers, because they would be too small to read."""

MOST_CELLS = 2500
"""Heat maps with more cells have no tooltips with numbers."""


@dataclass(frozen=True)
class Surface:
    """A measure over all points of a grid.

    Attributes:
        asked: The measure, as the user wrote it.
        measure: Its definition.
        cells: Its mean at each point, in the grid's order.
    """

    asked: str
    measure: Measure
    cells: Sequence[Cell]

    @property
    def title(self) -> str:
        """Its name without unit."""
        return heading(self.measure, self.asked.partition(".")[2])

    def find_cell(self, labels: Mapping[str, Any]) -> Cell | None:
        """Returns the cell at a point."""
        return next((one for one in self.cells if dict(one.labels) == dict(labels)), None)


def surfaces(found: Sweep, asked: Sequence[str]) -> list[Surface]:
    """Returns the requested measures that are defined somewhere, in the requested order."""
    by_name: dict[str, list[Cell]] = {}
    for cell in found.cells:
        by_name.setdefault(cell.asked, []).append(cell)
    return [
        Surface(name, by_name[name][0].measure, _held(found, by_name[name]))
        for name in dict.fromkeys(asked)
        if name in by_name and any(cell.interval.n for cell in by_name[name])
    ]


def _held(found: Sweep, cells: Sequence[Cell]) -> list[Cell]:
    """Returns the cells of a measure. Ratings of calls with gaps or freezes are capped below good."""
    _, dot, group = cells[0].asked.partition(".")
    if cells[0].measure.id not in RATINGS or not dot:
        return list(cells)
    events = Events.collect(found.results, group)
    return [replace(one, interval=events.hold(one.interval, one.measure.id, **one.labels)) for one in cells]


def write_sweep(
    found: Sweep,
    asked: Sequence[str],
    answer: Answer,
    out: Path,
    *,
    title: str,
    lead: str = "",
    scenario: str = "",
) -> Path:
    """Writes page, tables and figures of a sweep into the folder `out`, all or nothing.

    Args:
        found: The sweep.
        asked: Its measures, the leading ones first.
        answer: The page's first paragraph.
        out: The folder.
        title: The page's heading.
        lead: The paragraph below the heading.
        scenario: The scenario's text.

    Returns:
        The page.
    """
    several = surfaces(found, asked)
    axes = [
        axis(key, list(dict.fromkeys(cell.labels[key] for cell in found.cells))) for key in found.results.axes
    ]
    with staging(out) as partial:
        found.results.write_into(partial)
        write_table(points_table(found, axes).to_arrow(), partial / "points", found.results.provenance)
        drawings = draw(found, several, axes, partial / "figures")
        (partial / "scenario.toml").write_text(scenario, encoding="utf-8")
        left = several[MOST_MEASURES:]
        notes = (
            [f"Without a figure, but in the table: {', '.join(one.measure.title for one in left)}."]
            if left
            else []
        )
        if without := _explain_no_maps(several, axes):
            notes.append(without)
        if found.short:
            wanted = ", ".join(dict.fromkeys(f"{one.asked} ± {one.wanted:.3g}" for one in found.short))
            notes.append(
                f"Some points (marked !) are not as precise as asked for ({wanted}) within {found.most} runs. "
                "`--most` allows more."
            )
        page = Page(
            title=title, kicker="Sweep", lead=lead, answer=answer, notes=notes,
            cards=[
                Card(str(len(found.cells) // max(len({one.asked for one in found.cells}), 1)), "points"),
                Card(str(found.results.runs.num_rows), "runs"),
            ],
            drawings=drawings,
            tables=[_table(several, axes)],
            scenario=scenario,
            provenance=found.results.provenance,
        )  # fmt: skip
        (partial / "index.html").write_text(page.html(partial), encoding="utf-8")
    return out / "index.html"


def points_table(found: Sweep, axes: Sequence[GridAxis]) -> pl.DataFrame:
    """Returns the measures of every point: mean, interval, replications."""
    rows = [
        {
            **{one.key: _plain(cell.labels[one.key], one) for one in axes},
            "measure": cell.asked,
            "unit": cell.measure.unit,
            "mean": _finite(cell.interval.mean),
            "low": cell.interval.ends[0],
            "high": cell.interval.ends[1],
            "replications": cell.interval.n,
            "undefined": cell.interval.undefined,
            "reached": cell.reached,
        }
        for cell in found.cells
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _plain(label: Any, of: GridAxis) -> Any:
    """Converts a label for a table's column: all of its labels are numbers, or all are text."""
    return label if all(isinstance(one, (int, float)) for one in of.labels) else str(label)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _table(several: Sequence[Surface], axes: Sequence[GridAxis]) -> TableView:
    """Returns a table with a row per point and a column per measure."""
    rows = []
    for place, first in enumerate(several[0].cells if several else ()):
        cells = [one.cells[place] for one in several]
        marked = [
            f"{cell.interval}{'' if cell.reached else ' !'}" if cell.interval.n else "–" for cell in cells
        ]
        runs = max(cell.interval.n + cell.interval.undefined for cell in cells)
        rows.append([*(spelled(first.labels[one.key]) for one in axes), *marked, str(runs)])
    names = column_names([one.key for one in axes])
    heads = [*names.values(), *(one.measure.label for one in several), "runs"]
    return TableView(
        "points", "Every point: mean and 95 % interval", heads, rows,
        ("points.csv", "points.parquet"), caption=written_out(names),
        meanings={name: key for key, name in names.items() if name != key},
    )  # fmt: skip


def draw(
    found: Sweep, several: Sequence[Surface], axes: Sequence[GridAxis], folder: Path
) -> list[drawing.Drawing]:
    """Draws the figures of a sweep. Their kind depends on the number of axes with more than one value."""
    drawn = several[:MOST_MEASURES]
    wide = _varied(axes)
    if not drawn or not wide:
        return []
    if len(wide) == 1:
        return [draw_curves(found, drawn, wide[0], folder)]
    across, up, rest = arrange_axes(wide)
    panels = math.prod(len(one.labels) for one in rest)
    if panels > MOST_MULTIPLES:
        return []
    drawings = [draw_map(found, one, across, up, rest, folder) for one in drawn]
    if not rest and across.is_number and len(up.labels) <= MOST_CURVES:
        drawings.insert(1, draw_curves(found, drawn, across, folder, up))
    return drawings


def _varied(axes: Sequence[GridAxis]) -> list[GridAxis]:
    """Returns the axes with more than one value, or the first axis if there is none."""
    return [one for one in axes if len(one.labels) > 1] or list(axes[:1])


def _explain_no_maps(several: Sequence[Surface], axes: Sequence[GridAxis]) -> str:
    """Explains why there are no heat maps and how to get them. Empty if there are some."""
    wide = _varied(axes)
    if len(wide) < 3 or not several:
        return ""
    _, _, rest = arrange_axes(wide)
    panels = math.prod(len(one.labels) for one in rest)
    if panels <= MOST_MULTIPLES:
        return ""
    keys = " and ".join(short_key(one.key) for one in rest)
    held = ", ".join(f"{one.key!r}: {one.labels[0]!r}" for one in rest)
    return (
        f"No heat maps: the values of {keys} would make {panels} maps of each measure, and a page has room for "
        f"{MOST_MULTIPLES}. Give --grid fewer of them, or draw some in Python: fairwave.Results.load(FOLDER)"
        f".plot({several[0].asked!r}, at={{{held}}}). The table has all points."
    )


def arrange_axes(wide: Sequence[GridAxis], first: str = "") -> tuple[GridAxis, GridAxis, list[GridAxis]]:
    """Returns the horizontal axis, the vertical axis, and the axes that separate panels. `first` becomes horizontal.

    Axes with numbers precede others, and axes with more values precede axes with fewer.
    """
    order = sorted(wide, key=lambda one: (one.key != first, not one.is_number, -len(one.labels)))
    return order[0], order[1], [one for one in wide if one not in order[:2]]


def draw_curves(
    found: Sweep, several: Sequence[Surface], along: GridAxis, folder: Path, other: GridAxis | None = None
) -> drawing.Drawing:
    """Draws each measure along one axis with its 95 % band, a curve per value of another axis. Labels get bars."""
    panels, numbers = [], []
    for one in several:
        rows = []
        for cell in one.cells:
            at = along.labels.index(cell.labels[along.key])
            rows.append(
                {
                    "x": along.values[at] if along.is_number else spelled(cell.labels[along.key]),
                    "series": f"{short_key(other.key)} = {spelled(cell.labels[other.key])}"
                    if other
                    else None,
                    **_ends(cell),
                }
            )
        data = pl.DataFrame(rows, schema_overrides=dict.fromkeys(("mean", "low", "high"), pl.Float64))
        if along.is_number:
            data = data.sort("x", maintain_order=True)
        scale = scale_of(one.measure.id)
        lines = {}
        if scale and scale.higher:
            lines = {f"good from {scale.good:g}": scale.good, f"poor below {scale.poor:g}": scale.poor}
        foot = max(one.measure.limits[0], 0.0)
        kind: drawing.Kind = "line" if along.is_number else drawing.choose_kind(data, foot)
        panels.append(
            drawing.Panel(
                data, "x", "series" if other else None, scale_label(one.measure), along.title, one.title, kind,
                lines=lines if _are_near(lines, data) else {}, log_x=along.is_log, limits=one.measure.limits,
                y_from_zero=not _flat(data, foot), unit=one.measure.unit, span=least_span(one.measure, data["mean"]),
            )
        )  # fmt: skip
        numbers.append(data.select(pl.lit(one.asked).alias("measure"), pl.all()))
    name = "curves"
    with drawing.canvas(name, drawing.size_for(len(panels))) as canvas:
        drawing.draw_panels(canvas, panels)
        if along.is_count and not along.is_log:
            for axes in canvas.axes:
                drawing.whole_ticks(axes)
        return drawing.save(
            canvas, folder, name, pl.concat(numbers, how="vertical_relaxed"), found.results.provenance,
            title=f"Along {short_key(along.key)}",
            caption="Means over the runs of each point with 95 % intervals. "
            + ("An axis that does not begin at the measure's minimum fits the values."
               if any(panel.kind == "dot" or not panel.y_from_zero for panel in panels) else ""),
            alt=drawing.describe_panels(panels),
            chart=chart.chart_panels(panels),
        )  # fmt: skip


def _are_near(lines: Mapping[str, float], data: pl.DataFrame) -> bool:
    """Whether the bounds are close enough to the means to be in the picture."""
    means = [float(one) for one in data["mean"].to_list() if one is not None]
    if not lines or not means:
        return False
    room = max(max(means) - min(means), 0.5)
    return min(means) - room <= max(lines.values()) and max(means) + room >= min(lines.values())


def _flat(data: pl.DataFrame, foot: float) -> bool:
    """Whether curves would be flat on an axis from the measure's minimum."""
    kind = drawing.choose_kind(data, foot)
    return kind == "dot"


def _ends(cell: Cell) -> dict[str, float | None]:
    """Returns mean and interval for a figure's data."""
    if not cell.interval.n:
        return {"mean": None, "low": None, "high": None}
    found = cell.interval
    return {"mean": found.mean, "low": found.ends[0], "high": found.ends[1]}


def draw_map(
    found: Sweep, one: Surface, across: GridAxis, up: GridAxis, rest: Sequence[GridAxis], folder: Path
) -> drawing.Drawing:
    """Draws a measure over two axes as colours with numbers: a panel per combination of other axes, one scale."""
    combinations = list(itertools.product(*(part.labels for part in rest)))
    means = [
        cell.interval.mean for cell in one.cells if cell.interval.n and math.isfinite(cell.interval.mean)
    ]
    ends = colour_ends(one.measure, means)
    columns = min(len(combinations), style.current().most_columns)
    rows = -(-len(combinations) // columns)
    wide = min(1.6 + 0.75 * len(across.labels), 7.0)
    size = (max(min(1.4 + columns * wide, 11.4), 5.2), 1.0 + rows * (0.7 + max(0.42 * len(up.labels), 1.5)))
    stem = f"map-{_stem(one.asked)}"
    with drawing.canvas(stem, size) as canvas:
        grid = canvas.subplots(rows, columns, squeeze=False)
        for place, (axes, labels) in enumerate(zip(grid.flat, combinations, strict=False)):
            fixed = {part.key: label for part, label in zip(rest, labels, strict=True)}
            image = _draw_cells(axes, one, across, up, fixed, ends)
            if fixed:
                axes.set_title(
                    ", ".join(f"{short_key(key)} = {spelled(label)}" for key, label in fixed.items())
                )
            if place % columns == 0:
                axes.set_ylabel(up.title)
            if place >= len(combinations) - columns:
                axes.set_xlabel(across.title)
        for axes in list(grid.flat)[len(combinations) :]:
            axes.set_visible(False)
        bar = canvas.colorbar(image, ax=grid, shrink=0.9, aspect=24, pad=0.02)
        bar.set_label(f"{one.measure.label}: {GOOD} is better" if one.measure.better else one.measure.label)
        bar.outline.set_visible(False)
        data = pl.DataFrame(
            [
                {
                    **{part.key: _plain(cell.labels[part.key], part) for part in (across, up, *rest)},
                    **_ends(cell),
                }
                for cell in one.cells
            ],
            infer_schema_length=None,
        )
        return drawing.save(
            canvas, folder, stem, data, found.results.provenance,
            title=one.title,
            caption=_map_caption(one),
            alt=_map_in_words(one, across, up, rest),
        )  # fmt: skip


GOOD = "light"
"""End of the colours that is good in every map, whether high or low values are good."""


def colour_ends(measure: Measure, means: Sequence[float]) -> tuple[float, float]:
    """Returns the values at the ends of the colours: the extreme means, at least `least_span` apart."""
    low, high = min(means), max(means)
    span = max(least_span(measure, means), high - low) or 1.0
    least, most = measure.limits
    low = max((low + high - span) / 2, least)
    if low + span > most:
        low = max(most - span, least)
    return low, min(low + span, most)


def _directed(colours: Colormap, measure: Measure) -> Colormap:
    """Reverses the colours if needed, so that the good end of the measure is light."""
    grows = _lightness(colours(1.0)) > _lightness(colours(0.0))
    wanted = {"higher": True, "lower": False, None: grows}[measure.better]
    return colours if grows == wanted else colours.reversed()


def _lightness(colour: Sequence[float]) -> float:
    """Returns the lightness of a colour, 0 to 1 (luma of ITU-R BT.601)."""
    red, green, blue = colour[:3]
    return 0.299 * red + 0.587 * green + 0.114 * blue


def _stem(asked: str) -> str:
    return "".join(sign if sign.isalnum() else "-" for sign in asked).strip("-").lower()


def _map_caption(one: Surface) -> str:
    scale = scale_of(one.measure.id)
    said = "Each cell is the mean over the runs of a point."
    if one.measure.better:
        said += f" {GOOD.capitalize()} cells are better."
    if scale:
        bands = ", ".join(f"{name} {words}" for name, words in scale.key())
        said += (
            f" Thick lines separate good, fair and poor ({bands})."
            " A question mark: the 95 % interval reaches into another band."
        )
    if any(not cell.interval.n for cell in one.cells):
        said += " A dash: not defined there."
    return said


def _map_in_words(one: Surface, across: GridAxis, up: GridAxis, rest: Sequence[GridAxis]) -> str:
    """Describes the points with the least and the greatest mean."""
    defined = [cell for cell in one.cells if cell.interval.n]
    ends = (
        min(defined, key=lambda cell: cell.interval.mean),
        max(defined, key=lambda cell: cell.interval.mean),
    )
    told = [
        f"{name} {drawing.format_value(cell.interval.mean)} at "
        + ", ".join(f"{short_key(part.key)} {spelled(cell.labels[part.key])}" for part in (across, up, *rest))
        for name, cell in zip(("least", "most"), ends, strict=True)
    ]
    return f"{one.measure.label} over {short_key(across.key)} and {short_key(up.key)}: {'; '.join(told)}"


def _draw_cells(
    axes: Axes,
    one: Surface,
    across: GridAxis,
    up: GridAxis,
    fixed: Mapping[str, Any],
    ends: tuple[float, float],
) -> Any:
    """Draws cells with their numbers, and lines between neighbours in different bands."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize, to_rgb

    colours = _directed(colormaps[style.current().map], one.measure)
    norm = Normalize(*ends)
    grid: dict[tuple[int, int], Cell] = {}
    for cell in one.cells:
        if all(cell.labels[key] == label for key, label in fixed.items()):
            grid[across.labels.index(cell.labels[across.key]), up.labels.index(cell.labels[up.key])] = cell
    scale = scale_of(one.measure.id)
    many = len(grid) > MOST_WRITTEN
    for (x, y), cell in grid.items():
        mean = cell.interval.mean
        defined = bool(cell.interval.n) and math.isfinite(mean)
        words = f"{drawing.TIP}{_cell_in_words(cell, across, up)}" if len(grid) <= MOST_CELLS else None
        colour = to_rgb(colours(norm(mean))) if defined else (1.0, 1.0, 1.0)
        axes.bar(
            x, 1.0, 1.0, y - 0.5, color=colour, edgecolor=None if defined else style.FAINT, linewidth=0,
            hatch=None if defined else "//", zorder=2,
        )[0].set_gid(words)  # fmt: skip
        if many:
            continue
        sure = scale is None or not defined or len(scale.bands(cell.interval)) == 1
        text = f"{_number(mean)}{'' if sure else ' ?'}" if defined else "–"
        dark = _lightness(colour) > 0.55
        axes.text(
            x, y, text, ha="center", va="center", fontsize=style.points(8.5 if len(across.labels) <= 10 else 7),
            color=style.DARK_TEXT if dark else style.LIGHT_TEXT, zorder=4,
        )  # fmt: skip
    if scale is not None:
        _draw_bounds(axes, grid, scale)
    axes.set_xlim(-0.5, len(across.labels) - 0.5)
    axes.set_ylim(-0.5, len(up.labels) - 0.5)
    _ticks(axes.xaxis, across)
    _ticks(axes.yaxis, up)
    axes.grid(visible=False)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(length=0)
    return ScalarMappable(norm, colours)


def _number(value: float) -> str:
    return f"{value:.2f}" if 0.1 <= abs(value) < 10 else f"{value:.3g}"


def _cell_in_words(cell: Cell, across: GridAxis, up: GridAxis) -> str:
    where = ", ".join(f"{short_key(part.key)} {spelled(cell.labels[part.key])}" for part in (across, up))
    return (
        f"{where}: {cell.interval.text(unit=cell.measure.unit)}"
        if cell.interval.n
        else f"{where}: not defined"
    )


def _draw_bounds(axes: Axes, grid: Mapping[tuple[int, int], Cell], scale: Any) -> None:
    """Draws lines between neighbours with means in different bands."""
    bands = {place: scale.classify_mean(cell.interval) for place, cell in grid.items() if cell.interval.n}
    for (x, y), band in bands.items():
        right, above = bands.get((x + 1, y)), bands.get((x, y + 1))
        for other, across, upwards in (
            (right, [x + 0.5, x + 0.5], [y - 0.5, y + 0.5]),
            (above, [x - 0.5, x + 0.5], [y + 0.5, y + 0.5]),
        ):
            if other is not None and other != band:
                for colour, width, order in ((style.PAPER, 4.5, 3.0), (style.INK, 2.2, 3.5)):
                    axes.plot(
                        across, upwards, color=colour, linewidth=width, solid_capstyle="round", zorder=order
                    )


def _ticks(drawn: Any, along: GridAxis) -> None:
    """Sets a tick for each value, or for some if there are many."""
    words = along.ticks()
    every = max(1, math.ceil(len(words) / 14))
    drawn.set_ticks(range(0, len(words), every), words[::every])
