"""Tables 5 to 9 with the paper's numbers, their agreement with ours, and Voice-Guard's results."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from fairwave_studies.dropping import points as p
from fairwave_studies.dropping import published, recognition
from fairwave_studies.dropping import quantities as q
from fairwave_studies.dropping.agreement import (
    ALIKE,
    PARTS,
    PUBLISHED,
    compared,
    explain_swaps,
    mean,
    orders,
    spearman,
)
from fairwave_studies.dropping.published import CELLS, TOTAL
from fairwave_study import texts
from fairwave_study.parts import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairwave_studies.dropping.published import Cell
    from fairwave_study.parts import Data

Numbers = tuple[list[float], list[float]]


def _show_pair(ours: float, theirs: float, digits: int) -> str:
    return f"{'–' if math.isnan(ours) else f'{ours:.{digits}f}'} ({theirs:.{digits}f})"


def _delays(data: Data) -> pl.DataFrame:
    rows = []
    for case in p.S1_CASES:
        row = {"case": case}
        for victim in p.PAPERS_VICTIMS:
            place = {"case": case, "queue": "RED", "victim": victim}
            wait, whole, variance = (
                mean(data, one, p.ALWAYS_ON, **place) for one in (q.QUEUEING, q.END_TO_END, q.VARIANCE)
            )
            row[f"{victim}: queueing (ms)"] = _show_pair(wait, published.QUEUEING_MS[case][victim], 0)
            row[f"{victim}: end to end (ms)"] = _show_pair(whole, published.END_TO_END_MS[case][victim], 0)
            spread = "–" if math.isnan(variance) else f"{variance:.0f}"
            row[f"{victim}: variance (ms²; paper's)"] = f"{spread} ({published.VARIANCE[case][victim]:g})"
        rows.append(row)
    return pl.DataFrame(rows)


def _losses(data: Data, grid: str) -> pl.DataFrame:
    rows = []
    for case, parts in PUBLISHED[grid].items():
        for part, theirs in parts.items():
            row = {"case": case, "voice lost (%)": part}
            for queue, victim in CELLS:
                ours = mean(data, PARTS[part], grid, case=case, queue=queue, victim=victim)
                row[f"{queue} {victim}"] = _show_pair(ours, theirs[queue, victim], 2)
            rows.append(row)
    return pl.DataFrame(rows)


def _accuracies(
    data: Data, column: str, theirs: Mapping[str, Mapping[Cell, float]], method: str
) -> Iterable[tuple[str, Cell, float, float]]:
    found = recognition.heard(data)
    for flow, row in theirs.items():
        for queue, victim in CELLS:
            place = {"flow": flow, "queue": queue, "victim": victim, "method": method}
            # Over all replications together: one of them has few sentences.
            chosen = found.frame.filter(*(pl.col(key) == label for key, label in place.items()))
            sums = chosen.select("words", "errors", "sentences", "printed").sum().row(0)
            words, errors, sentences, correct = sums
            good, whole = (words - errors, words) if column == "words" else (correct, sentences)
            yield flow, (queue, victim), 100 * good / whole if whole else math.nan, row[queue, victim]


def _understood(data: Data, column: str, theirs: Mapping[str, Mapping[Cell, float]]) -> pl.DataFrame:
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for method, words in zip(recognition.METHODS, ("G.711 Appendix I", "silence"), strict=True):
        for flow, (queue, victim), ours, paper in _accuracies(data, column, theirs, method):
            row = rows.setdefault((flow, method), {"flow": flow, "gaps": words})
            row[f"{queue} {victim}"] = _show_pair(ours, paper, 1)
    return pl.DataFrame(list(rows.values()))


def _corpus(data: Data) -> pl.DataFrame:
    found = recognition.heard(data)
    each = found.frame.filter(pl.col("method") == recognition.METHODS[0]) if len(found.frame) else found.frame
    cells = each.group_by("flow", "queue", "victim").agg(pl.col("sentences", "words").sum())
    words, spoken = cells["words"].to_list() or [0], cells["sentences"].to_list() or [0]
    per_cell = f"{min(spoken)} sentences, {min(words)} to {max(words)} words"
    clean = found.clean
    facts = [
        (
            "corpus",
            "one voice, 9 digits ('two' left out), real recordings joined with pauses",
            "Aurora 2: many speakers, connected digits",
        ),
        (
            "sentences",
            f"{recognition.CORPUS} different; {per_cell} per flow, queue and victim" if len(cells) else "–",
            "4004",
        ),
        (
            "recogniser",
            "PocketSphinx, context-dependent phones trained on TIDIGITS, grammar of digits",
            "11 whole-word models of 16 states, trained on 8440 Aurora 2 sentences",
        ),
        ("word accuracy, nothing lost (%)", f"{clean.word_accuracy:.1f}", "99.02 (its largest cell)"),
        ("correct sentences, nothing lost (%)", f"{clean.sentence_accuracy:.1f}", "97.08 (its largest cell)"),
        ("sounds listened to", str(found.distinct), "–"),
    ]
    if found.missing:
        facts = [("not made", found.missing, "–")]
    return pl.DataFrame(facts, schema=["of", "here", "paper 004"], orient="row")


def _heard_cells(data: Data) -> list[tuple[str, str, str, Numbers]]:
    """Tables 8 and 9 and Table 5's variance: name, quantity, unit, our numbers and theirs."""
    cells = [(case, victim) for case in p.S1_CASES for victim in p.PAPERS_VICTIMS]
    ours = [
        mean(data, q.VARIANCE, p.ALWAYS_ON, case=case, queue="RED", victim=victim) for case, victim in cells
    ]
    theirs = [published.VARIANCE[case][victim] for case, victim in cells]
    found: list[tuple[str, str, str, Numbers]] = [("Table 5", "end-to-end variance", "", (ours, theirs))]
    for name, column, printed in (
        ("Table 8", "words", published.WORD_ACCURACY),
        ("Table 9", "sentences", published.CORRECT_SENTENCES),
    ):
        heard = list(_accuracies(data, column, printed, recognition.METHODS[0]))
        numbers = ([one[2] for one in heard], [one[3] for one in heard])
        found.append((name, f"{column}, concealed", "%", numbers))
    return found


