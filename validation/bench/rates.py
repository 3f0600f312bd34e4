"""Cost of a trace: instructions per packet-hop, compared with a constant rate, and seconds to read it.

The same flows cross a dumbbell with different bottlenecks: a constant rate, a trace with a step every 100 ms, and a
mahimahi trace with an opportunity every millisecond. All have about the same mean rate. The traces last an hour.
The cost of reading is subtracted: it is the cost of a 2-second run, and the longer run only continues that run.
``cargo bench -p fairwave-core --bench rate`` measures the law alone. The time to read files of mahimahi's and
Pensieve's format is measured separately.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from validation.bench import instructions, machine
from validation.writing import table

SECONDS = (2, 22)
MEAN = 12_032
"""Mean rate in kb/s: an opportunity of 1504 B per millisecond."""
STEPS = 36_000
MILLISECONDS = 3_600_000
MOST_EXTRA = 100
"""Maximum instructions per packet-hop that a trace costs beyond a constant rate."""
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
    """Counts instructions per packet-hop and measures the seconds of reading."""
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
            reading[form] = round(min(took), 3)
    found: dict[str, Any] = {"commit": machine.commit(), "reading_s": reading}
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return found | {"absent": "valgrind is not installed: instructions were not counted"}
    per_hop = {name: count_per_hop(valgrind, program, rate) for name, rate in rates().items()}
    return found | {"per_packet_hop": per_hop}


def list_exceeded(part: dict[str, Any]) -> Iterator[str]:
    """Yields each limit that the measurement exceeds."""
    for form, seconds in part["reading_s"].items():
        if seconds > LONGEST_S:
            yield f"{seconds} s to read a trace in {form}'s format"
    counts = part.get("per_packet_hop", {})
    for name, value in counts.items():
        if value - counts["constant"] > MOST_EXTRA:
            yield f"{value - counts['constant']:.0f} more instructions with {name}"


def describe(part: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of the report's section."""
    yield "## Rates by trace"
    yield ""
    read = ", ".join(f"{form}'s format {seconds:g} s" for form, seconds in part["reading_s"].items())
    yield (
        f"CPU time to read a trace of one hour: {read}. The limit is {LONGEST_S:g} s. A trace may cost {MOST_EXTRA}"
        " instructions per packet-hop more than a constant rate. Two of the six links on the way of a packet and of its"
        " acknowledgement follow the trace, so this is 300 instructions per crossing of such a link. Under a constant"
        " rate all transmissions of a size last equally long: the link keeps packets that wait as runs of equal steps."
        " Under a trace each transmission has its own length, which the link looks up, and each packet is kept apart."
        " The difference grew when packets got a shorter way through links of constant rate; with a trace itself, a"
        " packet-hop costs 6 % more than before."
    )
    yield ""
    if "absent" in part:
        yield part["absent"] + "."
        return
    counts = part["per_packet_hop"]
    rows = [(name, f"{value}", f"{value - counts['constant']:.1f}") for name, value in counts.items()]
    yield from table(("rate", "instructions per packet-hop", "more than constant"), rows)
    yield ""
    yield f"Commit {part['commit']}."


def count_per_hop(valgrind: str, program: str, rate: str) -> float:
    """Instructions per packet-hop of the longer run beyond the shorter one."""
    counts, hops = [], []
    with tempfile.TemporaryDirectory(prefix="fairwave-bench-") as folder:
        for seconds in SECONDS:
            file = Path(folder) / "rates.toml"
            file.write_text(SCENARIO.format(seconds=seconds, rate=rate))
            count, hop = instructions.count_run(valgrind, program, file)
            counts.append(count)
            hops.append(hop)
    return round((counts[1] - counts[0]) / (hops[1] - hops[0]), 1)
