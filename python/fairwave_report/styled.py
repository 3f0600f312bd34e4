"""A figure that keeps its style: a later drawing or saving looks the same as the first."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.backend_bases import RendererBase

SHARPNESS = 2.0
"""Pixels of a notebook's picture per pixel that it is wide."""

SHOWN_DPI = 100.0
"""Pixels per inch at which a notebook shows a figure."""


class StyledFigure(Figure):
    """A Matplotlib figure with fixed settings.

    Args:
        settings: Matplotlib's settings, applied whenever the figure is drawn or saved.
        options: Options of `matplotlib.figure.Figure`.
    """

    def __init__(self, settings: Mapping[str, Any], **options: Any) -> None:
        self._settings = dict(settings)
        super().__init__(**options)

    def draw(self, renderer: RendererBase) -> None:
        """Draws the figure in its style."""
        with mpl.rc_context(cast("Any", self._settings)):
            super().draw(renderer)

    def savefig(self, fname: Any, *, transparent: bool | None = None, **options: Any) -> None:
        """Saves the figure in its style, as `matplotlib.figure.Figure.savefig` does."""
        with mpl.rc_context(cast("Any", self._settings)):
            super().savefig(fname, transparent=transparent, **options)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Renders the picture for notebooks, sharp on screens with small pixels."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=SHARPNESS * SHOWN_DPI)
        across, high = (round(float(one) * SHOWN_DPI) for one in self.get_size_inches())
        return buffer.getvalue(), {"width": across, "height": high}
