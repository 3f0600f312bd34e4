"""Limits of files of others, and the memory of the worst of them: `python -m validation strangers` (`docs/files.md`).

Each input is as large as its kind may be, or claims a larger content. A command reads it in a separate process, and
its peak memory and time are measured.
"""

from __future__ import annotations

import importlib
import pkgutil
import resource
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from fairwave import foreign
from validation import ROOT, kept, writing

if TYPE_CHECKING:
    from collections.abc import Callable

KEPT = "measured/files"
PACKAGES = (
    "fairwave",
    "fairwave_network",
    "fairwave_report",
    "fairwave_speech",
    "fairwave_study",
    "fairwave_video",
)
ELSEWHERE = {
    "mahimahi": "fairwave.traces.files.read",
    "kept runs": "fairwave.runs.runs_file.unpacked",
    "kept reading": "fairwave_study.shelf.Shelf",
}
"""Readers with the gate as a block inside."""

NETWORK = """
name = "worst"
duration = "2 s"
topology = { file = "FILE" }
links = { rate = "10 Mb/s", delay = "1 ms" }
demands = { load = "1 Mb/s", pairs = 2 }
"""


def readers() -> dict[str, list[str]]:
    """Each kind of file with the functions that read it."""
    for package in PACKAGES:
        for one in pkgutil.walk_packages([str(ROOT / "python" / package)], f"{package}."):
            if not one.name.endswith(("__main__", ".host", ".child")):
                importlib.import_module(one.name)
    found = {kind: sorted(names) for kind, names in foreign.GATED.items()}
    for kind, name in ELSEWHERE.items():
        found[kind] = sorted({*found.get(kind, ()), name})
    return found


def limits_table() -> str:
    """The table of kinds and limits, in Markdown."""

    def number(value: float | None, unit: str = "") -> str:
        return "–" if value is None else f"{value:,}".replace(",", " ") + unit

    def span(value: float | None) -> str:
        return "–" if value is None else f"{value / 3600:g} h" if value >= 3600 else f"{value:g} s"

    by_kind = readers()
    rows = [
        "| kind | readers | size | items | digits | depth | time | pause |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, kind in foreign.KINDS.items():
        items = "–" if kind.items is None else f"{number(kind.items)} {kind.item}"
        names = ", ".join(f"`{one}`" for one in by_kind[name])
        cells = [
            kind.what, names, foreign.format_bytes(kind.bytes), items, number(kind.digits), number(kind.depth),
            span(kind.span_s), span(kind.gap_s),
        ]  # fmt: skip
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def worst_files(folder: Path) -> dict[str, tuple[str, Callable[[], object], list[str]]]:
    """Inputs by name: description, function that writes it, command that reads it."""

    def file(name: str, data: bytes) -> Callable[[], object]:
        return lambda: (folder / name).write_bytes(data)

    def network(name: str, data: bytes) -> Callable[[], object]:
        def write() -> None:
            (folder / name).write_bytes(data)
            (folder / "net.toml").write_text(NETWORK.replace("FILE", name), encoding="utf-8")

        return write

    def results() -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = pa.DictionaryArray.from_arrays(pa.array([0] * 10_000_000, pa.int32()), pa.array([0]))
        for name in ("results", "other"):
            (folder / name).mkdir(exist_ok=True)
            pq.write_table(pa.table({f"c{n}": rows for n in range(11)}), folder / name / "runs.parquet")

    xml = (
        b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">'
        + b"".join(b'<node id="n%d"/>' % n for n in range(990_000))
        + b"</graph></graphml>"
    )
    stamps = b'{"lost":"false","timestamps":{"client":{"send":{"wall":1}}}}'
    trips = b'{"round_trips":[' + b",".join([stamps] * 990_000) + b"]}"
    frame = bytes(12) + b"\x08\x00" + bytes.fromhex("4500001c0000000040110000")
    flows = b"".join(
        struct.pack("<IIII", 1_700_000_000, n, 42, 42) + frame + struct.pack(">II", n, 7) + bytes(8)
        for n in range(100_001)
    )
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    return {
        "small": (
            "a trace of 400 times: the program itself",
            file("a.mahi", b"1\n" * 399 + b"400\n"),
            ["trace", "a.mahi"],
        ),
        "late time": (
            "a trace with the time 999999999 ms",
            file("m.mahi", b"999999999\n"),
            ["trace", "m.mahi"],
        ),
        "times": (
            "a trace of mahimahi with 20 million times in 4 h",
            file("t.mahi", b"1\n" * 19_999_998 + b"14400000\n"),
            ["trace", "t.mahi"],
        ),
        "rows": (
            "a trace with 2 million rows",
            file("r.csv", b"duration_ms,rate_kbps\n" + b"9,1\n" * 1_999_990),
            ["trace", "r.csv"],
        ),
        "line": (
            "a trace with a line of 99 MB",
            file("l.csv", b"time_s,rate_mbps\n" + b"1," * 49_000_000),
            ["trace", "l.csv"],
        ),
        "losses": (
            "a pattern with 20 million packets",
            file("p.csv", b"lost\n" + b"0\n" * 19_999_990),
            ["pattern", "p.csv"],
        ),
        "statistics": (
            "statistics of 3 million empty tables",
            file("s.json", b"[" + b",".join([b"{}"] * 1_499_990) + b"]"),
            ["fit", "s.json"],
        ),
        "round trips": (
            "990 000 round trips of irtt, 61 MB",
            file("i.json", trips),
            ["measure", "--irtt", "i.json"],
        ),
        "gzip": (
            "a file of irtt that unpacks to 10 GB",
            file("z.json.gz", bomb()),
            ["measure", "--irtt", "z.json.gz"],
        ),
        "flows": ("a capture with 100 001 flows", file("f.pcap", head + flows), ["replay", "f.pcap"]),
        "nodes": (
            "a topology with 990 000 nodes without edges",
            network("n.graphml", xml),
            ["network", "net.toml"],
        ),
        "depth": (
            "a topology with 25 million brackets",
            network("d.json", b"[" * 25_000_000),
            ["network", "net.toml"],
        ),
        "values": (
            "a scenario with 1 million values",
            file("v.toml", b"a = [" + b"1," * 999_990 + b"]\n"),
            ["run", "v.toml"],
        ),
        "cells": (
            "a folder of results that claims 110 million cells",
            results,
            ["compare", "results", "other"],
        ),
    }


def bomb() -> bytes:
    """A gzip file with 10 GB of zeros."""
    import zlib

    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(bytes(10_000_000)) for _ in range(1000)]
    return b"".join(parts) + packer.flush()


