"""Why claims of paper 004 come out as they do: a mechanism on and off, on seeds that nothing else uses.

Each experiment switches one thing after another that a reading or a parameter of the queue sets; what the claim
compares and the quantities beside it are measured on every side under the same seeds. All numbers in the words come
from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_studies.dropping import points as p
from fairwave_studies.dropping import published
from fairwave_studies.dropping import quantities as q
from fairwave_study.experiments import Experiment, Side

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from fairwave.measuring.measures import Measure
    from fairwave_study.experiments import FoundExperiment
    from fairwave_study.study import Data

    Quantity = Callable[[Data], NDArray[np.float64]]

BASE_SIDE = Side("as in the base reading")
HALF = {"transfer": "524 kb/s"}
NEAR = {"tcp-delays": "39 ms"}
TWICE = {**NEAR, "transfer": "131 kb/s"}
LONGER = {**NEAR, "avq-buffer": "114 ms"}
EXCHANGED = {**LONGER, "avq-law": "ns-2's, exchanged"}
GENTLE = {"topology.bottleneck.queue.gentle": True}
"""RED's slope from max-p to 1 instead of the step, and nothing else."""


def _taken(measure: Measure, grid: str, **place: str) -> Quantity:
    """A measure at one point, seed by seed."""
    names = {key.rstrip("_"): value for key, value in place.items()}
    return lambda data: data.measured(measure, grid).samples(**names)


def _left(data: Data) -> NDArray[np.float64]:
    """What UDP leaves of the link in CA3, by what it brings under Drop-Sel, Mb/s."""
    place = {"case": "CA3", "queue": "RED", "victim": p.DROP_SEL}
    into = data.measured(q.IN, p.ALWAYS_ON)
    voice, other = (into.samples(**place, **{"class": name}) for name in ("voice", "other-udp"))
    left: NDArray[np.float64] = p.RATE_BPS / 1e6 - voice - other
    return left


def _in_s1(measure: Measure, case: str, victim: str, name: str = "") -> Quantity:
    return _taken(
        measure, p.ALWAYS_ON, case=case, queue="RED", victim=victim, **({"class": name} if name else {})
    )


def _in_s2(measure: Measure, case: str, queue: str, victim: str, name: str = "") -> Quantity:
    return _taken(
        measure, p.ON_OFF, case=case, queue=queue, victim=victim, **({"class": name} if name else {})
    )


LEFT, SEL_TCP, TAIL_TCP, TAIL_OTHER = (
    "UDP leaves in CA3 (Mb/s)",
    "TCP, CA3, Drop-Sel (Mb/s)",
    "TCP, CA3, Drop-Tail (Mb/s)",
    "UDP dropped, Drop-Tail (%)",
)


def _why_q2(found: FoundExperiment) -> str:
    base, half, forced = (side.label for side in found.experiment.sides)
    of = found.of
    return (
        "The claim is one of sums. In CA3 voice and other UDP ask for less than a third of the link each, so that "
        "neither "
        f"is the heaviest class for long, and Drop-Sel lets both pass: {of(base, LEFT).mean:.2f} Mb/s of the link are "
        f"left, and TCP has {of(base, SEL_TCP).mean:.2f} of them. Under Drop-Tail TCP takes more than what is left, "
        f"{of(base, TAIL_TCP).mean:.2f} Mb/s, because {of(base, TAIL_OTHER).mean:.0f} % of other UDP is dropped in its "
        "favour. Fairness to UDP and no cost to TCP exclude each other here, unless TCP would not take more anyway. "
        "Half "
        f"as many transfers, of 524 kb/s each, do not: under Drop-Tail they have {of(half, TAIL_TCP).mean:.2f} Mb/s, "
        "as "
        f"much as Drop-Sel leaves them ({of(half, SEL_TCP).mean:.2f}), and the claim is {found.verdict(half)}. Where "
        "the "
        "victim rule is asked in forced drops only, as ns-2's code does, chance goes on dropping UDP: TCP has "
        f"{of(forced, SEL_TCP).mean:.2f} of {of(forced, TAIL_TCP).mean:.2f} Mb/s, and the claim is "
        f"{found.verdict(forced)}. The claim is not brought about by a rule that spares TCP, but by a TCP that asks "
        "for "
        "little, or by a rule that is seldom asked."
    )


