"""The scenarios of paper 004: S1 (CA1–CA4), S2 (CA5–CA8), S3 (CA9, CA10), and the additional cases of Figure 7.

Each case divides one offered total among voice, other UDP and TCP. The queues are RED, AVQ and REM, each with the
compared victim rules. A reading (`readings.toml`) closes the paper's gaps; this module looks up its values by name.
RED's thresholds come from the one calibration (`CALIBRATED`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from fairwave.runs.axes import Axes, Label
from fairwave.runs.grid import Grid
from fairwave_study import texts
from fairwave_study.texts import load_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairwave.scenario import Scenario
    from fairwave_study.folder import Case
    from fairwave_study.readings import Reading

BASE: Reading = {one.id: one.values[0].name for one in texts.factors(__file__, {})}
"""The base reading."""

ALWAYS_ON, ON_OFF, ROUTERS, PUNSI = "s1", "s2", "s3", "punsi"

TAIL, FRONT, RANDOM, DROP_SEL, GUARD = "Drop-Tail", "Drop-Front", "Drop-Random", "Drop-Sel", "Voice-Guard"
VICTIMS: Mapping[str, str] = {
    TAIL: "tail",
    FRONT: "front",
    RANDOM: "random",
    DROP_SEL: "drop-sel",
    GUARD: "voice-guard",
}
"""Victim rules by the paper's names; Voice-Guard is from fairwave."""

PAPERS_VICTIMS = (TAIL, FRONT, DROP_SEL)
"""Those that the paper measures."""

QUEUES = ("RED", "AVQ", "REM")

Shares = tuple[int, int, int]
CASES: Mapping[str, Shares] = {
    "CA1": (25, 50, 25),
    "CA2": (50, 25, 25),
    "CA3": (25, 25, 50),
    "CA4": (12, 12, 76),
    "CA5": (47, 36, 17),
    "CA6": (54, 19, 27),
    "CA7": (13, 52, 35),
    "CA8": (29, 6, 65),
    "CA9": (12, 39, 49),
    "CA10": (12, 21, 67),
}
"""Voice, other UDP and TCP in percent of the offered load: Tables 2 to 4."""

S1_CASES, S2_CASES, S3_CASES = ("CA1", "CA2", "CA3", "CA4"), ("CA5", "CA6", "CA7", "CA8"), ("CA9", "CA10")
SPOKEN_CASE = "CA7"
VOICE_DOMINATES = ("CA5", "CA6")
VOICE_IS_MODEST = ("CA7", "CA8", "CA9", "CA10")

MOSTLY_UDP = "66 % unresponsive"
UNRESPONSIVE: Mapping[str, Shares] = {"half each": (33, 33, 34), "as in CA2": (44, 22, 34)}
"""Figure 7b: 'unresponsive UDP sources generate the overall 66 % of workload'; the paper does not divide it between
voice and other UDP."""

RATE_BPS = 3_500_000
"""The dumbbell's bottleneck, and L1."""
SECOND_RATE_BPS = 4_500_000
"""L2."""
MEAN_PACKET = 500
"""Packet size in bytes by which RED counts (ns-2)."""

