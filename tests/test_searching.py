"""Honesty and precision of a search: repeated experiments with made-up measures and known limits."""

import math
from statistics import median

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from fairwave.ask import curves
from fairwave.ask.searching import Search, reversals, search, spans
from fairwave.ask.wording import condition

COUNT = 16

SHAPES = {
    "a line": lambda at: -at,
    "constant, then falling": lambda at: 1.5 if at < -1.5 else -at,
    "falling, then constant": lambda at: max(-at, -1.5),
    "exploding": lambda at: 1 - math.exp(min(at / 1.5, 4)),
    "dying out": lambda at: math.exp(min(-at / 1.5, 4)) - 1,
    "a step": lambda at: 1.0 if at <= 0 else -1.0,
    "a saturating curve": lambda at: -4 * math.tanh(at / 4),
}
"""The margin by which a condition holds, by the distance from the limit, in steps."""

NOISES = {
    "normal": lambda draw, size: draw.normal(0, 1, size),
    "with a long tail": lambda draw, size: draw.exponential(1, size) - 1,
    "of two kinds": lambda draw, size: np.where(draw.random(size) < 0.8, 0.5, -2),
}


def searched(curve, noise, deviation, seed, count=COUNT, **options):
    draw = np.random.default_rng(seed)
    tried = Search(
        lambda step, numbers: curve(step) + deviation * noise(draw, len(numbers)), condition("goodput >= 0"), count,
        **options,
    )  # fmt: skip
    search(tried)
    return tried


def is_honest(tried, curve):
    """Whether no value is on the wrong side of the limit."""
    return all(
        verdict == "open" or (verdict == "holds") == (curve(step) >= 0)
        for step, verdict in tried.judged().items()
    )


def width(tried):
    """The precision of the limit in steps, for a falling measure."""
    judged = tried.judged()
    holds = [step for step, verdict in judged.items() if verdict == "holds"]
    fails = [step for step, verdict in judged.items() if verdict == "fails"]
    return min(fails, default=tried.count) - max(holds, default=-1)


def experiments(shape, noise, deviation, number, rising=False):
    """Searches with limits anywhere except at the ends: number of honest ones, widths, runs."""
    honest, widths, runs = [], [], []
    for seed in range(number):
        limit = np.random.default_rng(1000 + seed).uniform(2, COUNT - 4)
        curve = lambda step, limit=limit: SHAPES[shape]((COUNT - 1 - step if rising else step) - limit)  # noqa: E731
        tried = searched(curve, NOISES[noise], deviation, seed)
        honest.append(is_honest(tried, curve))
        widths.append(width(tried) if not rising else math.nan)
        runs.append(tried.runs.total)
    return honest, widths, runs


@pytest.mark.parametrize("noise", NOISES)
def test_the_answer_is_right_as_often_as_it_says(noise):
    """Each shape of a curve, with little and with much noise: 95 % of all results contain the truth."""
    found = {
        (shape, deviation): experiments(shape, noise, deviation, 8, rising=deviation == 1)[0]
        for shape in SHAPES
        for deviation in (0.3, 1, 3.4)
    }
    every = [one for honest in found.values() for one in honest]
    assert sum(every) >= 0.95 * len(every), found


def test_a_limit_is_known_to_one_step_with_a_third_of_the_runs():
    """Separate runs for each value took 66 runs for 3 steps at this noise, and 78 for 8 at 3.4 times it."""
    honest, widths, runs = experiments("a line", "normal", 1, 20)
    assert sum(honest) >= 19
    assert median(widths) <= 2
    assert median(runs) <= 66 / 3 + 1
    honest, widths, runs = experiments("a line", "normal", 3.4, 20)
    assert sum(honest) >= 19
    assert median(widths) <= 3
    assert median(runs) <= 65


MIDDLE = {"wide": lambda step: 10.5 - abs(step - 30), "narrow": lambda step: 6.5 - abs(step - 33)}


@pytest.mark.parametrize("name", MIDDLE)
def test_a_condition_that_holds_in_the_middle_alone_is_found_and_told(name):
    curve, right, near = MIDDLE[name], 0, 0
    holds = [step for step in range(64) if curve(step) >= 0]
    for seed in range(10):
        tried = searched(curve, NOISES["normal"], 1, seed, count=64)
        ((first, last, _, _),) = spans(tried.judged())
        right += is_honest(tried, curve)
        near += first - holds[0] <= 3 and holds[-1] - last <= 3
        assert any("throughout" in said for said in reversals(tried, range(64)))
    assert right >= 9
    assert near >= 8


