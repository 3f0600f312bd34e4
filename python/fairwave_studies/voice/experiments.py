"""Why claims come out as they do: a mechanism on and off, under seeds that nothing else uses.

Each side is a reading of the papers. If their words do not admit a change (Reno in Westwood's place), the side makes
the change itself, and its name says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave_studies.voice import quantities as q
from fairwave_studies.voice.points import TCPS
from fairwave_studies.voice.selecting import part
from fairwave_study.experiments import Experiment, Side

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fairwave.measuring.measures import Measure
    from fairwave.runs.axes import Label
    from fairwave_study.parts import Data

    Quantity = Callable[[Data], NDArray[np.float64]]

UDP, VEGAS, WESTWOOD, REAL = "udp", *TCPS
TRANSPORT = "flow.voice.transport"


def _reno_for_westwood(_: str, labels: dict[str, Label]) -> dict[str, Any]:
    return {f"{TRANSPORT}.name": "tcp/reno"} if labels["transport"] == WESTWOOD else {}


def _newreno_for_real(_: str, labels: dict[str, Label]) -> dict[str, Any]:
    if labels["transport"] != REAL:
        return {}
    own = {f"{TRANSPORT}.{key}": None for key in ("hold", "cut", "jitter")}
    return {f"{TRANSPORT}.name": "tcp/newreno", **own}


def _header_for_vegas(_: str, labels: dict[str, Label]) -> dict[str, Any]:
    return {f"{TRANSPORT}.header": "40 B"} if labels["transport"] == VEGAS else {}


def sample(measure: Measure, transport: str, flows: int, ftp: int, **labels: Any) -> Quantity:
    """A measure at one point, one number per seed."""
    return lambda data: part(data, measure, ftp=ftp, flows=(flows,), **labels).samples(transport=transport)


def _fall(measure: Measure, transport: str, flows: int) -> Quantity:
    """Decrease from no errors to 0.05, in % of the first value."""

    def sample_runs(data: Data) -> NDArray[np.float64]:
        none, many = (sample(measure, transport, flows, 20, per=per)(data) for per in (0.0, 0.05))
        fall: NDArray[np.float64] = (1 - many / none) * 100
        return fall

    return sample_runs


def _widening(data: Data) -> NDArray[np.float64]:
    """Growth of the gap between transfers next to UDP and next to the TCPs, from 40 calls to 120, with 20 transfers."""

    def shortfall(flows: int) -> NDArray[np.float64]:
        left = [sample(q.FTP_GOODPUT, one, flows, 20)(data) for one in TCPS]
        less: NDArray[np.float64] = np.mean(left, axis=0) - sample(q.FTP_GOODPUT, UDP, flows, 20)(data)
        return less

    widened: NDArray[np.float64] = shortfall(120) - shortfall(40)
    return widened


def _repeated_share(payload: int) -> Quantity:
    """Share of R1's bytes for 80 of Westwood's calls, with 20 transfers, that carries no new speech, in %.

    These are copies and losses behind R1. R1 carries 2 Mb/s, and a segment 40 bytes of header.
    """

    def sample_runs(data: Data) -> NDArray[np.float64]:
        label = f"{payload} B"
        carried = sample(q.FIRST_USE, WESTWOOD, 80, 20, payload=label)(data) / 100 * 2
        speech = sample(q.GOODPUT, WESTWOOD, 80, 20, payload=label)(data)
        nothing_new: NDArray[np.float64] = (1 - speech * (payload + 40) / payload / carried) * 100
        return nothing_new

    return sample_runs


INDEX = q.index(q.ShareDefinition())

# V2: the window that Westwood's estimate sets

AS_BASE, NARROW, RENO = "R1→R2 2 Mb/s", "R1→R2 1.2 Mb/s", "1.2 Mb/s, Reno in Westwood's place"
DROPPED, ITS_GOODPUT = "dropped at R1 beside 10 transfers, 80 calls (%)", "Westwood's goodput there (Mb/s)"


# V4: systems with counted headers

NS2, BARE, NEWRENO = "as ns-2 counts", "no headers", "no headers, NewReno in Real's place"
REALS_INDEX, REALS_DROPS = "Real's index, 80 calls alone", "dropped at R1 then (%)"
REALS_TIMEOUTS, VEGAS_TIMEOUTS = "Real's timeouts, 120 calls (%)", "Vegas's timeouts, 120 calls (%)"


# V5: the meaning of a late packet

LITERAL, DELAY, DEEP = "001's Algorithm 1", "one-way delay", "one-way delay, buffers of 75 kB"
SLOWEST = "UDP's delay, 95th percentile, 120 calls (ms)"


# V9: the saving by longer packets

LIMITED, ROOMY, COUNTED = (
    "base",
    "R2 6 Mb/s, 50 kB",
    "R2 6 Mb/s, 50 kB, UDP with headers",
)
VEGAS_TOO = "the same, Vegas with headers, too"


# V11: the protection of transfers

SHIELDED, EVEN, OPEN = "R1→R2 2 Mb/s, as ns-2 counts", "R1→R2 2 Mb/s, no headers", "R1→R2 4 Mb/s, no headers"
LEFT, WIDER = "left by UDP, 120 calls, 20 transfers (Mb/s)", "further behind than with 40 calls (Mb/s)"


# V14: the cost of an error to UDP

LETTER, ARRIVAL = "gap to the packet numbered before", "gap to the arrival before"
UDP_FALL, REAL_FALL = "UDP's goodput falls, 80 calls (%)", "Real's goodput falls, 80 calls (%)"
CROWDED = "gap to the arrival before, R1→R2 1.2 Mb/s"


# V16: a better estimate, or fewer packets

PACKETS, BYTES = "base", "R2 6 Mb/s, 50 kB"
ESTIMATE_OFF = "R2 6 Mb/s, 50 kB, Reno in Westwood's place"
NOTHING_160, NOTHING_500 = "R1 carries nothing new, Westwood, 160 B (%)", "and with 500 B (%)"


ROOM = {"buffers": "50 kB", "shared-bottleneck": "6 Mb/s"}

FIRST = (
    Experiment(
        "why-V2",
        "V2",
        "R1's rate, and with it where calls meet; then Reno in Westwood's place, which takes its estimate away.",
        (
            Side(AS_BASE),
            Side(NARROW, {"first-bottleneck": "1.2 Mb/s"}),
            Side(RENO, {"first-bottleneck": "1.2 Mb/s"}, _reno_for_westwood),
        ),
        {DROPPED: sample(q.FIRST_DROPS, WESTWOOD, 80, 10), ITS_GOODPUT: sample(q.GOODPUT, WESTWOOD, 80, 10)},
    ),
    Experiment(
        "why-V4",
        "V4",
        "Headers, which ns-2 adds to Real's segments and not to Vegas's; then NewReno in Real's place.",
        (Side(NS2), Side(BARE, {"headers": "none"}), Side(NEWRENO, {"headers": "none"}, _newreno_for_real)),
        {
            REALS_INDEX: sample(INDEX, REAL, 80, 0),
            REALS_DROPS: sample(q.FIRST_DROPS, REAL, 80, 0),
            REALS_TIMEOUTS: sample(q.TIMEOUTS, REAL, 120, 0),
            VEGAS_TIMEOUTS: sample(q.TIMEOUTS, VEGAS, 120, 0),
        },
    ),
    Experiment(
        "why-V5",
        "V5",
        "The meaning of late; then buffers that take as long to drain as the threshold.",
        (
            Side(LITERAL),
            Side(DELAY, {"timely": "one-way delay"}),
            Side(DEEP, {"timely": "one-way delay", "buffers": "75 kB"}),
        ),
        {SLOWEST: sample(q.DELAY_P95, UDP, 120, 0)},
    ),
    Experiment(
        "why-V9",
        "V9",
        "Whether R2 limits packets; then headers, of UDP and of Vegas.",
        (
            Side(LIMITED),
            Side(ROOMY, ROOM),
            Side(COUNTED, {**ROOM, "headers": "as ns-2, UDP with 40 bytes"}),
            Side(VEGAS_TOO, {**ROOM, "headers": "as ns-2, UDP with 40 bytes"}, _header_for_vegas),
        ),
    ),
    Experiment(
        "why-V11",
        "V11",
        "Headers; then R1's rate, beyond which no call can hurt a transfer.",
        (
            Side(SHIELDED),
            Side(EVEN, {"headers": "none"}),
            Side(OPEN, {"headers": "none", "first-bottleneck": "4 Mb/s"}),
        ),
        {LEFT: sample(q.FTP_GOODPUT, UDP, 120, 20), WIDER: _widening},
    ),
    Experiment(
        "why-V14",
        "V14",
        "Whether the packet after a lost one counts as late; then R1's rate.",
        (
            Side(LETTER),
            Side(ARRIVAL, {"timely": ARRIVAL}),
            Side(CROWDED, {"timely": ARRIVAL, "first-bottleneck": "1.2 Mb/s"}),
        ),
        {UDP_FALL: _fall(q.GOODPUT, UDP, 80), REAL_FALL: _fall(q.GOODPUT, REAL, 80)},
    ),
    Experiment(
        "why-V16",
        "V16",
        "Whether R2 limits packets; then Reno in Westwood's place, which takes its estimate away.",
        (Side(PACKETS), Side(BYTES, ROOM), Side(ESTIMATE_OFF, ROOM, _reno_for_westwood)),
        {
            NOTHING_160: _repeated_share(160),
            NOTHING_500: _repeated_share(500),
        },
    ),
)
"""Of the claims that the exploration contradicts most often."""

# Further claims, with one or two switches each. Quantities have the names that figures show.

AS_BASE_SIDE = Side("as in the base reading")
WIRED_SIDE = Side("of what was put on the wire", {"sent": "by the transport"})
ALL_COUNTED = Side("40 bytes for all", {"headers": "40 bytes for all"})
NO_HEADERS = Side("no headers", {"headers": "none"})
WIDE_FIRST = Side("R1→R2 4 Mb/s", {"first-bottleneck": "4 Mb/s"})
NARROW_FIRST = Side("R1→R2 1.2 Mb/s", {"first-bottleneck": "1.2 Mb/s"})
WIDE_SECOND = Side("R2→R3 6 Mb/s", {"shared-bottleneck": "6 Mb/s"})
ROOM_SIDE = Side("R2 6 Mb/s, 50 kB", ROOM)
IN_BYTES = Side("50 kB", {"buffers": "50 kB"})
ON_THE_MEAN = Side("64 kb/s on the mean", {"rate-reading": "on the mean"})
BY_DELAY = Side("one-way delay", {"timely": "one-way delay"})
NO_ERRORS = Side("no packet errors", changes={"topology.sink-access.loss.rate": 0.0})
COARSE = Side("clock of 500 ms", {"clock": "500 ms"})
AS_NEWRENO = Side("all recover as NewReno", {"recovery": "all as NewReno"})
STRUCK_BYTES = Side("errors strike bytes", {"errors": "per byte"})

EVERY = (UDP, VEGAS, WESTWOOD, REAL)
SHORT = {UDP: "UDP", VEGAS: "Vegas", WESTWOOD: "Westwood", REAL: "Real"}
WIRED_INDEX = q.index(q.ShareDefinition(sent="transport"))
LATE_SHARE = q.delayed(q.ShareDefinition())
LOST, LOST_OF_WIRED = q.loss(), q.loss("transport")


def _name_quantity(name: str, transport: str, flows: int, ftp: int = 0, unit: str = "") -> str:
    """Name of a transport's quantity with this many calls: "index, UDP, 80 calls, 10 transfers"."""
    where = f"{flows} calls" + (f", {ftp} transfers" if ftp else "")
    return f"{name}, {SHORT[transport]}, {where}{unit}"