CALIBRATED: Mapping[tuple[str, str, str, str], float] = {
    ("1993", "bytes", "a third", "1.24 of the link"): 78.7,
    ("1993", "bytes", "a third", "1.5 of the link"): 73.3,
    ("1993", "bytes", "a half", "1.24 of the link"): 77.7,
    ("1993", "bytes", "a half", "1.5 of the link"): 73.3,
    ("1993", "queue in bytes", "a third", "1.24 of the link"): 74.4,
    ("1993", "queue in bytes", "a third", "1.5 of the link"): 73.0,
    ("1993", "queue in bytes", "a half", "1.24 of the link"): 74.3,
    ("1993", "queue in bytes", "a half", "1.5 of the link"): 73.0,
    ("1993", "packets", "a third", "1.24 of the link"): 68.7,
    ("1993", "packets", "a third", "1.5 of the link"): 72.4,
    ("1993", "packets", "a half", "1.24 of the link"): 68.7,
    ("1993", "packets", "a half", "1.5 of the link"): 72.3,
    ("ns-2.35", "bytes", "a third", "1.24 of the link"): 96.1,
    ("ns-2.35", "bytes", "a third", "1.5 of the link"): 78.5,
    ("ns-2.35", "bytes", "a half", "1.24 of the link"): 88.7,
    ("ns-2.35", "bytes", "a half", "1.5 of the link"): 74.2,
    ("ns-2.35", "queue in bytes", "a third", "1.24 of the link"): 68.0,
    ("ns-2.35", "queue in bytes", "a third", "1.5 of the link"): 59.2,
    ("ns-2.35", "queue in bytes", "a half", "1.24 of the link"): 68.5,
    ("ns-2.35", "queue in bytes", "a half", "1.5 of the link"): 60.0,
    ("ns-2.35", "packets", "a third", "1.24 of the link"): 63.8,
    ("ns-2.35", "packets", "a third", "1.5 of the link"): 60.3,
    ("ns-2.35", "packets", "a half", "1.24 of the link"): 63.9,
    ("ns-2.35", "packets", "a half", "1.5 of the link"): 58.4,
    ("ns-2 of 2004", "bytes", "a third", "1.24 of the link"): 96.2,
    ("ns-2 of 2004", "bytes", "a third", "1.5 of the link"): 74.8,
    ("ns-2 of 2004", "bytes", "a half", "1.24 of the link"): 88.9,
    ("ns-2 of 2004", "bytes", "a half", "1.5 of the link"): 73.9,
    ("ns-2 of 2004", "queue in bytes", "a third", "1.24 of the link"): 68.5,
    ("ns-2 of 2004", "queue in bytes", "a third", "1.5 of the link"): 59.6,
    ("ns-2 of 2004", "queue in bytes", "a half", "1.24 of the link"): 68.4,
    ("ns-2 of 2004", "queue in bytes", "a half", "1.5 of the link"): 59.3,
    ("ns-2 of 2004", "packets", "a third", "1.24 of the link"): 64.1,
    ("ns-2 of 2004", "packets", "a third", "1.5 of the link"): 59.1,
    ("ns-2 of 2004", "packets", "a half", "1.24 of the link"): 63.5,
    ("ns-2 of 2004", "packets", "a half", "1.5 of the link"): 60.2,
}
"""RED's max-threshold at 3.5 Mb/s, by law, unit, rule of thresholds and load of S1 (`readings`), in packets (of 500
bytes where bytes count): calibrated on CA1 with Drop-Tail by `calibration`, other factors being the base reading's."""

ROUTER_RATES_BPS: Mapping[str, int] = {"r2>r3": RATE_BPS, "r5>r6": SECOND_RATE_BPS}
"""L1 and L2."""
ROUTER_LINKS = ("s{i}>r{i}", "r0>r2", "r1>r2", "r2>r3", "r3>r5", "r4>r5", "r5>r6", "r6>nf{i+1}")
"""The links of S3 that delay."""
BOTTLENECK = "r1>r2"

THRESHOLDS = [f"{ms} ms" for ms in (*range(40, 100, 4), *range(100, 200, 10), *range(200, 401, 20))]
"""Delays at which the CDF of Figure 8 is taken; 300 ms is among them."""


@dataclass(frozen=True)
class Extent:
    """How much is simulated.

    Attributes:
        duration: Length of each run in seconds; the paper's is 500.
        always_on: Length of the runs of S1 and Figure 7, which do not change with time; `duration` when None.
        random: Whether Drop-Random is simulated too, which the paper names and does not measure.
        spoken: Whether CA7's calls are recorded, so that they can be listened to.
        beyond: Whether to simulate the cases beyond the paper's figures.
    """

    duration: float = 500
    always_on: float | None = None
    random: bool = True
    spoken: bool = True
    beyond: bool = True

    @property
    def pace(self) -> float:
        """Factor for the sources' periods, so that a run has all phases of the paper's 500 s; at most 1."""
        return min(self.duration / PAPERS_SECONDS, 1.0)


PAPERS_SECONDS = 500
PAPER = Extent()
"""The paper's lengths."""
ESSENTIAL = Extent(duration=90, always_on=60, random=False, spoken=False, beyond=False)
"""Enough for the claims: S1 for a minute, S2 and S3 for 90 s with sources that take turns 5.6 times as fast."""


read = partial(load_scenario, __file__)
"""Loads a scenario in the folder of this module."""


def seconds(span: float) -> str:
    """A time as scenarios write it."""
    return f"{span:g} s"


def kilobits(bps: float) -> str:
    """A rate as scenarios write it."""
    return f"{bps / 1e3:.3f} kb/s"


