"""The house style of figures: readable, safe for colour-blind readers, the same colour for a system in every figure.

Colours are those of Okabe and Ito (2008), each with a marker and a line style of its own, so that nothing hangs on
colour alone. Colours in files are fixed; in a page they are replaced by variables, so that figures follow the
reader's light or dark theme.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

INK = "#1d2327"
FAINT = "#c9ced3"
PAPER = "#ffffff"

DARK_TEXT, LIGHT_TEXT = "#10161a", "#fdfdfd"
"""Text on colours that do not follow the reader's theme, as those of a heat map."""


@dataclass(frozen=True)
class SeriesStyle:
    """How one series is drawn.

    Attributes:
        name: Name of the colour, also that of the page's variable.
        colour: On light ground.
        dark: On dark ground.
        marker: Matplotlib's sign for the marker.
        line: Matplotlib's line style.
    """

    name: str
    colour: str
    dark: str
    marker: str
    line: Any


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
    """A look for each label: its own where it is known, else one that no other label here has."""
    chosen: dict[Any, SeriesStyle] = {}
    used: set[int] = set()
    for label in labels:
        index = FIXED.get(str(label).lower().removeprefix("tcp/").removeprefix("tcp-"))
        if index is not None and index not in used:
            chosen[label] = LOOKS[index]
            used.add(index)
    for label in labels:
        if label not in chosen:
            index = next((i for i in range(len(LOOKS)) if i not in used), len(chosen) % len(LOOKS))
            chosen[label] = LOOKS[index]
            used.add(index)
    return {label: chosen[label] for label in labels}


def settings(salt: str) -> dict[str, Any]:
    """Matplotlib's settings. `salt` makes the identifiers inside an SVG its own, and the same in every run."""
    return {
        "axes.axisbelow": True,
        "axes.edgecolor": INK,
        "axes.grid": True,
        "axes.labelcolor": INK,
        "axes.labelsize": 10,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlesize": 10.5,
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
        "legend.fontsize": 9.5,
        "lines.linewidth": 1.8,
        "lines.markersize": 5,
        "savefig.dpi": 160,
        "svg.fonttype": "none",
        "svg.hashsalt": salt,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "xtick.labelsize": 9.5,
        "ytick.labelsize": 9.5,
    }
