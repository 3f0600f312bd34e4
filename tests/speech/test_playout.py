"""The playout buffer: the simulator's law in Python."""

import numpy as np
import pytest

from fairwave_speech import Adaptive, Fate, Fixed, Neteq, SpeechError
from fairwave_speech.playout import PieceKind, schedule, talkspurts


def test_a_gap_of_more_than_a_frame_and_a_half_begins_a_talkspurt() -> None:
    created = np.array([0.0, 0.02, 0.04, 0.0701, 0.09])
    assert talkspurts(created, 0.02).tolist() == [0, 0, 0, 1, 1]


def test_a_budget_from_creation_tells_played_late_and_lost() -> None:
    created = np.array([0.0, 0.02, 0.04, 0.06])
    arrived = np.array([0.05, 0.12, 0.1401, np.nan])
    plan = schedule(created, arrived, 0.02, Fixed(0.1, "creation"))
    assert plan.fate.tolist() == [Fate.PLAYED, Fate.PLAYED, Fate.LATE, Fate.LOST]
    assert plan.delay_s == pytest.approx([0.1])


def test_a_fixed_delay_counts_from_the_first_arrival() -> None:
    created = np.array([0.0, 0.02, 0.04])
    arrived = created + np.array([0.05, 0.10, 0.12])
    plan = schedule(created, arrived, 0.02, Fixed(0.06))
    assert plan.delay_s == pytest.approx([0.11])
    assert plan.fate.tolist() == [Fate.PLAYED, Fate.PLAYED, Fate.LATE]


def test_a_fixed_delay_can_count_from_the_least() -> None:
    created = np.array([0.0, 0.02, 0.04])
    arrived = created + np.array([0.05, 0.03, 0.04])
    assert schedule(created, arrived, 0.02, Fixed(0.06, "minimum")).delay_s == pytest.approx([0.09])


def test_a_scenarios_table_says_the_same() -> None:
    rng = np.random.default_rng(1)
    created = np.arange(200) * 0.02
    arrived = created + rng.uniform(0.01, 0.2, 200)
    table = {"strategy": "fixed", "delay": "60 ms", "reference": "minimum"}
    ours = schedule(created, arrived, 0.02, Fixed(0.06, "minimum"))
    theirs = schedule(created, arrived, 0.02, table)
    assert np.array_equal(ours.fate, theirs.fate)
    assert 0 < np.count_nonzero(ours.fate == Fate.LATE) < 200


def test_without_a_policy_playout_is_the_scenario_languages_default() -> None:
    rng = np.random.default_rng(2)
    created = np.concatenate([np.arange(50) * 0.02 + start for start in (0.0, 2.0, 4.0)])
    arrived = created + rng.uniform(0.05, 0.1, 150)
    ours = schedule(created, arrived, 0.02)
    assert ours.delay_s == pytest.approx(schedule(created, arrived, 0.02, Neteq()).delay_s)
    assert ours.delay_s != pytest.approx(schedule(created, arrived, 0.02, Adaptive()).delay_s)


def test_a_jitter_buffer_plays_late_units_after_what_it_made_up() -> None:
    created = np.arange(6) * 0.02
    arrived = created + np.array([0.03, 0.03, 0.07, 0.05, 0.03, np.nan])
    plan = schedule(created, arrived, 0.02, {"strategy": "neteq", "stretch": False})
    # The third unit arrives 40 ms late and is played all the same; 5 samples are delayed.
    assert plan.played_s - created == pytest.approx([0.030625] * 2 + [0.070625] * 3 + [np.nan], nan_ok=True)
    assert plan.fate.tolist() == [Fate.PLAYED] * 5 + [Fate.LOST]
    assert plan.delay_s == pytest.approx([(2 * 0.030625 + 3 * 0.070625) / 5])
    assert plan.playout_s(created)[:5] == pytest.approx(plan.played_s[:5])
    assert plan.heard is not None
    assert plan.heard.begins_s == pytest.approx(0.030625)
    made_up = plan.heard.kind == PieceKind.CONCEALED
    assert plan.heard.value[made_up].sum() == 320
    assert plan.heard.value[plan.heard.kind == PieceKind.UNIT].tolist() == [0, 1, 2, 3, 4]


