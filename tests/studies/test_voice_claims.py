"""The logic of V1–V39 on made-up numbers: claims that must reproduce, that must not, and that stay open."""

import itertools

import numpy as np
import polars as pl
import pytest

from fairwave.measuring.measured import Measured
from fairwave_studies.voice import quantities as q
from fairwave_studies.voice import study
from fairwave_studies.voice.claims import OTHERWISE, PARTS, SINGLE, TIMELY, evidence
from fairwave_studies.voice.points import ESSENTIAL, TRANSPORTS
from fairwave_study.claims import Verdict

SEEDS = range(1, 11)
THRESHOLDS = (100.0, 200.0, 300.0, 400.0)
AXES = ("ftp", "payload", "per", "flows", "transport")

POINTS = sorted(
    {
        (*point, transport)
        for one in ESSENTIAL.values()
        for point in itertools.product(*(one[axis] for axis in AXES[:4]))
        for transport in TRANSPORTS["transport"]
    }
)


class MadeUp:
    """Data with every measure as a function of the labels, with common noise for all transports."""

    def __init__(self, noise=0.0, **values):
        self.values, self.noise = values, noise

    def measured(self, measure, grid):
        assert grid == "calls"
        family = measure.id.replace("-", "_")
        by_threshold = "by_threshold" in family
        name = next((one for one in self.values if family.startswith(one)), None)
        assert name is not None, f"the claim reads {family}, which this test does not make up"
        rows = []
        for point in POINTS:
            labels = dict(zip(AXES, point, strict=True))
            for threshold in THRESHOLDS if by_threshold else (None,):
                extra = {"threshold": threshold} if by_threshold else {}
                mean = self.values[name](**labels, **extra)
                for seed in SEEDS:
                    shake = self.noise * np.sin(
                        7 * seed + 13 * list(TRANSPORTS["transport"]).index(labels["transport"])
                    )
                    rows.append({**labels, **extra, "seed": seed, "value": float(mean + shake)})
        axes = (*AXES, "threshold") if by_threshold else AXES
        return Measured(measure, axes, pl.DataFrame(rows))


def verdict(name, **values):
    return evidence(name, q.ShareDefinition(), MadeUp(**values)).verdict()


def parts(name, **values):
    """The verdict of each part, by its name."""
    found = evidence(name, q.ShareDefinition(), MadeUp(**values)).parts()
    return {part: str(one.verdict()) for part, one in found.items()}


def otherwise(name, words="", **values):
    test = OTHERWISE[name][words] if words else next(iter(OTHERWISE[name].values()))
    return test(MadeUp(**values), q.ShareDefinition()).verdict()


def ranked(*order):
    """A measure that falls in the order of the named transports; equal at every point otherwise."""
    height = {name: float(len(order) - place) for place, name in enumerate(order)}
    return lambda transport, **_: height[transport]


UDP, VEGAS, WESTWOOD, REAL = "udp", "tcp/vegas", "tcp/westwood", "tcp/real"
PAPER = ranked(UDP, REAL, VEGAS, WESTWOOD)


def _growing(most):
    """Goodput that longer payloads raise, by more for one transport."""

    def goodput(transport, payload, **_):
        return 1.0 + (payload == "500 B") * (0.3 if transport == most else 0.1)

    return goodput


def test_there_are_thirty_nine_claims_and_those_that_speak_of_timeliness_stand_in_each_of_its_meanings():
    found = study().claims
    assert [one.id for one in found] == [f"V{number}" for number in range(1, 40)]
    assert not set(PARTS) & set(SINGLE)
    for one in found:
        timely = list(q.TIMELY) if one.id in TIMELY else []
        assert list(one.wordings) == [*OTHERWISE.get(one.id, {}), *timely]


def test_a_claim_is_judged_by_the_meaning_that_the_reading_has():
    measured = {
        "index_sequence": ranked(REAL, VEGAS, UDP, WESTWOOD),
        "index_delay": ranked(UDP, REAL, VEGAS, WESTWOOD),
    }
    for timely, verdict in (
        ("gap to the packet numbered before", "reproduced"),
        ("one-way delay", "not reproduced"),
    ):
        (v4,) = (one for one in study({"timely": timely}).claims if one.id == "V4")
        assert str(v4.evidence(MadeUp(**measured)).verdict()) == verdict


