"""How else paper 003 can be read: what it leaves open, what admits each way to close it, and which is most plausible.

The order of values was fixed before the readings were explored. Three rules decide it. The paper's own words on the
very experiment come before its words in general. What the paper prints comes before what its simulator does unasked. Of
two simulator versions the one that was out when the manuscript was received (January 2004) comes first. A value that
the words or the tools admit is admitted whatever it does to a claim; one that contradicts another sentence of the paper
is admitted and flagged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.runs.grid import IN_STEP
from fairwave_studies.smoothness import names as n
from fairwave_study import texts
from fairwave_study.readings import Factor, Readings, Value, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairwave.runs.axes import Label, Overrides
    from fairwave.runs.grid import Grid
    from fairwave_studies.smoothness.points import Extent
    from fairwave_study.readings import Reading
    from fairwave_study.study import Study

    Labels = dict[str, Label]
    Changes = Callable[[str, Labels], Overrides]


def tcp_only(changes: Overrides) -> Changes:
    """These changes wherever the flows are TCPs."""
    return lambda _grid, labels: changes if labels.get("transport") in n.TCPS else {}


def on(grids: tuple[str, ...], changes: Overrides) -> Changes:
    """These changes on some grids."""
    return lambda grid, _labels: changes if grid in grids else {}


def _tfrc(preset: str) -> Changes:
    changes = {"flow.main.transport.preset": preset}
    return lambda grid, labels: changes if grid == n.AVOIDANCE and labels["transport"] == n.TFRC else {}


def _without_headers(_grid: str, labels: Labels) -> Overrides:
    known = {*n.TCPS, n.TFRC}
    return {"flow.*.transport.header": "0 B"} if labels.get("transport") in known else {}


def _path(milliseconds: int) -> Changes:
    """A round trip of so many ms wherever the paper does not give or imply another: 10 ms on each access link."""
    changes = {"topology.bottleneck.delay": f"{milliseconds / 2 - 20:g} ms"}
    return lambda grid, _labels: changes if grid not in (n.SPREAD, n.RECOVERY) else {}


def _gamma_at_once(_grid: str, labels: Labels) -> Overrides:
    named = labels.get("transport") in (n.GAMMA, n.GAMMA_DELTA)
    return {"flow.main.transport.at-once": True} if named else {}


def _both_ways(grid: str, _labels: Labels) -> Overrides:
    return {"topology.sink-access.reverse": None} if grid in n.WITH_ERRORS else {}


def _handoffs(grid: str, labels: Labels, *, kind: str) -> Overrides:
    if grid != n.HANDOFFS:
        return {}
    law = {"model": "handoff", "up": "5 s", "down": labels["down"]}
    if kind == "every 5 s":
        law |= {"regular": True}
    return {"topology.sink-access.loss": law}


def on_tcp(grids: tuple[str, ...], **changes: object) -> Changes:
    """What every TCP takes on, on all grids but these."""
    keys = {f"flow.*.transport.{key.replace('_', '-')}": value for key, value in changes.items()}
    return lambda grid, labels: keys if labels.get("transport") in n.TCPS and grid not in grids else {}


def _as_ns2_counts(_grid: str, labels: Labels) -> Overrides:
    return {"flow.*.transport.header": "0 B"} if labels.get("transport") == n.TFRC else {}


def _joining(when: str, after: str) -> Changes:
    """Flows that join begin so long after each change of their number."""

    def changes(grid: str, _labels: Labels) -> Overrides:
        if grid != n.GROWING:
            return {}
        groups = {"second": 15, "third": 20, "fourth": 25}
        return {
            f"flow.{name}.start": f"{at} s"
            if when == after
            else {"from": f"{at} s", "to": f"{at + float(after):g} s"}
            for name, at in groups.items()
        }

    return changes


def _bursts(milliseconds: int) -> Changes:
    """A bad state of the two-state Markov model that lasts so long on average, at the same share of packets lost."""

    def changes(grid: str, labels: Labels) -> Overrides:
        per = float(labels.get("per", 0.0))
        if grid != n.MARKOV or not per:
            return {}
        good = milliseconds * (1 - per) / per
        return {
            "topology.sink-access.loss": {
                "model": "markov",
                "good": f"{good:g} ms",
                "bad": f"{milliseconds} ms",
            }
        }

    return changes


def _random_phases(grid: str, _labels: Labels) -> Overrides:
    return {"flow.main.traffic.phase": "random"} if grid in n.READ else {}


def _hops(reading: Reading) -> Changes:
    """Where the round trip lies: as the reading has both."""
    trip = float(reading["round-trip"].split()[0])

    def changes(grid: str, _labels: Labels) -> Overrides:
        if grid in (n.SPREAD, n.RECOVERY):
            return {}
        if reading["hops"] == "5 to 15 ms at sources":
            return {"topology.source-access.delay": {"from": "5 ms", "to": "15 ms"}}
        each = f"{trip / 6:g} ms"
        return {f"topology.{link}.delay": each for link in ("bottleneck", "access")}

    return changes


def _in_bytes(reading: Reading, extent: Extent) -> Changes:
    """The bottleneck's buffer, where it is drop-tail, in so many bytes instead of packets of 1000."""
    products = 0.5 if reading["buffers"] == "one way" else 1.0
    trip_ms = float(reading["round-trip"].split()[0])

    def changes(grid: str, labels: Labels) -> Overrides:
        if grid == n.RECOVERY or labels.get("queue") == "RED" or labels.get("transport") == n.RENO_RED:
            return {}
        shortest = 30.0 if grid == n.SPREAD else products * trip_ms
        return {
            "topology.bottleneck.queue.capacity": {
                "bytes": round(_megabits(grid, labels, extent) * shortest * 1e3 / 8)
            }
        }

    return changes