def _agreement(data: Data) -> pl.DataFrame:
    """How far our numbers are from the printed ones: means of the differences, and of their sizes."""
    cells = compared(data)
    every = [
        (str(name), str(what), part["unit"][0], (part["here"].to_list(), part["paper"].to_list()))
        for (name, what), part in cells.group_by("table", "quantity", maintain_order=True)
    ]
    rows = []
    for name, what, unit, (ours, theirs) in [*every, *_heard_cells(data)]:
        rank, count = spearman(ours, theirs)
        apart = [a - b for a, b in zip(ours, theirs, strict=True) if not math.isnan(a - b)]
        known = bool(apart) and bool(unit)
        rows.append(
            {
                "table": name,
                "quantity": what,
                "unit": unit or "none printed",
                "cells": str(count),
                "here − paper, mean": sum(apart) / len(apart) if known else math.nan,
                "|here − paper|, mean": sum(map(abs, apart)) / len(apart) if known else math.nan,
                "|here − paper|, largest": max(map(abs, apart)) if known else math.nan,
                "Spearman's ρ": rank,
            }
        )
    return pl.DataFrame(rows)


def _related(data: Data) -> pl.DataFrame:
    """Whether queues of the related work carry calls better."""
    rows = []
    for case in p.BEYOND_CASES:
        for scheme in p.BEYOND_SCHEMES:
            place = {"case": case, "scheme": scheme}
            row = {"case": case, "queue and victim": scheme}
            for measure in (q.QUEUE_LOSS, q.LATE_LOSS, q.MOS, q.FULL_MOS, q.QUEUEING, q.CLASS_FAIRNESS):
                row[measure.label] = str(data.measured(measure, p.BEYOND).interval(**place))
            for name in q.CLASSES:
                shares = data.measured(q.SHARE, p.BEYOND)
                row[f"{q.CLASS_TITLES[name]} (%)"] = str(shares.interval(**place, **{"class": name}))
            row[q.TOTAL_OUT.label] = str(data.measured(q.TOTAL_OUT, p.BEYOND).interval(**place))
            rows.append(row)
    return pl.DataFrame(rows)


def _orders(data: Data) -> pl.DataFrame:
    rows = []
    for name, grid in (("Table 6", p.ON_OFF), ("Table 7", p.ROUTERS)):
        every = [one for part in next(iter(PUBLISHED[grid].values())) for one in orders(data, grid, part)]
        totals = [one for one in every if one.part == TOTAL]
        for one in totals:
            ours, theirs = (_rank(numbers) for numbers in (one.ours, one.theirs))
            rows.append(
                {
                    "table": name, "case": one.case, "queue": one.queue, "here": ours, "paper": theirs,
                    "agrees": "yes" if one.agrees else "no", "what was measured": explain_swaps(data, grid, one),
                }
            )  # fmt: skip
        for words, some in (("totals", totals), ("every row", every)):
            count = sum(one.agrees for one in some)
            rows.append({
                "table": name, "case": words, "queue": "", "here": "", "paper": "",
                "agrees": f"{count} of {len(some)}", "what was measured": "",
            })  # fmt: skip
    return pl.DataFrame(rows)


def _rank(numbers: Mapping[str, float]) -> str:
    ranked = sorted(numbers.items(), key=lambda one: one[1])
    words = [ranked[0][0]]
    for (_, before), (victim, loss) in itertools.pairwise(ranked):
        words += ["=" if loss - before <= ALIKE else "<", victim]
    return " ".join(words)


