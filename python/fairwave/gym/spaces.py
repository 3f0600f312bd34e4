"""Gymnasium spaces of observation and action, and checks of actions and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from fairwave import _native

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

ROW, WIDTH = _native.Episodes.widths()
"""Width of a step's row, and width of the observation at its beginning."""

REWARD, DELIVERED, QUEUEING, LOST, TIME, LAST = range(WIDTH, ROW)
"""Places of the other numbers in the row."""

LEAST = np.array([-20, -20, 0, 0, 0, 0, -10, 0, 0, 0], dtype=np.float64)
MOST = np.array([20, 20, 4, 1, 1, 10, 10, 10, 10, 10], dtype=np.float64)

WEIGHTS = {"delay": 10.0, "loss": 10.0}
"""Reward weights: cost of one second of queueing delay, and of a loss share of 1."""


def observations() -> Any:
    """Returns the space of an observation."""
    return spaces.Box(LEAST, MOST, dtype=np.float64)


def actions() -> Any:
    """Returns the space of an action."""
    return spaces.Box(-1.0, 1.0, (1,), dtype=np.float64)


def weights(given: Mapping[str, float] | None) -> dict[str, float]:
    """Returns the weights of the reward: the given ones, and defaults for the rest.

    Raises:
        ValueError: A weight is unknown, negative or not finite.
    """
    found = {**WEIGHTS, **(given or {})}
    for name, value in found.items():
        if name not in WEIGHTS or not (np.isfinite(value) and value >= 0):
            raise ValueError(
                f"reward: {name!r} = {value!r}; the reward has the weights 'delay' and 'loss', 0 or more"
            )
    return found


def checked(action: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Returns the action, cut to −1 to 1.

    Raises:
        ValueError: The action has another shape, or contains NaN.
    """
    values = np.asarray(action, dtype=np.float64)
    if values.shape != shape:
        raise ValueError(f"the action has the shape {values.shape}, but must have {shape}")
    if np.isnan(values).any():
        raise ValueError("the action holds NaN, but must be numbers from -1 to 1; numbers outside are cut")
    return np.clip(values, -1.0, 1.0)


def checked_one(action: Any) -> float:
    """Like `checked` for a single environment, with a fast path because its steps take microseconds.

    Raises:
        ValueError: As `checked`.
    """
    if type(action) is np.ndarray and action.shape == (1,):
        value = float(action[0])
        if -1.0 <= value <= 1.0:
            return value
    return float(checked(action, (1,))[0])


def parse_options(options: Mapping[str, Any] | None, split: str) -> tuple[str, Mapping[str, Any], int | None]:
    """Parses the options of `reset`: the split, the fixed values, and the seed of the run.

    Raises:
        ValueError: An option is unknown.
    """
    given = dict(options or {})
    chosen = given.pop("split", split)
    values = given.pop("set", {})
    run = given.pop("run_seed", None)
    if given:
        raise ValueError(f"reset has no option {min(given)!r}; there are 'split', 'set' and 'run_seed'")
    return checked_split(chosen), values, run


def checked_split(split: str) -> str:
    """Returns the split if it exists.

    Raises:
        ValueError: There is no such split.
    """
    if split not in {"train", "test"}:
        raise ValueError(f"split is {split!r}, but must be 'train' or 'test'")
    return split