WAITS = {one: f"wait, CA4, {one} (ms)" for one in p.PAPERS_VICTIMS}


def _waits(found: FoundExperiment, side: str) -> str:
    return ", ".join(f"{found.of(side, name).mean:.0f}" for name in WAITS.values())


SWING, FRONT_DROPS = "variance, Drop-Front (ms²)", "TCP dropped, front (%)"


def _why_q12(found: FoundExperiment) -> str:
    base, gentle, half, sack = (side.label for side in found.experiment.sides)
    of = found.of
    printed = ", ".join(f"{published.QUEUEING_MS['CA4'][one]:.0f}" for one in p.PAPERS_VICTIMS)
    return (
        "What decides is the step in the RED of 1993. Beyond the maximum threshold it drops on every arrival. Where "
        "the "
        "front goes, each arrival of such a run is exchanged for the oldest packet: the queue loses what has waited "
        "longest, all transfers lose several segments within a round trip, and Reno needs a timeout for that. The "
        "queue "
        f"empties and fills anew; its variance in CA4 is {of(base, SWING).mean:.0f} ms², and its mean is low for the "
        "wrong "
        f"reason (queueing in ms under Drop-Tail, Drop-Front and Drop-Sel: {_waits(found, base)}). "
        "With the step made a slope and nothing else changed "
        f"({_waits(found, gentle)}) runs of drops are rarer, the variance is {of(gentle, SWING).mean:.0f} ms², "
        f"{of(gentle, FRONT_DROPS).mean:.1f} instead of {of(base, FRONT_DROPS).mean:.1f} % of TCP is dropped, and "
        "what the "
        "paper describes appears: where a call's small packet at the front goes for a large arrival the queue loses "
        "fewer bytes than came, TCP is told less, and the queue grows. Half as many transfers, which seldom drive the "
        f"average beyond the threshold, do the same ({_waits(found, half)}), and stand in the paper's order "
        f"({printed}). A recovery that needs no timeout (SACK) lessens it ({_waits(found, sack)}). The claim is "
        f"{found.verdict(base)} with the step, {found.verdict(gentle)} with the slope, {found.verdict(half)} with "
        "half the "
        f"transfers and {found.verdict(sack)} with SACK. Q6, Q22, Q23 and Q24 of the same two cases hang on the same "
        "step."
    )


STEP_SIDES = (
    Side("RED of 1993: every arrival beyond the threshold"),
    Side("a slope instead of the step", changes=GENTLE),
    Side("ns-2.35's RED, chance not by size", {"red": "ns-2.35", "red-unit": "queue in bytes"}),
    Side("half as many transfers", HALF),
)
PAIR = (p.FRONT, p.DROP_SEL)
QUEUEING = {(case, one): f"wait, {case}, {one} (ms)" for case in ("CA2", "CA4") for one in PAIR}
MEDIANS = {(case, one): f"median, {case}, {one} (ms)" for case in ("CA2", "CA4") for one in PAIR}


FROM_TABLE_5 = "from Table 5, wait (ms)"


def _from_table_5(data: Data) -> NDArray[np.float64]:
    """How far mean queueing delays are from Table 5's cells, of which one is calibrated: the mean over them."""
    waits = data.measured(q.QUEUEING, p.ALWAYS_ON)
    several = [
        abs(waits.samples(case=case, queue="RED", victim=victim) - theirs)
        for case, row in published.QUEUEING_MS.items()
        for victim, theirs in row.items()
    ]
    whole: NDArray[np.float64] = sum(several[1:], several[0]) / len(several)
    return whole


def _parts(found: FoundExperiment) -> str:
    def told(side: str) -> str:
        parts = found.evidence[side].parts()
        return ", ".join(f"{name} {one.verdict()}" for name, one in parts.items())

    several = "; ".join(
        f"{one.label}: {found.verdict(one.label)} ({told(one.label)})" for one in found.experiment.sides
    )
    return f"The claim with each, and its parts: {several}."


def _pairs(found: FoundExperiment, names: Mapping[tuple[str, str], str], case: str) -> str:
    return "; ".join(
        f"{side.label} {found.of(side.label, names[case, p.FRONT]).mean:.0f} and "
        f"{found.of(side.label, names[case, p.DROP_SEL]).mean:.0f}"
        for side in found.experiment.sides
    )


