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
from fairwave_study.experiments import Experiment, Side, paragraph

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


def _first() -> list[Experiment]:
    """Of the claims that the exploration contradicts most often."""
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


V = p.PAPERS_VICTIMS


def _three(found: FoundExperiment, side: str, name: str, digits: str = ".1f") -> str:
    """A quantity under each of the paper's victims: "Drop-Tail 10.5, Drop-Front 12.1, Drop-Sel 11.1"."""
    return ", ".join(f"{one} {found.of(side, name.format(one)).mean:{digits}}" for one in V)


def _queues(found: FoundExperiment, side: str, name: str, digits: str = ".0f") -> str:
    """The same under each queue."""
    return ", ".join(f"{one} {found.of(side, name.format(one)).mean:{digits}}" for one in p.QUEUES)


def _judged(found: FoundExperiment) -> str:
    """The verdicts: "The claim is reproduced (as in the base reading), undecided (…)."."""
    several = ", ".join(f"{found.verdict(side)} ({side})" for side in found.sides())
    return f"The claim is {several}."


def _class_shares(found: FoundExperiment, side: str, name: str) -> str:
    """Shares of voice, other UDP and TCP: "31/41/28"."""
    return "/".join(f"{found.of(side, name.format(q.CLASS_TITLES[one])).mean:.0f}" for one in q.CLASSES)


SHARE_NAME = "{{}}, {case}, Drop-Sel (%)"
CLASS_SHARE = {case: SHARE_NAME.format(case=case) for case in ("CA1", "CA2")}


def _why_q1(found: FoundExperiment) -> str:
    base, slope, forced = found.sides()

    def shares(side: str) -> str:
        return " and ".join(_class_shares(found, side, CLASS_SHARE[case]) for case in ("CA1", "CA2"))

    return paragraph(f"""
        Drop-Sel makes equal what waits, and so what is carried, only as long as each drop is one choice. With the
        RED of 1993 voice, other UDP and TCP have {shares(base)} % in CA1 and CA2. Beyond the step every arrival is
        dropped, and TCP, which loses several segments at once, gives up a part of its third. ns-2.35's RED has a
        slope there, and they have {shares(slope)} %. Where the victim rule is asked in forced drops only, as ns-2's
        code does, they have {shares(forced)} %: chance, which drops the arrival, hardly equalises. So the figure
        needs what §3 says, a rule that is asked at every drop, and a RED without the step. {_judged(found)}
    """)


TCP_5, TCP_5_GONE, VOICE_5_GONE = (
    "TCP, CA5, {} (Mb/s)",
    "TCP dropped, CA5, {} (%)",
    "voice dropped, CA5, {} (%)",
)


def _why_q3(found: FoundExperiment) -> str:
    base, forced = found.sides()
    return paragraph(f"""
        TCP gains what voice loses. In CA5 voice is the heaviest class, and Drop-Sel takes the packets from it: voice
        dropped is, in %, {_three(found, base, VOICE_5_GONE)}; TCP dropped {_three(found, base, TCP_5_GONE)}; and TCP
        gets, in Mb/s, {_three(found, base, TCP_5, ".2f")}. Where the rule is asked in forced drops only, TCP's gain is
        smaller ({_three(found, forced, TCP_5, ".2f")}). {_judged(found)}
    """)


TCP_6_AVQ, TCP_7_REM = "TCP, CA6 with AVQ, {} (Mb/s)", "TCP, CA7 with REM, {} (Mb/s)"
OTHER_7_REM = "other UDP, CA7 with REM, {} (Mb/s)"


def _why_q4(found: FoundExperiment) -> str:
    base, near = found.sides()
    return paragraph(f"""
        With AVQ in CA6 Drop-Sel does more than spare TCP: TCP gets, in Mb/s, {_three(found, base, TCP_6_AVQ, ".2f")},
        and with transfers 39 ms away {_three(found, near, TCP_6_AVQ, ".2f")}. Drop-Tail under AVQ refuses large
        arrivals, which TCP's are; Drop-Sel takes voice's place instead. With REM in CA7 other UDP is the heaviest
        class and gives up the most ({_three(found, base, OTHER_7_REM, ".2f")} Mb/s). TCP has
        {_three(found, base, TCP_7_REM, ".2f")}, with near transfers {_three(found, near, TCP_7_REM, ".2f")}: its mean
        is within 10 % of Drop-Tail's in the base reading and lower with near transfers, and runs differ by more than
        that. {_judged(found)}
    """)


