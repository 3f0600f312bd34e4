"""Paper 003's closed forms compared with the simulator, in the paper's range; TFRC compared with SACK."""

import pytest

from fairwave import theory
from fairwave.scenario import load
from fairwave_studies.smoothness import names, points, quantities, study
from fairwave_studies.smoothness.names import RESPONSIVE, SMOOTHEST, STANDARD
from fairwave_studies.smoothness.systems import PAIRS


def run(name, **labels):
    """The runs of one of the study's grids at these labels, with two seeds."""
    (grid,) = (one for one in study().grids if one.id == name)
    chosen = [
        point for point in grid.points() if all(point.labels[axis] == label for axis, label in labels.items())
    ]
    return chosen[0].scenario.replicate(2)


def mean(measure, results):
    return measure.compute(results).interval().mean


@pytest.mark.parametrize("name", PAIRS)
def test_one_flow_is_the_sawtooth_of_equation_4(name):
    alpha, kept = PAIRS[name]
    results = run(names.SAWTOOTH, transport=name)
    peak = mean(quantities.PEAK, results)
    # The capacity of path (125 packets of 1000 bytes, 1040 on the wire) and buffer (62).
    assert peak == pytest.approx(125 * 1000 / 1040 + 62, rel=0.05)
    assert mean(quantities.ROUNDS, results) == pytest.approx(
        theory.epoch_rounds(peak, alpha=alpha, kept=kept), rel=0.05
    )
    assert mean(quantities.MEAN_WINDOW, results) == pytest.approx(
        theory.sawtooth_mean(peak, kept=kept), rel=0.05
    )


@pytest.mark.parametrize("k", [0.5, 1.0, 2.0])
def test_one_flow_finds_the_gamma_of_equation_16(k):
    assert mean(quantities.LAST_GAMMA, run(names.KNEE, k=k)) == pytest.approx(theory.gamma(k), rel=0.05)


@pytest.mark.parametrize("name", [SMOOTHEST, STANDARD, RESPONSIVE])
@pytest.mark.parametrize("k", [0.25, 1.0])
def test_one_flow_uses_what_knee_and_cliff_allow(name, k):
    expected = 100 * theory.sawtooth_use(k, kept=PAIRS[name][1])
    assert mean(quantities.USE, run(names.USE, transport=name, k=k)) == pytest.approx(expected, abs=2)


@pytest.mark.parametrize("name", PAIRS)
def test_equation_1_holds_for_one_flow_at_moderate_loss(name):
    alpha, kept = PAIRS[name]
    sent = mean(quantities.SENT, run(names.MODEL, transport=name, loss=0.01))
    model = theory.aimd_rate(0.01, points.ROUND_TRIP_S, 0.2, alpha=alpha, kept=kept)
    # Within the deviation that the model's authors measured; independent losses differ from the model's correlated
    # ones.
    assert sent == pytest.approx(model, rel=0.35)


SHARING = """
name = "TFRC beside SACK"
duration = "150 s"
warmup = "30 s"

[topology]
preset = "dumbbell"

[topology.bottleneck]
rate = "8 Mb/s"
delay = "20 ms"

[topology.bottleneck.queue]
discipline = "red"
capacity = { packets = 100 }
min-threshold = 10
max-threshold = 50
max-p = 0.1
weight = 0.002
gentle = true
mean-packet = "1000 B"

[[flow]]
name = "tfrc"
count = 4
transport = "tfrc"
traffic = "bulk"
start = { from = "0 s", to = "5 s" }

[[flow]]
name = "sack"
count = 4
transport = "tcp/sack"
traffic = "bulk"
start = { from = "0 s", to = "5 s" }

[record]
bin = "500 ms"
"""


@pytest.fixture(scope="module")
def sharing():
    return load(SHARING).replicate(3).to_polars("groups")


def group_mean(groups, group, column):
    import polars as pl

    return groups.filter(pl.col("group").cast(pl.String) == group)[column].mean()


def test_tfrc_is_reasonably_fair_to_sack_in_the_long_run(sharing):
    # RFC 5348 §1: "generally within a factor of two of the sending rate of a TCP flow under the same conditions".
    tfrc, sack = (group_mean(sharing, group, "goodput_bps") for group in ("tfrc", "sack"))
    assert 0.5 < tfrc / sack < 2


def test_tfrc_is_smoother_than_sack(sharing):
    assert group_mean(sharing, "tfrc", "cov") < group_mean(sharing, "sack", "cov")
