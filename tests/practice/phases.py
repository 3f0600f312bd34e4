"""Sources with different phases, although a scenario starts them at the same time."""

from __future__ import annotations

from collections.abc import Iterator

from practice.situation import Situation, between, cbr, exactly, flow, link, ran


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield Situation(
        "phase/streams", "2000 streams of 100 kb/s on 250 Mb/s, 50 packets of buffer: lost", "%",
        *exactly(0), "N·D/D/1 at load 0.8, phases at random: e^(−2·50·(50/2000 + 0.2)) of the packets find 50, none in 10⁹",
        lambda: 100 * ran(link("250 Mb/s", "10 ms", 50), cbr("streams", "100 kb/s", count=2000), 4, warmup="1 s").share("dropped", "packets_sent"),
    )  # fmt: skip
    yield Situation(
        "phase/videos", "Ten default videos on 15 Mb/s, 100 packets of buffer: lost", "%",
        *between(0, 0, 0.5), "experience: at load 0.72, large frames of ten sources that are out of step seldom meet",
        lambda: 100 * ran(link("15 Mb/s", "10 ms", 100), flow("videos", "udp", "video", count=10), 60, warmup="5 s", seeds=4).share("dropped", "packets_sent"),
    )  # fmt: skip
