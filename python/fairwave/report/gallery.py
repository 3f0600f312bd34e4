"""The gallery: every example with its question, its command and its picture.

``python -m fairwave.report.gallery docs`` makes ``docs/gallery.md`` and its pictures from ``examples/``.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from fairwave.report import single
from fairwave.scenario import load, prepared

SEED = 1


def words_of(text: str) -> tuple[str, list[str]]:
    """What an example says before its first key: the first paragraph, and the commands in the others."""
    head = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        head.append(line.removeprefix("#").rstrip())
    commands = [line.strip() for line in head if re.match(r"^ {4,}fairwave ", line)]
    first = []
    for line in head:
        if not line.strip() or re.match(r"^ {4,}", line):
            break
        first.append(line.strip())
    return re.sub(r"(?<=\.) [^.]*:$", "", " ".join(first)), commands


def entry(path: Path, figures: Path) -> list[str]:
    """An example's section; its picture is left in `figures`."""
    scenario = prepared(load(path))
    about, commands = words_of(path.read_text(encoding="utf-8"))
    command = (commands or [f"fairwave run {path.as_posix()}"])[0]
    results = scenario.run(SEED)
    run = single.drawn(scenario, results, SEED)
    lines = [f"## {scenario.name}", "", about, "", "```sh", command, "```", ""]
    with TemporaryDirectory() as folder:
        single.draw_series(run, Path(folder))
        for picture in sorted(Path(folder).rglob("*.png"))[:1]:
            shutil.copyfile(picture, figures / f"gallery-{path.stem}.png")
            alt = f"{scenario.name}, over time: queues, windows and goodput"
            lines += [f"![{alt}](figures/gallery-{path.stem}.png)", ""]
    lines += [f"The whole of it: [examples/{path.name}](../examples/{path.name}).", ""]
    return lines


def main(folder: str = "docs") -> None:
    """Writes the page and its pictures into `folder`."""
    docs = Path(folder)
    figures = docs / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    lines = [
        "# Gallery",
        "",
        (
            "Made by `make docs` from `examples/`; do not edit. Each picture is one run, that of seed 1: what its "
            "busiest queues, its windows and its groups of flows did over time. `fairwave run FILE --out DIR` makes a "
            "page of it."
        ),
        "",
    ]
    for path in sorted(Path("examples").glob("*.toml")):
        lines += entry(path, figures)
    (docs / "gallery.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
