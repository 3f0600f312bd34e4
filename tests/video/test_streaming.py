"""A real clip through `fairwave run`: its output files, and refusals."""

from __future__ import annotations

import base64
import io
import json
import re
import subprocess
import sys

import av
import polars as pl
import pytest

import fairwave
from fairwave_video.coding import FRAME_RATE
from page_links import problems

SCENARIO = """name = "small clip"
duration = "4 s"
[topology]
preset = "dumbbell"
bottleneck.rate = "200 kb/s"
bottleneck.delay = "20 ms"
bottleneck.queue = { discipline = "drop-tail", capacity = { packets = 8 }, victim = "highest-layer" }
sink-access = { rate = "10 Mb/s", loss = { model = "bernoulli", rate = 0.02 } }
[[flow]]
name = "film"
transport = "udp"
[flow.traffic]
kind = "video-trace"
clip = "carphone"
phase = "zero"
layers = ["60 kb/s", "60 kb/s", "120 kb/s"]
repeat = true
playout-delay = "500 ms"
"""


def fairwave_run(tmp_path, text, *options):
    path = tmp_path / "scenario.toml"
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "fairwave", "run", str(path), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clip")
    done = fairwave_run(folder, SCENARIO, "--out", str(folder / "out"))
    assert done.returncode == 0, done.stderr
    return done, folder / "out"


def test_the_viewers_video_plays_to_its_end(left):
    with av.open(str(left[1] / "film-received.mp4")) as container:
        frames = sum(1 for _ in container.decode(video=0))
    assert frames == 88  # at 0, 40, … 3480 ms: those shown by the end, half a second after they are made
    assert "film-received.mp4" in left[0].stderr.replace("\n", "")


def test_the_page_shows_the_film_and_its_quality_within_itself(left):
    page = (left[1] / "index.html").read_text(encoding="utf-8")
    assert problems(left[1] / "index.html") == []
    films = re.findall(r'<video controls [^>]*src="data:video/mp4;base64,([^"]*)"', page)
    assert len(films) == 1
    film = base64.b64decode(films[0])
    assert len(film) < (left[1] / "film-received.mp4").stat().st_size / 2
    with av.open(io.BytesIO(film)) as container:
        assert sum(1 for _ in container.decode(video=0)) == 88
    assert "film: the clip carphone as it is seen" in page
    assert re.search(r"<strong>The video of film is (good|fair|poor): [\d.]+ % of the frames", page)
    assert "film-received.mp4 (" in page
    assert not (left[1] / "film-small.mp4").exists()


def test_quality_and_layers_are_left_per_second_and_per_frame(left):
    seconds, frames = (pl.read_csv(left[1] / f"film-{name}.csv") for name in ("quality", "frames"))
    assert seconds["second"].to_list() == [0, 1, 2, 3]
    assert frames["psnr_db"].is_between(5, 60).all()
    assert frames["ssim"].is_between(0, 1).all()
    assert (frames["layers_decoded"] <= frames["layers_arrived"]).all()
    assert (frames["layers_arrived"] <= frames["layers_sent"]).all()
    first = frames.filter(pl.col("frame") < FRAME_RATE)
    assert seconds["psnr_db"][0] == pytest.approx(first["psnr_db"].mean())
    assert (left[1] / "film-quality.png").stat().st_size > 10_000
    assert (left[1] / "film-quality.svg").is_file()


