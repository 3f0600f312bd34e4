"""What was expected before anything was measured, F1 to F20, each with its test; F21 to F26 are a second look.

The second look was stated after F1 to F20 had been judged once, and before its own quantities were measured. E-model
MOS is 1 for all calls over TCP, so F21 to F24 ask again by the papers' own measure, speech within 300 ms. CSFQ keeps a
buffer of 300 ms full, so F25 and F26 ask again with a buffer of 50 ms, as its authors had.

**How words are read.** A call is *better* by its E-model MOS, the mean over all calls; 0.1 of it is
*little*. A *cost* is
goodput that others lose; 5 % is *little*. Of a video's frames 5 points are *little*. A claim holds at
every point of its
grid. All comparisons are made seed by seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave.measuring import measures
from fairwave_studies.future import points as p
from fairwave_study.claims import Claim, Evidence
from fairwave_study.comparisons import LITTLE_COST, LITTLE_MOS, LITTLE_SEEN, differs

if TYPE_CHECKING:
    from fairwave.measuring.measures import Measure
    from fairwave_study.study import Data

CALL_MOS = measures.mos("voice")
TIMELY = measures.index("voice", threshold_s=0.3)
MOS = measures.mos()
TRANSFERS = measures.goodput("ftp")
STREAM = measures.goodput("stream")
OTHER = measures.goodput("other")
PICTURE = measures.goodput("video")
SEEN = measures.decodable("video")
STREAM_LOSS = measures.packet_loss("stream")
WAIT = measures.link("mean_wait_s", "r1>r2", "mean wait in the queue", "ms", 1e3)
RETURN = measures.link("utilisation", "r2>r1", "use of the return link", "%", 100)


def _test(grid: str, measure: Measure, axis: str, one: str, other: str, line: float = 0.0, **how: Any) -> Any:
    return lambda data: differs(data.measured(measure, grid), axis, one, other, line, **how)


def _call(one: str, other: str, line: float = 0.0) -> Any:
    return _test(p.CALLS, CALL_MOS, "carrier", one, other, line)


def _timely(one: str, other: str) -> Any:
    return _test(p.CALLS, TIMELY, "carrier", one, other)


def _cheap(data: Data) -> Evidence:
    found = data.measured(TRANSFERS, p.CALLS)
    pairs = ((p.TFRC_SP, p.TFRC), (p.SACK_PARTIAL, p.SACK), (p.REAL_PARTIAL, p.REAL))
    first, *rest = (differs(found, "carrier", one, other, factor=1 - LITTLE_COST) for one, other in pairs)
    for each in rest:
        first = first & each
    return first


def _on(line: str, measure: Measure, **how: Any) -> Any:
    def test(data: Data) -> Evidence:
        found = data.measured(measure, p.STREAMS).at(line=line).without("line")
        return differs(found, "carrier", p.RAP_GAMMA, p.RAP, **how)

    return test


def _queue(measure: Measure, queue: str, line: float = 0.0, **how: Any) -> Any:
    return _test(p.QUEUES, measure, "queue", queue, p.SEL, line, **how)


CLAIMS = (
    Claim(
        "F1",
        "Calls over TFRC-SP are better than calls over TFRC.",
        "papers 000 and 001, TFRC's small-packet variant",
        (p.CALLS,),
        _call(p.TFRC_SP, p.TFRC),
    ),
    Claim(
        "F2",
        "Calls over TFRC-SP are at most little worse than calls over UDP.",
        "papers 000 and 001, TFRC's small-packet variant",
        (p.CALLS,),
        _call(p.TFRC_SP, p.UDP, -LITTLE_MOS),
    ),
    Claim(
        "F3",
        "A deadline of 300 ms makes calls over TCP with SACK better.",
        "papers 000 and 001, partial reliability",
        (p.CALLS,),
        _call(p.SACK_PARTIAL, p.SACK),
    ),
    Claim(
        "F4",
        "A deadline of 300 ms makes calls over TCP-Real better.",
        "paper 000 §6",
        (p.CALLS,),
        _call(p.REAL_PARTIAL, p.REAL),
    ),
    Claim(
        "F5",
        "Calls over partially reliable TCP-Real are at most little worse than calls over UDP.",
        "paper 000 §6",
        (p.CALLS,),
        _call(p.REAL_PARTIAL, p.UDP, -LITTLE_MOS),
    ),
    Claim(
        "F6",
        "TFRC-SP and the deadlines cost the transfers little.",
        "papers 000 and 001",
        (p.CALLS,),
        _cheap,
    ),
    Claim(
        "F7",
        "γ makes calls over a congestion-controlled unreliable stream better.",
        "paper 003, for unreliable streams",
        (p.CALLS,),
        _call(p.RAP_GAMMA, p.RAP),
    ),
    Claim(
        "F8",
        "Where all streams use γ, packets wait at most half as long.",
        "paper 003, for unreliable streams",
        (p.STREAMS,),
        _on(p.ALONE, WAIT, factor=0.5, below=True),
    ),
    Claim(
        "F9",
        "Where all streams use γ, they lose fewer packets.",
        "paper 003, for unreliable streams",
        (p.STREAMS,),
        _on(p.ALONE, STREAM_LOSS, below=True),
    ),
    Claim(
        "F10",
        "Where all streams use γ, their goodput falls by little.",
        "paper 003, for unreliable streams",
        (p.STREAMS,),
        _on(p.ALONE, STREAM, factor=1 - LITTLE_COST),
    ),
    Claim(
        "F11",
        "Next to Reno, γ takes more than half of the streams' goodput.",
        "paper 003, for unreliable streams",
        (p.STREAMS,),
        _on(p.BESIDE, STREAM, factor=0.5, below=True),
    ),
    Claim(
        "F12",
        "As a DCCP profile that reports once per round trip, AIAMD delivers at most little fewer frames.",
        "paper 002 §6, as a profile of DCCP",
        (p.VIDEO,),
        _test(p.VIDEO, SEEN, "carrier", p.PROFILE, p.LAYERS, -LITTLE_SEEN),
    ),
    Claim(
        "F13",
        "The profile needs less of the return link.",
        "paper 002 §6, as a profile of DCCP",
        (p.VIDEO,),
        _test(p.VIDEO, RETURN, "carrier", p.PROFILE, p.LAYERS, below=True),
    ),
    Claim(
        "F14",
        "Layers that are cut anywhere deliver more of the video.",
        "paper 002 §3.3, fine granularity",
        (p.VIDEO,),
        _test(p.VIDEO, PICTURE, "carrier", p.FINE, p.LAYERS),
    ),
    Claim(
        "F15",
        "Layers that are cut anywhere deliver at most little fewer frames.",
        "paper 002 §3.3, fine granularity",
        (p.VIDEO,),
        _test(p.VIDEO, SEEN, "carrier", p.FINE, p.LAYERS, -LITTLE_SEEN),
    ),
    Claim(
        "F16",
        "Layers that are cut anywhere cost the transfers little.",
        "paper 002 §3.3, fine granularity",
        (p.VIDEO,),
        _test(p.VIDEO, TRANSFERS, "carrier", p.FINE, p.LAYERS, factor=1 - LITTLE_COST),
    ),
    Claim(
        "F17",
        "AFD leaves the transfers at least what RED with Drop-Sel does, to 5 %.",
        "paper 004 §2, AFD",
        (p.QUEUES,),
        _queue(TRANSFERS, p.AFD, factor=1 - LITTLE_COST),
    ),
    Claim(
        "F18",
        "CSFQ leaves the transfers at least what RED with Drop-Sel does, to 5 %.",
        "paper 004 §2, CSFQ",
        (p.QUEUES,),
        _queue(TRANSFERS, p.CSFQ, factor=1 - LITTLE_COST),
    ),
    Claim(
        "F19",
        "Calls under AFD are at most little worse than under RED with Drop-Sel.",
        "paper 004 §2, AFD",
        (p.QUEUES,),
        _queue(MOS, p.AFD, -LITTLE_MOS),
    ),
    Claim(
        "F20",
        "Calls under CSFQ are at most little worse than under RED with Drop-Sel.",
        "paper 004 §2, CSFQ",
        (p.QUEUES,),
        _queue(MOS, p.CSFQ, -LITTLE_MOS),
    ),
    Claim(
        "F21",
        "More speech over TFRC-SP arrives within 300 ms than over TFRC.",
        "second look: papers 000 and 001, TFRC's small-packet variant",
        (p.CALLS,),
        _timely(p.TFRC_SP, p.TFRC),
    ),
    Claim(
        "F22",
        "With a deadline of 300 ms more speech over TCP with SACK arrives within 300 ms.",
        "second look: papers 000 and 001, partial reliability",
        (p.CALLS,),
        _timely(p.SACK_PARTIAL, p.SACK),
    ),
    Claim(
        "F23",
        "With a deadline of 300 ms more speech over TCP-Real arrives within 300 ms.",
        "second look: paper 000 §6",
        (p.CALLS,),
        _timely(p.REAL_PARTIAL, p.REAL),
    ),
    Claim(
        "F24",
        "With γ more speech over an unreliable stream arrives within 300 ms.",
        "second look: paper 003, for unreliable streams",
        (p.CALLS,),
        _timely(p.RAP_GAMMA, p.RAP),
    ),
    Claim(
        "F25",
        "With a buffer of 50 ms calls under CSFQ are at most little worse than under RED with Drop-Sel.",
        "second look: paper 004 §2, CSFQ",
        (p.QUEUES,),
        _queue(MOS, p.CSFQ_SHORT, -LITTLE_MOS),
    ),
    Claim(
        "F26",
        "With a buffer of 50 ms CSFQ leaves the transfers at least what RED with Drop-Sel does, to 5 %.",
        "second look: paper 004 §2, CSFQ",
        (p.QUEUES,),
        _queue(TRANSFERS, p.CSFQ_SHORT, factor=1 - LITTLE_COST),
    ),
)
"""In the order in which they are told."""
