"""Search page: the values at which conditions hold, the intervals of the limits, and the tested values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave.answers.answer import Answer as Said
from fairwave.answers.naming import short_key
from fairwave.ask.finding import WORDS
from fairwave.staging import staging
from fairwave.table_files import write_table
from fairwave_report import figures as drawing
from fairwave_report import style
from fairwave_report.axes import GridAxis, axis, heading, least_span, scale_label
from fairwave_report.chart import Chart, ChartPanel, ChartSeries
from fairwave_report.page import Card, Page, TableView

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.ask import Answer
    from fairwave.provenance import Provenance


def write_find(
    answer: Answer,
    document: str,
    provenance: Provenance,
    out: Path,
    *,
    title: str,
    lead: str = "",
    scenario: str = "",
    activities: Sequence[str] = (),
) -> Path:
    """Writes page, table and figure of a search into the folder `out`, all or nothing.

    Args:
        answer: The result.
        document: The result as JSON, written to `answer.json`.
        provenance: Origin of the numbers.
        out: The folder.
        title: The page's heading.
        lead: The paragraph below the heading.
        scenario: The scenario's text.
        activities: How much speakers talk, a sentence each.

    Returns:
        The page.
    """
    along = axis(answer.key, [one.value for one in answer.tested])
    table = pl.DataFrame(
        [
            {
                answer.key: one.value if isinstance(one.value, (int, float)) else str(one.value),
                "condition": str(wanted),
                "mean": _finite(cell.mean),
                "low": cell.ends[0],
                "high": cell.ends[1],
                "replications": cell.n,
                "verdict": WORDS[verdict],
            }
            for one in answer.tested
            for wanted, cell, verdict in zip(answer.conditions, one.intervals, one.verdicts, strict=True)
        ],
        infer_schema_length=None,
    )
    heads, rows = answer.table()
    level = f"{answer.level * 100:g} % confidence for the answer as a whole; {answer.runs} runs."
    with staging(out) as partial:
        (partial / "answer.json").write_text(document, encoding="utf-8")
        (partial / "scenario.toml").write_text(scenario, encoding="utf-8")
        write_table(table.to_arrow(), partial / "tried", provenance)
        page = Page(
            title=title, kicker="Search", lead=lead, answer=Said([f"{answer}."], sure=level),
            notes=[*(f"{one[:1].upper()}{one[1:]}." for one in answer.remarks), *activities],
            cards=[Card(str(len(answer.tested)), "values tried"), Card(str(answer.runs), "runs")],
            drawings=[draw(answer, along, table, partial / "figures", provenance)],
            drawn="Means over the runs of each value; error bars and bands are 95 % intervals.",
            tables=[
                TableView(
                    "tried", "What was tried",
                    [short_key(answer.key), *heads[1:]], rows,
                    ("tried.csv", "tried.parquet"),
                    caption="Whether the condition holds is decided at the confidence of the whole answer. That needs "
                    "more than the 95 % interval of one value.",
                )
            ],
            scenario=scenario,
            provenance=provenance,
        )  # fmt: skip
        (partial / "index.html").write_text(page.html(partial), encoding="utf-8")
    return out / "index.html"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def draw(
    answer: Answer, along: GridAxis, table: pl.DataFrame, folder: Path, provenance: Provenance
) -> drawing.Drawing:
    """Draws each condition's measure at each tested value, its bound, and the intervals of the limits."""
    places = list(along.values) or [float(one) for one in range(len(along.labels))]
    where = dict(zip(along.labels, places, strict=True))
    order = sorted(answer.tested, key=lambda one: where[one.value])
    spans = [
        (min(where[edge], where[fails]), max(where[edge], where[fails]))
        for region in answer.regions
        for edge, fails in ((region.first, region.fails_before), (region.last, region.fails_after))
        if fails is not None
    ]
    panels = []
    count = len(answer.conditions)
    with drawing.canvas("limit", (9.2, 1.2 + 3.0 * count)) as canvas:
        each = canvas.subplots(count, 1, squeeze=False)[:, 0]
        for number, (axes, wanted) in enumerate(zip(each, answer.conditions, strict=True)):
            measure = wanted.of.measure
            mean, low, high = (
                [_finite(getattr(one.intervals[number], end)) for one in order]
                for end in ("mean", "low", "high")
            )
            verdicts = [one.verdicts[number] for one in order]
            for at, span in enumerate(spans):
                label = HERE if at == 0 else None
                axes.axvspan(
                    *span, color=style.look(5).colour, alpha=0.22, linewidth=0, label=label, zorder=1
                )
            axes.axhline(wanted.bound, color=style.INK, linewidth=1.0, linestyle=(0, (1, 2)), zorder=1.5)
            axes.annotate(
                wanted.with_unit, (0.01, wanted.bound), xycoords=("axes fraction", "data"), xytext=(0, 3),
                textcoords="offset points", fontsize=style.points(8.5),
            )  # fmt: skip
            axes.plot(
                sorted(places),
                [_nan(one) for one in mean],
                "-",
                color=style.look(6).colour,
                linewidth=1.0,
                zorder=2,
            )
            for verdict, look in LOOKED.items():
                at_ = [i for i, one in enumerate(verdicts) if one == verdict and mean[i] is not None]
                if at_:
                    cells = [order[i].intervals[number] for i in at_]
                    reach = [
                        [max(one.mean - (one.low if one.n > 1 else one.mean), 0.0) for one in cells],
                        [max((one.high if one.n > 1 else one.mean) - one.mean, 0.0) for one in cells],
                    ]
                    axes.errorbar(
                        [where[order[i].value] for i in at_], [mean[i] for i in at_], yerr=reach,
                        fmt=style.look(look).marker, color=style.look(look).colour, capsize=3, elinewidth=1.2,
                        label=WORDS[verdict], zorder=3,
                    )  # fmt: skip
            if along.is_log:
                axes.set_xscale("log")
                drawing.plain_numbers(axes.xaxis)
            elif along.is_count:
                drawing.whole_ticks(axes)
            axes.set_ylim(drawing.widen_ends(axes.get_ylim(), least_span(measure, mean)))
            axes.set_ylabel(measure.label if measure.unit else f"{measure.label}, {scale_label(measure)}")
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
            panels.append(
                ChartPanel(
                    measure.title if count > 1 else "",
                    along.title,
                    measure.label,
                    [
                        ChartSeries(measure.title, style.look(6), sorted(places), mean, low, high),
                        *(
                            ChartSeries(
                                WORDS[verdict],
                                style.look(look),
                                sorted(places),
                                [
                                    value if one == verdict else None
                                    for one, value in zip(verdicts, mean, strict=True)
                                ],
                                is_marks=True,
                            )
                            for verdict, look in LOOKED.items()
                            if verdict in verdicts
                        ),
                    ],
                    log_x=along.is_log,
                    ends=axes.get_ylim(),
                    lines={wanted.with_unit: wanted.bound},
                    span=(HERE, *spans[0]) if len(spans) == 1 else None,
                )
            )
        each[-1].set_xlabel(f"{along.title}, log scale" if along.is_log else along.title)
        titles = " and ".join(
            dict.fromkeys(heading(one.of.measure, one.of.text.partition(".")[2]) for one in answer.conditions)
        )
        told = "; ".join(
            f"{one.value}: {', '.join(drawing.format_value(cell.mean) for cell in one.intervals)}"
            for one in order
        )
        return drawing.save(
            canvas, folder, "limit", table, provenance,
            title=f"{titles} along {short_key(answer.key)}",
            caption=("Shaded: the interval in which a limit lies. " if spans else "")
            + "Points: means of the values that were tried, with 95 % intervals.",
            alt=f"{answer}. Tried: {told}",
            chart=Chart(panels),
        )  # fmt: skip


HERE = "a limit lies here"

LOOKED: dict[Any, int] = {"holds": 2, "fails": 0, "open": 6}
"""Verdict to the index of its look."""


def _nan(value: float | None) -> float:
    return math.nan if value is None else value