def calls_bps(reading: Reading) -> float:
    """What CA7's ten calls offer while on, in bits per second on the wire."""
    more = UDP_HEADER if reading["headers"] == "payload" else 0
    count = {"a": 2, "b": 6, "c": 2}
    return sum(8 * (size + more) / (ms / 1e3) * count[name] for name, (size, ms) in APPLICATIONS.items())


APPLICATIONS: Mapping[str, tuple[int, int]] = {"a": (92, 10), "b": (252, 30), "c": (492, 60)}
"""Table 1: bytes, and milliseconds from packet to packet."""
UDP_HEADER = 28
"""Bytes of UDP and IP."""

TRANSFERS_BPS: Mapping[str, int] = {"262 kb/s": 262_000, "131 kb/s": 131_000, "524 kb/s": 524_000}
"""Nominal rate of a transfer while it is on, by reading."""


def on_parts(reading: Reading) -> tuple[float, float, float]:
    """Which part of a run of S2 or S3 calls, other UDP and transfers are on.

    With constant periods from the beginning of 500 s calls are on twice 180 s, other UDP 300 s.
    """
    constant = reading["periods"] == "constant"
    return (360 / 500 if constant else 180 / 280, 300 / 500, 2 / 3)


def loads(case: str | Shares, reading: Reading) -> dict[str, Any]:
    """A case's workload: offered rates while on, and their shares, by the reading of loads."""
    parts = CASES[case] if isinstance(case, str) else case
    mean = False
    if case in S2_CASES:
        which = reading["load-s2"]
        mean = which != "ten calls, while on"
        ten = calls_bps(reading) / (CASES[SPOKEN_CASE][0] / 100)
        total = {
            "ten calls, mean": ten * on_parts(reading)[0],
            "ten calls, while on": ten,
            "1.18 of the link, mean": FROM_LOSSES * RATE_BPS,
            "1.1 of the link, mean": FROM_NEED * RATE_BPS,
            "1.24 of the link, mean": EXCESS * RATE_BPS,
        }[which]
    elif case in S3_CASES:
        which = reading["load-s3"]
        mean = which.endswith("mean")
        total = {
            "1.24 of L1, mean": 2 * EXCESS * RATE_BPS,
            "1.24 of L2, mean": EXCESS * SECOND_RATE_BPS,
            "1.24 of L1, while on": 2 * EXCESS * RATE_BPS,
            "1.5 of L2, while on": 1.5 * SECOND_RATE_BPS,
        }[which]
    else:
        total = {"1.24 of the link": EXCESS, "1.5 of the link": 1.5}[reading["load-s1"]] * RATE_BPS
    duty = on_parts(reading) if mean else (1.0, 1.0, 1.0)
    offered = [share / 100 * total / on for share, on in zip(parts, duty, strict=True)]
    whole = sum(offered)
    shares = dict(zip(("voice", "other-udp", "tcp"), (100 * one / whole for one in offered), strict=True))
    return {
        "load.total": kilobits(whole),
        "load.shares": shares,
        "load.transfer": kilobits(TRANSFERS_BPS[reading["transfer"]]),
        **mixed(case, reading),
    }


def mixed(case: str | Shares, reading: Reading) -> dict[str, Any]:
    """Number of concurrent calls of each application in a case; CA7's are printed."""
    if reading["mix"] != "equal numbers" or case == SPOKEN_CASE:
        return {}
    groups = {"a": 2, "b": 2, "c": 2} if case in S3_CASES else {"a": 2, "b-near": 1, "b-far": 1, "c": 2}
    return {f"flow.{name}.count": count for name, count in groups.items()}


EXCESS = 31 / 25
"""The load over the link: other UDP has 31 % of the link in CA2, its share of the load is 25 % (§4.2)."""
FROM_LOSSES = 39 / (54 * (1 - 0.3894))
"""CA6 with AVQ and Drop-Sel: voice's share of the throughput (§4.2) and of the load (Table 3), and its dropped part
(Table 6)."""
FROM_NEED = 21 / 19
"""The same for other UDP, which gets what it needs there (§4.2, Table 3)."""

