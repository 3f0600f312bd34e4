"""Defaults: a current TCP, a current page, the list of `check`, and doubt."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import fairwave
from fairwave.defaults import used_defaults
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


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _windows()
    yield from _sizes()
    yield from _times()
    yield from _pages()
    yield from _listed()
    yield from _doubted()


def _took(size: int, preset: str | None) -> float:
    """Completion time of a file over a bare CUBIC and a round trip of 100 ms, in milliseconds."""
    file = flow("file", "tcp/cubic", {"kind": "transfer", "size": f"{size} B"})
    wire = link("10 Gb/s", "50 ms", 2000)
    return 1e3 * ran(wire, file, 10, preset=preset, hosts=IN_STEP).mean("completions", "mean_s")


def _windows() -> Iterator[Situation]:
    for preset, first, segment, source in (
        (None, 10, 1448, "RFC 6928, Linux"),
        ("linux", 10, 1448, "RFC 6928, Linux"),
        ("rfc", 4, 1000, "RFC 5681 §3.1"),
    ):
        shown = "a bare tcp/cubic" if preset is None else f"tcp/cubic with the preset {preset}"
        name = preset or "bare"
        yield Situation(
            f"default/{name}-window",
            f"A file of {first} segments of {segment} B over {shown}, round trip 100 ms",
            "ms",
            *near(150, 1),
            f"{source}: a handshake, one window of {first}, one way",
            partial(_took, first * segment, preset),
        )
        yield Situation(
            f"default/{name}-window-and-one", f"The same with one byte more, over {shown}", "ms",
            *between(250, 249, 351), f"{source}: another round; a delayed acknowledgement at most",
            partial(_took, first * segment + 1, preset),
        )  # fmt: skip


@cache
def _bulk(preset: str | None) -> Outcome:
    wire = link("10 Mb/s", "10 ms", 40)
    return ran(wire, flow("file", "tcp/cubic", "bulk"), 30, preset=preset, warmup="5 s", hosts=IN_STEP)


def _sizes() -> Iterator[Situation]:
    for preset, segment, header, little in ((None, 1448, 52, 52), ("rfc", 1000, 40, 40)):
        shown, name = ("a bare tcp/cubic", "bare") if preset is None else ("tcp/cubic by the RFCs", preset)

        def bytes_per_packet(way: str, preset: str | None = preset) -> float:
            return _bulk(preset).share("wire_departed", "departures", "links", link=way)

        yield Situation(
            f"default/{name}-segment",
            f"Bytes on the wire of a full segment of {shown}",
            "B",
            *exactly(segment + header),
            f"{segment} of payload and {header} of headers",
            partial(bytes_per_packet, "a>b"),
        )
        yield Situation(
            f"default/{name}-acknowledgement",
            f"Bytes on the wire of an acknowledgement of {shown}",
            "B",
            *exactly(little),
            "IPv4 20, TCP 20" + (", timestamps 12" if little == 52 else ""),
            partial(bytes_per_packet, "b>a"),
        )
        yield Situation(
            f"default/{name}-goodput", f"A file over {shown} on 10 Mb/s: goodput", "Mb/s",
            *about(10 * segment / (segment + header), 0.005), "payload over bytes on the wire",
            lambda preset=preset: _bulk(preset).mean("flows", "goodput_bps") / 1e6,
        )  # fmt: skip


def _late(preset: str | None, column: str) -> float:
    """The round trips of a trickle of single segments over 20 ms, in milliseconds."""
    trickle = {"kind": "cbr", "rate": "2560 b/s", "payload": "160 B", "phase": "zero"}
    record = {"round-trips": ["trickle"]}
    outcome = ran(
        link("10 Gb/s", "10 ms"),
        flow("trickle", "tcp/cubic", trickle),
        40,
        preset=preset,
        hosts=IN_STEP,
        record=record,
    )
    return 1e3 * outcome.mean("round_trips", column)


def _timeouts(preset: str | None) -> float:
    """Timeouts while the line is down for 5 s."""
    down = [{"at": "5 s", "link": "a<>b", "state": "down"}]
    wire = link("10 Mb/s", "10 ms", 40)
    return ran(wire, flow("file", "tcp/cubic", "bulk"), 9.9, preset=preset, hosts=IN_STEP, event=down).total(
        "flows", "timeouts"
    )


def _times() -> Iterator[Situation]:
    yield Situation(
        "default/bare-ack-delay",
        "Single segments over a bare tcp/cubic, round trip 20 ms: the longest time to the acknowledgement",
        "ms",
        *near(60, 0.5),
        "20 ms, and 40 ms of delay in Linux (TCP_DELACK_MIN)",
        partial(_late, None, "max_s"),
    )
    yield Situation(
        "default/bare-quick-acks",
        "The same: the shortest, among the first 16 segments",
        "ms",
        *near(20, 0.5),
        "Linux acknowledges the first 16 at once (TCP_MAX_QUICKACKS)",
        partial(_late, None, "min_s"),
    )
    yield Situation(
        "default/rfc-ack-delay",
        "The same with the preset rfc: the longest",
        "ms",
        *near(120, 0.5),
        "20 ms, and 100 ms of fairwave's choice below the 500 ms of RFC 5681 §4.2",
        partial(_late, "rfc", "max_s"),
    )
    yield Situation(
        "default/bare-timeouts",
        "A bare tcp/cubic on a line of some 60 ms that fails: timeouts within 4.9 s",
        "timeouts",
        *between(4, 3, 5),
        "from about 0.25 s, each twice the one before: at 0.25, 0.75, 1.75 and 3.75 s",
        partial(_timeouts, None),
    )
    yield Situation(
        "default/rfc-timeouts", "The same with the preset rfc", "timeouts",
        *between(2, 2, 2), "RFC 6298: at least 1 s, then 2 and 4 s: after 1 and 3 s", partial(_timeouts, "rfc"),
    )  # fmt: skip


def normal(x: float) -> float:
    """The standard normal distribution function."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