def _printed(case: str) -> str:
    return " and ".join(f"{published.QUEUEING_MS[case][one]:.0f}" for one in PAIR)


def _why_q6(found: FoundExperiment) -> str:
    return (
        "Two mechanisms pull apart. Where TCP dominates, Drop-Front's queue is shorter than Drop-Sel's only by the "
        "runs of "
        "drops beyond the step of the RED of 1993 (why-Q12). Queueing in CA4 under Drop-Front and Drop-Sel, in ms: "
        f"{_pairs(found, QUEUEING, 'CA4')} (paper: {_printed('CA4')}). Where voice dominates, a chance that goes by "
        "size "
        "decides on large arrivals, and Drop-Sel answers each with a call's small packet: the queue loses a part of "
        "what "
        "came and grows until the chance is high enough. The step ends that growth, a slope does not. In CA2: "
        f"{_pairs(found, QUEUEING, 'CA2')} (paper: {_printed('CA2')}). A RED with a slope whose chance does not go by "
        "size, one of ns-2's two keys set, has both. From "
        "Table 5 the four sides are, in ms in the mean over its cells: "
        f"{', '.join(f'{found.of(side.label, FROM_TABLE_5).mean:.1f}' for side in found.experiment.sides)}. "
        f"{_parts(found)}"
    )


def _why_q22(found: FoundExperiment) -> str:
    return (
        "The distribution under Drop-Front is wide where TCP dominates and RED has its step: after a run of drops the "
        "queue is nearly empty, before it is full, so that the median lies low and the ninetieth percentile high. "
        "Medians "
        f"in CA4 under Drop-Front and Drop-Sel, in ms: {_pairs(found, MEDIANS, 'CA4')}. With a slope Figure 8's order "
        "appears there and is lost in CA2, where Drop-Sel takes small packets for large arrivals: "
        f"{_pairs(found, MEDIANS, 'CA2')} (see why-Q6). {_parts(found)}"
    )


SHARES = {name: f"{title}, CA6, Drop-Sel (%)" for name, title in q.CLASS_TITLES.items()}
GONE = "VoIP dropped, CA6 (%)"
STOOD = "wait, CA6, Drop-Sel (ms)"


def _shares(found: FoundExperiment, side: str) -> str:
    return "/".join(f"{found.of(side, SHARES[name]).mean:.0f}" for name in ("voice", "other-udp", "tcp"))


def _why_q14(found: FoundExperiment) -> str:
    base, near, twice, longer, exchanged = (side.label for side in found.experiment.sides)
    of = found.of
    printed = published.LOSS_S2["CA6"][published.QUEUE]["AVQ", p.DROP_SEL]
    voice, other, tcp = published.SHARES["CA6", "AVQ", p.DROP_SEL]
    return (
        f"The paper prints {voice:.0f}/{other:.0f}/{tcp:.0f} % for voice, other UDP and TCP, and {printed:.1f} % of "
        "voice "
        f"dropped. The base reading has {_shares(found, base)} and {of(base, GONE).mean:.0f} %. Two things are "
        "missing. A "
        "TCP that takes what it is left: with transfers 39 ms away, whose sentence §4.1 leaves open, it is "
        f"{_shares(found, near)}, with twice as many of them {_shares(found, twice)}. And a queue in which Drop-Sel "
        "can see "
        f"who is heaviest: AVQ's is {of(near, STOOD).mean:.0f} ms long, a few packets, among which one large arrival "
        "is "
        "the heaviest class, so that voice is spared. With a buffer of 114 ms, ns-2's default, it is "
        f"{of(longer, STOOD).mean:.0f} ms long, {of(longer, GONE).mean:.0f} % of voice are dropped and the shares are "
        f"{_shares(found, longer)}. That queue comes from a flaw: ns-2's virtual queue forgets an arrival whose place "
        "another packet took, while the real one keeps it. Where the virtual queue makes the exchange, too, the same "
        f"buffer holds {of(exchanged, STOOD).mean:.0f} ms, and the shares fall back to {_shares(found, exchanged)}. "
        "The "
        "paper's shares need a long queue under AVQ, its Table 6 (at most 0.69 % late) a short one. The claim is "
        f"{found.verdict(base)} in the base reading, {found.verdict(near)} with near transfers, {found.verdict(twice)} "
        f"with twice as many, {found.verdict(longer)} with the longer queue and {found.verdict(exchanged)} with the "
        "exchange."
    )


