"""What paper 002 leaves open, and every way in which its words or its simulator let each gap be closed.

The order of values, and with it the base reading, is that of plausibility alone. A value is admitted by the paper's
words or by the tools of its time, whatever it does to a claim. One that makes a system of the paper misbehave alone on
an empty path (`tests/studies/test_video_alone.py`) is admitted and flagged: the words decide, and a reader is told.

Two things that other papers leave open are closed here and are no factors. §4.1 states a window of at most 64 kB. That
ns-2's own limit of 20 packets was left beneath it is a value; that there was no limit is not. §4.1 also states five
layers, so finer ones are not what was simulated.
"""

from __future__ import annotations

from dataclasses import replace
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
from fairwave_study import texts
from fairwave_study.readings import Factor, Readings, Value, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairwave.runs.axes import Label, Overrides
    from fairwave.runs.grid import Grid
    from fairwave_study.readings import Reading
    from fairwave_study.study import Study

    Changes = Callable[[str, dict[str, Label]], Overrides]

TRANSPORT, TRAFFIC = "flow.video.transport", "flow.video.traffic"


def carrier(labels: Mapping[str, Label]) -> str:
    """The system that carries the video at a point; DVRC where no axis says otherwise."""
    found = str(labels.get("transport", labels.get("system", labels.get("mechanism", DVRC))))
    # "AIAMD, bulk" and "DVRC, simulcast" name the carrier first; "DVRC, Eq. (11)" is a system's name.
    first = found if found in (LITERAL, AIAD) else found.partition(",")[0]
    return DVRC if first == "AIAMD" else first


def is_dvrc(labels: Mapping[str, Label]) -> bool:
    """Whether DVRC carries the video, by whichever comparison."""
    return carrier(labels) in (DVRC, LITERAL, AIAD)


def has_frames(grid: str, labels: Mapping[str, Label]) -> bool:
    """Whether what is carried is a video, and not data without end."""
    return grid != p.BULK and not str(labels.get("system", "")).endswith("bulk")


def dvrc(**changes: Any) -> Changes:
    """What DVRC alone takes on; dots as double underscores, dashes as single ones."""
    paths = {
        f"{TRANSPORT}.{key.replace('__', '.').replace('_', '-')}": value for key, value in changes.items()
    }
    return lambda _, labels: paths if is_dvrc(labels) else {}


def _compared(_: str, labels: dict[str, Label]) -> Overrides:
    # Where both comparisons are drawn beside each other, the axis decides.
    fixed = "reading" in labels or carrier(labels) != DVRC
    return {} if fixed else {f"{TRANSPORT}.aiamd.compare": "requested-rate"}


def _remainders(grid: str, labels: dict[str, Label]) -> Overrides:
    return {f"{TRAFFIC}.packet": None} if has_frames(grid, labels) and grid != p.MECHANISMS else {}


def layered(kilobits: Sequence[float]) -> Changes:
    """The video in these layers, and as one stream of as much for systems that do not adapt it."""

    def changes(grid: str, labels: dict[str, Label]) -> Overrides:
        if not has_frames(grid, labels) or grid in (p.LAYERS, p.MECHANISMS):
            return {}
        whole = carrier(labels) in ONE_STREAM
        return {f"{TRAFFIC}.layers": p.layers([sum(kilobits)] if whole else kilobits)}

    return changes


def _in_layers(grid: str, labels: dict[str, Label]) -> Overrides:
    if not has_frames(grid, labels) or carrier(labels) not in ONE_STREAM:
        return {}
    return {f"{TRAFFIC}.layers": p.layers(LAYER_KILOBITS)}


def _group(grid: str, labels: dict[str, Label]) -> Overrides:
    return {f"{TRAFFIC}.group": "IBBPBBPBBPBBPBB"} if has_frames(grid, labels) else {}


LOSSY = (p.CROSS, p.QUEUE, p.RULES, p.REVERSE, p.ADAPTATION, p.LAYERS, p.JUDGED_LOAD, p.MECHANISMS)
"""Grids with correlated losses on the videos' last links."""

THREE = (*LOSSY, p.SPREAD)
"""Grids with the routers of Figures 5a and 5b."""


def lossy(**changes: Any) -> Changes:
    """What the links to the videos' sinks take on where they lose packets."""
    paths = {f"topology.sink-access.loss.{key.replace('_', '-')}": value for key, value in changes.items()}
    return lambda grid, _: paths if grid in LOSSY else {}


ALONE = p.DUMBBELL


def buffers(bdp: float) -> Changes:
    """So many products of rate and round trip in the routers' buffers."""

    def changes(grid: str, _: dict[str, Label]) -> Overrides:
        links = ("first-bottleneck", "shared-bottleneck") if grid in THREE else ("bottleneck",)
        return {f"topology.{link}.queue.capacity.bdp": bdp for link in links}

    return changes


