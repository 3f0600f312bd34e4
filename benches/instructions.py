"""Instructions per packet-hop, by callgrind: a figure that no busy neighbour can change, held to a budget."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from benches import machine, runner
from fairwave.validation.ns2 import timed

BUDGET = Path(__file__).with_name("budget.json")
#: More than this above the budget fails.
TOLERANCE = 0.02
SECONDS = 12
SIZES = (100, 1000)


#: CUBIC may cost so many times what Reno costs.
MOST = 1.3


def measure(program: str, *, record: bool) -> dict[str, Any]:
    """Instructions per packet-hop at 100 and 1000 flows of Reno, and CUBIC's over them; a 0-second run is taken off."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return {"absent": "valgrind is not installed: instructions were not counted", "exceeded": False}
    budget: dict[str, float] = json.loads(BUDGET.read_text()) if BUDGET.exists() else {}
    per_hop = {f"n{size}": _per_hop(valgrind, program, size, "tcp/reno") for size in SIZES}
    cubic = {f"n{size}": _per_hop(valgrind, program, size, "tcp/cubic") for size in SIZES}
    ratios = {key: round(value / per_hop[key], 2) for key, value in cubic.items()}
    if record or not budget:
        BUDGET.write_text(json.dumps(per_hop, indent=1) + "\n")
        budget = per_hop
    dear = any(value > budget.get(key, value) * (1.0 + TOLERANCE) for key, value in per_hop.items())
    return {
        "commit": machine.commit(),
        "per_packet_hop": per_hop,
        "budget": budget,
        "cubic": cubic,
        "cubic_over_reno": ratios,
        "most": MOST,
        "exceeded": dear or any(ratio > MOST for ratio in ratios.values()),
    }


def _per_hop(valgrind: str, program: str, size: int, transport: str) -> float:
    counts = []
    hops = 0
    for seconds in (SECONDS, 0):
        with tempfile.TemporaryDirectory(prefix="fairwave-bench-") as folder:
            file = runner.scenario(Path(folder), **runner.contested(size, seconds) | {"transport": transport})
            log = Path(folder) / "log"
            wrapper = [
                valgrind,
                "--tool=callgrind",
                "--callgrind-out-file=/dev/null",
                f"--log-file={log}",
            ]
            text, _ = timed([*wrapper, program, str(file)])
            hops = max(hops, json.loads(text)["packet_hops"])
            found = re.search(r"Collected : (\d+)", log.read_text())
        if found is None:
            raise RuntimeError("callgrind did not say how many instructions it collected")
        counts.append(int(found.group(1)))
    return round((counts[0] - counts[1]) / hops, 1)
