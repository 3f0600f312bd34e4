"""TES in closed form: the autocorrelation of a histogram for given α, φ and ξ, and the parameters that fit a sequence.

Jagerman & Melamed (1992), *The transition and autocorrelation structure of TES processes*. The simulator's sampler is
`traffic/video/tes.rs` in fairwave-core; this module follows the same definitions without drawing anything. D(u) is the
foreground as a function of the background u on the circle: the histogram's quantile at the stitched u. d_ν are its
Fourier coefficients. With f(ν) = E[exp(2πiνV)] of an innovation V uniform on an arc of length α rotated by φ,

    ρ⁺(τ) = Σ_{ν≥1} 2 |d_ν|² Re f(ν)^τ / σ²,    f(ν) = exp(πiναφ) sin(πνα) / (πνα),

and for TES⁻, which reflects every other value, the same for even τ and, on average over both phases, Re d_ν² Re f(ν)^τ
for odd τ.

**Assumptions.** The histogram has cells of equal probability, the uppermost split further, because sizes have a long
tail. Sign, α, φ and ξ minimise the mean square distance of ρ from the sequence's autocorrelation over the first lags.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Values = NDArray[np.float64]

Sign = Literal["plus", "minus"]

_CIRCLE = 2048
"""Points on the circle at which the foreground is evaluated."""

_TAIL = 2
"""Number of times that the uppermost cell is halved."""

_HARMONICS = 400
"""Number of Fourier coefficients; further ones are negligible."""


@dataclass(frozen=True)
class Tes:
    """A TES process, as in `fit.json`.

    Attributes:
        sign: TES⁺ or TES⁻.
        alpha: Length of the arc of innovations, above 0, at most 1.
        phi: Rotation of the arc, from −1 to 1.
        xi: Fold of the stitching, from 0 to 1.
        edges: Borders of the histogram's cells, ascending, bytes.
        levels: The probability of a value below each border, ascending from 0 to 1.
    """

    sign: Sign
    alpha: float
    phi: float
    xi: float
    edges: tuple[float, ...]
    levels: tuple[float, ...]

    def autocorrelation(self, lags: int) -> Values:
        """ρ(0) … ρ(lags)."""
        return _autocorrelation(
            _coefficients(self.edges, self.levels, self.xi), self.alpha, self.phi, self.sign, lags
        )

    def quantile(self, probability: Values) -> Values:
        """The histogram's quantiles, bytes."""
        return np.asarray(np.interp(probability, self.levels, self.edges), dtype=np.float64)

    @property
    def mean(self) -> float:
        """The histogram's mean, bytes."""
        middles = (np.asarray(self.edges)[1:] + np.asarray(self.edges)[:-1]) / 2
        return float(np.sum(np.diff(self.levels) * middles))

    def to_dict(self) -> dict[str, Any]:
        """In the shape of the scenario language."""
        weights = np.diff(self.levels)
        cells = [
            {"low": low, "high": high, "weight": float(weight)}
            for low, high, weight in zip(self.edges, self.edges[1:], weights, strict=False)
        ]
        return {"sign": self.sign, "alpha": self.alpha, "phi": self.phi, "xi": self.xi, "histogram": cells}


def autocorrelation(sequences: Sequence[Sequence[float]], lags: int) -> Values:
    """Returns the autocorrelation at 0 … `lags` of several sequences of one process, pooled.

    Products of deviations from the common mean are averaged over all pairs within a sequence.
    """
    parts = [np.asarray(one, dtype=np.float64) for one in sequences]
    mean = np.concatenate(parts).mean()
    parts = [part - mean for part in parts]
    covariance = np.empty(lags + 1)
    for lag in range(lags + 1):
        products = [part[: len(part) - lag] * part[lag:] for part in parts if len(part) > lag]
        covariance[lag] = np.concatenate(products).mean()
    return np.asarray(covariance / covariance[0], dtype=np.float64)


def fit(sequences: Sequence[Sequence[float]], cells: int, lags: int) -> Tes:
    """Fits a TES process to sequences of one process: their histogram, and sign, α, φ, ξ by their autocorrelation.

    A coarse grid, then Nelder and Mead's simplex from its best point; nothing is drawn.
    """
    from scipy.optimize import minimize

    pooled = np.concatenate([np.asarray(one, dtype=np.float64) for one in sequences])
    levels = [
        *np.linspace(0, 1, cells + 1)[:-1],
        *(1 - 0.5**split / cells for split in range(1, _TAIL + 1)),
        1.0,
    ]
    edges = _edges(np.quantile(pooled, levels))
    wanted = autocorrelation(sequences, lags)

    def error(sign: Sign, alpha: float, phi: float, xi: float) -> float:
        found = _autocorrelation(_coefficients(edges, levels, xi), alpha, phi, sign, lags)
        return float(np.mean((found - wanted) ** 2))

    signs: tuple[Sign, ...] = ("plus", "minus")
    grid = [
        (error(sign, alpha, phi, xi), sign, alpha, phi, xi)
        for sign in signs
        for xi in (0.0, 0.25, 0.5, 0.75, 1.0)
        for alpha in (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9, 1.0)
        for phi in (0.0, 0.05, 0.1, 0.2, 0.4)
    ]
    # If both signs fit equally well, as with a symmetric stitching, TES⁺ comes first.
    _, sign, alpha, phi, xi = min(grid, key=lambda point: round(point[0], 9))

    def bound(point: Values) -> tuple[float, float, float]:
        return (
            float(np.clip(point[0], 1e-3, 1)),
            float(np.clip(point[1], -1, 1)),
            float(np.clip(point[2], 0, 1)),
        )

    best = minimize(lambda point: error(sign, *bound(point)), [alpha, phi, xi], method="Nelder-Mead")
    alpha, phi, xi = (round(value, 4) for value in bound(best.x))
    return Tes(sign, alpha, phi, xi, tuple(edges), tuple(float(level) for level in levels))


def _edges(quantiles: Values) -> list[float]:
    """Returns borders of cells: integer bytes, each above the one before."""
    found: list[float] = []
    for quantile in np.round(quantiles):
        found.append(max(float(quantile), found[-1] + 1) if found else float(quantile))
    return found


def _coefficients(edges: Sequence[float], levels: Sequence[float], xi: float) -> NDArray[np.complex128]:
    """d_1, d_2, …: the Fourier coefficients of the foreground over the circle."""
    u = (np.arange(_CIRCLE) + 0.5) / _CIRCLE
    stitched = np.where(u < xi, u / max(xi, 1e-300), (1 - u) / max(1 - xi, 1e-300))
    foreground = np.interp(stitched, levels, edges)
    spectrum = np.fft.fft(foreground) / _CIRCLE
    harmonics = np.arange(1, _HARMONICS + 1)
    # The points are in the middle of their cells.
    return np.asarray(spectrum[harmonics] * np.exp(-1j * np.pi * harmonics / _CIRCLE), dtype=np.complex128)


def _autocorrelation(
    coefficients: NDArray[np.complex128], alpha: float, phi: float, sign: Sign, lags: int
) -> Values:
    harmonics = np.arange(1, len(coefficients) + 1)
    step = np.exp(1j * np.pi * harmonics * alpha * phi) * np.sinc(harmonics * alpha)
    power = np.abs(coefficients) ** 2
    result = np.empty(lags + 1)
    for lag in range(lags + 1):
        weight = power if sign == "plus" or lag % 2 == 0 else np.real(coefficients**2)
        result[lag] = np.sum(weight * np.real(step**lag))
    return np.asarray(result / np.sum(power), dtype=np.float64)
