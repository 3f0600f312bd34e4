"""Refusals of the dropping study's scenario, and their remedies."""

import pytest

from fairwave import ScenarioError
from fairwave_studies.dropping.points import dumbbell


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (
            "load.shares",
            {"voice": 25, "other-udp": 50, "tcp": 20},
            ["load.shares", "add up to 95 % (25 + 50 + 20)", "100 %", "tcp = 25"],
        ),
        ("load.shares.voice", 125, ["load.shares.voice", "`voice` is 125", "0 to 100"]),
        ("load.shares", {"video": 100}, ["`video`", "voice, other-udp, tcp"]),
        ("load.total", "0 b/s", ["load.total", "`total` is 0", "above 0"]),
        ("load.transfer", None, ["load.transfer", "`ftp`", "transfer = "]),
        ("flow.ftp.class", "tpc", ["unknown class `tpc`", "voice, other-udp, tcp", "did you mean `tcp`?"]),
        ("flow.a.traffic.codec", "g712", ["unknown codec `g712`", "did you mean `g711`?"]),
        (
            "topology.bottleneck.queue.victim",
            "drop-sell",
            ["unknown victim `drop-sell`", "tail, front, random, drop-sel, voice-guard", "`drop-sel`"],
        ),
        (
            "topology.bottleneck.queue.max-threshold",
            300,
            ["`max-threshold` is 300", "the 262.5 packets that the buffer holds", "max-threshold = "],
        ),
        (
            "topology.bottleneck.queue.victim",
            {"rule": "voice-guard", "quota": 40},
            ["`victim.quota` is 40", "above 0 and below 1", "quota = 0.33"],
        ),
        (
            "topology.bottleneck.queue.victim",
            {"rule": "voice-guard", "memory": "0 s"},
            ["`victim.memory` is 0", "above 0", "memory = "],
        ),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused_with_key_value_and_what_is_allowed(path, value, words):
    with pytest.raises(ScenarioError) as refusal:
        dumbbell(**{path: value})
    said = str(refusal.value)
    assert all(word in said for word in words), said