def _fifty(grid: str, _: dict[str, Label]) -> Overrides:
    return {"topology.access.queue.capacity": {"packets": 50}} if grid in ALONE else {}


def _first_slower(grid: str, _: dict[str, Label]) -> Overrides:
    return {"topology.first-bottleneck.rate": "5 Mb/s"} if grid in THREE else {}


def _both_faster(grid: str, _: dict[str, Label]) -> Overrides:
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
"""The groups of file transfers of each grid; `ftp` where nothing else is said."""


def over_tcp(grid: str, labels: Mapping[str, Label]) -> list[str]:
    """The groups whose transport is a TCP at a point."""
    groups = [*TCP_FLOWS.get(grid, ("ftp",))]
    if carrier(labels) in (WESTWOOD, RENO):
        groups.append("video")
    return groups


def tcp(grids: Sequence[str] = (), **changes: Any) -> Changes:
    """What every TCP takes on, in these grids or in all."""
    keys = {key.replace("_", "-"): value for key, value in changes.items()}

    def found(grid: str, labels: dict[str, Label]) -> Overrides:
        if grids and grid not in grids:
            return {}
        return {
            f"flow.{group}.transport.{key}": value
            for group in over_tcp(grid, labels)
            for key, value in keys.items()
        }

    return found


def _as_ns2_counts(_: str, labels: dict[str, Label]) -> Overrides:
    key = {
        DVRC: "lower-headers", LITERAL: "lower-headers", AIAD: "lower-headers", TFRC: "header", RTCP: "header",
        UDP: "header",
    }.get(carrier(labels))  # fmt: skip
    return {f"{TRANSPORT}.{key}": "0 B"} if key else {}


def _hops(milliseconds: int) -> Changes:
    """Hops of so much one way, with buffers for the round trip that follows."""

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


def in_bytes(reading: Reading) -> Callable[[str, dict[str, Label]], Overrides]:
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


def rtcp(**changes: Any) -> Changes:
    """What RTCP over UDP takes on."""
    paths = {f"{TRANSPORT}.{key.replace('_', '-')}": value for key, value in changes.items()}
    return lambda _, labels: paths if carrier(labels) == RTCP else {}


