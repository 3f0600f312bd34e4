"""Parts of pages: positions in recordings, embedded files, descriptions of pictures, ratings that differ."""

import base64
import io
import wave
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from fairwave_report import embedding
from fairwave_report.call import RatingPair, explain_differences
from fairwave_report.figures import Panel, describe_panels, for_page
from fairwave_report.listening import NEAR_S, places, to_original, to_recording


def test_a_recording_that_says_everything_later_has_two_places():
    said = np.arange(0, 10, 0.02)
    assert places(said, said + 0.3) == ((0.0, 0.3), (9.98, 10.28))


def test_places_keep_near_to_every_unit_and_lead_back():
    draw = np.random.default_rng(1)
    said = np.arange(0, 20, 0.02)
    heard = np.cumsum(np.where(draw.random(len(said)) < 0.1, draw.uniform(0, 0.2, len(said)), 0.02))
    line = places(said, heard)
    assert len(line) < len(said)
    assert [to_recording(line, at) for at in said] == pytest.approx(heard, abs=NEAR_S + 1e-4)
    for at in np.linspace(0, 19.9, 50):
        assert to_original(line, to_recording(line, at)) == pytest.approx(at, abs=0.02)


def test_units_that_were_never_played_do_not_make_time_run_back():
    line = places([0, 1, 2, 3], [0.0, 2.0, 1.5, 4.0])
    assert all(later[1] >= earlier[1] for earlier, later in pairwise(line))
    assert places([], []) == ()
    assert to_recording((), 3.0) == to_original((), 3.0) == 3.0


def wav(samples):
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(samples.astype("<i2").tobytes())
    return buffer.getvalue()


def test_a_recording_within_a_page_loses_nothing_and_is_shorter():
    av = pytest.importorskip("av")
    samples = (8000 * np.sin(np.arange(20000) / 5)).astype(np.int16)
    uri = embedding.sound(wav(samples))
    assert uri.startswith("data:audio/flac;base64,")
    packed = base64.b64decode(uri.split(",")[1])
    assert len(packed) < len(wav(samples)) / 2
    with av.open(io.BytesIO(packed)) as container:
        stream = container.streams.audio[0]
        assert stream.rate == 8000
        again = np.concatenate([frame.to_ndarray()[0] for frame in container.decode(stream)])
    assert np.array_equal(again, samples)


def test_without_pyav_a_recording_stays_as_it_is(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert embedding.sound(wav(np.ones(100))).startswith("data:audio/wav;base64,")


def test_what_would_make_a_page_heavy_is_left_out_and_named(tmp_path):
    (tmp_path / "small.csv").write_text("a\n1\n", encoding="utf-8")
    (tmp_path / "small.parquet").write_bytes(b"x" * 10)
    (tmp_path / "long.csv").write_bytes(b"x" * (embedding.MOST_CSV + 1))
    (tmp_path / "long.parquet").write_bytes(b"x" * 1000)
    (tmp_path / "huge.csv").write_bytes(b"x" * 3_000_000)
    (tmp_path / "huge.parquet").write_bytes(b"x" * (embedding.MOST_EACH + 1))
    (tmp_path / "index.html").write_bytes(b"x")
    carried, left = embedding.gather_data(tmp_path)
    assert [one.name for one in carried] == ["long.parquet", "small.csv"]
    assert left == ["huge.parquet (400 kB)"]


def test_all_files_together_keep_within_a_pages_share(tmp_path):
    for number in range(9):
        (tmp_path / f"{number}.json").write_bytes(b"x" * 300_000)
    carried, left = embedding.gather_data(tmp_path)
    assert (len(carried), len(left)) == (5, 4)


def test_ratings_that_part_are_explained_by_what_each_does_not_know():
    assert explain_differences([RatingPair("UDP", 3.8, 4.1, 0.2, 3.0)]) == []
    late = explain_differences(
        [RatingPair("Reno", 1.0, 4.34, 2.5, 49.6), RatingPair("Vegas", 1.2, 4.0, 1.0, 30.2)]
    )
    assert len(late) == 1, "once for all recordings"
    (late,) = late
    assert late.count("MOS and ViSQOL answer two questions") == 1
    assert "Vegas: 1 s, which costs 30 points of R" in late
    assert "ignores delay" in late
    assert "Reno: 2.5 s, which costs 50 points of R" in late
    assert "ViSQOL scores the sound" in explain_differences([RatingPair("UDP", 4.0, 2.1, 0.1, None)])[0]


def summary(*rows):
    return pl.DataFrame(rows, schema=["x", "name", "mean", "low", "high"], orient="row")


def test_pictures_are_told_by_their_numbers():
    bars = Panel(
        summary(("udp", "", 3.5, 3, 4), ("tcp/vegas", "", 1.25, 1, 2)), "x", None, "", "", "MOS", "bar"
    )
    lines = Panel(
        summary((10, "udp", 1.0, 0, 2), (20, "udp", 2.0, 1, 3), (10, "tfrc", None, None, None)),
        "x",
        "name",
        "loss (%)",
        "",
    )
    assert describe_panels([bars, lines]) == "MOS: UDP 3.5, Vegas 1.25. loss (%): UDP 1 at 10, 2 at 20"
    many = Panel(summary(*((x, f"s{x}", 1.0, 0, 2) for x in range(200))), "x", "name", "y", "")
    assert describe_panels([many]).endswith("; and more, in the numbers")


def test_pictures_within_one_page_do_not_share_names():
    svg = for_page(
        '<?xml?><svg width="1" height="1"><g id="figure_1"><path id="m1"/><use xlink:href="#m1"/></g></svg>'
    )
    assert 'id="figure_1"' not in svg
    assert 'id="m1"' in svg