@pytest.mark.parametrize(
    ("name", "measure", "good", "bad"),
    [
        ("V1", "goodput", PAPER, ranked(REAL, UDP, VEGAS, WESTWOOD)),
        ("V2", "goodput", PAPER, ranked(UDP, REAL, WESTWOOD, VEGAS)),
        ("V3", "loss", ranked(WESTWOOD, VEGAS, REAL, UDP), ranked(UDP, REAL, WESTWOOD, VEGAS)),
        ("V4", "index_sequence", ranked(REAL, VEGAS, UDP, WESTWOOD), ranked(VEGAS, REAL, UDP, WESTWOOD)),
        ("V6", "fairness", ranked(REAL, UDP, VEGAS, WESTWOOD), PAPER),
        ("V16", "goodput", _growing(WESTWOOD), _growing(REAL)),
        ("V19", "fairness", ranked(REAL, VEGAS, UDP, WESTWOOD), ranked(VEGAS, REAL, UDP, WESTWOOD)),
        ("V20", "loss", ranked(WESTWOOD, VEGAS, REAL, UDP), PAPER),
    ],
)
def test_an_order_of_transports_is_told_from_its_contrary(name, measure, good, bad):
    assert verdict(name, **{measure: good}) is Verdict.REPRODUCED
    assert verdict(name, **{measure: bad}) is Verdict.NOT_REPRODUCED


def test_noise_larger_than_the_difference_leaves_the_order_open():
    data = {"goodput": lambda transport, **_: 1.0, "noise": 1.0}
    assert verdict("V2", **data) is Verdict.UNDECIDED


def test_equal_goodputs_are_at_least_as_high_but_none_is_higher_or_lowest():
    assert otherwise("V1", goodput=lambda **_: 1.0) is Verdict.REPRODUCED
    assert verdict("V1", goodput=lambda **_: 1.0) is Verdict.ALIKE
    assert verdict("V2", goodput=lambda **_: 1.0) is Verdict.ALIKE


def _slightly(few, many):
    """UDP's goodput next to a TCP's of 1, with few and with many calls."""
    return lambda transport, flows, **_: (many if flows >= 80 else few) if transport == UDP else 1.0


def test_v1_forgives_what_a_figure_does_not_show_if_udp_is_higher_on_the_mean():
    assert verdict("V1", goodput=_slightly(0.985, 1.2)) is Verdict.REPRODUCED
    assert otherwise("V1", goodput=_slightly(0.985, 1.2)) is Verdict.NOT_REPRODUCED
    assert verdict("V1", goodput=_slightly(0.97, 1.2)) is Verdict.NOT_REPRODUCED
    assert verdict("V1", goodput=_slightly(0.985, 1.0)) is Verdict.ALIKE


def test_v6_wants_real_to_be_as_fair_everywhere_and_fairer_under_contention():
    def real(few, many):
        return lambda transport, flows, **_: 0.9 + (transport == REAL) * (many if flows >= 60 else few)

    assert verdict("V6", fairness=real(-0.005, 0.02)) is Verdict.REPRODUCED
    assert otherwise("V6", fairness=real(-0.005, 0.02)) is Verdict.ALIKE
    assert verdict("V6", fairness=real(-0.02, 0.02)) is Verdict.NOT_REPRODUCED
    assert verdict("V6", fairness=real(0.02, -0.005)) is Verdict.ALIKE


def test_v8_lets_udp_lose_a_little_more_but_not_a_significant_share():
    def loss(more):
        return lambda transport, **_: 10.0 + (more if transport == UDP else 0.0)

    assert verdict("V8", loss=loss(4.0)) is Verdict.REPRODUCED
    assert otherwise("V8", loss=loss(4.0)) is Verdict.NOT_REPRODUCED
    assert verdict("V8", loss=loss(6.0)) is Verdict.NOT_REPRODUCED


