"""Expectations before the first run, A1 to A30, each with its test.

**How words are read.** Calls are *good* from a mean MOS of 3.60 and *poor* below 3.10; 0.1 of it is *little*. *A
fifth* is 20 % of goodput. All comparisons are made seed by seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave_studies.radio import points as p
from fairwave_studies.radio import quantities as q
from fairwave_study.claims import Comparison, Evidence
from fairwave_study.comparisons import LITTLE_COST, LITTLE_MOS, LITTLE_SEEN, differs, is_above, is_below, join

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure
    from fairwave_study.parts import Data

GOOD, POOR = 3.60, 3.10
FIFTH, QUARTER_LAYER, TENTH = 1.2, 0.25, 0.1
LAPTOPS, OTHERS = (p.NEAR, p.SLOW), (p.NEIGHBOUR, p.NEIGHBOURS)
PAPERS, FEW = (p.WIRE, p.BURSTS), (0.01, 0.03)


def _select(data: Data, measure: Measure, grid: str, **labels: Any) -> Measured:
    """A measure at some labels; axes with one label are left out."""
    found = data.measured(measure, grid).select(**labels)
    return found.drop_axes(*(axis for axis in found.axes if len(found.labels(axis)) == 1))


def _home(data: Data, measure: Measure = q.MOS, **labels: Any) -> Measured:
    return _select(data, measure, p.HOME, **labels)


def _queues_of_stations(data: Data) -> Evidence:
    found = data.measured(q.MOS, p.HOME).select(who=p.SLOW, category=p.PLAIN).drop_axes("who", "category")
    return is_below(found.select(queue=[p.FIFO]), POOR) & is_above(found.select(queue=[p.FQ]), GOOD)


def _is_close(found: Measured, axis: str, one: str, other: str) -> Evidence:
    """One differs from the other by less than a little, to both sides."""
    return differs(found, axis, one, other, -LITTLE_MOS) & differs(
        found, axis, one, other, LITTLE_MOS, below=True
    )


def _airtime(data: Data) -> Evidence:
    return _is_close(_home(data, who=list(LAPTOPS), category=p.PLAIN), "queue", p.AIRTIME, p.FQ)


def _voice_in_fifo(data: Data) -> Evidence:
    return is_above(_home(data, who=list(LAPTOPS), queue=p.FIFO, category=p.MARKED), GOOD)


def _voice_with_airtime(data: Data) -> Evidence:
    found = _home(data, who=list(LAPTOPS), queue=p.AIRTIME)
    return differs(found, "category", p.MARKED, p.PLAIN, LITTLE_MOS, below=True)


def _own_queue(data: Data) -> Evidence:
    return _is_close(_home(data, who=list(OTHERS), category=p.PLAIN), "queue", p.AIRTIME, p.FIFO)


def _voice_beside_neighbours(data: Data) -> Evidence:
    return differs(_home(data, who=p.NEIGHBOURS), "category", p.MARKED, p.PLAIN)


def _video_marked(data: Data) -> Evidence:
    found = _home(data, q.SEEN, who=p.SLOW, queue=p.FIFO)
    return differs(found, "category", p.MARKED, p.PLAIN, LITTLE_SEEN)


def _carriers(data: Data) -> Evidence:
    found = _select(data, q.MOS, p.WIFI_CALLS, queue=p.AIRTIME)
    return join(*(differs(found, "carrier", one, p.UDP, -LITTLE_MOS) for one in p.CARRIERS[1:]))


def _sessions(data: Data) -> Evidence:
    wifi, edge = (data.measured(q.SPEECH, grid) for grid in (p.WIFI_SESSION, p.EDGE_SESSION))
    return Evidence(
        [
            *is_above(wifi.select(queue=[p.AIRTIME]), GOOD).comparisons,
            *is_below(wifi.select(queue=[p.FIFO]), GOOD).comparisons,
            *is_above(edge.select(queue=[p.FQ_CODEL]), GOOD).comparisons,
            *is_below(edge.select(queue=[p.TAIL]), GOOD).comparisons,
        ]
    )


def _edge(data: Data) -> Evidence:
    found = data.measured(q.MOS, p.EDGE).select(update=p.CUBIC).drop_axes("update")
    return is_below(found.select(queue=[p.TAIL]), POOR) & is_above(found.select(queue=[p.FQ_CODEL]), GOOD)


def _codel(data: Data) -> Evidence:
    found = _select(data, q.MOS, p.EDGE, update=p.CUBIC)
    return join(*(differs(found, "queue", p.CODEL, other) for other in (p.TAIL, p.SHORT)))


def _marks(data: Data) -> Evidence:
    found = _select(data, q.MOS, p.EDGE, update=p.PRAGUE)
    return differs(found, "queue", p.DUALPI2, p.FQ_CODEL, -LITTLE_MOS)


def _short_handoff(data: Data) -> Evidence:
    found = _select(data, q.MOS, p.HANDOFF, carrier=p.UDP)
    return differs(found, "handoff", p.FORWARD_SHORT, p.NONE, -LITTLE_MOS)


def _forwarded(data: Data) -> Evidence:
    return differs(data.measured(q.SEEN, p.HANDOFF), "handoff", p.FORWARD_LONG, p.LOSE_LONG)


def _real_survives_handoffs(data: Data) -> Evidence:
    found = _select(data, q.GOODPUT, p.HANDOFF_TRANSFER, handoff=p.LOSE_LONG)
    return differs(found, "transport", p.REAL, p.RENO, factor=FIFTH)


def _more(one: str, other: str) -> Callable[[Data], Evidence]:
    """At least a fifth more on the papers' wires."""

    def test(data: Data) -> Evidence:
        found = _select(data, q.GOODPUT, p.WIFI_LOSS, link=list(PAPERS), error=list(FEW))
        return differs(found, "transport", one, other, factor=FIFTH)

    return test


