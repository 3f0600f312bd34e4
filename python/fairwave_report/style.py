"""Default style of figures: readable, safe for colour-blind readers, the same colour for a system in every figure.

The colours are from Okabe and Ito (2008). Each has a distinct marker and line style, so that no distinction depends
on colour alone. Colours in files are fixed. A page replaces them by variables, so that figures follow the reader's
light or dark theme.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

INK = "#1d2327"
FAINT = "#c9ced3"
PAPER = "#ffffff"

DARK_TEXT, LIGHT_TEXT = "#10161a", "#fdfdfd"
"""Text on colours that do not follow the reader's theme, for example in a heat map."""


@dataclass(frozen=True)
class SeriesStyle:
    """Look of one series.

    Attributes:
        name: Name of the colour and of the page's variable.
        colour: Colour on a light background.
        dark: Colour on a dark background.
        marker: Matplotlib's sign for the marker.
        line: Matplotlib's line style.
        hatch: Matplotlib's hatch of bars, for styles that do not distinguish them by colour.
        fill: Colour of bars; the colour of lines when empty.
    """

    name: str
    colour: str
    dark: str
    marker: str
    line: Any
    hatch: str = ""
    fill: str = ""


LOOKS: tuple[SeriesStyle, ...] = (
    SeriesStyle("vermilion", "#d55e00", "#ff8b3d", "o", "-"),
    SeriesStyle("blue", "#0072b2", "#4aa8e8", "s", (0, (6, 2))),
    SeriesStyle("green", "#009e73", "#2fc79b", "^", (0, (3, 1, 1, 1))),
    SeriesStyle("purple", "#b0559a", "#e08fc4", "D", (0, (1, 1))),
    SeriesStyle("sky", "#56b4e9", "#8fd0f7", "v", (0, (8, 2, 2, 2))),
    SeriesStyle("orange", "#e69f00", "#ffc14d", "P", (0, (4, 1))),
    SeriesStyle("grey", "#6b7278", "#a4acb3", "X", (0, (2, 2))),
    SeriesStyle("brown", "#8c5a2b", "#c9935c", "*", (0, (5, 1, 1, 1, 1, 1))),
)

GREYS = ("#111111", "#6e6e6e", "#a8a8a8", "#3d3d3d", "#8b8b8b", "#c4c4c4", "#555555", "#262626")
HATCHES = ("", "//", "..", "\\\\", "xx", "--", "++", "oo")
FILLS = ("#9c9c9c", "#e4e4e4", "#c6c6c6", "#f4f4f4", "#b2b2b2", "#dadada", "#a6a6a6", "#ececec")
MONOCHROME: tuple[SeriesStyle, ...] = tuple(
    replace(look, name=f"grey-{at}", colour=grey, dark=grey, hatch=hatch, fill=fill)
    for at, (look, grey, hatch, fill) in enumerate(zip(LOOKS, GREYS, HATCHES, FILLS, strict=True))
)
"""Series without colour: greys with the same markers and line styles, bars with hatches."""


@dataclass(frozen=True)
class FigureStyle:
    """Settings and file formats of figures.

    Attributes:
        formats: Extensions of the files, from `FORMATS`.
        settings: Matplotlib's settings that differ from the default style.
        width: Width in inches of a figure with several panels; None keeps the figure's width.
        column: Width in inches of a figure with one panel; None keeps the figure's width.
        looks: Looks of series.
        is_fixed: Whether pages keep its colours, on a light background.
        most_columns: Greatest number of panels side by side.
        map: Matplotlib's colour map of heat maps: without yellow, which is the middle of bands and of steps elsewhere.
    """

    formats: tuple[str, ...] = ("svg", "png")
    settings: Mapping[str, Any] = field(default_factory=dict)
    width: float | None = None
    column: float | None = None
    looks: tuple[SeriesStyle, ...] = LOOKS
    is_fixed: bool = False
    most_columns: int = 3
    map: str = "Blues"


