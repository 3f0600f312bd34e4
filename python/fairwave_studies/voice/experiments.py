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
from fairwave_study.experiments import Experiment, Side

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

EXPERIMENTS = (
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
"""In the order of the claims."""
