"""Clips: their location, the size of their pictures, and messages about unusable ones."""

from __future__ import annotations

import pytest

from fairwave_video import VideoError, clips


def test_packaged_clips_need_no_path():
    for name in clips.PACKAGED:
        clip = clips.clip(name)
        first = next(clip.pictures())
        assert (first.width, first.height, first.format.name) == (clip.width, clip.height, "yuv420p")


def test_pictures_are_scaled_down_in_proportion_to_whole_macroblocks():
    clip = clips.clip("bigbuckbunny")
    assert clip.width % 16 == clip.height % 16 == 0
    assert clip.width * clip.height == pytest.approx(clips.PIXELS, rel=0.1)
    assert clip.width / clip.height == pytest.approx(1280 / 720, rel=0.05)


def test_at_most_so_many_pictures_are_taken():
    assert len(list(clips.clip("carphone").pictures(most=5))) == 5


def test_a_missing_clip_is_refused_with_what_to_give():
    with pytest.raises(VideoError, match=r"'nowhere.mp4': no such file; give the path .* bikes"):
        clips.clip("nowhere.mp4")


def test_a_file_that_is_no_video_is_refused(tmp_path):
    text = tmp_path / "words.mp4"
    text.write_text("not a video", encoding="utf-8")
    with pytest.raises(VideoError, match=r"words.mp4': unreadable .*; give the path"):
        clips.clip(text)


def test_a_truncated_clip_is_refused(tmp_path):
    whole = clips.clip("bikes").path.read_bytes()
    part = tmp_path / "part.mp4"
    part.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(VideoError, match=r"part.mp4'"):
        list(clips.clip(part).pictures())


def test_sound_is_no_video(tmp_path):
    import wave

    sound = tmp_path / "sound.wav"
    with wave.open(str(sound), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(1600))
    with pytest.raises(VideoError, match="no video"):
        clips.clip(sound)
