"""Why claims come out as they do: a mechanism on and off, under seeds that nothing else uses.

Each side is a reading of the papers; where no word of theirs admits what is switched (Reno in Westwood's place), it is
a change of the experiment's own, and says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave_studies.voice import quantities as q
from fairwave_studies.voice.points import TCPS
from fairwave_studies.voice.selecting import part
from fairwave_study.experiments import Experiment, Side, paragraph

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fairwave.measuring.measures import Measure
    from fairwave.measuring.statistics import Interval
    from fairwave.runs.grid import Label
    from fairwave_study.experiments import FoundExperiment
    from fairwave_study.study import Data

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


def at(measure: Measure, transport: str, flows: int, ftp: int, **labels: Any) -> Quantity:
    """A measure at one point, one number per seed."""
    return lambda data: part(data, measure, ftp=ftp, flows=(flows,), **labels).samples(transport=transport)


def _fall(measure: Measure, transport: str, flows: int) -> Quantity:
    """From no errors to 0.05, in % of what it was."""

    def taken(data: Data) -> NDArray[np.float64]:
        none, many = (at(measure, transport, flows, 20, per=per)(data) for per in (0.0, 0.05))
        fall: NDArray[np.float64] = (1 - many / none) * 100
        return fall

    return taken


def _widening(data: Data) -> NDArray[np.float64]:
    """By how much less transfers keep beside UDP than beside the TCPs, from 40 calls to 120, with 20 transfers."""

    def behind(flows: int) -> NDArray[np.float64]:
        left = [at(q.FTP_GOODPUT, one, flows, 20)(data) for one in TCPS]
        less: NDArray[np.float64] = np.mean(left, axis=0) - at(q.FTP_GOODPUT, UDP, flows, 20)(data)
        return less

    widened: NDArray[np.float64] = behind(120) - behind(40)
    return widened


def _nothing_new(payload: int) -> Quantity:
    """What of R1's bytes for 80 of Westwood's calls beside 20 transfers brings no speech that is new, in %.

    Copies, and what is lost behind R1. R1 carries 2 Mb/s, and a segment 40 bytes of header.
    """

    def taken(data: Data) -> NDArray[np.float64]:
        label = f"{payload} B"
        carried = at(q.FIRST_USE, WESTWOOD, 80, 20, payload=label)(data) / 100 * 2
        speech = at(q.GOODPUT, WESTWOOD, 80, 20, payload=label)(data)
        nothing_new: NDArray[np.float64] = (1 - speech * (payload + 40) / payload / carried) * 100
        return nothing_new

    return taken


def _say(found: FoundExperiment) -> Callable[..., str]:
    """Puts a side's number into words, with its interval."""
    return lambda side, label, digits=".2f": _said(found.of(side, label), digits)


def _said(told: Interval, digits: str = ".2f") -> str:
    return f"{told.mean:{digits}} [{told.low:{digits}}, {told.high:{digits}}]"


INDEX = q.index(q.ShareDefinition())

# V2: the window that Westwood's estimate sets

AS_BASE, NARROW, RENO = "R1→R2 2 Mb/s", "R1→R2 1.2 Mb/s", "1.2 Mb/s, Reno in Westwood's place"
DROPPED, ITS_GOODPUT = "dropped at R1 beside 10 transfers, 80 calls (%)", "Westwood's goodput there (Mb/s)"


def _v2(found: FoundExperiment) -> str:
    say = _say(found)
    return (
        "After a loss Westwood sets its window by the bandwidth that it estimates, where Reno halves. So it keeps R1 "
        f"overflowed: beside 10 transfers {say(NARROW, DROPPED, '.1f')} % are dropped there with 80 calls, and "
        f"{say(RENO, DROPPED, '.1f')} % with Reno in its place; its goodput is {say(NARROW, ITS_GOODPUT)} Mb/s, Reno's "
        f"{say(RENO, ITS_GOODPUT)}, no longer the lowest (the claim is {found.verdict(RENO)}). The papers' reason, "
        "an inefficient estimate, is the right one. It does not show where calls do not meet each other but "
        "file transfers: with 2 Mb/s at R1 and 60 calls the bottleneck is R2, whose buffer counts packets and is "
        "filled by transfers; there a sender that insists fares no worse than one that gives way, and the claim "
        f"is {found.verdict(AS_BASE)}. With 1.2 Mb/s, which the words on contention above 40 calls imply, R1 is the "
        f"bottleneck for 60 calls, too: it is {found.verdict(NARROW)}."
    )


# V4: whose packets are counted with headers

NS2, BARE, NEWRENO = "as ns-2 counts", "no headers", "no headers, NewReno in Real's place"
REALS_INDEX, REALS_DROPS = "Real's index, 80 calls alone", "dropped at R1 then (%)"
REALS_TIMEOUTS, VEGAS_TIMEOUTS = "Real's timeouts, 120 calls (%)", "Vegas's timeouts, 120 calls (%)"


def _v4(found: FoundExperiment) -> str:
    say = _say(found)
    return (
        "ns-2 adds 40 bytes to a segment of TCP-Real with 160 bytes of speech, and none to one of its Vegas or "
        "to a packet of UDP: over Real and Westwood alone a fifth of the bottleneck carries no speech. Without "
        f"headers Real's index with 80 calls is {say(BARE, REALS_INDEX, '.3f')} instead of "
        f"{say(NS2, REALS_INDEX, '.3f')}, above UDP's and Westwood's; the claim as a whole is {found.verdict(BARE)} "
        f"instead of {found.verdict(NS2)}. That Real gives way before it loses contributes less: with NewReno in "
        f"its place its index is {say(NEWRENO, REALS_INDEX, '.3f')}, and R1 drops {say(NEWRENO, REALS_DROPS, '.1f')} % "
        f"instead of {say(BARE, REALS_DROPS, '.1f')}. Above Vegas it does not come with 120 calls: of its losses Real "
        f"repairs {say(BARE, REALS_TIMEOUTS, '.0f')} % by timeout, Vegas, which sends again upon the first duplicate "
        f"once a fine timer has run out, {say(BARE, VEGAS_TIMEOUTS, '.0f')} %: a call has too few packets under way "
        "for three duplicates."
    )


# V5: what a late packet is late by

LITERAL, DELAY, DEEP = "001's Algorithm 1", "one-way delay", "one-way delay, buffers of 75 kB"
LATE, SLOWEST = "calls alone (000): flows 120", "UDP's delay, 95th percentile, 120 calls (ms)"
LATE_BESIDE = "beside 10 transfers (001): flows 80 − 2 × flows 40"


