"""Custom controllers that pace, receive delivery rates, and learn the end of recovery."""

import math

import pytest

import fairwave as fw

SCENARIO = """
name = "controllers"
duration = "8 s"
preset = "rfc"

[topology]
preset = "dumbbell"
bottleneck = { rate = "4 Mb/s", delay = "20 ms", queue = { discipline = "drop-tail", capacity = { packets = 40 } } }

[[flow]]
name = "file"
transport = "tcp/sack"
traffic = "bulk"
"""

told = []


class Halving(fw.Controller):
    """Halves on a loss."""

    def on_ack(self, path, window):
        window.congestion += 1 if window.in_slow_start else 1 / window.congestion

    def on_loss(self, path, window):
        told.append(("loss", path.now))
        window.threshold = window.congestion = max(2.0, path.in_use / 2)

    def on_timeout(self, path, window):
        self.on_loss(path, window)
        window.congestion = 1.0


@fw.controller("sampled")
class Sampled(Halving):
    """Records its delivery samples."""

    def on_sample(self, path, sample, window):
        told.append(("sample", path, sample))

    def on_recovered(self, path, window):
        told.append(("recovered", path.now))


@fw.controller("steady-rate")
class SteadyRate(fw.Controller):
    """Sends at a constant rate in any case."""

    rate: float = fw.parameter(100.0, above=0, doc="Segments per second.")

    def on_ack(self, path, window):
        window.congestion = 1000.0

    def on_loss(self, path, window):
        return "random"

    def on_timeout(self, path, window):
        return "random"

    def pacing(self, path, window):
        return self.rate


@pytest.fixture
def heard():
    told.clear()
    yield told
    told.clear()


def run(transport):
    return fw.load(SCENARIO).with_(flow__file__transport=transport).run()


@pytest.mark.parametrize("recovery", ["sack", "rack"])
def test_a_controller_is_told_the_rate_of_its_bottleneck_and_when_recovery_ends(heard, recovery):
    run({"name": "tcp/sampled", "recovery": recovery})
    samples = [(path, sample) for kind, path, *rest in heard if kind == "sample" for sample in rest]
    bottleneck = 4e6 / (8 * 1040)
    rates = sorted(sample.rate for _, sample in samples if math.isfinite(sample.rate))
    assert rates[len(rates) // 2] == pytest.approx(bottleneck, rel=0.02)
    delivered = [path.delivered for path, _ in samples]
    assert delivered == sorted(delivered)
    assert delivered[-1] == sum(sample.newly_delivered for _, sample in samples)
    assert all(sample.rtt == math.inf or 0.04 <= sample.rtt < 1 for _, sample in samples)
    assert any(sample.lost for _, sample in samples)
    assert max(path.pipe for path, _ in samples) > 40
    kinds = [event[0] for event in heard if event[0] != "sample"]
    assert kinds[:2] == ["loss", "recovered"], "each recovery ends"


def test_a_controller_that_paces_sends_at_its_rate_and_no_faster():
    for rate in (50.0, 200.0):
        (row,) = run({"name": "tcp/steady-rate", "rate": rate}).flows.to_pylist()
        assert row["packets_sent"] == pytest.approx(8 * rate, rel=0.03)
        assert row["lost"] == row["dropped"] == 0


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan])
def test_a_rate_that_is_none_is_refused_with_place_and_value(rate):
    @fw.controller("no-rate")
    class NoRate(Halving):
        """Returns no rate."""

        def pacing(self, path, window):
            return rate

    with pytest.raises(
        fw.RunError, match=r"law `tcp/no-rate`, pacing at .*segments per second above 0.*write for"
    ):
        run("tcp/no-rate")


def test_a_controller_may_ask_for_marks_and_a_connection_may_refuse_them():
    @fw.controller("asks")
    class Asks(Halving):
        """Requests a count of its marks."""

        marks = "accurate"

    class AsksWrongly(Halving):
        """Requests an unknown service."""

        marks = "some"

    with pytest.raises(ValueError, match="unknown variant `some`, expected one of `none`, `classic`"):
        fw.controller("asks-wrongly")(AsksWrongly)
    read = fw.load(SCENARIO).with_(flow__file__transport={"name": "tcp/asks", "ecn": "none"})
    assert read.run().flows.num_rows == 1
