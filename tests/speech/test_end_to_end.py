"""From a recording through the simulator to the received sound."""

import numpy as np
from speech_material import phrases

import fairwave
from fairwave_speech import Fate, Recording, render_call, script
from fairwave_speech.codec import G711

SCENARIO = """
name = "one call"
duration = "6 s"
hosts = { clock-skew = "0 ppm", send-jitter = "0 s" }

[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms", loss = "none" }

[[flow]]
name = "call"
transport = "udp"
traffic = "voice"

[record]
units = ["call[0]"]
"""


def carried(said, **overrides):
    return fairwave.load(SCENARIO).with_overrides({"flow.call.traffic": said.traffic(), **overrides}).run(1)


def test_over_a_free_path_the_listener_hears_the_recording_with_its_pauses() -> None:
    speech = phrases(3.0)
    said = script(Recording(speech), pause_s=0.5)
    units = carried(said).to_polars("units")
    call = render_call(units, said)
    assert (call.fate == Fate.PLAYED).sum() >= len(said.frames)
    # The recording as sent: silence in pauses, and repeated after the pause.
    spoken = np.zeros(said.repeat_after * 160, np.int16)
    for first, stop in said.talk.tolist():
        spoken[first * 160 : stop * 160] = speech[first * 160 : stop * 160]
    begin = int(said.talk[0, 0]) * 160
    coded = G711("u").transmit(np.tile(spoken, 2)[begin:])
    start = int(call.position[0])
    # Adaptive playout may shift talkspurts, so each is compared at the position of its first unit.
    for unit in np.flatnonzero(np.diff(call.schedule.talkspurt, prepend=-1)):
        at, frame = (
            int(call.position[unit]),
            round((units["created_s"][int(unit)] - units["created_s"][0]) * 8000),
        )
        assert np.array_equal(call.samples[at : at + 160], coded[frame : frame + 160])
    assert start > 0


def test_a_narrow_path_loses_units_and_the_call_shows_it() -> None:
    said = script(Recording(phrases(3.0)))
    narrow = carried(said, **{"topology.bottleneck.rate": "64 kb/s"})
    call = render_call(narrow.to_polars("units"), said)
    assert call.loss > 0.05
    assert not np.array_equal(call.samples, call.reference)
