"""Keeps what readings left when code has changed that decides nothing: a move of files, another build.

``python -m validation.readings NAME FOLDER`` reads what ``fairwave study NAME --explore N --out FOLDER`` kept. Of each
other version readings are judged again, by default two, the quickest of each set of seeds. If all of them leave exactly
the samples that are kept, every kept reading of that version is entered under this one, and `fairwave study` uses it.
If one differs, that version's readings stay as they are, and the difference is named. The exit status is 1 where
versions differ and none goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from fairwave import layers
from fairwave_study import design
from fairwave_study.shelf import Shelf, judge, to_plain, version


def kept(folder: Path) -> list[tuple[str, list[int], dict[str, Any]]]:
    """Version, seeds and contents of every whole file that readings left in a folder."""
    found = []
    for file in sorted((folder / "readings").glob("*.json")):
        text = json.loads(file.read_text(encoding="utf-8"))
        reading, seeds = text["kept"]["reading"], text["seeds"]
        if Shelf(folder / "readings", text["version"]).get(design.key(reading), seeds) is not None:
            found.append((text["version"], seeds, text["kept"]))
    return found


def difference(name: str, seeds: list[int], old: dict[str, Any]) -> str:
    """What one reading leaves otherwise now; empty when nothing."""
    readings = layers.study(name).readings
    if readings is None:
        raise ValueError(f"study {name!r} has one reading only")
    new = json.loads(json.dumps(to_plain(judge(readings, old["reading"], seeds))))
    for claim in {**old["claims"], **new["claims"]}:
        if old["claims"].get(claim) != new["claims"].get(claim):
            return f"claim {claim} in the reading {design.key(readings.differs(old['reading']))}"
    return ""


def adopt(name: str, folder: Path, again: int) -> tuple[int, list[str]]:
    """Enters the kept readings of other versions under this one, where they leave the same.

    Args:
        name: The study.
        folder: That of `fairwave study NAME --out FOLDER`.
        again: How many readings to judge again, of each version and set of seeds.

    Returns:
        How many readings go on, and what differs, a line for each version.
    """
    now = version(name)
    found: dict[str, dict[tuple[int, ...], list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for made_by, seeds, left in kept(folder):
        if made_by != now:
            found[made_by][tuple(seeds)].append(left)
    shelf, adopted, differing = Shelf(folder / "readings", now), 0, []
    for made_by, by_seeds in found.items():
        tried = [
            (seeds, one)
            for seeds, several in by_seeds.items()
            for one in sorted(several, key=lambda left: float(left["seconds"]))[:again]
        ]
        differs = next(filter(None, (difference(name, list(seeds), one) for seeds, one in tried)), "")
        if differs:
            differing.append(f"{made_by}: {differs}")
            continue
        for seeds, several in by_seeds.items():
            for one in several:
                shelf.put(design.key(one["reading"]), list(seeds), one)
                adopted += 1
    return adopted, differing


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
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


if __name__ == "__main__":
    sys.exit(main())