def lognormal(median: float, sigma: float, most: float) -> float:
    """The mean of a lognormal distribution with values above `most` drawn again."""
    end = math.log(most / median) / sigma
    return median * math.exp(sigma * sigma / 2) * normal(end - sigma) / normal(end)


def _page(**keys: Any) -> float:
    """Mean bytes of a page, from a user who reads a page per 100 s for 10 000 s."""
    traffic = {"kind": "web", "reading": {"distribution": "constant", "mean": "99.87 s"}} | keys
    browsing = flow("browsing", "tcp/cubic", traffic)
    table = {"name": "page", "duration": "10000 s", "link": [link("1 Gb/s", "1 ms")], "flow": [browsing]}
    planned = fairwave.Scenario.from_dict(table).plan(1)["flows"][0]
    return float(planned["volume_bytes"]) / (1 + 10_000 / 100)


@cache
def _weights(page: str | None) -> list[float]:
    """The weights of pages in the order of size, bytes."""
    traffic: Table = {
        "kind": "web",
        "first": "asks",
        "reading": {"distribution": "constant", "mean": "10 ms"},
    }
    traffic |= {"parsing": {"distribution": "constant", "mean": "1 ms"}} | ({"page": page} if page else {})
    outcome = ran(
        link("10 Gb/s", "10 us", 20_000),
        flow("browsing", "tcp/cubic", traffic, count=2),
        2,
        seeds=3,
        preset=None,
    )
    return sorted(outcome.values("transfers", "size"))