OTHER_UNDER = {
    scheme: f"other UDP, CA2, {scheme} (Mb/s)"
    for scheme in (f"RED, {p.TAIL}", f"RED, {p.DROP_SEL}", p.PUNSI_SCHEME)
}
VOICE_2, TCP_2 = "VoIP, CA2, Drop-Sel (%)", "TCP, CA2, Drop-Sel (%)"


def _why_q5(found: FoundExperiment) -> str:
    base, flows, slope = found.sides()
    of = found.of

    def other(side: str) -> str:
        return ", ".join(f"{of(side, name).mean:.2f} ({scheme})" for scheme, name in OTHER_UNDER.items())

    return paragraph(f"""
        What punishes other UDP is that PUNSI counts two classes. It compares an arriving UDP packet with the packets
        that wait; voice and other UDP are one class, so that nearly every comparison is a match and both packets go.
        Other UDP has, in Mb/s, {other(base)}. Where PUNSI compares flows instead, a match is rare, and other UDP keeps
        {of(flows, OTHER_UNDER[p.PUNSI_SCHEME]).mean:.2f}. Whether Drop-Sel makes voice and TCP equal is another
        mechanism, that of Q1: {of(base, VOICE_2).mean:.0f} and {of(base, TCP_2).mean:.0f} % with the step of the RED
        of 1993, {of(slope, VOICE_2).mean:.0f} and {of(slope, TCP_2).mean:.0f} % with ns-2.35's RED. {_judged(found)}
    """)


GONE_7, GONE_8, GONE_7_REM = (
    "voice dropped, CA7 with RED, {} (%)",
    "voice dropped, CA8 with RED, {} (%)",
    "voice dropped, CA7 with REM, {} (%)",
)


def _why_q7(found: FoundExperiment) -> str:
    base, forced = found.sides()
    return paragraph(f"""
        A class below its share is not the heaviest in the queue, and Drop-Sel passes it over. Voice dropped in CA7
        with RED is, in %, {_three(found, base, GONE_7)}. The mechanism is the choice and not fewer drops: where
        the rule is asked in forced drops only, more of voice goes, {_three(found, forced, GONE_7)}. In CA8 the
        difference is small ({_three(found, base, GONE_8)}; forced drops only {_three(found, forced, GONE_8)}). With
        REM the queue is short, and voice's own arrival can make it the heaviest class for a moment:
        {_three(found, base, GONE_7_REM)}, where the paper prints
        {published.LOSS_S2["CA7"][published.QUEUE]["REM", p.DROP_SEL]:.2f} % under Drop-Sel. {_judged(found)}
    """)


MOS_OF, WAIT_OF, LOST_OF = "MOS, {}", "wait, {} (ms)", "voice lost in all, {} (%)"


def _why_q9(found: FoundExperiment) -> str:
    base, routers, larger = found.sides()
    return paragraph(f"""
        The order follows the length of the queue, and that is a setting. Over all cases and victims voice waits, in
        ms, {_queues(found, base, WAIT_OF)}, loses, in %, {_queues(found, base, LOST_OF)}, and has a MOS of
        {_queues(found, base, MOS_OF, ".2f")}. AVQ is best because its virtual buffer holds 30 ms. With the buffer of
        the other disciplines its voice waits {found.of(routers, WAIT_OF.format("AVQ")).mean:.0f} ms and its MOS is
        {found.of(routers, MOS_OF.format("AVQ")).mean:.2f}, the worst. RED is worst because REM holds the queue at
        fewer bytes: with a mean packet of 1000 bytes instead of 500 REM's voice waits
        {found.of(larger, WAIT_OF.format("REM")).mean:.0f} ms and has
        {found.of(larger, MOS_OF.format("REM")).mean:.2f}. {_judged(found)} The paper names neither setting.
    """)


LOST_5_AVQ, LOST_8_AVQ = "voice lost in all, CA5 with AVQ, {} (%)", "voice lost in all, CA8 with AVQ, {} (%)"
MOS_5_AVQ, MOS_8_AVQ = "MOS, CA5 with AVQ, {}", "MOS, CA8 with AVQ, {}"


