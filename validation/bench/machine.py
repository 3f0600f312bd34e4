"""Description of the machine on which the numbers were measured."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path


def describe() -> dict[str, str]:
    """Processor, cores, memory, system, compiler and the commit of the sources."""
    return {
        "processor": _field(Path("/proc/cpuinfo"), "model name")
        or platform.processor()
        or platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": _memory(),
        "system": platform.system() + " " + platform.release().split("-")[0],
        "compiler": _says(["rustc", "--version"]),
        "commit": commit(),
    }


def commit() -> str:
    """The commit of the sources, with a remark if files differ from it."""
    name = _says(["git", "rev-parse", "--short=12", "HEAD"])
    changed = _says(
        ["git", "status", "--porcelain", "--untracked-files=no", "--", "crates", "Cargo.toml", "Cargo.lock"]
    )
    return name + (" with changes" if changed else "")


def _field(file: Path, name: str) -> str:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), "")


def _memory() -> str:
    total = _field(Path("/proc/meminfo"), "MemTotal").split()
    return f"{int(total[0]) / 2**20:.1f} GiB" if total else "unknown"


def free_memory() -> int:
    """Free memory in bytes. A very large number on systems that do not report it."""
    free = _field(Path("/proc/meminfo"), "MemAvailable").split()
    return int(free[0]) * 1024 if free else 2**62


def _says(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
