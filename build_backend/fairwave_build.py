"""Builds fairwave by maturin, and says in one sentence which tool is missing.

pip calls these functions when no wheel fits the system, and for an installation from sources. Without this check pip
would show the output of cargo, and maturin would download a compiler unasked.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import maturin
from maturin import (
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

COMPILERS = ("cc", "gcc", "clang", "cl", "zig")


def _require_compilers() -> None:
    """Ends the build if it cannot succeed."""
    given = os.environ.get("CC", "").split()
    lacking = [] if shutil.which("cargo") else ["Rust (https://rustup.rs)"]
    if not any(shutil.which(one) for one in (*given[:1], *COMPILERS)):
        lacking.append("a C compiler (on Debian: apt install gcc; on macOS: xcode-select --install)")
    if lacking:
        sys.exit(
            "fairwave: no wheel fits this system, and a build from sources needs what is not installed: "
            f"{' and '.join(lacking)}. There are wheels for Linux (glibc 2.17 or newer), macOS (10.13 or newer) and "
            "Windows."
        )


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """The packages that a build needs."""
    _require_compilers()
    return list(maturin.get_requires_for_build_wheel(config_settings))


def get_requires_for_build_editable(config_settings: dict[str, Any] | None = None) -> list[str]:
    """The packages that an installation from a checkout needs."""
    return get_requires_for_build_wheel(config_settings)


def build_wheel(*given: Any, **named: Any) -> str:
    """Builds a wheel, with the examples next to the modules."""
    _require_compilers()
    source, target = Path("examples"), Path("python", "fairwave", "examples")
    is_copied = source.is_dir() and not target.exists()  # a source distribution has them there already
    try:
        if is_copied:
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "out"))
        return str(maturin.build_wheel(*given, **named))
    finally:
        if is_copied:
            shutil.rmtree(target)


def build_editable(*given: Any, **named: Any) -> str:
    """Builds the wheel of an installation that uses the checkout."""
    _require_compilers()
    return str(maturin.build_editable(*given, **named))