TAIL_SHARES = {name: f"{q.CLASS_TITLES[name]}, CA6, Drop-Tail (%)" for name in ("voice", "tcp")}
RATIO = "voice over TCP, Drop-Tail"


def _why_q15(found: FoundExperiment) -> str:
    base, near, twice = (side.label for side in found.experiment.sides)
    of = found.of

    def shares(side: str) -> str:
        return f"{of(side, TAIL_SHARES['voice']).mean:.0f} and {of(side, TAIL_SHARES['tcp']).mean:.0f} %"

    return (
        "Under Drop-Tail AVQ decides by bytes, so that calls' small packets are seldom refused, and what TCP gets is "
        "what "
        f"it can win between them. Transfers up to 269 ms away win little: voice and TCP have {shares(base)} of the "
        f"throughput, {of(base, RATIO).mean:.1f} to 1. Transfers 39 ms away win more ({shares(near)}, "
        f"{of(near, RATIO).mean:.1f} to 1), and twice as many a little more ({shares(twice)}, "
        f"{of(twice, RATIO).mean:.1f} "
        f"to 1): round trip and number of transfers make the factor. Verdicts: {found.verdict(base)}, "
        f"{found.verdict(near)}, {found.verdict(twice)}."
    )


CALLS_GONE = {one: f"dropped, CA5, {one} (%)" for one in p.PAPERS_VICTIMS}
CA5_WAIT = "wait, CA5, Drop-Sel (ms)"


def _why_q8(found: FoundExperiment) -> str:
    base, longer, exchanged = (side.label for side in found.experiment.sides)
    of = found.of

    def gone(side: str) -> str:
        return ", ".join(f"{one} {of(side, CALLS_GONE[one]).mean:.0f}" for one in p.PAPERS_VICTIMS)

    return (
        "The exception is AVQ. Drop-Sel punishes the class that holds most bytes of the queue at that moment, and in a "
        f"queue of {of(base, CA5_WAIT).mean:.0f} ms that is chance: the arrival that triggered the drop is large and "
        f"counts. Voice dropped in CA5, in %: {gone(base)}. With room for 114 ms ({of(longer, CA5_WAIT).mean:.0f} ms "
        "of "
        f"wait) voice, which offers most, holds most: {gone(longer)}. Where the virtual queue exchanges, too, the "
        "queue is "
        f"short again ({of(exchanged, CA5_WAIT).mean:.0f} ms) in spite of the room: {gone(exchanged)}. Drop-Sel's "
        "fairness "
        f"is a fairness of queues: it needs one. Verdicts: {found.verdict(base)}, {found.verdict(longer)}, "
        f"{found.verdict(exchanged)}."
    )


LATE = {one: f"late, CA7, {one} (%)" for one in p.PAPERS_VICTIMS}
WAITED = {one: f"wait, CA7, {one} (ms)" for one in (p.TAIL, p.DROP_SEL)}


def _late_of_received(victim: str) -> Quantity:
    def taken(data: Data) -> NDArray[np.float64]:
        place = {"case": "CA7", "queue": "RED", "victim": victim}
        late, gone = (data.measured(one, p.ON_OFF).samples(**place) for one in (q.LATE_LOSS, q.QUEUE_LOSS))
        share: NDArray[np.float64] = 100 * late / (100 - gone)
        return share

    return taken


def _why_q17(found: FoundExperiment) -> str:
    base, slope = (side.label for side in found.experiment.sides)
    of = found.of

    def late(side: str) -> str:
        return ", ".join(f"{one} {of(side, LATE[one]).mean:.1f}" for one in p.PAPERS_VICTIMS)

    def waited(side: str) -> str:
        return ", ".join(f"{one} {of(side, name).mean:.0f}" for one, name in WAITED.items())

    return (
        "Table 6 counts late packets in % of what was sent, and what the queue has dropped cannot be late. Drop-Sel "
        "drops "
        "no voice in CA7, so all of it can be late; the others have dropped a part of it. Of what came through are "
        "late, "
        f"in %: {late(base)}, with a queueing of {waited(base)} ms. B4 to B6 have 31 ms of queueing left, which every "
        "victim rule uses up while RED's average lies at its thresholds: the victim changes who goes, the thresholds "
        "how "
        f"long the queue is. With ns-2.35's RED it is {late(slope)} and {waited(slope)} ms. The paper's late losses "
        "under "
        f"Drop-Sel ({published.LOSS_S2['CA7'][published.USER]['RED', p.DROP_SEL]:.1f} instead of "
        f"{published.LOSS_S2['CA7'][published.USER]['RED', p.TAIL]:.1f} %) need a queue that is shorter by much more. "
        f"Verdicts: {found.verdict(base)}, {found.verdict(slope)}."
    )


