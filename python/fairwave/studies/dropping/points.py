"""What is simulated: paper 004's scenarios S1 (CA1–CA4), S2 (CA5–CA8) and S3 (CA9, CA10), and what its Figure 7 adds.

Each case is a division of one offered total among voice, other UDP and TCP; queues are RED, AVQ and REM, each with the
victim rules that are compared. RED's thresholds come from the one calibration (`CALIBRATED`).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from fairwave.scenario import load
from fairwave.study.grid import Axes, Grid, Label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairwave.scenario import Scenario

ALWAYS_ON, ON_OFF, ROUTERS, PUNSI = "s1", "s2", "s3", "punsi"

TAIL, FRONT, RANDOM, DROP_SEL, GUARD = "Drop-Tail", "Drop-Front", "Drop-Random", "Drop-Sel", "Voice-Guard"
VICTIMS: Mapping[str, str] = {
    TAIL: "tail",
    FRONT: "front",
    RANDOM: "random",
    DROP_SEL: "drop-sel",
    GUARD: "voice-guard",
}
"""Victim rules by the paper's names; Voice-Guard is fairwave's own."""

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
UNRESPONSIVE: Shares = (33, 33, 34)
"""Figure 7b: 'unresponsive UDP sources generate the overall 66 % of workload'; how voice and other UDP share
it is not said."""

RATE_BPS = 3_500_000
"""The dumbbell's bottleneck, and L1."""
BUFFER_S = 0.3
"""What a buffer holds, in seconds of its link: no voice packet that waits longer is of use."""
MEAN_PACKET = 500
"""Bytes by which RED counts (ns-2)."""

CALIBRATED = 76.0
"""RED's max-threshold at 3.5 Mb/s in packets of 500 bytes: calibrated on CA1 with Drop-Tail; min-threshold is
a third."""

ROUTER_RATES_BPS: Mapping[str, int] = {"r2>r3": 3_500_000, "r5>r6": 4_500_000}
"""L1 and L2."""
BOTTLENECK = "r1>r2"

THRESHOLDS = [f"{ms} ms" for ms in (*range(40, 100, 4), *range(100, 200, 10), *range(200, 401, 20))]
"""Delays at which the CDF of Figure 8 is taken; 300 ms is among them."""


@dataclass(frozen=True)
class Extent:
    """How much is simulated.

    Attributes:
        duration: Length of each run; the paper's is 500 s.
        random: Whether Drop-Random is simulated too, which the paper names and does not measure.
        spoken: Whether CA7's calls are recorded, so that they can be listened to.
    """

    duration: str = "500 s"
    random: bool = True
    spoken: bool = True


PAPER = Extent()
"""The paper's lengths."""