BUFFERS_S: Mapping[str, float] = {"300 ms": 0.3, "150 ms": 0.15, "600 ms": 0.6}
"""Size of a buffer, in seconds of its link."""
AVQ_BUFFERS_S: Mapping[str, float | None] = {
    "30 ms": 0.03,
    "114 ms": 50_000 * 8 / RATE_BPS,
    "the routers'": None,
}
"""What AVQ's queues hold."""
LEAST: Mapping[str, float] = {"a third": 1 / 3, "a half": 1 / 2}
"""Min-threshold over max-threshold."""

LAWS: Mapping[str, Mapping[str, Any]] = {
    "1993": {"gentle": False, "wait": False, "max-p": 0.02, "weight": 0.002},
    "ns-2.35": {"gentle": True, "wait": True, "max-p": 0.1},
    "ns-2 of 2004": {"gentle": True, "wait": True, "max-p": 0.1, "weight": 0.002},
}
"""RED's parameters by reading; ns-2.35 computes missing ones from the rate."""
UNITS: Mapping[str, Mapping[str, Any]] = {
    "bytes": {"mode": "bytes"},
    "queue in bytes": {"mode": "bytes", "drop-by-size": False},
    "packets": {"mode": "packets"},
}
"""What RED counts."""
EARLY_VICTIMS: Mapping[str, Mapping[str, Any]] = {
    "every drop": {},
    "forced drops": {"early-victim": "arrival"},
}
"""Which packet goes where chance drops one."""
AVQ_LAWS: Mapping[str, Mapping[str, Any]] = {
    "ns-2's, arrival forgotten": {"preset": "ns2", "on-victim": "forget"},
    "ns-2's, exchanged": {"preset": "ns2"},
    "authors', exchanged": {"preset": "authors"},
}
REM_UNITS: Mapping[str, Mapping[str, Any]] = {
    "bytes of 500": {"mode": "bytes", "mean-packet": "500 B"},
    "bytes of 1000": {"mode": "bytes", "mean-packet": "1000 B"},
    "packets of 1000": {"mode": "packets", "mean-packet": "1000 B"},
}


REM_STEP = 0.001
"""REM's γ, its authors' and ns-2's."""


def calibrated(reading: Reading) -> float:
    """RED's max-threshold at 3.5 Mb/s for a reading."""
    return CALIBRATED[reading["red"], reading["red-unit"], reading["thresholds"], reading["load-s1"]]


def thresholds(reading: Reading, rate_bps: int = RATE_BPS, most: float | None = None) -> dict[str, Any]:
    """RED's thresholds: calibrated, and proportional to the rate so that they mean the same waiting time.

    Args:
        reading: The reading.
        rate_bps: Of the link.
        most: Max-threshold at 3.5 Mb/s instead of the calibrated one.
    """
    room = BUFFERS_S[reading["buffer"]] * rate_bps / 8 / MEAN_PACKET
    high = min((calibrated(reading) if most is None else most) * rate_bps / RATE_BPS, room)
    return {"min-threshold": high * LEAST[reading["thresholds"]], "max-threshold": high}


def capacity(seconds_: float, rate_bps: int, unit: str = "bytes") -> dict[str, Any]:
    """A buffer of this many seconds of its link, in bytes or in packets of the mean size."""
    held = rate_bps * seconds_ / 8
    return {"capacity": {"bytes": round(held)} if unit == "bytes" else {"packets": round(held / MEAN_PACKET)}}


def queue(
    name: str,
    victim: str,
    rate_bps: int = RATE_BPS,
    reading: Reading = BASE,
    most: float | None = None,
    pace: float = 1.0,
) -> dict[str, Any]:
    """A queue of `name` with a victim rule before a link of this rate.

    If sources take turns faster than the paper's, by `pace`, REM's price moves faster by the same factor. The price
    adds up the excess over minutes, so it would otherwise reach another value within a turn.
    """
    buffer = capacity(BUFFERS_S[reading["buffer"]], rate_bps, reading["buffer-unit"])
    found = {"victim": VICTIMS[victim], **buffer}
    if name == "RED":
        law = {"discipline": "red", "preset": "ns2", "mean-packet": f"{MEAN_PACKET} B"}
        found |= {
            **law,
            **thresholds(reading, rate_bps, most),
            **LAWS[reading["red"]],
            **UNITS[reading["red-unit"]],
            **EARLY_VICTIMS[reading["victim-drops"]],
        }
    elif name == "AVQ":
        held = AVQ_BUFFERS_S[reading["avq-buffer"]]
        room = capacity(BUFFERS_S[reading["buffer"]] if held is None else held, rate_bps)
        found |= {"discipline": "avq", **AVQ_LAWS[reading["avq-law"]], **room}
    elif name == "REM":
        found |= {"discipline": "rem", **REM_UNITS[reading["rem"]], "gamma": REM_STEP / pace}
    elif name == "FRED":
        del found["victim"]
        found |= {"discipline": "fred", "mean-packet": f"{MEAN_PACKET} B"}
    elif name in GREENS:
        found |= {"discipline": "green", "estimate": GREENS[name]}
    return found