def _megabits(grid: str, labels: Labels, extent: Extent) -> float:
    """The bottleneck's rate at a point, Mb/s."""
    if "bottleneck" in labels:
        return float(str(labels["bottleneck"]).split()[0]) * (
            extent.leavers / 100 if grid == n.SHRINKING else 1
        )
    if grid in (n.CONSTANT, n.AVOIDANCE):
        return float(labels["flows"])
    if grid in n.CROWDS:
        return float(extent.crowd_flows)
    if grid == n.WIRED_100:
        return 100.0
    return 20.0 if grid in (n.BEYOND, n.BESIDE, n.BEYOND_READERS) else 10.0


def _small_access(grid: str, _labels: Labels) -> Overrides:
    if grid in (n.SPREAD, n.RECOVERY):
        return {}
    return {"topology.access.queue.capacity": {"packets": 50}}


def _one_way(grid: str, labels: Labels) -> Overrides:
    if grid in (n.SPREAD, n.RECOVERY):
        return {}
    found: dict[str, object] = {"topology.access.queue.capacity": {"bdp": 0.5}}
    if labels.get("transport") != n.RENO_RED:
        found["topology.bottleneck.queue.capacity"] = {"bdp": 0.5}
    return found


FACTORS = texts.factors(
    __file__,
    (
        Factor(
            "version",
            values=(
                Value("ns2-2004", changes={"preset": "ns2-2004"}),
                Value("ns2", changes={"preset": "ns2"}),
                Value("rfc", changes={"preset": "rfc", "hosts": IN_STEP}),
            ),
            kind="version of the simulator",
        ),
        Factor(
            "recovery",
            values=(
                Value("reno"),
                Value("newreno", changes=tcp_only({"flow.*.transport.recovery": "newreno"})),
                Value("sack", changes=tcp_only({"flow.*.transport.recovery": "sack"}), plausibility=0.5),
            ),
        ),
        Factor(
            "round-trip",
            values=(
                Value("100 ms", changes=_path(100)),
                Value("80 ms", changes=_path(80)),
                Value("60 ms", changes=_path(60)),
            ),
        ),
        Factor(
            "buffers",
            values=(
                Value("round trip, everywhere"),
                Value("round trip, bottleneck only", changes=_small_access),
                Value("one way", changes=_one_way, plausibility=0.25),
            ),
        ),
        Factor(
            "headers",
            values=(
                Value("40 B"),
                Value("none", changes=_without_headers),
                Value("as ns-2 counts", changes=_as_ns2_counts),
            ),
            kind="way of counting sizes",
        ),
        Factor(
            "acknowledgements",
            values=(
                Value("every segment"),
                Value("every second segment", changes=tcp_only({"flow.*.transport.delayed-ack": True})),
            ),
        ),
        Factor(
            "sending",
            values=(
                Value("jitter"),
                Value("none", changes=tcp_only({"flow.*.transport.send-jitter": None})),
                Value("1 ms", changes=tcp_only({"flow.*.transport.send-jitter": "1 ms"}), plausibility=0.5),
            ),
            kind="phase effect",
        ),
        Factor(
            "starts",
            values=(
                Value(
                    "together", changes=on(n.MANY_FLOWS, {"flow.main.start": {"from": "0 s", "to": "100 ms"}})
                ),
                Value(
                    "within 1 s", changes=on(n.MANY_FLOWS, {"flow.main.start": {"from": "0 s", "to": "1 s"}})
                ),
                Value(
                    "within 5 s", changes=on(n.MANY_FLOWS, {"flow.main.start": {"from": "0 s", "to": "5 s"}})
                ),
                Value("at 0 s", changes=on(n.MANY_FLOWS, {"flow.main.start": "0 s"})),
            ),
            kind="phase effect",
        ),
        Factor("red", values=plain({"1993": 1, "ns2-2004": 1, "2000": 1})),
        Factor(
            "red-thresholds",
            values=plain({"a sixth and a half": 1, "5 and 15": 1, "a quarter and three quarters": 1}),
        ),
        Factor(
            "errors",
            values=(
                Value("data only"),
                Value("both directions", changes=_both_ways),
            ),
        ),
        Factor("wireless", values=plain({"10 Mb/s": 1, "100 Mb/s": 1}), kind="contradiction of two captions"),
        Factor(
            "rate-of-7", values=plain({"10 Mb/s": 1, "100 Mb/s": 1}), kind="contradiction of caption and text"
        ),
        Factor(
            "handoffs",
            values=(
                Value("every 5 s", changes=lambda grid, labels: _handoffs(grid, labels, kind="every 5 s")),
                Value(
                    "both exponential",
                    changes=lambda grid, labels: _handoffs(grid, labels, kind="both exponential"),
                ),
            ),
        ),
        Factor(
            "bin",
            values=(
                Value("500 ms", changes=on(n.BINNED, {"record.bin": "500 ms"})),
                Value("1 s", changes=on(n.BINNED, {"record.bin": "1 s"})),
                Value("200 ms", changes=on(n.BINNED, {"record.bin": "200 ms"})),
            ),
            kind="definition",
        ),
        Factor("success", values=plain({"formula": 1, "buffer": 1}), kind="definition"),
        Factor(
            "tfrc",
            values=(
                Value("ns-2's", changes=_tfrc("ns2")),
                Value("RFC 5348's", changes=_tfrc("rfc")),
            ),
        ),
        Factor(
            "gamma",
            values=(
                Value("one round trip later"),
                Value("at once", changes=_gamma_at_once),
            ),
        ),
        Factor("figure-20", values=plain({"calibrated": 1, "as elsewhere": 1})),
        Factor("recovered", values=plain({"90 %": 1, "95 %": 1, "80 %": 1}), kind="definition"),
        Factor(
            "clock",
            values=(
                Value("10 ms"),
                Value("100 ms", changes=on_tcp((), tick="100 ms"), plausibility=0.5),
                Value("500 ms", changes=on_tcp((), tick="500 ms"), plausibility=0.25),
            ),
            kind="coarse clock",
        ),
        Factor(
            "window",
            values=(
                Value("64 segments"),
                Value("20 segments", changes=on_tcp((n.RECOVERY,), receiver_window=20), plausibility=0.25),
                Value("none", changes=on_tcp((n.RECOVERY,), receiver_window=1000), plausibility=0.25),
            ),
        ),
        Factor("buffer-unit", values=plain({"packets": 1, "bytes": 0.5}), kind="way of counting sizes"),
        Factor(
            "hops",
            values=plain(
                {"10 ms on each access link": 1, "alike on all three links": 1, "5 to 15 ms at sources": 0.5}
            ),
            kind="phase effect",
        ),
        Factor(
            "joining",
            values=(
                Value("within 100 ms"),
                Value("at the instant", changes=_joining("at", "at")),
                Value("within 1 s", changes=_joining("within", "1")),
            ),
            kind="phase effect",
        ),
        Factor(
            "measured",
            values=(
                Value("once settled"),
                Value("the whole connection", changes=on(n.OVERALL, {"warmup": "0 s"})),
            ),
            kind="definition",
        ),
        Factor(
            "bursts",
            values=(
                Value("20 ms"),
                Value("100 ms", changes=_bursts(100)),
            ),
        ),
        Factor(
            "application",
            values=(
                Value("in step"),
                Value("each at its time", changes=_random_phases),
            ),
            kind="phase effect",
        ),
    ),
)
"""All that is open, each with its values in order of plausibility; the words are in `readings.toml`."""


def whole(reading: Reading) -> Study:
    """The complete study under a reading."""
    from fairwave_studies.smoothness import under

    return under(reading)


def essential(reading: Reading) -> Study:
    """Claims alone, at the fewest points on which they rest."""
    from fairwave_studies.smoothness import points, under

    return under(reading, points.ESSENTIAL, claims_only=True)


READINGS = Readings(FACTORS, whole, essential, shortened=texts.shortened(__file__))


def applied(grid: Grid, reading: Reading, extent: Extent) -> Grid:
    """The grid under a reading, complete: delays and bytes that two factors set together come last.

    Args:
        grid: The grid.
        reading: A value for every factor.
        extent: How much is simulated, and with how many flows.
    """
    grid = READINGS.apply(grid, reading)
    base = READINGS.base()
    later = []
    if reading["hops"] != base["hops"]:
        later.append(_hops(reading))
    if reading["buffer-unit"] != base["buffer-unit"]:
        later.append(_in_bytes(reading, extent))
    return READINGS.changed(grid, *later) if later else grid
