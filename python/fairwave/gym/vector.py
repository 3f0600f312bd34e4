"""Many environments, stepped in one call on all cores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from fairwave import _native
from fairwave.gym import spaces
from fairwave.gym.environments import task_of
from fairwave.gym.task import nanoseconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from fairwave.gym.task import Task

    Floats = NDArray[np.float64]


class SteeredVectorEnv(VectorEnv["Floats", "Floats", Any]):
    """Common base of `RateVectorEnv` and `WindowVectorEnv`: many flows, each in a separate run.

    After the end of an episode, the next step begins a new one and ignores the action for that environment
    (Gymnasium's next-step autoreset). Environment `i` of a reset with `seed` draws the same values as a single
    environment with `seed + i`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as in Gymnasium)
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }
    steers: ClassVar[str]

    def __init__(
        self,
        num_envs: int = 1,
        task: Task | str | PathLike[str] | None = None,
        *,
        split: str = "train",
        reward: Mapping[str, float] | None = None,
        render_mode: str | None = None,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs is {num_envs}, but must be 1 or more")
        if render_mode is not None:
            raise ValueError(
                f"render_mode is {render_mode!r}, but many environments are drawn one by one: use None"
            )
        self.num_envs = num_envs
        self.render_mode = None
        self.task = task_of(task, self.steers)
        self.split = spaces.checked_split(split)
        self.single_observation_space = spaces.observations()
        self.single_action_space = spaces.actions()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._interval = nanoseconds(self.task.interval)
        self._episodes = _native.Episodes(num_envs, **spaces.weights(reward))
        self._random: list[np.random.Generator] = []
        self._live = np.zeros(num_envs, dtype=np.uint8)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begins an episode in every environment.

        Args:
            seed: One seed (environment `i` gets `seed + i`), or a list with one seed per environment.
            options: As for a single environment; also `reset_mask`, an array of booleans: which environments to reset.
        """
        if self.closed:
            raise ClosedEnvironmentError("these environments are closed; make others")
        given = dict(options or {})
        mask = np.asarray(given.pop("reset_mask", np.ones(self.num_envs, dtype=bool)))
        if mask.shape != (self.num_envs,) or mask.dtype != bool:
            raise ValueError(f"reset_mask must be {self.num_envs} truths")
        seeds: Sequence[int | None]
        if seed is None:
            seeds = [None] * self.num_envs
        elif isinstance(seed, (int, np.integer)):
            seeds = [int(seed) + place for place in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"there are {len(seeds)} seeds for {self.num_envs} environments")
        if not self._random:
            self._random = [gymnasium.utils.seeding.np_random(one)[0] for one in seeds]
        else:
            for place, one in enumerate(seeds):
                if one is not None and mask[place]:
                    self._random[place] = gymnasium.utils.seeding.np_random(one)[0]
        rows = np.zeros((self.num_envs, spaces.ROW))
        for index in np.flatnonzero(mask):
            self._begin(int(index), rows, given)
        return rows[:, : spaces.WIDTH].copy(), self._infos(rows)

    def _begin(self, place: int, rows: Floats, options: Mapping[str, Any]) -> None:
        random = self._random[place]
        split, values, run = spaces.parse_options(options, self.split)
        scenario, _ = self.task.draw(random, split, values)
        own = int(random.integers(2**32))
        rows[place] = np.frombuffer(
            self._episodes.begin(
                place, scenario.native, own if run is None else run, self.task.index, self._interval
            )
        )
        self._live[place] = rows[place, spaces.LAST] == 0.0

    def step(
        self, actions: Any
    ) -> tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Applies an action in each environment (an array of num_envs × 1), in one call on all cores.

        Raises:
            ResetNeeded: `reset` has not been called.
            ValueError: An action is NaN, or the array has another shape.
        """
        if self.closed:
            raise ClosedEnvironmentError("these environments are closed; make others")
        if not self._random:
            raise ResetNeeded("no episode is under way; call reset()")
        values = spaces.checked(actions, (self.num_envs, 1))
        stepped = self._episodes.step(values.tobytes(), self._live.tobytes())
        rows = np.frombuffer(stepped).reshape(self.num_envs, spaces.ROW)
        ended = np.flatnonzero(self._live == 0)
        over = rows[:, spaces.LAST] == 1.0
        self._live &= ~over
        if len(ended):
            rows = rows.copy()
            for place in ended:
                self._begin(int(place), rows, {})
                rows[place, spaces.REWARD] = 0.0
        return (
            rows[:, : spaces.WIDTH].copy(),
            rows[:, spaces.REWARD].copy(),
            np.zeros(self.num_envs, dtype=bool),
            over,
            self._infos(rows),
        )

    @staticmethod
    def _infos(rows: Floats) -> dict[str, Any]:
        columns = {
            "time": spaces.TIME,
            "delivered_bps": spaces.DELIVERED,
            "queueing_s": spaces.QUEUEING,
            "lost": spaces.LOST,
        }
        return {name: rows[:, place] for name, place in columns.items()}

    def close_extras(self, **_kwargs: Any) -> None:
        """Frees the runs."""
        for place in range(self.num_envs):
            self._episodes.close(place)


class RateVectorEnv(SteeredVectorEnv):
    """Many environments like `RateEnv`."""

    steers = "rate"


class WindowVectorEnv(SteeredVectorEnv):
    """Many environments like `WindowEnv`."""

    steers = "window"
