"""``python -m validation laws``: cost of a law written in Python, compared with the same law built in.

Both laws of a pair give the same tables (``tests/laws/test_copies.py``), so the difference in time is the time of
the calls. A third run counts the calls. Times are CPU seconds, minimum of several runs. The time of a call includes
the crossing into Python, the values shown to the law, and the law itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import fairwave as fw
from fairwave.laws.registering import handed_in
from validation import ROOT, writing

SCENARIO = """
name = "cost of laws"
duration = "60 s"
preset = "rfc"

[topology]
preset = "dumbbell"

[topology.bottleneck]
rate = "10 Mb/s"
delay = "20 ms"
queue = { discipline = "drop-tail", capacity = { packets = 50 }, victim = "front" }
loss = { model = "bernoulli", rate = 0.001 }

[[flow]]
name = "files"
count = 10
transport = "tcp/reno"
traffic = "bulk"

[[flow]]
name = "datagrams"
count = 4
transport = "udp"
traffic = { kind = "cbr", rate = "500 kb/s", payload = "500 B", jitter = 0.5 }
"""

QUEUE = "topology.bottleneck.queue"


@dataclass(frozen=True)
class Pair:
    """A built-in law and its copy.

    Attributes:
        law: Name of the built-in law.
        kind: Kind of both names.
        key: Key of the override.
        table: The law's table without its name. Empty for a name alone.
        tag: The key of the name.
    """

    law: str
    kind: str
    key: str
    tag: str
    table: dict[str, Any]

    def named(self, name: str) -> dict[str, Any]:
        """The override that selects a law."""
        return {self.key: {self.tag: name, **self.table}}


CAPACITY = {"capacity": {"packets": 50}}

PAIRS = (
    Pair("tcp/reno", "transports", "flow.files.transport", "name", {}),
    Pair("red", "queues", QUEUE, "discipline", CAPACITY),
    Pair("codel", "queues", QUEUE, "discipline", CAPACITY),
    Pair("cbr", "traffic", "flow.datagrams.traffic", "kind", {"rate": "500 kb/s", "payload": "500 B", "jitter": 0.5}),
    Pair("bernoulli", "losses", "topology.bottleneck.loss", "model", {"rate": 0.001}),
    Pair("constant", "rates", "topology.bottleneck.rate", "law", {"rate": "10 Mb/s"}),
)  # fmt: skip


def copy_of(law: str) -> str:
    """The name of a law's copy."""
    return f"tcp/copy-{law.removeprefix('tcp/')}" if law.startswith("tcp/") else f"copy-{law}"


def calls(pair: Pair, scenario: fw.Scenario) -> int:
    """Counts calls of the copy's methods in a run. For a link law, this includes calls for its nominal rate."""
    name = copy_of(pair.law)
    law: Any = handed_in[pair.kind, name]
    count = 0
    kept = {}

    def counted(method: Any) -> Any:
        def call(*arguments: Any) -> Any:
            nonlocal count
            count += 1
            return method(*arguments)

        return call

    for hook in law.hooks:
        if hook in vars(law):
            kept[hook] = vars(law)[hook]
            setattr(law, hook, counted(kept[hook]))
    scenario.with_overrides(pair.named(name)).run()
    for hook, method in kept.items():
        setattr(law, hook, method)
    return count


def cost(scenario: fw.Scenario, runs: int) -> float:
    """CPU seconds of the fastest of several runs."""
    best = float("inf")
    for _ in range(runs):
        begun = time.process_time()
        scenario.run()
        best = min(best, time.process_time() - begun)
    return best


def replications(scenario: fw.Scenario, threads: int, runs: int) -> str:
    """Wall time and CPU time of eight replications on ``threads`` threads, s. Minimum of several attempts."""
    wall, cpu = float("inf"), float("inf")
    for _ in range(runs):
        begun, spent = time.perf_counter(), time.process_time()
        scenario.replicate(8, threads=threads)
        wall = min(wall, time.perf_counter() - begun)
        cpu = min(cpu, time.process_time() - spent)
    return f"{wall:.2f} s ({cpu:.2f} s of CPU)"


def main() -> None:
    """Measures all pairs and prints a table in Markdown."""
    parser = writing.parser(__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of which the quickest counts (default 5)")
    options = parser.parse_args()
    fw.load_laws(ROOT / "tests" / "law_copies.py")
    scenario = fw.load(SCENARIO)
    print("| law | built in | in Python | calls | a call | slower by |")
    print("|---|---|---|---|---|---|")
    for pair in PAIRS:
        plain = cost(scenario.with_overrides(pair.named(pair.law)), options.runs)
        own = cost(scenario.with_overrides(pair.named(copy_of(pair.law))), options.runs)
        number = calls(pair, scenario)
        each = (own - plain) / number
        print(
            f"| `{pair.law}` | {plain * 1e3:.0f} ms | {own * 1e3:.0f} ms | {number:,} | {each * 1e6:.2f} µs "
            f"| {own / plain:.1f} × |".replace(",", " ")
        )
    print("\n| eight replications | one thread | two threads |\n|---|---|---|")
    for name, law in (("`tcp/reno`", "tcp/reno"), ("its copy in Python", "tcp/copy-reno")):
        several = scenario.with_overrides({"flow.files.transport": law})
        one, two = (replications(several, threads, options.runs) for threads in (1, 2))
        print(f"| {name} | {one} | {two} |")
