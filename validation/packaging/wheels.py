"""``make wheels``: wheels for Linux, macOS and Windows, all of them built on this machine.

`make wheel` builds the wheel of this machine alone, `make wheels WHEELS="windows-x86_64 macos-arm64"` some of them.
PyPI's `ziglang` brings the C compiler, the linker and the system libraries for Linux and macOS, Debian's
`gcc-mingw-w64-x86-64` those for Windows; rustup brings the standard library of Rust. The wheels for Linux run with
glibc 2.17 (2014) or newer.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OUT = ROOT / "out" / "wheels"

TOOLS = ROOT / "target" / "tools" / "wheels"
"""Environment with `ziglang`; the Makefile installs it."""

PACKAGE = ROOT / "python" / "fairwave"
SPEECH = ROOT / "python" / "fairwave_speech" / "recordings"
PROMPT = Path("usr", "share", "asterisk", "sounds", "en_US_f_Allison", "demo-instruct.wav")
LICENCE = Path("usr", "share", "doc", "asterisk-core-sounds-en-wav", "copyright")

LARGEST_MB = 15.0
"""Largest wheel."""

TAIL = 30
"""Lines of a failed build that are shown."""


@dataclass(frozen=True)
class Target:
    """A system that gets a wheel.

    Attributes:
        name: Its name on the command line.
        triple: Its name in Rust.
        options: Options of maturin.
        variables: Variables of the build.
    """

    name: str
    triple: str
    options: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()


MINGW = "x86_64-w64-mingw32-gcc"
"""Compiler and linker for Windows. maturin 1.16 cannot link there by zig: it exports a name with a dot in it."""

GLIBC = ("--zig", "--compatibility", "manylinux2014")


def on_macos(name: str, triple: str, oldest: str) -> Target:
    """A target for macOS from the version `oldest` on."""
    # Zig refuses the date of the build in an object file without this option. SOURCE_DATE_EPOCH fixes the date.
    flags = (f"CFLAGS_{triple.replace('-', '_')}", "-Wno-date-time")
    return Target(name, triple, ("--zig",), (("MACOSX_DEPLOYMENT_TARGET", oldest), flags))


TARGETS = (
    Target("linux-x86_64", "x86_64-unknown-linux-gnu", GLIBC),
    Target("linux-arm64", "aarch64-unknown-linux-gnu", GLIBC),
    on_macos("macos-arm64", "aarch64-apple-darwin", "11.0"),
    on_macos("macos-x86_64", "x86_64-apple-darwin", "10.13"),
    Target(
        "windows-x86_64", "x86_64-pc-windows-gnu", (), (("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", MINGW),)
    ),
)

SOURCES = "sources"
"""Name of the source distribution, from which pip builds fairwave on any other system."""


class BuildError(RuntimeError):
    """A wheel cannot be built; the message says why."""


@contextmanager
def packaged_files() -> Iterator[list[str]]:
    """Puts commit, examples and recording next to the modules during a build, and yields the names of missing parts."""
    examples, commit, prompt = PACKAGE / "examples", PACKAGE / "commit.txt", SPEECH / PROMPT.name
    missing = []
    try:
        shutil.rmtree(examples, ignore_errors=True)
        shutil.copytree(
            ROOT / "examples", examples, ignore=shutil.ignore_patterns("__pycache__", "*.pyc", "out")
        )
        try:
            commit.write_text(
                _output(["git", "describe", "--always", "--dirty", "--abbrev=7", "--exclude", "*"]),
                encoding="utf-8",
            )
        except (OSError, BuildError):
            missing.append("the commit (this is no checkout of git)")
        recorded = find_recording()
        if recorded is None:
            missing.append("the recording (on Debian or Ubuntu: .venv/bin/python -m fairwave_speech.fetch)")
        else:
            shutil.copyfile(recorded / PROMPT, prompt)
            shutil.copyfile(recorded / LICENCE, SPEECH / "copyright.txt")
        if not (PACKAGE / "lab" / "lab.html").is_file():
            missing.append("the page of the lab (make lab)")
        yield missing
    finally:
        shutil.rmtree(examples, ignore_errors=True)
        for file in (commit, prompt, SPEECH / "copyright.txt"):
            file.unlink(missing_ok=True)


def find_recording() -> Path | None:
    """The unpacked package with the default prompt and its licence; None without one."""
    places = (*sorted((ROOT / "data" / "recordings").glob("asterisk-*")), Path("/"))
    return next((one for one in places if (one / PROMPT).is_file() and (one / LICENCE).is_file()), None)


def _output(command: Sequence[str]) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{' '.join(command)}: {done.stderr.strip() or 'it failed'}")
    return done.stdout


def prepare_tools(targets: Sequence[Target]) -> None:
    """Checks the tools, and installs Rust's standard library for the targets that lack it.

    Raises:
        BuildError: A tool is missing, or rustup cannot install a library.
    """
    if any("windows" in one.triple for one in targets) and shutil.which(MINGW) is None:
        raise BuildError(
            f"the wheel for Windows needs {MINGW} (on Debian: apt install gcc-mingw-w64-x86-64); "
            "WHEELS='linux-x86_64 macos-arm64' builds some of the others"
        )
    if shutil.which("rustup") is None:
        raise BuildError(
            "the wheels of other systems need rustup, which installs Rust for them; `make wheel` does not"
        )
    there = set(_output(["rustup", "target", "list", "--installed"]).split())
    lacking = [one.triple for one in targets if one.triple not in there]
    if lacking:
        _output(["rustup", "target", "add", *lacking])


def run_maturin(words: Sequence[str], environment: dict[str, str], *, is_quiet: bool) -> Path:
    """Runs maturin and returns the file that it wrote.

    Raises:
        BuildError: It failed; its last lines are in the message.
    """
    scratch = OUT / ".partial"
    shutil.rmtree(scratch, ignore_errors=True)
    command = ["maturin", *words, "--out", str(scratch)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, check=False, text=True,
        stdout=subprocess.PIPE if is_quiet else None, stderr=subprocess.STDOUT if is_quiet else None,
    )  # fmt: skip
    if done.returncode != 0:
        last = "\n".join((done.stdout or "").splitlines()[-TAIL:])
        raise BuildError(f"{' '.join(command)} failed\n{last}".rstrip())
    (made,) = scratch.iterdir()
    if made.suffix == ".whl":
        shrink(made)
    final = OUT / made.name
    made.replace(final)
    scratch.rmdir()
    return final


def shrink(wheel: Path) -> None:
    """Packs the wheel's files again at the highest level of compression, with fixed times, so that it is repeatable."""
    packed = wheel.with_suffix(".partial")
    with (
        zipfile.ZipFile(wheel) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new,
    ):
        for one in old.infolist():
            new.writestr(one, old.read(one), compress_type=zipfile.ZIP_DEFLATED, compresslevel=9)
    packed.replace(wheel)


