"""The simulator against closed forms: queues within a few per cent, TCP within what its formulas promise."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

import fairwave
from fairwave import theory


def poisson(name: str, per_second: float, payload: int) -> dict[str, Any]:
    """A Poisson stream: bursts of a single packet, exponential gaps."""
    return {
        "name": name,
        "from": "a",
        "to": "b",
        "transport": {"name": "udp", "header": "0 B"},
        "traffic": {
            "kind": "burst",
            "rate": "1000 Gb/s",
            "payload": f"{payload} B",
            "on": {"distribution": "constant", "mean": "1 ns"},
            "off": {"distribution": "exponential", "mean": f"{1e9 / per_second:.0f} ns"},
            "first": "silence",
        },
    }


def waiting(flows: list[dict[str, Any]], runs: int = 6) -> float:
    """Mean number of packets that wait before 8 Mb/s, averaged over runs of 300 s."""
    link = {
        "from": "a",
        "to": "b",
        "rate": "8 Mb/s",
        "delay": "1 ms",
        "queue": {"discipline": "drop-tail", "capacity": {"packets": 1_000_000}},
    }
    data = {"name": "queue", "duration": "300 s", "warmup": "10 s", "link": [link], "flow": flows}
    results = fairwave.load(json.dumps(data)).replicate(runs)
    rows = results.links.to_pylist()
    values = [row["mean_queue_steady_packets"] for row in rows if row["link"] == "a>b"]
    return math.fsum(values) / len(values)


@pytest.mark.parametrize("load", [0.5, 0.8])
def test_packets_of_one_size_wait_as_in_md1(load: float) -> None:
    assert waiting([poisson("all", 1000 * load, 1000)]) == pytest.approx(theory.md1_waiting(load), rel=0.05)


def test_packets_of_exponential_sizes_wait_as_in_mm1() -> None:
    # Twenty streams whose sizes are the means of the twentieths of an exponential distribution.
    edges = [-math.log(1 - place / 20) for place in range(20)]
    tails = [(1 - place / 20) * (edge + 1) for place, edge in enumerate(edges)] + [0.0]
    # A mean of 350 B keeps the largest in one datagram.
    sizes = [round(350 * 20 * (tails[place] - tails[place + 1])) for place in range(20)]
    mean = sum(sizes) / 20
    variation = math.sqrt(sum((size - mean) ** 2 for size in sizes) / 20) / mean
    load = 0.7
    rate = load * 1e6 / mean / 20
    measured = waiting([poisson(f"size{place}", rate, size) for place, size in enumerate(sizes)])
    assert measured == pytest.approx(theory.mg1_waiting(load, variation), rel=0.05)
    assert measured == pytest.approx(theory.mm1_waiting(load), rel=0.10)


def tcp_rate(transport: dict[str, Any], loss: float, runs: int = 6) -> float:
    """Mean goodput of one flow whose data meets random loss on a path of 100 ms that never queues, b/s."""
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
    return math.fsum(row["goodput_steady_bps"] for row in rows) / len(rows)


@pytest.mark.parametrize("loss", [0.001, 0.003])
def test_a_flow_that_repairs_losses_without_timeouts_has_mathiss_rate(loss: float) -> None:
    # Mathis assumes evenly spaced losses; with independent ones the constant is √2 … √(8/3) by model, not √(3/2).
    ratio = tcp_rate({"name": "tcp/sack"}, loss) / theory.mathis(1000, 0.1, loss)
    assert 0.9 < ratio < 1.25


@pytest.mark.parametrize("loss", [0.005, 0.02, 0.05])
def test_reno_has_pftks_rate_within_a_third(loss: float) -> None:
    # PFTK assumes that the rest of a round is lost with its first loss; here losses are independent.
    ratio = tcp_rate({"name": "tcp/reno"}, loss) / (theory.pftk(1000, 0.1, 0.2, loss) * (1 - loss))
    assert 0.67 < ratio < 1.33


@pytest.mark.parametrize(("alpha", "kept"), [(0.31, 0.875), (0.583, 0.75), (1.25, 0.25)])
def test_friendly_pairs_have_the_rate_of_their_formula_within_a_third(alpha: float, kept: float) -> None:
    loss = 0.005
    transport = {"name": "tcp/aimd", "alpha": alpha, "beta": kept}
    expected = theory.aimd(1000, 0.1, 0.2, loss, alpha=alpha, kept=kept)
    assert 0.67 < tcp_rate(transport, loss) / expected < 1.33