def _why_q10(found: FoundExperiment) -> str:
    base, longer = found.sides()
    return paragraph(f"""
        That Drop-Sel lowers the score where voice dominates fails in one cell, CA5 with AVQ. AVQ's queue is a few
        packets long, and in it the arrival that triggered the drop is often the heaviest class, so that Drop-Sel
        takes less of voice than Drop-Front does: lost are, in %, {_three(found, base, LOST_5_AVQ)}, and the MOS is
        {_three(found, base, MOS_5_AVQ, ".2f")}. With room for 114 ms Drop-Sel can tell who is heaviest:
        {_three(found, longer, LOST_5_AVQ)} and {_three(found, longer, MOS_5_AVQ, ".2f")}. The other part of the claim
        pays for it. Where voice is modest AVQ loses next to nothing in the short queue (CA8:
        {_three(found, base, LOST_8_AVQ, ".2f")} %), and Drop-Sel's lead over Drop-Tail is
        {found.of(base, MOS_8_AVQ.format(p.DROP_SEL)).mean - found.of(base, MOS_8_AVQ.format(p.TAIL)).mean:.2f} of a
        point; in the long one delay decides, and no victim rule changes it
        ({_three(found, longer, MOS_8_AVQ, ".2f")}). {_judged(found)}
    """)


OF_8 = {name: f"{q.CLASS_TITLES[name]} dropped, CA8, {{}} (%)" for name in q.CLASSES}
TCP_8 = "TCP, CA8, {} (Mb/s)"


def _why_q13(found: FoundExperiment) -> str:
    base, forced = found.sides()
    return paragraph(f"""
        In CA8 TCP is 65 % of the load and the heaviest class in the queue nearly always. Drop-Sel takes from it what
        must go: dropped are of voice, in %, {_three(found, base, OF_8["voice"])}, of other UDP
        {_three(found, base, OF_8["other-udp"])}, of TCP {_three(found, base, OF_8["tcp"])}. TCP is not harmed because
        it is dropped anyway and answers the same: {_three(found, base, TCP_8, ".2f")} Mb/s. With the rule in forced
        drops only, other UDP loses {found.of(forced, OF_8["other-udp"].format(p.DROP_SEL)).mean:.1f} % under
        Drop-Sel. {_judged(found)}
    """)


WAIT_1, WAIT_2, GONE_1 = "wait, CA1, {} (ms)", "wait, CA2, {} (ms)", "voice dropped, CA1, {} (%)"


def _why_q16(found: FoundExperiment) -> str:
    base, other, slope = found.sides()

    def waits(side: str) -> str:
        return ", ".join(
            f"{case} {found.of(side, name.format(p.TAIL)).mean:.0f} and "
            f"{found.of(side, name.format(p.FRONT)).mean:.0f}"
            for case, name in (("CA1", WAIT_1), ("CA2", WAIT_2))
        )

    return paragraph(f"""
        §3 expects a shorter wait because the packet that goes has waited longest. A second effect works against it:
        RED's chance goes by size, so that it decides on large arrivals, and at the front stands a call's small packet
        more often. The queue loses fewer bytes than came, and voice dropped in CA1 rises from
        {found.of(base, GONE_1.format(p.TAIL)).mean:.0f} to {found.of(base, GONE_1.format(p.FRONT)).mean:.0f} %. With
        the step of the RED of 1993 the queue cannot grow beyond the threshold, and the first effect wins: under
        Drop-Tail and Drop-Front voice waits, in ms, {waits(base)}. With a slope and nothing else changed they are
        equal ({waits(slope)}), and with ns-2.35's RED, whose chance rises more slowly, the second wins
        ({waits(other)}). {_judged(found)}
    """)


FAIR = "fairness, {}"


def _why_q19(found: FoundExperiment) -> str:
    base, forced = found.sides()
    gain, less = (
        found.of(side, FAIR.format(p.DROP_SEL)).mean - found.of(side, FAIR.format(p.TAIL)).mean
        for side in (base, forced)
    )
    return paragraph(f"""
        Jain's index over CA5 to CA8 is {_three(found, base, FAIR, ".2f")}. Drop-Sel's lead over Drop-Tail comes from
        RED's early drops as well as from forced ones: where it is asked in forced drops only, the lead is {less:.3f}
        instead of {gain:.3f} ({_three(found, forced, FAIR, ".2f")}). Where a class asks for less than a third no rule
        makes the index 1. {_judged(found)}
    """)


FAIR_6, FAIR_7 = "fairness, CA6 with AVQ, {}", "fairness, CA7 with REM, {}"


