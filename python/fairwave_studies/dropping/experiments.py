"""Why claims of paper 004 come out as they do: a mechanism on and off, on seeds that nothing else uses.

Each experiment switches one factor or parameter of the queue after another. Every side measures the claim's comparisons
and the quantities under the same seeds. All numbers in the paragraphs come from these runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_studies.dropping import points as p
from fairwave_studies.dropping import published
from fairwave_studies.dropping import quantities as q
from fairwave_study.experiments import Experiment, Side

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from fairwave.measuring.measures import Measure
    from fairwave_study.parts import Data

    Quantity = Callable[[Data], NDArray[np.float64]]

BASE_SIDE = Side("as in the base reading")
HALF = {"transfer": "524 kb/s"}
NEAR = {"tcp-delays": "39 ms"}
TWICE = {**NEAR, "transfer": "131 kb/s"}
LONGER = {**NEAR, "avq-buffer": "114 ms"}
EXCHANGED = {**LONGER, "avq-law": "ns-2's, exchanged"}
GENTLE = {"topology.bottleneck.queue.gentle": True}
"""RED's slope from max-p to 1 instead of the step, and nothing else."""


def _sample(measure: Measure, grid: str, **place: str) -> Quantity:
    """A measure at one point, seed by seed."""
    names = {key.rstrip("_"): value for key, value in place.items()}
    return lambda data: data.measured(measure, grid).samples(**names)


def _left(data: Data) -> NDArray[np.float64]:
    """The rest of the link that UDP leaves in CA3, by UDP's input under Drop-Sel, Mb/s."""
    place = {"case": "CA3", "queue": "RED", "victim": p.DROP_SEL}
    into = data.measured(q.IN, p.ALWAYS_ON)
    voice, other = (into.samples(**place, **{"class": name}) for name in ("voice", "other-udp"))
    left: NDArray[np.float64] = p.RATE_BPS / 1e6 - voice - other
    return left


def _sample_s1(measure: Measure, case: str, victim: str, name: str = "") -> Quantity:
    return _sample(
        measure, p.ALWAYS_ON, case=case, queue="RED", victim=victim, **({"class": name} if name else {})
    )


def _sample_s2(measure: Measure, case: str, queue: str, victim: str, name: str = "") -> Quantity:
    return _sample(
        measure, p.ON_OFF, case=case, queue=queue, victim=victim, **({"class": name} if name else {})
    )


LEFT, SEL_TCP, TAIL_TCP, TAIL_OTHER = (
    "UDP leaves in CA3 (Mb/s)",
    "TCP, CA3, Drop-Sel (Mb/s)",
    "TCP, CA3, Drop-Tail (Mb/s)",
    "UDP dropped, Drop-Tail (%)",
)


WAITS = {one: f"wait, CA4, {one} (ms)" for one in p.PAPERS_VICTIMS}


SWING, FRONT_DROPS = "variance, Drop-Front (ms²)", "TCP dropped, front (%)"


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
    """Mean distance of queueing delays from Table 5's cells. One of the cells is calibrated."""
    waits = data.measured(q.QUEUEING, p.ALWAYS_ON)
    several = [
        abs(waits.samples(case=case, queue="RED", victim=victim) - theirs)
        for case, row in published.QUEUEING_MS.items()
        for victim, theirs in row.items()
    ]
    whole: NDArray[np.float64] = sum(several[1:], several[0]) / len(several)
    return whole


SHARES = {name: f"{title}, CA6, Drop-Sel (%)" for name, title in q.CLASS_TITLES.items()}
GONE = "VoIP dropped, CA6 (%)"
STOOD = "wait, CA6, Drop-Sel (ms)"


TAIL_SHARES = {name: f"{q.CLASS_TITLES[name]}, CA6, Drop-Tail (%)" for name in ("voice", "tcp")}
RATIO = "voice over TCP, Drop-Tail"


CALLS_GONE = {one: f"dropped, CA5, {one} (%)" for one in p.PAPERS_VICTIMS}
CA5_WAIT = "wait, CA5, Drop-Sel (ms)"


LATE = {one: f"late, CA7, {one} (%)" for one in p.PAPERS_VICTIMS}
WAITED = {one: f"wait, CA7, {one} (ms)" for one in (p.TAIL, p.DROP_SEL)}