def _v5(found: FoundExperiment) -> str:
    say = _say(found)
    return (
        "The papers lay UDP's late packets to queues. By the letter of Algorithm 1 "
        f"{say(LITERAL, LATE, '.1f')} % are late with 120 calls alone, but none by queueing: late are the first packet "
        "after a silence longer than the threshold, and the one after a loss. With losses they grow alone; beside "
        "transfers there are losses with 40 calls already, and with 80 the share is not twice as large (it less twice "
        f"that with 40: {say(LITERAL, LATE_BESIDE, '.1f')} %). By one-way delay {say(DELAY, LATE, '.1f')} % are late "
        "with 120 calls: 50 packets of speech drain in 32 ms, and the 95th percentile of the delay is "
        f"{say(DELAY, SLOWEST, '.0f')} ms. A buffer that takes 300 ms to drain brings about what the papers describe: "
        f"{say(DEEP, SLOWEST, '.0f')} ms, {say(DEEP, LATE, '.0f')} % late, and steeply. The claim is "
        f"{found.verdict(LITERAL)} by the letter, {found.verdict(DELAY)} by delay, and {found.verdict(DEEP)} with that "
        "buffer: their explanation is right of a network whose buffers are about as deep as their threshold, which "
        "they do not mention."
    )


# V9: what longer packets spare

LIMITED, ROOMY, COUNTED = (
    "base",
    "R2 6 Mb/s, 50 kB",
    "R2 6 Mb/s, 50 kB, UDP with headers",
)
VEGAS_TOO = "the same, Vegas with headers, too"
VEGAS_GAIN, UDP_GAIN = "Vegas does not: gain of tcp/vegas", "UDP gains: gain of udp"


def _v9(found: FoundExperiment) -> str:
    say = _say(found)
    return (
        "Two things make longer packets carry more. The first is a bottleneck that counts packets: 50 of "
        "them wait at R2 whatever they hold, so that calls beside transfers carry the more speech the longer "
        f"their packets are, over Vegas, too ({say(LIMITED, VEGAS_GAIN)} Mb/s). The second is headers. Where R2 has "
        "room and counts bytes, only headers are left, and there the claim is what ns-2 makes of them: Westwood "
        "and Real have 40 bytes a packet to spare by longer ones; Vegas has none in ns-2 and gains "
        f"{say(ROOMY, VEGAS_GAIN)} Mb/s. With headers it would gain {say(VEGAS_TOO, VEGAS_GAIN)}: frequent estimates "
        "with small segments, the papers' reason, are not what keeps it from gaining. UDP gains "
        f"{say(ROOMY, UDP_GAIN)} Mb/s without headers and {say(COUNTED, UDP_GAIN)} with 40 bytes, which a script must "
        f"add by hand; with these the claim is {found.verdict(COUNTED)}."
    )


# V11: what shields transfers

SHIELDED, EVEN, OPEN = "R1→R2 2 Mb/s, as ns-2 counts", "R1→R2 2 Mb/s, no headers", "R1→R2 4 Mb/s, no headers"
TO_VEGAS = "Real mostly leaves most: beside 20 transfers: tcp/real − tcp/vegas, mean over calls"
TO_WESTWOOD = "Real mostly leaves most: beside 60 transfers: tcp/real − tcp/westwood, mean over calls"
LEFT, WIDER = "left by UDP, 120 calls, 20 transfers (Mb/s)", "further behind than with 40 calls (Mb/s)"


def _v11(found: FoundExperiment) -> str:
    say = _say(found)
    return (
        "R1 shields the transfers: however many calls UDP sends, no more than R1's rate reaches R2. From about 75 "
        "calls on UDP can hurt no more, while TCPs go on to fill R1. From 40 to 120 calls what transfers keep beside "
        f"UDP falls behind what they keep beside a TCP by {say(SHIELDED, WIDER)} Mb/s; with 4 Mb/s at R1 by "
        f"{say(OPEN, WIDER)}. Beside 120 calls they keep {say(SHIELDED, LEFT)} Mb/s with 2 Mb/s at R1, and "
        f"{say(OPEN, LEFT)} with 4: harm that grows as the papers describe it needs a first bottleneck that is none. "
        "Who leaves most among the TCPs is decided by headers: in ns-2 Vegas carries the same speech in four fifths "
        f"of Real's bytes. What Real leaves less what Vegas leaves is {say(SHIELDED, TO_VEGAS)} Mb/s beside 20 "
        f"transfers, and {say(EVEN, TO_VEGAS)} without headers; less what Westwood leaves, beside 60 transfers and "
        f"without headers, {say(EVEN, TO_WESTWOOD)}. The claim is "
        f"{found.verdict(SHIELDED)} in the base and {found.verdict(EVEN)} without headers."
    )


# V14: what an error costs UDP

LETTER, ARRIVAL = "gap to the packet numbered before", "gap to the arrival before"
UDP_FALL, REAL_FALL = "UDP's goodput falls, 80 calls (%)", "Real's goodput falls, 80 calls (%)"
SLOPE = "the index: |slope| of udp − tcp/westwood along per at flows 120"
GOODPUT_SLOPE = "goodput: |slope| of udp − tcp/real along per at flows 120"
CROWDED = "gap to the arrival before, R1→R2 1.2 Mb/s"


def _v14(found: FoundExperiment) -> str:
    say = _say(found)
    return (
        "A packet error costs UDP's goodput the packet and no more: from none to 0.05 it falls by "
        f"{say(LETTER, UDP_FALL, '.1f')} % with 80 calls, Real's, whose window answers, by "
        f"{say(LETTER, REAL_FALL, '.1f')} %. The index is another matter: by 001's Algorithm 1 to the letter the "
        "packet after a lost one has none before it and counts as late, so that each error costs UDP two packets. "
        f"With 120 calls its slope less Westwood's is {say(LETTER, SLOPE, '.3f')} by the letter and "
        f"{say(ARRIVAL, SLOPE, '.3f')} by arrivals (below 0 as claimed); the claim is {found.verdict(LETTER)} by the "
        f"letter, {found.verdict(ARRIVAL)} by arrivals. With 1.2 Mb/s at R1 it is {found.verdict(CROWDED)}: 120 calls "
        "then overflow R1 by so much that errors only take the place of drops. UDP loses to errors what R1 has let "
        f"through; a TCP sends again ({say(CROWDED, GOODPUT_SLOPE)} Mb/s per unit of error rate is UDP's slope "
        "less Real's)."
    )