def test_v17_looks_at_where_real_stands_beside_the_others():
    def index(lead_80, lead_120):
        def value(transport, flows, **_):
            return 0.5 - flows / 1000 + (transport == REAL) * (lead_120 if flows == 120 else lead_80)

        return value

    assert verdict("V17", index_sequence=index(-0.2, -0.1)) is Verdict.REPRODUCED
    assert otherwise("V17", index_sequence=index(-0.02, -0.01)) is Verdict.NOT_REPRODUCED, (
        "falls with all others"
    )
    assert verdict("V17", index_sequence=index(-0.1, -0.2)) is Verdict.NOT_REPRODUCED


def test_v18_wants_udp_to_satisfy_with_few_calls_and_only_then():
    def index(few, many):
        return lambda flows, **_: few if flows <= 40 else many

    assert verdict("V18", index_sequence=index(0.95, 0.6)) is Verdict.REPRODUCED
    assert verdict("V18", index_sequence=index(0.95, 0.93)) is Verdict.NOT_REPRODUCED
    assert verdict("V18", index_sequence=index(0.8, 0.6)) is Verdict.NOT_REPRODUCED


def test_v16_may_be_read_by_share():
    def goodput(transport, payload, **_):
        before = 0.5 if transport == WESTWOOD else 2.0
        return before + (payload == "500 B") * (0.2 if transport == WESTWOOD else 0.3)

    assert verdict("V16", goodput=goodput) is Verdict.NOT_REPRODUCED
    assert otherwise("V16", goodput=goodput) is Verdict.REPRODUCED


def test_every_claim_survives_measures_that_are_not_defined():
    nothing = lambda **_: float("nan")  # noqa: E731
    made = MadeUp(
        goodput=nothing, fairness=nothing, loss=nothing, index=nothing, delayed=nothing, mean_wait_s=nothing,
        drop_rate=nothing, mean_queue_packets=nothing,
    )  # fmt: skip
    for name in (*PARTS, *SINGLE):
        found = evidence(name, q.ShareDefinition(), made)
        assert found.verdict() is Verdict.UNDECIDED, name


def test_v5_wants_a_steep_rise_to_a_significant_share():
    assert (
        verdict("V5", delayed_sequence=lambda flows, **_: 12.0 if flows >= 80 else 2.0) is Verdict.REPRODUCED
    )
    assert (
        verdict("V5", delayed_sequence=lambda flows, **_: 3.0 if flows >= 80 else 0.5)
        is Verdict.NOT_REPRODUCED
    )
    assert (
        verdict("V5", delayed_sequence=lambda flows, **_: 12.0 if flows >= 80 else 9.0)
        is Verdict.NOT_REPRODUCED
    )
    assert verdict("V5", delayed_sequence=lambda **_: 0.0) is Verdict.NOT_REPRODUCED


def test_v7_looks_at_vegas_between_80_and_120_calls():
    assert verdict("V7", fairness=lambda flows, **_: 0.8 if flows == 120 else 0.9) is Verdict.REPRODUCED
    assert verdict("V7", fairness=lambda flows, **_: 0.9 if flows == 120 else 0.8) is Verdict.NOT_REPRODUCED


def _longer_helps(but_not):
    return lambda payload, transport, **_: 1.1 if payload == "500 B" and transport not in but_not else 1.0


def test_v9_wants_three_to_gain_from_longer_payloads_and_vegas_not():
    assert verdict("V9", goodput=_longer_helps([VEGAS])) is Verdict.REPRODUCED
    assert verdict("V9", goodput=_longer_helps([])) is Verdict.NOT_REPRODUCED
    assert (
        verdict("V9", goodput=lambda payload, **_: 0.9 if payload == "500 B" else 1.0)
        is Verdict.NOT_REPRODUCED
    )


def test_v10_wants_longer_payloads_to_cost_timeliness():
    assert (
        verdict("V10", index_sequence=lambda payload, **_: 0.8 if payload == "500 B" else 0.9)
        is Verdict.REPRODUCED
    )
    assert verdict("V10", index_sequence=_longer_helps([])) is Verdict.NOT_REPRODUCED