def _late_of_received(victim: str) -> Quantity:
    def sample_runs(data: Data) -> NDArray[np.float64]:
        place = {"case": "CA7", "queue": "RED", "victim": victim}
        late, gone = (data.measured(one, p.ON_OFF).samples(**place) for one in (q.LATE_LOSS, q.QUEUE_LOSS))
        share: NDArray[np.float64] = 100 * late / (100 - gone)
        return share

    return sample_runs


IN_ALL = {queue: f"lost in all, CA5, {queue} (%)" for queue in ("RED", "REM")}
APART = {part: f"from Table 6, {part} (%)" for part in (published.QUEUE, published.USER)}


def _total_loss(queue: str) -> Quantity:
    """Total loss of voice in CA5, mean over victims."""

    def sample_runs(data: Data) -> NDArray[np.float64]:
        measured = data.measured(q.TOTAL_LOSS, p.ON_OFF)
        several = [measured.samples(case="CA5", queue=queue, victim=one) for one in p.PAPERS_VICTIMS]
        whole: NDArray[np.float64] = sum(several[1:], several[0]) / len(several)
        return whole

    return sample_runs


def _apart(part: str) -> Quantity:
    """How far the cells of a row of Table 6 are from the printed ones, in points: the mean over all of them."""
    measure = {published.QUEUE: q.QUEUE_LOSS, published.USER: q.LATE_LOSS}[part]

    def sample_runs(data: Data) -> NDArray[np.float64]:
        measured = data.measured(measure, p.ON_OFF)
        several = [
            abs(measured.samples(case=case, queue=queue, victim=victim) - theirs)
            for case, rows in published.LOSS_S2.items()
            for (queue, victim), theirs in rows[part].items()
        ]
        whole: NDArray[np.float64] = sum(several[1:], several[0]) / len(several)
        return whole

    return sample_runs


def _first() -> list[Experiment]:
    """Of the claims that the exploration contradicts most often."""
    waits = {name: _sample_s1(q.QUEUEING, "CA4", victim) for victim, name in WAITS.items()}
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
            {
                LEFT: _left,
                SEL_TCP: _sample_s1(q.OUT, "CA3", p.DROP_SEL, "tcp"),
                TAIL_TCP: _sample_s1(q.OUT, "CA3", p.TAIL, "tcp"),
                TAIL_OTHER: _sample_s1(q.DROPPED, "CA3", p.TAIL, "other-udp"),
            },
        ),
        Experiment(
            "why-Q6",
            "Q6",
            "RED's step at the maximum threshold, and whether its chance goes by size.",
            STEP_SIDES,
            {
                **{name: _sample_s1(q.QUEUEING, case, victim) for (case, victim), name in QUEUEING.items()},
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
            {
                CA5_WAIT: _sample_s2(q.QUEUEING, "CA5", "AVQ", p.DROP_SEL),
                **{
                    name: _sample_s2(q.QUEUE_LOSS, "CA5", "AVQ", victim)
                    for victim, name in CALLS_GONE.items()
                },
            },
        ),
        Experiment(
            "why-Q12",
            "Q12",
            "RED's step at the maximum threshold, and the cost of a run of drops to TCP.",
            (
                Side("RED of 1993: every arrival beyond the threshold"),
                Side("a slope instead of the step", changes=GENTLE),
                Side("half as many transfers", HALF),
                Side("SACK instead of Reno", {"tcp": "SACK, 0.2 s"}),
            ),
            {
                **waits,
                SWING: _sample_s1(q.VARIANCE, "CA4", p.FRONT),
                FRONT_DROPS: _sample_s1(q.DROPPED, "CA4", p.FRONT, "tcp"),
            },
        ),
        Experiment(
            "why-Q14",
            "Q14",
            "The strength of TCP, and the length of AVQ's queue, which decides the heaviest class.",
            (
                BASE_SIDE,
                Side("transfers 39 ms away", NEAR),
                Side("and twice as many", TWICE),
                Side("39 ms, AVQ with room for 114 ms", LONGER),
                Side("and its virtual queue exchanges", EXCHANGED),
            ),
            {
                **{
                    label: _sample_s2(q.SHARE, "CA6", "AVQ", p.DROP_SEL, name)
                    for name, label in SHARES.items()
                },
                GONE: _sample_s2(q.QUEUE_LOSS, "CA6", "AVQ", p.DROP_SEL),
                STOOD: _sample_s2(q.QUEUEING, "CA6", "AVQ", p.DROP_SEL),
            },
        ),
        Experiment(
            "why-Q15",
            "Q15",
            "Round trips and number of the transfers that calls share AVQ's queue with.",
            (BASE_SIDE, Side("transfers 39 ms away", NEAR), Side("and twice as many", TWICE)),
            {label: _sample_s2(q.SHARE, "CA6", "AVQ", p.TAIL, name) for name, label in TAIL_SHARES.items()},
        ),
        Experiment(
            "why-Q17",
            "Q17",
            "The denominator of the late share, and RED's law.",
            (BASE_SIDE, Side("ns-2.35's RED", {"red": "ns-2.35"})),
            {
                **{label: _late_of_received(victim) for victim, label in LATE.items()},
                **{label: _sample_s2(q.QUEUEING, "CA7", "RED", victim) for victim, label in WAITED.items()},
            },
        ),
        Experiment(
            "why-Q22",
            "Q22",
            "RED's step at the maximum threshold, and whether its chance goes by size.",
            STEP_SIDES,
            {name: _sample_s1(q.MEDIAN, case, victim) for (case, victim), name in MEDIANS.items()},
        ),
        Experiment(
            "why-Q26",
            "Q26",
            "Round trips and number of the transfers that press on RED and on REM.",
            (BASE_SIDE, Side("transfers 39 ms away", NEAR), Side("and twice as many", TWICE)),
            {
                **{label: _total_loss(queue) for queue, label in IN_ALL.items()},
                **{label: _apart(part) for part, label in APART.items()},
            },
        ),
    ]


