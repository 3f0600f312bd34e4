"""Notebook displays: small tables of scenarios, results and measures, progress of long work, and pages."""

from __future__ import annotations

import json
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fairwave.ask.finding import Answer
    from fairwave.ask.sweeping import Sweep
    from fairwave.measuring.measured import Measured
    from fairwave.results import Results
    from fairwave.runs.replication import Progress
    from fairwave.scenario import Scenario

ROWS = 40
"""Largest number of rows in a table."""


PATIENCE_S = 1.0
"""Work that takes less time shows no progress."""


def is_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


@contextmanager
def progress(given: Progress | None) -> Iterator[Progress | None]:
    """Returns the receiver of progress: the caller's function, else a bar in a notebook, else None."""
    if given is not None or not is_notebook():
        yield given
        return
    place: Any = import_module("IPython.display")
    began = time.monotonic()
    shown: Any = None

    def tell(done: float, total: int) -> None:
        nonlocal shown
        if shown is None and (time.monotonic() - began < PATIENCE_S or done >= total):
            return
        bar = f"<progress value='{done:.2f}' max='{total}'></progress> {int(done)} of {total} runs"
        if shown is None:
            shown = place.display(place.HTML(bar), display_id=True)
        else:
            shown.update(place.HTML(bar))

    try:
        yield tell
    finally:
        if shown is not None:
            shown.update(place.HTML(""))


@dataclass(frozen=True)
class PageView:
    """A page that a notebook can display.

    Attributes:
        path: The page's file.
        height: Height of the frame in pixels.
    """

    path: Path
    height: int = 900

    def _repr_html_(self) -> str:
        text = escape(self.path.read_text(encoding="utf-8"), quote=True)
        return (
            f'<iframe title="fairwave: {escape(self.path.parent.name)}" srcdoc="{text}" width="100%" '
            f'height="{self.height}" style="border: 1px solid #8888"></iframe>'
        )

    def __str__(self) -> str:
        """The path of the page."""
        return str(self.path)


def scenario(shown: Scenario) -> str:
    """Flows and network at a glance, the text folded below."""
    data = shown.to_dict()
    flows = [
        [
            flow["name"],
            flow.get("count", 1),
            _short(flow["transport"], "name"),
            _short(flow["traffic"], "kind"),
        ]
        for flow in data.get("flow", [])
    ]
    network = data.get("topology", {}).get("preset", "")
    links = len(data.get("link", []))
    where = ", ".join(filter(None, [network, f"{links} links" if links else ""]))
    name, duration = escape(shown.name), escape(data["duration"])
    head = f"<strong>{name}</strong> — {duration}, {escape(where)} <code>{shown.hash}</code>"
    about = f"<br>{escape(data['description'])}" if data.get("description") else ""
    text = f"<details><summary>TOML</summary><pre>{escape(shown.to_toml())}</pre></details>"
    return f"<div><p>{head}{about}</p>{_table(['flows', 'count', 'transport', 'traffic'], flows)}{text}</div>"


def results(shown: Results) -> str:
    """Summary of the runs, and the available tables."""
    seeds = shown.provenance.seeds
    names = ", ".join(dict.fromkeys(shown.provenance.scenarios.values()))
    axes = f", over {', '.join(shown.axes)}" if shown.axes else ""
    runs, what = shown.rows("runs").num_rows, escape(f"{names or '?'}{axes}")
    head = f"<strong>{runs} runs</strong> of {what}, {len(set(seeds))} seeds"
    each = [(name, shown.rows(name)) for name in shown.tables]
    rows = [[name, table.num_rows, ", ".join(table.column_names)] for name, table in each]
    return f"<div><p>{head}</p>{_table(['table', 'rows', 'columns'], rows)}</div>"


def measured(shown: Measured) -> str:
    """Mean and interval per point."""
    rows = []
    for point in shown.points()[:ROWS]:
        label = [str(point[axis]) for axis in shown.axes]
        rows.append([*label, str(shown.interval(**point))])
    head = f"<strong>{escape(shown.measure.label)}</strong>, mean ± 95 % interval"
    return f"<div><p>{head}</p>{_table([*shown.axes, 'value'], rows)}</div>"


def answer(shown: Answer) -> str:
    """Result of a search, with each value that it tried."""
    heads, rows = shown.table()
    head = f"<strong>{escape(str(shown))}.</strong>"
    notes = "".join(f"<p>{escape(one)}.</p>" for one in shown.remarks)
    sure = f"<p>{shown.level * 100:g} % confidence for the answer as a whole; {shown.runs} runs</p>"
    return f"<div><p>{head}</p>{_table(heads, rows)}{notes}{sure}</div>"


def sweep(shown: Sweep) -> str:
    """A row per point, a column per measure, with 95 % intervals."""
    heads, rows, notes = shown.table()
    runs = shown.results.rows("runs").num_rows
    head = f"<strong>{runs} runs</strong> at {len(rows)} points, mean ± 95 % interval"
    return f"<div><p>{head}</p>{_table(heads, rows)}{''.join(f'<p>{escape(one)}</p>' for one in notes)}</div>"


def _short(value: Any, key: str) -> str:
    """A law in a cell: its name and its other parameters."""
    if not isinstance(value, dict):
        return str(value)
    rest = {name: inner for name, inner in value.items() if name != key}
    text = f"{value.get(key, '')} {json.dumps(rest, ensure_ascii=False) if rest else ''}".strip()
    return text if len(text) <= 80 else f"{text[:79]}…"


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    head = "".join(f"<th scope='col'>{escape(str(one))}</th>" for one in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows[:ROWS]
    )
    more = f"<caption>{ROWS} of {len(rows)} rows</caption>" if len(rows) > ROWS else ""
    return f"<table>{more}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
