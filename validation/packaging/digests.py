"""Runs the golden scenarios with an installed wheel, on any system, and compares their digests.

It needs nothing of the repository but the folder `tests/golden`, so it also runs as a program in the environment of
a wheel: `python digests.py tests/golden`.
"""

from __future__ import annotations

import argparse
import json
import sys
import sysconfig
from pathlib import Path


def make_digests(folder: Path, golden: dict[str, list[str]]) -> dict[str, list[str]]:
    """The digest of each golden scenario, in the order of the seeds."""
    import fairwave
    from fairwave import _native
    from fairwave.tables import tables

    keys = [(name, place) for name, each in golden.items() for place in range(len(each))]
    loaded = {name: fairwave.load(folder / f"{name}.toml").native for name in golden}
    found = {name: [""] * len(each) for name, each in golden.items()}
    for job, raw in _native.Batch([(loaded[name], place + 1) for name, place in keys], 2):
        name, place = keys[job]
        found[name][place] = tables(raw)["work"]["digest"].to_list()[0]
    return found


def main() -> int:
    """Compares the digests; the status is 1 if one differs."""
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument(
        "folder", nargs="?", type=Path, default=Path("tests/golden"), help="folder of the scenarios"
    )
    folder = reader.parse_args().folder
    if not (folder / "digests.json").is_file():
        print(f"no digests.json in {folder}; give the folder tests/golden of a checkout", file=sys.stderr)
        return 2
    golden = json.loads((folder / "digests.json").read_text(encoding="utf-8"))
    found = make_digests(folder, golden)
    import fairwave

    system = f"{sysconfig.get_platform()}, Python {sys.version.split()[0]}"
    count = sum(len(each) for each in golden.values())
    other = [name for name in golden if found[name] != golden[name]]
    print(
        f"fairwave {fairwave.__version__}, {system}: {count} digests "
        + (f"differ in {', '.join(other)}" if other else "are the golden ones")
    )
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