GREENS: Mapping[str, str] = {"GREEN": "arrived", "GREEN, admitted": "admitted"}
"""Which rate GREEN estimates."""

PUNSI_SCHEME, OTHER_PUNSI = "PUNSI", "PUNSI, other fellow"
"""Whom PUNSI takes for a fellow of an arriving UDP packet: the reading's, and the other (same flow or same class)."""


def punsi(fellow: str, reading: Reading = BASE) -> dict[str, Any]:
    """PUNSI with RED's thresholds; it chooses its victims itself."""
    law = LAWS[reading["red"]]
    return {
        "discipline": "punsi",
        **capacity(BUFFERS_S[reading["buffer"]], RATE_BPS, reading["buffer-unit"]),
        **thresholds(reading),
        "max-p": law["max-p"],
        "mode": UNITS[reading["red-unit"]]["mode"],
        "match": fellow,
        "mean-packet": f"{MEAN_PACKET} B",
    }


def dumbbell(extent: Extent = PAPER, reading: Reading = BASE, **overrides: Any) -> Scenario:
    """S1 in its length, with some paths set."""
    length = extent.duration if extent.always_on is None else extent.always_on
    changed = {"duration": seconds(length), **sources(reading, VOICE), **beginnings(reading), **overrides}
    return read("dumbbell").with_overrides(changed)


def beginnings(reading: Reading) -> dict[str, Any]:
    """How the sources of S1 begin."""
    if reading["phases"] != "all at 0 s":
        return {}
    calls = {f"flow.{group}.traffic.phase": "zero" for group in VOICE}
    return {**calls, "flow.other.start": "0 s"}


TCP: Mapping[str, Mapping[str, Any]] = {
    "Reno, 0.2 s": {"name": "tcp/reno"},
    "Tahoe, 0.2 s": {"name": "tcp/tahoe"},
    "SACK, 0.2 s": {"name": "tcp/sack"},
    "NewReno, 0.2 s": {"name": "tcp/newreno"},
    "Reno, 1 s": {"name": "tcp/reno", "min-rto": "1 s"},
}
"""By flavour and shortest timeout."""
CLOCKS: Mapping[str, Mapping[str, Any]] = {name: {"tick": name} for name in ("10 ms", "100 ms", "500 ms")}
SINKS: Mapping[str, Mapping[str, Any]] = {"each": {"delayed-ack": False}, "delayed": {"delayed-ack": True}}
WINDOWS: Mapping[str, Mapping[str, Any]] = {
    "20": {"receiver-window": 20},
    "64": {"receiver-window": 64},
    "none": {"receiver-window": 10_000},
}
"""In segments; ten thousand are 34 s of the bottleneck."""
SEGMENTS: Mapping[str, str] = {"all": "1460 B", "as ns-2 counts": "1500 B", "payload": "1500 B"}
"""Payload of a transfer's segment; 40 bytes of headers are added."""


def sources(reading: Reading, groups: tuple[str, ...]) -> dict[str, Any]:
    """Transports and packet sizes."""
    payload = reading["headers"] == "payload"
    transport = {
        **TCP[reading["tcp"]],
        **CLOCKS[reading["clock"]],
        **SINKS[reading["acknowledgements"]],
        **WINDOWS[reading["window"]],
        "segment": SEGMENTS[reading["headers"]],
    }
    found: dict[str, Any] = {"flow.ftp.transport": transport}
    if reading["send-jitter"] != "none":
        found["hosts"] = {"send-jitter": reading["send-jitter"]}
    if payload:
        for group in groups:
            found[f"flow.{group}.transport"] = {"name": "udp", "header": f"{12 + UDP_HEADER} B"}
        udp = {"name": "udp", "header": f"{UDP_HEADER} B", "max-payload": "1500 B"}
        found["flow.other.transport"] = udp
    return found


