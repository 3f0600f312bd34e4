"""Adds everything that `docs/extend.md` teaches to a copy of the tree, and tests it there.

One copy contains all files and lines of the page and is compiled once. It is in `target` and shares the compiled
dependencies with the tree, so that a second trial compiles only changes.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
COPY = TARGET / "extending"

FILES = {
    path: (ROOT / file).read_text(encoding="utf-8")
    for file, path in re.findall(r"\]\(\.\./(crates/\S+\.rs)\);\s+copy it to\s+`(crates/\S+\.rs)`", PAGE)
}
"""Files that the page copies, by their new path."""

PARTS = re.findall(r"^```rust\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
"""The page's text for these files."""

LINES = re.findall(
    r"listed in `(crates/\S+\.rs)`[^\n]*:\n\n```diff\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE
)
"""Lines of the page: their file, and the lines after which they are inserted."""

ADDED = {
    "transports": ["tcp/scalable", "spaced"],
    "queues": ["deficit-round-robin"],
    "traffic": ["memoryless"],
    "losses": ["burst-noise"],
    "rates": ["steps"],
    "measures": ["poorest-share"],
}
"""Names of the seven laws, by their kind in `fairwave list`."""

LAWS = ["fairwave-network", "fairwave-media", "fairwave-tcp", "fairwave-transport"]
"""Crates with laws."""

LIBRARY = "lib_native_extended." + ("dylib" if sys.platform == "darwin" else "so")

pytestmark = [
    pytest.mark.skipif(shutil.which("cargo") is None, reason="there is no Rust toolchain"),
    pytest.mark.skipif(
        shutil.which("git") is None or not (ROOT / ".git").exists(),
        reason="git does not list the files: no checkout",
    ),
]


def with_lines(text, diff, path):
    """A file with the added lines of a diff. The lines before them must occur once in the file."""
    for part in re.split(r"^@@\n", diff, flags=re.MULTILINE):
        before = "".join(line[1:] for line in part.splitlines(True) if not line.startswith("+"))
        after = "".join(line[1:] for line in part.splitlines(True))
        assert text.count(f"\n{before}") == 1, f"{path} has no single place behind\n{before}"
        text = text.replace(f"\n{before}", f"\n{after}")
    return text


def wanted():
    """Every file of the copy: the relevant files of the tree, and the page's additions."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
    parts = [
        "Cargo.toml",
        "Cargo.lock",
        "rustfmt.toml",
        "pyproject.toml",
        "crates",
        "python",
        "docs/extend.md",
    ]
    parts += ["tests/conftest.py", "tests/made_up.py", "tests/once.py", "tests/test_reference.py"]
    paths = subprocess.run([*listed, *parts], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = {
        path: (ROOT / path).read_bytes() for path in paths.split("\0") if path and (ROOT / path).is_file()
    }
    for path, text in FILES.items():
        assert path not in files, f"{path} is in the tree already"
        files[path] = text.encode()
    for path, diff in LINES:
        files[path] = with_lines(files[path].decode(), diff, path).encode()
    # A library for Python has no hash in its name, so the copy's would overwrite the tree's.
    manifest = "crates/fairwave-python/Cargo.toml"
    files[manifest] = files[manifest].replace(b'name = "_native"', b'name = "_native_extended"')
    return files


def renewed():
    """Updates the copy, writing only changed files."""
    files = wanted()
    for path in COPY.rglob("*"):
        if (
            path.is_file()
            and path.relative_to(COPY).as_posix() not in files
            and path.suffix in {".rs", ".py"}
        ):
            path.unlink()
    for name, content in files.items():
        path = COPY / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return COPY


def done(*command, **more):
    """Returns the output of a command; fails the test if the command fails."""
    environment = {
        **os.environ, "CARGO_TARGET_DIR": str(TARGET), "PYTHONPATH": str(COPY / "python"), "COLUMNS": "200",
        "PROPTEST_RNG_SEED": "2026",  # as in `make test`
        "CARGO_INCREMENTAL": "0",  # a fifth less work for a copy that is compiled once
    }  # fmt: skip
    ran = subprocess.run(
        command, cwd=COPY, env=environment, capture_output=True, text=True, check=False, **more
    )
    assert ran.returncode == 0, f"{' '.join(map(str, command))}\n{ran.stdout[-6000:]}\n{ran.stderr[-6000:]}"
    return ran.stdout


def quick_to_compile():
    """Our crates without optimisation and debug information, only for this trial; dependencies are shared."""
    crates = [path.parent.name for path in sorted(COPY.glob("crates/*/Cargo.toml"))]
    settings = [f"{crate}.{setting}" for crate in crates for setting in ("opt-level=0", "debug=false")]
    return [word for one in settings for word in ("--config", f"profile.dev.package.{one}")]


def cargo(what, *more):
    return done("cargo", what, "--locked", "--offline", "--quiet", *quick_to_compile(), *more)


def package_options(crates):
    return [word for crate in crates for word in ("--package", crate)]


def test_the_page_adds_a_file_and_a_list_for_each_of_the_seven_families():
    assert len(FILES) == len(LINES) == sum(map(len, ADDED.values())) == 7
    for path, diff in LINES:
        added = [line for line in diff.splitlines() if line.startswith("+")]
        assert len(added) == 2, f"{path}: one line declares the file, one lists it"


def test_what_the_page_shows_of_each_file_is_in_it():
    assert len(PARTS) == len(FILES)
    for (path, text), shown in zip(FILES.items(), PARTS, strict=True):
        blocks = re.split(r"(?<=^\}\n)\n", shown, flags=re.MULTILINE)
        assert all(f"\n{block}" in text for block in blocks), path


@pytest.mark.slow
def test_what_the_page_adds_holds_in_a_copy_of_the_tree():
    renewed()
    done("cargo", "fmt", "--all", "--check")
    cargo("clippy", *package_options([*LAWS, "fairwave-sim"]), "--all-targets", "--", "-D", "warnings")
    cargo("test", *package_options(LAWS), "--lib")
    cargo("test", *package_options(["fairwave-sim"]), "--lib", "measures")
    cargo("build", *package_options(["fairwave-python"]))
    shutil.copy2(TARGET / "debug" / LIBRARY, COPY / "python" / "fairwave" / "_native.abi3.so")

    python = [sys.executable, "-m", "fairwave"]
    listed = json.loads(done(*python, "list", "--json"))
    for kind, names in ADDED.items():
        known = [one["name"] for one in listed[kind]]
        assert [name for name in names if name not in known] == [], kind
        for name in names:
            (explained,) = json.loads(done(*python, "explain", name, "--json"))
            assert explained["kind"] == kind
            assert explained["about"]
            if kind == "measures":
                continue
            (COPY / "example.toml").write_text(explained["example"])
            ran = json.loads(done(*python, "run", "example.toml", "--json"))
            assert ran["flows"][0]["payload_received"] > 0, name
    two()
    ran = json.loads(done(*python, "run", "two.toml", "--json"))
    rows = {row["measure"]: row for row in ran["summary"]}
    assert rows["poorest-share"]["title"] == "files share of the poorest flow"
    assert 0 < rows["poorest-share"]["mean"] <= 100
    done(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_reference.py")


def two():
    """A scenario for the measure: two flows of endless data."""
    text = [
        'name = "two"',
        'duration = "5 s"',
        "[topology]",
        'preset = "dumbbell"',
        "[[flow]]",
        'name = "files"',
    ]
    text += ["count = 2", 'transport = "tcp/sack"', 'traffic = "bulk"']
    (COPY / "two.toml").write_text("\n".join(text))
