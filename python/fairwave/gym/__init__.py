"""A gym for controllers that learn: Gymnasium environments over the simulator.

    import fairwave.gym as gym

    env = gym.RateEnv()                      # a call over networks of many kinds
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step([0.1])

- `RateEnv`, `WindowEnv`: you set the rate of one `webrtc` session, or the window of one TCP connection.
- `RateVectorEnv`, `WindowVectorEnv`: many of them, stepped in one call on all cores.
- `Task`: the steered flow, its scenario and its networks; read from a TOML file.
- `Policy`: a small network in NumPy that you can train, write to a file, and name in scenarios.

`gymnasium.make("fairwave/Rate-v0")` and `"fairwave/Window-v0"` make the same environments. docs/gym.md lists
observation, action and reward with units and ranges.
"""

from fairwave.extras import MissingExtraError, install

try:
    import gymnasium as _gymnasium
except ImportError as missing:
    raise MissingExtraError(
        f"fairwave.gym needs the package 'gymnasium', which is not installed; {install('gym')}"
    ) from missing

from fairwave.gym.environments import RateEnv, SteeredEnv, WindowEnv
from fairwave.gym.numpy_policy import Policy
from fairwave.gym.task import Choice, Range, Task, TaskError
from fairwave.gym.vector import RateVectorEnv, SteeredVectorEnv, WindowVectorEnv

__all__ = [
    "Choice",
    "Policy",
    "Range",
    "RateEnv",
    "RateVectorEnv",
    "SteeredEnv",
    "SteeredVectorEnv",
    "Task",
    "TaskError",
    "WindowEnv",
    "WindowVectorEnv",
]

for _name in ("Rate", "Window"):
    if f"fairwave/{_name}-v0" not in _gymnasium.registry:
        _gymnasium.register(
            f"fairwave/{_name}-v0",
            entry_point=f"fairwave.gym:{_name}Env",
            vector_entry_point=f"fairwave.gym:{_name}VectorEnv",
        )
