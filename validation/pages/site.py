"""The documentation as a site: `make site`.

Sphinx reads a folder with the pages of the repository, their linked files, and the rendered pages (`render`) in the
subfolder ``results``. A page of ``docs/`` that reports findings gets a link to its rendered page.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from validation import DOCS, ROOT
from validation.pages import render

OUT = ROOT / "out" / "site"


def lay_out(folder: Path, *, quick: bool) -> None:
    """Makes the folder that Sphinx reads."""
    for name in ("docs", "examples"):
        shutil.copytree(ROOT / name, folder / name)
    for page in (*ROOT.glob("*.md"), *DOCS.rglob("*.md")):
        linked = re.findall(r"\]\(([^)\s#]+)", page.read_text(encoding="utf-8"))
        for path in (page, *((page.parent / one).resolve() for one in linked)):
            if path.is_file() and path.is_relative_to(ROOT):
                target = folder / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
    results = folder / "results"
    render.render(results, render.PAGES.values(), folder / "docs", quick=quick)
    render.write_index(results)


def build(out: Path, *, quick: bool = False) -> subprocess.CompletedProcess[str]:
    """Builds the site.

    Args:
            out: Where it goes.
            quick: Leaves out the pictures that take time.

    Returns:
    The finished process of Sphinx. Its status is 1 after a warning, such as a broken link.
    """
    with TemporaryDirectory() as name:
        source, trees = Path(name) / "source", Path(name) / "trees"
        source.mkdir()
        lay_out(source, quick=quick)
        words = [
            "--quiet",
            "--fail-on-warning",
            "--keep-going",
            "--builder",
            "html",
            "--conf-dir",
            str(ROOT / "docs"),
        ]
        words += ["--doctree-dir", str(trees), str(source), str(out)]
        return subprocess.run(
            [sys.executable, "-m", "sphinx", *words], check=False, capture_output=True, text=True, cwd=ROOT
        )


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="make site", description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, help="where the site goes (default out/site)")
    parser.add_argument("--quick", action="store_true", help="leave out the pictures that take time")
    options = parser.parse_args()
    done = build(options.out.resolve(), quick=options.quick)
    sys.stderr.write(done.stderr)
    print(f"the site: {options.out / 'index.html'}")
    return done.returncode
