"""Parts of generated pages: tables and folded details."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


def parser(about: str | None) -> argparse.ArgumentParser:
    """A parser for the arguments of one command of `python -m validation`. ``about`` is its module's docstring."""
    return argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)


def fill(page: str, begin: str, end: str, text: str) -> str:
    """The page with ``text`` between two marks."""
    before, _, rest = page.partition(begin)
    return f"{before}{begin}{text}{end}{rest.partition(end)[2]}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Lines of a Markdown table."""
    head = tuple(head)
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def folded(summary: str, lines: Iterable[str], name: str = "") -> Iterator[str]:
    """Lines of Markdown behind a summary that a click opens. ``name`` is the target of links."""
    mark = f' id="{name}"' if name else ""
    yield f"<details{mark}><summary>{summary}</summary>"
    yield ""
    yield from lines
    yield ""
    yield "</details>"
    yield ""


def changed(changes: Iterable[str]) -> Iterator[str]:
    """The section of a page about changes that were made after results had been seen."""
    yield "## What was changed after a look"
    yield ""
    for one in changes:
        yield f"- {one}"
    yield ""


def method(summary: str, *texts: str | None) -> Iterator[str]:
    """The section of a page about its method: modules' docstrings without their first paragraphs, folded."""
    yield "## Method"
    yield ""
    parts = ((text or "").split("\n\n", 1)[1].rstrip() for text in texts)
    yield from folded(summary, "\n\n".join(parts).splitlines())


SYMBOLS = {"agrees": "✓", "undecided": "?", "differs": "✗"}
"""How a verdict is shown, in this order."""


def counted(verdicts: Iterable[str]) -> str:
    """The number of measures with each verdict: ``✓ 5 ✗ 1``, or a dash without any."""
    found = Counter(verdicts)
    return " ".join(f"{mark}\u00a0{found[one]}" for one, mark in SYMBOLS.items() if found[one]) or "–"


NAMES = {
    "goodput_mbps": "goodput",
    "loss_rate": "loss",
    "drop_rate": "drops",
    "mark_rate": "marks",
    "mean_queue": "queue",
    "utilisation": "utilisation",
    "share": "share",
    "jain": "Jain",
    "cov": "CoV",
    "rtt_ms": "RTT",
    "rtt_p95_ms": "RTT, 95 %",
    "window": "window",
    "wait_ms": "wait",
    "retransmissions": "retransmissions",
}
"""The columns of a matrix, by measures without flow and without ``_steady``."""


def kind(measure: str) -> str:
    """The column of a measure: ``goodput_steady_mbps/voice`` is goodput."""
    return NAMES[measure.split("/", maxsplit=1)[0].replace("_steady", "")]


def matrix(first: str, cases: Mapping[str, Sequence[tuple[str, str]]]) -> Iterator[str]:
    """A table of verdicts: a row for each case, a column for each kind of measure.

    ``cases`` has measure and verdict by title. Verdicts without a symbol do not count.
    """
    there = {kind(measure) for found in cases.values() for measure, _ in found}
    columns = [name for name in NAMES.values() if name in there]
    yield f"| {first} | " + " | ".join(columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for title, found in cases.items():
        cells = []
        for column in columns:
            verdicts = [
                verdict for measure, verdict in found if kind(measure) == column and verdict in SYMBOLS
            ]
            alike = len(set(verdicts)) == 1
            cells.append(SYMBOLS[verdicts[0]] if alike else counted(verdicts))
        yield f"| {title} | " + " | ".join(cells) + " |"