def _left(harm):
    """Goodput left to transfers: less next to each transport with more calls."""
    return lambda transport, flows, **_: 3.0 - harm[transport] * flows / 120


V11_PARTS = ("UDP leaves least", "the less, the more calls", "Real mostly leaves most")
WIDENING = "with more calls UDP falls further behind each TCP"


def test_v11_wants_udp_to_leave_least_and_ever_less_and_real_mostly_the_most():
    harm = {UDP: 2.0, WESTWOOD: 1.5, VEGAS: 1.2, REAL: 1.0}
    assert parts("V11", goodput=_left(harm)) == dict.fromkeys(V11_PARTS, "reproduced")
    assert otherwise("V11", WIDENING, goodput=_left(harm)) is Verdict.REPRODUCED
    assert parts("V11", goodput=_left({**harm, REAL: 1.3}))["Real mostly leaves most"] == "not reproduced"
    assert parts("V11", goodput=_left({**harm, UDP: 0.5}))["UDP leaves least"] == "not reproduced"
    growing = lambda transport, flows, **_: _left(harm)(transport, 160 - flows) if flows >= 40 else 3.0  # noqa: E731
    assert parts("V11", goodput=growing)["the less, the more calls"] == "not reproduced"


def test_v11_asks_for_the_mean_where_its_stricter_senses_ask_for_every_point():
    def left(transport, flows, **_):
        harm = {UDP: 2.0, WESTWOOD: 1.5, VEGAS: 1.2}
        if transport != REAL:
            return 3.0 - harm[transport] * flows / 120
        return 1.7 if flows == 120 else 3.0

    assert verdict("V11", goodput=left) is Verdict.REPRODUCED
    assert otherwise("V11", "Real leaves most with 80 calls and more, everywhere", goodput=left) is (
        Verdict.NOT_REPRODUCED
    )
    alike = lambda transport, flows, **_: 3.0 - flows / 120 - (transport == UDP) + 0.5 * (transport == REAL)  # noqa: E731
    assert verdict("V11", goodput=alike) is Verdict.REPRODUCED
    assert otherwise(
        "V11", WIDENING, goodput=lambda **k: alike(**k) + (k["transport"] == UDP) * k["flows"] / 240
    ) is (Verdict.NOT_REPRODUCED)


def _falling(slope):
    """Falls with the packet error rate, by `slope(transport, flows)`."""
    return lambda transport, per, flows, **_: 1.0 - slope(transport, flows) * per


def test_v12_wants_every_tcp_to_fall_and_more_with_fewer_calls():
    more_at_80 = _falling(lambda transport, flows: 3.0 if flows == 80 else 1.0)
    less_at_80 = _falling(lambda transport, flows: 1.0 if flows == 80 else 3.0)
    assert verdict("V12", goodput=more_at_80, index_sequence=more_at_80) is Verdict.REPRODUCED
    assert verdict("V12", goodput=more_at_80, index_sequence=less_at_80) is Verdict.NOT_REPRODUCED


def test_v13_wants_real_to_suffer_more_from_errors_than_vegas_and_westwood():
    def falling_by(slopes):
        return _falling(lambda transport, flows: slopes.get(transport, 0.5))

    suffers, copes = (
        falling_by({REAL: 3.0, VEGAS: 1.0, WESTWOOD: 1.0}),
        falling_by({REAL: 0.2, VEGAS: 1.0, WESTWOOD: 1.0}),
    )
    assert verdict("V13", goodput=suffers, index_sequence=suffers) is Verdict.REPRODUCED
    assert verdict("V13", goodput=copes, index_sequence=copes) is Verdict.NOT_REPRODUCED


def test_v14_wants_udp_to_be_the_least_sensitive_to_errors():
    calm = _falling(lambda transport, flows: 0.5 if transport == UDP else 2.0)
    touchy = _falling(lambda transport, flows: 3.0 if transport == UDP else 2.0)
    assert verdict("V14", goodput=calm, index_sequence=calm) is Verdict.REPRODUCED
    assert verdict("V14", goodput=touchy, index_sequence=calm) is Verdict.NOT_REPRODUCED


