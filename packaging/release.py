"""Checks that a tag fits the version and the changelog, and writes the notes of the release.

`python packaging/release.py --tag v0.1.0 --notes out/notes.md`
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def read_version(root: Path) -> str:
    """The version of all crates and of the Python package."""
    text = (root / "Cargo.toml").read_text(encoding="utf-8")
    section = re.search(r"^\[workspace\.package\]\n(.*?)(?=^\[|\Z)", text, re.M | re.S)
    found = re.search(r'^version = "([^"]+)"', section[1] if section else "", re.M)
    if not found:
        sys.exit("Cargo.toml has no version in [workspace.package]")
    return found[1]


def read_notes(root: Path, version: str) -> str:
    """The section of a version in the changelog."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(
        rf"^## {re.escape(version)} \((\d{{4}}-\d\d-\d\d)\)\n(.*?)(?=^## |\Z)", text, re.M | re.S
    )
    if not found or not found[2].strip():
        sys.exit(
            f"CHANGELOG.md has no section '## {version} (DATE)'; write it, as '## {version} (2026-12-01)'"
        )
    place = "/".join(os.environ.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY"))
    # Links of the changelog are relative to the repository, which a page of a release is not part of.
    address = f"{place}/blob/v{version}/" if len(place) > 1 else ""
    return re.sub(r"\]\((?!https?:|#)", f"]({address}", found[2].strip()) + "\n"


def main() -> None:
    """Checks the tag and writes the notes."""
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("--tag", required=True, help="the tag, as v0.1.0")
    reader.add_argument("--notes", type=Path, required=True, help="file of the notes, in Markdown")
    reader.add_argument("--root", type=Path, default=ROOT, help="the checkout")
    given = reader.parse_args()
    version = read_version(given.root)
    if given.tag != f"v{version}":
        sys.exit(f"the tag is {given.tag}, but Cargo.toml has the version {version}; tag v{version}")
    notes = read_notes(given.root, version)
    given.notes.parent.mkdir(parents=True, exist_ok=True)
    given.notes.write_text(notes, encoding="utf-8")
    print(f"fairwave {version}: {len(notes.split())} words of notes in {given.notes}")


if __name__ == "__main__":
    main()