# V16: a better estimate, or fewer packets

PACKETS, BYTES = "base", "R2 6 Mb/s, 50 kB"
ESTIMATE_OFF = "R2 6 Mb/s, 50 kB, Reno in Westwood's place"
NOTHING_160, NOTHING_500 = "R1 carries nothing new, Westwood, 160 B (%)", "and with 500 B (%)"
WESTWOOD_TO_REAL = "gain of tcp/westwood − tcp/real"


def _v16(found: FoundExperiment) -> str:
    say = _say(found)
    return (
        "Where R2 counts packets, longer ones help whoever has least there, and that is Vegas and Real: Westwood's "
        f"gain less Real's is {say(PACKETS, WESTWOOD_TO_REAL)} Mb/s. Where R2 has room, headers are all that Real can "
        f"spare, and Westwood's gain less Real's is {say(BYTES, WESTWOOD_TO_REAL)}; that of Reno in its place "
        f"{say(ESTIMATE_OFF, WESTWOOD_TO_REAL)}: it is Westwood's estimate that makes the difference, as 000 says. But "
        "the estimate does not become better; it becomes less of a handicap. Of what R1 carries for it, "
        f"{say(BYTES, NOTHING_160, '.1f')} % brings nothing new with 160 bytes and {say(BYTES, NOTHING_500, '.1f')} % "
        f"with 500; with Reno in its place {say(ESTIMATE_OFF, NOTHING_160, '.1f')} and "
        f"{say(ESTIMATE_OFF, NOTHING_500, '.1f')} %, since a buffer of bytes holds fewer long segments. The claim is "
        f"{found.verdict(BYTES)} where R2 has room, and {found.verdict(ESTIMATE_OFF)} without the estimate."
    )


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
        _v2,
        {DROPPED: at(q.FIRST_DROPS, WESTWOOD, 80, 10), ITS_GOODPUT: at(q.GOODPUT, WESTWOOD, 80, 10)},
    ),
    Experiment(
        "why-V4",
        "V4",
        "Headers, which ns-2 adds to Real's segments and not to Vegas's; then NewReno in Real's place.",
        (Side(NS2), Side(BARE, {"headers": "none"}), Side(NEWRENO, {"headers": "none"}, _newreno_for_real)),
        _v4,
        {
            REALS_INDEX: at(INDEX, REAL, 80, 0),
            REALS_DROPS: at(q.FIRST_DROPS, REAL, 80, 0),
            REALS_TIMEOUTS: at(q.TIMEOUTS, REAL, 120, 0),
            VEGAS_TIMEOUTS: at(q.TIMEOUTS, VEGAS, 120, 0),
        },
    ),
    Experiment(
        "why-V5",
        "V5",
        "What makes a packet late; then buffers that take as long to drain as the threshold.",
        (
            Side(LITERAL),
            Side(DELAY, {"timely": "one-way delay"}),
            Side(DEEP, {"timely": "one-way delay", "buffers": "75 kB"}),
        ),
        _v5,
        {SLOWEST: at(q.DELAY_P95, UDP, 120, 0)},
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
        _v9,
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
        _v11,
        {LEFT: at(q.FTP_GOODPUT, UDP, 120, 20), WIDER: _widening},
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
        _v14,
        {UDP_FALL: _fall(q.GOODPUT, UDP, 80), REAL_FALL: _fall(q.GOODPUT, REAL, 80)},
    ),
    Experiment(
        "why-V16",
        "V16",
        "Whether R2 limits packets; then Reno in Westwood's place, which takes its estimate away.",
        (Side(PACKETS), Side(BYTES, ROOM), Side(ESTIMATE_OFF, ROOM, _reno_for_westwood)),
        _v16,
        {
            NOTHING_160: _nothing_new(160),
            NOTHING_500: _nothing_new(500),
        },
    ),
)
"""Of the claims that the exploration contradicts most often."""

# Further claims, a switch or two each. Quantities are named as they stand in figures.

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


def _named(name: str, transport: str, flows: int, ftp: int = 0, unit: str = "") -> str:
    """What a quantity of a transport with so many calls is called: "index, UDP, 80 calls, 10 transfers"."""
    where = f"{flows} calls" + (f", {ftp} transfers" if ftp else "")
    return f"{name}, {SHORT[transport]}, {where}{unit}"


def _each(
    measure: Measure, flows: int, ftp: int, name: str, unit: str = "", among: tuple[str, ...] = EVERY, **labels: Any
) -> dict[str, Quantity]:  # fmt: skip
    """A measure of each transport at one point."""
    return {_named(name, one, flows, ftp, unit): at(measure, one, flows, ftp, **labels) for one in among}


def _falls(flows: int, among: tuple[str, ...] = EVERY) -> dict[str, Quantity]:
    """By how much goodput falls from no errors to 0.05."""
    return {f"goodput falls, {SHORT[one]}, {flows} calls (%)": _fall(q.GOODPUT, one, flows) for one in among}


def _less(first: Quantity, second: Quantity) -> Quantity:
    return lambda data: first(data) - second(data)


def _within(transport: str, flows: int, threshold: float) -> Quantity:
    """The index at a threshold in ms, beside 20 transfers."""
    return at(q.index_by_threshold(q.ShareDefinition()), transport, flows, 20, threshold=threshold)


def _late_by(transport: str, flows: int, threshold: float) -> Quantity:
    """The share that comes late at a threshold in ms, beside 20 transfers."""
    return at(q.delayed_by_threshold(q.ShareDefinition()), transport, flows, 20, threshold=threshold)


def _kilobits_each(measure: Measure, transport: str, ftp: int, count: int) -> Quantity:
    """What one of so many flows gets beside 120 calls, kb/s."""
    whole = at(measure, transport, 120, ftp)
    return lambda data: whole(data) / count * 1e3


def _labels(found: FoundExperiment) -> list[str]:
    return [one.label for one in found.experiment.sides]