V = p.PAPERS_VICTIMS


SHARE_NAME = "{{}}, {case}, Drop-Sel (%)"
CLASS_SHARE = {case: SHARE_NAME.format(case=case) for case in ("CA1", "CA2")}


TCP_5, TCP_5_GONE, VOICE_5_GONE = (
    "TCP, CA5, {} (Mb/s)",
    "TCP dropped, CA5, {} (%)",
    "voice dropped, CA5, {} (%)",
)


TCP_6_AVQ, TCP_7_REM = "TCP, CA6 with AVQ, {} (Mb/s)", "TCP, CA7 with REM, {} (Mb/s)"
OTHER_7_REM = "other UDP, CA7 with REM, {} (Mb/s)"


OTHER_UNDER = {
    scheme: f"other UDP, CA2, {scheme} (Mb/s)"
    for scheme in (f"RED, {p.TAIL}", f"RED, {p.DROP_SEL}", p.PUNSI_SCHEME)
}
VOICE_2, TCP_2 = "VoIP, CA2, Drop-Sel (%)", "TCP, CA2, Drop-Sel (%)"


GONE_7, GONE_8, GONE_7_REM = (
    "voice dropped, CA7 with RED, {} (%)",
    "voice dropped, CA8 with RED, {} (%)",
    "voice dropped, CA7 with REM, {} (%)",
)


MOS_OF, WAIT_OF, LOST_OF = "MOS, {}", "wait, {} (ms)", "voice lost in all, {} (%)"


LOST_5_AVQ, LOST_8_AVQ = "voice lost in all, CA5 with AVQ, {} (%)", "voice lost in all, CA8 with AVQ, {} (%)"
MOS_5_AVQ, MOS_8_AVQ = "MOS, CA5 with AVQ, {}", "MOS, CA8 with AVQ, {}"


OF_8 = {name: f"{q.CLASS_TITLES[name]} dropped, CA8, {{}} (%)" for name in q.CLASSES}
TCP_8 = "TCP, CA8, {} (Mb/s)"


WAIT_1, WAIT_2, GONE_1 = "wait, CA1, {} (ms)", "wait, CA2, {} (ms)", "voice dropped, CA1, {} (%)"


FAIR = "fairness, {}"


FAIR_6, FAIR_7 = "fairness, CA6 with AVQ, {}", "fairness, CA7 with REM, {}"


MOSTLY = {scheme: f"{{}}, {scheme} (%)" for scheme in (f"RED, {p.DROP_SEL}", p.PUNSI_SCHEME)}


TCP_GONE = {case: f"TCP dropped, {case}, {{}} (%)" for case in ("CA3", "CA4")}
TCP_SENDS = {case: f"TCP sends, {case}, {{}} (Mb/s)" for case in ("CA3", "CA4")}


VARIANCES = {case: f"variance, {case}, {{}} (ms²)" for case in p.S1_CASES}


