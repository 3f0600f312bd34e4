"""Keeps what readings left when code has changed that decides nothing: a move of files, another build.

``python -m validation.readings NAME FOLDER`` reads what ``fairwave study NAME --explore N --out FOLDER`` kept. Readings
of another version are judged again, by default two, the quickest of each set of seeds. If all of them leave exactly the
samples that are kept, every kept reading is entered under this version, and `fairwave study` uses it. If one differs,
nothing is changed, the difference is named, and the exit status is 1.
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


def adopt(name: str, folder: Path, again: int) -> str:
    """Enters all kept readings under this version; answers with why not, or with nothing.

    Args:
        name: The study.
        folder: That of `fairwave study NAME --out FOLDER`.
        again: How many readings to judge again, of each set of seeds.
    """
    now = version(name)
    by_seeds = defaultdict(list)
    for made_by, seeds, left in kept(folder):
        if made_by != now:
            by_seeds[tuple(seeds)].append(left)
    for seeds, several in by_seeds.items():
        for one in sorted(several, key=lambda left: float(left["seconds"]))[:again]:
            if found := difference(name, list(seeds), one):
                return found
    shelf = Shelf(folder / "readings", now)
    for seeds, several in by_seeds.items():
        for one in several:
            shelf.put(design.key(one["reading"]), list(seeds), one)
    print(f"{sum(map(len, by_seeds.values()))} readings are now kept under {now}")
    return ""


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="the study")
    parser.add_argument("folder", type=Path, help="the folder of its `--out`")
    parser.add_argument("--again", type=int, default=2, help="readings to judge again, of each set of seeds")
    asked = parser.parse_args()
    if asked.again < 1:
        parser.error(
            f"--again is 1 or more, not {asked.again}: without a reading judged again nothing is known"
        )
    if found := adopt(asked.name, asked.folder, asked.again):
        print(f"not the same: {found}; nothing was changed", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
