"""Refusals of the video study's laws, and their remedies."""

import pytest

from fairwave import ScenarioError
from fairwave_studies.video.points import scenario

VIDEO, TRANSPORT = "flow.video.traffic", "flow.video.transport"


@pytest.mark.parametrize(
    ("name", "path", "value", "words"),
    [
        ("single", f"{VIDEO}.layers", [], ["layers", "base layer", "layers = "]),
        (
            "single",
            f"{VIDEO}.layers",
            ["128 kb/s", "0 b/s"],
            ["layers[1]", "cumulative rates increase", "layers = "],
        ),
        ("single", f"{VIDEO}.layers", ["128 kb/s"] * 9, ["layers", "at most 8", "layers = "]),
        ("single", f"{VIDEO}.layers", ["128 kb/s", "-1 kb/s"], ["layers", "-1 kb/s"]),
        ("single", f"{VIDEO}.group", "IXB", ["group", "I, P and B", 'group = "IBBPBBPBBPBB"']),
        ("single", f"{VIDEO}.group", "", ["group", "one or more", "group = "]),
        ("single", f"{VIDEO}.frame-rate", 0, ["frame-rate", "above 0", "frame-rate = 25"]),
        ("hops", "topology.hops", 0, ["hops", "1", "hops = "]),
        ("hops", "topology.hops", -1, ["hops"]),
        ("hops", "topology.hops", 1001, ["hops", "1000"]),
        (
            "single",
            f"{TRANSPORT}.aiamd.alpha-decrease",
            1,
            ["alpha-decrease", "swapped", "alpha-decrease = -1"],
        ),
        (
            "single",
            f"{TRANSPORT}.aiamd.alpha-increase",
            -1,
            ["alpha-increase", "above 0", "alpha-increase = 1"],
        ),
        ("single", f"{TRANSPORT}.aiamd.beta-decrease", 1, ["beta-decrease", "beta-decrease = 0.5"]),
        ("single", f"{TRANSPORT}.aiamd.mean-gain", 0, ["mean-gain", "above 0"]),
        ("single", f"{TRANSPORT}.timeout.epsilon", 1, ["epsilon", "epsilon = 0.25"]),
        ("single", f"{TRANSPORT}.later-arrivals", 0, ["later-arrivals", "from 1 to 8"]),
        ("single", f"{TRANSPORT}.headroom", -0.1, ["headroom", "0 and above"]),
        (
            "single",
            f"{TRANSPORT}.aiamd.compare",
            "sending-rate",
            ["compare", "receiving-rate", "requested-rate"],
        ),
        ("single", f"{TRANSPORT}.aiamd.alpha-rate", "0 b/s", ["alpha-rate", "above 0", "alpha-rate = "]),
        ("single", f"{TRANSPORT}.reaction", "packet", ["reaction", "gap", "round-trip"]),
        ("single", f"{VIDEO}.packet", "0 B", ["packet", "from 1 B to 65535 B", "packet = "]),
        ("single", f"{VIDEO}.coding", "temporal", ["packet", "layers", "omit"]),
        ("cross", "topology.sink-access.loss.other", 2, ["other", "0 to 1"]),
        ("single", TRANSPORT, {"name": "rtcp", "start-layers": 0}, ["start-layers", "from 1 to 8"]),
        ("single", TRANSPORT, {"name": "rtcp", "add-below": 0.5}, ["add-below", "drop-above"]),
        (
            "cross",
            "topology.sink-access.loss",
            {"model": "rounds", "after-loss": 15},
            ["after-loss", "0 to 1", "after-loss = "],
        ),
        (
            "cross",
            "topology.sink-access.loss",
            {"model": "rounds", "mean-length": 0},
            ["mean-length", "1", "mean-length = "],
        ),
    ],
)
def test_a_value_out_of_range_is_refused_with_key_range_and_example(name, path, value, words):
    with pytest.raises(ScenarioError) as refusal:
        scenario(name, **{path: value})
    said = str(refusal.value)
    assert all(word in said for word in words), said