OTHER_1, BRINGS_1, TCP_3, SPREAD_1 = (
    "other UDP, CA1, {} (Mb/s)",
    "other UDP brings, CA1 (Mb/s)",
    "TCP, CA3, {} (Mb/s)",
    "largest − smallest share, CA1, Drop-Sel (%)",
)


WAIT_5, LATE_6 = "wait, CA5, {}, Drop-Tail (ms)", "voice late, CA6, {}, Drop-Tail (%)"


MODEST = ("CA7", "CA8")

LOST_RED = {case: f"voice lost in all, {case} with RED, {{}} (%)" for case in MODEST}
LATE_REM = "voice late, CA8 with REM, {} (%)"


WAIT_7_8 = {case: f"wait, {case}, {{}} (ms)" for case in MODEST}


LOST_9 = {queue: f"voice lost in all, CA9 with {queue}, {{}} (%)" for queue in ("RED", "REM")}


SLOPE_SIDE = Side("a slope instead of the step", changes=GENTLE)
OTHER_RED_SIDE = Side("ns-2.35's RED", {"red": "ns-2.35"})
FORCED_SIDE = Side("victims in forced drops only", {"victim-drops": "forced drops"})
NEAR_SIDE = Side("transfers 39 ms away", NEAR)
ROOM_SIDE = Side("AVQ with room for 114 ms", {"avq-buffer": "114 ms"})
ROUTERS_SIDE = Side("AVQ with the routers' buffer", {"avq-buffer": "the routers'"})
BY_FLOW_SIDE = Side("PUNSI compares flows", {"punsi": "flow"})
REM_SIDE = Side("REM's mean packet of 1000 bytes", {"rem": "bytes of 1000"})


def _sample_victims_s2(
    measure: Measure, case: str, queue: str, name: str, of: str = ""
) -> dict[str, Quantity]:
    """A measure of S2 under each of the paper's victims, of voice or of a class."""
    return {name.format(one): _sample_s2(measure, case, queue, one, of) for one in V}


def _sample_victims_s1(measure: Measure, case: str, name: str, of: str = "") -> dict[str, Quantity]:
    """The same of S1."""
    return {name.format(one): _sample_s1(measure, case, one, of) for one in V}


def _scheme(measure: Measure, case: str, scheme: str, name: str) -> Quantity:
    return _sample(measure, p.PUNSI, case=case, scheme=scheme, class_=name)


def _mean_over_cases(measure: Measure, queue: str) -> Quantity:
    """A measure under a queue: the mean over the cases of S2 and S3 and over victims."""

    def sample_runs(data: Data) -> NDArray[np.float64]:
        several = [
            data.measured(measure, grid).samples(case=case, queue=queue, victim=victim)
            for grid, cases in ((p.ON_OFF, p.S2_CASES), (p.ROUTERS, p.S3_CASES))
            for case in cases
            for victim in V
        ]
        whole: NDArray[np.float64] = sum(several[1:], several[0]) / len(several)
        return whole

    return sample_runs


def _fairness(victim: str) -> Quantity:
    """Jain's index with RED: the mean over the cases of S2."""

    def sample_runs(data: Data) -> NDArray[np.float64]:
        measured = data.measured(q.CLASS_FAIRNESS, p.ON_OFF)
        several = [measured.samples(case=case, queue="RED", victim=victim) for case in p.S2_CASES]
        whole: NDArray[np.float64] = sum(several[1:], several[0]) / len(several)
        return whole

    return sample_runs


