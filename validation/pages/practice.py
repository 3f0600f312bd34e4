"""Asks fairwave all questions of `tests/practice` with known answers, and writes `docs/practice.md`.

Ends with status 1 if an answer is outside its range.
"""

from __future__ import annotations

import sys

from validation import ROOT

PAGE = ROOT / "docs" / "practice.md"


def main() -> int:
    """Writes the page; the exit status."""
    sys.path.insert(0, str(ROOT / "tests"))
    from practice.page import page
    from practice.situations import situations

    asked = situations()
    answers = {one.key: one.measured() for one in asked}
    PAGE.write_text(page(asked, lambda one: answers[one.key]), encoding="utf-8")
    wrong = [one for one in asked if not one.low <= answers[one.key] <= one.high]
    for one in wrong:
        print(f"{one.key}: {answers[one.key]:g}, allowed from {one.low:g} to {one.high:g}", file=sys.stderr)
    print(
        f"written: {PAGE.relative_to(ROOT)}, {len(asked)} situations, {len(wrong)} of them answered wrongly"
    )
    return int(bool(wrong))