def _samples(
    measure: Measure, flows: int, ftp: int, name: str, unit: str = "", among: tuple[str, ...] = EVERY, **labels: Any
) -> dict[str, Quantity]:  # fmt: skip
    """A measure of each transport at one point."""
    return {
        _name_quantity(name, one, flows, ftp, unit): sample(measure, one, flows, ftp, **labels)
        for one in among
    }


def _falls(flows: int, among: tuple[str, ...] = EVERY) -> dict[str, Quantity]:
    """By how much goodput falls from no errors to 0.05."""
    return {f"goodput falls, {SHORT[one]}, {flows} calls (%)": _fall(q.GOODPUT, one, flows) for one in among}


def _less(first: Quantity, second: Quantity) -> Quantity:
    return lambda data: first(data) - second(data)


def _index_at(transport: str, flows: int, threshold: float) -> Quantity:
    """The index at a threshold in ms, with 20 transfers."""
    return sample(q.index_by_threshold(q.ShareDefinition()), transport, flows, 20, threshold=threshold)


def _late_by(transport: str, flows: int, threshold: float) -> Quantity:
    """The late share at a threshold in ms, with 20 transfers."""
    return sample(q.delayed_by_threshold(q.ShareDefinition()), transport, flows, 20, threshold=threshold)


def _kilobits_each(measure: Measure, transport: str, ftp: int, count: int) -> Quantity:
    """Rate of one of this many flows next to 120 calls, kb/s."""
    whole = sample(measure, transport, 120, ftp)
    return lambda data: whole(data) / count * 1e3


