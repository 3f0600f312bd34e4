"""The ledger: the findings of a study, as data.

`ledger.json` holds every claim with its verdict and every figure with its files. The shape:
    study, title, question, claims_are [one, several], commands {all, figure: what to type to make it again},
    provenance {version, command, scenarios, seeds},
    claims [{id, statement, source, verdict, estimate, interval (95 %), deciding_level, deciding_interval (of that
        level: the one on which the verdict hangs), unit, of, decided_by (the same in words), explanation, assumptions,
        wordings, parts, comparisons, readings}],
        parts (of a compound claim): [{name, verdict, estimate, interval, unit, of, explanation}],
        readings (null unless explored): {n, verdict, base, reproduced, undecided, contradicted, points (shares of the n
        readings drawn; points: all means lie on the claimed side), intervals {share: [low, high]}, weighted {the same
        with readings weighted by plausibility; n is the effective number}, parts [{name, verdict, the same}],
        decided_by [factors], shares {factor: share}, pairs, tree, nearest {factors, distance, verdict}, ever, closest},
    papers [{paper, best_reading {factors, held, of, found, base, claims, against, chosen_on, judged_on}, likely (null
        where no set-up is named) and base_anew {the same, judged_on alone}}],
    accounts [{paper, parts [{heading, sentences}]}],
    experiments [{id, claim, mechanism, words, seeds, sides [{label, reading, changed, verdict, comparisons,
        quantities}], differences [{of, side, from, estimate, interval}]}],
    exploration {readings, drawn, seeds, core_seconds, shortened (what its runs have less of, in words)},
    factors [{id, open, ranking, kind, values [{name, admits, plausibility, flagged}]}],
    reading {factor: value} (what the study was made under),
    figures and tables [{id, title, source, files, command, seeds}]; tables also {caption, columns, rows (as text)},
    assumptions [{id, statement, source, swept}], calibrations [{quantity, target, source, setting, measured}],
    settings {path: value} (assumptions made otherwise than the study makes them; most often empty),
    relevant {measure: difference} (smallest differences that count other than the usual; most often empty).
Each comparison has `alike` and `relevant`, the smallest distance from its line that counts (0 where the line is a
bound).
Numbers that do not exist are null.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.provenance import Provenance
    from fairwave_study.accounts import ToldAccount
    from fairwave_study.claims import Judgement
    from fairwave_study.experiments import FoundExperiment
    from fairwave_study.overall import Exploration


@dataclass
class Ledger:
    """The findings of a study.

    Attributes:
        study: Name of the study.
        title: Its title.
        provenance: Where the numbers come from.
        claims: Claims with verdicts.
        figures: Entries of figures.
        tables: Entries of tables.
        assumptions: Entries of assumptions.
        calibrations: Entries of calibrations.
        settings: Assumptions that were made otherwise, path to value.
        relevant: Smallest differences that count other than the usual.
        reading: The reading, factor to value; empty if nothing is open.
        exploration: All readings that were judged; None where only one was.
        factors: Entries of factors.
        accounts: The sections at the top of the page.
        experiments: Experiments that explain verdicts.
        question: The question of the study.
        claims_are: The word for its claims, singular and plural.
        commands: The commands that make `all` of the study, or one `figure`, again.
    """

    study: str
    title: str
    provenance: Provenance
    claims: Sequence[Judgement] = ()
    figures: list[dict[str, Any]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    assumptions: list[dict[str, Any]] = field(default_factory=list)
    calibrations: list[dict[str, Any]] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    relevant: dict[str, str] = field(default_factory=dict)
    reading: dict[str, str] = field(default_factory=dict)
    exploration: Exploration | None = None
    factors: list[dict[str, Any]] = field(default_factory=list)
    accounts: Sequence[ToldAccount] = ()
    experiments: Sequence[FoundExperiment] = ()
    question: str = ""
    claims_are: tuple[str, str] = ("claim", "claims")
    commands: dict[str, str] = field(default_factory=dict)

    @property
    def unexplored(self) -> list[str]:
        """Ids of the assumptions that no factor varies."""
        return [one["id"] for one in self.assumptions if not one["swept"]]

    def verdicts(self) -> dict[str, int]:
        """How many claims came out how."""
        counts: dict[str, int] = {}
        for one in self.claims:
            counts[one.word] = counts.get(one.word, 0) + 1
        return counts

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "study": self.study,
            "title": self.title,
            "question": self.question,
            "claims_are": list(self.claims_are),
            "commands": self.commands,
            "provenance": self.provenance.to_dict(),
            "claims": [one.to_dict() for one in self.claims],
            "figures": self.figures,
            "tables": self.tables,
            "assumptions": self.assumptions,
            "calibrations": self.calibrations,
            "settings": self.settings,
            "relevant": self.relevant,
            "reading": self.reading,
            "factors": self.factors,
            "papers": self._papers(),
            "exploration": self._explored(),
            "accounts": [one.to_dict() for one in self.accounts],
            "experiments": [one.to_dict() for one in self.experiments],
        }

    def _papers(self) -> list[dict[str, Any]]:
        found = self.exploration
        if found is None:
            return []
        fresh = {"judged_on": list(found.others)}
        likely = {one.paper: one for one in found.likely}
        anew = {one.paper: one for one in found.anew}
        return [
            {
                "paper": one.paper,
                "best_reading": {**one.to_dict(), "chosen_on": list(found.seeds), **fresh},
                "likely": {**likely[one.paper].to_dict(), **fresh} if one.paper in likely else None,
                "base_anew": {**anew[one.paper].to_dict(), **fresh} if one.paper in anew else None,
            }
            for one in found.best
        ]

    def _explored(self) -> dict[str, Any] | None:
        found = self.exploration
        if found is None:
            return None
        return {
            "readings": len(found.judged),
            "drawn": len(found.drawn),
            "seeds": list(found.seeds),
            "core_seconds": round(found.seconds),
            "shortened": found.readings.shortened,
        }

    def to_json(self) -> str:
        """As JSON text; numbers that do not exist are null."""
        return json.dumps(_finite(self.to_dict()), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _finite(data: Any) -> Any:
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return data