VOICE = ("a", "b-near", "b-far", "c")
"""Groups of voice flows in S1 and S2; in S3 they are `a`, `b` and `c`."""

ACCESS_MS: Mapping[str, int] = {"a": 15, "b-near": 92, "c": 168, "b-far": 245}
"""Delay from source to router in S2: with the other 24 ms, 39 to 269 ms end to end, in even steps."""

_PACKETS_MS: Mapping[str, int] = {"a": 10, "b": 30, "b-near": 30, "b-far": 30, "c": 60}


def _alternate(reading: Reading, on: float, off: float, pace: float) -> tuple[dict[str, Any], dict[str, Any]]:
    law = reading["periods"]
    first, second = ({"distribution": law, "mean": seconds(length * pace)} for length in (on, off))
    return first, second


def talking(groups: tuple[str, ...], reading: Reading = BASE, pace: float = 1.0) -> dict[str, Any]:
    """Calls and other UDP that are on and off by turns (S2 and S3).

    Args:
        groups: The groups of calls.
        reading: The reading.
        pace: Factor for the periods, 1 or less.
    """
    start = {"from": "0 s", "to": seconds(15 * pace)}
    changes: dict[str, Any] = {}
    talk, silence = _alternate(reading, 180, 100, pace)
    for group in groups:
        changes[f"flow.{group}.traffic"] = {
            "kind": "voice",
            "packet-time": f"{_PACKETS_MS[group]} ms",
            "talk": talk,
            "silence": silence,
            "first": "talk",
        }
        changes[f"flow.{group}.start"] = start
    on, off = _alternate(reading, 300, 200, pace)
    changes["flow.other.traffic"] = {
        "kind": "burst",
        "rate": "64 kb/s",
        "payload": "1500 B",
        "on": on,
        "off": off,
        "first": "talk",
    }
    changes["flow.other.start"] = changes["flow.ftp.start"] = start
    return changes


def on_off(reading: Reading = BASE, pace: float = 1.0) -> dict[str, Any]:
    """The changes from S1 to S2: sources that take turns, and delays of 39 to 269 ms."""
    changes = talking(VOICE, reading, pace)
    for group in VOICE:
        changes[f"flow.{group}.source-access"] = {"delay": f"{ACCESS_MS[group]} ms"}
    changes["flow.ftp.traffic"] = {
        "kind": "bulk-on-off",
        "on": {"distribution": "pareto", "mean": "2 s", "shape": 1.4},
        "off": {"distribution": "exponential", "mean": "1 s"},
    }
    if reading["tcp-delays"] == "39 to 269 ms":
        changes["flow.ftp.source-access"] = {
            "delay": {
                "from": f"{min(ACCESS_MS.values())} ms",
                "to": f"{max(ACCESS_MS.values())} ms",
                "spread": "even",
            }
        }
    return changes


