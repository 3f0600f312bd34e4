"""Renders every page that is not written by hand: `make results`.

Pages of measurements come from ``results/`` alone. Pages about the code come from the code: the commands, the
measures, the citations, and simulations of the examples and the controllers. ``python -m validation results NAME``
renders some pages. ``--quick`` leaves out pictures of experiments, and pictures that need runs.

The folder has a page for each name, ``NAME.md``, with its pictures in ``figures/``, and the tables of ``results/`` as
CSV.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from validation import DOCS, ROOT, kept

if TYPE_CHECKING:
    from collections.abc import Iterable

OUT = ROOT / "out" / "results"
STUDIES = ("voice", "smoothness", "video", "dropping", "today", "future", "conference", "network", "radio")


@dataclass(frozen=True)
class Page:
    """A page that is rendered.

    Attributes:
        name: Name of its file.
        title: Title in the list of pages.
        module: Module of `validation.pages` or another package that has the function ``render``.
        about: Page of ``docs/`` that reports its findings; none when empty.
    """

    name: str
    title: str
    module: str
    about: str = ""

    def render(self, folder: Path, *, quick: bool) -> str:
        """Renders the page; its pictures go into the folder."""
        module = import_module(self.module)
        if self.name.startswith("study-"):
            return str(module.render_study(self.name.removeprefix("study-"), folder, quick=quick))
        return str(module.render(folder, quick=quick) if self.name in SLOW else module.render(folder))


SLOW = ("controllers", "gallery", "video-fit")
"""Pages with pictures that need runs of the simulator or of a coder. Pages of studies have them, too."""

GROUPS: dict[str, tuple[Page, ...]] = {
    "Studies": (
        Page("studies", "All claims at a glance", "validation.pages.studies", "studies"),
        *(
            Page(f"study-{name}", f"Study {name}", "validation.pages.studies", f"studies/{name}")
            for name in STUDIES
        ),
    ),
    "Comparisons": (
        Page("practice", "Practice", "validation.pages.practice", "practice"),
        Page("validation", "ns-2", "validation.compare.ns2.report", "validation"),
        Page("opinions", "ns-3 and the kernel", "validation.compare.opinions", "opinions"),
        Page("live", "Live runs", "validation.compare.live", "live"),
        Page("chrome", "Chromium", "validation.compare.chrome.command", "chrome"),
        Page("radio-ns3", "Radio links and ns-3", "validation.compare.ns3.radio", "radio-ns3"),
        Page("wifi", "Wi-Fi", "validation.published.wifi", "wifi"),
        Page("cell", "A cell", "validation.published.cell", "cell"),
        Page("l4s", "L4S laboratory", "validation.published.l4s", "l4s"),
        Page("stacks", "Foreign stacks", "validation.compare.stacks", "stacks"),
        Page("scream", "SCReAM", "validation.compare.scream", "webrtc"),
    ),
    "Measurements": (
        Page("opus", "Factors of Opus", "validation.measured.opus_fit", "opus"),
        Page("intervals", "Coverage of intervals", "validation.measured.intervals", "intervals"),
        Page("fitting", "Fits", "validation.measured.fitting", "fitting"),
        Page("captures", "Captures of calls", "validation.measured.captures", "captures"),
        Page("dumps", "Statistics of browsers", "validation.measured.dumps", "fitting"),
        Page("speech", "Loss and speech", "validation.measured.speech", "speech"),
        Page("conferences", "Conferences", "validation.measured.sfu", "conferences"),
        Page("files", "Limits and memory of files", "validation.measured.strangers", "files"),
        Page("lines", "Measured lines", "validation.measured.lines", "measure"),
        Page("networks", "Networks", "validation.measured.networks", "networks"),
        Page("rate-fall", "BBR after a fall of the rate", "validation.measured.rate_fall", "protocols/bbr"),
        Page("performance", "Performance", "validation.bench.report", "performance"),
        Page("queue-cost", "Cost of a victim", "validation.bench.queue_cost", "performance"),
    ),
    "Code and tests": (
        Page("commands", "Commands", "validation.pages.commands"),
        Page("codecs", "Codecs", "validation.pages.codecs", "speech"),
        Page("measures", "Measures", "validation.pages.measures", "results"),
        Page("columns", "Columns", "validation.pages.columns", "results"),
        Page("criteria", "Criteria of reports", "validation.pages.criteria", "evaluating"),
        Page("gallery", "Gallery", "fairwave_report.gallery"),
        Page("controllers", "Controllers", "fairwave_report.controllers"),
        Page("video-fit", "Video model", "fairwave_report.video_fit", "video"),
        Page("lessons", "Lessons for teachers", "validation.pages.lessons", "lab"),
        Page("citations", "Citations", "validation.checks.citations", "testing"),
        Page("clauses", "Clauses", "validation.clauses.runner", "testing"),
        Page("mutants", "Mutants", "validation.checks.mutants", "testing"),
    ),
}
PAGES = {page.name: page for pages in GROUPS.values() for page in pages}


def relink(text: str, folder: Path, docs: Path = DOCS) -> str:
    """Points links to pages of ``docs/`` there, from a page in `folder`. Links to rendered pages and pictures stay."""
    below = os.path.relpath(docs, folder)

    def change(found: re.Match[str]) -> str:
        target = found[1]
        page = target.partition("#")[0]
        if re.match(r"[a-z]+:|#", target) or page.startswith("figures/"):
            return found[0]
        if page.removesuffix(".md") in PAGES and not (docs / page).is_file():
            return found[0]
        return f"]({below}/{target})"

    return re.sub(r"\]\(([^)\s]+)\)", change, text)


def render(folder: Path, pages: Iterable[Page], docs: Path = DOCS, *, quick: bool = False) -> None:
    """Renders pages into a folder.

    Args:
        folder: Folder for pages, pictures and tables.
        pages: The pages.
        docs: Folder of the hand-written pages.
        quick: Leaves out pictures that need runs, and those of experiments.
    """
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for page in pages:
        begun = time.monotonic()
        text = relink(page.render(folder, quick=quick), folder, docs)
        (folder / f"{page.name}.md").write_text(text, encoding="utf-8")
        print(f"{page.name}: {time.monotonic() - begun:.1f} s", flush=True)


def write_tables(folder: Path) -> None:
    """Writes the kept tables as CSV."""
    for file in sorted(kept.RESULTS.rglob("*.parquet")):
        name = file.relative_to(kept.RESULTS).with_suffix("")
        target = folder / "tables" / name.with_suffix(".csv")
        target.parent.mkdir(parents=True, exist_ok=True)
        kept.read_table(name.as_posix()).write_csv(target)


def write_index(folder: Path) -> None:
    """Writes the list of all pages."""
    # The sidebar of the site has each name once. Its other names are the links of the start page.
    links = re.findall(r"\[([^\]]+)\]\(", (DOCS / "index.md").read_text(encoding="utf-8"))
    taken = {" ".join(link.split()).lower() for link in links}
    lines = [
        "# Tables and pictures",
        "",
        "All tables and pictures. `make results` renders them from `results/` and from the code.",
    ]
    for group, pages in GROUPS.items():
        there = [page for page in pages if (folder / f"{page.name}.md").is_file()]
        lines += ["", f"## {group}", "", *(f"- [{page.title}]({page.name}.md)" for page in there)]
        names = (f"{page.title}: results" if page.title.lower() in taken else page.title for page in there)
        entries = (f"{name} <{page.name}>" for name, page in zip(names, there, strict=True))
        lines += ["", "```{toctree}", ":hidden:", *entries, "```"]
    (folder / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="make results", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"pages (default all): {', '.join(PAGES)}")
    parser.add_argument("--out", type=Path, default=OUT, help="where pages go (default out/results)")
    parser.add_argument("--quick", action="store_true", help="leave out the pictures that take time")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in PAGES]:
        print(f"no page `{unknown[0]}`; write one of: {', '.join(PAGES)}", file=sys.stderr)
        return 2
    folder = options.out.resolve()
    render(folder, [PAGES[name] for name in options.names or PAGES], quick=options.quick)
    write_tables(folder)
    write_index(folder)
    print(f"the pages: {options.out / 'index.md'}")
    return 0