def _v1(found: FoundExperiment) -> str:
    say, (base, clean, counted) = _say(found), _labels(found)
    low, high = (
        {one: _named("goodput", one, flows, ftp, " (Mb/s)") for one in EVERY}
        for flows, ftp in ((40, 10), (120, 0))
    )
    return paragraph(f"""
        Under contention UDP has more because it does not back off: alone with 120 calls it carries
        {say(base, high[UDP])} Mb/s, Westwood {say(base, high[WESTWOOD])}. Where headers are counted for everyone it
        carries {say(counted, high[UDP])}, Westwood {say(counted, high[WESTWOOD])}: a part of the lead is headers.
        With few calls beside transfers the lead is that of errors. Each loss on the last hop costs UDP a packet and a
        TCP a window: with 40 calls beside 10 transfers UDP has {say(base, low[UDP], ".3f")} and Westwood
        {say(base, low[WESTWOOD], ".3f")} Mb/s; without errors {say(clean, low[UDP], ".3f")} and
        {say(clean, low[WESTWOOD], ".3f")}. The claim is {found.verdict(base)}, {found.verdict(clean)} without errors
        and {found.verdict(counted)} with headers for all.
    """)


def _v6(found: FoundExperiment) -> str:
    say, (base, bare) = _say(found), _labels(found)
    real, udp, vegas = (_named("fairness", one, 120) for one in (REAL, UDP, VEGAS))
    return paragraph(f"""
        Real's 40 bytes of header cost it fairness. A fifth of the bottleneck carries them, so that Real meets
        contention with fewer calls than Vegas and UDP, which have none in ns-2. With 120 calls alone its index is
        {say(base, real, ".3f")}, Vegas's {say(base, vegas, ".3f")} and UDP's {say(base, udp, ".3f")}; without headers
        Real's is {say(bare, real, ".3f")}, the highest. Beside transfers Vegas is as fair as Real either way. The
        claim is {found.verdict(base)}, and {found.verdict(bare)} without headers.
    """)


def _v7(found: FoundExperiment) -> str:
    say, (base, wide, coarse) = _say(found), _labels(found)
    few, many = (_named("fairness", VEGAS, flows) for flows in (80, 120))
    timers = _named("repaired by timeout", VEGAS, 120, 0, " (%)")
    return paragraph(f"""
        Vegas becomes less fair as soon as R1 is full. Each call then has too few packets under way for duplicate
        acknowledgements ({say(base, timers, ".0f")} % of its losses are repaired by timeout), and calls that time out
        fall behind. From 80 to 120 calls its index falls from {say(base, few, ".3f")} to {say(base, many, ".3f")}.
        With 4 Mb/s at R1 the same calls meet no bottleneck there: {say(wide, few, ".3f")} and
        {say(wide, many, ".3f")}. A clock of 500 ms makes each timeout longer: {say(coarse, few, ".3f")} and
        {say(coarse, many, ".3f")}. The claim is {found.verdict(base)}, {found.verdict(wide)} with the wide R1 and
        {found.verdict(coarse)} with the clock.
    """)


def _v8(found: FoundExperiment) -> str:
    say, (base, wired, counted) = _say(found), _labels(found)
    udp, west = (_named("lost", one, 120, 0, " (%)") for one in (UDP, WESTWOOD))
    left, left_west = (_named("lost of what left", one, 120, 0, " (%)") for one in (UDP, WESTWOOD))
    return paragraph(f"""
        Whether UDP loses too much is a matter of what counts as sent. With 120 calls alone UDP loses
        {say(base, udp, ".0f")} % of what the application made, in queues; Westwood {say(base, west, ".0f")} %, which
        waits in its senders when the run ends. Of what was put on the wire UDP loses {say(wired, left, ".0f")} % and
        Westwood {say(wired, left_west, ".1f")} %. The claim is {found.verdict(base)} of all that was made,
        {found.verdict(wired)} of what left, and {found.verdict(counted)} with headers for all, where UDP loses
        {say(counted, udp, ".0f")} %. A listener does not hear either kind.
    """)


def _v12(found: FoundExperiment) -> str:
    say, (base, alike, narrow) = _say(found), _labels(found)
    few, many = (f"goodput falls, Vegas, {flows} calls (%)" for flows in (80, 120))
    return paragraph(f"""
        A packet error costs a TCP a window, and that is felt where the window is the limit and not the path. From no
        errors to 0.05 Vegas's goodput falls by {say(base, few, ".1f")} % with 80 calls and by
        {say(base, many, ".1f")} % with 120. That Vegas does not follow is its recovery's: where all recover as
        NewReno its goodput falls by {say(alike, few, ".1f")} and {say(alike, many, ".1f")} %, as claimed. With 1.2
        Mb/s at R1 the path is full with 80 calls already ({say(narrow, few, ".1f")} and {say(narrow, many, ".1f")}
        %). The claim is {found.verdict(base)}, {found.verdict(alike)} with one recovery for all and
        {found.verdict(narrow)} with the narrow R1.
    """)


def _v13(found: FoundExperiment) -> str:
    say, (base, room, bare) = _say(found), _labels(found)
    vegas, west, real = (f"goodput falls, {SHORT[one]}, 80 calls (%)" for one in (VEGAS, WESTWOOD, REAL))
    timers, ours = (_named("repaired by timeout", one, 80, 20, " (%)") for one in (WESTWOOD, REAL))
    return paragraph(f"""
        From no errors to 0.05 goodput falls with 80 calls by {say(base, vegas, ".1f")} % over Vegas,
        {say(base, west, ".1f")} % over Westwood and {say(base, real, ".1f")} % over Real. A window that is kept helps
        little where calls wait for timers: {say(base, timers, ".1f")} % of Westwood's losses are repaired by timeout,
        {say(base, ours, ".1f")} % of Real's. Where R2 has room they fall by {say(room, vegas, ".1f")},
        {say(room, west, ".1f")} and {say(room, real, ".1f")} %: Westwood, whose estimate does not fall at a random
        loss, is ahead as claimed, and Vegas, which has no such estimate, is not. Headers count as well: without them
        Westwood's goodput falls by {say(bare, west, ".1f")} and Real's by {say(bare, real, ".1f")} %. The claim is
        {found.verdict(base)}, {found.verdict(room)} with room and {found.verdict(bare)} without headers.
    """)


