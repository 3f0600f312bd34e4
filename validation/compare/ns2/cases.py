"""The experiments that both simulators run, each a fairwave scenario with the preset ``ns2``.

The network is the same as in the references: s – r1 – r2 – d, with a pair of hosts for each flow. Access links of 10
ms on each side and a bottleneck of 30 ms make a base round trip of 100 ms. Buffers hold one bandwidth-delay product in
1000-byte packets. Access links are as fast as the bottleneck, with queues so long that they lose nothing. Flows start
at random within the first second. Flows that start together with the same round trip stay in step, and a single run is
then not representative.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Table = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One experiment. ``key`` names it in reports and explanations; ``about`` describes it.

    ``seeds`` is the number of independent runs; ``quick`` marks the cases of ``make validate-quick``; ``trace`` is the
    flow with a drawn window, from both simulators, over the first ``trace_until`` seconds. ``reference`` is a file of
    ``references/`` and the name of an independent result in it.
    """

    key: str
    title: str
    family: str
    scenario: Table
    seeds: int = 5
    quick: bool = False
    trace: bool = False
    trace_until: float = 30.0
    bottleneck: str = "r1>r2"
    skip: tuple[str, ...] = field(default=())
    reference: tuple[str, str] | None = None


#: The TCPs that are compared: name in reports, transport in the scenario.
TCPS: dict[str, Any] = {
    "reno": {"name": "tcp/reno"},
    "newreno": {"name": "tcp/newreno"},
    "sack": {"name": "tcp/sack"},
    "vegas": {"name": "tcp/vegas"},
    "aimd-0.31-0.875": {"name": "tcp/aimd", "alpha": 0.31, "beta": 0.875},
    "aimd-0.583-0.75": {"name": "tcp/aimd", "alpha": 0.583, "beta": 0.75},
    "aimd-1.25-0.25": {"name": "tcp/aimd", "alpha": 1.25, "beta": 0.25},
}

#: Their names on the page.
NAMES = {"reno": "Reno", "newreno": "NewReno", "sack": "SACK", "vegas": "Vegas"} | {
    key: f"TCP({transport['alpha']:g}, {transport['beta']:g})"
    for key, transport in TCPS.items()
    if "alpha" in transport
}


def drop_tail(packets: int) -> Table:
    """A drop-tail queue with this limit of waiting packets."""
    return {"discipline": "drop-tail", "capacity": {"packets": packets}}


def dumbbell(
    name: str,
    flows: list[Table],
    *,
    megabits: int = 10,
    duration: int = 60,
    warmup: int = 15,
    queue: Table | None = None,
    access: Table | None = None,
    record: Table | None = None,
) -> Table:
    """The references' network. The bottleneck's buffer is one bandwidth-delay product unless given."""
    rate = f"{megabits} Mb/s"
    product = megabits * 100 * 1000 // 8000
    buffer = queue or drop_tail(product - 1)
    host = {"rate": rate, "delay": "10 ms", "queue": drop_tail(max(1000, product))} | (access or {})
    return {
        "name": name,
        "preset": "ns2",
        "duration": f"{duration} s",
        "warmup": f"{warmup} s",
        "topology": {
            "preset": "dumbbell",
            "bottleneck": {
                "rate": rate,
                "delay": "30 ms",
                "queue": buffer,
                "reverse": {"queue": drop_tail(product - 1)},
            },
            "access": host,
        },
        "flow": flows,
        "record": record or {},
    }


def bulk(transport: str | Table, count: int, **more: object) -> Table:
    """A number of file transfers."""
    start = {"from": "0 s", "to": "1 s"}
    return {"name": "tcp", "count": count, "transport": transport, "traffic": "bulk", "start": start} | more


def cbr(count: int, rate: str = "400 kb/s") -> Table:
    """A number of constant streams of 1000-byte packets over UDP."""
    return {
        "name": "cbr",
        "count": count,
        "transport": "udp",
        "traffic": {"kind": "cbr", "rate": rate, "payload": "1000 B"},
        "start": {"from": "0 s", "to": "1 s"},
    }


def talkers(count: int, distribution: str) -> Table:
    """A number of speakers: 160 bytes every 20 ms while they talk, 1.00 s on and 1.35 s off in the mean."""
    shape = {"shape": 1.5} if distribution == "pareto" else {}
    return {
        "name": "voice",
        "count": count,
        "transport": "udp",
        "class": "voice",
        "traffic": {
            "kind": "burst",
            "rate": "64 kb/s",
            "payload": "160 B",
            "on": {"distribution": distribution, "mean": "1 s"} | shape,
            "off": {"distribution": distribution, "mean": "1.35 s"} | shape,
            "first": "silence",
        },
        "start": {"from": "0 s", "to": "1 s"},
    }


