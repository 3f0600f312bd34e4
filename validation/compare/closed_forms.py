"""A second opinion from theory: closed forms compared with the simulator, each with a stated bound.

Queues are Poisson streams into one link, TCPs single flows on a path with random loss and no queue. The formulas are
in :mod:`fairwave.theory`. None was fitted to the simulator, nor the simulator to them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import fairwave
from fairwave import theory

Table = dict[str, Any]


@dataclass(frozen=True)
class Opinion:
    """The value of a formula, and the allowed distance of the simulator.

    ``measured`` and ``expected`` return values in ``unit``. Their ratio must be within ``bound``, for the reason
    ``why``.
    """

    key: str
    formula: str
    about: str
    unit: str
    measured: Callable[[], float]
    expected: float
    bound: tuple[float, float]
    why: str


def opinions() -> Iterator[Opinion]:
    """Every check, in the order of the report."""
    for load in (0.5, 0.8):
        yield Opinion(
            f"md1/{load}",
            "M/D/1, ρ²/(2(1 − ρ))",
            f"packets of 1000 bytes at load {load:g}: mean number that wait",
            "packets",
            lambda load=load: waiting([poisson("all", 1000 * load, 1000)]),  # type: ignore[misc]
            theory.md1_waiting(load),
            (0.95, 1.05),
            "exact; the bound is of chance, six runs of 300 s",
        )
    sizes = exponential_sizes(20, 350)
    mean = sum(sizes) / len(sizes)
    spread = math.sqrt(sum((size - mean) ** 2 for size in sizes) / len(sizes)) / mean
    load = 0.7

    def mixed() -> float:
        rate = load * 1e6 / mean / len(sizes)
        return waiting([poisson(f"size{place}", rate, size) for place, size in enumerate(sizes)])

    about = (
        f"packets of {len(sizes)} sizes, exponential but for that, at load {load:g}: mean number that wait"
    )
    yield Opinion(
        "mg1", "M/G/1, Pollaczek–Khinchine", about, "packets", mixed, theory.mg1_waiting(load, spread),
        (0.95, 1.05), "exact for these sizes; chance",
    )  # fmt: skip
    yield Opinion(
        "mm1", "M/M/1, ρ²/(1 − ρ)", about, "packets", mixed, theory.mm1_waiting(load),
        (0.90, 1.10), "twenty sizes vary a little less than an exponential distribution",
    )  # fmt: skip
    for loss in (0.001, 0.003):
        yield Opinion(
            f"mathis/{loss:g}",
            "Mathis et al., √(3/2)/√p",
            f"SACK, data lost at {loss:.1%}: goodput",
            "b/s",
            lambda loss=loss: tcp_rate({"name": "tcp/sack"}, loss),  # type: ignore[misc]
            theory.mathis(1000, 0.1, loss),
            (0.90, 1.25),
            "the formula spaces losses evenly; with independent ones models have √2 to √(8/3) for √(3/2)",
        )
    for loss in (0.005, 0.02, 0.05):
        yield Opinion(
            f"pftk/{loss:g}",
            "PFTK, full model",
            f"Reno, data lost at {loss:.1%}: goodput",
            "b/s",
            lambda loss=loss: tcp_rate({"name": "tcp/reno"}, loss),  # type: ignore[misc]
            theory.pftk(1000, 0.1, 0.2, loss) * (1 - loss),
            (0.67, 1.33),
            "the model loses the rest of a round with its first loss; here losses are independent",
        )
    for alpha, kept in ((0.31, 0.875), (0.583, 0.75), (1.25, 0.25)):
        yield Opinion(
            f"gaimd/{alpha:g}-{kept:g}",
            "GAIMD, Yang & Lam",
            f"TCP({alpha:g}, {kept:g}), data lost at 0.5%: goodput",
            "b/s",
            lambda alpha=alpha, kept=kept: tcp_rate(  # type: ignore[misc]
                {"name": "tcp/aimd", "alpha": alpha, "beta": kept}, 0.005
            ),
            theory.aimd(1000, 0.1, 0.2, 0.005, alpha=alpha, kept=kept),
            (0.67, 1.33),
            "as PFTK, from which it comes",
        )


def exponential_sizes(count: int, mean: int) -> list[int]:
    """Sizes in bytes: the means of ``parts`` equal parts of an exponential distribution."""
    edges = [-math.log(1 - place / count) for place in range(count)]
    tails = [(1 - place / count) * (edge + 1) for place, edge in enumerate(edges)] + [0.0]
    return [round(mean * count * (tails[place] - tails[place + 1])) for place in range(count)]


def poisson(name: str, per_second: float, payload: int) -> Table:
    """A Poisson stream: bursts of a single packet, exponential gaps."""
    return {
        "name": name,
        "from": "a",
        "to": "b",
        "transport": {"name": "udp", "header": "0 B", "max-payload": f"{payload} B"},
        "traffic": {
            "kind": "burst",
            "rate": "1000 Gb/s",
            "payload": f"{payload} B",
            "on": {"distribution": "constant", "mean": "1 ns"},
            "off": {"distribution": "exponential", "mean": f"{1e9 / per_second:.0f} ns"},
            "first": "silence",
        },
    }


def waiting(flows: list[Table], runs: int = 6) -> float:
    """Mean number of packets that wait before 8 Mb/s, averaged over runs of 300 s."""
    link = {
        "from": "a",
        "to": "b",
        "rate": "8 Mb/s",
        "delay": "1 ms",
        "queue": {"discipline": "drop-tail", "capacity": {"packets": 1_000_000}},
    }
    in_step = {"clock-skew": "0 ppm", "send-jitter": "0 s"}  # nothing but what the formula knows
    data = {
        "name": "queue", "duration": "300 s", "warmup": "10 s", "hosts": in_step, "link": [link], "flow": flows,
    }  # fmt: skip
    rows = fairwave.load(json.dumps(data)).replicate(runs).links.to_pylist()
    values = [row["mean_queue_packets"] for row in rows if row["link"] == "a>b"]
    return math.fsum(values) / len(values)


def tcp_rate(transport: Table, loss: float, runs: int = 6) -> float:
    """Mean goodput in b/s of one flow with random loss on a path of 100 ms without a queue."""
    link = {
        "from": "a",
        "to": "b",
        "rate": "1 Gb/s",
        "delay": "50 ms",
        "queue": {"discipline": "drop-tail", "capacity": {"packets": 100_000}},
        "loss": {"model": "bernoulli", "rate": loss},
        "reverse": {"loss": {"model": "none"}},
    }
    flow = {
        "name": "tcp",
        "from": "a",
        "to": "b",
        "transport": {"receiver-window": 10_000, "initial-threshold": 20} | transport,
        "traffic": "bulk",
    }
    data = {
        "name": "lossy path",
        "preset": "ns2",
        "duration": "320 s",
        "warmup": "20 s",
        "link": [link],
        "flow": [flow],
    }
    rows = fairwave.load(json.dumps(data)).replicate(runs).flows.to_pylist()
    return math.fsum(row["goodput_bps"] for row in rows) / len(rows)


def lines() -> Iterator[str]:
    """The report's section, measured now."""
    yield "## A second opinion"
    yield ""
    yield (
        "Closed forms beside the simulator (`fairwave.theory`, `tests/test_theory_simulation.py`). A ratio outside its"
        " bound fails `make test`."
    )
    yield ""
    yield "| formula | what | formula says | fairwave | ratio | bound | why this bound |"
    yield "|---|---|---|---|---|---|---|"
    for one in opinions():
        value = one.measured()
        ratio, (low, high) = value / one.expected, one.bound
        mark = "✓" if low <= ratio <= high else "✗"
        yield (
            f"| {one.formula} | {one.about} | {_shown(one.expected, one.unit)} | {_shown(value, one.unit)} |"
            f" {ratio:.3f} {mark} | {low:g} to {high:g} | {one.why} |"
        )


def _shown(value: float, unit: str) -> str:
    return f"{value / 1e6:.4g} Mb/s" if unit == "b/s" else f"{value:.4g}"
