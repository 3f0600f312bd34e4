"""Keeps stored readings after a change that affects no result: a move of files, another build.

``python -m validation readings NAME FOLDER`` reads what ``fairwave study NAME --explore N --out FOLDER`` kept. Of each
other version readings are judged again, by default two, the quickest of each set of seeds. If all of them leave exactly
the samples that are kept, every kept reading of that version is entered under this one, and `fairwave study` uses it.
If one differs, that version's readings stay as they are, and the difference is named. The exit status is 1 where
versions differ and none goes on.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave import layers
from fairwave_study import design
from fairwave_study.experiments import FRESH, _digest
from fairwave_study.shelf import Shelf, judge, to_plain, version
from validation import writing

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairwave_study.experiments import Experiment, Side
    from fairwave_study.readings import Readings
    from fairwave_study.shelf import StoredReading
    from fairwave_study.study import Study


@dataclass(frozen=True)
class Kept:
    """A file that a reading, or a side of an experiment, left."""

    made_by: str
    key: str
    seeds: tuple[int, ...]
    plain: dict[str, Any]
    again: Callable[[], StoredReading]

    def difference(self) -> str:
        """Describes a difference between the kept and the new reading. Empty if they are equal."""
        old, new = self.plain["claims"], json.loads(json.dumps(to_plain(self.again())))["claims"]
        differing = (claim for claim in {**old, **new} if old.get(claim) != new.get(claim))
        return next((f"claim {claim}, {self.key}" for claim in differing), "")


def side_key(readings: Readings, experiment: Experiment, side: Side) -> str:
    """The key under which `fairwave_study.experiments` stores a side's samples."""
    reading = readings.complete(side.reading)
    key = {
        "experiment": experiment.claim,
        "quantities": sorted(experiment.quantities),
        "reading": dict(sorted(reading.items())),
        "scenarios": _digest(readings, reading, experiment, side),
    }
    return json.dumps(key, ensure_ascii=False)


def judge_side(readings: Readings, experiment: Experiment, side: Side) -> StoredReading:
    """Judges a side of an experiment again."""
    reading, claims = readings.complete(side.reading), [experiment.claim]
    return judge(
        readings, reading, FRESH, claims=claims, changes=side.changes, quantities=experiment.quantities
    )


def kept(study: Study, folder: Path) -> list[Kept]:
    """Every whole file in a study's folder that a reading or a side of one of its experiments left."""
    readings = study.readings
    if readings is None:
        raise ValueError(f"study {study.name!r} has one reading only")
    place = folder / "readings"
    sides = {
        Shelf(place, "").file(key, FRESH): (key, partial(judge_side, readings, one, side))
        for one in study.experiments
        for side in one.sides
        for key in (side_key(readings, one, side),)
    }
    found = []
    for file in sorted(place.glob("*.json")):
        text = json.loads(file.read_text(encoding="utf-8"))
        reading, seeds = text["kept"]["reading"], tuple(text["seeds"])
        key, again = sides.get(file, (design.key(reading), partial(judge, readings, reading, seeds)))
        shelf = Shelf(place, text["version"])
        if shelf.file(key, seeds) == file and shelf.get(key, seeds) is not None:
            found.append(Kept(text["version"], key, seeds, text["kept"], again))
    return found


def adopt(name: str, folder: Path, again: int) -> tuple[int, list[str]]:
    """Enters kept readings of other versions under this version if they have the same samples.

    Args:
        name: The study.
        folder: That of `fairwave study NAME --out FOLDER`.
        again: How many readings to judge again, of each version and set of seeds.

    Returns:
        The number of readings that stay valid, and a line for each version that differs.
    """
    now = version(name)
    found: dict[str, dict[tuple[int, ...], list[Kept]]] = defaultdict(lambda: defaultdict(list))
    for one in kept(layers.study(name), folder):
        if one.made_by != now:
            found[one.made_by][one.seeds].append(one)
    shelf, adopted, differing = Shelf(folder / "readings", now), 0, []
    for made_by, by_seeds in found.items():
        quickest = [
            one
            for several in by_seeds.values()
            for one in sorted(several, key=lambda left: float(left.plain["seconds"]))[:again]
        ]
        if differs := next(filter(None, (one.difference() for one in quickest)), ""):
            differing.append(f"{made_by}: {differs}")
            continue
        for several in by_seeds.values():
            for one in several:
                shelf.put(one.key, one.seeds, one.plain)
                adopted += 1
    return adopted, differing


def main() -> int:
    """The command."""
    parser = writing.parser(__doc__)
    parser.add_argument("name", help="the study")
    parser.add_argument("folder", type=Path, help="the folder of its `--out`")
    parser.add_argument(
        "--again", type=int, default=2, help="readings to judge again, of each version and set of seeds"
    )
    asked = parser.parse_args()
    if asked.again < 1:
        parser.error(
            f"--again is 1 or more, not {asked.again}: without a reading judged again nothing is known"
        )
    adopted, differing = adopt(asked.name, asked.folder, asked.again)
    for one in differing:
        print(f"not the same, left as they are: readings of {one}", file=sys.stderr)
    print(f"{adopted} readings are now kept under {version(asked.name)}")
    return int(bool(differing) and not adopted)