def cases() -> list[Case]:
    """Every case, in the order of the report."""
    return [
        *_windows(),
        *_static(),
        *_phases(),
        *_errors(),
        *_queues(),
        *_small_reds(),
        *_tfrc(),
        *_voice(),
        *_round_trips(),
        *_parking_lots(),
    ]


#: Whose single flow leaves it to a tie whether a packet is dropped.
TIED = "aimd-0.31-0.875"


def _windows() -> Iterator[Case]:
    record = {"window-interval": "10 ms", "windows": ["tcp[0]"]}
    for key in ("reno", "newreno", "sack", "vegas", "aimd-0.31-0.875"):
        flow = bulk(TCPS[key], 1, start="0 s")
        # Links to the bottleneck are faster, and the receiver's window is larger than path and buffer together,
        # so that the saw-tooth is cut by losses.
        scenario = dumbbell(
            f"one {key} flow",
            [flow],
            megabits=2,
            record=record,
            duration=120,
            warmup=20,
            access={"rate": "20 Mb/s"},
        )
        yield Case(
            f"window/{key}",
            f"One {NAMES[key]} flow on 2 Mb/s",
            "One window",
            scenario,
            quick=True,
            trace=True,
        )

        if key == TIED:
            # A microsecond is a four thousandth of a packet's time: enough to keep ties from happening, and no more.
            held = scenario | {"flow": [bulk(TCPS[key] | {"send-jitter": "1 us"}, 1, start="0 s")]}
            title = f"One {NAMES[key]} flow on 2 Mb/s, segments held back at random for up to 1 us"
            yield Case(f"window/{key}/held-back", title, "One window", held, seeds=10)


def jittered(transport: Table, megabits: int) -> Table:
    """The transport, with each segment held back at random for up to its own time on the bottleneck.

    ns-2's ``overhead_``: without it, flows of equal round trip meet at the bottleneck at the same instants again and
    again, and the comparison is about ties (Floyd & Jacobson 1992).
    """
    return transport | {"send-jitter": f"{1040 * 8 / megabits:.0f} us"}


def _static() -> Iterator[Case]:
    for key, transport in TCPS.items():
        for count in (10, 50):
            flows = [bulk(jittered(transport, 10), count)]
            scenario = dumbbell(f"{count} {key} flows at 10 Mb/s", flows)
            title = f"{count} {NAMES[key]} flows, 10 Mb/s"
            yield Case(f"static/10/{key}/{count}", title, "Static FTP", scenario, quick=count == 10)
    for key, transport in TCPS.items():
        flows = [bulk(jittered(transport, 100), 50)]
        scenario = dumbbell(f"50 {key} flows at 100 Mb/s", flows, megabits=100, duration=30, warmup=10)
        yield Case(
            f"static/100/{key}/50", f"50 {NAMES[key]} flows, 100 Mb/s", "Static FTP", scenario, seeds=3
        )


def _phases() -> Iterator[Case]:
    for key in ("reno", "sack"):
        for count in (10, 50):
            scenario = dumbbell(f"{count} {key} flows at 10 Mb/s, in step", [bulk(TCPS[key], count)])
            title = f"{count} {NAMES[key]} flows, 10 Mb/s, no random delay of sending"
            yield Case(f"phase/{key}/{count}", title, "In step", scenario)
    flows = [talkers(40, "exponential"), bulk(TCPS["reno"], 5)]
    title = "40 talkers and 5 Reno FTP, 2 Mb/s, no random delay of sending"
    yield Case("phase/voice", title, "In step", dumbbell("voice and FTP, in step", flows, megabits=2))


def _errors() -> Iterator[Case]:
    for rate in (0.01, 0.05):
        for key in ("reno", "newreno", "sack", "vegas"):
            access = {"loss": {"model": "bernoulli", "rate": rate}}
            scenario = dumbbell(f"10 {key} flows, {rate:.0%} lost", [bulk(TCPS[key], 10)])
            scenario["topology"]["sink-access"] = scenario["topology"]["access"] | access
            title = f"10 {NAMES[key]} flows, {rate:.0%} lost on each sink's link, both directions"
            yield Case(
                f"errors/{rate}/{key}",
                title,
                "Bernoulli errors",
                scenario,
                seeds=10,
                quick=rate == 0.01 and key == "reno",
            )


