"""What was expected before anything was measured, W1 to W22, each with its test.

The numbers in the claims are ours where RFC 8836 and RFC 8867 give none; they were fixed before the first run. RFC
8868 §3 gives the bound on ratios of rates, a third to three.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave.measuring import measures
from fairwave_studies.conference import points as p
from fairwave_studies.conference import quantities as q
from fairwave_study import texts
from fairwave_study.claims import Claim, Evidence
from fairwave_study.comparisons import above, below, differs, lowest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure
    from fairwave_study.study import Data

THIRD = 1 / 3
"""RFC 8868 §3, metric 7."""

LITTLE_MOS = 0.1

OTHER_QUEUES = (p.CODEL, p.PIE, p.FQ_CODEL, p.CAKE, p.DUALPI2)


def _at(
    data: Data,
    measure: Measure,
    case: str,
    queue: str = p.TAIL,
    controllers: Sequence[str] = p.TODAY,
) -> Measured:
    """A measure of a case under one queue, for some controllers."""
    return data.measured(measure, case).select(queue=queue, controller=list(controllers)).drop_axes("queue")


def _least(case: str, of: Callable[[str], Measure], line: float) -> Callable[[Data], Evidence]:
    return lambda data: above(_at(data, of(case), case), line)


def _most(case: str, of: Callable[[str], Measure], line: float) -> Callable[[Data], Evidence]:
    return lambda data: below(_at(data, of(case), case), line)


def _queues(
    case: str, of: Callable[[str], Measure], one: str, line: float = 0.0
) -> Callable[[Data], Evidence]:
    """A queue against drop-tail, for each controller of today."""

    def test(data: Data) -> Evidence:
        found = data.measured(of(case), case).select(queue=[one, p.TAIL], controller=list(p.TODAY))
        return differs(found, "queue", one, p.TAIL, line)

    return test


def _all_queues(data: Data) -> Evidence:
    first, *rest = (_queues(p.VARIABLE, q.audio, one, -LITTLE_MOS)(data) for one in OTHER_QUEUES)
    for one in rest:
        first = first & one
    return first


def _quicker(rival: str) -> Callable[[Data], Evidence]:
    def test(data: Data) -> Evidence:
        first, *rest = (
            lowest(
                _at(data, q.QUEUEING, p.VARIABLE, controllers=(one, rival)),
                one,
                [rival],
                axis="controller",
            )
            for one in p.TODAY
        )
        for one in rest:
            first = first & one
        return first

    return test


def _marks(data: Data) -> Evidence:
    found = data.measured(q.QUEUEING, p.ECN).select(queue=[p.DUALPI2, p.TAIL], controller=p.SCREAM)
    return differs(found.drop_axes("controller"), "queue", p.DUALPI2, p.TAIL, below=True)


def _twice(data: Data) -> Evidence:
    found = _at(data, q.preference(), p.PRIORITY)
    return above(found, 1.5) & below(found, 2.5)


TESTS: Mapping[str, tuple[str, Callable[[Data], Evidence]]] = {
    "W1": (p.VARIABLE, lambda data: above(_at(data, q.USED, p.VARIABLE), 0.6)),
    "W2": (p.VARIABLE, lambda data: below(_at(data, q.QUEUEING, p.VARIABLE), 100.0)),
    "W3": (p.VARIABLE, _most(p.VARIABLE, q.lost, 2.0)),
    "W4": (p.VARIABLE, _most(p.VARIABLE, q.convergence, 15.0)),
    "W5": (p.SEVERAL, _least(p.SEVERAL, q.balance, THIRD)),
    "W6": (p.FEEDBACK, lambda data: above(_at(data, measures.goodput("media"), p.FEEDBACK), 0.3)),
    "W7": (p.COMPETING, _least(p.COMPETING, q.balance, THIRD)),
    "W8": (p.ROUND_TRIPS, _least(p.ROUND_TRIPS, q.balance, THIRD)),
    "W9": (p.TCP, _least(p.TCP, q.rate, 0.3)),
    "W10": (p.TCP_DEEP, _least(p.TCP_DEEP, q.rate, 0.3)),
    "W11": (p.TCP, _least(p.TCP, q.others, 0.4)),
    "W12": (p.WEB, _most(p.WEB, q.frozen, 5.0)),
    "W13": (p.PAUSE, lambda data: above(_at(data, q.regained(), p.PAUSE), 0.5)),
    "W14": (p.VARIABLE, _all_queues),
    "W15": (p.TCP, _queues(p.TCP, q.rate, p.FQ_CODEL)),
    "W16": (p.TCP, _queues(p.TCP, q.rate, p.CAKE)),
    "W17": (p.TCP, _queues(p.TCP, q.audio, p.SEL)),
    "W18": (p.VARIABLE, _quicker(p.RTCP)),
    "W19": (p.VARIABLE, _quicker(p.TFRC)),
    "W20": (p.ECN, _marks),
    "W21": (p.BOTTLENECKS, _least(p.BOTTLENECKS, q.balance, THIRD)),
    "W22": (p.PRIORITY, _twice),
}
"""The grid that each claim reads, and its test."""


def _claim(name: str, words: Any) -> Claim:
    grid, test = TESTS[name]
    return Claim(name, words.statement, words.source, (grid,), test, assumptions=words.assumptions)


CLAIMS = tuple(_claim(name, words) for name, words in texts.claims(__file__, TESTS).items())
"""In the order in which they are told, in the words of `claims.toml`."""
