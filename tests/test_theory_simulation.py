"""The simulator compared with closed forms: queues within a few per cent, TCP within its formulas' accuracy."""

from __future__ import annotations

import pytest

from validation.compare.closed_forms import Opinion, opinions


def check(one: Opinion) -> None:
    low, high = one.bound
    assert low <= one.measured() / one.expected <= high, one.why


def parametrize_opinions(*keys: str) -> pytest.MarkDecorator:
    found = [one for one in opinions() if one.key.split("/")[0] in keys]
    return pytest.mark.parametrize("one", found, ids=[one.key for one in found])


@parametrize_opinions("md1")
def test_packets_of_one_size_wait_as_in_md1(one: Opinion) -> None:
    check(one)


@parametrize_opinions("mg1", "mm1")
def test_packets_of_exponential_sizes_wait_as_in_mm1(one: Opinion) -> None:
    check(one)


@parametrize_opinions("mathis")
def test_a_flow_that_repairs_losses_without_timeouts_has_mathiss_rate(one: Opinion) -> None:
    check(one)


@parametrize_opinions("pftk")
def test_reno_has_pftks_rate_within_a_third(one: Opinion) -> None:
    check(one)


@parametrize_opinions("gaimd")
def test_friendly_pairs_have_the_rate_of_their_formula_within_a_third(one: Opinion) -> None:
    check(one)
