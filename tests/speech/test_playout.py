"""The playout buffer: fixed and adaptive."""

import numpy as np
import pytest

from fairwave.speech import Adaptive, Fate, Fixed, SpeechError
from fairwave.speech.playout import schedule, talkspurts


def test_a_gap_of_more_than_a_frame_and_a_half_begins_a_talkspurt() -> None:
    created = np.array([0.0, 0.02, 0.04, 0.0701, 0.09])
    assert talkspurts(created, 0.02).tolist() == [0, 0, 0, 1, 1]


def test_fixed_playout_tells_played_late_and_lost() -> None:
    created = np.array([0.0, 0.02, 0.04, 0.06])
    arrived = np.array([0.05, 0.12, 0.1401, np.nan])
    fate = schedule(created, arrived, 0.02, Fixed(0.1)).fate
    assert fate.tolist() == [Fate.PLAYED, Fate.PLAYED, Fate.LATE, Fate.LOST]


def test_no_unit_is_late_under_a_delay_above_the_longest() -> None:
    rng = np.random.default_rng(1)
    created = np.arange(1000) * 0.02
    arrived = created + rng.uniform(0.01, 0.2, 1000)
    assert not schedule(created, arrived, 0.02, Fixed(0.2)).fate.any()


def test_adaptive_playout_follows_the_algorithm_of_ramjee() -> None:
    # Two talkspurts of two units; alpha 0.5 so that the numbers can be done by hand.
    created = np.array([0.0, 0.02, 1.0, 1.02])
    network = np.array([0.10, 0.20, 0.10, 0.10])
    plan = schedule(created, created + network, 0.02, Adaptive(alpha=0.5, deviations=4.0))
    # d: .1, .15, .125, ...; v: 0, .025, .025, ...
    assert plan.delay_s == pytest.approx([0.1, 0.125 + 4 * 0.025])


def test_adaptive_delay_is_constant_within_a_talkspurt() -> None:
    rng = np.random.default_rng(2)
    created = np.concatenate([np.arange(50) * 0.02 + start for start in (0.0, 2.0, 4.0)])
    plan = schedule(created, created + rng.uniform(0.05, 0.1, 150), 0.02, Adaptive(alpha=0.9))
    assert len(plan.delay_s) == 3
    played = plan.playout_s(created) - created
    assert all(len(set(np.round(played[plan.talkspurt == spurt], 9))) == 1 for spurt in range(3))


def test_adaptive_delay_grows_when_the_network_slows_down() -> None:
    created = np.arange(40) * 1.0
    network = np.where(np.arange(40) < 20, 0.05, 0.25)
    delay = schedule(created, created + network, 0.02, Adaptive(alpha=0.5)).delay_s
    assert delay[19] == pytest.approx(0.05, abs=1e-3)
    assert delay[39] == pytest.approx(0.25, abs=1e-3)


def test_a_talkspurt_lost_whole_takes_the_delay_before() -> None:
    created = np.array([0.0, 1.0, 2.0])
    arrived = np.array([0.07, np.nan, 2.07])
    assert schedule(created, arrived, 0.02, Adaptive()).delay_s[1] == pytest.approx(0.07)


def test_talkspurts_never_overlap() -> None:
    created = np.array([0.0, 0.02, 0.1, 0.12])
    arrived = created + np.array([1.0, 1.0, 0.01, 0.01])
    plan = schedule(created, arrived, 0.02, Adaptive(alpha=0.0, deviations=0.0))
    playout = plan.playout_s(created)
    assert np.all(np.diff(playout) >= 0.02 - 1e-9)


@pytest.mark.parametrize("delay", [-0.1, float("nan"), 61.0])
def test_a_fixed_delay_out_of_range_is_refused(delay: float) -> None:
    with pytest.raises(SpeechError, match="from 0 to 60 s"):
        Fixed(delay)


def test_an_adaptive_weight_out_of_range_is_refused() -> None:
    with pytest.raises(SpeechError, match="below 1"):
        Adaptive(alpha=1.0)