def _why_q20(found: FoundExperiment) -> str:
    base, near, exchange = found.sides()
    return paragraph(f"""
        Fairness among the classes needs a TCP that takes what it is left. With transfers up to 269 ms away the index
        is {_three(found, base, FAIR_6, ".2f")} with AVQ in CA6 and {_three(found, base, FAIR_7, ".2f")} with REM in
        CA7; with transfers 39 ms away {_three(found, near, FAIR_6, ".2f")} and {_three(found, near, FAIR_7, ".2f")}.
        TCP then gets, with AVQ in CA6, {_three(found, near, TCP_6_AVQ, ".2f")} instead of
        {_three(found, base, TCP_6_AVQ, ".2f")} Mb/s.
        With AVQ it also rests on a detail of ns-2: the virtual queue forgets an arrival whose place another packet
        took, so that the real queue holds more. Where the virtual queue makes the exchange too, the queue is too short
        for Drop-Sel to see who is heaviest, and the index is {_three(found, exchange, FAIR_6, ".2f")}.
        {_judged(found)}
    """)


MOSTLY = {scheme: f"{{}}, {scheme} (%)" for scheme in (f"RED, {p.DROP_SEL}", p.PUNSI_SCHEME)}


def _why_q21(found: FoundExperiment) -> str:
    base, flows, more = found.sides()
    under, punsi = MOSTLY[f"RED, {p.DROP_SEL}"], MOSTLY[p.PUNSI_SCHEME]
    return paragraph(f"""
        PUNSI takes nearly everything from unresponsive classes because it sees one class where there are two. Voice,
        other UDP and TCP have {_class_shares(found, base, punsi)} % under it. Where it compares flows they have
        {_class_shares(found, flows, punsi)} %. What is contradicted is the other half, and by little. Under Drop-Sel
        they have {_class_shares(found, base, under)} %: UDP keeps what it sends, and TCP, which yields, falls short
        of a third. Twice as many transfers for the same load leave {_class_shares(found, more, under)} %, within the
        10 points
        that count as nearly equal. {_judged(found)}
    """)


TCP_GONE = {case: f"TCP dropped, {case}, {{}} (%)" for case in ("CA3", "CA4")}
TCP_SENDS = {case: f"TCP sends, {case}, {{}} (Mb/s)" for case in ("CA3", "CA4")}


def _why_q23(found: FoundExperiment) -> str:
    base, slope = found.sides()

    def told(side: str) -> str:
        return "; ".join(
            f"{case}: dropped {_three(found, side, TCP_GONE[case])} %, sent "
            f"{_three(found, side, TCP_SENDS[case], '.2f')} Mb/s"
            for case in ("CA3", "CA4")
        )

    return paragraph(f"""
        The paper's argument holds, and the step of the RED of 1993 hides it. A large arrival is exchanged for the
        front packet, which is a call's more often, so that TCP is dropped less and sends more. Beyond the step every
        arrival costs the front one packet, in runs, and most packets of such a run are TCP's. TCP with the step,
        {told(base)}.
        With a slope in its place and nothing else changed, {told(slope)}. {_judged(found)}
    """)


VARIANCES = {case: f"variance, {case}, {{}} (ms²)" for case in p.S1_CASES}


def _why_q24(found: FoundExperiment) -> str:
    base, slope, forced = found.sides()

    def told(side: str, *cases: str) -> str:
        return "; ".join(f"{case} {_three(found, side, VARIANCES[case], '.0f')}" for case in cases)

    return paragraph(f"""
        Where TCP dominates the variance is that of RED's queue, and the step makes it: in CA4 it is, in ms²,
        {told(base, "CA4").removeprefix("CA4 ")}; with a slope {told(slope, "CA4").removeprefix("CA4 ")}. Drop-Sel's is
        least there, as printed, because it takes what waits from one class, and voice, which is not that class, waits
        evenly. The same mechanism contradicts the rest of the claim. In CA1 and CA3, too, voice is not the heaviest
        class: {told(base, "CA1", "CA3")}. In CA2, where it is, the three are closer
        ({told(base, "CA2").removeprefix("CA2 ")}).
        With the choice off in RED's early drops Drop-Sel's lead is gone in CA3
        ({told(forced, "CA3").removeprefix("CA3 ")}). In no setting is Drop-Tail's the least in CA1 and CA2, as the
        paper prints; its variances have no unit. {_judged(found)}
    """)


