"""Instructions per packet-hop, counted by callgrind. Load on the machine cannot change this number."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from validation.bench import machine, runner
from validation.compare.ns2.simulator import timed

BUDGET = Path(__file__).with_name("budget.json")
#: Fails if the number exceeds the budget by more than this share.
TOLERANCE = 0.02
SECONDS = 12
SIZES = (100, 1000)


#: Maximum cost of CUBIC relative to Reno.
MOST = 1.3
#: Maximum cost of FQ-CoDel before the bottleneck relative to drop-tail, over all hops.
MOST_FAIR = 2.0


def measure(program: str, *, record: bool) -> dict[str, Any]:
    """Counts instructions per packet-hop at 100 and 1000 Reno flows, and the ratios of CUBIC and FQ-CoDel to them.

    The instructions of a 0-second run are subtracted.
    """
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return {"absent": "valgrind is not installed: instructions were not counted", "exceeded": False}
    budget: dict[str, float] = json.loads(BUDGET.read_text()) if BUDGET.exists() else {}
    per_hop = {f"n{size}": _per_hop(valgrind, program, size) for size in SIZES}
    cubic = {f"n{size}": _per_hop(valgrind, program, size, transport="tcp/cubic") for size in SIZES}
    fair = {f"n{size}": _per_hop(valgrind, program, size, discipline="fq-codel") for size in SIZES}
    over_reno, over_tail = (
        {key: round(value / per_hop[key], 2) for key, value in dear.items()} for dear in (cubic, fair)
    )
    if record or not budget:
        BUDGET.write_text(json.dumps(per_hop, indent=1) + "\n")
        budget = per_hop
    too_dear = any(value > budget.get(key, value) * (1.0 + TOLERANCE) for key, value in per_hop.items())
    return {
        "commit": machine.commit(),
        "per_packet_hop": per_hop,
        "budget": budget,
        "cubic": cubic,
        "cubic_over_reno": over_reno,
        "most": MOST,
        "fq_codel": fair,
        "fq_codel_over_drop_tail": over_tail,
        "most_fair": MOST_FAIR,
        "exceeded": too_dear
        or any(ratio > MOST for ratio in over_reno.values())
        or any(ratio > MOST_FAIR for ratio in over_tail.values()),
    }


def _per_hop(valgrind: str, program: str, size: int, **other: str) -> float:
    counts, hops = [], []
    for seconds in (SECONDS, 0):
        with tempfile.TemporaryDirectory(prefix="fairwave-bench-") as folder:
            file = runner.scenario(Path(folder), **runner.contested(size, seconds) | other)
            count, hop = counted(valgrind, program, file)
            counts.append(count)
            hops.append(hop)
    return round((counts[0] - counts[1]) / max(hops), 1)


def counted(valgrind: str, program: str, file: Path) -> tuple[int, int]:
    """Counts instructions and packet-hops of a scenario's run."""
    log = file.with_suffix(".log")
    wrapper = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log}"]
    text, _ = timed([*wrapper, program, str(file), "--threads", "1"])
    found = re.search(r"Collected : (\d+)", log.read_text())
    if found is None:
        raise RuntimeError("callgrind did not say how many instructions it collected")
    return int(found[1]), json.loads(text)["packet_hops"]
