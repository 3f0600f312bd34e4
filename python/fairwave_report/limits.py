"""A search as a page: how far a value may go, with the interval in which its limit lies, and what was tried."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave.answers.answer import Answer as Said
from fairwave.answers.verdict import short_key
from fairwave.results import write_table
from fairwave.staging import staging
from fairwave_report import figures as drawing
from fairwave_report import style
from fairwave_report.axes import GridAxis, axis, scale_label
from fairwave_report.chart import Chart, ChartPanel, ChartSeries
from fairwave_report.page import Card, Page, TableView

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.ask import Answer
    from fairwave.provenance import Provenance

WORDS = {"holds": "holds", "fails": "fails", "open": "undecided"}
"""What a condition comes to at a value."""


def sentences(answer: Answer) -> list[str]:
    """The answer, and between which values the limit lies."""
    said = f"{answer}."
    if answer.holds is None or answer.fails is None:
        return [said]
    where = f"The limit lies from {answer.holds} to {answer.fails}"
    best = f"; the mean crosses the bound at about {answer.best}" if answer.best is not None else ""
    return [said, f"{where}{best}."]


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
    """Leaves page, table and figure of a search in the folder `out`, all or nothing.

    Args:
        answer: What was found.
        document: The same as JSON, which is left as `answer.json`.
        provenance: Where the numbers come from.
        out: The folder.
        title: The page's heading.
        lead: The paragraph beneath it.
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
                "mean": _finite(one.interval.mean),
                "low": _finite(one.interval.low),
                "high": _finite(one.interval.high),
                "replications": one.interval.n,
                "condition": WORDS[one.verdict],
            }
            for one in answer.tested
        ],
        infer_schema_length=None,
    )
    level = f"{answer.level * 100:g} % confidence for the answer as a whole; {answer.runs} runs."
    with staging(out) as partial:
        (partial / "answer.json").write_text(document, encoding="utf-8")
        (partial / "scenario.toml").write_text(scenario, encoding="utf-8")
        write_table(table.to_arrow(), partial / "tried", provenance)
        page = Page(
            title=title, kicker="Search", lead=lead, answer=Said(sentences(answer), sure=level),
            notes=[*(f"{one[:1].upper()}{one[1:]}." for one in answer.remarks), *activities],
            cards=[Card(str(len(answer.tested)), "values tried"), Card(str(answer.runs), "runs")],
            drawings=[draw(answer, along, table, partial / "figures", provenance)],
            drawn="Means over the runs of each value; error bars and bands are 95 % intervals.",
            tables=[
                TableView(
                    "tried", "What was tried",
                    [short_key(answer.key), answer.condition.of.measure.label, "replications", str(answer.condition)],
                    [
                        [str(one.value), str(one.interval), str(one.interval.n), WORDS[one.verdict]]
                        for one in answer.tested
                    ],
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
    """The measure at each value that was tried, the bound, and the interval of the limit."""
    measure = answer.condition.of.measure
    places = list(along.values) or [float(one) for one in range(len(along.labels))]
    span = _span(answer, along, places)
    bound = f"{answer.condition}{f' {measure.unit}' if measure.unit else ''}"
    mean, low, high = (table[name].to_list() for name in ("mean", "low", "high"))
    with drawing.canvas("limit", (9.2, 4.2)) as canvas:
        axes = canvas.subplots()
        if span is not None:
            axes.axvspan(*span, color=style.look(5).colour, alpha=0.22, linewidth=0, label=HERE, zorder=1)
        axes.axhline(
            answer.condition.bound, color=style.INK, linewidth=1.0, linestyle=(0, (1, 2)), zorder=1.5
        )
        axes.annotate(
            bound, (0.01, answer.condition.bound), xycoords=("axes fraction", "data"), xytext=(0, 3),
            textcoords="offset points", fontsize=style.points(8.5),
        )  # fmt: skip
        axes.plot(
            places, [_nan(one) for one in mean], "-", color=style.look(6).colour, linewidth=1.0, zorder=2
        )
        for verdict, look in LOOKED.items():
            at = [i for i, one in enumerate(answer.tested) if one.verdict == verdict and mean[i] is not None]
            if at:
                reach = [
                    [max(mean[i] - _or(low[i], mean[i]), 0.0) for i in at],
                    [max(_or(high[i], mean[i]) - mean[i], 0.0) for i in at],
                ]
                axes.errorbar(
                    [places[i] for i in at], [mean[i] for i in at], yerr=reach, fmt=style.look(look).marker,
                    color=style.look(look).colour, capsize=3, elinewidth=1.2, label=WORDS[verdict], zorder=3,
                )  # fmt: skip
        if along.is_log:
            axes.set_xscale("log")
            drawing.plain_numbers(axes.xaxis)
        elif along.is_count:
            drawing.whole_ticks(axes)
        axes.set_xlabel(f"{along.title}, log scale" if along.is_log else along.title)
        axes.set_ylabel(measure.label if measure.unit else f"{measure.label}, {scale_label(measure)}")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        panel = ChartPanel(
            "", along.title, measure.label,
            [
                ChartSeries(measure.title, style.look(6), places, mean, low, high),
                *(
                    ChartSeries(
                        WORDS[verdict], style.look(look), places,
                        [
                            value if one.verdict == verdict else None
                            for one, value in zip(answer.tested, mean, strict=True)
                        ],
                        is_marks=True,
                    )
                    for verdict, look in LOOKED.items()
                    if any(one.verdict == verdict for one in answer.tested)
                ),
            ],
            log_x=along.is_log, lines={bound: answer.condition.bound},
            span=(HERE, *span) if span else None,
        )  # fmt: skip
        return drawing.save(
            canvas, folder, "limit", table, provenance,
            title=f"{measure.title[:1].upper()}{measure.title[1:]} along {short_key(answer.key)}",
            caption=("Shaded: the interval in which the limit lies. " if span else "")
            + "Points: means of the values that were tried, with 95 % intervals.",
            alt=f"{answer}. Tried: "
            + ", ".join(f"{one.value}: {drawing.in_words(one.interval.mean)}" for one in answer.tested),
            chart=Chart([panel]),
        )  # fmt: skip


HERE = "the limit lies here"

LOOKED: dict[Any, int] = {"holds": 2, "fails": 0, "open": 6}
"""What a value comes to, and the look in which it is drawn."""


def _span(answer: Answer, along: GridAxis, places: Sequence[float]) -> tuple[float, float] | None:
    """Between which places the limit lies; none where an end of it was not found."""
    if answer.holds is None or answer.fails is None:
        return None
    ends = sorted(places[list(along.labels).index(one)] for one in (answer.holds, answer.fails))
    return ends[0], ends[1]


def _nan(value: float | None) -> float:
    return math.nan if value is None else value


def _or(value: float | None, other: float) -> float:
    return other if value is None else value