OTHER_1, BRINGS_1, TCP_3, SPREAD_1 = (
    "other UDP, CA1, {} (Mb/s)",
    "other UDP brings, CA1 (Mb/s)",
    "TCP, CA3, {} (Mb/s)",
    "largest − smallest share, CA1, Drop-Sel (%)",
)


def _why_q25(found: FoundExperiment) -> str:
    base, forced = found.sides()
    return paragraph(f"""
        The claim and Q1 exclude each other. In CA1 other UDP brings {found.of(base, BRINGS_1).mean:.2f} Mb/s, more than
        a third of the link; a rule that makes the classes equal must take from it. It gets
        {_three(found, base, OTHER_1, ".2f")} Mb/s. Where the rule is asked in forced drops only, as in ns-2's code,
        it keeps {_three(found, forced, OTHER_1, ".2f")}, and TCP in CA3 keeps
        {_three(found, forced, TCP_3, ".2f")} instead of {_three(found, base, TCP_3, ".2f")} Mb/s: the claim holds, and
        the classes are no longer equal. Between the largest and the smallest share in CA1 are then
        {found.of(forced, SPREAD_1).mean:.0f} points instead of {found.of(base, SPREAD_1).mean:.0f}. {_judged(found)}
    """)


WAIT_5, LATE_6 = "wait, CA5, {}, Drop-Tail (ms)", "voice late, CA6, {}, Drop-Tail (%)"


def _why_q27(found: FoundExperiment) -> str:
    base, longer, larger = found.sides()
    return paragraph(f"""
        Which discipline has the longest queue is set by hand. Voice waits in CA5 under Drop-Tail, in ms,
        {_queues(found, base, WAIT_5)}, and comes late in CA6, in %, {_queues(found, base, LATE_6, ".1f")}. AVQ has
        almost no late packet because its buffer holds 30 ms, which was chosen by that row of Table 6; with ns-2's 50
        packets (114 ms) it has {found.of(longer, LATE_6.format("AVQ")).mean:.1f} %. REM's queue is its mean packet's:
        with 1000 bytes instead of 500 it waits {found.of(larger, WAIT_5.format("REM")).mean:.0f} ms and has
        {found.of(larger, LATE_6.format("REM")).mean:.1f} % late, no less than RED. {_judged(found)}
    """)


MODEST = ("CA7", "CA8")

LOST_RED = {case: f"voice lost in all, {case} with RED, {{}} (%)" for case in MODEST}
LATE_REM = "voice late, CA8 with REM, {} (%)"


def _why_q28(found: FoundExperiment) -> str:
    base, near = found.sides()
    return paragraph(f"""
        Drop-Sel loses no more voice because it drops next to none of it where voice is modest; what is late is common
        to all. In all with RED voice loses, in %, in CA7 {_three(found, base, LOST_RED["CA7"])} and in CA8
        {_three(found, base, LOST_RED["CA8"])}. What stays open is lateness with REM, where the victims differ by less
        than runs do ({_three(found, base, LATE_REM)} % in CA8). Transfers 39 ms away press harder, and the victims
        part: {_three(found, near, LATE_REM)} %. {_judged(found)}
    """)


WAIT_7_8 = {case: f"wait, {case}, {{}} (ms)" for case in MODEST}


def _why_q29(found: FoundExperiment) -> str:
    base, other = found.sides()

    def told(side: str) -> str:
        return "; ".join(f"{case} {_three(found, side, name, '.0f')}" for case, name in WAIT_7_8.items())

    return paragraph(f"""
        Drop-Sel takes what waits from the classes that fill the queue with large packets, and each such drop frees
        more bytes than a call's packet at the front does. Voice waits, in ms, {told(base)}. With ns-2.35's RED, which
        has no step to end the growth under Drop-Front, the lead is larger: {told(other)}. {_judged(found)}
    """)


LOST_9 = {queue: f"voice lost in all, CA9 with {queue}, {{}} (%)" for queue in ("RED", "REM")}


def _why_q30(found: FoundExperiment) -> str:
    base, forced = found.sides()
    return paragraph(f"""
        Two routers in a row change nothing: voice is modest, Drop-Sel passes it over at both, and Drop-Front takes it
        at both, because the front packet is a call's more often than the arrival on which RED decides. In CA9 voice
        loses, in %, with RED {_three(found, base, LOST_9["RED"])}, with REM {_three(found, base, LOST_9["REM"])}. With
        the rule in forced drops only, chance drops the arrival under every victim, and Drop-Front's loss is
        Drop-Tail's ({_three(found, forced, LOST_9["RED"])}). {_judged(found)}
    """)