def read(name: str) -> Scenario:
    """A scenario that lies beside this module."""
    return load(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


def shares(case: str | Shares) -> dict[str, Any]:
    """A case's workload."""
    voice, other, tcp = CASES[case] if isinstance(case, str) else case
    return {"load.shares": {"voice": voice, "other-udp": other, "tcp": tcp}}


def queue(
    name: str, victim: str, rate_bps: int = RATE_BPS, calibrated: float | None = None, **more: Any
) -> dict[str, Any]:
    """A queue of `name` with a victim rule before a link of this rate.

    RED is ns-2's (bytes, gentle) between the calibrated thresholds, which grow with the rate so that they stand for the
    same wait. AVQ and REM take their authors' parameters, and all three count bytes.
    """
    most = (CALIBRATED if calibrated is None else calibrated) * rate_bps / RATE_BPS
    found: dict[str, Any] = {"capacity": {"bytes": round(rate_bps * BUFFER_S / 8)}, "victim": VICTIMS[victim]}
    if name == "RED":
        found |= {
            "discipline": "red",
            "preset": "ns2",
            "min-threshold": most / 3,
            "max-threshold": most,
            "mean-packet": f"{MEAN_PACKET} B",
        }
    elif name == "AVQ":
        found |= {"discipline": "avq", "preset": "ns2"}
    elif name == "REM":
        found |= {"discipline": "rem", "mode": "bytes"}
    return {**found, **{key.replace("_", "-"): value for key, value in more.items()}}


BY_FLOW, BY_CLASS = "PUNSI, by flow", "PUNSI, by class"
"""Whom PUNSI takes for a fellow of an arriving UDP packet: what CHOKe does, from which it comes, or any UDP packet."""


def punsi(fellow: str) -> dict[str, Any]:
    """PUNSI with RED's thresholds; it chooses its victims itself."""
    return {
        "discipline": "punsi",
        "capacity": {"bytes": round(RATE_BPS * BUFFER_S / 8)},
        "min-threshold": CALIBRATED / 3,
        "max-threshold": CALIBRATED,
        "mode": "bytes",
        "match": fellow,
        "mean-packet": f"{MEAN_PACKET} B",
    }


def dumbbell(extent: Extent = PAPER, **overrides: Any) -> Scenario:
    """S1 in its length, with some paths set."""
    return read("dumbbell.toml").with_overrides({"duration": extent.duration, **overrides})


VOICE = ("a", "b-near", "b-far", "c")
"""Groups of voice flows in S1 and S2; in S3 they are `a`, `b` and `c`."""

ACCESS_MS: Mapping[str, int] = {"a": 15, "b-near": 92, "c": 168, "b-far": 245}
"""Delay from source to router in S2: with the other 24 ms, 39 to 269 ms end to end, in even steps."""

_PACKETS_MS: Mapping[str, int] = {"a": 10, "b-near": 30, "b-far": 30, "c": 60}
STARTS = {"from": "0 s", "to": "15 s"}


def turns(
    group: str, talk: str = "180 s", silence: str = "100 s", distribution: str = "constant"
) -> dict[str, Any]:
    """A voice application that talks and is silent by turns."""
    return {
        "kind": "voice",
        "packet-time": f"{_PACKETS_MS[group]} ms",
        "talk": {"distribution": distribution, "mean": talk},
        "silence": {"distribution": distribution, "mean": silence},
        "first": "talk",
    }


def on_off() -> dict[str, Any]:
    """What makes S2 of S1: sources by turns, and delays of 39 to 269 ms."""
    changes: dict[str, Any] = {}
    for group in VOICE:
        changes[f"flow.{group}.traffic"] = turns(group)
        changes[f"flow.{group}.start"] = STARTS
        changes[f"flow.{group}.source-access"] = {"delay": f"{ACCESS_MS[group]} ms"}
    changes["flow.other.traffic"] = {
        "kind": "burst",
        "rate": "64 kb/s",
        "payload": "1500 B",
        "on": {"distribution": "constant", "mean": "300 s"},
        "off": {"distribution": "constant", "mean": "200 s"},
        "first": "talk",
    }
    changes["flow.other.start"] = STARTS
    changes["flow.ftp.traffic"] = {
        "kind": "bulk-on-off",
        "on": {"distribution": "pareto", "mean": "2 s", "shape": 1.4},
        "off": {"distribution": "exponential", "mean": "1 s"},
    }
    changes["flow.ftp.start"] = STARTS
    changes["flow.ftp.source-access"] = {
        "delay": {
            "from": f"{min(ACCESS_MS.values())} ms",
            "to": f"{max(ACCESS_MS.values())} ms",
            "spread": "even",
        }
    }
    return changes


def _cases(names: tuple[str, ...]) -> dict[Label, dict[str, Any]]:
    return {name: shares(name) for name in names}


def _one_queue(labels: dict[str, Label]) -> dict[str, Any]:
    return {"topology.bottleneck.queue": queue(str(labels["queue"]), str(labels["victim"]))}


def _two_queues(labels: dict[str, Label]) -> dict[str, Any]:
    name, victim = str(labels["queue"]), str(labels["victim"])
    return {f"link.{link}.queue": queue(name, victim, rate) for link, rate in ROUTER_RATES_BPS.items()}


def _victims(names: tuple[str, ...], place: Any) -> Axes:
    """The victim rule, which is set together with the queue that comes before it."""
    return {"victim": dict.fromkeys(names, place)}


def compared(extent: Extent = PAPER) -> tuple[str, ...]:
    """The victim rules that are compared everywhere."""
    return (TAIL, FRONT, RANDOM, DROP_SEL) if extent.random else PAPERS_VICTIMS


def grids(extent: Extent = PAPER) -> list[Grid]:
    """Everything that figures, tables and claims read."""
    rules = compared(extent)
    nothing: dict[str, Any] = {}
    cdf = {f"flow.{group}.timely": THRESHOLDS for group in VOICE}

    def wanted(labels: dict[str, Label]) -> bool:
        """Voice-Guard where voice dominates; Drop-Random, which the paper does not measure, under RED."""
        if labels["victim"] == RANDOM:
            return labels["queue"] == "RED"
        return labels["victim"] != GUARD or labels["case"] in VOICE_DOMINATES

    def _recorded(labels: dict[str, Label]) -> dict[str, Any]:
        """What is needed to hear CA7's calls under the paper's victims: the fate of each packet."""
        heard = extent.spoken and labels["case"] == SPOKEN_CASE and labels["victim"] in PAPERS_VICTIMS
        return {**_one_queue(labels), **({"record.units": list(VOICE)} if heard else {})}

    on_off_cases = _cases(S2_CASES)
    by_queue: dict[Label, dict[str, Any]] = dict.fromkeys(QUEUES, nothing)
    workloads: dict[Label, dict[str, Any]] = {"CA2": shares("CA2"), MOSTLY_UDP: shares(UNRESPONSIVE)}
    schemes = {
        f"RED, {TAIL}": {"topology.bottleneck.queue": queue("RED", TAIL)},
        f"RED, {DROP_SEL}": {"topology.bottleneck.queue": queue("RED", DROP_SEL)},
        BY_FLOW: {"topology.bottleneck.queue": punsi("flow")},
        BY_CLASS: {"topology.bottleneck.queue": punsi("class")},
    }
    return [
        Grid(
            ALWAYS_ON,
            dumbbell(extent, **cdf),
            {"case": _cases(S1_CASES), "queue": {"RED": nothing}, **_victims(rules, _one_queue)},
        ),
        Grid(
            ON_OFF,
            dumbbell(extent, **on_off()),
            {"case": on_off_cases, "queue": by_queue, **_victims((*rules, GUARD), _recorded)},
            wanted,
        ),
        Grid(
            ROUTERS,
            read("routers.toml").with_overrides({"duration": extent.duration}),
            {"case": _cases(S3_CASES), "queue": by_queue, **_victims(rules, _two_queues)},
            wanted,
        ),
        Grid(PUNSI, dumbbell(extent, **cdf), {"case": workloads, "scheme": schemes}),
    ]