def test_a_jitter_buffer_keeps_to_its_limits() -> None:
    created = np.arange(500) * 0.02
    arrived = created + 0.04
    delay = [
        schedule(created, arrived, 0.02, playout).played_s[-1] - created[-1]
        for playout in (Neteq(), Neteq(min_delay_s=0.2), Neteq(max_delay_s=0.02))
    ]
    assert delay[0] - 0.04 < 0.13
    assert 0.19 < delay[1] - 0.04 < 0.24
    assert delay[2] - 0.04 < 0.03


@pytest.mark.parametrize(
    "odd", [{"min_delay_s": -0.1}, {"min_delay_s": 0.2, "max_delay_s": 0.1}, {"max_delay_s": 11.0}]
)
def test_a_jitter_buffer_out_of_range_is_refused(odd: dict) -> None:
    with pytest.raises(SpeechError, match="0 ≤ least ≤ most ≤ 10 s"):
        Neteq(**odd)


def test_adaptive_playout_follows_algorithm_1_of_ramjee() -> None:
    created = np.array([0.0, 0.02, 1.0, 1.02])
    network = np.array([0.10, 0.20, 0.10, 0.10])
    plan = schedule(created, created + network, 0.02, Adaptive("average", 4.0, 0.0))
    weight = 0.998002
    mean = [0.1]
    deviation = [0.0]
    for delay in network[1:3]:
        mean.append(weight * mean[-1] + (1 - weight) * delay)
        deviation.append(weight * deviation[-1] + (1 - weight) * abs(mean[-1] - delay))
    assert plan.delay_s == pytest.approx([0.1, mean[2] + 4 * deviation[2]], abs=1e-8)


def test_an_adaptive_delay_is_constant_within_a_talkspurt() -> None:
    rng = np.random.default_rng(2)
    created = np.concatenate([np.arange(50) * 0.02 + start for start in (0.0, 2.0, 4.0)])
    plan = schedule(created, created + rng.uniform(0.05, 0.1, 150), 0.02, Adaptive())
    assert len(plan.delay_s) == 3
    offsets = np.round(plan.playout_s(created) - created, 9)
    assert [len(set(offsets[plan.talkspurt == spurt])) for spurt in range(3)] == [1, 1, 1]


def test_a_talkspurt_lost_whole_takes_the_delay_before() -> None:
    created = np.array([0.0, 1.0, 2.0])
    arrived = np.array([0.07, np.nan, 2.07])
    plan = schedule(created, arrived, 0.02, Adaptive(safety=0.0, least_s=0.0))
    assert plan.delay_s == pytest.approx([0.07, 0.07, 0.07])


def test_a_call_of_which_nothing_arrives_is_lost() -> None:
    created = np.array([0.0, 0.02])
    plan = schedule(created, np.full(2, np.nan), 0.02)
    assert plan.fate.tolist() == [Fate.LOST, Fate.LOST]
    assert plan.delay_s.tolist() == [0.0]
    assert schedule(created, np.full(2, np.nan), 0.02, Adaptive()).delay_s.tolist() == [0.0]


@pytest.mark.parametrize("delay", [-0.1, float("nan"), 61.0])
def test_a_fixed_delay_out_of_range_is_refused(delay: float) -> None:
    with pytest.raises(SpeechError, match="from 0 to 60 s"):
        Fixed(delay)


@pytest.mark.parametrize("odd", [{"estimator": "magic"}, {"safety": -1.0}, {"least_s": float("nan")}])
def test_an_adaptive_policy_out_of_range_is_refused(odd: dict) -> None:
    with pytest.raises(SpeechError, match=r"must be|need"):
        Adaptive(**odd)


@pytest.mark.parametrize(
    "odd", [{"strategy": "magic"}, {"strategy": "fixed", "delay": "soon"}, {"strategy": "fixed", "x": 1}]
)
def test_a_table_that_says_nothing_sensible_is_refused_with_an_example(odd: dict) -> None:
    with pytest.raises(SpeechError, match="write for example playout"):
        schedule(np.zeros(1), np.zeros(1), 0.02, odd)
