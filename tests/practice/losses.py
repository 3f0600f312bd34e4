"""Lossy links: the number and bursts of losses, without side effects."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import exp, sqrt

from practice.situation import IN_STEP, Outcome, Situation, Table, about, cbr, exactly, link, near, ran

SECONDS = 400
"""Packets 10 ms apart: 40 000 of them."""


def _lossy(loss: Table, seconds: float = SECONDS, **more: object) -> Outcome:
    stream = cbr("stream", "80 kb/s", 100)
    return ran(link("10 Mb/s", "5 ms", loss=loss), stream, seconds, hosts=IN_STEP, **more)


def _lost(loss: Table, seconds: float = SECONDS) -> float:
    return 100 * _lossy(loss, seconds).share("lost", "packets_sent")


def _bursts(loss: Table, seconds: float) -> list[int]:
    outcome = _lossy(loss, seconds, record={"units": ["stream"]})
    text = "".join("1" if row["fate"] == "lost" else "0" for row in outcome.rows("units"))
    return [len(run) for run in text.split("0") if run]


def _mean_burst(loss: Table, seconds: float = SECONDS) -> float:
    bursts = _bursts(loss, seconds)
    return sum(bursts) / len(bursts)


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    for rate in (0.01, 0.1):
        deviation = 100 * sqrt(rate * (1 - rate) / (SECONDS * 100))
        yield Situation(
            f"loss/bernoulli-{rate:g}", f"Random loss of {100 * rate:g} %, 40 000 packets: lost", "%",
            *near(100 * rate, 4 * deviation), "binomial; ± 4 σ",
            partial(_lost, {"model": "bernoulli", "rate": rate}),
        )  # fmt: skip
    yield Situation(
        "loss/bernoulli-burst", "Random loss of 10 %: mean run of losses", "packets",
        *about(1 / 0.9, 0.022), "geometric: 1/(1 − p); ± 4 σ", partial(_mean_burst, {"model": "bernoulli", "rate": 0.1}),
    )  # fmt: skip
    yield Situation(
        "loss/two-links", "Two links that lose 10 % each: lost", "%",
        *near(19, 0.8), "1 − (1 − p)²; ± 4 σ", _twice,
    )  # fmt: skip
    gilbert = {"model": "markov", "good": "900 ms", "bad": "100 ms"}
    # The state at the next packet, 10 ms later, of a chain in continuous time.
    stays = 0.1 + 0.9 * exp(-0.01 * (1 / 0.9 + 1 / 0.1))
    yield Situation(
        "loss/gilbert", "Gilbert: 900 ms good, 100 ms bad, in which all is lost: lost", "%",
        *near(10, 2.5), "bad/(good + bad); 400 cycles: ± 4 σ", partial(_lost, gilbert),
    )  # fmt: skip
    yield Situation(
        "loss/gilbert-burst", "The same: mean run of losses, packets 10 ms apart", "packets",
        *about(1 / (1 - stays), 0.2), "chain at steps of 10 ms: 1/(1 − P(bad after bad)); ± 4 σ",
        partial(_mean_burst, gilbert),
    )  # fmt: skip
    elliott = gilbert | {"good-loss": 0.01, "bad-loss": 0.5}
    yield Situation(
        "loss/elliott", "Gilbert–Elliott: 1 % lost while good, 50 % while bad: lost", "%",
        *near(0.9 * 1 + 0.1 * 50, 1.3), "weighted by the time in each state; ± 4 σ", partial(_lost, elliott),
    )  # fmt: skip
    handoff = {"model": "handoff", "up": "900 ms", "down": "100 ms", "constant": True}
    yield Situation(
        "loss/handoff", "Handoffs: 100 ms interrupted after every 900 ms: lost", "%",
        *near(10, 0.05), "100 of 1000 ms", partial(_lost, handoff),
    )  # fmt: skip
    blackout = {"model": "blackout", "from": "4 s", "to": "6 s"}
    yield Situation(
        "loss/blackout", "A blackout of 2 s in 20 s: lost", "%",
        *near(10, 0.06), "2 of 20 s", partial(_lost, blackout, 20),
    )  # fmt: skip
    yield Situation(
        "loss/blackout-run", "The same: longest run of losses, packets 10 ms apart", "packets",
        *exactly(200), "2 s over 10 ms", lambda: float(max(_bursts(blackout, 20))),
    )  # fmt: skip
    yield Situation(
        "loss/pattern", "Every eighth packet lost, as recorded: lost", "%",
        *near(12.5, 0.01), "1 of 8", partial(_lost, {"model": "pattern", "pattern": "00000001"}, 40),
    )  # fmt: skip
    yield Situation(
        "loss/all", "Everything lost: packets that arrive", "packets",
        *exactly(0), "experience",
        lambda: _lossy({"model": "bernoulli", "rate": 1.0}, 10).total("flows", "units_received"),
    )  # fmt: skip
    yield Situation(
        "loss/in-flight", "A path of 5 s without loss, 20 s long: packets lost", "packets",
        *exactly(0), "what is under way at the end is not lost",
        lambda: ran(
            link("10 Mb/s", "5 s"), cbr("stream", "80 kb/s", 100, timely="8 s"), 20, hosts=IN_STEP
        ).total("flows", "units_lost"),
    )  # fmt: skip


def _twice() -> float:
    loss = {"model": "bernoulli", "rate": 0.1}
    ways = [
        link("10 Mb/s", "5 ms", loss=loss) | {"from": one, "to": two} for one, two in (("a", "m"), ("m", "b"))
    ]
    return 100 * ran(ways, cbr("stream", "80 kb/s", 100), SECONDS, hosts=IN_STEP).share(
        "lost", "packets_sent"
    )