def _v15(found: FoundExperiment) -> str:
    say, (base, delay) = _say(found), _labels(found)
    vegas, udp = (f"index gains from 100 to 400 ms, {SHORT[one]}, 80 calls" for one in (VEGAS, UDP))
    age = "delay, Vegas, 80 calls (ms)"
    return paragraph(f"""
        A longer threshold forgives the gap that a retransmission timeout or a waiting window leaves. From 100 to 400
        ms Vegas's index gains {say(base, vegas, ".3f")}, UDP's {say(base, udp, ".3f")}. That is so by gaps. By
        one-way delay a threshold of tenths of a second forgives nothing, because speech over Vegas waits in its
        sender and is {say(delay, age, ".0f")} ms old on the mean. The claim is {found.verdict(base)} by gaps and
        {found.verdict(delay)} by delay.
    """)


def _v17(found: FoundExperiment) -> str:
    say, (base, bare) = _say(found), _labels(found)
    few, many = (f"index, Real, {flows} calls, errors of 0.05" for flows in (80, 120))
    return paragraph(f"""
        With errors of 0.05 Real's index is {say(base, few, ".3f")} with 80 calls and {say(base, many, ".3f")} with
        120. Its better standing goes with its headers: without them it is {say(bare, few, ".3f")} and
        {say(bare, many, ".3f")}, and its lead does not grow. The claim is {found.verdict(base)} with ns-2's headers
        and {found.verdict(bare)} without them.
    """)


def _v18(found: FoundExperiment) -> str:
    say, (base, wide, mean) = _say(found), _labels(found)
    few, many = ("UDP's index, 40 calls", "UDP's index, 80 calls")
    drops = "dropped at R1, 80 calls (%)"
    return paragraph(f"""
        UDP's index follows R1's drop rate. Up to the load that fills R1 it is {say(base, few, ".3f")} (40 calls);
        with 80, where R1 drops {say(base, drops, ".0f")} %, {say(base, many, ".3f")}. With 4 Mb/s at R1 80 calls
        satisfy too ({say(wide, many, ".3f")}). Where 64 kb/s is the mean over talk and silence, 40 calls overflow R1:
        {say(mean, few, ".3f")}. The claim is {found.verdict(base)}, {found.verdict(wide)} and {found.verdict(mean)}:
        it says where the authors' R1 was full, which places its rate between the loads of 40 and of 80 calls.
    """)


def _v19(found: FoundExperiment) -> str:
    say, (base, wide) = _say(found), _labels(found)
    vegas, real = (_named("fairness", one, 80, 10) for one in (VEGAS, REAL))
    timers, ours = (_named("repaired by timeout", one, 80, 10, " (%)") for one in (VEGAS, REAL))
    return paragraph(f"""
        Beside 10 transfers with 80 calls Vegas's index is {say(base, vegas, ".3f")} and Real's
        {say(base, real, ".3f")}, with 6 Mb/s at R2 {say(wide, vegas, ".3f")} and {say(wide, real, ".3f")}: a
        difference as large as that between runs. Of Vegas's losses {say(base, timers, ".0f")} % are repaired by
        timeout and of Real's {say(base, ours, ".0f")} %; waiting for timers costs a call its rate, and its fellows
        wait as often. The claim is {found.verdict(base)}, and {found.verdict(wide)} with the wide R2.
    """)


def _v20(found: FoundExperiment) -> str:
    say, (base, wired, wide) = _say(found), _labels(found)
    udp, vegas = (_named("lost", one, 80, 10, " (%)") for one in (UDP, VEGAS))
    left = _named("lost of what left", VEGAS, 80, 10, " (%)")
    return paragraph(f"""
        As with V8, it is a definition. With 80 calls beside 10 transfers UDP loses {say(base, udp, ".0f")} % of what
        the application made, in queues, and Vegas {say(base, vegas, ".0f")} %, in its senders. Of what was put on the
        wire Vegas loses {say(wired, left, ".1f")} %. A wide R2 lets both through ({say(wide, udp, ".0f")} and
        {say(wide, vegas, ".0f")} %). The claim is {found.verdict(base)} of all that was made, {found.verdict(wired)}
        of what left and {found.verdict(wide)} with 6 Mb/s at R2.
    """)


def _v24(found: FoundExperiment) -> str:
    say, (base, mean, bytes_) = _say(found), _labels(found)
    few, many = "UDP's index, 40 calls", "UDP's index, 80 calls"
    drops = "dropped at R2, 40 calls (%)"
    return paragraph(f"""
        What UDP loses beside transfers it loses at R2, whose buffer counts packets: a call's packet finds it as full
        as a transfer's of six times the size. With 40 calls {say(base, drops, ".1f")} % are dropped there, and the
        index is {say(base, few, ".3f")} ({say(base, many, ".3f")} with 80). A buffer that counts bytes drops
        {say(bytes_, drops, ".1f")} %, and 40 calls are satisfied: {say(bytes_, few, ".3f")}. Where 64 kb/s is the
        mean, R1 drops too ({say(mean, few, ".3f")}). The claim is {found.verdict(base)}, {found.verdict(mean)} with
        the mean and {found.verdict(bytes_)} with a buffer of bytes.
    """)


def _v25(found: FoundExperiment) -> str:
    say, (base, clean, bytes_) = _say(found), _labels(found)
    late = {one: _named("late", one, 120, 0, " (%)") for one in TCPS}
    beside = {one: _named("late", one, 80, 10, " (%)") for one in TCPS}
    lost = _named("lost", WESTWOOD, 120, 0, " (%)")
    return paragraph(f"""
        Only a packet that comes can come late, and {say(base, lost, ".0f")} % of Westwood's never leave their senders
        with 120 calls alone. Late are {say(base, late[WESTWOOD], ".1f")} % of Westwood's packets and
        {say(base, late[REAL], ".1f")} % of Real's. Packet errors have little part in it: without them they are
        {say(clean, late[WESTWOOD], ".1f")} and {say(clean, late[REAL], ".1f")} %. Buffers of 50 kB instead of 50
        packets spare Real most of its late packets and Westwood, whose estimate keeps any buffer overflowed (V2),
        fewer: {say(bytes_, late[WESTWOOD], ".1f")} and {say(bytes_, late[REAL], ".1f")} %, beside 10 transfers with
        80 calls {say(bytes_, beside[WESTWOOD], ".1f")} and {say(bytes_, beside[REAL], ".1f")} %. The claim is
        {found.verdict(base)}, {found.verdict(clean)} without errors and {found.verdict(bytes_)} with buffers of
        bytes.
    """)


