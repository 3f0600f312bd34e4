"""The kept results of one reading: the samples of every comparison of its claims, in a file.

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

from fairwave.foreign import ForeignFileError, check_shape, decode, gate, read_bytes
from fairwave.runs.keeping import Memory, engine
from fairwave.runs.replication import replicate
from fairwave.runs.runs_file import MISMATCH, on_stderr
from fairwave.staging import check_unlinked, write_text
from fairwave_study import texts
from fairwave_study.claims import Comparison, Evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from fairwave_study.parts import Data
    from fairwave_study.readings import Changes, Reading, Readings


@dataclass(frozen=True)
class StoredReading:
    """The results of a reading.

    Attributes:
        reading: Factor to value.
        claims: Claim to its comparisons.
        seconds: Processor time of one core, in seconds.
    """

    reading: Reading
    claims: Mapping[str, Evidence]
    seconds: float


AFTERWARDS = (
    "accounts", "answer", "command", "conduct", "deciding", "design", "digest", "experiments", "explore", "folder",
    "forest", "ledger", "moderation", "overall", "overview", "paragraphs", "places", "shares", "study", "texts",
)  # fmt: skip
"""Modules of this package that only read kept results, or choose readings."""

TELLING = ("beyond", "calibrations", "experiments", "explanations", "figures", "sweeps", "tables", "traces")
"""Modules of a study that only present results. Kept readings stay valid if they change.

