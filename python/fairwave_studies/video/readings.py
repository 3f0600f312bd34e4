"""Readings of paper 002: the changes that depend on grid and system.

Plausibility alone decides the order of values, and with it the base reading. The paper's words or the tools of its time
admit a value, whatever its effect on a claim. A value that makes a system of the paper misbehave alone on an empty path
(`tests/studies/test_video_alone.py`) is admitted and flagged: the words decide, and the page warns the reader.

Two gaps of other papers are closed here and are no factors. §4.1 states a window of at most 64 kB. ns-2's default limit
of 20 packets is a value of the factor; no limit at all is not. §4.1 also states five layers, so finer ones are not
admitted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave_studies.video import points as p
from fairwave_studies.video.systems import (
    AIAD,
    DVRC,
    LAYER_KILOBITS,
    LITERAL,
    ONE_STREAM,
    RENO,
    RTCP,
    TFRC,
    UDP,
    WESTWOOD,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairwave.runs.axes import Label, Overrides
    from fairwave_study.folder import Case
    from fairwave_study.readings import Changes, Reading

    Change = Callable[[str, dict[str, Label]], Overrides]

TRANSPORT, TRAFFIC = "flow.video.transport", "flow.video.traffic"


def carrier(labels: Mapping[str, Label]) -> str:
    """The system that carries the video at a point; DVRC by default."""
    found = str(labels.get("transport", labels.get("system", labels.get("mechanism", DVRC))))
    # "AIAMD, bulk" and "DVRC, simulcast" name the carrier first; "DVRC, Eq. (11)" is a system's name.
    first = found if found in (LITERAL, AIAD) else found.partition(",")[0]
    return DVRC if first == "AIAMD" else first


def is_dvrc(labels: Mapping[str, Label]) -> bool:
    """Whether DVRC carries the video, by whichever comparison."""
    return carrier(labels) in (DVRC, LITERAL, AIAD)


def has_frames(grid: str, labels: Mapping[str, Label]) -> bool:
    """Whether the flow carries a video, and not endless data."""
    return grid != p.BULK and not str(labels.get("system", "")).endswith("bulk")


def dvrc(**changes: Any) -> Change:
    """What DVRC alone takes on; dots as double underscores, dashes as single ones."""
    paths = {
        f"{TRANSPORT}.{key.replace('__', '.').replace('_', '-')}": value for key, value in changes.items()
    }
    return lambda _, labels: paths if is_dvrc(labels) else {}


def _compared(_: str, labels: dict[str, Label]) -> Overrides:
    # If both comparisons are drawn together, the axis decides.
    fixed = "reading" in labels or carrier(labels) != DVRC
    return {} if fixed else {f"{TRANSPORT}.aiamd.compare": "requested-rate"}


def _remainders(grid: str, labels: dict[str, Label]) -> Overrides:
    return {f"{TRAFFIC}.packet": None} if has_frames(grid, labels) and grid != p.MECHANISMS else {}


def layered(kilobits: Sequence[float]) -> Change:
    """The video in these layers, and as one stream of as much for systems that do not adapt it."""

    def changes(grid: str, labels: dict[str, Label]) -> Overrides:
        if not has_frames(grid, labels) or grid in (p.LAYERS, p.MECHANISMS):
            return {}
        whole = carrier(labels) in ONE_STREAM
        return {f"{TRAFFIC}.layers": p.layers([sum(kilobits)] if whole else kilobits)}

    return changes


def _send_layers(grid: str, labels: dict[str, Label]) -> Overrides:
    if not has_frames(grid, labels) or carrier(labels) not in ONE_STREAM:
        return {}
    return {f"{TRAFFIC}.layers": p.layers(LAYER_KILOBITS)}


def _group(grid: str, labels: dict[str, Label]) -> Overrides:
    return {f"{TRAFFIC}.group": "IBBPBBPBBPBBPBB"} if has_frames(grid, labels) else {}


LOSSY = (p.CROSS, p.QUEUE, p.RULES, p.REVERSE, p.ADAPTATION, p.LAYERS, p.JUDGED_LOAD, p.MECHANISMS)
"""Grids with correlated losses on the videos' last links."""

THREE = (*LOSSY, p.SPREAD)
"""Grids with the routers of Figures 5a and 5b."""


def lossy(**changes: Any) -> Change:
    """Changes for the links to the videos' sinks that lose packets."""
    paths = {f"topology.sink-access.loss.{key.replace('_', '-')}": value for key, value in changes.items()}
    return lambda grid, _: paths if grid in LOSSY else {}


