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


def measure(program: str, *, record: bool) -> dict[str, Any]:
    """Instructions per packet-hop at 100 and 1000 flows, the set-up (a 0-second run) taken off."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return {"absent": "valgrind is not installed: instructions were not counted", "exceeded": False}
    budget: dict[str, float] = json.loads(BUDGET.read_text()) if BUDGET.exists() else {}
    per_hop: dict[str, float] = {}
    for size in SIZES:
        counts = []
        hops = 0
        for seconds in (SECONDS, 0):
            with tempfile.TemporaryDirectory(prefix="fairwave-bench-") as folder:
                file = runner.scenario(Path(folder), **runner.contested(size, seconds))
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
        per_hop[f"n{size}"] = round((counts[0] - counts[1]) / hops, 1)
    if record or not budget:
        BUDGET.write_text(json.dumps(per_hop, indent=1) + "\n")
        budget = per_hop
    exceeded = any(value > budget.get(key, value) * (1.0 + TOLERANCE) for key, value in per_hop.items())
    return {"commit": machine.commit(), "per_packet_hop": per_hop, "budget": budget, "exceeded": exceeded}