def _why_q31(found: FoundExperiment) -> str:
    base, longer, routers = found.sides()
    return paragraph(f"""
        AVQ's queue is as long as its virtual buffer lets it be. Over all cases and victims voice waits, in ms,
        {_queues(found, base, WAIT_OF)} and loses, in %, {_queues(found, base, LOST_OF)}. With room for 114 ms, ns-2's
        default, AVQ's voice waits {found.of(longer, WAIT_OF.format("AVQ")).mean:.0f} ms and loses
        {found.of(longer, LOST_OF.format("AVQ")).mean:.0f} %; with the buffer of the other disciplines
        {found.of(routers, WAIT_OF.format("AVQ")).mean:.0f} ms and
        {found.of(routers, LOST_OF.format("AVQ")).mean:.0f} %. The claim is one about a buffer that the paper does not
        name. {_judged(found)}
    """)


SLOPE_SIDE = Side("a slope instead of the step", changes=GENTLE)
OTHER_RED_SIDE = Side("ns-2.35's RED", {"red": "ns-2.35"})
FORCED_SIDE = Side("victims in forced drops only", {"victim-drops": "forced drops"})
NEAR_SIDE = Side("transfers 39 ms away", NEAR)
ROOM_SIDE = Side("AVQ with room for 114 ms", {"avq-buffer": "114 ms"})
ROUTERS_SIDE = Side("AVQ with the routers' buffer", {"avq-buffer": "the routers'"})
BY_FLOW_SIDE = Side("PUNSI compares flows", {"punsi": "flow"})
REM_SIDE = Side("REM's mean packet of 1000 bytes", {"rem": "bytes of 1000"})


def _under(measure: Measure, case: str, queue: str, name: str, of: str = "") -> dict[str, Quantity]:
    """A measure of S2 under each of the paper's victims, of voice or of a class."""
    return {name.format(one): _in_s2(measure, case, queue, one, of) for one in V}


def _under_red(measure: Measure, case: str, name: str, of: str = "") -> dict[str, Quantity]:
    """The same of S1."""
    return {name.format(one): _in_s1(measure, case, one, of) for one in V}


def _scheme(measure: Measure, case: str, scheme: str, name: str) -> Quantity:
    return _taken(measure, p.PUNSI, case=case, scheme=scheme, class_=name)


def _over_all(measure: Measure, queue: str) -> Quantity:
    """A measure under a queue: the mean over the cases of S2 and S3 and over victims."""

    def taken(data: Data) -> NDArray[np.float64]:
        several = [
            data.measured(measure, grid).samples(case=case, queue=queue, victim=victim)
            for grid, cases in ((p.ON_OFF, p.S2_CASES), (p.ROUTERS, p.S3_CASES))
            for case in cases
            for victim in V
        ]
        whole: NDArray[np.float64] = sum(several[1:], several[0]) / len(several)
        return whole

    return taken


def _fairness(victim: str) -> Quantity:
    """Jain's index with RED: the mean over the cases of S2."""

    def taken(data: Data) -> NDArray[np.float64]:
        measured = data.measured(q.CLASS_FAIRNESS, p.ON_OFF)
        several = [measured.samples(case=case, queue="RED", victim=victim) for case in p.S2_CASES]
        whole: NDArray[np.float64] = sum(several[1:], several[0]) / len(several)
        return whole

    return taken