def _v26(found: FoundExperiment) -> str:
    say, (base, counted, bare) = _say(found), _labels(found)
    udp, real = (_named("wait at R1", one, 120, 0, " (ms)") for one in (UDP, REAL))
    drops, ours = (_named("dropped at R1", one, 120, 0, " (%)") for one in (UDP, REAL))
    return paragraph(f"""
        R1's buffer holds 50 packets and is full under every transport, so that the wait is the time that 50 packets
        take to send. UDP's have no header in ns-2: with 120 calls they wait {say(base, udp, ".1f")} ms, Real's
        {say(base, real, ".1f")}. With 40 bytes for all UDP's wait {say(counted, udp, ".1f")} ms, the longest. That
        UDP overflows R1 most is true with 120 calls in every case: {say(base, drops, ".0f")} % dropped, of Real's
        {say(base, ours, ".0f")} %; without headers {say(bare, drops, ".0f")} and {say(bare, ours, ".0f")} %. The
        claim is {found.verdict(base)} as ns-2 counts, {found.verdict(counted)} with headers for all and
        {found.verdict(bare)} with none: a header that ns-2 leaves out hides a mechanism that is there.
    """)


def _v29(found: FoundExperiment) -> str:
    say, (base, struck) = _say(found), _labels(found)
    short, long = (f"index falls, UDP, {size}" for size in ("160 B", "500 B"))
    real_short, real_long = (f"index falls, Real, {size}" for size in ("160 B", "500 B"))
    return paragraph(f"""
        A packet error rate strikes a packet of any length alike; long packets are more sensitive only where errors
        strike bytes. From no errors to 0.01 UDP's index falls by {say(base, short, ".3f")} with 160 bytes and by
        {say(base, long, ".3f")} with 500; where bytes are struck by {say(struck, short, ".3f")} and
        {say(struck, long, ".3f")}. Over Real it falls by {say(base, real_short, ".3f")} and
        {say(base, real_long, ".3f")}, and where bytes are struck by {say(struck, real_short, ".3f")} and
        {say(struck, real_long, ".3f")}. Over a TCP the window answers, and runs differ by more than lengths do. The
        claim is {found.verdict(base)} by packets and {found.verdict(struck)} by bytes.
    """)


def _v31(found: FoundExperiment) -> str:
    say, (base, narrow) = _say(found), _labels(found)
    theirs, call = "a transfer beside Vegas, 20 transfers (kb/s)", "a call, Vegas, 20 transfers (kb/s)"
    return paragraph(f"""
        R1 shields the transfers: whatever the calls do, no more than R1's 2 Mb/s reaches R2's 3. With 20 transfers
        and 120 calls over Vegas a transfer has {say(base, theirs, ".1f")} kb/s and a call {say(base, call, ".1f")}.
        With 2 Mb/s at R2 as well, what the calls bring may fill it: a transfer has {say(narrow, theirs, ".1f")} and a
        call {say(narrow, call, ".1f")} kb/s. The claim is {found.verdict(base)} with 3 Mb/s and
        {found.verdict(narrow)} with 2: the fairness is the topology's.
    """)


def _v32(found: FoundExperiment) -> str:
    say, (base, wide, coarse) = _say(found), _labels(found)
    west, vegas = (f"goodput falls, {SHORT[one]}, 80 calls (%)" for one in (WESTWOOD, VEGAS))
    timers = _named("repaired by timeout", WESTWOOD, 80, 20, " (%)")
    return paragraph(f"""
        Westwood keeps its window at a random loss, since its estimate of the bandwidth does not fall. That shows
        where the window is what limits. From no errors to 0.05 its goodput falls by {say(base, west, ".1f")} % with
        80 calls, Vegas's by {say(base, vegas, ".1f")} %. With 6 Mb/s at R2 they fall by {say(wide, west, ".1f")} and
        {say(wide, vegas, ".1f")} %. With a clock of 500 ms they fall by {say(coarse, west, ".1f")} and
        {say(coarse, vegas, ".1f")} %, since {say(coarse, timers, ".1f")} % of Westwood's losses are repaired by
        timeout. The claim is {found.verdict(base)}, {found.verdict(wide)} with the wide R2 and
        {found.verdict(coarse)} with the clock.
    """)


def _v34(found: FoundExperiment) -> str:
    say, (base, wide, delay) = _say(found), _labels(found)
    early, later = (f"late, Real, 120 calls, {size} ms (%)" for size in (100, 200))
    return paragraph(f"""
        Below 200 ms packets come late because a window of a few packets waits a round trip and more for its
        acknowledgements. Over Real with 120 calls {say(base, early, ".1f")} % are late at 100 ms and
        {say(base, later, ".1f")} % at 200: more than the 5 points that count as slight. With 6 Mb/s at R2 more is
        sent, and as much is late: {say(wide, early, ".1f")} and {say(wide, later, ".1f")} %. By one-way delay next to
        nothing turns between the two thresholds, because speech over a TCP under contention is seconds old (V15). The
        claim is {found.verdict(base)}, {found.verdict(wide)} with the wide R2 and {found.verdict(delay)} by delay.
    """)


def _v35(found: FoundExperiment) -> str:
    say, (base, wired, wide) = _say(found), _labels(found)
    vegas = "index, Vegas, 80 calls, 200 ms"
    lost = "lost, Vegas, 80 calls (%)"
    left = "satisfied at 200 ms: flows 80, transport tcp/vegas"
    return paragraph(f"""
        Nobody is satisfied at 200 ms whose speech does not leave the sender: over Vegas with 80 calls
        {say(base, lost, ".0f")} % have not arrived when the run ends, and the index is {say(base, vegas, ".3f")}. Of
        what was put on the wire it is {say(wired, left, ".3f")}, near the 0.9 that counts as satisfied. With 6 Mb/s
        at R2 {say(wide, lost, ".0f")} % are missing, and it is {say(wide, vegas, ".3f")}. The claim is
        {found.verdict(base)} of all that was made, {found.verdict(wired)} of what left and {found.verdict(wide)} with
        the wide R2. What the paper calls satisfaction is that of the packets that were sent.
    """)


def _v36(found: FoundExperiment) -> str:
    say, (base, wide) = _say(found), _labels(found)
    few, drops = "lost, UDP, 80 calls (%)", "dropped at R1, 80 calls (%)"
    return paragraph(f"""
        UDP does not answer, so that what exceeds R1 is dropped there: with 80 calls {say(base, drops, ".0f")} % of
        {say(base, few, ".0f")} % lost. With 4 Mb/s at R1 {say(wide, drops, ".1f")} % are dropped and
        {say(wide, few, ".1f")} % lost, by the last hop. The claim is {found.verdict(base)} and {found.verdict(wide)}:
        it holds wherever R1 is a bottleneck.
    """)