def _further() -> list[Experiment]:
    """Of claims that one more switch explains."""
    over_all = {
        name.format(queue): _mean_over_cases(measure, queue)
        for name, measure in ((WAIT_OF, q.QUEUEING), (LOST_OF, q.TOTAL_LOSS))
        for queue in p.QUEUES
    }
    return [
        Experiment(
            "why-Q1", "Q1", "RED's step at the maximum threshold, and the drops with a victim rule.",
            (BASE_SIDE, OTHER_RED_SIDE, FORCED_SIDE),
            {
                name.format(q.CLASS_TITLES[one]): _sample_s1(q.SHARE, case, p.DROP_SEL, one)
                for case, name in CLASS_SHARE.items()
                for one in q.CLASSES
            },
        ),
        Experiment(
            "why-Q3", "Q3", "In which of RED's drops the victim rule is asked.", (BASE_SIDE, FORCED_SIDE),

            {
                **_sample_victims_s2(q.OUT, "CA5", "RED", TCP_5, "tcp"),
                **_sample_victims_s2(q.DROPPED, "CA5", "RED", TCP_5_GONE, "tcp"),
                **_sample_victims_s2(q.DROPPED, "CA5", "RED", VOICE_5_GONE, "voice"),
            },
        ),
        Experiment(
            "why-Q4", "Q4", "How strong TCP is.", (BASE_SIDE, NEAR_SIDE),
            {
                **_sample_victims_s2(q.OUT, "CA6", "AVQ", TCP_6_AVQ, "tcp"),
                **_sample_victims_s2(q.OUT, "CA7", "REM", TCP_7_REM, "tcp"),
                **_sample_victims_s2(q.OUT, "CA7", "REM", OTHER_7_REM, "other-udp"),
            },
        ),
        Experiment(
            "why-Q5", "Q5", "Whether PUNSI compares classes or flows; then RED's law.",
            (BASE_SIDE, BY_FLOW_SIDE, OTHER_RED_SIDE),
            {
                **{name: _scheme(q.OUT, "CA2", scheme, "other-udp") for scheme, name in OTHER_UNDER.items()},
                VOICE_2: _scheme(q.SHARE, "CA2", f"RED, {p.DROP_SEL}", "voice"),
                TCP_2: _scheme(q.SHARE, "CA2", f"RED, {p.DROP_SEL}", "tcp"),
            },
        ),
        Experiment(
            "why-Q7", "Q7", "In which of RED's drops the victim rule is asked.", (BASE_SIDE, FORCED_SIDE),

            {
                **_sample_victims_s2(q.QUEUE_LOSS, "CA7", "RED", GONE_7),
                **_sample_victims_s2(q.QUEUE_LOSS, "CA8", "RED", GONE_8),
                **_sample_victims_s2(q.QUEUE_LOSS, "CA7", "REM", GONE_7_REM),
            },
        ),
        Experiment(
            "why-Q9", "Q9", "The size of AVQ's queue, and REM's mean packet.",
            (BASE_SIDE, ROUTERS_SIDE, REM_SIDE),
            {**{MOS_OF.format(one): _mean_over_cases(q.MOS, one) for one in p.QUEUES}, **over_all},
        ),
        Experiment(
            "why-Q10", "Q10", "How much AVQ's queue may hold.", (BASE_SIDE, ROOM_SIDE),
            {
                **_sample_victims_s2(q.TOTAL_LOSS, "CA5", "AVQ", LOST_5_AVQ),
                **_sample_victims_s2(q.TOTAL_LOSS, "CA8", "AVQ", LOST_8_AVQ),
                **_sample_victims_s2(q.MOS, "CA5", "AVQ", MOS_5_AVQ),
                **_sample_victims_s2(q.MOS, "CA8", "AVQ", MOS_8_AVQ),
            },
        ),
        Experiment(
            "why-Q13", "Q13", "In which of RED's drops the victim rule is asked.", (BASE_SIDE, FORCED_SIDE),

            {
                **{
                    key: quantity
                    for one, name in OF_8.items()
                    for key, quantity in _sample_victims_s2(q.DROPPED, "CA8", "RED", name, one).items()
                },
                **_sample_victims_s2(q.OUT, "CA8", "RED", TCP_8, "tcp"),
            },
        ),
        Experiment(
            "why-Q16", "Q16", "RED's step at the maximum threshold, and its law.",
            (BASE_SIDE, OTHER_RED_SIDE, SLOPE_SIDE),
            {
                name.format(one): _sample_s1(measure, case, one, of)
                for name, measure, case, of in (
                    (WAIT_1, q.QUEUEING, "CA1", ""),
                    (WAIT_2, q.QUEUEING, "CA2", ""),
                    (GONE_1, q.DROPPED, "CA1", "voice"),
                )
                for one in (p.TAIL, p.FRONT)
            },
        ),
        Experiment(
            "why-Q19", "Q19", "In which of RED's drops the victim rule is asked.", (BASE_SIDE, FORCED_SIDE),

            {FAIR.format(one): _fairness(one) for one in V},
        ),
        Experiment(
            "why-Q20", "Q20", "How strong TCP is; then whether AVQ's virtual queue exchanges a victim.",
            (
                BASE_SIDE, NEAR_SIDE,
                Side("AVQ's virtual queue exchanges", {"avq-law": "ns-2's, exchanged"}),
            ),
            {
                **_sample_victims_s2(q.CLASS_FAIRNESS, "CA6", "AVQ", FAIR_6),
                **_sample_victims_s2(q.CLASS_FAIRNESS, "CA7", "REM", FAIR_7),
                **_sample_victims_s2(q.OUT, "CA6", "AVQ", TCP_6_AVQ, "tcp"),
            },
        ),
        Experiment(
            "why-Q21", "Q21", "Whether PUNSI compares classes or flows; then the number of transfers.",
            (BASE_SIDE, BY_FLOW_SIDE, Side("twice as many transfers", {"transfer": "131 kb/s"})),
            {
                name.format(q.CLASS_TITLES[one]): _scheme(q.SHARE, p.MOSTLY_UDP, scheme, one)
                for scheme, name in MOSTLY.items()
                for one in q.CLASSES
            },
        ),
        Experiment(
            "why-Q23", "Q23", "RED's step at the maximum threshold.", (BASE_SIDE, SLOPE_SIDE),
            {
                key: quantity
                for case in ("CA4", "CA3")
                for measure, name in ((q.DROPPED, TCP_GONE[case]), (q.IN, TCP_SENDS[case]))
                for key, quantity in _sample_victims_s1(measure, case, name, "tcp").items()
            },
        ),
        Experiment(
            "why-Q24", "Q24", "RED's step at the maximum threshold, and the drops with a victim rule.",
            (BASE_SIDE, SLOPE_SIDE, FORCED_SIDE),
            {
                key: quantity
                for case in ("CA1", "CA3", "CA2", "CA4")
                for key, quantity in _sample_victims_s1(q.VARIANCE, case, VARIANCES[case]).items()
            },
        ),
        Experiment(
            "why-Q25", "Q25", "In which of RED's drops the victim rule is asked.", (BASE_SIDE, FORCED_SIDE),

            {
                **_sample_victims_s1(q.OUT, "CA1", OTHER_1, "other-udp"),
                BRINGS_1: _sample_s1(q.IN, "CA1", p.DROP_SEL, "other-udp"),
                **_sample_victims_s1(q.OUT, "CA3", TCP_3, "tcp"),
                SPREAD_1: _sample_s1(q.SPREAD, "CA1", p.DROP_SEL),
            },
        ),
        Experiment(
            "why-Q27", "Q27", "The size of AVQ's queue, and REM's mean packet.",
            (BASE_SIDE, ROOM_SIDE, REM_SIDE),
            {
                **{WAIT_5.format(one): _sample_s2(q.QUEUEING, "CA5", one, p.TAIL) for one in p.QUEUES},
                **{LATE_6.format(one): _sample_s2(q.LATE_LOSS, "CA6", one, p.TAIL) for one in p.QUEUES},
            },
        ),
        Experiment(
            "why-Q28", "Q28", "How strong TCP is.", (BASE_SIDE, NEAR_SIDE),
            {
                **_sample_victims_s2(q.TOTAL_LOSS, "CA8", "RED", LOST_RED["CA8"]),
                **_sample_victims_s2(q.TOTAL_LOSS, "CA7", "RED", LOST_RED["CA7"]),
                **_sample_victims_s2(q.LATE_LOSS, "CA8", "REM", LATE_REM),
            },
        ),
        Experiment(
            "why-Q29", "Q29", "RED's law.", (BASE_SIDE, OTHER_RED_SIDE),
            {
                key: quantity
                for case, name in WAIT_7_8.items()
                for key, quantity in _sample_victims_s2(q.QUEUEING, case, "RED", name).items()
            },
        ),
        Experiment(
            "why-Q30", "Q30", "In which of RED's drops the victim rule is asked.", (BASE_SIDE, FORCED_SIDE),

            {
                name.format(one): _sample(q.TOTAL_LOSS, p.ROUTERS, case="CA9", queue=queue, victim=one)
                for queue, name in LOST_9.items()
                for one in V
            },
        ),
        Experiment(
            "why-Q31", "Q31", "How much AVQ's queue may hold.", (BASE_SIDE, ROOM_SIDE, ROUTERS_SIDE),
            over_all,
        ),
    ]  # fmt: skip


EXPERIMENTS = sorted([*_first(), *_further()], key=lambda one: int(one.claim.removeprefix("Q")))
"""In the order of the claims."""
