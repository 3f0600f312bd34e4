"""The page of codecs: rate, impairment and source of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave import codecs

if TYPE_CHECKING:
    from pathlib import Path


def render(_: Path) -> str:
    """Renders the page."""
    return (
        f"# Codecs\n\n[Speech](speech.md#codecs-and-ratings) describes the columns.\n\n{codecs.markdown()}\n"
    )
