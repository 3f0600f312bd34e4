"""Measures: one window, and nothing that exceeds its link."""

from __future__ import annotations

from collections.abc import Iterator

from practice.situation import (
    IN_STEP,
    Outcome,
    Situation,
    about,
    apart,
    between,
    cbr,
    exactly,
    flow,
    link,
    near,
    poisson,
    ran,
)


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield Situation(
        "measure/after-stop", "20 Mb/s from 0 to 5 s into 10 Mb/s with room for all of it, seen for 20 s: goodput of the link", "%",
        *between(100, 98, 100.2), "a flow's goodput while it is on cannot exceed its link",
        lambda: _stopped("0 s"),
    )  # fmt: skip
    yield Situation(
        "measure/after-stop-warm-up", "The same with a warm-up of 4.9 s", "%",
        *between(100, 98, 100.2 + 100 * 8000 / 1e6), "the same; and a packet's rounding over 0.1 s",
        lambda: _stopped("4.9 s"),
    )  # fmt: skip
    yield Situation(
        "measure/ended", "How many goodputs has a flow that ended before the warm-up did?", "",
        *exactly(0), "what was not on in the window cannot be measured in it",
        lambda: float(sum(one == one for one in _ended().values("flows", "goodput_bps", group="early"))),
    )  # fmt: skip
    yield Situation(
        "measure/ended-other", "The same: the other flow's goodput", "Mb/s",
        *about(1, 0.005), "its rate", lambda: _ended().mean("flows", "goodput_bps", group="late") / 1e6,
    )  # fmt: skip
    yield Situation(
        "measure/nothing-exceeds", "Largest goodput of any flow over its link, and use of any link: TCP, UDP and video come and go", "",
        *between(0.97, 0.7, 1), "nothing exceeds its link", _largest,
    )  # fmt: skip
    yield Situation(
        "measure/together", "The same: all flows' payload over what the link could carry", "",
        *between(0.95, 0.7, 1), "nothing exceeds its link", _together,
    )  # fmt: skip
    yield Situation(
        "measure/jain", "Streams of 1 and 3 Mb/s over 10: Jain's index of their group's goodputs", "",
        *about(0.8, 0.005), "(Σx)²/(n Σx²) = 16/20", _jain,
    )  # fmt: skip
    yield Situation(
        "measure/use", "Streams of 1 and 3 Mb/s over 10: use of the link", "%",
        *about(40, 0.005), "4 of 10 Mb/s",
        lambda: 100 * _two().mean("links", "utilisation", link="a>b"),
    )  # fmt: skip
    yield Situation(
        "measure/edges", "A link that never rests, 2.4 packets in the window: its use", "%",
        *between(100, 99.9, 100), "of a packet that straddles an edge of the window the whole bytes count that are transmitted within it",
        lambda: 100 * ran(
            link("1 Mb/s", "5 ms", 20), cbr("stream", "2 Mb/s"), 1.0192, hosts=IN_STEP, warmup="1 s"
        ).mean("links", "utilisation", link="a>b"),
    )  # fmt: skip
    yield Situation(
        "measure/duration", "A Poisson queue at load 0.7 for 100 and 200 s: mean wait over mean wait", "",
        *about(1, 0.1), "stationary: what is measured does not depend on how long one looks; ± 4 σ", _longer,
    )  # fmt: skip
    yield Situation(
        "measure/warm-up-goodput", "A stream of 1 Mb/s, the link dead until 9 s, warm-up 10 s: goodput", "Mb/s",
        *about(1, 0.005), "every measure is of what follows the warm-up",
        lambda: _revived().mean("flows", "goodput_bps") / 1e6,
    )  # fmt: skip
    yield Situation(
        "measure/warm-up-loss", "The same: packets lost", "packets",
        *exactly(0), "the same", lambda: _revived().total("flows", "lost"),
    )  # fmt: skip
    for column, words, unit, scale, expected in (
        ("delay_mean_s", "mean delay", "ms", 1e3, 20.8), ("delay_max_s", "largest delay", "ms", 1e3, 20.8),
        ("jitter_s", "jitter", "ms", 1e3, 0.0), ("dropped", "packets dropped", "packets", 1, 0.0),
    ):  # fmt: skip
        yield Situation(
            f"measure/warm-up-{column.removesuffix('_s').replace('_', '-')}", f"A stream of 1 Mb/s beside a flood that ends at 4 s, warm-up 10 s: its {words}", unit,
            *exactly(expected), "every measure is of what follows the warm-up: 20 ms and a transmission of 0.8 ms",
            lambda column=column, scale=scale: scale * _relieved().mean("flows", column, group="stream"),  # type: ignore[misc]
        )  # fmt: skip
    yield Situation(
        "measure/warm-up-wait", "The same: mean wait before the link", "ms",
        *exactly(0), "the same", lambda: 1e3 * _relieved().mean("links", "mean_wait_s", link="a>b"),
    )  # fmt: skip
    yield Situation(
        "measure/skew", "Streams of ordinary hosts, 100 of 1 Mb/s nominal: mean rate", "Mb/s",
        *near(1, 0.0005), "crystals are within 50 ppm, and as often fast as slow",
        lambda: ran(*apart(link("1 Gb/s", "5 ms"), cbr("streams", "1 Mb/s", count=100)), 20, warmup="1 s").mean(
            "flows", "goodput_bps"
        ) / 1e6,
    )  # fmt: skip