def _v37(found: FoundExperiment) -> str:
    say, (base, wired, bare) = _say(found), _labels(found)
    udp, real, west = (_named("index", one, 80) for one in (UDP, REAL, WESTWOOD))
    left, left_west = (_named("index of what left", one, 80) for one in (REAL, WESTWOOD))
    return paragraph(f"""
        Congestion control hurts by what it keeps from the wire. With 80 calls alone UDP's index is
        {say(base, udp, ".3f")}, Real's {say(base, real, ".3f")} and Westwood's {say(base, west, ".3f")}, because what
        waits in a sender was made and is not heard. Of what was put on the wire Real's is {say(wired, left, ".3f")}
        and Westwood's {say(wired, left_west, ".3f")}: what is sent comes in time. Headers take a part of the rest:
        without them Real has {say(bare, real, ".3f")}. The claim is {found.verdict(base)} of all that was made,
        {found.verdict(wired)} of what left and {found.verdict(bare)} without headers.
    """)


def _v38(found: FoundExperiment) -> str:
    say, (base, delay, clean) = _say(found), _labels(found)
    udp, vegas = (_named("index", one, 40) for one in (UDP, VEGAS))
    beside, west = (_named("index", one, 40, 10) for one in (UDP, WESTWOOD))
    return paragraph(f"""
        The gain is repair. Alone with 40 calls a TCP sends again what the last hop loses, and by gaps the packet that
        was sent again comes in time: Vegas's index is {say(base, vegas, ".3f")}, UDP's {say(base, udp, ".3f")}.
        Without packet errors there is nothing to repair there: {say(clean, vegas, ".3f")} and
        {say(clean, udp, ".3f")}. Beside 10 transfers it is R2's drops that Westwood repairs, {say(base, west, ".3f")}
        to UDP's {say(base, beside, ".3f")}, and without errors as well ({say(clean, west, ".3f")} to
        {say(clean, beside, ".3f")}). By one-way delay a packet that was sent again, and those that wait for it, are
        late. The claim is {found.verdict(base)} by gaps, {found.verdict(delay)} by delay and {found.verdict(clean)}
        without errors.
    """)


def _strays(measure: Measure, transport: str, flows: int) -> Quantity:
    """By how much a run of calls alone is off the mean over runs, in %."""

    def taken(data: Data) -> NDArray[np.float64]:
        found = at(measure, transport, flows, 0)(data)
        off: NDArray[np.float64] = np.abs(found / found.mean() - 1) * 100
        return off

    return taken


def _v39(found: FoundExperiment) -> str:
    say, (base, even, clean) = _say(found), _labels(found)
    udp, real = "goodput off the mean, UDP, 40 calls (%)", "goodput off the mean, Real, 80 calls (%)"
    index = "index off the mean, Real, 80 calls (%)"
    return paragraph(f"""
        What varies between runs is how much the calls say. Alone with 40 calls over UDP a run's goodput is off the
        mean by {say(base, udp, ".1f")} %, and without packet errors by {say(clean, udp, ".1f")} %: errors have no
        part in it. Periods of shape 1.5 have no finite variance; with exponential ones it is {say(even, udp, ".1f")}
        %. Where the path is full it decides, and Real's goodput with 80 calls is off by {say(base, real, ".1f")} %,
        its index by {say(base, index, ".1f")} % ({say(even, index, ".1f")} with exponential periods). Means are
        within the 5 % of the claim nearly everywhere; that every point's is, five seeds leave open. The claim is
        {found.verdict(base)}, {found.verdict(even)} with exponential periods and {found.verdict(clean)} without
        errors.
    """)


