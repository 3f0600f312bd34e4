"""The documentation as a site: `make site`.

Sphinx reads a folder with the pages of the repository, their linked files, and the rendered pages (`render`) in the
subfolder ``results``. A page of ``docs/`` that reports findings gets a link to its rendered page.

Each version of the documentation is a folder: ``latest`` for the checkout, or with ``--release`` the number of the
package's version, such as ``0.1``. ``versions.json`` next to the folders lists them for programs, and
``versions-list.js`` for the selector on each page. A build replaces its folder and keeps those of other versions.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import fairwave.lab
from validation import DOCS, ROOT
from validation.pages import render

OUT = ROOT / "out" / "site"
LATEST = "latest"
VERSION = rf"{LATEST}|\d+(?:\.\d+)+"
LAB, RUST, FIRST_CRATE = "lab.html", "rust", "fairwave_core"


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


def build(out: Path, *, quick: bool = False, rust: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Builds one version of the site, with the lab if it has been built.

    Args:
        out: Folder of the version. An earlier build is replaced.
        quick: Leaves out the pictures that take time.
        rust: The folder that `cargo doc` wrote; None leaves out the pages of the crates.

    Returns:
        The finished process of Sphinx. Its status is 1 after a warning, such as a broken link.
    """
    lab = fairwave.lab.built()
    if (out / "objects.inv").is_file():
        shutil.rmtree(out)
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
        if lab:
            words += ["--define", f"lab_page={LAB}"]
        if rust:
            words += ["--define", f"rust_page={RUST}/{FIRST_CRATE}/index.html"]
        words += ["--doctree-dir", str(trees), str(source), str(out)]
        done = subprocess.run(
            [sys.executable, "-m", "sphinx", *words], check=False, capture_output=True, text=True, cwd=ROOT
        )
    if out.is_dir():
        if lab:
            shutil.copy(lab, out / LAB)
        if rust:
            shutil.copytree(rust, out / RUST, dirs_exist_ok=True)
    return done


def list_versions(root: Path) -> list[dict[str, Any]]:
    """Returns the versions in a folder, newest first: the name of the folder and its pages."""
    names = [folder.name for folder in root.iterdir() if re.fullmatch(VERSION, folder.name)]
    numbers = sorted((one for one in names if one != LATEST), key=lambda one: [*map(int, one.split("."))])
    ordered = [*([LATEST] if LATEST in names else []), *reversed(numbers)]
    return [
        {
            "name": name,
            "pages": sorted(
                page.relative_to(root / name).as_posix()
                for folder in ("docs", "results", "python")
                for page in (root / name / folder).rglob("*.html")
            ),
        }
        for name in ordered
    ]


def write_versions(root: Path) -> None:
    """Writes the lists of the versions, and a start page that leads to the newest release, or else to `latest`."""
    versions = list_versions(root)
    text = json.dumps(versions, indent=1)
    (root / "versions.json").write_text(text + "\n", encoding="utf-8")
    (root / "versions-list.js").write_text(f"window.fairwaveVersions = {text};\n", encoding="utf-8")
    releases = [one["name"] for one in versions if one["name"] != LATEST]
    start = (DOCS / "_static" / "to-docs.html").read_text(encoding="utf-8")
    target = f"{(releases or [LATEST])[0]}/docs/index.html"
    (root / "index.html").write_text(start.replace("docs/index.html", target), encoding="utf-8")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="make site", description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=OUT, help="folder of all versions of the site (default out/site)"
    )
    parser.add_argument("--quick", action="store_true", help="leave out the pictures that take time")
    parser.add_argument(
        "--release", action="store_true", help="build the version of the package, such as 0.1, not latest"
    )
    parser.add_argument("--rust", type=Path, help="also the pages of the crates: the folder of `cargo doc`")
    options = parser.parse_args()
    if options.rust and not (options.rust / FIRST_CRATE / "index.html").is_file():
        parser.error(
            f"--rust {options.rust}: no pages of the crates there; `cargo doc --no-deps` writes target/doc"
        )
    root = options.out.resolve()
    version = ".".join(fairwave.__version__.split(".")[:2]) if options.release else LATEST
    done = build(root / version, quick=options.quick, rust=options.rust)
    sys.stderr.write(done.stderr)
    if (root / version / "docs" / "index.html").is_file():
        write_versions(root)
    print(f"the site: {options.out / 'index.html'}")
    return done.returncode
