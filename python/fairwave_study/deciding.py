"""The factors that decide a claim: singly, in pairs, and together in a shallow tree with a measured accuracy.

Scores: a reading that reproduces a claim counts 1, an undecided one ½, a contradicting one 0. A factor's share is the
part of the scores' variance that its values explain, among the readings drawn from all factors at once. It is ε²: η²
minus the value that the same number of groups would reach by chance. An F test separates it from chance, with
Bonferroni's correction for the number of factors. A pair's share is the part that the two together explain beyond their
single shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fairwave_study.readings import Reading, Readings

SIGNIFICANT = 0.05
DEPTH = 3
FOLDS = 5
FEWEST = 16
"""Minimum number of readings for any statement about deciding factors."""


@dataclass(frozen=True)
class FactorShare:
    """The share of one factor, or of a pair beyond its two factors.

    Attributes:
        factors: One id or two.
        share: Part of the scores' variance, corrected for chance; at most 1, and 0 where chance does as well.
        p: Probability of this share or more by chance, corrected for the number of factors or pairs.
    """

    factors: tuple[str, ...]
    share: float
    p: float


@dataclass(frozen=True)
class Tree:
    """A shallow decision tree from a reading's values to the claim's verdict.

    Attributes:
        factors: The factors that it asks for, most important first.
        accuracy: Share of correct verdicts on unseen readings (cross-validation).
        guessing: Share of correct verdicts if one always names the most common verdict.
        rules: The tree as text.
    """

    factors: tuple[str, ...]
    accuracy: float
    guessing: float
    rules: str

    @property
    def useful(self) -> bool:
        """Whether it predicts a third or more of the verdicts that guessing misses."""
        return self.accuracy - self.guessing >= (1 - self.guessing) / 3


@dataclass(frozen=True)
class ClaimDecision:
    """The factors that decide a claim.

    Attributes:
        singles: Every factor's share, the largest first.
        pairs: The pairs that matter, the largest first.
        tree: The tree; None if all verdicts are the same or the readings are too few.
    """

    singles: Sequence[FactorShare]
    pairs: Sequence[FactorShare]
    tree: Tree | None

    @property
    def factors(self) -> list[str]:
        """Ids of the deciding factors: those with a share, alone or in a pair, above chance."""
        found = [one.factors[0] for one in self.singles if one.p < SIGNIFICANT]
        found += [factor for pair in self.pairs for factor in pair.factors]
        return list(dict.fromkeys(found))


def _cells(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
    """Indicator columns of the combinations of labels that occur."""
    joined = np.stack(columns, axis=1)
    _, inverse = np.unique(joined, axis=0, return_inverse=True)
    return np.eye(int(inverse.max()) + 1)[inverse.ravel()]


def _residual(design: NDArray[np.float64], scores: NDArray[np.float64]) -> tuple[float, int]:
    """Sum of squares that least squares leaves, and the design's rank."""
    solved, _, rank, _ = np.linalg.lstsq(design, scores, rcond=None)
    rest = scores - design @ solved
    return float(rest @ rest), int(rank)


def _tested(
    small: tuple[float, int], large: tuple[float, int], total: float, count: int, tests: int
) -> tuple[float, float]:
    """Share and corrected p of the variance that the large design explains beyond the small one."""
    from scipy.stats import f as fisher

    extra, room = large[1] - small[1], count - large[1]
    if extra < 1 or room < 1 or total <= 0:
        return 0.0, 1.0
    error = large[0] / room
    gained = small[0] - large[0]
    if gained <= 1e-9 * total:
        return 0.0, 1.0
    share = max(0.0, (gained - extra * error) / total)
    if error <= 1e-12 * total:
        return min(share, 1.0), 0.0
    return min(share, 1.0), min(1.0, tests * float(fisher.sf(gained / extra / error, extra, room)))


def shares(
    factors: Mapping[str, Sequence[str]], drawn: Sequence[Reading], scores: Sequence[float]
) -> tuple[list[FactorShare], list[FactorShare]]:
    """Every factor's share of the scores' variance, and the share of each relevant pair beyond its two factors.

    Args:
        factors: Each factor's values.
        drawn: The readings.
        scores: Score of the verdict in each reading.
    """
    y = np.asarray(scores, dtype=float)
    names = list(factors)
    columns = {
        name: np.asarray([values.index(one[name]) for one in drawn]) for name, values in factors.items()
    }
    whole = np.ones((len(y), 1))
    mean = _residual(whole, y) if len(y) else (0.0, 1)
    if len(y) < FEWEST or mean[0] <= 1e-12:
        return [FactorShare((name,), 0.0, 1.0) for name in names], []
    alone = {name: _residual(_cells([columns[name]]), y) for name in names}
    singles = [
        FactorShare((name,), *_tested(mean, alone[name], mean[0], len(y), len(names))) for name in names
    ]
    several = list(combinations(names, 2))
    pairs = []
    for one, other in several:
        added = np.hstack([_cells([columns[one]]), _cells([columns[other]])])
        together = _residual(_cells([columns[one], columns[other]]), y)
        share = FactorShare(
            (one, other), *_tested(_residual(added, y), together, mean[0], len(y), len(several))
        )
        if share.p < SIGNIFICANT:
            pairs.append(share)

    def order(share: FactorShare) -> tuple[float, float]:
        return share.p >= SIGNIFICANT, -share.share

    return sorted(singles, key=order), sorted(pairs, key=order)


def tree(readings: Readings, drawn: Sequence[Reading], verdicts: Sequence[str]) -> Tree | None:
    """The tree over the values of each reading; None if all scores are equal.

    Raises:
        ModuleNotFoundError: scikit-learn is not installed; the message names the extra to install.
    """
    counts = {one: verdicts.count(one) for one in sorted(set(verdicts))}
    if len(drawn) < FEWEST or len(counts) < 2:
        return None
    try:
        from sklearn.model_selection import StratifiedKFold, cross_val_score
        from sklearn.tree import DecisionTreeClassifier, export_text
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "exploring readings needs scikit-learn: pip install 'fairwave[explore]'"
        ) from None
    features = [(factor.id, value.name) for factor in readings.factors for value in factor.values]
    x = np.asarray([[float(one[factor] == value) for factor, value in features] for one in drawn])
    y = np.asarray(verdicts)
    model: Any = DecisionTreeClassifier(max_depth=DEPTH, min_samples_leaf=5, ccp_alpha=0.01, random_state=1)
    folds = min(FOLDS, *counts.values())
    if folds < 2:
        return None
    splits = StratifiedKFold(folds, shuffle=True, random_state=1)
    accuracy = float(np.mean(cross_val_score(model, x, y, cv=splits)))
    model.fit(x, y)
    weights: dict[str, float] = {}
    for (factor, _), weight in zip(features, model.feature_importances_, strict=True):
        weights[factor] = weights.get(factor, 0.0) + float(weight)
    telling = sorted(
        (name for name, weight in weights.items() if weight > 0), key=lambda name: -weights[name]
    )
    rules = export_text(model, feature_names=[f"{factor} = {value}" for factor, value in features])
    return Tree(tuple(telling), accuracy, max(counts.values()) / len(y), rules)


def decided(
    readings: Readings, drawn: Sequence[Reading], verdicts: Sequence[str], scores: Mapping[str, float]
) -> ClaimDecision:
    """The factors that decide a claim with these verdicts; `scores` gives the score of each verdict."""
    values = {factor.id: [value.name for value in factor.values] for factor in readings.factors}
    singles, pairs = shares(values, drawn, [scores[one] for one in verdicts])
    return ClaimDecision(singles, pairs, tree(readings, drawn, verdicts))