def test_v15_wants_vegas_and_real_to_gain_most_from_patience_and_udp_least():
    def gaining(by):
        return lambda transport, threshold, **_: 0.5 + by[transport] * (threshold - 100) / 300

    as_told = {UDP: 0.01, WESTWOOD: 0.1, VEGAS: 0.3, REAL: 0.2}
    assert verdict("V15", index_by_threshold_sequence=gaining(as_told)) is Verdict.REPRODUCED
    assert (
        verdict("V15", index_by_threshold_sequence=gaining({**as_told, UDP: 0.4})) is Verdict.NOT_REPRODUCED
    )


REPRODUCED, CONTRARY = "reproduced", "not reproduced"


def test_parts_are_judged_apart():
    found = parts("V4", index_sequence=ranked(VEGAS, REAL, UDP, WESTWOOD))
    assert found == {
        "Real above UDP and Westwood": REPRODUCED,
        "Vegas above UDP and Westwood": REPRODUCED,
        "Real above Vegas": CONTRARY,
    }
    found = parts("V9", goodput=_longer_helps([REAL]))
    assert found == {
        "Westwood gains": REPRODUCED,
        "Real gains": "alike",
        "UDP gains": REPRODUCED,
        "Vegas does not": CONTRARY,
    }


def only(paper, here, there):
    """A measure with one function in one paper's first scenario and another in the other's."""
    wanted = {"calls alone (000)": 0, "beside 10 transfers (001)": 10}[paper]
    return lambda ftp, **labels: (here if ftp == wanted else there)(ftp=ftp, **labels)


@pytest.mark.parametrize("paper", ["calls alone (000)", "beside 10 transfers (001)"])
@pytest.mark.parametrize(
    ("name", "measure", "good", "bad"),
    [
        ("V1", "goodput", PAPER, ranked(REAL, UDP, VEGAS, WESTWOOD)),
        ("V2", "goodput", PAPER, ranked(UDP, REAL, WESTWOOD, VEGAS)),
        ("V3", "loss", ranked(WESTWOOD, VEGAS, REAL, UDP), ranked(UDP, REAL, WESTWOOD, VEGAS)),
        ("V6", "fairness", ranked(REAL, UDP, VEGAS, WESTWOOD), PAPER),
        ("V25", "delayed_sequence", ranked(WESTWOOD, UDP, VEGAS, REAL), ranked(UDP, REAL, WESTWOOD, VEGAS)),
    ],
)
def test_what_both_papers_assert_is_judged_for_each(paper, name, measure, good, bad):
    found = parts(name, **{measure: only(paper, bad, good)})
    assert found.pop(paper) == CONTRARY
    assert set(found.values()) == {REPRODUCED}


def _goodput_by_calls(slopes):
    return lambda transport, flows, **_: 1.0 + slopes[transport] * flows / 40


def test_v21_wants_westwood_to_fall_behind_the_others_as_calls_grow():
    behind = {UDP: 0.5, VEGAS: 0.4, REAL: 0.45, WESTWOOD: 0.2}
    assert verdict("V21", goodput=_goodput_by_calls(behind)) is Verdict.REPRODUCED
    assert verdict("V21", goodput=_goodput_by_calls({**behind, REAL: 0.1})) is Verdict.NOT_REPRODUCED


def test_v22_wants_real_above_vegas_above_westwood_on_the_mean():
    assert verdict("V22", goodput=ranked(REAL, VEGAS, WESTWOOD, UDP)) is Verdict.REPRODUCED
    assert parts("V22", goodput=ranked(VEGAS, REAL, WESTWOOD, UDP))["Real above Vegas"] == CONTRARY
    assert parts("V22", goodput=ranked(REAL, WESTWOOD, VEGAS, UDP))["Vegas above Westwood"] == CONTRARY


