"""Train a small policy by the cross-entropy method, in plain NumPy: a rate controller for calls in under two minutes.

    python examples/gym_cem.py --out mine.json
    fairwave rfc8867 mine.json

Each generation draws candidates around a mean, runs each of them over the same networks, and moves the mean to the
best. After each generation the mean is evaluated on networks that training does not use. The best mean so far is kept,
so that a lucky candidate does not win. At the end it is evaluated on the task's test networks, compared with the
initial rule, with an interval over episodes.

`--steers window` trains a window for TCP; `--task FILE` trains on your own networks.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np

from fairwave import gym

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

VALIDATION, TEST = 1_000_000, 2_000_000
"""First seeds of networks that training never uses."""

PLAIN = np.array([0, 0, 0, -1, -1, -1, -2, 0, 0, -0.2, 0.05])
"""The initial rule, which is `policy` without a file: ten weights and the bias."""

SPREAD = np.array([0.02, 0.02, 0.05, 1.0, 0.1, 1.0, 2.0, 0.3, 0.3, 0.3, 0.05])
"""Initial spread of the candidates: smaller for observations with larger values."""


def returns(envs: gym.SteeredVectorEnv, policy: gym.Policy, candidates: Floats, seeds: list[int]) -> Floats:
    """Returns the mean reward per step of every candidate (rows of parameters) on every seed: candidates × seeds."""
    count = len(seeds)
    batch = [policy.with_parameters(one).layers for one in candidates for _ in seeds]
    layers = [
        (
            np.stack([one[depth][0] for one in batch]),
            np.stack([one[depth][1] for one in batch]),
            batch[0][depth][2],
        )
        for depth in range(len(policy.layers))
    ]
    observation, _ = envs.reset(seed=seeds * len(candidates))
    total, steps = np.zeros(envs.num_envs), 0
    over = np.zeros(envs.num_envs, dtype=bool)
    while not over.all():
        values = observation[:, :, None]
        for weights, bias, activation in layers:
            values = weights @ values + bias[:, :, None]
            values = np.tanh(values) if activation == "tanh" else values
        observation, reward, _, truncated, _ = envs.step(np.clip(values[:, :, 0], -1.0, 1.0))
        total += reward
        steps += 1
        over |= truncated
    return (total / steps).reshape(len(candidates), count)


def train(
    steers: str = "rate",
    task: str | None = None,
    *,
    seconds: float = 100.0,
    generations: int = 1000,
    candidates: int = 16,
    networks: int = 6,
    seed: int = 1,
    say: bool = True,
) -> gym.Policy:
    """Trains a policy until the time or the generations are used up. Only the generations influence the result."""
    make = gym.RateVectorEnv if steers == "rate" else gym.WindowVectorEnv
    envs = make(candidates * networks, task)
    judge = make(4 * networks, task)
    policy = gym.Policy.zeros(steers, interval=envs.task.interval)
    random = np.random.default_rng(seed)
    mean, spread = PLAIN, SPREAD
    best, kept, began, generation = -np.inf, mean, time.monotonic(), 0
    while generation < generations and time.monotonic() - began < seconds:
        drawn = mean + spread * random.standard_normal((candidates, len(mean)))
        drawn[0] = mean
        seeds = [seed * 1000 + generation * networks + place for place in range(networks)]
        order = np.argsort(returns(envs, policy, drawn, seeds).mean(axis=1))[::-1]
        elite = drawn[order[: max(2, candidates // 4)]]
        mean = elite.mean(axis=0)
        spread = np.maximum(0.7 * elite.std(axis=0) + 0.3 * spread, 0.02 * SPREAD)
        validation = [VALIDATION + place for place in range(judge.num_envs)]
        reached = float(returns(judge, policy, mean[None], validation).mean())
        if reached > best:
            best, kept = reached, mean
        generation += 1
        if say:
            print(f"generation {generation:3d}: {reached:6.3f} a step on {len(validation)} other networks")
    tests = [TEST + place for place in range(judge.num_envs)]
    judge.split = "test"
    plain, learned = (returns(judge, policy, one[None], tests)[0] for one in (PLAIN, kept))
    gain = learned - plain
    error = 1.96 * gain.std(ddof=1) / np.sqrt(len(gain))
    for one in (envs, judge):
        one.close()
    if say:
        print(
            f"test networks: {learned.mean():.3f} a step; {gain.mean():.3f} ± {error:.3f} more than the plain rule "
            f"(95 % interval, {len(gain)} episodes)"
        )
    return policy.with_parameters(
        kept,
        {
            "method": "cross-entropy",
            "seed": seed,
            "generations": generation,
            "candidates": candidates,
            "networks": networks,
            "validation_reward": round(best, 4),
            "test_reward": round(float(learned.mean()), 4),
        },
    )


def main() -> None:
    """Trains with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", default="policy.json", help="where the policy is written")
    parser.add_argument("--steers", choices=("rate", "window"), default="rate")
    parser.add_argument("--task", help="a task file; the default task if left out")
    parser.add_argument("--seconds", type=float, default=100.0, help="stop after this time")
    parser.add_argument("--generations", type=int, default=1000, help="stop after so many generations")
    parser.add_argument("--candidates", type=int, default=16)
    parser.add_argument("--networks", type=int, default=6, help="networks that every candidate runs over")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    policy = train(
        given.steers,
        given.task,
        seconds=given.seconds,
        generations=given.generations,
        candidates=given.candidates,
        networks=given.networks,
        seed=given.seed,
    )
    print(f"wrote {policy.save(given.out)}")


if __name__ == "__main__":
    main()