ALONE = p.DUMBBELL


def buffers(bdp: float) -> Change:
    """Routers' buffers of this many products of rate and round trip."""

    def changes(grid: str, _: dict[str, Label]) -> Overrides:
        links = ("first-bottleneck", "shared-bottleneck") if grid in THREE else ("bottleneck",)
        return {f"topology.{link}.queue.capacity.bdp": bdp for link in links}

    return changes


def _fifty(grid: str, _: dict[str, Label]) -> Overrides:
    return {"topology.access.queue.capacity": {"packets": 50}} if grid in ALONE else {}


def _first_slower(grid: str, _: dict[str, Label]) -> Overrides:
    return {"topology.first-bottleneck.rate": "5 Mb/s"} if grid in THREE else {}


def _speed_up_links(grid: str, _: dict[str, Label]) -> Overrides:
    links = ("first-bottleneck", "shared-bottleneck")
    return {f"topology.{link}.rate": "20 Mb/s" for link in links} if grid in THREE else {}


TCP_FLOWS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(LOSSY, ("ftp",)),
    p.SPREAD: (),
    p.REVERSE: ("ftp", "ftp-reverse"),
    p.ADAPTATION: ("ftp", "ftp-reverse"),
    p.MECHANISMS: ("ftp", "ftp-reverse"),
    p.HOPS: ("tcp", "tcp-back"),
    p.CHAIN: ("tcp", "tcp-back"),
    p.ROUND_TRIPS: (),
}
"""The groups of file transfers of each grid; `ftp` by default."""


def tcp_groups(grid: str, labels: Mapping[str, Label]) -> list[str]:
    """The groups with a TCP as transport at a point."""
    groups = [*TCP_FLOWS.get(grid, ("ftp",))]
    if carrier(labels) in (WESTWOOD, RENO):
        groups.append("video")
    return groups


def tcp(grids: Sequence[str] = (), **changes: Any) -> Change:
    """Changes for every TCP, in these grids or in all."""
    keys = {key.replace("_", "-"): value for key, value in changes.items()}

    def found(grid: str, labels: dict[str, Label]) -> Overrides:
        if grids and grid not in grids:
            return {}
        return {
            f"flow.{group}.transport.{key}": value
            for group in tcp_groups(grid, labels)
            for key, value in keys.items()
        }

    return found


def _as_ns2_counts(_: str, labels: dict[str, Label]) -> Overrides:
    key = {
        DVRC: "lower-headers", LITERAL: "lower-headers", AIAD: "lower-headers", TFRC: "header", RTCP: "header",
        UDP: "header",
    }.get(carrier(labels))  # fmt: skip
    return {f"{TRANSPORT}.{key}": "0 B"} if key else {}


def _hops(milliseconds: int) -> Change:
    """Hops with this delay one way, and buffers for the resulting round trip."""

    def found(grid: str, labels: dict[str, Label]) -> Overrides:
        if grid not in (p.HOPS, p.CHAIN):
            return {}
        trip = 20 + 2 * milliseconds * int(labels.get("hops", 5))
        return {
            "topology.bottleneck.delay": f"{milliseconds} ms",
            "topology.bottleneck.queue.capacity.round-trip": f"{trip} ms",
        }

    return found


def _spread(grid: str, _: dict[str, Label]) -> Overrides:
    near = {"delay": {"from": "5 ms", "to": "75 ms", "spread": "even"}}
    return {"flow.video.source-access": near} if grid == p.SPREAD else {}


def count_bytes(reading: Reading) -> Callable[[str, dict[str, Label]], Overrides]:
    """Buffers of as many bytes as the reading's products are, instead of packets."""
    products = {"rate × one way": 0.5, "twice that": 2.0}.get(reading["buffers"], 1.0)
    second = {"20 Mb/s": 20.0}.get(reading["rates"], p.MEGABITS)
    first = {"5 and 10 Mb/s": 5.0, "20 Mb/s": 20.0}.get(reading["rates"], p.MEGABITS)
    delay = int(reading["hop-delay"].split()[0])

    def capacity(megabits: float, trip_ms: float) -> Overrides:
        return {"bytes": max(1500, round(products * megabits * trip_ms * 1e3 / 8))}

    def found(grid: str, labels: dict[str, Label]) -> Overrides:
        if grid in THREE:
            rates = {"first-bottleneck": first, "shared-bottleneck": second}
            return {f"topology.{link}.queue.capacity": capacity(rate, 80) for link, rate in rates.items()}
        if grid in (p.HOPS, p.CHAIN):
            rate, hops = (1.0, int(labels["hops"])) if grid == p.HOPS else (p.MEGABITS, 5)
            return {"topology.bottleneck.queue.capacity": capacity(rate, 20 + 2 * delay * hops)}
        if grid == p.ROUND_TRIPS:
            return {"topology.bottleneck.queue.capacity": capacity(p.MEGABITS, sum(p.SPREAD_TRIPS_MS) / 2)}
        rate = p.MEGABITS if grid == p.FRIENDLY else 1.0
        return {"topology.bottleneck.queue.capacity": capacity(rate, 70)}

    return found