def build_native() -> Path:
    """Builds the wheel of this machine from the library that `make setup` has compiled."""
    words = ["build", "--locked", "--release", "--interpreter", sys.executable]
    return run_maturin(words, {}, is_quiet=False)


def build_target(target: Target) -> Path:
    """Builds the wheel of one target."""
    path = f"{TOOLS / 'bin'}{os.pathsep}{os.environ['PATH']}"
    words = ["build", "--locked", "--release", "--target", target.triple, *target.options]
    dated = {"SOURCE_DATE_EPOCH": date_of_commit()}
    return run_maturin(words, {"PATH": path, **dated, **dict(target.variables)}, is_quiet=True)


def date_of_commit() -> str:
    """Seconds since 1970 at the commit, so that two builds of it are alike; a fixed date without git."""
    try:
        return _output(["git", "log", "-1", "--format=%ct"]).strip()
    except (OSError, BuildError):
        return "1767225600"


def show_sizes(made: Sequence[Path]) -> int:
    """Prints the files with their sizes; the status is 1 if a wheel is too large."""
    width = max(len(one.name) for one in made)
    print(f"\n{f'in {OUT.relative_to(ROOT)}':{width}}  {'size':>8}  {'installed':>9}")
    too_large = []
    for one in made:
        size, installed = one.stat().st_size / 1e6, ""
        if one.suffix == ".whl":
            with zipfile.ZipFile(one) as file:
                installed = f"{sum(entry.file_size for entry in file.infolist()) / 1e6:6.1f} MB"
            too_large += [one.name] if size > LARGEST_MB else []
        print(f"{one.name:{width}}  {size:5.1f} MB  {installed}".rstrip())
    for name in too_large:
        print(f"{name} is larger than {LARGEST_MB:g} MB, the limit for a wheel", file=sys.stderr)
    return 1 if too_large else 0


def build_all(chosen: Sequence[str]) -> list[Path]:
    """Builds what is chosen, and prints a line as each file is ready.

    Raises:
        BuildError: One cannot be built.
    """
    targets = {one.name: one for one in TARGETS if one.name in chosen}
    if targets:
        prepare_tools(list(targets.values()))
    made = []
    for at, name in enumerate(chosen, 1):
        print(f"[{at}/{len(chosen)}] {name} …", flush=True)
        began = time.monotonic()
        target = targets.get(name)
        made.append(run_maturin(["sdist"], {}, is_quiet=True) if target is None else build_target(target))
        print(f"      {made[-1].name} in {time.monotonic() - began:.0f} s", flush=True)
    return made


def main() -> int:
    """Builds the wheels; the status of the program."""
    names = [SOURCES, *(one.name for one in TARGETS)]
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument(
        "names", nargs="*", metavar="NAME", help=f"{', '.join(names)}; all of them if left out"
    )
    reader.add_argument(
        "--native", action="store_true", help="the wheel of this machine alone, from `make setup`"
    )
    asked = reader.parse_args()
    unknown = [one for one in asked.names if one not in names]
    if unknown:
        print(f"no wheel {unknown[0]!r}; write some of: {', '.join(names)}", file=sys.stderr)
        return 2
    OUT.mkdir(parents=True, exist_ok=True)
    try:
        with packaged_files() as missing:
            for one in missing:
                print(f"the wheels lack {one}", file=sys.stderr)
            if asked.native:
                return show_sizes([build_native()])
            return show_sizes(build_all([one for one in names if one in (asked.names or names)]))
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
