"""The ledger: what a study found, as data.

`ledger.json` holds every claim with its verdict and every figure with its files. The shape:
    study, title, provenance {version, command, scenarios, seeds},
    claims [{id, statement, source, verdict, estimate, interval, unit, of, explanation, assumptions,
        wordings, comparisons}],
    figures and tables [{id, title, source, files, command, seeds}],
    assumptions [{id, statement, source, swept}], calibrations [{quantity, target, source, setting, measured}],
    sensitivities [{id, title, files, verdicts}],
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
    from fairwave.study.claims import Judgement


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
        sensitivities: Entries of sensitivity tables.
        settings: Assumptions that were made otherwise, path to value.
    """

    study: str
    title: str
    provenance: Provenance
    claims: Sequence[Judgement] = ()
    figures: list[dict[str, Any]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    assumptions: list[dict[str, Any]] = field(default_factory=list)
    calibrations: list[dict[str, Any]] = field(default_factory=list)
    sensitivities: list[dict[str, Any]] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)

    def verdicts(self) -> dict[str, int]:
        """How many claims came out how."""
        counts: dict[str, int] = {}
        for one in self.claims:
            counts[str(one.verdict)] = counts.get(str(one.verdict), 0) + 1
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
            "sensitivities": self.sensitivities,
            "settings": self.settings,
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
