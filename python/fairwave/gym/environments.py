"""Environments with one flow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.error import ClosedEnvironmentError, ResetNeeded

from fairwave import _native
from fairwave.gym import spaces
from fairwave.gym.task import Task, TaskError, default, nanoseconds

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def task_of(task: Task | str | PathLike[str] | None, steers: str) -> Task:
    """Returns the given task, the task of the given file, or the default task.

    Raises:
        TaskError: The task steers something else.
    """
    found = default(steers) if task is None else task if isinstance(task, Task) else Task.load(task)
    if found.steers != steers:
        other = {"rate": "RateEnv", "window": "WindowEnv"}[found.steers]
        raise TaskError(f"the flow {found.flow!r} has a {found.steers} to steer, not a {steers}; use {other}")
    return found


class SteeredEnv(gymnasium.Env["Floats", "Floats"]):
    """Common base of `RateEnv` and `WindowEnv`: one steered flow."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 1}  # noqa: RUF012 (as in Gymnasium)
    steers: ClassVar[str]

    def __init__(
        self,
        task: Task | str | PathLike[str] | None = None,
        *,
        split: str = "train",
        reward: Mapping[str, float] | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode is {render_mode!r}, but must be 'rgb_array' or None")
        self.task = task_of(task, self.steers)
        self.split = spaces.checked_split(split)
        self.render_mode = render_mode
        self.observation_space = spaces.observations()
        self.action_space = spaces.actions()
        self._interval = nanoseconds(self.task.interval)
        self._episodes = _native.Episodes(1, **spaces.weights(reward))
        self._runs = False
        self._is_closed = False
        self._course: list[Floats] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begins an episode: draws a network, and runs until the flow's first monitor interval has ended.

        Args:
            seed: Seed of all draws and packets of this and all following episodes.
            options: `split` (`train` or `test`, for this episode), `set` (dotted paths to values, instead of drawn
                values), `run_seed` (the seed of the run).

        Returns:
            The observation, and the drawn values: `scenario` (paths to values) and `run_seed`.
        """
        if self._is_closed:
            raise ClosedEnvironmentError("this environment is closed; make another")
        super().reset(seed=seed)
        split, values, run = spaces.parse_options(options, self.split)
        scenario, drawn = self.task.draw(self.np_random, split, values)
        own = int(self.np_random.integers(2**32))
        run = own if run is None else run
        row = np.frombuffer(self._episodes.begin(0, scenario.native, run, self.task.index, self._interval))
        self._runs = row[spaces.LAST] == 0.0
        self._course = [row]
        return row[: spaces.WIDTH].copy(), {**_info(row), "scenario": drawn, "run_seed": run}

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Applies an action, and runs to the end of the next monitor interval.

        Args:
            action: One number from −1 to 1, in an array. Numbers outside are cut; NaN is refused.

        Raises:
            ResetNeeded: The episode is over, or none has begun.
            ValueError: The action is not exactly one number.
        """
        if self._is_closed:
            raise ClosedEnvironmentError("this environment is closed; make another")
        if not self._runs:
            raise ResetNeeded("no episode is under way: it is over, or none has begun; call reset()")
        row = np.frombuffer(self._episodes.step_one(spaces.checked_one(action)))
        if self.render_mode is not None:
            self._course.append(row)
        _, _, _, _, _, _, _, _, _, _, reward, delivered, queueing, lost, time, last = row.tolist()
        self._runs = last == 0.0
        info = {"time": time, "delivered_bps": delivered, "queueing_s": queueing, "lost": lost}
        return row[: spaces.WIDTH].copy(), reward, False, last != 0.0, info

    def render(self) -> Any:
        """Draws the episode so far, as an array of pixels (height × width × 3)."""
        if self.render_mode is None:
            return None
        if not self._course:
            raise ResetNeeded("there is no episode to draw; call reset()")
        from fairwave.gym.figure import drawn

        return drawn(np.array(self._course), self.steers)

    def close(self) -> None:
        """Frees the run."""
        self._is_closed = True
        self._runs = False
        self._episodes.close(0)
        self._course = []

    def finish(self) -> dict[str, Any]:
        """Ends the episode: runs to the end of the scenario with the setting of the last action.

        Returns:
            The raw tables of the run, as in `fairwave.run`: name to columns.

        Raises:
            ResetNeeded: There is no episode.
        """
        self._runs = False
        tables = self._episodes.complete(0)
        if tables is None:
            raise ResetNeeded("there is no episode to finish; call reset()")
        return tables


def _info(row: Floats) -> dict[str, Any]:
    return {
        "time": float(row[spaces.TIME]),
        "delivered_bps": float(row[spaces.DELIVERED]),
        "queueing_s": float(row[spaces.QUEUEING]),
        "lost": float(row[spaces.LOST]),
    }


class RateEnv(SteeredEnv):
    """Rate control of a media session: the agent sets the rate of a flow with the transport `webrtc`.

    A step is one monitor interval of the task (default: 50 ms).

    **Action**: one number `a` from −1 to 1. The rate of all streams together, in whole IP packets, is multiplied by
    2^a, and stays between the session's `least` and `most`.

    **Observation**: ten numbers of the interval that has ended, float64. All but the last two come from feedback.

    | place | name | quantity | unit | range |
    |---|---|---|---|---|
    | 0 | granted | the rate that is set | log2 of Mb/s | −20 to 20 |
    | 1 | delivered | rate at which packets arrived | log2 of Mb/s | −20 to 20; −20 for none |
    | 2 | used | delivered as part of granted | 1 | 0 to 4 |
    | 3 | lost | newly reported packets: share reported lost | 1 | 0 to 1 |
    | 4 | marked | arrived packets: share that is marked | 1 | 0 to 1 |
    | 5 | queueing | mean one-way delay less the least so far | s | 0 to 10 |
    | 6 | change | change of queueing since the interval before | s | −10 to 10 |
    | 7 | round-trip | the least round trip so far | s | 0 to 10; 0 before the first |
    | 8 | held | age of the oldest packet in the pacer | s | 0 to 10 |
    | 9 | silence | time since the latest feedback | s | 0 to 10 |

    **Reward** of an interval, without unit: log2(1 + delivered / 100 kb/s) − 10 · queueing − 10 · lost; `reward`
    changes the two weights. At 1 Mb/s without queue and loss it is 3.46. Its form is an assumption.

    **Episode**: as long as the scenario; it ends as truncated, never as terminated.
    """

    steers = "rate"


class WindowEnv(SteeredEnv):
    """Window control of a TCP connection: the agent sets the congestion window of a flow with `tcp/policy`.

    **Action**: one number `a` from −1 to 1. The window is multiplied by 2^a with the first acknowledgement after the
    interval, and stays between 2 and 10⁶ segments. A timeout sets it to 1.

    **Observation**: like `RateEnv`, but *granted* is the window (log2 of segments), and *used* is the delivered rate as
    part of the window in the least round trip. *queueing* is the mean round trip less the least, and *held* is the
    share of the window in flight.

    **Reward** and **episode** are as in `RateEnv`.
    """

    steers = "window"
