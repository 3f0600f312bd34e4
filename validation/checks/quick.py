"""``make quick``: checks of the changed files in less than a minute. ``make test`` does the rest.

Changed files are those that differ from the commit at which this branch left ``main``, and files that git does not
know yet. On ``main`` they are those that differ from the last commit.

The rule is simple. Rust: formatting, the unit tests of each changed crate, and changed integration tests. Python:
formatting and lints of changed files, each changed test file, and each test file that names a changed module or file.
A data file in a package counts as that package. Slow and live tests do not run, nor do Python tests that have not
begun after :data:`BUDGET_S` seconds. The last lines list everything that did not run.

Why no plugin chooses the tests: pytest-testmon follows which lines a test runs, but sees neither the compiled extension
nor scenarios, and slows the run that teaches it; pytest-picked takes changed test files alone.
"""

from __future__ import annotations

import argparse
import ast
import functools
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from validation import ROOT

#: Python tests that have not begun after this number of seconds do not run.
BUDGET_S = 35

#: Files that most tests read. A test that names one of them is not chosen for it.
EVERYWHERE = (
    "Cargo.lock",
    "Cargo.toml",
    "Makefile",
    "pyproject.toml",
    "requirements.lock",
    "conftest.py",
    "__init__.py",
)


@dataclass
class Chosen:
    """The checks to run."""

    crates: list[str] = field(default_factory=list)
    """Crates whose unit tests run."""
    outside: list[tuple[str, str]] = field(default_factory=list)
    """Crate and module of tests from outside."""
    python: list[str] = field(default_factory=list)
    """Changed Python files."""
    tests: list[str] = field(default_factory=list)
    """Test files."""


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, check=False, capture_output=True, text=True)
    return [line for line in done.stdout.splitlines() if line]


def changed() -> list[str]:
    """Files that differ from where this branch left ``main``, and new ones; those that are gone are not among them."""
    base = next(
        filter(None, (_git("merge-base", "HEAD", name) for name in ("main", "origin/main"))), ["HEAD"]
    )[0]
    names = {*_git("diff", "--name-only", base), *_git("ls-files", "--others", "--exclude-standard")}
    return sorted(name for name in names if (ROOT / name).is_file())


def module(file: str) -> str | None:
    """The dotted name under which Python imports a file of this repository."""
    if not file.endswith(".py"):
        return None
    parts = Path(file).with_suffix("").parts
    parts = parts[1:] if parts[0] in ("python", "tests") else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def package(file: str) -> str | None:
    """The dotted name of the Python package of a data file."""
    parts = Path(file).parts[:-1]
    return ".".join(parts[1:]) if parts[:1] == ("python",) else None


@functools.cache
def imported(source: str) -> set[str]:
    """The dotted names that a file imports, anywhere in it, those within ``from a import b`` as ``a`` and ``a.b``."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def naming(file: str, tests: Iterable[tuple[str, str]]) -> list[str]:
    """Those test files, given as pairs of name and text, that import a changed file or name it in their text."""
    name, dotted = Path(file).name, module(file) or package(file)
    if name in EVERYWHERE and not (dotted and dotted != "fairwave" and name == "__init__.py"):
        return []
    words = [re.escape(word) for word in (None if name == "__init__.py" else name, dotted) if word]
    pattern = re.compile(rf"(?<![\w.-])(?:{'|'.join(words)})(?![\w])")
    return [test for test, text in tests if pattern.search(text) or (dotted and dotted in imported(text))]


def choose(files: list[str], tests: list[tuple[str, str]]) -> Chosen:
    """Chooses the checks for these changed files."""
    chosen = Chosen()
    found: set[str] = set()
    for file in files:
        if inside := re.match(r"crates/(?P<crate>[\w-]+)/(?P<rest>.*)", file):
            crate, rest = inside["crate"], inside["rest"]
            if outside := re.fullmatch(r"tests/(\w+)\.rs", rest):
                chosen.outside.append((crate, "" if outside[1] == "all" else f"{outside[1]}::"))
            elif rest == "Cargo.toml" or rest.startswith("src/"):
                chosen.crates.append(crate)
            continue
        if file.endswith(".py"):
            chosen.python.append(file)
        if re.fullmatch(r"tests/(?:.*/)?test_\w+\.py", file):
            found.add(file)
        elif re.fullmatch(r"tests/.*/conftest\.py", file):
            found |= {test for test, _ in tests if test.startswith(f"{Path(file).parent.as_posix()}/")}
        found |= set(naming(file, tests))
        if file.endswith(".md"):
            found.add("tests/test_docs.py")
    chosen.crates = sorted({crate for crate in chosen.crates if _has_tests(crate)})
    chosen.outside = sorted(set(chosen.outside))
    chosen.tests = sorted(found)
    return chosen


def _has_tests(crate: str) -> bool:
    manifest = ROOT / "crates" / crate / "Cargo.toml"
    return manifest.is_file() and "test = false" not in manifest.read_text(encoding="utf-8")


def commands(chosen: Chosen, rust: bool) -> list[list[str]]:
    """The commands, in their order."""
    python = [sys.executable, "-m"]
    made = []
    if rust:
        made.append(["cargo", "fmt", "--all", "--check"])
    if chosen.python:
        made.append([*python, "ruff", "format", "--check", *chosen.python])
        made.append([*python, "ruff", "check", *chosen.python])
    if chosen.crates:
        packages = [word for crate in chosen.crates for word in ("--package", crate)]
        made.append(["cargo", "test", "--locked", "--quiet", "--lib", *packages])
    for crate in sorted({crate for crate, _ in chosen.outside}):
        modules = [name for of, name in chosen.outside if of == crate]
        only = [] if "" in modules else ["--", *modules]
        made.append(["cargo", "test", "--locked", "--quiet", "--package", crate, "--test", "all", *only])
    if chosen.tests:
        options = ["-n", "logical", "-m", "not slow and not live", "--budget", str(BUDGET_S)]
        made.append([*python, "pytest", *options, *chosen.tests])
    return made


def left(chosen: Chosen, files: list[str]) -> list[str]:
    """Lists the checks that only ``make test`` runs."""
    rest = ["test files that do not name what has changed, and slow and live tests"]
    if chosen.crates:
        rest.append(f"crates that use {', '.join(chosen.crates)}; clippy")
        rest.append("Python tests with the changed simulator: `make setup` builds it")
    if chosen.python:
        rest.append("mypy")
    if any(file.startswith("lab/") for file in files):
        rest.append("the lab: `make test-lab`")
    return rest


def main() -> int:
    """Runs the chosen checks. Returns 1 if one of them fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--list", action="store_true", help="say what would be run, and run nothing")
    asked = parser.parse_args()
    begun = time.monotonic()
    files = changed()
    if not files:
        print("quick: nothing has changed")
        return 0
    tests = [
        (path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
    ]
    chosen = choose(files, tests)
    failed = []
    print(f"quick: {len(files)} changed files")
    for command in commands(chosen, any(file.endswith(".rs") for file in files)):
        shown = " ".join(["python" if word == sys.executable else word for word in command])
        print(f"quick: {shown}", flush=True)
        # 5: all tests of these files are left out.
        if not asked.list and subprocess.run(command, cwd=ROOT, check=False).returncode not in (
            (0, 5) if "pytest" in command else (0,)
        ):
            failed.append(shown)
    for what in left(chosen, files):
        print(f"quick: left to `make test`: {what}")
    for what in failed:
        print(f"quick: failed: {what}")
    print(f"quick: {time.monotonic() - begun:.0f} s")
    return int(bool(failed))
