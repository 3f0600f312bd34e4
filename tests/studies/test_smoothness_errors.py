"""Refusals of the smoothness study's laws, and their remedies."""

import pytest

from fairwave import ScenarioError
from fairwave_studies.smoothness.points import base


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("flow.main.transport.alpha", 0, ["`alpha` is 0", "above 0", "alpha = "]),
        ("flow.main.transport.alpha", -1, ["`alpha` is -1", "above 0", "alpha = "]),
        ("flow.main.transport.beta", 0, ["`beta` is 0", "above 0 and below 1", "beta = 0.875"]),
        ("flow.main.transport.beta", 1, ["`beta` is 1", "above 0 and below 1", "beta = 0.875"]),
        (
            "flow.main.transport",
            {"name": "tcp/gamma-delta", "lower": 0.6},
            ["`lower` is 0.6", "below 0.5", "lower = 0.1"],
        ),
        (
            "flow.main.transport",
            {"name": "tcp/gamma", "upper": 0},
            ["`upper` is 0", "above 0", "upper = 0.5"],
        ),
        (
            "flow.main.transport",
            {"name": "tcp/gamma-delta", "delta": 0},
            ["`delta` is 0", "above 0", "delta = 2"],
        ),
        (
            "topology.bottleneck.queue",
            {"discipline": "red", "capacity": {"packets": 60}, "min-threshold": 40, "max-threshold": 20},
            ["`min-threshold` is 40", "below `max-threshold` (20)", "min-threshold = 12"],
        ),
        (
            "topology.sink-access.loss",
            {"model": "handoff", "up": "5 s", "down": "0 s"},
            ["`down` is 0 s", "above 0", 'down = "500 ms"'],
        ),
        (
            "topology.sink-access.loss",
            {"model": "handoff", "up": "0 s", "down": "1 s"},
            ["`up` is 0 s", "above 0", 'up = "5 s"'],
        ),
        (
            "topology.sink-access.loss",
            {"model": "handoff", "up": "5 s", "down": "1 s", "regular": True, "constant": True},
            ["`regular` is true", "false if `constant` is true", "regular = true"],
        ),
        ("flow.main.transport", {"name": "tcp/sqrt", "beta": 3}, ["`beta` is 3", "beta = 0.67"]),
        (
            "flow.main.transport",
            {"name": "rap", "beta": 1},
            ["`beta` is 1", "above 0 and below 1", "beta = 0.5"],
        ),
        ("preset", "ns2-2005", ["ns2-2004"]),
        (
            "topology.sink-access.loss",
            {"model": "markov", "good": "0 s", "bad": "1 s"},
            ["`good` is 0 s", "above 0", "good = "],
        ),
        (
            "topology.sink-access.loss",
            {"model": "blackout", "from": "21 s", "to": "20 s"},
            ["`to` is 20 s", "later than `from`"],
        ),
        (
            "topology.sink-access.loss",
            {"model": "bernoulli", "rate": 5},
            ["`rate` is 5", "0 to 1", "rate = 0.01"],
        ),
        (
            "flow.main.playback",
            {"rate": "1 Mb/s", "shares": [90]},
            ["`shares` is 90", "or percent in quotes", "shares = [0.9]"],
        ),
        ("flow.main.recovery", {"from": "21 s", "to": "20 s"}, ["`to` is 20 s", "later than `from`"]),
    ],
)
def test_a_value_out_of_range_is_refused_with_key_range_and_example(path, value, words):
    with pytest.raises(ScenarioError) as refusal:
        base(**{path: value})
    said = str(refusal.value)
    assert all(word in said for word in words), said
