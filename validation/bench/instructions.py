"""Instructions per packet-hop, counted by callgrind. Load on the machine cannot change this number."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from validation.bench import machine, runner
from validation.compare.ns2.simulator import timed
from validation.writing import table

BUDGET = Path(__file__).with_name("budget.json")
#: Fails if the number exceeds the budget by more than this share.
TOLERANCE = 0.02
SECONDS = 12
SIZES = (100, 1000)


#: Maximum instructions per packet-hop of CUBIC beyond Reno, and of FQ-CoDel before the bottleneck beyond drop-tail. A
#: limit as a ratio would be exceeded when the base becomes faster.
MOST_CUBIC = 75
MOST_FQ_CODEL = 300


def measure(program: str, *, record: bool) -> dict[str, Any]:
    """Counts instructions per packet-hop at 100 and 1000 flows, with Reno, CUBIC and FQ-CoDel, without the set-up."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return {"absent": "valgrind is not installed: instructions were not counted"}
    cases = {
        "per_packet_hop": {},
        "cubic": {"transport": "tcp/cubic"},
        "fq_codel": {"discipline": "fq-codel"},
    }
    found = {
        name: {f"n{size}": count_per_hop(valgrind, program, size, **case) for size in SIZES}
        for name, case in cases.items()
    }
    if record or not BUDGET.exists():
        BUDGET.write_text(json.dumps(found["per_packet_hop"], indent=1) + "\n")
    return {"commit": machine.commit(), **found, "budget": json.loads(BUDGET.read_text())}


def list_exceeded(part: dict[str, Any]) -> Iterator[str]:
    """Yields each limit that the measurement exceeds."""
    for key, value in part.get("per_packet_hop", {}).items():
        if value > part["budget"].get(key, value) * (1.0 + TOLERANCE):
            yield f"{value} instructions per packet-hop at {key[1:]} flows"
        for law, name, most in (("cubic", "CUBIC", MOST_CUBIC), ("fq_codel", "FQ-CoDel", MOST_FQ_CODEL)):
            if part[law][key] - value > most:
                yield f"{part[law][key] - value:.0f} more instructions of {name} at {key[1:]} flows"


def describe(part: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of the report's section."""
    yield "## Instructions per packet-hop"
    yield ""
    if "absent" in part:
        yield part["absent"] + "."
        return
    yield (
        "Callgrind counts them on the same dumbbell, without the set-up. Limits: the recorded budget plus"
        f" {TOLERANCE:.0%}; CUBIC at most {MOST_CUBIC} instructions more than Reno; FQ-CoDel before the bottleneck at"
        f" most {MOST_FQ_CODEL} more than drop-tail, averaged over all hops. The last two are differences, because a"
        " ratio grows when the base becomes faster. CUBIC computes two windows per acknowledgement, FQ-CoDel hashes"
        " each packet into a queue and judges its delay when it leaves."
    )
    yield ""
    rows = [
        (
            *(key[1:], f"{value}", f"{part['budget'].get(key, '')}"),
            *(f"{part['cubic'][key]}", f"{part['cubic'][key] - value:.1f}"),
            *(f"{part['fq_codel'][key]}", f"{part['fq_codel'][key] - value:.1f}"),
        )
        for key, value in part["per_packet_hop"].items()
    ]
    yield from table(
        ("N", "instructions", "budget", "CUBIC", "more than Reno", "FQ-CoDel", "more than drop-tail"), rows
    )
    yield ""
    yield f"Commit {part['commit']}."


def count_per_hop(valgrind: str, program: str, size: int, **other: str) -> float:
    """Instructions per packet-hop of the benchmark's scenario with ``size`` flows, without the set-up."""
    counts, hops = [], []
    for seconds in (SECONDS, 0):
        with tempfile.TemporaryDirectory(prefix="fairwave-bench-") as folder:
            file = runner.scenario(Path(folder), **runner.contested(size, seconds) | other)
            count, hop = count_run(valgrind, program, file)
            counts.append(count)
            hops.append(hop)
    return round((counts[0] - counts[1]) / max(hops), 1)


def count_run(valgrind: str, program: str, file: Path) -> tuple[int, int]:
    """Counts instructions and packet-hops of a scenario's run."""
    log = file.with_suffix(".log")
    wrapper = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log}"]
    text, _ = timed([*wrapper, program, str(file), "--threads", "1"])
    found = re.search(r"Collected : (\d+)", log.read_text())
    if found is None:
        raise RuntimeError("callgrind did not say how many instructions it collected")
    return int(found[1]), json.loads(text)["packet_hops"]