#: The disciplines that ns-2 has too, with ns-2's parameters.
QUEUES: dict[str, Table] = {
    "drop-tail": drop_tail(124),
    "red-bytes": {"discipline": "red", "preset": "ns2", "capacity": {"bytes": 62500}},
    "red-packets": {
        "discipline": "red",
        "preset": "ns2",
        "mode": "packets",
        "capacity": {"packets": 125},
        "min-threshold": 25,
        "max-threshold": 75,
        "weight": 0.002,
        "max-p": 0.1,
        "mean-packet": "1000 B",
        "wait": True,
    },
    "rem": {"discipline": "rem", "capacity": {"packets": 125}},
    "avq": {"discipline": "avq", "preset": "ns2", "capacity": {"bytes": 125000}},
}

#: Names of these queues in the references.
REFERENCES = {
    "drop-tail": "DropTail",
    "red-bytes": "RED ns-2 defaults (byte mode, auto thresholds)",
    "red-packets": "RED packet mode 25/75, w=0.002, max_p=0.1, gentle",
    "rem": "REM ns-2 defaults",
    "avq": "Vq (AVQ) ns-2 defaults",
}


def _queues() -> Iterator[Case]:
    for key, queue in QUEUES.items():
        mixed = dumbbell(f"20 Reno and 5 CBR through {key}", [bulk(TCPS["reno"], 20), cbr(5)], queue=queue)
        yield Case(
            f"queues/{key}/tcp+udp",
            f"20 Reno and 5 CBR flows, {key}",
            "Queues",
            mixed,
            quick=key == "red-packets",
            reference=("queues.json", REFERENCES[key]),
        )
        alone = dumbbell(f"30 CBR through {key}", [cbr(30)], queue=queue, duration=30, warmup=10)
        yield Case(
            f"queues/{key}/udp", f"30 CBR flows (12 Mb/s into 10), {key}", "Queues", alone, skip=("jain/cbr",)
        )


#: REDs before a slow link with buffers as small as paper 004's, by ns-2's two switches for bytes.
SMALL_REDS: dict[str, tuple[str, Table]] = {
    "bytes": ("by bytes", {}),
    "bytes-given": ("by bytes, thresholds given", {"min-threshold": 4, "max-threshold": 12, "weight": 0.02}),
    "queue-in-bytes": ("queue by bytes, drops by packets", {"drop-by-size": False}),
    "drop-by-size": ("queue by packets, drops by size", {"mode": "packets", "drop-by-size": True}),
}


def _small_reds() -> Iterator[Case]:
    """Constant streams of packets of two sizes, a little and a fifth more than 1 Mb/s carries."""
    for key, (words, keys) in SMALL_REDS.items():
        capacity = {"packets": 20} if keys.get("mode") == "packets" else {"bytes": 10000}
        queue = {"discipline": "red", "preset": "ns2", "capacity": capacity} | keys
        for percent in (105, 120):
            rate = f"{percent} kb/s"
            flows = [cbr(5, rate) | {"name": name, "traffic": _stream(rate, size)} for name, size in _SIZES]
            scenario = dumbbell(
                f"CBR through a small RED {key}, {percent} %",
                flows,
                megabits=1,
                duration=200,
                warmup=20,
                queue=queue,
            )
            yield Case(
                f"queues/small-red/{key}/{percent}",
                f"10 CBR flows, {percent} % of 1 Mb/s, small RED {words}",
                "Queues",
                scenario,
                quick=key == "bytes" and percent == 120,
                skip=("jain/small", "jain/large"),
            )


#: Groups of streams, and the bytes of their packets.
_SIZES = (("small", 200), ("large", 1000))


def _stream(rate: str, payload: int) -> Table:
    """A constant stream, spread a little, lest phases decide (Floyd & Jacobson 1992)."""
    return {"kind": "cbr", "rate": rate, "payload": f"{payload} B", "jitter": 1.0}