def test_v23_wants_real_first_and_vegas_second_beside_transfers():
    assert verdict("V23", index_sequence=ranked(REAL, VEGAS, UDP, WESTWOOD)) is Verdict.REPRODUCED
    assert parts("V23", index_sequence=ranked(REAL, UDP, VEGAS, WESTWOOD)) == {
        "Real above UDP and Westwood": REPRODUCED,
        "Vegas above UDP and Westwood": CONTRARY,
        "Real above Vegas": REPRODUCED,
    }


def test_v24_wants_udp_to_fail_beside_transfers_and_the_more_with_more_calls():
    assert verdict("V24", index_sequence=lambda flows, **_: 0.9 - flows / 200) is Verdict.REPRODUCED
    assert parts("V24", index_sequence=lambda flows, **_: 0.5 + flows / 1000) == {
        "does not satisfy": REPRODUCED,
        "the less, the more calls": CONTRARY,
    }
    few = lambda flows, **_: 0.95 if flows == 40 else 0.7  # noqa: E731
    assert verdict("V24", index_sequence=few) is Verdict.NOT_REPRODUCED
    assert otherwise("V24", index_sequence=few) is Verdict.REPRODUCED


def test_v26_wants_udp_to_wait_and_to_overflow_most():
    def hundreds(*order):
        return lambda **labels: 100 * ranked(*order)(**labels)

    most, least = hundreds(UDP, VEGAS, REAL, WESTWOOD), hundreds(VEGAS, REAL, WESTWOOD, UDP)
    found = parts("V26", **{q.FIRST_WAIT.id: most, q.FIRST_DROPS.id: least})
    assert found == {"longest wait": REPRODUCED, "most overflow": CONTRARY}
    found = parts("V26", **{q.FIRST_WAIT.id: least, q.FIRST_DROPS.id: most})
    assert found == {"longest wait": CONTRARY, "most overflow": REPRODUCED}
    assert otherwise("V26", **{q.FIRST_QUEUE.id: most}) is Verdict.REPRODUCED


def _longer(index):
    """An index that longer payloads change by an amount per transport."""
    return lambda payload, transport, **_: 0.5 + (payload == "500 B") * index.get(transport, 0.0)


def test_v27_wants_westwood_to_gain_but_little():
    assert verdict("V27", index_sequence=_longer({WESTWOOD: 0.03})) is Verdict.REPRODUCED
    assert parts("V27", index_sequence=_longer({WESTWOOD: 0.08})) == {
        "the index rises": REPRODUCED,
        "not noticeably": CONTRARY,
    }
    assert verdict("V27", index_sequence=_longer({WESTWOOD: -0.01})) is Verdict.NOT_REPRODUCED


def test_v28_allows_a_tenth():
    def goodput(gain):
        return lambda payload, **_: 2.0 * (1 + (payload == "500 B") * gain)

    assert verdict("V28", goodput=goodput(0.09)) is Verdict.REPRODUCED
    assert verdict("V28", goodput=goodput(0.12)) is Verdict.NOT_REPRODUCED


def test_v29_wants_errors_to_cost_long_packets_more():
    def index(short, long):
        return lambda payload, per, **_: 0.9 - per * (long if payload == "500 B" else short)

    assert verdict("V29", index_sequence=index(1.0, 3.0)) is Verdict.REPRODUCED
    assert verdict("V29", index_sequence=index(3.0, 1.0)) is Verdict.NOT_REPRODUCED


def test_v30_wants_vegas_to_lose_most_by_longer_payloads():
    assert verdict("V30", index_sequence=_longer({VEGAS: -0.1, REAL: -0.05})) is Verdict.REPRODUCED
    assert verdict("V30", index_sequence=_longer({VEGAS: -0.05, REAL: -0.1})) is Verdict.NOT_REPRODUCED


def test_v31_compares_one_transfer_with_one_call():
    class Shared(MadeUp):
        def measured(self, measure, grid):
            name = "transfers" if measure is q.FTP_GOODPUT else "calls"
            return MadeUp(goodput=self.values[name]).measured(measure, grid)

    def found(transfer, call):
        data = Shared(transfers=lambda ftp, **_: ftp * transfer, calls=lambda flows, **_: flows * call)
        return {
            name: str(one.verdict())
            for name, one in evidence("V31", q.ShareDefinition(), data).parts().items()
        }

    assert set(found(0.02, 0.01).values()) == {REPRODUCED}
    assert set(found(0.01, 0.02).values()) == {CONTRARY}


