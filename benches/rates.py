"""What a trace costs: per packet-hop beside a constant rate, in instructions, and to be read, in seconds.

The same flows cross a dumbbell whose bottleneck has a constant rate, a trace with a step every 100 ms, or one of
mahimahi's opportunities every millisecond, of about the same mean. The traces last an hour. What reading them costs is
taken off: it is that of a run of 2 seconds, which the longer run only continues. The law alone is measured by
``cargo bench -p fairwave-core --bench rate``. Reading is timed apart: files of mahimahi's and Pensieve's format.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

from benches import instructions, machine

SECONDS = (2, 22)
MEAN = 12_032
"""Mean rate in kb/s: an opportunity of 1504 B per millisecond."""
STEPS = 36_000
MILLISECONDS = 3_600_000
MOST = 1.1
"""A trace may cost so many times what a constant rate costs, per packet-hop."""
LONGEST_S = 1.0
"""An hour's trace is read in less."""

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
    """The bottleneck's rate as a scenario writes it, by name."""
    draw = Random(1)
    series = ",".join(f"100 {draw.randint(MEAN // 2, MEAN * 3 // 2)}" for _ in range(STEPS))
    opportunities = "".join(draw.choice("012") for _ in range(MILLISECONDS))
    return {
        "constant": f'"{MEAN} kb/s"',
        "a step every 100 ms": f'{{ law = "trace", series = "{series}" }}',
        "opportunities every 1 ms": f'{{ law = "trace", opportunities = "{opportunities}" }}',
    }


def files() -> dict[str, str]:
    """An hour's trace in two formats, by name of the format."""
    draw = Random(1)
    opportunities = (f"{moment}\n" * draw.choice((0, 1, 2)) for moment in range(1, MILLISECONDS + 1))
    steps = (f"{step / 10:.1f}\t{draw.uniform(6, 18):.3f}\n" for step in range(STEPS))
    return {"mahimahi": "".join(opportunities), "pensieve": "".join(steps)}


def measure(program: str, runs: int) -> dict[str, Any]:
    """Instructions per packet-hop and their ratios to the constant rate's; seconds that reading takes."""
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