FACTORS = texts.factors(
    __file__,
    (
        Factor(
            "packets",
            values=(
                Value("of 1000 bytes"),
                Value("and a remainder", changes=_remainders),
            ),
        ),
        Factor(
            "stream",
            values=(
                Value("one stream"),
                Value("all layers", changes=_in_layers),
            ),
        ),
        Factor(
            "pace",
            values=(
                Value("at R"),
                Value("at c_K", changes=dvrc(pace="layers")),
                Value("as frames are made", changes=dvrc(pace="none")),
            ),
        ),
        Factor(
            "reaction",
            values=(
                Value("every gap"),
                Value("once per round trip", changes=dvrc(reaction="round-trip")),
            ),
        ),
        Factor(
            "rise",
            values=(
                Value("each round trip without loss"),
                Value("each packet", changes=dvrc(rise="packet")),
            ),
        ),
        Factor(
            "alpha",
            values=(
                Value("a packet per second"),
                Value("a packet per round trip", changes=dvrc(aiamd__unit="packet", aiamd__alpha_rate=None)),
            ),
        ),
        Factor(
            "compared",
            values=(
                Value("receiving rate"),
                Value("requested rate", changes=_compared),
            ),
        ),
        Factor(
            "measured-over",
            values=(
                Value("150 ms or a round trip"),
                Value("the epoch", changes=dvrc(measure="epoch")),
                Value("a round trip", changes=dvrc(measure_over="1 ms")),
                Value("500 ms", changes=dvrc(measure_over="500 ms")),
            ),
        ),
        Factor(
            "gains",
            values=(
                Value("1/8 and 1/4"),
                Value("0.1 and 0.75", changes=dvrc(aiamd__mean_gain=0.1, aiamd__deviation_gain=0.75)),
                Value("1/2 and 1/2", changes=dvrc(aiamd__mean_gain=0.5, aiamd__deviation_gain=0.5)),
            ),
        ),
        Factor(
            "ceiling",
            values=(
                Value("c_k"),
                Value("a quarter above", changes=dvrc(headroom=0.25)),
            ),
        ),
        Factor(
            "timeout",
            values=(
                Value("200 ms at least"),
                Value("as printed", changes=dvrc(timeout__least="0 s")),
            ),
        ),
        Factor(
            "layers",
            values=(
                Value("128 to 384 kb/s"),
                Value("five of 200 kb/s", changes=layered([200] * 5)),
                Value("half as much", changes=layered([64, 64, 64, 128, 192])),
            ),
        ),
        Factor(
            "group",
            values=(
                Value("IBBPBBPBBPBB"),
                Value("IBBPBBPBBPBBPBB", changes=_group),
            ),
        ),
        Factor(
            "losses",
            values=(
                Value("q after a loss"),
                Value("q but for the first", changes=lossy(other=0.15)),
                Value("rounds of 100", changes=lossy(mean_length=100.0)),
            ),
        ),
        Factor(
            "buffers",
            values=(
                Value("rate × round trip"),
                Value("rate × one way", changes=buffers(0.5)),
                Value("twice that", changes=buffers(2.0)),
            ),
        ),
        Factor(
            "hosts",
            values=(
                Value("as the routers"),
                Value("50 packets", changes=_fifty),
            ),
        ),
        Factor(
            "rates",
            values=(
                Value("10 Mb/s"),
                Value("5 and 10 Mb/s", changes=_first_slower),
                Value("20 Mb/s", changes=_both_faster),
            ),
        ),
        Factor(
            "minimum-timeout",
            values=(
                Value("200 ms"),
                Value("1 s", changes=tcp(min_rto="1 s")),
            ),
            kind="coarse clock",
        ),
        Factor(
            "starts",
            values=(
                Value("within a second"),
                Value("together", changes=_together),
            ),
            kind="phase effect",
        ),
        Factor(
            "reports",
            values=(
                Value("every 5 s"),
                Value("reduced minimum", changes=rtcp(reduced_minimum=True)),
                Value("2 and 1 %", changes=rtcp(drop_above=0.02, add_below=0.01)),
            ),
        ),
        Factor(
            "sent", values=plain({"all that was made": 1, "what left the sender": 0.5}), kind="definition"
        ),
        Factor(
            "lost", values=plain({"in the network": 1, "all that did not arrive": 0.5}), kind="definition"
        ),
        Factor(
            "late",
            values=plain({"gap above 75 ms": 1, "gap in excess of the sender's": 1}),
            kind="definition",
        ),
        Factor(
            "clock",
            values=(
                Value("10 ms"),
                Value("100 ms", changes=tcp(tick="100 ms"), plausibility=0.5),
                Value("500 ms", changes=tcp(tick="500 ms"), plausibility=0.5),
            ),
            kind="coarse clock",
        ),
        Factor(
            "acknowledgements",
            values=(
                Value("each"),
                Value("delayed", changes=tcp(delayed_ack=True), plausibility=0.5),
            ),
        ),
        Factor(
            "window",
            values=(
                Value("64 packets"),
                Value("20 packets", changes=tcp(receiver_window=20), plausibility=0.25),
            ),
        ),
        Factor(
            "jitter",
            values=(
                Value("a packet's time on the dumbbell"),
                Value("none", changes=tcp(p.DUMBBELL, send_jitter="0 s")),
                Value("1 ms", changes=tcp(send_jitter="1 ms"), plausibility=0.5),
            ),
            kind="phase effect",
        ),
        Factor(
            "recovery",
            values=(
                Value("Reno's"),
                Value("NewReno's", changes=tcp(recovery="newreno"), plausibility=0.5),
                Value("with SACK", changes=tcp(recovery="sack"), plausibility=0.25),
            ),
        ),
        Factor(
            "headers",
            values=(
                Value("of every protocol"),
                Value("as ns-2 counts", changes=_as_ns2_counts),
            ),
        ),
        Factor("buffer-unit", values=plain({"packets": 1, "bytes": 0.5})),
        Factor(
            "hop-delay",
            values=(
                Value("10 ms"),
                Value("5 ms", changes=_hops(5)),
                Value("25 ms", changes=_hops(25)),
            ),
        ),
        Factor(
            "spread",
            values=(
                Value("to 150 ms one way"),
                Value("to 75 ms one way", changes=_spread),
            ),
        ),
    ),
)


def applied(found: Readings, grid: Grid, reading: Reading) -> Grid:
    """The grid under a reading, complete: where buffers count bytes, products in packets give way to them."""
    grid = found.apply(grid, reading)
    before = grid.settings
    if reading["buffer-unit"] == "packets" or before is None:
        return grid
    capacities = in_bytes(reading)

    def settings(labels: dict[str, Label]) -> Overrides:
        kept = {path: value for path, value in before(labels).items() if ".queue.capacity." not in path}
        return {**kept, **capacities(grid.id, labels)}

    return replace(grid, settings=settings)


def readings() -> Readings:
    """All of it."""

    def whole(reading: Reading) -> Study:
        from fairwave_studies.video import under

        return under(reading)

    def essential(reading: Reading) -> Study:
        from fairwave_studies.video import essentials

        return essentials(reading)

    return Readings(FACTORS, whole, essential, shortened=texts.shortened(__file__))