A change of its texts (`fairwave_study.texts.FILES`) does the same, except for the changes in `readings.toml`.
"""


@cache
def version(study: str, folder: Path | None = None) -> str:
    """The simulator's version, and a digest of the code that decides the study's simulations and measures.

    Args:
        study: The study's name.
        folder: Its folder; None: its package in `fairwave_studies`.
    """
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    engine_ = package / "fairwave_study"
    simulated = [package / "fairwave" / name for name in ("runs", "measuring")]
    own = folder or package / "fairwave_studies" / study
    for place in (*simulated, engine_, own):
        for file in sorted([*place.rglob("*.py"), *place.rglob("*.toml")]):
            passed: tuple[str, ...] = ()
            if place == engine_:
                passed = AFTERWARDS
            elif place == own:
                passed = TELLING if file.suffix == ".py" else texts.FILES
            if file.stem not in passed:
                digest.update(file.name.encode() + file.read_bytes())
    if (own / "readings.toml").is_file():
        digest.update(json.dumps(texts.written_changes(own)).encode())
    return f"{engine()}+{digest.hexdigest()[:12]}"


def judge(
    readings: Readings,
    reading: Reading,
    seeds: Sequence[int],
    threads: int | None = 1,
    *,
    claims: Sequence[str] | None = None,
    changes: Changes | None = None,
    quantities: Mapping[str, Callable[[Data], NDArray[np.float64]]] | None = None,
) -> StoredReading:
    """Simulates the points on which the claims rest under one reading, and takes the claims apart.

    Args:
        readings: All readings of the study.
        reading: The one.
        seeds: Seeds.
        threads: How many runs at once; all cores when None.
        claims: Ids of the claims that are wanted; all when None.
        changes: Further changes to the scenarios after the reading's values, as in `fairwave_study.Value`.
        quantities: Further numbers to take, one per seed, by name.
    """
    from fairwave.runs.grid import Point, assemble
    from fairwave.scenario_files import prepared
    from fairwave_study.parts import Data

    begun = time.process_time()
    study = readings.essential(reading)
    asked = [claim for claim in study.claims if claims is None or claim.id in claims]
    wanted = {grid for claim in asked for grid in claim.grids}
    results = {}
    for grid in study.grids:
        if grid.id not in wanted:
            continue
        shown = readings.changed(grid, changes) if changes else grid
        points = [Point(point.labels, prepared(point.scenario)) for point in shown.points()]
        under = list(seeds)[: grid.most]
        jobs = [(point.scenario.native, seed) for point in points for seed in under]
        results[grid.id] = assemble(points, under, replicate(jobs, threads=threads, keep=Memory()))
    data = Data(results)
    found = {claim.id: claim.evidence(data) for claim in asked}
    for name, taken in (quantities or {}).items():
        found[f"{QUANTITY}{name}"] = Evidence([Comparison(name, np.asarray(taken(data), dtype=float))])
    return StoredReading(dict(reading), found, time.process_time() - begun)


QUANTITY = "quantity: "
"""Prefix of the names of further numbers among kept results."""


def to_plain(kept: StoredReading) -> dict[str, Any]:
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
                        "relevant": number(one.relevant),
                        **({"part": one.part} if one.part else {}),
                    }
                    for one in evidence.comparisons
                ],
            }
            for name, evidence in kept.claims.items()
        },
    }


def from_plain(data: Mapping[str, Any]) -> StoredReading:
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
                    part=one.get("part", ""),
                    relevant=one["relevant"],
                )
                for one in entry["comparisons"]
            ],
            entry["rule"],
        )
        for name, entry in data["claims"].items()
    }
    return StoredReading(data["reading"], claims, data["seconds"])


class Shelf:
    """Keeps the results of readings, one file each, with the version that made it.

    A file begins with the SHA-256 of its key, its seeds and the rest of its text. So a damaged, cut or misplaced file
    is noticed: its reading is judged again, and a line reports it. Files without a digest (from earlier releases) are
    read once and rewritten.

    Args:
        folder: Made when the first reading is kept.
        made_by: The version.
        tell: Receives a line about each damaged file; None: standard error.
    """

    def __init__(self, folder: Path, made_by: str, tell: Callable[[str], None] | None = None) -> None:
        self._folder = folder
        self._made_by = made_by
        self._tell = tell if tell is not None else on_stderr

    def file(self, key: str, seeds: Sequence[int]) -> Path:
        """Where a key's reading is kept under these seeds."""
        name = hashlib.sha256(f"{key}{list(seeds)}".encode()).hexdigest()[:20]
        return self._folder / f"{name}.json"

    def get(self, key: str, seeds: Sequence[int]) -> StoredReading | None:
        """The results of this reading under these seeds, if the same version made the file and it is complete."""
        file = self.file(key, seeds)
        try:
            return self._read(file, key, seeds)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            reason = str(error) if isinstance(error, (OSError, _DamagedError)) else NO_SUCH
            self._tell(f"{file} is damaged ({reason}): its reading is judged again")
            return None

    def _read(self, file: Path, key: str, seeds: Sequence[int]) -> StoredReading | None:
        with gate("kept reading", file):
            return self._parsed(file, key, seeds)

    def _parsed(self, file: Path, key: str, seeds: Sequence[int]) -> StoredReading | None:
        data = read_bytes(file, "kept reading")
        check_shape(data, str(file), "kept reading")
        text = decode(data, str(file))
        if not text.startswith(DIGEST):
            raise _DamagedError(NO_SUCH)
        digest, _, rest = text[len(DIGEST) :].partition('"')
        if digest != _digest(key, seeds, rest):
            raise _DamagedError(MISMATCH)
        found = json.loads(text)
        return from_plain(found["kept"]) if found["version"] == self._made_by else None

    def put(self, key: str, seeds: Sequence[int], kept: Mapping[str, Any]) -> None:
        """Keeps it, in one step."""
        check_unlinked(self._folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"version": self._made_by, "seeds": list(seeds), "kept": kept}, ensure_ascii=False)
        rest = f", {text[1:]}"
        write_text(self.file(key, seeds), f'{DIGEST}{_digest(key, seeds, rest)}"{rest}')


class _DamagedError(ForeignFileError):
    """A file of a shelf is damaged."""


DIGEST = '{"sha256": "'
"""How files of a shelf begin, before the digest."""

NO_SUCH = "its text is not that of such a file"


def _digest(key: str, seeds: Sequence[int], rest: str) -> str:
    return hashlib.sha256(f"{key}{list(seeds)}{rest}".encode()).hexdigest()