FORMATS = ("svg", "png", "pdf")
"""File extensions of saved figures."""

HOUSE = FigureStyle()
_current: ContextVar[FigureStyle | None] = ContextVar("figure style", default=None)


def current() -> FigureStyle:
    """Returns the current style."""
    return _current.get() or HOUSE


@contextmanager
def using(wanted: FigureStyle) -> Iterator[FigureStyle]:
    """Draws figures in a style within the block."""
    before = _current.set(wanted)
    try:
        yield wanted
    finally:
        _current.reset(before)


def look(index: int) -> SeriesStyle:
    """Returns the look with an index, in the current style."""
    found = current().looks
    return found[index % len(found)]


def points(size: float) -> float:
    """Scales a letter size in points, given for the default style's 10 points."""
    return size * float(current().settings.get("font.size", 10)) / 10


def inches(size: tuple[float, float]) -> tuple[float, float]:
    """Scales the size of a figure, given for the default style."""
    wanted = current()
    across = wanted.width if size[0] >= WIDE else wanted.column
    if across is None:
        return size
    # Letters shrink less than the figure, so it stays high enough for them.
    return across, size[1] * max(across / size[0], points(10) / 10)


WIDE = 8.0
"""A figure of at least this width in inches takes the whole width of a page."""

FIXED: dict[str, int] = {
    "udp": 0,
    "vegas": 1,
    "westwood": 2,
    "westwood+": 2,
    "real": 3,
    "reno": 6,
    "newreno": 7,
    "sack": 4,
    "tahoe": 5,
    "tfrc": 1,
    "dvrc": 3,
    "rtcp": 5,
    "rtcp/udp": 5,
    "tcp(0.31, 0.875)": 0,
    "tcp(0.583, 0.75)": 4,
    "tcp(1, 0.5)": 6,
    "tcp(1.25, 0.25)": 5,
    "reno+red": 7,
    "reno+γ": 2,
    "reno+γ+δ": 3,
    "sqrt": 4,
    "iiad": 5,
    "rap": 3,
}
"""Systems that keep their look in every figure."""


def looks(labels: Sequence[Any]) -> dict[Any, SeriesStyle]:
    """Returns a look for each label: the fixed one of a known label, else one that no other label here has."""
    chosen: dict[Any, SeriesStyle] = {}
    used: set[int] = set()
    several = current().looks
    for label in labels:
        index = FIXED.get(str(label).lower().removeprefix("tcp/").removeprefix("tcp-"), len(several))
        if index < len(several) and index not in used:
            chosen[label] = several[index]
            used.add(index)
    for label in labels:
        if label not in chosen:
            index = next((i for i in range(len(several)) if i not in used), len(chosen) % len(several))
            chosen[label] = several[index]
            used.add(index)
    return {label: chosen[label] for label in labels}


def settings(salt: str) -> dict[str, Any]:
    """Returns Matplotlib's settings. `salt` makes the identifiers inside an SVG unique and the same in every run."""
    house = {
        "axes.axisbelow": True,
        "axes.edgecolor": INK,
        "axes.grid": True,
        "axes.labelcolor": INK,
        "axes.labelsize": points(10),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlesize": points(10.5),
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "figure.constrained_layout.use": True,
        "figure.facecolor": PAPER,
        "figure.dpi": 100,
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 10,
        "grid.color": FAINT,
        "grid.linewidth": 0.6,
        "legend.edgecolor": FAINT,
        "legend.frameon": False,
        "legend.fontsize": points(9.5),
        "lines.linewidth": 1.8,
        "lines.markersize": 5,
        "savefig.dpi": 160,
        "pdf.fonttype": 42,
        "svg.fonttype": "none",
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "xtick.labelsize": points(9.5),
        "ytick.labelsize": points(9.5),
    }
    return {**house, **current().settings, "figure.constrained_layout.use": True, "svg.hashsalt": salt}