def test_a_valley_is_not_smoothed_away():
    def valley(step):
        return abs(step - 30) - 6.5

    for seed in range(10):
        tried = searched(valley, NOISES["normal"], 1, seed, count=64)
        assert len(spans(tried.judged())) == 2
        assert is_honest(tried, valley)
        assert any("throughout" in said for said in reversals(tried, range(64)))


def test_a_turn_that_the_noise_hides_settles_nothing_wrongly():
    def bump(step):
        return 4.0 - 0.25 * step + (5.0 if 22 <= step <= 26 else 0.0)

    right = [is_honest(searched(bump, NOISES["normal"], 3, seed, count=32), bump) for seed in range(20)]
    assert sum(right) >= 18


def test_a_measure_that_falls_throughout_is_rarely_said_to_turn():
    turned = 0
    for seed in range(40):
        tried = searched(lambda step: 7.3 - step, NOISES["normal"], 3.4, seed)
        turned += any("throughout" in said for said in reversals(tried, range(COUNT)))
    assert turned <= 4


@pytest.mark.parametrize(("level", "verdict"), [(5.0, "holds"), (-5.0, "fails")])
def test_a_condition_that_holds_everywhere_or_nowhere_takes_few_runs(level, verdict):
    for seed in range(5):
        tried = searched(lambda step: level - 0.02 * step, NOISES["normal"], 1, seed, count=64)
        assert set(tried.judged().values()) == {verdict}
        assert tried.runs.total <= 30


def test_no_seed_does_twice():
    seen = []

    def sample(step, numbers):
        seen.extend(numbers)
        return 7.3 - step + np.random.default_rng(list(numbers)).normal(0, 2, len(numbers))

    tried = Search(sample, condition("goodput >= 0"), COUNT)
    search(tried)
    assert sorted(seen) == list(range(tried.runs.total))


def test_the_isotonic_curve_is_the_one_of_scipy():
    draw = np.random.default_rng(3)
    for size in (1, 2, 5, 30):
        means, weights = draw.normal(0, 1, size), draw.integers(1, 9, size).astype(float)
        expected = isotonic_regression(means, weights=weights, increasing=False).x
        assert curves.isotonic(means, weights) == pytest.approx(expected)


def test_the_crossing_of_a_sharp_line_is_in_its_bin():
    places = [0.0, 4.0, 8.0, 12.0]
    draw = np.random.default_rng(1)
    values = [6.4 - place + draw.normal(0, 0.05, 6) for place in places]
    edges, chances = curves.crossing(places, values, 0.05, 0.0, 12.0, 1.0)
    assert chances.sum() == pytest.approx(1)
    first, behind = curves.narrowest(chances, 0.95, 2)
    assert edges[first] <= 6.4 < edges[behind]
    assert behind - first <= 3


@pytest.mark.parametrize(
    ("chances", "share", "least", "found"),
    [
        ([0.1, 0.6, 0.2, 0.1], 0.6, 1, (1, 2)),
        ([0.1, 0.6, 0.2, 0.1], 0.75, 1, (1, 3)),
        ([0.1, 0.6, 0.2, 0.1], 0.6, 2, (1, 3)),
        ([0.5, 0.0, 0.5], 0.9, 1, (0, 3)),
    ],
)
def test_the_narrowest_range_holds_its_share(chances, share, least, found):
    assert curves.narrowest(np.array(chances), share, least) == found


def test_a_measure_that_does_not_vary_on_one_side_is_settled_there():
    """For example a loss that is 0 in every run until the link is full: there is no noise below the limit."""

    def sample(step, numbers):
        draw = np.random.default_rng(list(numbers))
        return np.zeros(len(numbers)) if step <= 5 else 4 * (step - 5) + draw.exponential(4, len(numbers))

    tried = Search(sample, condition("loss <= 1"), COUNT)
    search(tried)
    ((first, last, before, after),) = spans(tried.judged())
    assert (first, before) == (0, None)
    assert 4 <= last <= 5 < after <= 8
