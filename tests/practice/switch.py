"""A switch that marks: DCTCP with one threshold, and the benefit of marks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import sqrt

from practice.situation import (
    IN_STEP,
    Outcome,
    Situation,
    Table,
    about,
    between,
    exactly,
    flow,
    link,
    near,
    ran,
)

THRESHOLD = 30
"""K, packets."""

PATH = 100e6 * 4e-3 / 8 / 1040
"""C·RTT: packets of 1040 B on 100 Mb/s and 4 ms."""

DCTCP: Table = {"name": "tcp/dctcp", "delayed-ack": False}


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _dctcp()
    yield from _spared()


def switch(threshold: int) -> Table:
    """RED with equal thresholds on the instantaneous queue, which marks and does not drop."""
    return {
        "discipline": "red", "min-threshold": threshold, "max-threshold": threshold, "weight": 1.0, "mean-packet": "1040 B",
        "ecn": True, "harddrop": False, "capacity": {"packets": 400},
    }  # fmt: skip


def _run_switch(flows: int, transport: Table = DCTCP) -> Outcome:
    wire = link("100 Mb/s", "2 ms", queue=switch(THRESHOLD))
    return ran(wire, flow("files", transport, "bulk", count=flows), 6, hosts=IN_STEP, warmup="2 s")


def _queue(flows: int, column: str) -> float:
    return _run_switch(flows).mean("links", column, link="a>b")


def amplitude(flows: int) -> float:
    """Amplitude of the queue, packets: Alizadeh et al. 2010, Eq. (8)."""
    return sqrt(2 * flows * (PATH + THRESHOLD)) / 2


def marked_part(flows: int) -> float:
    """α, the marked share: α² (1 − α/4) = (2 W + 1)/(W + 1)², W = (C·RTT + K)/N (Alizadeh et al. 2010, Eq. (6))."""
    window = (PATH + THRESHOLD) / flows
    wanted, low, high = (2 * window + 1) / (window + 1) ** 2, 0.0, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if middle**2 * (1 - middle / 4) < wanted else (low, middle)
    return high


def _dctcp() -> Iterator[Situation]:
    place = f"DCTCP over 100 Mb/s and 4 ms, a switch that marks from {THRESHOLD} packets on"
    for flows in (1, 2):
        words = "One flow" if flows == 1 else "Two flows"
        yield Situation(
            f"switch/longest-{flows}", f"{words} of {place}: longest queue", "packets",
            *near(THRESHOLD + flows, 2), "Alizadeh et al. 2010, Eq. (10): K + N", partial(_queue, flows, "max_queue_packets"),
        )  # fmt: skip
        middle = THRESHOLD + flows - amplitude(flows) / 2
        yield Situation(
            f"switch/mean-{flows}", f"{words}: mean queue", "packets",
            *near(middle, 2.5), "Alizadeh et al. 2010, Eq. (8), (10): K + N less half a swing of ½ √(2 N (C·RTT + K))",
            partial(_queue, flows, "mean_queue_packets"),
        )  # fmt: skip
    yield Situation(
        "switch/marked", "One flow: share of packets that are marked", "%",
        *about(100 * marked_part(1), 0.2), "Alizadeh et al. 2010, Eq. (6): α² (1 − α/4) = (2 W + 1)/(W + 1)²",
        lambda: 100 * _run_switch(1).share("marked", "packets_sent"),
    )  # fmt: skip
    yield Situation(
        "switch/use", "One flow: use of the link", "%",
        *exactly(100), "K is more than C·RTT/7 (RFC 8257 §4.1, Alizadeh et al. 2010, Eq. (13)): the queue never runs dry",
        lambda: 100 * _queue(1, "utilisation"),
    )  # fmt: skip
    yield Situation(
        "switch/dropped", "Two flows: packets dropped or sent again", "packets",
        *exactly(0), "RFC 8257 §3.1: it marks", lambda: _run_switch(2).total("flows", "dropped") + _run_switch(2).total("flows", "packets_retransmitted"),
    )  # fmt: skip
    yield Situation(
        "switch/others", "NewReno without marks behind the same switch: longest queue", "packets",
        *between(THRESHOLD, THRESHOLD - 1, THRESHOLD), "what cannot be marked is dropped from the threshold on (RFC 3168 §7)",
        lambda: _run_switch(1, {"name": "tcp/newreno", "delayed-ack": False}).mean("links", "max_queue_packets", link="a>b"),
    )  # fmt: skip


def _codel(ecn: bool) -> Outcome:
    queue = {"discipline": "codel", "ecn": True, "capacity": {"packets": 1000}}
    transport: Table = {"name": "tcp/sack", "ecn": "classic" if ecn else "none", "delayed-ack": False}
    files = flow("files", transport, "bulk", count=4, start={"from": "0 s", "to": "1 s"})
    return ran(link("20 Mb/s", "20 ms", queue=queue), files, 40, warmup="10 s")


def _spared() -> Iterator[Situation]:
    yield Situation(
        "switch/ecn", "Four transfers through CoDel with marks: segments sent again", "segments",
        *exactly(0), "RFC 3168 §5: a mark tells of congestion, and nothing is lost",
        lambda: _codel(True).total("flows", "packets_retransmitted"),
    )  # fmt: skip
    yield Situation(
        "switch/no-ecn", "The same transfers without: segments sent again over segments dropped", "",
        *about(1, 0.03), "RFC 6675: what was dropped is sent again, and little else",
        lambda: _codel(False).share("packets_retransmitted", "dropped"),
    )  # fmt: skip
    yield Situation(
        "switch/ecn-goodput", "Goodput with marks over goodput without", "",
        *between(1, 0.95, 1.1), "RFC 3168 §5, RFC 8311: a mark is answered as a drop is, less what drops cost",
        lambda: _codel(True).mean("groups", "goodput_bps") / _codel(False).mean("groups", "goodput_bps"),
    )  # fmt: skip
