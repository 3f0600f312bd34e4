"""What scenarios, results and measures show of themselves in a notebook: small tables that follow its theme."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.measuring.measured import Measured
    from fairwave.results import Results
    from fairwave.scenario import Scenario

ROWS = 40
"""A table shows at most so many rows."""


def scenario(shown: Scenario) -> str:
    """Flows and network at a glance, the text folded beneath."""
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
    """What was run, and the tables that there are."""
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


def _short(value: Any, key: str) -> str:
    """A law in a cell: its name, with what else is set."""
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