def _together(grid: str, _: dict[str, Label]) -> Overrides:
    groups = [*TCP_FLOWS.get(grid, ("ftp",)), *(() if grid == p.HOPS else ("video",))]
    return {f"flow.{group}.start": "0 s" for group in groups}


def rtcp(**changes: Any) -> Change:
    """What RTCP over UDP takes on."""
    paths = {f"{TRANSPORT}.{key.replace('_', '-')}": value for key, value in changes.items()}
    return lambda _, labels: paths if carrier(labels) == RTCP else {}


CHANGES: Mapping[str, Mapping[str, Changes]] = {
    "packets": {"and a remainder": _remainders},
    "stream": {"all layers": _send_layers},
    "pace": {
        "at c_K": dvrc(pace="layers"),
        "as frames are made": dvrc(pace="none"),
    },
    "reaction": {"once per round trip": dvrc(reaction="round-trip")},
    "rise": {"each packet": dvrc(rise="packet")},
    "alpha": {"a packet per round trip": dvrc(aiamd__unit="packet", aiamd__alpha_rate=None)},
    "compared": {"requested rate": _compared},
    "measured-over": {
        "the epoch": dvrc(measure="epoch"),
        "a round trip": dvrc(measure_over="1 ms"),
        "500 ms": dvrc(measure_over="500 ms"),
    },
    "gains": {
        "0.1 and 0.75": dvrc(aiamd__mean_gain=0.1, aiamd__deviation_gain=0.75),
        "1/2 and 1/2": dvrc(aiamd__mean_gain=0.5, aiamd__deviation_gain=0.5),
    },
    "ceiling": {"a quarter above": dvrc(headroom=0.25)},
    "timeout": {"as printed": dvrc(timeout__least="0 s")},
    "layers": {
        "five of 200 kb/s": layered([200] * 5),
        "half as much": layered([64, 64, 64, 128, 192]),
    },
    "group": {"IBBPBBPBBPBBPBB": _group},
    "losses": {
        "q but for the first": lossy(other=0.15),
        "rounds of 100": lossy(mean_length=100.0),
    },
    "buffers": {
        "rate × one way": buffers(0.5),
        "twice that": buffers(2.0),
    },
    "hosts": {"50 packets": _fifty},
    "rates": {
        "5 and 10 Mb/s": _first_slower,
        "20 Mb/s": _speed_up_links,
    },
    "minimum-timeout": {"1 s": tcp(min_rto="1 s")},
    "starts": {"together": _together},
    "reports": {
        "reduced minimum": rtcp(reduced_minimum=True),
        "2 and 1 %": rtcp(drop_above=0.02, add_below=0.01),
    },
    "clock": {
        "100 ms": tcp(tick="100 ms"),
        "500 ms": tcp(tick="500 ms"),
    },
    "acknowledgements": {"delayed": tcp(delayed_ack=True)},
    "window": {"20 packets": tcp(receiver_window=20)},
    "jitter": {
        "none": tcp(p.DUMBBELL, send_jitter="0 s"),
        "1 ms": tcp(send_jitter="1 ms"),
    },
    "recovery": {
        "NewReno's": tcp(recovery="newreno"),
        "with SACK": tcp(recovery="sack"),
    },
    "headers": {"as ns-2 counts": _as_ns2_counts},
    "hop-delay": {
        "5 ms": _hops(5),
        "25 ms": _hops(25),
    },
    "spread": {"to 75 ms one way": _spread},
}


def joint_changes(case: Case) -> list[Changes]:
    """Buffers in bytes: they replace the capacities in packets that other factors set."""
    return [] if case.reading["buffer-unit"] == "packets" else [count_bytes(case.reading)]
