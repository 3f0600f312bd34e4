"""``python -m benches.rates``: what a trace costs per packet-hop beside a constant rate, in instructions.

The same flows cross a dumbbell whose bottleneck has a constant rate, a trace with a step every 100 ms, or one of
mahimahi's opportunities every millisecond, of about the same mean. The traces last an hour. What reading them costs is
taken off: it is that of a run of 2 seconds, which the longer run only continues. The law alone is measured by
``cargo bench -p fairwave-core --bench rate``.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path
from random import Random

from benches import runner
from fairwave.validation.ns2 import timed

SECONDS = (2, 22)
MEAN = 12_032
"""Mean rate in kb/s: an opportunity of 1504 B per millisecond."""

SCENARIO = """
name = "rates"
duration = "{seconds} s"

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
    series = ",".join(f"100 {draw.randint(MEAN // 2, MEAN * 3 // 2)}" for _ in range(36_000))
    opportunities = "".join(draw.choice("012") for _ in range(3_600_000))
    return {
        "constant": f'"{MEAN} kb/s"',
        "a step every 100 ms": f'{{ law = "trace", series = "{series}" }}',
        "opportunities every 1 ms": f'{{ law = "trace", opportunities = "{opportunities}" }}',
    }


def instructions(program: str, rate: str) -> float:
    """Instructions per packet-hop."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise FileNotFoundError("valgrind is not installed: instructions cannot be counted")
    counts, hops = [], []
    with tempfile.TemporaryDirectory(prefix="fairwave-bench-") as folder:
        for seconds in SECONDS:
            file, log = Path(folder) / "rates.toml", Path(folder) / "log"
            file.write_text(SCENARIO.format(seconds=seconds, rate=rate))
            wrapper = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log}"]
            text, _ = timed([*wrapper, program, str(file)])
            found = re.search(r"Collected : (\d+)", log.read_text())
            if found is None:
                raise RuntimeError("callgrind did not say how many instructions it collected")
            counts.append(int(found[1]))
            hops.append(json.loads(text)["packet_hops"])
    return (counts[1] - counts[0]) / (hops[1] - hops[0])


def main() -> None:
    """Counts and prints."""
    program = runner.build()
    base = 0.0
    for name, rate in rates().items():
        found = instructions(program, rate)
        base = base or found
        print(f"{name}: {found:.1f} instructions per packet-hop, {found / base - 1:+.1%}")


if __name__ == "__main__":
    main()