def _strays(measure: Measure, transport: str, flows: int) -> Quantity:
    """By how much a run of calls alone is off the mean over runs, in %."""

    def sample_runs(data: Data) -> NDArray[np.float64]:
        found = sample(measure, transport, flows, 0)(data)
        off: NDArray[np.float64] = np.abs(found / found.mean() - 1) * 100
        return off

    return sample_runs


FURTHER = (
    Experiment(
        "why-V1", "V1", "Packet errors on the last hop; then headers.", (AS_BASE_SIDE, NO_ERRORS, ALL_COUNTED),
        {**_samples(q.GOODPUT, 40, 10, "goodput", " (Mb/s)"), **_samples(q.GOODPUT, 120, 0, "goodput", " (Mb/s)")},
    ),
    Experiment(
        "why-V6", "V6", "Headers, which ns-2 adds to Real's segments and not to Vegas's.", (AS_BASE_SIDE, NO_HEADERS),
        {**_samples(q.FAIRNESS, 120, 0, "fairness"), **_samples(q.FAIRNESS, 80, 10, "fairness")},
    ),
    Experiment(
        "why-V7", "V7", "R1's rate; then the clock of timeouts.", (AS_BASE_SIDE, WIDE_FIRST, COARSE),
        {
            **{_name_quantity("fairness", VEGAS, one): sample(q.FAIRNESS, VEGAS, one, 0) for one in (80, 120)},
            **{
                _name_quantity("repaired by timeout", VEGAS, one, 0, " (%)"): sample(q.TIMEOUTS, VEGAS, one, 0)
                for one in (80, 120)
            },
        },
    ),
    Experiment(
        "why-V8", "V8", "The meaning of sent; then headers.", (AS_BASE_SIDE, WIRED_SIDE, ALL_COUNTED),
        {**_samples(LOST, 120, 0, "lost", " (%)"), **_samples(LOST_OF_WIRED, 120, 0, "lost of what left", " (%)")},
    ),
    Experiment(
        "why-V12", "V12", "Vegas's repair; then R1's rate.",
        (AS_BASE_SIDE, AS_NEWRENO, NARROW_FIRST), {**_falls(80), **_falls(120)},
    ),
    Experiment(
        "why-V13", "V13", "Whether R2 limits; then headers.", (AS_BASE_SIDE, ROOM_SIDE, NO_HEADERS),
        {
            **_falls(80),
            **_samples(q.TIMEOUTS, 80, 20, "repaired by timeout", " (%)", TCPS, per=0.05),
            **{
                f"goodput without errors, {SHORT[one]}, 80 calls (Mb/s)": sample(q.GOODPUT, one, 80, 20, per=0.0)
                for one in TCPS
            },
        },
    ),
    Experiment(
        "why-V15", "V15", "The meaning of late.", (AS_BASE_SIDE, BY_DELAY),
        {
            **{
                f"index gains from 100 to 400 ms, {SHORT[one]}, 80 calls":
                    _less(_index_at(one, 80, 400.0), _index_at(one, 80, 100.0))
                for one in EVERY
            },
            **{f"delay, {SHORT[one]}, 80 calls (ms)": sample(q.DELAY, one, 80, 20) for one in EVERY},
        },
    ),
    Experiment(
        "why-V17", "V17", "Headers, which ns-2 adds to Real's segments and not to Vegas's.", (AS_BASE_SIDE, NO_HEADERS),
        {
            f"index, {SHORT[one]}, {flows} calls, errors of 0.05": sample(INDEX, one, flows, 20, per=0.05)
            for one in TCPS
            for flows in (80, 120)
        },
    ),
    Experiment(
        "why-V18", "V18", "R1's rate; then the rate of a call.", (AS_BASE_SIDE, WIDE_FIRST, ON_THE_MEAN),
        {
            **{f"UDP's index, {flows} calls": sample(INDEX, UDP, flows, 0) for flows in (40, 80, 120)},
            **{f"dropped at R1, {flows} calls (%)": sample(q.FIRST_DROPS, UDP, flows, 0) for flows in (40, 80, 120)},
        },
    ),
    Experiment(
        "why-V19", "V19", "R2's rate.", (AS_BASE_SIDE, WIDE_SECOND),
        {
            **_samples(q.FAIRNESS, 80, 10, "fairness"),
            **_samples(q.TIMEOUTS, 80, 10, "repaired by timeout", " (%)", TCPS),
        },
    ),
    Experiment(
        "why-V20", "V20", "The meaning of sent; then R2's rate.", (AS_BASE_SIDE, WIRED_SIDE, WIDE_SECOND),
        {**_samples(LOST, 80, 10, "lost", " (%)"), **_samples(LOST_OF_WIRED, 80, 10, "lost of what left", " (%)")},
    ),
    Experiment(
        "why-V24", "V24", "The rate of a call; then the unit of R2's buffer.",
        (AS_BASE_SIDE, ON_THE_MEAN, IN_BYTES),
        {
            **{f"UDP's index, {flows} calls": sample(INDEX, UDP, flows, 10) for flows in (40, 80)},
            **{f"dropped at R2, {flows} calls (%)": sample(q.SHARED_DROPS, UDP, flows, 10) for flows in (40, 80)},
        },
    ),
    Experiment(
        "why-V25", "V25", "Packet errors; then the unit of buffers.", (AS_BASE_SIDE, NO_ERRORS, IN_BYTES),
        {
            **_samples(LATE_SHARE, 120, 0, "late", " (%)", TCPS),
            **_samples(LOST, 120, 0, "lost", " (%)", TCPS),
            **_samples(LATE_SHARE, 80, 10, "late", " (%)", TCPS),
            **_samples(LOST, 80, 10, "lost", " (%)", TCPS),
        },
    ),
    Experiment(
        "why-V26", "V26", "Headers: as ns-2 counts them, for all, and none.", (AS_BASE_SIDE, ALL_COUNTED, NO_HEADERS),
        {
            **_samples(q.FIRST_WAIT, 120, 0, "wait at R1", " (ms)"),
            **_samples(q.FIRST_DROPS, 120, 0, "dropped at R1", " (%)"),
        },
    ),
    Experiment(
        "why-V29", "V29", "Whether errors strike packets or bytes.", (AS_BASE_SIDE, STRUCK_BYTES),
        {
            f"index falls, {SHORT[one]}, {size}":
                _less(sample(INDEX, one, 80, 20, payload=size, per=0.0), sample(INDEX, one, 80, 20, payload=size))
            for one in (UDP, VEGAS, REAL)
            for size in ("160 B", "500 B")
        },
    ),
    Experiment(
        "why-V31", "V31", "R2's rate.",
        (AS_BASE_SIDE, Side("R2→R3 2 Mb/s", {"shared-bottleneck": "2 Mb/s"})),
        {
            **{
                f"a transfer beside {SHORT[one]}, {ftp} transfers (kb/s)": _kilobits_each(q.FTP_GOODPUT, one, ftp, ftp)
                for one in TCPS
                for ftp in (20, 60)
            },
            **{
                f"a call, {SHORT[one]}, {ftp} transfers (kb/s)": _kilobits_each(q.GOODPUT, one, ftp, 120)
                for one in TCPS
                for ftp in (20, 60)
            },
        },
    ),
    Experiment(
        "why-V32", "V32", "Whether R2 limits; then the clock of timeouts.", (AS_BASE_SIDE, WIDE_SECOND, COARSE),
        {**_falls(80, TCPS), **_samples(q.TIMEOUTS, 80, 20, "repaired by timeout", " (%)", TCPS, per=0.05)},
    ),
    Experiment(
        "why-V34", "V34", "R2's rate; then the meaning of late.", (AS_BASE_SIDE, WIDE_SECOND, BY_DELAY),
        {
            f"late, {SHORT[one]}, {flows} calls, {threshold:.0f} ms (%)": _late_by(one, flows, threshold)
            for one in TCPS
            for flows in (40, 120)
            for threshold in (100.0, 200.0)
        },
    ),
    Experiment(
        "why-V35", "V35", "The meaning of sent; then R2's rate.", (AS_BASE_SIDE, WIRED_SIDE, WIDE_SECOND),
        {
            **{
                f"index, {SHORT[one]}, 80 calls, {threshold:.0f} ms": _index_at(one, 80, threshold)
                for one in (VEGAS, REAL)
                for threshold in (100.0, 200.0)
            },
            **{f"lost, {SHORT[one]}, 80 calls (%)": sample(LOST, one, 80, 20) for one in (VEGAS, REAL)},
        },
    ),
    Experiment(
        "why-V36", "V36", "R1's rate.", (AS_BASE_SIDE, WIDE_FIRST),
        {
            **{f"lost, UDP, {flows} calls (%)": sample(LOST, UDP, flows, 0) for flows in (80, 120)},
            **{f"dropped at R1, {flows} calls (%)": sample(q.FIRST_DROPS, UDP, flows, 0) for flows in (80, 120)},
        },
    ),
    Experiment(
        "why-V37", "V37", "The meaning of sent; then headers.", (AS_BASE_SIDE, WIRED_SIDE, NO_HEADERS),
        {
            **_samples(INDEX, 80, 0, "index"),
            **_samples(WIRED_INDEX, 80, 0, "index of what left"),
            **_samples(INDEX, 80, 10, "index"),
        },
    ),
    Experiment(
        "why-V38", "V38", "The meaning of late; then packet errors.", (AS_BASE_SIDE, BY_DELAY, NO_ERRORS),
        {**_samples(INDEX, 40, 0, "index"), **_samples(INDEX, 40, 10, "index")},
    ),
    Experiment(
        "why-V39", "V39", "The law of talk and silence; then packet errors.",
        (AS_BASE_SIDE, Side("exponential periods", {"periods": "exponential"}), NO_ERRORS),
        {
            f"{name} off the mean, {SHORT[one]}, {flows} calls (%)": _strays(measure, one, flows)
            for name, measure in (("goodput", q.GOODPUT), ("index", INDEX))
            for one, flows in ((UDP, 40), (REAL, 80))
        },
    ),
)  # fmt: skip
"""Of claims that one more switch explains."""

EXPERIMENTS = tuple(sorted((*FIRST, *FURTHER), key=lambda one: int(one.claim.removeprefix("V"))))
"""In the order of the claims."""
