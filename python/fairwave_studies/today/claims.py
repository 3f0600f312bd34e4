"""Expectations before the first run, N1 to N14, each with its test.

**Meaning of the words.** A call is *better* by its E-model MOS, the mean over the four calls; a difference of 0.1 is
*not worth a word*. The *cost* of a mechanism is goodput of the transfers; five percent is *little*. Differences in the
share of frames that are decodable at their display time are in points; five are *little*. All comparisons are paired by
seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave.measuring import measures
from fairwave_studies.today import points as p
from fairwave_study.claims import Comparison, Evidence
from fairwave_study.comparisons import LITTLE_COST, LITTLE_MOS, LITTLE_SEEN, differs, join

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairwave.measuring.measured import Measured
    from fairwave_study.parts import Data

MOS = measures.mos("call")
TRANSFERS = measures.goodput("transfer")
SMOOTH = measures.goodput("smooth")
SEEN = measures.decodable("video")


def _queues(data: Data, measure: Any, **labels: Any) -> Measured:
    found = data.measured(measure, p.QUEUES).select(**labels)
    single = [axis for axis in found.axes if len(found.labels(axis)) == 1]
    return found.drop_axes(*single)


def _rival(scheme: str, rival: str) -> Any:
    return lambda data: differs(_queues(data, MOS, rival=rival), "queue", scheme, p.TAIL)


def _cheap(data: Data) -> Evidence:
    found = _queues(data, TRANSFERS, rival=list(p.DEPLOYED))
    return differs(found, "queue", p.SEL, p.TAIL, factor=1 - LITTLE_COST)


def _guard(data: Data) -> Evidence:
    return differs(_queues(data, MOS, rival=list(p.DEPLOYED)), "queue", p.GUARD, p.SEL, -LITTLE_MOS)


def _apart(data: Data) -> Evidence:
    found = _queues(data, MOS, rival=list(p.DEPLOYED))
    return join(*(differs(found, "queue", queue, p.SEL, -LITTLE_MOS) for queue in ("fq-codel", "cake")))


def _codel(data: Data) -> Evidence:
    found = _queues(data, MOS, rival=list(p.DEPLOYED))
    return differs(found, "queue", p.CODEL_SEL, p.CODEL, LITTLE_MOS, below=True)


def _prague(data: Data) -> Evidence:
    return differs(_queues(data, MOS, rival="tcp/prague"), "queue", "dualpi2", "fq-codel", -LITTLE_MOS)


def _replace_cubic(smooth: str) -> Any:
    return lambda data: differs(_queues(data, MOS, queue=p.TAIL), "rival", smooth, "tcp/cubic")


def _carriers(data: Data) -> Evidence:
    found = data.measured(MOS, p.CARRIERS)
    return differs(found, "carrier", "udp", "tcp/real")


def _streams(data: Data) -> Evidence:
    found = data.measured(SEEN, p.VIDEO).select(queue=p.TAIL).drop_axes("queue")
    return differs(found, "carrier", "dvrc", "rtcp")


def _streams_apart(data: Data) -> Evidence:
    found = data.measured(SEEN, p.VIDEO).select(queue="fq-codel").drop_axes("queue")
    return differs(found, "carrier", "dvrc", "rtcp", LITTLE_SEEN, below=True)


def _starved(data: Data) -> Evidence:
    theirs, ours = (
        data.measured(one, p.AMONG).select(queue=p.TAIL, smooth="tcp/gamma") for one in (TRANSFERS, SMOOTH)
    )
    got = [one.drop_axes("queue", "smooth").samples() for one in (ours, theirs)]
    return Evidence([Comparison("γ − 0.5 × CUBIC", got[0] - 0.5 * got[1], 0.0, "below", "Mb/s")])


def _kept_apart(data: Data) -> Evidence:
    theirs, ours = (
        data.measured(one, p.AMONG).select(queue="fq-codel", smooth="tcp/gamma")
        for one in (TRANSFERS, SMOOTH)
    )
    got = [one.drop_axes("queue", "smooth").samples() for one in (ours, theirs)]
    return Evidence([Comparison("γ − 0.8 × CUBIC", got[0] - 0.8 * got[1], 0.0, "above", "Mb/s")])


TESTS: Mapping[str, Callable[[Data], Evidence]] = {
    "N1": _rival(p.SEL, "tcp/cubic"),
    "N2": _rival(p.SEL, "tcp/bbr"),
    "N3": _cheap,
    "N4": _guard,
    "N5": _apart,
    "N6": _codel,
    "N7": _prague,
    "N8": _replace_cubic("tcp/gamma"),
    "N9": _replace_cubic("tcp/real"),
    "N10": _carriers,
    "N11": _streams,
    "N12": _streams_apart,
    "N13": _starved,
    "N14": _kept_apart,
}
