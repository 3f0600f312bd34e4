"""Expectations before the first run, F1 to F20, each with its test; F21 to F26 are a second look.

The second look was stated after F1 to F20 had been judged once, and before its quantities were measured. E-model MOS is
1 for all calls over TCP, so F21 to F24 use the papers' measure instead: speech within 300 ms. CSFQ keeps a buffer of
300 ms full, so F25 and F26 use a buffer of 50 ms, as its authors did.

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
from fairwave_study.claims import Evidence
from fairwave_study.comparisons import LITTLE_COST, LITTLE_MOS, LITTLE_SEEN, differs, join

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairwave.measuring.measures import Measure
    from fairwave_study.parts import Data

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
    return join(*(differs(found, "carrier", one, other, factor=1 - LITTLE_COST) for one, other in pairs))


def _on(line: str, measure: Measure, **how: Any) -> Any:
    def test(data: Data) -> Evidence:
        found = data.measured(measure, p.STREAMS).select(line=line).drop_axes("line")
        return differs(found, "carrier", p.RAP_GAMMA, p.RAP, **how)

    return test


def _queue(measure: Measure, queue: str, line: float = 0.0, **how: Any) -> Any:
    return _test(p.QUEUES, measure, "queue", queue, p.SEL, line, **how)


TESTS: Mapping[str, Callable[[Data], Evidence]] = {
    "F1": _call(p.TFRC_SP, p.TFRC),
    "F2": _call(p.TFRC_SP, p.UDP, -LITTLE_MOS),
    "F3": _call(p.SACK_PARTIAL, p.SACK),
    "F4": _call(p.REAL_PARTIAL, p.REAL),
    "F5": _call(p.REAL_PARTIAL, p.UDP, -LITTLE_MOS),
    "F6": _cheap,
    "F7": _call(p.RAP_GAMMA, p.RAP),
    "F8": _on(p.ALONE, WAIT, factor=0.5, below=True),
    "F9": _on(p.ALONE, STREAM_LOSS, below=True),
    "F10": _on(p.ALONE, STREAM, factor=1 - LITTLE_COST),
    "F11": _on(p.BESIDE, STREAM, factor=0.5, below=True),
    "F12": _test(p.VIDEO, SEEN, "carrier", p.PROFILE, p.LAYERS, -LITTLE_SEEN),
    "F13": _test(p.VIDEO, RETURN, "carrier", p.PROFILE, p.LAYERS, below=True),
    "F14": _test(p.VIDEO, PICTURE, "carrier", p.FINE, p.LAYERS),
    "F15": _test(p.VIDEO, SEEN, "carrier", p.FINE, p.LAYERS, -LITTLE_SEEN),
    "F16": _test(p.VIDEO, TRANSFERS, "carrier", p.FINE, p.LAYERS, factor=1 - LITTLE_COST),
    "F17": _queue(TRANSFERS, p.AFD, factor=1 - LITTLE_COST),
    "F18": _queue(TRANSFERS, p.CSFQ, factor=1 - LITTLE_COST),
    "F19": _queue(MOS, p.AFD, -LITTLE_MOS),
    "F20": _queue(MOS, p.CSFQ, -LITTLE_MOS),
    "F21": _timely(p.TFRC_SP, p.TFRC),
    "F22": _timely(p.SACK_PARTIAL, p.SACK),
    "F23": _timely(p.REAL_PARTIAL, p.REAL),
    "F24": _timely(p.RAP_GAMMA, p.RAP),
    "F25": _queue(MOS, p.CSFQ_SHORT, -LITTLE_MOS),
    "F26": _queue(TRANSFERS, p.CSFQ_SHORT, factor=1 - LITTLE_COST),
}
