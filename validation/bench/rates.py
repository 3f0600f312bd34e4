"""Cost of a trace: instructions per packet-hop, compared with a constant rate, and seconds to read it.

The same flows cross a dumbbell with different bottlenecks: a constant rate, a trace with a step every 100 ms, and a
mahimahi trace with an opportunity every millisecond. All have about the same mean rate. The traces last an hour.
The cost of reading is subtracted: it is the cost of a 2-second run, and the longer run only continues that run.
``cargo bench -p fairwave-core --bench rate`` measures the law alone. The time to read files of mahimahi's and
Pensieve's format is measured separately.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

from validation.bench import instructions, machine

SECONDS = (2, 22)
MEAN = 12_032
"""Mean rate in kb/s: an opportunity of 1504 B per millisecond."""
STEPS = 36_000
MILLISECONDS = 3_600_000
MOST = 1.1
"""Maximum cost of a trace per packet-hop, relative to a constant rate."""
LONGEST_S = 1.0
"""Maximum time to read a trace of one hour, s."""

SCENARIO = """
name = "rates"
duration = "{seconds} s"
preset = "rfc"

[topology]
preset = "dumbbell"
bottleneck = {{ rate = {rate}, delay = "10 ms", queue = {{ capacity = {{ packets = 50 }} }} }}

[[flow]]
name = "files"
count = 10
transport = "tcp/reno"
traffic = "bulk"
"""


def rates() -> dict[str, str]:
    """The bottleneck's rate in the form of a scenario, by name."""
    draw = Random(1)
    series = ",".join(f"100 {draw.randint(MEAN // 2, MEAN * 3 // 2)}" for _ in range(STEPS))
    opportunities = "".join(draw.choice("012") for _ in range(MILLISECONDS))
    return {
        "constant": f'"{MEAN} kb/s"',
        "a step every 100 ms": f'{{ law = "trace", series = "{series}" }}',
        "opportunities every 1 ms": f'{{ law = "trace", opportunities = "{opportunities}" }}',
    }


def files() -> dict[str, str]:
    """A trace of one hour in two formats, by name of the format."""
    draw = Random(1)
    opportunities = (f"{moment}\n" * draw.choice((0, 1, 2)) for moment in range(1, MILLISECONDS + 1))
    steps = (f"{step / 10:.1f}\t{draw.uniform(6, 18):.3f}\n" for step in range(STEPS))
    return {"mahimahi": "".join(opportunities), "pensieve": "".join(steps)}


def measure(program: str, runs: int) -> dict[str, Any]:
    """Measures instructions per packet-hop, their ratios to the constant rate's, and seconds of reading."""
    from fairwave import traces

    reading: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="fairwave-bench-") as folder:
        for form, text in files().items():
            file = Path(folder) / f"hour-{form}"
            file.write_text(text)
            took = []
            for _ in range(runs):
                begin = time.process_time()
                traces.read(file, form)
                took.append(time.process_time() - begin)
            reading[form] = round(statistics.median(took), 3)
    found: dict[str, Any] = {
        "commit": machine.commit(),
        "reading_s": reading,
        "longest_s": LONGEST_S,
        "most": MOST,
        "exceeded": any(seconds > LONGEST_S for seconds in reading.values()),
    }
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return found | {"absent": "valgrind is not installed: instructions were not counted"}
    per_hop = {name: _per_hop(valgrind, program, rate) for name, rate in rates().items()}
    ratios = {name: round(value / per_hop["constant"], 3) for name, value in per_hop.items()}
    found["per_packet_hop"] = per_hop
    found["over_constant"] = ratios
    found["exceeded"] = found["exceeded"] or any(ratio > MOST for ratio in ratios.values())
    return found


def _per_hop(valgrind: str, program: str, rate: str) -> float:
    counts, hops = [], []
    with tempfile.TemporaryDirectory(prefix="fairwave-bench-") as folder:
        for seconds in SECONDS:
            file = Path(folder) / "rates.toml"
            file.write_text(SCENARIO.format(seconds=seconds, rate=rate))
            count, hop = instructions.counted(valgrind, program, file)
            counts.append(count)
            hops.append(hop)
    return round((counts[1] - counts[0]) / (hops[1] - hops[0]), 1)
