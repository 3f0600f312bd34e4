"""What one reading leaves: the samples of every comparison that its claims come down to, kept in a file.

They are small enough to be kept for all readings, and enough to judge again.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.staging import write_text
from fairwave.study.claims import Comparison, Evidence
from fairwave.study.keeping import Memory, engine
from fairwave.study.replication import replicate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairwave.study.readings import Reading, Readings


@dataclass(frozen=True)
class Kept:
    """What a reading's claims came down to.

    Attributes:
        reading: Factor to value.
        claims: Claim to its comparisons.
        seconds: Processor time of one core, in seconds.
    """

    reading: Reading
    claims: Mapping[str, Evidence]
    seconds: float


AFTERWARDS = ("conduct", "deciding", "design", "explore", "ledger", "moderation", "overall")
"""Modules beside this one that only look at what readings left, or choose them."""


@cache
def version(study: str) -> str:
    """The simulator's version, and a digest of the code that says what this study simulates and measures."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for folder in (package / "study", package / "studies" / study):
        for file in sorted([*folder.rglob("*.py"), *folder.rglob("*.toml")]):
            if folder.name != "study" or file.stem not in AFTERWARDS:
                digest.update(file.name.encode() + file.read_bytes())
    return f"{engine()}+{digest.hexdigest()[:12]}"


def judge(readings: Readings, reading: Reading, seeds: Sequence[int], threads: int | None = 1) -> Kept:
    """Simulates the points on which the claims rest under one reading, and takes the claims apart."""
    from fairwave.scenario import prepared
    from fairwave.study.grid import Point, assemble
    from fairwave.study.study import Data

    begun = time.process_time()
    study = readings.essential(reading)
    wanted = {grid for claim in study.claims for grid in claim.grids}
    results = {}
    for grid in study.grids:
        if grid.id not in wanted:
            continue
        points = [Point(point.labels, prepared(point.scenario)) for point in grid.points()]
        under = list(seeds)[: grid.most]
        jobs = [(point.scenario.native, seed) for point in points for seed in under]
        results[grid.id] = assemble(points, under, replicate(jobs, threads=threads, keep=Memory()))
    data = Data(results)
    claims = {claim.id: claim.test(data) for claim in study.claims}
    return Kept(dict(reading), claims, time.process_time() - begun)


def to_plain(kept: Kept) -> dict[str, Any]:
    """As JSON can hold it; a sample that is not defined is null."""

    def number(value: float) -> float | None:
        return float(value) if math.isfinite(value) else None

    return {
        "reading": dict(kept.reading),
        "seconds": kept.seconds,
        "claims": {
            name: {
                "rule": evidence.rule,
                "comparisons": [
                    {
                        "label": one.label,
                        "samples": [number(value) for value in one.samples],
                        "line": number(one.line),
                        "side": one.side,
                        "unit": one.unit,
                        "or_equal": one.or_equal,
                    }
                    for one in evidence.comparisons
                ],
            }
            for name, evidence in kept.claims.items()
        },
    }


def from_plain(data: Mapping[str, Any]) -> Kept:
    """The contrary of `to_plain`."""

    def number(value: float | None) -> float:
        return math.nan if value is None else value

    claims = {
        name: Evidence(
            [
                Comparison(
                    one["label"],
                    np.asarray([number(value) for value in one["samples"]]),
                    number(one["line"]),
                    one["side"],
                    one["unit"],
                    one["or_equal"],
                )
                for one in entry["comparisons"]
            ],
            entry["rule"],
        )
        for name, entry in data["claims"].items()
    }
    return Kept(data["reading"], claims, data["seconds"])


class Shelf:
    """Keeps what readings left, a file each, under the version that made it."""

    def __init__(self, folder: Path, made_by: str) -> None:
        self._folder = folder
        self._made_by = made_by

    def _file(self, key: str, seeds: Sequence[int]) -> Path:
        name = hashlib.sha256(f"{key}{list(seeds)}".encode()).hexdigest()[:20]
        return self._folder / f"{name}.json"

    def get(self, key: str, seeds: Sequence[int]) -> Kept | None:
        """What this reading left under these seeds, if the same version made it."""
        try:
            found = json.loads(self._file(key, seeds).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return from_plain(found["kept"]) if found.get("version") == self._made_by else None

    def put(self, key: str, seeds: Sequence[int], kept: Mapping[str, Any]) -> None:
        """Keeps it, in one step."""
        self._folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"version": self._made_by, "seeds": list(seeds), "kept": kept}, ensure_ascii=False)
        write_text(self._file(key, seeds), text)
