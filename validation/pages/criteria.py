"""The page of criteria: what `fairwave evaluate` asks of a controller and of a queue, with the bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_evaluation.controller import evaluate_controller
from fairwave_evaluation.discipline import evaluate_discipline

if TYPE_CHECKING:
    from pathlib import Path

    from fairwave_study.study import Study


def _table(study: Study) -> str:
    """A row for each criterion: identifier, section of the standard, and the bound."""
    rows = [f"| `{one.id}` | {one.source} | {one.statement} |" for one in study.claims]
    return "\n".join(["| criterion | standard | bound |", "|---|---|---|", *rows])


def render(_: Path) -> str:
    """Renders the page."""
    return (
        "# Criteria\n\n[Evaluating](evaluating.md) describes the reports. Here the subjects are `tcp/reno` and `codel`."
        f"\n\n## For a controller\n\n{_table(evaluate_controller('tcp/reno'))}"
        f"\n\n## For a queue\n\n{_table(evaluate_discipline('codel'))}\n"
    )