def _pages() -> Iterator[Situation]:
    # The mean of a lognormal number with values above 1000 set to 1000.
    end = math.log(1000 / 76) / 0.73
    number = 76 * math.exp(0.73**2 / 2) * normal(end - 0.73) + 1000 * normal(-end)
    current = lognormal(22_000, 0.8, 2e6) + number * lognormal(5000, 2.0, 1e7)
    yield Situation(
        "default/page",
        'Mean weight of a page of traffic = "web"',
        "MB",
        *about(current / 1e6, 0.01),
        "22 kB of HTML at the median, 76 objects of 5 kB at the median, σ 0.8, 0.73 and 2",
        lambda: _page() / 1e6,
    )
    yield Situation(
        "default/page-median",
        "Median weight of some hundred pages",
        "KiB",
        *about(2412, 0.25),
        "HTTP Archive, desktop, July 2025: 2412 KiB; ± 3 σ of chance",
        lambda: _weights(None)[len(_weights(None)) // 2] / 1024,
    )
    yield Situation(
        "default/page-2004",
        "Mean weight of the page of 3GPP2's model of 2004",
        "kB",
        *about(11.054 + 5.64 * 8.190, 0.01),
        "3GPP2 C.R1002-0: 11.1 kB and 5.64 objects of 8.2 kB",
        lambda: _page(page="3gpp2-2004") / 1e3,
    )
    yield Situation(
        "default/page-own", "Mean weight of a page of 10 kB with 9 objects of 10 kB", "kB",
        *exactly(100), "10 · 10 kB", lambda: _page(main="10 kB", object="10 kB", objects=9) / 1e3,
    )  # fmt: skip


def _scenario(flows: list[Table], **more: Any) -> fairwave.Scenario:
    wire = link("2 Mb/s", "20 ms", 100)
    return fairwave.Scenario.from_dict(
        {"name": "line", "duration": "20 s", "warmup": "5 s", "link": [wire], "flow": flows} | more
    )


def _count(flows: list[Table], name: str = "", **more: Any) -> float:
    """Number of defaults with that name in `check`'s list; of all without a name."""
    return float(sum(name in (one.name, "") for one in used_defaults(_scenario(flows, **more))))


BULK = flow("file", "tcp/cubic", "bulk")
STEADY = flow(
    "call", "udp", {"kind": "voice", "codec": "g711"}, playout={"strategy": "fixed", "delay": "60 ms"}
)


def _listed() -> Iterator[Situation]:
    for asked, flows, name, more, expected, source in (
        ("for a bare tcp/cubic", [BULK], "shortest timeout", {}, 1, "it is left out"),
        (
            "if the flow sets min-rto",
            [flow("file", {"name": "tcp/cubic", "min-rto": "1 s"}, "bulk")],
            "shortest timeout",
            {},
            0,
            "what is set is no default",
        ),
        (
            "if the scenario names the preset rfc",
            [BULK],
            "shortest timeout",
            {"preset": "rfc"},
            0,
            "the preset is set",
        ),
        ("for a call that sets codec and playout", [STEADY], "shortest timeout", {}, 0, "no TCP"),
    ):
        yield Situation(
            f"default/listed-{expected}-{len(asked)}",
            f"`check` lists the shortest timeout {asked}",
            "times",
            *exactly(expected),
            source,
            partial(_count, flows, name, **more),
        )
    yield Situation(
        "default/listed-call",
        "Defaults that `check` lists for a call that sets codec and playout",
        "defaults",
        *exactly(1),
        "the send jitter of hosts is left",
        partial(_count, [STEADY]),
    )
    yield Situation(
        "default/listed-none", "The same with hosts in step", "defaults",
        *exactly(0), "nothing that matters is left out", partial(_count, [STEADY], hosts=IN_STEP),
    )  # fmt: skip


@cache
def _doubt(*names: str, queue: bool) -> fairwave.Doubt:
    flows = {"call": STEADY, "file": BULK}
    wire = link("2 Mb/s", "20 ms", 100)
    if not queue:
        del wire["queue"]["discipline"]
    table = {
        "name": "line",
        "duration": "20 s",
        "warmup": "5 s",
        "link": [wire],
        "flow": [flows[one] for one in names],
    }
    return fairwave.doubt(fairwave.Scenario.from_dict(table), 2)


def _doubted() -> Iterator[Situation]:
    yield Situation(
        "default/doubt-alone",
        "A call alone on 2 Mb/s: defaults that would change its verdict",
        "defaults",
        *exactly(0),
        "80 kb/s of 2 Mb/s: nothing waits, whatever a host's tick is",
        lambda: float(len(_doubt("call", queue=True).changing)),
    )
    yield Situation(
        "default/doubt-queue",
        "A call next to a download into 100 packets, drop-tail by default: queues that would change its verdict",
        "queues",
        *exactly(2),
        "150 kB before 2 Mb/s are 0.6 s; FQ-CoDel and PIE hold some 15 ms",
        lambda: float(
            sum(one.default.name == "queue" for one in _doubt("call", "file", queue=False).changing)
        ),
    )
    yield Situation(
        "default/doubt-queue-set", "The same with discipline = \"drop-tail\"", "queues",
        *exactly(0), "what is set is not doubted",
        lambda: float(sum(one.default.name == "queue" for one in _doubt("call", "file", queue=True).trials)),
    )  # fmt: skip