def grids(case: Case) -> list[Grid]:
    """Everything that figures, tables and claims read."""
    extent, reading = case.extent, case.reading
    rules = compared(extent)
    guarded = (*rules, GUARD) if extent.beyond else rules
    nothing: dict[str, Any] = {}
    cdf = {f"flow.{group}.timely": THRESHOLDS for group in VOICE}
    everything = replace(extent, always_on=None)

    def cases(names: tuple[str, ...]) -> dict[Label, dict[str, Any]]:
        return {name: loads(name, reading) for name in names}

    def place(labels: dict[str, Label]) -> tuple[str, str]:
        return str(labels["queue"]), str(labels["victim"])

    def pace(labels: dict[str, Label]) -> float:
        return extent.pace if labels["case"] in S2_CASES else 1.0

    def set_queue(labels: dict[str, Label]) -> dict[str, Any]:
        return {BEFORE_BOTTLENECK: queue(*place(labels), reading=reading, pace=pace(labels))}

    def two_queues(labels: dict[str, Label]) -> dict[str, Any]:
        return {
            f"link.{link}.queue": queue(*place(labels), rate, reading, pace=extent.pace)
            for link, rate in ROUTER_RATES_BPS.items()
        }

    def recorded(labels: dict[str, Label]) -> dict[str, Any]:
        """Records the fate of each packet, so that CA7's calls can be heard under the paper's victims."""
        heard = extent.spoken and labels["case"] == SPOKEN_CASE and labels["victim"] in PAPERS_VICTIMS
        return {**set_queue(labels), **({"record.units": list(VOICE)} if heard else {})}

    def is_wanted(labels: dict[str, Label]) -> bool:
        """Voice-Guard where voice dominates; Drop-Random, which the paper does not measure, under RED."""
        if labels["victim"] == RANDOM:
            return labels["queue"] == "RED"
        return labels["victim"] != GUARD or labels["case"] in VOICE_DOMINATES

    def scheme(labels: dict[str, Label]) -> dict[str, Any]:
        name, victim = BEYOND_SCHEMES[str(labels["scheme"])]
        return {BEFORE_BOTTLENECK: queue(name, victim, reading=reading, pace=pace(labels))}

    def victims(names: tuple[str, ...], place: Any) -> Axes:
        return {"victim": dict.fromkeys(names, place)}

    by_queue: dict[Label, dict[str, Any]] = dict.fromkeys(QUEUES, nothing)
    workloads = {
        "CA2": loads("CA2", reading),
        MOSTLY_UDP: loads(UNRESPONSIVE[reading["unresponsive"]], reading),
    }
    fellow = reading["punsi"]
    schemes = {
        f"RED, {TAIL}": {BEFORE_BOTTLENECK: queue("RED", TAIL, reading=reading)},
        f"RED, {DROP_SEL}": {BEFORE_BOTTLENECK: queue("RED", DROP_SEL, reading=reading)},
        PUNSI_SCHEME: {BEFORE_BOTTLENECK: punsi(fellow, reading)},
    }
    if extent.beyond:
        other = "flow" if fellow == "class" else "class"
        schemes[OTHER_PUNSI] = {BEFORE_BOTTLENECK: punsi(other, reading)}
    routers = {"duration": seconds(extent.duration), **talking(("a", "b", "c"), reading, extent.pace)}
    routers |= sources(reading, ("a", "b", "c"))
    if reading["hops"] != "10 ms":
        routers |= {f"link.{name}.delay": reading["hops"] for name in ROUTER_LINKS}
    turns = on_off(reading, extent.pace)
    found = [
        Grid(
            ALWAYS_ON,
            dumbbell(extent, reading, **cdf),
            {"case": cases(S1_CASES), "queue": {"RED": nothing}, **victims(rules, set_queue)},
        ),
        Grid(
            ON_OFF,
            dumbbell(everything, reading, **turns),
            {"case": cases(S2_CASES), "queue": by_queue, **victims(guarded, recorded)},
            is_wanted,
        ),
        Grid(
            ROUTERS,
            read("routers").with_overrides(routers),
            {"case": cases(S3_CASES), "queue": by_queue, **victims(rules, two_queues)},
            is_wanted,
        ),
        Grid(PUNSI, dumbbell(extent, reading), {"case": workloads, "scheme": schemes}),
    ]
    if extent.beyond:
        mixed = {
            name: {**(turns if name in S2_CASES else {}), **loads(name, reading)} for name in BEYOND_CASES
        }
        found.append(
            Grid(
                BEYOND,
                dumbbell(everything, reading),
                {"case": mixed, "scheme": dict.fromkeys(BEYOND_SCHEMES, scheme)},
            )
        )
    return found


BEFORE_BOTTLENECK = "topology.bottleneck.queue"

BEYOND = "beyond"
BEYOND_CASES = ("CA1", "CA5", "CA7")
BEYOND_SCHEMES: Mapping[str, tuple[str, str]] = {
    "RED, Drop-Tail": ("RED", TAIL),
    "RED, Drop-Sel": ("RED", DROP_SEL),
    "AVQ, Drop-Sel": ("AVQ", DROP_SEL),
    "REM, Drop-Sel": ("REM", DROP_SEL),
    "FRED": ("FRED", TAIL),
    "GREEN, Drop-Tail": ("GREEN", TAIL),
    "GREEN, Drop-Sel": ("GREEN", DROP_SEL),
    "GREEN admitted, Drop-Tail": ("GREEN, admitted", TAIL),
    "GREEN admitted, Drop-Sel": ("GREEN, admitted", DROP_SEL),
}
"""Queues of the paper's related work (§2) next to the paper's: queue and victim; FRED chooses the victim itself."""


def compared(extent: Extent = PAPER) -> tuple[str, ...]:
    """The victim rules that are compared everywhere."""
    return (TAIL, FRONT, RANDOM, DROP_SEL) if extent.random else PAPERS_VICTIMS
