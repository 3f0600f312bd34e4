"""Expectations before the first run, W1 to W22, each with its test.

The numbers in the claims are ours where RFC 8836 and RFC 8867 give none; they were fixed before the first run. RFC
8868 §3 gives the bound on ratios of rates, a third to three.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.measuring import measures
from fairwave_studies.conference import points as p
from fairwave_studies.conference import quantities as q
from fairwave_study.claims import Evidence
from fairwave_study.comparisons import differs, is_above, is_below, join, lowest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure
    from fairwave_study.parts import Data

THIRD = 1 / 3
"""RFC 8868 §3, metric 7."""

LITTLE_MOS = 0.1

OTHER_QUEUES = (p.CODEL, p.PIE, p.FQ_CODEL, p.CAKE, p.DUALPI2)


def _select(
    data: Data,
    measure: Measure,
    case: str,
    queue: str = p.TAIL,
    controllers: Sequence[str] = p.TODAY,
) -> Measured:
    """A measure of a case under one queue, for some controllers."""
    return data.measured(measure, case).select(queue=queue, controller=list(controllers)).drop_axes("queue")


def _least(case: str, of: Callable[[str], Measure], line: float) -> Callable[[Data], Evidence]:
    return lambda data: is_above(_select(data, of(case), case), line)


def _most(case: str, of: Callable[[str], Measure], line: float) -> Callable[[Data], Evidence]:
    return lambda data: is_below(_select(data, of(case), case), line)


def _queues(
    case: str, of: Callable[[str], Measure], one: str, line: float = 0.0
) -> Callable[[Data], Evidence]:
    """Compares a queue with drop-tail, for each current controller."""

    def test(data: Data) -> Evidence:
        found = data.measured(of(case), case).select(queue=[one, p.TAIL], controller=list(p.TODAY))
        return differs(found, "queue", one, p.TAIL, line)

    return test


def _compare_queues(data: Data) -> Evidence:
    return join(*(_queues(p.VARIABLE, q.audio, one, -LITTLE_MOS)(data) for one in OTHER_QUEUES))


def _quicker(rival: str) -> Callable[[Data], Evidence]:
    def test(data: Data) -> Evidence:
        return join(
            *(
                lowest(
                    _select(data, q.QUEUEING, p.VARIABLE, controllers=(one, rival)),
                    one,
                    [rival],
                    axis="controller",
                )
                for one in p.TODAY
            )
        )

    return test


def _marks(data: Data) -> Evidence:
    found = data.measured(q.QUEUEING, p.ECN).select(queue=[p.DUALPI2, p.TAIL], controller=p.SCREAM)
    return differs(found.drop_axes("controller"), "queue", p.DUALPI2, p.TAIL, below=True)


def _twice(data: Data) -> Evidence:
    found = _select(data, q.preference(), p.PRIORITY)
    return is_above(found, 1.5) & is_below(found, 2.5)


TESTS: Mapping[str, Callable[[Data], Evidence]] = {
    "W1": lambda data: is_above(_select(data, q.USED, p.VARIABLE), 0.6),
    "W2": lambda data: is_below(_select(data, q.QUEUEING, p.VARIABLE), 100.0),
    "W3": _most(p.VARIABLE, q.lost, 2.0),
    "W4": _most(p.VARIABLE, q.convergence, 15.0),
    "W5": _least(p.SEVERAL, q.balance, THIRD),
    "W6": lambda data: is_above(_select(data, measures.goodput("media"), p.FEEDBACK), 0.3),
    "W7": _least(p.COMPETING, q.balance, THIRD),
    "W8": _least(p.ROUND_TRIPS, q.balance, THIRD),
    "W9": _least(p.TCP, q.rate, 0.3),
    "W10": _least(p.TCP_DEEP, q.rate, 0.3),
    "W11": _least(p.TCP, q.goodput_of_rest, 0.4),
    "W12": _most(p.WEB, q.frozen, 5.0),
    "W13": lambda data: is_above(_select(data, q.regained(), p.PAUSE), 0.5),
    "W14": _compare_queues,
    "W15": _queues(p.TCP, q.rate, p.FQ_CODEL),
    "W16": _queues(p.TCP, q.rate, p.CAKE),
    "W17": _queues(p.TCP, q.audio, p.SEL),
    "W18": _quicker(p.RTCP),
    "W19": _quicker(p.TFRC),
    "W20": _marks,
    "W21": _least(p.BOTTLENECKS, q.balance, THIRD),
    "W22": _twice,
}