def _tfrc() -> Iterator[Case]:
    def streams(count: int) -> Table:
        return bulk("tfrc", count) | {"name": "tfrc"}

    record = {"bin": "150 ms", "goodput": ["*"]}
    fast = {"rate": "100 Mb/s"}
    alone = dumbbell("one TFRC flow", [streams(1)], duration=120, warmup=20, record=record, access=fast)
    one = ("tfrc.json", "1 TFRC, access 100 Mb/s")
    yield Case("tfrc/1", "1 TFRC flow, access 100 Mb/s", "TFRC", alone, reference=one)
    ten = dumbbell("ten TFRC flows", [streams(10)], duration=120, warmup=20, record=record)
    yield Case("tfrc/10", "10 TFRC flows", "TFRC", ten, reference=("tfrc.json", "10 TFRC"))
    both = [streams(5), bulk(TCPS["sack"], 5)]
    for key, name in (("drop-tail", ""), ("red-packets", ", RED packet mode 25/75")):
        scenario = dumbbell(
            f"TFRC and SACK, {key}", both, duration=120, warmup=20, record=record, queue=QUEUES[key]
        )
        title = f"5 TFRC against 5 SACK flows, {key}"
        reference = ("tfrc.json", f"5 TFRC vs 5 Sack1{name}")
        yield Case(f"tfrc/5+5/{key}", title, "TFRC", scenario, reference=reference)
        if key == "drop-tail":
            held = [streams(5), bulk(jittered(TCPS["sack"], 10), 5)]
            scenario = dumbbell("TFRC and SACK held back", held, duration=120, warmup=20, record=record)
            yield Case(
                "tfrc/5+5/held-back", f"{title}, SACK's segments held back at random", "TFRC", scenario
            )


def _voice() -> Iterator[Case]:
    for distribution in ("exponential", "pareto"):
        flows = [talkers(40, distribution), bulk(jittered(TCPS["reno"], 2), 5)]
        scenario = dumbbell(f"voice ({distribution}) and FTP", flows, megabits=2)
        title = f"40 talkers ({distribution} on/off) over UDP and 5 Reno FTP, 2 Mb/s"
        yield Case(
            f"voice/{distribution}", title, "Voice", scenario, quick=distribution == "exponential", seeds=10
        )


def _round_trips() -> Iterator[Case]:
    spread = {"delay": {"from": "5 ms", "to": "95 ms", "spread": "even"}}
    for key in ("drop-tail", "red-packets"):
        scenario = dumbbell(
            f"round trips from 90 to 270 ms, {key}", [bulk(TCPS["reno"], 10)], queue=QUEUES[key]
        )
        scenario["topology"]["source-access"] = scenario["topology"]["access"] | spread
        title = f"10 Reno flows, round trips spread from 90 to 270 ms, {key}"
        yield Case(f"rtt/{key}", title, "Spread of round trips", scenario, seeds=10)


#: Parking lots: difference of each bottleneck to the previous one in bits per second, and its name in titles.
STEPS = {
    "equal": (0, "of one rate"),
    "slower": (-10, "each a millionth slower"),
    "faster": (10, "each a millionth faster"),
}


def _parking_lots() -> Iterator[Case]:
    for key, (step, words) in STEPS.items():
        title = f"3 bottlenecks in a row, {words}: 4 SACK flows across all, 4 across each"
        yield Case(
            f"parking-lot/{key}",
            title,
            "Parking lot",
            parking_lot(title, step),
            seeds=120,
            bottleneck="r2>r3",
            # Fairwave counts a flow's losses on all links, ns-2's monitor those at one.
            skip=("loss_rate/long",),
        )


def parking_lot(name: str, step: int) -> Table:
    """Three bottlenecks in a row, each ``step`` b/s faster than the last; 4 flows cross all, 4 more each alone.

    Round trips differ by group, and segments are held back at random for up to a packet's time.
    """
    links: list[Table] = [
        {
            "from": f"r{hop}", "to": f"r{hop + 1}", "rate": f"{10_000_000 + step * (hop - 1)} b/s", "delay": "10 ms",
            "queue": drop_tail(50), "reverse": {"rate": "10 Mb/s"},
        }
        for hop in (1, 2, 3)
    ]  # fmt: skip
    flows = []
    ends = [("long", "r1", "r4", 3, 4)]
    ends += [(f"cross-{hop}", f"r{hop}", f"r{hop + 1}", 2 + 3 * hop, 6 + hop) for hop in (1, 2, 3)]
    for group, first, last, near, far in ends:
        wide = {"rate": "100 Mb/s", "queue": drop_tail(1000)}
        links.append({"from": f"{group}-s", "to": first, "delay": f"{near} ms"} | wide)
        links.append({"from": last, "to": f"{group}-d", "delay": f"{far} ms"} | wide)
        flow = bulk(jittered(TCPS["sack"], 10), 4, name=group)
        flows.append(flow | {"from": f"{group}-s", "to": f"{group}-d"})
    return {
        "name": name,
        "preset": "ns2",
        "duration": "60 s",
        "warmup": "15 s",
        "link": links,
        "flow": flows,
    }