def _further() -> list[Experiment]:
    """Of claims that one more switch explains."""
    over_all = {
        name.format(queue): _over_all(measure, queue)
        for name, measure in ((WAIT_OF, q.QUEUEING), (LOST_OF, q.TOTAL_LOSS))
        for queue in p.QUEUES
    }
    return [
        Experiment(
            "why-Q1", "Q1", "RED's step at the maximum threshold, and in which drops the victim rule is asked.",
            (BASE_SIDE, OTHER_RED_SIDE, FORCED_SIDE), _why_q1,
            {
                name.format(q.CLASS_TITLES[one]): _in_s1(q.SHARE, case, p.DROP_SEL, one)
                for case, name in CLASS_SHARE.items()
                for one in q.CLASSES
            },
        ),
        Experiment(
            "why-Q3", "Q3", "In which of RED's drops the victim rule is asked.", (BASE_SIDE, FORCED_SIDE), _why_q3,
            {
                **_under(q.OUT, "CA5", "RED", TCP_5, "tcp"),
                **_under(q.DROPPED, "CA5", "RED", TCP_5_GONE, "tcp"),
                **_under(q.DROPPED, "CA5", "RED", VOICE_5_GONE, "voice"),
            },
        ),
        Experiment(
            "why-Q4", "Q4", "How strong TCP is.", (BASE_SIDE, NEAR_SIDE), _why_q4,
            {
                **_under(q.OUT, "CA6", "AVQ", TCP_6_AVQ, "tcp"),
                **_under(q.OUT, "CA7", "REM", TCP_7_REM, "tcp"),
                **_under(q.OUT, "CA7", "REM", OTHER_7_REM, "other-udp"),
            },
        ),
        Experiment(
            "why-Q5", "Q5", "Whether PUNSI compares classes or flows; then RED's law.",
            (BASE_SIDE, BY_FLOW_SIDE, OTHER_RED_SIDE), _why_q5,
            {
                **{name: _scheme(q.OUT, "CA2", scheme, "other-udp") for scheme, name in OTHER_UNDER.items()},
                VOICE_2: _scheme(q.SHARE, "CA2", f"RED, {p.DROP_SEL}", "voice"),
                TCP_2: _scheme(q.SHARE, "CA2", f"RED, {p.DROP_SEL}", "tcp"),
            },
        ),
        Experiment(
            "why-Q7", "Q7", "In which of RED's drops the victim rule is asked.", (BASE_SIDE, FORCED_SIDE), _why_q7,
            {
                **_under(q.QUEUE_LOSS, "CA7", "RED", GONE_7),
                **_under(q.QUEUE_LOSS, "CA8", "RED", GONE_8),
                **_under(q.QUEUE_LOSS, "CA7", "REM", GONE_7_REM),
            },
        ),
        Experiment(
            "why-Q9", "Q9", "How much AVQ's queue may hold, and by which mean packet REM counts.",
            (BASE_SIDE, ROUTERS_SIDE, REM_SIDE), _why_q9,
            {**{MOS_OF.format(one): _over_all(q.MOS, one) for one in p.QUEUES}, **over_all},
        ),
        Experiment(
            "why-Q10", "Q10", "How much AVQ's queue may hold.", (BASE_SIDE, ROOM_SIDE), _why_q10,
            {
                **_under(q.TOTAL_LOSS, "CA5", "AVQ", LOST_5_AVQ),
                **_under(q.TOTAL_LOSS, "CA8", "AVQ", LOST_8_AVQ),
                **_under(q.MOS, "CA5", "AVQ", MOS_5_AVQ),
                **_under(q.MOS, "CA8", "AVQ", MOS_8_AVQ),
            },
        ),
        Experiment(
            "why-Q13", "Q13", "In which of RED's drops the victim rule is asked.", (BASE_SIDE, FORCED_SIDE), _why_q13,
            {
                **{
                    key: taken
                    for one, name in OF_8.items()
                    for key, taken in _under(q.DROPPED, "CA8", "RED", name, one).items()
                },
                **_under(q.OUT, "CA8", "RED", TCP_8, "tcp"),
            },
        ),
        Experiment(
            "why-Q16", "Q16", "RED's step at the maximum threshold, and its law.",
            (BASE_SIDE, OTHER_RED_SIDE, SLOPE_SIDE), _why_q16,
            {
                name.format(one): _in_s1(measure, case, one, of)
                for name, measure, case, of in (
                    (WAIT_1, q.QUEUEING, "CA1", ""),
                    (WAIT_2, q.QUEUEING, "CA2", ""),
                    (GONE_1, q.DROPPED, "CA1", "voice"),
                )
                for one in (p.TAIL, p.FRONT)
            },
        ),
        Experiment(
            "why-Q19", "Q19", "In which of RED's drops the victim rule is asked.", (BASE_SIDE, FORCED_SIDE), _why_q19,
            {FAIR.format(one): _fairness(one) for one in V},
        ),
        Experiment(
            "why-Q20", "Q20", "How strong TCP is; then whether AVQ's virtual queue exchanges a victim.",
            (
                BASE_SIDE, NEAR_SIDE,
                Side("AVQ's virtual queue exchanges", {"avq-law": "ns-2's, exchanged"}),
            ), _why_q20,
            {
                **_under(q.CLASS_FAIRNESS, "CA6", "AVQ", FAIR_6),
                **_under(q.CLASS_FAIRNESS, "CA7", "REM", FAIR_7),
                **_under(q.OUT, "CA6", "AVQ", TCP_6_AVQ, "tcp"),
            },
        ),
        Experiment(
            "why-Q21", "Q21", "Whether PUNSI compares classes or flows; then the number of transfers.",
            (BASE_SIDE, BY_FLOW_SIDE, Side("twice as many transfers", {"transfer": "131 kb/s"})), _why_q21,
            {
                name.format(q.CLASS_TITLES[one]): _scheme(q.SHARE, p.MOSTLY_UDP, scheme, one)
                for scheme, name in MOSTLY.items()
                for one in q.CLASSES
            },
        ),
        Experiment(
            "why-Q23", "Q23", "RED's step at the maximum threshold.", (BASE_SIDE, SLOPE_SIDE), _why_q23,
            {
                key: taken
                for case in ("CA4", "CA3")
                for measure, name in ((q.DROPPED, TCP_GONE[case]), (q.IN, TCP_SENDS[case]))
                for key, taken in _under_red(measure, case, name, "tcp").items()
            },
        ),
        Experiment(
            "why-Q24", "Q24", "RED's step at the maximum threshold, and in which drops the victim rule is asked.",
            (BASE_SIDE, SLOPE_SIDE, FORCED_SIDE), _why_q24,
            {
                key: taken
                for case in ("CA1", "CA3", "CA2", "CA4")
                for key, taken in _under_red(q.VARIANCE, case, VARIANCES[case]).items()
            },
        ),
        Experiment(
            "why-Q25", "Q25", "In which of RED's drops the victim rule is asked.", (BASE_SIDE, FORCED_SIDE), _why_q25,
            {
                **_under_red(q.OUT, "CA1", OTHER_1, "other-udp"),
                BRINGS_1: _in_s1(q.IN, "CA1", p.DROP_SEL, "other-udp"),
                **_under_red(q.OUT, "CA3", TCP_3, "tcp"),
                SPREAD_1: _in_s1(q.SPREAD, "CA1", p.DROP_SEL),
            },
        ),
        Experiment(
            "why-Q27", "Q27", "How much AVQ's queue may hold, and by which mean packet REM counts.",
            (BASE_SIDE, ROOM_SIDE, REM_SIDE), _why_q27,
            {
                **{WAIT_5.format(one): _in_s2(q.QUEUEING, "CA5", one, p.TAIL) for one in p.QUEUES},
                **{LATE_6.format(one): _in_s2(q.LATE_LOSS, "CA6", one, p.TAIL) for one in p.QUEUES},
            },
        ),
        Experiment(
            "why-Q28", "Q28", "How strong TCP is.", (BASE_SIDE, NEAR_SIDE), _why_q28,
            {
                **_under(q.TOTAL_LOSS, "CA8", "RED", LOST_RED["CA8"]),
                **_under(q.TOTAL_LOSS, "CA7", "RED", LOST_RED["CA7"]),
                **_under(q.LATE_LOSS, "CA8", "REM", LATE_REM),
            },
        ),
        Experiment(
            "why-Q29", "Q29", "RED's law.", (BASE_SIDE, OTHER_RED_SIDE), _why_q29,
            {
                key: taken
                for case, name in WAIT_7_8.items()
                for key, taken in _under(q.QUEUEING, case, "RED", name).items()
            },
        ),
        Experiment(
            "why-Q30", "Q30", "In which of RED's drops the victim rule is asked.", (BASE_SIDE, FORCED_SIDE), _why_q30,
            {
                name.format(one): _taken(q.TOTAL_LOSS, p.ROUTERS, case="CA9", queue=queue, victim=one)
                for queue, name in LOST_9.items()
                for one in V
            },
        ),
        Experiment(
            "why-Q31", "Q31", "How much AVQ's queue may hold.", (BASE_SIDE, ROOM_SIDE, ROUTERS_SIDE), _why_q31,
            over_all,
        ),
    ]  # fmt: skip


def experiments() -> list[Experiment]:
    """All experiments, in the order of their claims."""
    return sorted([*_first(), *_further()], key=lambda one: int(one.claim.removeprefix("Q")))