def test_the_table_tells_how_long_a_video_waits_in_its_sender_and_how_much_comes_too_late(tmp_path):
    tfrc = SCENARIO.replace('transport = "udp"', 'transport = "tfrc"').replace("200 kb/s", "80 kb/s")
    done = fairwave_run(tmp_path, tfrc, "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["measure"]: row["mean"] for row in json.loads(done.stdout)["summary"]}
    assert rows["sender-wait"] > 500  # ms: more than the playout delay
    assert rows["late"] > 50
    assert rows["decodable"] < 50
    assert 0 <= rows["decodable-layers"] <= 3


def test_what_is_not_video_has_no_row_about_viewers(tmp_path):
    voice = SCENARIO[: SCENARIO.index("[flow.traffic]")] + 'traffic = "voice"\n'
    done = fairwave_run(tmp_path, voice, "--json")
    assert done.returncode == 0, done.stderr
    measured = {row["measure"] for row in json.loads(done.stdout)["summary"]}
    assert "mos" in measured
    assert not measured & {"sender-wait", "late", "decodable", "decodable-layers"}


def test_the_figure_says_where_the_clip_begins_again():
    from fairwave_report.video import describe_repetition, restarts

    assert restarts(250, 20) == [10.0]
    assert restarts(250, 10) == []
    assert restarts(250, 25) == [10.0, 20.0]
    assert restarts(120, 10) == pytest.approx([4.8, 9.6])
    assert describe_repetition(250, []) == ""
    assert "10 s" in describe_repetition(250, [10.0])


def test_late_units_are_those_that_came_after_their_frame_was_shown():
    hasty = SCENARIO.replace('"500 ms"', '"150 ms"') + '[record]\nunits = ["film[0]"]\n'
    results = fairwave.load(hasty).run()
    came = results.to_polars("units").filter(pl.col("fate").cast(pl.String) == "arrived")
    late = came.filter(pl.col("arrived_s") - pl.col("created_s") > 0.15).height
    assert 0 < late < came.height
    (flow,) = results.flows.to_pylist()
    assert flow["late_units"] == late + flow["units_waiting"]


def test_the_frames_that_are_seen_are_those_that_the_simulator_calls_decodable(left):
    frames = pl.read_csv(left[1] / "film-frames.csv")
    flow = pl.read_csv(left[1] / "flows.csv").row(0, named=True)
    assert flow["frames"] == frames.height
    assert flow["decodable_ratio"] == pytest.approx((frames["layers_decoded"] > 0).mean())
    assert flow["decodable_layers"] == pytest.approx(frames["layers_decoded"].mean())
    assert 0.2 < flow["decodable_ratio"] < 1


def test_routers_that_drop_the_highest_layer_first_spare_the_base():
    spared, tail = (
        fairwave.load(SCENARIO.replace("200 kb/s", "140 kb/s").replace("highest-layer", victim))
        .run()
        .flows.to_pylist()[0]["decodable_ratio"]
        for victim in ("highest-layer", "tail")
    )
    assert spared > tail + 0.1


BAD = [
    ('clip = "carphone"', 'clip = "nowhere.mp4"', ["film", "nowhere.mp4", "no such file", "give the path"]),
    ('["60 kb/s", "60 kb/s", "120 kb/s"]', "[]", ["layers", "base layer", "128 kb/s"]),
    ('"60 kb/s", "120 kb/s"]', '"0 kb/s", "120 kb/s"]', ["layers[1]", "above 0", "increase"]),
    ('"120 kb/s"]', '"90 Mb/s"]', ["film", "carphone", "can be coded at", "choose a rate"]),
    ('clip = "carphone"', "", ["layers", "clip"]),
]


@pytest.mark.parametrize(("change", "to", "words"), BAD)
def test_a_clip_that_cannot_be_streamed_is_refused_with_key_and_remedy(change, to, words):
    assert SCENARIO.count(change) == 1
    with pytest.raises(fairwave.ScenarioError) as refused:
        fairwave.load(SCENARIO.replace(change, to)).run()
    said = " ".join(str(refused.value).split())
    for word in words:
        assert word in said


def test_the_command_line_refuses_a_file_that_is_no_video_in_a_sentence(tmp_path):
    words = tmp_path / "words.mp4"
    words.write_text("no video", encoding="utf-8")
    done = fairwave_run(tmp_path, SCENARIO.replace('"carphone"', json.dumps(str(words))))
    assert done.returncode == 2
    assert "unreadable" in done.stderr
    assert "Traceback" not in done.stderr
