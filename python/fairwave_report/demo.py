"""The page of `fairwave demo`: several questions, each with its verdict and audible calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.staging import write_text
from fairwave_report.page import Page, Part

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.provenance import Provenance


def write_demo(parts: Sequence[Part], out: Path, provenance: Provenance) -> Path:
    """Writes the page above the questions' own pages, and returns its file."""
    page = Page(
        title="Will the call be good?",
        kicker="Demo",
        lead="Two questions, each answered by simulating every packet, with the calls to hear.",
        provenance=provenance,
        parts=parts,
    )
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / "index.html", page.html(out))
    return out / "index.html"