def measured(words: list[str], folder: Path) -> dict[str, float | str | int]:
    """Peak memory, time, exit status and the first line of errors of a command."""
    begun = time.monotonic()
    code = (
        "import re, sys\n"
        "from fairwave.cli import main\n"
        "try: main()\n"
        "finally: print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=folder, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30)),
    )  # fmt: skip
    lines = done.stderr.strip().splitlines()
    if "Traceback (most recent call last):" in lines:
        raise RuntimeError(f"{words}: {done.stderr[-2000:]}")
    return {
        "peak_mb": round(int(lines[-1]) * 1024 / 1e6),
        "seconds": round(time.monotonic() - begun, 1),
        "status": done.returncode,
        "said": lines[0][:160] if len(lines) > 1 else "",
    }


def memory_table(found: dict[str, dict[str, float | str | int]]) -> str:
    """The table of worst inputs, in Markdown."""
    rows = ["| input | command | memory | result |", "|---|---|--:|---|"]
    for one in found.values():
        said = str(one["said"]).removeprefix("error: ").replace("|", "\\|") or "read"
        rows.append(f"| {one['what']} | `fairwave {one['command']}` | {one['peak_mb']} MB | {said} |")
    most = max(found.values(), key=lambda one: float(one["peak_mb"]))
    return "\n".join(rows) + f"\n\nThe worst input takes {most['peak_mb']} MB: {most['what']}.\n"


def render(_: Path) -> str:
    """Renders the page of limits and of the worst inputs, from the gate and from the kept numbers."""
    about = (
        "Each input is as large as its kind permits, or claims more than it holds. The first row is the program"
        " itself. Python 3.11, Linux, 64 bits."
    )
    return (
        f"# Files from others\n\n## Limits\n\n{limits_table()}\n\n## Memory of the worst inputs\n\n{about}\n\n"
        f"{memory_table(kept.read(KEPT))}"
    )


def main() -> None:
    """Measures the worst inputs and keeps the numbers."""
    writing.parser(__doc__).parse_args()
    found: dict[str, dict[str, float | str | int]] = {}
    with tempfile.TemporaryDirectory() as name:
        for key, (what, write, words) in worst_files(Path(name)).items():
            write()
            found[key] = {"what": what, "command": " ".join(words), **measured(words, Path(name))}
            sys.stderr.write(f"{key}: {found[key]}\n")
    kept.write(KEPT, found)