def _stopped(warmup: str) -> float:
    wire = link("10 Mb/s", "20 ms", 100_000)
    outcome = ran(wire, cbr("stream", "20 Mb/s", stop="5 s"), 20, hosts=IN_STEP, warmup=warmup)
    return outcome.mean("flows", "goodput_bps") / 1e5


def _ended() -> Outcome:
    early, late = cbr("early", "1 Mb/s", stop="2 s"), cbr("late", "1 Mb/s")
    return ran(link("10 Mb/s", "20 ms"), [early, late], 10, hosts=IN_STEP, warmup="3 s")


def _mixed() -> Outcome:
    flows = [
        flow("files", "tcp/sack", "bulk", count=3, start={"from": "0 s", "to": "3 s"}),
        flow("guest", "tcp/reno", "bulk", start="6 s", stop="9 s"),
        cbr("flood", "15 Mb/s", start="10 s", stop="12 s"),
        flow("film", "udp", "video", start="2 s"),
        flow("calls", "udp", "voice", count=5),
    ]
    return ran(link("10 Mb/s", "15 ms", 200), flows, 20, warmup="4 s", seeds=3)


def _largest() -> float:
    outcome = _mixed()
    flows = [goodput / 10e6 for goodput in outcome.values("flows", "goodput_bps")]
    return max(*flows, *outcome.values("links", "utilisation"))


def _together() -> float:
    outcome = _mixed()
    payload = [sum(outcome.values("flows", "payload_received", run=run)) for run in range(3)]
    return max(payload) * 8 / (10e6 * 16)


def _two() -> Outcome:
    return ran(
        link("10 Mb/s", "5 ms"),
        [cbr("one", "1 Mb/s"), cbr("three", "3 Mb/s")],
        20,
        hosts=IN_STEP,
        warmup="1 s",
    )


def _jain() -> float:
    """One group with two senders, limited by their access links to 1 and 3 Mb/s."""
    access = [
        link(rate, "1 ms", 20) | {"from": f"s{place}", "to": "a"}
        for place, rate in enumerate(("1 Mb/s", "3 Mb/s"))
    ]
    streams = cbr("streams", "4 Mb/s", count=2) | {"from": "s{i}"}
    outcome = ran([*access, link("10 Mb/s", "5 ms")], streams, 20, hosts=IN_STEP, warmup="1 s")
    return outcome.mean("groups", "jain")


def _longer() -> float:
    short, long = (
        ran(link("8 Mb/s", "1 ms", 100_000), poisson("stream", 700), seconds, warmup="5 s").mean("flows", "delay_mean_s") - 0.002
        for seconds in (100, 200)
    )  # fmt: skip
    return short / long


def _relieved() -> Outcome:
    wire = link("10 Mb/s", "20 ms", 50)
    flows = [cbr("stream", "1 Mb/s"), cbr("flood", "20 Mb/s", stop="4 s")]
    return ran(wire, flows, 20, hosts=IN_STEP, warmup="10 s")


def _revived() -> Outcome:
    dead = {"model": "blackout", "from": "0 s", "to": "9 s"}
    return ran(link("10 Mb/s", "20 ms", loss=dead), cbr("stream", "1 Mb/s"), 20, hosts=IN_STEP, warmup="10 s")
