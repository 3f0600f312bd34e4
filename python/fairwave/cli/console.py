"""Tables, progress and messages in the terminal.

All terminal output goes through here. Control characters in it are shown, not obeyed: names of a scenario, names of
files or messages of a tool may contain escapes that would overwrite other lines or change the terminal.
"""

from __future__ import annotations

import json
import math
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.text import Text

    from fairwave.answers.answer import Answer
    from fairwave.runs.replication import Progress

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that control a terminal: control characters except line feed and tab, and marks of direction."""


def visible(text: str) -> str:
    r"""The text with escaped control characters: an escape character becomes `\x1b`."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


class _Terminal(Console):
    """A console that shows control characters. Every text passes through this class, table cells too."""

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(visible(text), **how)


# If no terminal sets a width, tables get the room that they need.
out = _Terminal(highlight=False, width=None if sys.stdout.isatty() else 120)
err = _Terminal(stderr=True, highlight=False)


def complain(message: str) -> None:
    """Prints an error message unchanged."""
    text = message if message.startswith(("error", "warning")) else f"error: {message}"
    print(visible(text.rstrip()), file=sys.stderr)  # noqa: T201  # unwrapped: scenario errors draw with columns


def say(message: str, *, quiet: bool = False) -> None:
    """A remark for people, on standard error."""
    if not quiet:
        err.print(message, markup=False, soft_wrap=True)


def table(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = "", left: bool = False
) -> None:
    """Prints a table on standard output: the first column left-aligned, numbers right-aligned unless `left`.

    Cells may carry rich's markup.
    """
    shown = Table(header_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for position, head in enumerate(heads):
        shown.add_column(head, justify="left" if position == 0 or left else "right", overflow="fold")
    for row in rows:
        shown.add_row(*row)
    out.print(f"\n[bold]{escape(title)}[/]")
    out.print(shown)
    if caption:
        out.print(f"[dim]{escape(caption)}[/]")


def answer(said: Answer) -> None:
    """Prints the part above all tables: the verdict, and its confidence."""
    if not said.sentences:
        return
    first, *others = said.sentences
    out.print(f"\n[bold]{escape(first)}[/]", soft_wrap=True)
    for sentence in others:
        out.print(escape(sentence), soft_wrap=True)
    if said.sure:
        out.print(f"[dim]{escape(said.sure)}[/]", soft_wrap=True)


def note(text: str) -> None:
    """A remark below tables, on standard output."""
    out.print(f"\n[dim]{escape(text)}[/]", soft_wrap=True)


def pairs(title: str, rows: Sequence[tuple[str, str]]) -> None:
    """Prints names with a line about each, on standard output."""
    shown = Table(show_header=False, box=None, pad_edge=False)
    shown.add_column(no_wrap=True, min_width=12)
    shown.add_column(overflow="fold")
    for name, about in rows:
        shown.add_row(escape(name), escape(about))
    out.print(f"\n[bold]{escape(title)}[/]")
    out.print(shown)


def json_text(data: Any) -> str:
    """A JSON document; NaN and infinities become null, control characters are escaped."""
    text = json.dumps(_finite(data), ensure_ascii=False, indent=2, allow_nan=False)
    return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def document(data: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json_text(data))


@contextmanager
def status(what: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """A line on standard error that shows the current attempt; nothing when that is not a terminal."""
    if quiet or not err.is_terminal:
        yield lambda _: None
        return
    what = escape(visible(what))
    with err.status(what) as shown:
        yield lambda now: shown.update(f"{what}: {escape(visible(now))}")


@contextmanager
def progress(what: str, *, quiet: bool = False) -> Iterator[Progress | None]:
    """A progress bar on standard error; nothing when that is not a terminal."""
    if quiet or not err.is_terminal:
        yield None
        return
    from rich.progress import (
        BarColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    # Runs in progress count by their simulated time, so that the bar also moves during a single long run.
    columns = (
        *(TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[ended]}")),
        *(
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        ),
    )
    with Bar(*columns, console=err, transient=True) as bar:
        task = bar.add_task(escape(visible(what)), total=None, ended="")
        yield lambda done, total: bar.update(task, completed=done, total=total, ended=f"{int(done)}/{total}")


def _finite(data: Any) -> Any:
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return data
