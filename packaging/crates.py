"""Lists the packages of the crates after ``cargo package``, and checks their contents.

``python packaging/crates.py TARGET`` reads ``TARGET/package/*.crate``, one per crate that fairwave publishes.
"""

from __future__ import annotations

import re
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST = 10_000_000
"""The registry accepts packages up to this size, bytes."""
REQUIRED = ("Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "src/lib.rs")
ALLOWED = re.compile(
    r"Cargo\.(toml|toml\.orig|lock)|\.cargo_vcs_info\.json|LICENSE-(APACHE|MIT)|README\.md"
    r"|src/.+\.(rs|json|txt)|networks/[\w-]+\.toml"
)


def published() -> list[str]:
    """Names of the crates that are published. Python 3.10 has no reader of TOML, so lines of the manifests are read."""
    files = ROOT.glob("crates/*/Cargo.toml")
    return sorted(
        one.parent.name for one in files if "\npublish = false\n" not in one.read_text(encoding="utf-8")
    )


def common_version() -> str:
    """Version of all crates."""
    found = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
    if not found:
        sys.exit("Cargo.toml has no version in [workspace.package]")
    return found[1]


def faults(name: str, files: list[str], size: int) -> list[str]:
    """What is wrong with the package of a crate."""
    found = [f"{name}: {one} is missing" for one in REQUIRED if one not in files]
    found += [f"{name}: {one} does not belong into a package" for one in files if not ALLOWED.fullmatch(one)]
    if size > MOST:
        found.append(f"{name}: {size} bytes; at most {MOST} are allowed")
    return found


def main(target: Path) -> int:
    """Prints one line per package. Returns 1 if a package is missing or has a fault."""
    version = common_version()
    wrong = []
    print(f"{'crate':<20} {'files':>5} {'kB':>6}")
    for name in published():
        package = target / "package" / f"{name}-{version}.crate"
        if not package.is_file():
            wrong.append(f"{name}: {package} is missing; run `cargo package --workspace` first")
            continue
        with tarfile.open(package) as archive:
            files = [one.name.split("/", 1)[1] for one in archive.getmembers()]
        print(f"{name:<20} {len(files):>5} {package.stat().st_size / 1000:>6.0f}")
        wrong += faults(name, files, package.stat().st_size)
    for one in wrong:
        print(one, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python packaging/crates.py TARGET, the folder into which cargo builds")
    sys.exit(main(Path(sys.argv[1])))