def _little_more(grid: str, link: str) -> Callable[[Data], Evidence]:
    def test(data: Data) -> Evidence:
        found = _select(data, q.GOODPUT, grid, link=link)
        return join(
            *(
                differs(found, "transport", one, p.RENO, factor=1 + LITTLE_COST, below=True)
                for one in (p.WESTWOOD, p.REAL)
            )
        )

    return test


def _half_the_lead(measure: Measure, grid: str, axis: str) -> Callable[[Data], Evidence]:
    """DVRC's lead over TFRC on Wi-Fi, less half of that on the wire with random losses."""

    def test(data: Data) -> Evidence:
        found = data.measured(measure, grid)

        def lead(link: str) -> Any:
            dvrc, tfrc = (found.samples(link=link, error=0.03, **{axis: one}) for one in (p.DVRC, p.TFRC))
            return dvrc - tfrc

        label = f"lead on {p.WIFI} − 0.5 × lead on {p.WIRE}"
        return Evidence([Comparison(label, lead(p.WIFI) - 0.5 * lead(p.WIRE), 0.0, "below", measure.unit)])

    return test


def _gains_after_one_attempt(data: Data) -> Evidence:
    found = _select(data, q.GOODPUT, p.WIFI_LOSS, link=p.WIFI_ONCE, error=0.03)
    return join(*(differs(found, "transport", one, p.RENO, factor=FIFTH) for one in (p.WESTWOOD, p.REAL)))


def _understated(data: Data) -> Evidence:
    found = _select(data, q.GOODPUT, p.WIFI_LOSS, error=0.03, transport=p.RENO)
    return differs(found, "link", p.WIRE, p.WIFI, factor=0.5, below=True)


def _residual(data: Data) -> Evidence:
    parts = []
    for grid, link in ((p.WIFI_LOSS, p.WIFI), (p.CELL_LOSS, p.CELL)):
        found = data.measured(q.GOODPUT, grid)
        parts += [
            differs(found, "link", p.RESIDUAL, link, factor=1 - TENTH),
            differs(found, "link", p.RESIDUAL, link, factor=1 + TENTH, below=True),
        ]
    return join(*parts)


def _layers(data: Data) -> Evidence:
    found = _select(data, q.LAYERS, p.VIDEO_LOSS, link=list(PAPERS), error=0.03)
    return differs(found, "carrier", p.DVRC, p.TFRC, QUARTER_LAYER)


TESTS: Mapping[str, Callable[[Data], Evidence]] = {
    "A1": _queues_of_stations,
    "A2": _airtime,
    "A3": _voice_in_fifo,
    "A4": _voice_with_airtime,
    "A5": _own_queue,
    "A6": _voice_beside_neighbours,
    "A7": _video_marked,
    "A8": lambda data: is_below(_select(data, q.MOS, p.WIFI_CALLS, queue=p.FIFO), GOOD),
    "A9": _carriers,
    "A10": lambda data: differs(_select(data, q.MOS, p.WIFI_CALLS, queue=p.FIFO), "carrier", p.REAL, p.UDP),
    "A11": lambda data: differs(_select(data, q.SEEN, p.WIFI_VIDEO, queue=p.FIFO), "carrier", p.DVRC, p.UDP),
    "A12": _sessions,
    "A13": _edge,
    "A14": _codel,
    "A15": _marks,
    "A16": lambda data: differs(data.measured(q.SEEN, p.EDGE_VIDEO), "carrier", p.DVRC, p.UDP),
    "A17": _short_handoff,
    "A18": _forwarded,
    "A19": _real_survives_handoffs,
    "A20": _more(p.WESTWOOD, p.RENO),
    "A21": _more(p.REAL, p.RENO),
    "A22": _more(p.DVRC, p.TFRC),
    "A23": _little_more(p.WIFI_LOSS, p.WIFI),
    "A24": _half_the_lead(q.GOODPUT, p.WIFI_LOSS, "transport"),
    "A25": _gains_after_one_attempt,
    "A26": _little_more(p.CELL_LOSS, p.CELL),
    "A27": _understated,
    "A28": _residual,
    "A29": _layers,
    "A30": _half_the_lead(q.LAYERS, p.VIDEO_LOSS, "carrier"),
}
