"""Closed forms against values worked out by hand and against each other."""

from __future__ import annotations

import math

import pytest

from fairwave import theory


def test_mathis_gives_the_worked_rate() -> None:
    # 1000 bytes, 100 ms, 1 %: 80 kb/s per segment and round trip, times √150 = 12.247
    assert theory.mathis(1000, 0.1, 0.01) == pytest.approx(80_000 * math.sqrt(150))


def test_delayed_acknowledgements_cost_a_factor_of_root_two() -> None:
    assert theory.mathis(1000, 0.1, 0.01) / theory.mathis(1000, 0.1, 0.01, acked=2) == pytest.approx(
        math.sqrt(2)
    )


def test_without_timeouts_aimd_is_mathis() -> None:
    assert theory.aimd(1000, 0.1, 1e-12, 1e-3) == pytest.approx(theory.mathis(1000, 0.1, 1e-3), rel=1e-6)


def test_friendly_pairs_are_those_of_the_papers() -> None:
    assert [round(theory.friendly_alpha(kept), 3) for kept in (0.875, 0.75, 0.5, 0.25)] == [
        0.312,
        0.583,
        1.0,
        1.25,
    ]


@pytest.mark.parametrize("kept", [0.25, 0.5, 0.75, 0.875])
def test_friendly_pairs_take_the_timeout_share_of_reno(kept: float) -> None:
    # The pairs equalise the term of timeouts exactly: (1 − β²)/α = 3/4. The other term then differs.
    alpha = theory.friendly_alpha(kept)
    assert (1 - kept**2) / alpha == pytest.approx(0.75)


def test_pftk_and_its_approximation_meet_at_low_loss() -> None:
    full = theory.pftk(1000, 0.1, 0.3, 1e-4)
    assert full == pytest.approx(theory.aimd(1000, 0.1, 0.3, 1e-4), rel=0.05)


def test_a_window_limits_what_loss_would_allow() -> None:
    limit = 8 * 1000 * 10 / 0.1
    assert theory.aimd(1000, 0.1, 0.3, 1e-5, window=10) == limit
    assert 0.9 * limit < theory.pftk(1000, 0.1, 0.3, 1e-5, window=10) < limit


def test_more_loss_never_gives_more_rate() -> None:
    losses = [10 ** (-4 + step / 10) for step in range(36)]
    for law in (theory.pftk, theory.aimd):
        rates = [law(1000, 0.1, 0.3, loss) for loss in losses]
        assert rates == sorted(rates, reverse=True)


def test_queues_at_half_load() -> None:
    assert theory.mm1_waiting(0.5) == 0.5
    assert theory.md1_waiting(0.5) == 0.25


def test_a_loss_system_turns_away_what_the_erlang_like_form_says() -> None:
    # K = 1, ρ = 1: half the arrivals find the server busy.
    assert theory.mm1k_loss(1.0, 1) == 0.5
    assert theory.mm1k_loss(0.5, 2) == pytest.approx(1 / 7)


@pytest.mark.parametrize(
    ("law", "arguments"),
    [
        (theory.mathis, (1000, 0.1, 0.0)),
        (theory.mathis, (1000, -0.1, 0.1)),
        (theory.pftk, (1000, 0.1, 0.3, 1.0)),
        (theory.mm1_waiting, (1.0,)),
        (theory.friendly_alpha, (1.0,)),
    ],
)
def test_what_has_no_meaning_is_refused(law: object, arguments: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"write|stable"):
        law(*arguments)  # type: ignore[operator]
