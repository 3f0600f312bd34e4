"""From units to pictures: the shown frames, their layers, and the concealment of missing ones."""

from __future__ import annotations

import numpy as np
import pytest

from fairwave_video import VideoError, coding, layers, received, score
from fairwave_video.clips import Clip, clip

FRAMES = 26
QUANTISERS = (20, 6)


@pytest.fixture(scope="module")
def source() -> layers.LayeredClip:
    small = clip("carphone")
    pictures = list(small.pictures(FRAMES))

    class Short(Clip):
        def pictures(self, most: int = FRAMES):
            return super().pictures(min(most, FRAMES))

    short = Short(small.name, small.path, small.width, small.height)
    return layers.LayeredClip(short, tuple(coding.encode(pictures, quantiser) for quantiser in QUANTISERS))


def units(
    count: int, lost: set[int] = frozenset(), late: set[int] = frozenset(), skipped: set[int] = frozenset()
):
    """The units of frames in two layers, with a transit time of 100 ms."""
    number = np.arange(2 * count)
    created = (number // 2) / coding.FRAME_RATE
    arrived = created + 0.1
    arrived[list(late)] += 1.0
    arrived[list(lost | skipped)] = np.nan
    fate = ["skipped" if i in skipped else "lost" if i in lost else "arrived" for i in number]
    return {"unit": number, "created_s": created, "arrived_s": arrived, "fate": np.asarray(fate)}


def luma(pictures) -> list[np.ndarray]:
    return [picture.to_ndarray() for picture in pictures]


def test_what_arrives_whole_is_seen_as_it_was_coded(source):
    seen = received.receive(units(FRAMES), source)
    np.testing.assert_array_equal(luma(seen.pictures()), luma(received.pictures(source.versions[1])))


def test_without_the_upper_layer_the_lower_version_is_seen(source):
    seen = received.receive(units(FRAMES, skipped=set(range(1, 2 * FRAMES, 2))), source)
    assert set(seen.sent) == set(seen.decoded) == {1}
    np.testing.assert_array_equal(luma(seen.pictures()), luma(received.pictures(source.versions[0])))


def test_a_lost_b_frame_is_concealed_by_the_picture_before_it(source):
    pictures = luma(received.receive(units(FRAMES, lost={2 * 4}), source).pictures())
    whole = luma(received.pictures(source.versions[1]))
    np.testing.assert_array_equal(pictures[4], whole[3])
    np.testing.assert_array_equal(pictures[5], whole[5])


def test_a_late_layer_is_not_seen_but_helps_the_frames_that_are_shown_after_it_came(source):
    # The first frame arrives 100 ms late; two later frames that refer to it have been shown by then.
    late = received.receive(units(FRAMES, late={0}), source)
    assert late.arrived.tolist() == [0] + [2] * (FRAMES - 1)
    assert late.decoded.tolist() == [0] * 3 + [2] * (FRAMES - 3)


def test_a_layer_that_comes_too_late_for_all_that_refers_to_it_is_a_lost_one(source):
    late = received.receive(units(FRAMES, late={0}), source, playout_delay_s=0.5)
    lost = received.receive(units(FRAMES, lost={0}), source, playout_delay_s=0.5)
    assert lost.decoded.tolist() == [0] * 12 + [2] * (FRAMES - 12)
    # 600 ms too late: by then frames 0 to 14 have been shown.
    assert late.decoded.tolist() == lost.decoded.tolist()


def test_a_b_frame_is_not_seen_before_the_frame_behind_it_has_arrived(source):
    # With a transit of 100 ms and playout at 150 ms: the P frame is made 80 ms after the first B frame, 40 ms after
    # the second.
    seen = received.receive(units(FRAMES), source, playout_delay_s=0.15)
    shown = {
        kind: {int(one) for one, other in zip(seen.decoded, seen.kinds, strict=True) if other == kind}
        for kind in "IPB"
    }
    assert shown == {"I": {2}, "P": {2}, "B": {0, 2}}
    first = [
        number for number, kind in enumerate(seen.kinds[:-2]) if kind == "B" and seen.kinds[number + 1] == "B"
    ]
    assert {int(seen.decoded[number]) for number in first} == {0}
    assert {int(seen.decoded[number + 1]) for number in first} == {2}


def test_what_arrives_at_the_nanosecond_of_showing_is_in_time(source):
    table = units(FRAMES)
    table["arrived_s"] = table["created_s"] + 0.3
    assert received.receive(table, source, playout_delay_s=0.3).decoded.tolist()[:1] == [2]
    table["arrived_s"] = table["arrived_s"] + 1e-9
    assert received.receive(table, source, playout_delay_s=0.3).decoded.tolist()[:1] == [0]


def test_before_the_first_picture_there_is_grey(source):
    first = next(received.receive(units(FRAMES, lost={0}), source).pictures())
    assert set(np.unique(first.to_ndarray())) == {received.GREY}


def test_a_repeated_clip_shows_its_pictures_again(source):
    seen = received.receive(units(FRAMES + 3), source)
    pictures = luma(seen.pictures())
    assert len(pictures) == FRAMES + 3
    np.testing.assert_array_equal(pictures[FRAMES:], pictures[:3])
    assert len(list(seen.originals())) == FRAMES + 3


def test_frames_after_the_end_are_not_shown(source):
    assert received.receive(units(FRAMES), source, shown=10).frames == 10
    with pytest.raises(VideoError, match="longer `duration`"):
        received.receive(units(FRAMES), source, shown=0)


def test_a_decoder_that_gets_only_what_is_decodable_shows_the_same_pictures(source):
    # Justification for whole versions: decode only the frames that arrived with a real decoder.
    rng = np.random.default_rng(1)
    lost = set(np.flatnonzero(rng.random(2 * FRAMES) < 0.15).tolist()) - {0, 1}
    seen = received.receive(units(FRAMES, lost=lost), source)
    assert 0 < np.count_nonzero(seen.decoded < 2) < FRAMES
    for layer, version in enumerate(source.versions, start=1):
        keep = set(np.flatnonzero(seen.decoded >= layer).tolist())
        whole = luma(received.pictures(version))
        partly = {picture.pts: picture.to_ndarray() for picture in received.pictures(version, keep)}
        assert set(partly) == keep
        for number, picture in partly.items():
            np.testing.assert_array_equal(picture, whole[number])


@pytest.mark.parametrize("quantiser", [2.0, 10.0])
def test_the_written_video_scores_what_the_tables_say(quantiser, tmp_path):
    import av

    pictures = list(clip("bikes", layers.PIXELS).pictures(30))
    shown = list(received.pictures(coding.encode(pictures, quantiser)))
    table = score.score(shown, pictures)
    path = received.write(iter(shown), tmp_path / "seen.mp4")
    with av.open(str(path)) as container:
        played = [frame.reformat(format="yuv420p") for frame in container.decode(video=0)]
    written = score.score(played, pictures)
    assert written.psnr_db.mean() == pytest.approx(table.psnr_db.mean(), abs=0.1)
    assert written.ssim.mean() == pytest.approx(table.ssim.mean(), abs=0.001)


def test_the_received_video_is_a_file_that_plays(source, tmp_path):
    import av

    seen = received.receive(units(FRAMES, lost={8}), source)
    path = received.write(seen.pictures(), tmp_path / "seen.mp4")
    with av.open(str(path)) as container:
        rate = container.streams.video[0].average_rate
        frames = list(container.decode(video=0))
    assert (len(frames), rate) == (FRAMES, coding.FRAME_RATE)
    close = score.score((frame.reformat(format="yuv420p") for frame in frames), seen.pictures())
    assert close.psnr_db.min() > 40


@pytest.mark.parametrize("broken", [{"unit": np.asarray([1, 2])}, {"unit": np.asarray([])}])
def test_units_of_something_else_are_refused(source, broken):
    table = {**{name: column[: len(broken["unit"])] for name, column in units(1).items()}, **broken}
    with pytest.raises(VideoError, match="record"):
        received.receive(table, source)