IN_ALL = {queue: f"lost in all, CA5, {queue} (%)" for queue in ("RED", "REM")}
APART = {part: f"from Table 6, {part} (%)" for part in (published.QUEUE, published.USER)}


def _in_all(queue: str) -> Quantity:
    """What voice loses in all in CA5, mean over victims."""

    def taken(data: Data) -> NDArray[np.float64]:
        measured = data.measured(q.TOTAL_LOSS, p.ON_OFF)
        several = [measured.samples(case="CA5", queue=queue, victim=one) for one in p.PAPERS_VICTIMS]
        whole: NDArray[np.float64] = sum(several[1:], several[0]) / len(several)
        return whole

    return taken


def _apart(part: str) -> Quantity:
    """How far the cells of a row of Table 6 are from the printed ones, in points: the mean over all of them."""
    measure = {published.QUEUE: q.QUEUE_LOSS, published.USER: q.LATE_LOSS}[part]

    def taken(data: Data) -> NDArray[np.float64]:
        measured = data.measured(measure, p.ON_OFF)
        several = [
            abs(measured.samples(case=case, queue=queue, victim=victim) - theirs)
            for case, rows in published.LOSS_S2.items()
            for (queue, victim), theirs in rows[part].items()
        ]
        whole: NDArray[np.float64] = sum(several[1:], several[0]) / len(several)
        return whole

    return taken


def _why_q26(found: FoundExperiment) -> str:
    base, near, twice = (side.label for side in found.experiment.sides)
    of = found.of

    def lost(side: str) -> str:
        return f"{of(side, IN_ALL['RED']).mean:.0f} and {of(side, IN_ALL['REM']).mean:.0f} %"

    def apart(part: str) -> str:
        return ", ".join(f"{of(side, APART[part]).mean:.1f}" for side in (base, near, twice))

    return (
        "Both disciplines answer to how much TCP presses. REM's price rises until what it admits fits the link, "
        "however "
        "weak TCP is; RED drops more only where transfers keep its average up. With transfers up to 269 ms away RED "
        "and "
        f"REM lose {lost(base)} of voice in CA5 (mean over victims); with transfers 39 ms away {lost(near)}; with "
        "twice as "
        f"many {lost(twice)}. The claim is {found.verdict(base)}, {found.verdict(near)} and {found.verdict(twice)}. "
        "The "
        f"same step brings what queues drop nearer to Table 6 ({apart(published.QUEUE)} points apart in the mean over "
        "its "
        f"cells) and what comes late further away from it ({apart(published.USER)}): a TCP that presses fills RED's "
        "queue, "
        "too. With Figure 6a (why-Q14) this speaks for near transfers; the paper's late losses would need a shorter "
        "queue "
        "under RED than the one that Table 5 is calibrated on."
    )


