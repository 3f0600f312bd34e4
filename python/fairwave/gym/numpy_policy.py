"""Policies in NumPy: dense layers from an observation to one action."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave import policy_files
from fairwave.staging import write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_ACTIVATIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "linear": lambda sums: sums,
    "tanh": np.tanh,
    "relu": lambda sums: np.maximum(sums, 0.0),
}


@dataclass(frozen=True, eq=False)
class Policy:
    """A network of dense layers.

    Attributes:
        steers: `rate` or `window`.
        interval: The monitor interval that the policy was made for, a span: "50 ms".
        layers: For each layer its weights (units × inputs), its biases (units), and `linear`, `tanh` or `relu`.
        trained: Origin of the policy, for its file: plain data.
    """

    steers: str
    interval: str
    layers: tuple[tuple[Floats, Floats, str], ...]
    trained: Mapping[str, Any] | None = None

    @classmethod
    def zeros(cls, steers: str = "rate", hidden: Sequence[int] = (), interval: str = "50 ms") -> Policy:
        """A policy that does nothing: all weights are zero, hidden layers use tanh."""
        if steers not in policy_files.STEERS:
            raise ValueError(f"a policy steers 'rate' or 'window', not {steers!r}")
        sizes = [len(policy_files.OBSERVATION), *hidden, 1]
        layers = [(np.zeros((units, inputs)), np.zeros(units), "tanh") for inputs, units in pairwise(sizes)]
        layers[-1] = (*layers[-1][:2], "linear")
        return cls(steers, interval, tuple(layers))

    @property
    def parameters(self) -> Floats:
        """All weights and biases as one vector."""
        return np.concatenate([np.concatenate([weights.ravel(), bias]) for weights, bias, _ in self.layers])

    def with_parameters(self, vector: ArrayLike, trained: Mapping[str, Any] | None = None) -> Policy:
        """The same network with other weights and biases.

        Raises:
            ValueError: The vector has another length, or a number that is not finite.
        """
        rest = np.asarray(vector, dtype=np.float64).ravel()
        if len(rest) != len(self.parameters) or not np.isfinite(rest).all():
            raise ValueError(
                f"parameters must be {len(self.parameters)} finite numbers, not {len(rest)} of which "
                f"{int((~np.isfinite(rest)).sum())} are not finite"
            )
        layers = []
        for weights, bias, activation in self.layers:
            own, rest = rest[: weights.size], rest[weights.size :]
            add, rest = rest[: bias.size], rest[bias.size :]
            layers.append((own.reshape(weights.shape).copy(), add.copy(), activation))
        return Policy(self.steers, self.interval, tuple(layers), trained)

    def act(self, observation: ArrayLike) -> Floats:
        """Returns the action, from −1 to 1: an array of 1 for one observation, of n × 1 for n observations."""
        values = np.asarray(observation, dtype=np.float64)
        for weights, bias, activation in self.layers:
            values = _ACTIVATIONS[activation](values @ weights.T + bias)
        return np.clip(np.nan_to_num(values, nan=0.0), -1.0, 1.0)

    def law(self) -> dict[str, Any]:
        """Returns the table that names the policy in a scenario: for `control`, or for `transport`."""
        table = self._table()
        return {
            "name": policy_files.STEERS[self.steers],
            "policy": {"interval": table["interval"], "layers": table["layers"]},
        }

    def _table(self) -> dict[str, Any]:
        layers = [
            {"weights": weights.tolist(), "bias": bias.tolist(), "activation": activation}
            for weights, bias, activation in self.layers
        ]
        return {
            "format": policy_files.FORMAT,
            "steers": self.steers,
            "observation": list(policy_files.OBSERVATION),
            "interval": self.interval,
            "layers": layers,
        }

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes the policy as JSON."""
        where = Path(path)
        table = self._table() | ({"trained": dict(self.trained)} if self.trained else {})
        write_text(where, json.dumps(table, indent=1) + "\n")
        return where

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Policy:
        """Reads a file written by `save`.

        Raises:
            FileNotFoundError: There is no such file.
            fairwave.policy_files.PolicyError: The file holds no policy.
        """
        table = policy_files.read(path)
        inputs, layers = len(policy_files.OBSERVATION), []
        for place, layer in enumerate(table["layers"]):
            try:
                weights = np.array(layer["weights"], dtype=np.float64)
                bias = np.array(layer["bias"], dtype=np.float64)
                activation = layer.get("activation", "linear")
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise policy_files.PolicyError(f"{path}: layer {place} is none ({error})") from None
            if (
                weights.ndim != 2
                or weights.shape[1] != inputs
                or bias.shape != weights.shape[:1]
                or activation not in _ACTIVATIONS
                or not (np.isfinite(weights).all() and np.isfinite(bias).all())
            ):
                raise policy_files.PolicyError(
                    f"{path}: layer {place} must have rows of {inputs} finite weights, a bias for each row, and "
                    f"`linear`, `tanh` or `relu`"
                )
            layers.append((weights, bias, activation))
            inputs = len(bias)
        if inputs != 1 or not layers:
            raise policy_files.PolicyError(f"{path}: the last layer must have one unit, not {inputs}")
        return cls(table["steers"], str(table["interval"]), tuple(layers), table.get("trained"))