def _guard(data: Data) -> pl.DataFrame:
    rows = []
    for case in p.VOICE_DOMINATES:
        for queue in p.QUEUES:
            for victim in (p.TAIL, p.FRONT, p.DROP_SEL, p.GUARD):
                place = {"case": case, "queue": queue, "victim": victim}
                row = {"case": case, "queue": queue, "victim": victim}
                for measure in (q.QUEUE_LOSS, q.LATE_LOSS, q.MOS, q.FULL_MOS, q.CLASS_FAIRNESS, q.QUEUEING):
                    row[measure.label] = str(data.measured(measure, p.ON_OFF).interval(**place))
                shares = data.measured(q.OUT, p.ON_OFF)
                for name in q.CLASSES:
                    row[f"{q.CLASS_TITLES[name]} (Mb/s)"] = str(shares.interval(**place, **{"class": name}))
                rows.append(row)
    return pl.DataFrame(rows)


def _books(data: Data) -> pl.DataFrame:
    rows = []
    for grid, words in (
        (p.ALWAYS_ON, "S1"),
        (p.ON_OFF, "S2"),
        (p.ROUTERS, "S3"),
        (p.PUNSI, "Figure 7"),
        (p.BEYOND, "related work"),
    ):
        if grid not in data.results:
            continue
        unsettled, flying, link = (
            data.measured(one, grid).frame["value"].to_list()
            for one in (q.UNSETTLED, q.IN_FLIGHT, q.LINK_LOSS)
        )
        rows.append(
            {
                "scenario": words,
                "runs": str(len(unsettled)),
                "packets unaccounted for": f"{max(unsettled):g}",
                "voice packets on their way at the end, least to most": f"{min(flying):g} to {max(flying):g}",
                "voice lost by links (%)": f"{max(link):g}",
            }
        )
    return pl.DataFrame(rows)


def _refused(_: Data) -> pl.DataFrame:
    return pl.DataFrame(list(texts.refused(__file__)), schema=["not admitted", "because"], orient="row")


BESIDE = "Ours, and the paper's in brackets."


SPOKEN = (p.ON_OFF,)
HEARD = (
    f"{BESIDE} The same sentences at the same times under every queue and victim; what is late by more "
    f"than 300 ms "
    "after it was spoken is missing."
)
TABLES = (
    Table("table-5", "Delay of voice in S1 under RED", (p.ALWAYS_ON,), _delays, "paper 004, Table 5",
          f"{BESIDE} CA1 with Drop-Tail is what RED's thresholds are calibrated on. The paper gives no "
          f"unit "
          f"for its variance."),
    Table("table-6", "Voice lost in S2", (p.ON_OFF,), partial(_losses, grid=p.ON_OFF), "paper 004, Table 6",
          f"{BESIDE} In % of the voice packets sent; final user: later than 300 ms. No link loses anything."),
    Table("table-7", "Voice lost in S3", (p.ROUTERS,), partial(_losses, grid=p.ROUTERS), "paper 004, Table "
                                                                                         "7", BESIDE),
    Table("table-8", "Word accuracy in CA7", SPOKEN,
          partial(_understood, column="words", theirs=published.WORD_ACCURACY), "paper 004, Table 8", HEARD),
    Table("table-9", "Correct sentences in CA7", SPOKEN,
          partial(_understood, column="sentences", theirs=published.CORRECT_SENTENCES), "paper 004, Table 9",
          f"{HEARD} A sentence is correct when nothing in it was added or substituted (§4.4.2)."),
    Table("speech", "Corpus and recogniser", SPOKEN, _corpus,
          caption="With fewer words and a model that does not know the voice, absolute numbers are below the "
                  "paper's; the difference between victims counts."),
    Table("agreement", "Distance from the paper's tables", (p.ALWAYS_ON, p.ON_OFF, p.ROUTERS), _agreement,
          caption="Over all cells of a row of the paper's tables, one of which (Table 5, CA1, Drop-Tail) is "
                  "calibrated on; rank correlation is 1 if ours have the paper's order."),
    Table("orders", "Order of the victims by voice lost in all", (p.ON_OFF, p.ROUTERS), _orders,
          caption=f"Within each queue, from the least loss to the most; losses within {ALIKE} percentage "
                  f"points are alike. A different order has the "
          "deciding quantity next to it."),
    Table("guard", "Voice-Guard where voice dominates", (p.ON_OFF,), _guard, "beyond the paper; its §4.4.1",
          "Drop-Sel until voice takes more than a third of the link; then packets go from the heavier of "
          "the other two "
          "classes, until voice takes less than 0.9 of that, or more than the link has."),
    Table("related", "Queues of the related work", (p.BEYOND,), _related, "beyond the paper; its §2",
          "The paper names FRED and GREEN and measures neither. FRED counts packets per flow and chooses the "
          "arrival; GREEN uses the estimated rate of arrivals (unresponsive load then shuts itself out) or of "
          "admitted packets."),
    Table("refused", "Readings that are not admitted", (), _refused,
          caption="Considered and refused, by the paper's words or numbers."),
    Table("books", "Conservation per class and cause", (p.ALWAYS_ON, p.ON_OFF, p.ROUTERS, p.PUNSI), _books,
          caption="Arrived minus served, dropped and waiting: sum of the absolute values over all classes and "
                  "scarce links. The simulator also refuses a run with a wrong sum for a class."),
)  # fmt: skip