FURTHER = (
    Experiment(
        "why-V1", "V1", "Packet errors on the last hop; then headers.", (AS_BASE_SIDE, NO_ERRORS, ALL_COUNTED), _v1,
        {**_each(q.GOODPUT, 40, 10, "goodput", " (Mb/s)"), **_each(q.GOODPUT, 120, 0, "goodput", " (Mb/s)")},
    ),
    Experiment(
        "why-V6", "V6", "Headers, which ns-2 adds to Real's segments and not to Vegas's.", (AS_BASE_SIDE, NO_HEADERS),
        _v6, {**_each(q.FAIRNESS, 120, 0, "fairness"), **_each(q.FAIRNESS, 80, 10, "fairness")},
    ),
    Experiment(
        "why-V7", "V7", "R1's rate; then the clock of timeouts.", (AS_BASE_SIDE, WIDE_FIRST, COARSE), _v7,
        {
            **{_named("fairness", VEGAS, one): at(q.FAIRNESS, VEGAS, one, 0) for one in (80, 120)},
            **{
                _named("repaired by timeout", VEGAS, one, 0, " (%)"): at(q.TIMEOUTS, VEGAS, one, 0)
                for one in (80, 120)
            },
        },
    ),
    Experiment(
        "why-V8", "V8", "What counts as sent; then headers.", (AS_BASE_SIDE, WIRED_SIDE, ALL_COUNTED), _v8,
        {**_each(LOST, 120, 0, "lost", " (%)"), **_each(LOST_OF_WIRED, 120, 0, "lost of what left", " (%)")},
    ),
    Experiment(
        "why-V12", "V12", "Whether Vegas repairs by its own rule; then R1's rate.",
        (AS_BASE_SIDE, AS_NEWRENO, NARROW_FIRST), _v12, {**_falls(80), **_falls(120)},
    ),
    Experiment(
        "why-V13", "V13", "Whether R2 limits; then headers.", (AS_BASE_SIDE, ROOM_SIDE, NO_HEADERS), _v13,
        {
            **_falls(80),
            **_each(q.TIMEOUTS, 80, 20, "repaired by timeout", " (%)", TCPS, per=0.05),
            **{
                f"goodput without errors, {SHORT[one]}, 80 calls (Mb/s)": at(q.GOODPUT, one, 80, 20, per=0.0)
                for one in TCPS
            },
        },
    ),
    Experiment(
        "why-V15", "V15", "What makes a packet late.", (AS_BASE_SIDE, BY_DELAY), _v15,
        {
            **{
                f"index gains from 100 to 400 ms, {SHORT[one]}, 80 calls":
                    _less(_within(one, 80, 400.0), _within(one, 80, 100.0))
                for one in EVERY
            },
            **{f"delay, {SHORT[one]}, 80 calls (ms)": at(q.DELAY, one, 80, 20) for one in EVERY},
        },
    ),
    Experiment(
        "why-V17", "V17", "Headers, which ns-2 adds to Real's segments and not to Vegas's.", (AS_BASE_SIDE, NO_HEADERS),
        _v17,
        {
            f"index, {SHORT[one]}, {flows} calls, errors of 0.05": at(INDEX, one, flows, 20, per=0.05)
            for one in TCPS
            for flows in (80, 120)
        },
    ),
    Experiment(
        "why-V18", "V18", "R1's rate; then how much a call says.", (AS_BASE_SIDE, WIDE_FIRST, ON_THE_MEAN), _v18,
        {
            **{f"UDP's index, {flows} calls": at(INDEX, UDP, flows, 0) for flows in (40, 80, 120)},
            **{f"dropped at R1, {flows} calls (%)": at(q.FIRST_DROPS, UDP, flows, 0) for flows in (40, 80, 120)},
        },
    ),
    Experiment(
        "why-V19", "V19", "R2's rate.", (AS_BASE_SIDE, WIDE_SECOND), _v19,
        {
            **_each(q.FAIRNESS, 80, 10, "fairness"),
            **_each(q.TIMEOUTS, 80, 10, "repaired by timeout", " (%)", TCPS),
        },
    ),
    Experiment(
        "why-V20", "V20", "What counts as sent; then R2's rate.", (AS_BASE_SIDE, WIRED_SIDE, WIDE_SECOND), _v20,
        {**_each(LOST, 80, 10, "lost", " (%)"), **_each(LOST_OF_WIRED, 80, 10, "lost of what left", " (%)")},
    ),
    Experiment(
        "why-V24", "V24", "How much a call says; then whether R2's buffer counts packets.",
        (AS_BASE_SIDE, ON_THE_MEAN, IN_BYTES), _v24,
        {
            **{f"UDP's index, {flows} calls": at(INDEX, UDP, flows, 10) for flows in (40, 80)},
            **{f"dropped at R2, {flows} calls (%)": at(q.SHARED_DROPS, UDP, flows, 10) for flows in (40, 80)},
        },
    ),
    Experiment(
        "why-V25", "V25", "Packet errors; then what buffers count.", (AS_BASE_SIDE, NO_ERRORS, IN_BYTES), _v25,
        {
            **_each(LATE_SHARE, 120, 0, "late", " (%)", TCPS),
            **_each(LOST, 120, 0, "lost", " (%)", TCPS),
            **_each(LATE_SHARE, 80, 10, "late", " (%)", TCPS),
            **_each(LOST, 80, 10, "lost", " (%)", TCPS),
        },
    ),
    Experiment(
        "why-V26", "V26", "Headers: as ns-2 counts them, for all, and none.", (AS_BASE_SIDE, ALL_COUNTED, NO_HEADERS),
        _v26,
        {
            **_each(q.FIRST_WAIT, 120, 0, "wait at R1", " (ms)"),
            **_each(q.FIRST_DROPS, 120, 0, "dropped at R1", " (%)"),
        },
    ),
    Experiment(
        "why-V29", "V29", "Whether errors strike packets or bytes.", (AS_BASE_SIDE, STRUCK_BYTES), _v29,
        {
            f"index falls, {SHORT[one]}, {size}":
                _less(at(INDEX, one, 80, 20, payload=size, per=0.0), at(INDEX, one, 80, 20, payload=size))
            for one in (UDP, VEGAS, REAL)
            for size in ("160 B", "500 B")
        },
    ),
    Experiment(
        "why-V31", "V31", "R2's rate.",
        (AS_BASE_SIDE, Side("R2→R3 2 Mb/s", {"shared-bottleneck": "2 Mb/s"})), _v31,
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
        "why-V32", "V32", "Whether R2 limits; then the clock of timeouts.", (AS_BASE_SIDE, WIDE_SECOND, COARSE), _v32,
        {**_falls(80, TCPS), **_each(q.TIMEOUTS, 80, 20, "repaired by timeout", " (%)", TCPS, per=0.05)},
    ),
    Experiment(
        "why-V34", "V34", "R2's rate; then what makes a packet late.", (AS_BASE_SIDE, WIDE_SECOND, BY_DELAY), _v34,
        {
            f"late, {SHORT[one]}, {flows} calls, {threshold:.0f} ms (%)": _late_by(one, flows, threshold)
            for one in TCPS
            for flows in (40, 120)
            for threshold in (100.0, 200.0)
        },
    ),
    Experiment(
        "why-V35", "V35", "What counts as sent; then R2's rate.", (AS_BASE_SIDE, WIRED_SIDE, WIDE_SECOND), _v35,
        {
            **{
                f"index, {SHORT[one]}, 80 calls, {threshold:.0f} ms": _within(one, 80, threshold)
                for one in (VEGAS, REAL)
                for threshold in (100.0, 200.0)
            },
            **{f"lost, {SHORT[one]}, 80 calls (%)": at(LOST, one, 80, 20) for one in (VEGAS, REAL)},
        },
    ),
    Experiment(
        "why-V36", "V36", "R1's rate.", (AS_BASE_SIDE, WIDE_FIRST), _v36,
        {
            **{f"lost, UDP, {flows} calls (%)": at(LOST, UDP, flows, 0) for flows in (80, 120)},
            **{f"dropped at R1, {flows} calls (%)": at(q.FIRST_DROPS, UDP, flows, 0) for flows in (80, 120)},
        },
    ),
    Experiment(
        "why-V37", "V37", "What counts as sent; then headers.", (AS_BASE_SIDE, WIRED_SIDE, NO_HEADERS), _v37,
        {
            **_each(INDEX, 80, 0, "index"),
            **_each(WIRED_INDEX, 80, 0, "index of what left"),
            **_each(INDEX, 80, 10, "index"),
        },
    ),
    Experiment(
        "why-V38", "V38", "What makes a packet late; then packet errors.", (AS_BASE_SIDE, BY_DELAY, NO_ERRORS), _v38,
        {**_each(INDEX, 40, 0, "index"), **_each(INDEX, 40, 10, "index")},
    ),
    Experiment(
        "why-V39", "V39", "The law of talk and silence; then packet errors.",
        (AS_BASE_SIDE, Side("exponential periods", {"periods": "exponential"}), NO_ERRORS), _v39,
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