def experiments() -> list[Experiment]:
    """All experiments."""
    waits = {name: _in_s1(q.QUEUEING, "CA4", victim) for victim, name in WAITS.items()}
    return [
        Experiment(
            "why-Q2",
            "Q2",
            "How much TCP would take if UDP were not spared: number of transfers, and how often the rule is asked.",
            (
                BASE_SIDE,
                Side("half as many transfers", HALF),
                Side("victims in forced drops only", {"victim-drops": "forced drops"}),
            ),
            _why_q2,
            {
                LEFT: _left,
                SEL_TCP: _in_s1(q.OUT, "CA3", p.DROP_SEL, "tcp"),
                TAIL_TCP: _in_s1(q.OUT, "CA3", p.TAIL, "tcp"),
                TAIL_OTHER: _in_s1(q.DROPPED, "CA3", p.TAIL, "other-udp"),
            },
        ),
        Experiment(
            "why-Q6",
            "Q6",
            "RED's step at the maximum threshold, and whether its chance goes by size.",
            STEP_SIDES,
            _why_q6,
            {
                **{name: _in_s1(q.QUEUEING, case, victim) for (case, victim), name in QUEUEING.items()},
                FROM_TABLE_5: _from_table_5,
            },
        ),
        Experiment(
            "why-Q8",
            "Q8",
            "Room in AVQ's queue, and whether its virtual queue exchanges a victim as the real one does.",
            (
                Side("AVQ with room for 30 ms"),
                Side("room for 114 ms", {"avq-buffer": "114 ms"}),
                Side(
                    "114 ms, virtual queue exchanges",
                    {"avq-buffer": "114 ms", "avq-law": "ns-2's, exchanged"},
                ),
            ),
            _why_q8,
            {
                CA5_WAIT: _in_s2(q.QUEUEING, "CA5", "AVQ", p.DROP_SEL),
                **{name: _in_s2(q.QUEUE_LOSS, "CA5", "AVQ", victim) for victim, name in CALLS_GONE.items()},
            },
        ),
        Experiment(
            "why-Q12",
            "Q12",
            "RED's step at the maximum threshold, and what a run of drops costs TCP.",
            (
                Side("RED of 1993: every arrival beyond the threshold"),
                Side("a slope instead of the step", changes=GENTLE),
                Side("half as many transfers", HALF),
                Side("SACK instead of Reno", {"tcp": "SACK, 0.2 s"}),
            ),
            _why_q12,
            {
                **waits,
                SWING: _in_s1(q.VARIANCE, "CA4", p.FRONT),
                FRONT_DROPS: _in_s1(q.DROPPED, "CA4", p.FRONT, "tcp"),
            },
        ),
        Experiment(
            "why-Q14",
            "Q14",
            "How strong TCP is, and whether AVQ's queue is long enough to tell who is heaviest.",
            (
                BASE_SIDE,
                Side("transfers 39 ms away", NEAR),
                Side("and twice as many", TWICE),
                Side("39 ms, AVQ with room for 114 ms", LONGER),
                Side("and its virtual queue exchanges", EXCHANGED),
            ),
            _why_q14,
            {
                **{label: _in_s2(q.SHARE, "CA6", "AVQ", p.DROP_SEL, name) for name, label in SHARES.items()},
                GONE: _in_s2(q.QUEUE_LOSS, "CA6", "AVQ", p.DROP_SEL),
                STOOD: _in_s2(q.QUEUEING, "CA6", "AVQ", p.DROP_SEL),
            },
        ),
        Experiment(
            "why-Q15",
            "Q15",
            "Round trips and number of the transfers that calls share AVQ's queue with.",
            (BASE_SIDE, Side("transfers 39 ms away", NEAR), Side("and twice as many", TWICE)),
            _why_q15,
            {label: _in_s2(q.SHARE, "CA6", "AVQ", p.TAIL, name) for name, label in TAIL_SHARES.items()},
        ),
        Experiment(
            "why-Q17",
            "Q17",
            "What late packets are a share of, and RED's law.",
            (BASE_SIDE, Side("ns-2.35's RED", {"red": "ns-2.35"})),
            _why_q17,
            {
                **{label: _late_of_received(victim) for victim, label in LATE.items()},
                **{label: _in_s2(q.QUEUEING, "CA7", "RED", victim) for victim, label in WAITED.items()},
            },
        ),
        Experiment(
            "why-Q22",
            "Q22",
            "RED's step at the maximum threshold, and whether its chance goes by size.",
            STEP_SIDES,
            _why_q22,
            {name: _in_s1(q.MEDIAN, case, victim) for (case, victim), name in MEDIANS.items()},
        ),
        Experiment(
            "why-Q26",
            "Q26",
            "Round trips and number of the transfers that press on RED and on REM.",
            (BASE_SIDE, Side("transfers 39 ms away", NEAR), Side("and twice as many", TWICE)),
            _why_q26,
            {
                **{label: _in_all(queue) for queue, label in IN_ALL.items()},
                **{label: _apart(part) for part, label in APART.items()},
            },
        ),
    ]
