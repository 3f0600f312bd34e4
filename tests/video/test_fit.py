"""The TES fit: its closed form compared with the simulator's draws, and the shipped file with its clip."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fairwave_report import video_fit as fit
from fairwave_report import video_goodness as goodness
from fairwave_video import coding, tes

SHIPPED = json.loads((Path(__file__).parents[2] / fit.FIT_JSON).read_text(encoding="utf-8"))
CELLS = 4
LEVELS = tuple(np.linspace(0, 1, CELLS + 1))
EDGES = (1000.0, 2000.0, 4000.0, 5000.0, 9000.0)


@pytest.mark.parametrize(
    ("sign", "alpha", "phi", "xi"),
    [("plus", 0.2, 0.0, 0.5), ("plus", 0.3, 0.2, 1.0), ("minus", 0.25, 0.1, 0.8)],
)
def test_the_closed_form_is_the_autocorrelation_of_what_the_simulator_draws(sign, alpha, phi, xi):
    process = tes.Tes(sign, alpha, phi, xi, EDGES, LEVELS)
    drawn = goodness.draw_sizes(process.to_dict(), frames=20_000)
    np.testing.assert_allclose(tes.autocorrelation([drawn], 12), process.autocorrelation(12), atol=0.06)


def test_a_source_draws_the_histogram_it_is_given():
    process = tes.Tes("plus", 1.0, 0.0, 0.5, EDGES, LEVELS)
    drawn = goodness.draw_sizes(process.to_dict(), frames=20_000)
    assert drawn.mean() == pytest.approx(process.mean, rel=0.01)
    np.testing.assert_allclose(np.quantile(drawn, LEVELS[1:-1]), EDGES[1:-1], rtol=0.05)


def test_a_fit_finds_the_correlation_of_a_process_that_is_one():
    true = tes.Tes("plus", 0.3, 0.05, 0.5, EDGES, LEVELS)
    found = tes.fit([list(goodness.draw_sizes(true.to_dict(), frames=20_000))], cells=16, lags=12)
    np.testing.assert_allclose(found.autocorrelation(12), true.autocorrelation(12), atol=0.06)
    assert found.mean == pytest.approx(true.mean, rel=0.03)


def test_the_autocorrelation_of_alternating_values_alternates():
    np.testing.assert_allclose(tes.autocorrelation([[1, -1] * 50], 3), [1, -1, 1, -1])


def test_the_shipped_fit_has_the_sizes_of_its_clip():
    coded = coding.encode(fit.pictures(), float(SHIPPED["about"].split("quantiser ")[1].split(",")[0]))
    for kind in "IPB":
        cells = SHIPPED[kind.lower()]["histogram"]
        total = sum(cell["weight"] for cell in cells)
        mean = sum(cell["weight"] * (cell["low"] + cell["high"]) / 2 for cell in cells) / total
        # One of the twelve codings that were fitted: a part of the same population.
        assert mean == pytest.approx(np.mean(coded.sizes(kind)), rel=0.05)


def test_the_shipped_file_is_written_as_the_script_writes_it():
    assert fit.text(SHIPPED) == (Path(__file__).parents[2] / fit.FIT_JSON).read_text(encoding="utf-8")