def test_v32_wants_westwood_calmer_than_vegas():
    calm = _falling(lambda transport, flows: 0.5 if transport == WESTWOOD else 2.0)
    touchy = _falling(lambda transport, flows: 3.0 if transport == WESTWOOD else 2.0)
    assert verdict("V32", goodput=calm, index_sequence=calm) is Verdict.REPRODUCED
    assert parts("V32", goodput=calm, index_sequence=touchy) == {"goodput": REPRODUCED, "the index": CONTRARY}


def test_v33_lets_udp_lose_up_to_a_tenth():
    little, much = _falling(lambda *_: 1.6), _falling(lambda *_: 2.4)
    assert verdict("V33", goodput=little, index_sequence=little) is Verdict.REPRODUCED
    assert parts("V33", goodput=little, index_sequence=much) == {"goodput": REPRODUCED, "the index": CONTRARY}


def test_v34_wants_more_late_packets_at_100_ms_but_few():
    def late(more):
        return lambda threshold, **_: 5.0 + (threshold < 200) * more

    assert verdict("V34", delayed_by_threshold_sequence=late(2.0)) is Verdict.REPRODUCED
    assert parts("V34", delayed_by_threshold_sequence=late(8.0)) == {
        "more come late": REPRODUCED,
        "slightly": CONTRARY,
    }
    assert parts("V34", delayed_by_threshold_sequence=late(-1.0))["more come late"] == CONTRARY


def test_v35_is_about_two_users():
    def index(patient, not_):
        return lambda threshold, **_: patient if threshold >= 200 else not_

    names = ("satisfied at 200 ms", "only acceptable at 100 ms", "the difference is noticed")

    def found(patient, not_):
        return tuple(parts("V35", index_by_threshold_sequence=index(patient, not_))[one] for one in names)

    assert found(0.95, 0.8) == (REPRODUCED, REPRODUCED, REPRODUCED)
    assert found(0.85, 0.7) == (CONTRARY, REPRODUCED, REPRODUCED)
    assert found(0.99, 0.97) == (REPRODUCED, CONTRARY, CONTRARY)
    assert found(0.92, 0.89) == (REPRODUCED, REPRODUCED, CONTRARY)


def test_v36_wants_udp_to_lose_a_significant_share_in_congestion():
    assert verdict("V36", loss=lambda flows, **_: 1.0 if flows == 40 else 8.0) is Verdict.REPRODUCED
    assert verdict("V36", loss=lambda **_: 4.0) is Verdict.NOT_REPRODUCED


def test_v37_looks_at_the_mean_of_the_three_tcps():
    def index(udp, **tcps):
        by = {UDP: udp, VEGAS: tcps["vegas"], REAL: tcps["real"], WESTWOOD: tcps["westwood"]}
        return lambda transport, **_: by[transport]

    assert verdict("V37", index_sequence=index(0.8, vegas=0.9, real=0.9, westwood=0.5)) is Verdict.REPRODUCED
    assert (
        verdict("V37", index_sequence=index(0.8, vegas=0.9, real=0.7, westwood=0.5)) is Verdict.NOT_REPRODUCED
    )


def test_v38_wants_one_instance():
    one = lambda transport, flows, ftp, **_: 0.5 + 0.2 * (transport == REAL and flows == 80 and ftp == 10)  # noqa: E731
    assert verdict("V38", index_sequence=one) is Verdict.REPRODUCED
    assert verdict("V38", index_sequence=ranked(UDP, REAL, VEGAS, WESTWOOD)) is Verdict.NOT_REPRODUCED


def test_v39_wants_runs_to_lie_close_together():
    def found(noise):
        one = lambda **_: 1.0  # noqa: E731
        return parts("V39", goodput=one, index_sequence=one, noise=noise)

    assert set(found(0.01).values()) == {REPRODUCED}
    assert set(found(2).values()) == {CONTRARY}
