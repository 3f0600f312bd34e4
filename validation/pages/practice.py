"""Asks fairwave all questions of `tests/practice` with known answers, and keeps its answers.

Ends with status 1 if an answer is outside its range.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from validation import ROOT, kept

if TYPE_CHECKING:
    from pathlib import Path

KEPT = "practice"
sys.path.insert(0, str(ROOT / "tests"))


def main() -> int:
    """Keeps the answers; the exit status."""
    sys.path.insert(0, str(ROOT / "tests"))
    from practice.situations import situations

    asked = situations()
    answers = {one.key: float(one.measured()) for one in asked}
    kept.write(KEPT, answers)
    wrong = [one for one in asked if not one.low <= answers[one.key] <= one.high]
    for one in wrong:
        print(f"{one.key}: {answers[one.key]:g}, allowed from {one.low:g} to {one.high:g}", file=sys.stderr)
    print(f"{len(asked)} situations, {len(wrong)} of them answered wrongly")
    return int(bool(wrong))


def render(_: Path) -> str:
    """Renders the page from the kept answers."""
    from practice.page import page
    from practice.situations import situations

    answers = kept.read(KEPT)
    return str(page(situations(), lambda one: answers[one.key]))
