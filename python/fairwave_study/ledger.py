"""The ledger: what a study found, as data.

`ledger.json` holds every claim with its verdict and every figure with its files. The shape:
    study, title, provenance {version, command, scenarios, seeds},
    claims [{id, statement, source, verdict, estimate, interval, unit, of, explanation, assumptions,
        wordings, comparisons, readings}],
        readings (null unless explored): {n, verdict, reproduced, undecided, contradicted (shares of the n readings
        drawn), decided_by [factors], shares {factor: share}, pairs, tree, nearest {factors, distance, verdict},
        ever, closest},
    papers [{paper, best_reading {factors, held, of, found, base, claims, chosen_on, judged_on}}],
    factors [{id, open, ranking, values [{name, admits}]}], reading {factor: value} (what the study was made under),
    figures and tables [{id, title, source, files, command, seeds}],
    assumptions [{id, statement, source, swept}], calibrations [{quantity, target, source, setting, measured}],
    settings {path: value} (assumptions made otherwise than the study makes them; most often empty).
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
    from fairwave_study.claims import Judgement
    from fairwave_study.overall import Exploration


@dataclass
class Ledger:
    """What a study found.

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
        reading: The reading that was made, factor to value; empty where nothing is open.
        exploration: All readings that were judged; None where only one was.
        factors: Entries of factors.
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
    reading: dict[str, str] = field(default_factory=dict)
    exploration: Exploration | None = None
    factors: list[dict[str, Any]] = field(default_factory=list)

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
            "provenance": self.provenance.to_dict(),
            "claims": [one.to_dict() for one in self.claims],
            "figures": self.figures,
            "tables": self.tables,
            "assumptions": self.assumptions,
            "calibrations": self.calibrations,
            "settings": self.settings,
            "reading": self.reading,
            "factors": self.factors,
            "papers": self._papers(),
            "exploration": self._explored(),
        }

    def _papers(self) -> list[dict[str, Any]]:
        found = self.exploration
        if found is None:
            return []
        return [
            {
                "paper": one.paper,
                "best_reading": {
                    "factors": dict(one.reading),
                    "held": one.held,
                    "of": one.of,
                    "found": one.found,
                    "base": one.base,
                    "claims": list(one.claims),
                    "chosen_on": list(found.seeds),
                    "judged_on": list(found.others),
                },
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
