"""Media sessions from outside: calls over WebRTC on paths with a known result."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import pytest

import fairwave
from fairwave.answers.results_api import answer

WEBRTC = {"name": "webrtc"}


def scenario(rate="2 Mb/s", seconds=30, traffic="media", transport="webrtc", count=1, warmup=0, **link):
    """A session over one link with its reverse direction."""
    table = {"from": "a", "to": "b", "rate": rate, "delay": "20 ms", **link}
    return fairwave.Scenario.from_dict(
        {
            "name": "session",
            "duration": f"{seconds} s",
            "warmup": f"{warmup} s",
            "link": [table],
            "flow": [
                {
                    "name": "call", "from": "a", "to": "b", "count": count, "transport": transport,
                    "traffic": traffic,
                }
            ],
        }
    )  # fmt: skip


@cache
def plain():
    return scenario("1 Mb/s", 40, warmup=20).run()


def mean(results, measure, group="call"):
    return results.measured(measure, group).interval().mean


def utilisation(results, link="a>b"):
    rows = results.to_polars("links")
    return float(rows.filter(rows["link"].cast(str) == link)["utilisation"][0])


def test_gcc_finds_the_capacity_and_keeps_the_queue_short():
    assert 0.65 <= utilisation(plain()) <= 1.0
    assert mean(plain(), "delay") < 100
    assert mean(plain(), "session-mos") > 3.6


@pytest.mark.parametrize("control", ["gcc", "scream", "nada", "tfrc", "aiamd", "rtcp"])
def test_every_controller_uses_the_path_and_none_more_than_it_has(control):
    results = scenario("1.5 Mb/s", 20, transport=WEBRTC | {"control": control}, warmup=8).run()
    assert 0.3 <= utilisation(results) <= 1.0


def test_a_fixed_rate_does_what_it_is_told_whatever_the_path_has():
    transport = WEBRTC | {"control": {"name": "fixed", "rate": "600 kb/s"}}
    results = scenario("5 Mb/s", 20, transport=transport, warmup=5).run()
    target = results.to_polars("media_transport")["target_bps"].to_list()
    assert set(target) == {600_000.0}
    assert utilisation(results) == pytest.approx(0.6 / 5, rel=0.1)


def test_losses_of_video_are_repaired_by_nack():
    loss = {"model": "bernoulli", "rate": 0.02}
    with_nack = scenario(seconds=30, loss=loss).run()
    without = scenario(seconds=30, loss=loss, transport=WEBRTC | {"nack": False}).run()
    rows = with_nack.to_polars("media").filter(stream="video")
    assert rows["packets_retransmitted"][0] > 0
    assert mean(with_nack, "frozen") < 2
    assert mean(without, "frozen") > mean(with_nack, "frozen") + 5


def test_a_path_that_carries_nothing_is_rated_worst():
    results = scenario(seconds=5, loss={"model": "bernoulli", "rate": 1.0}).run()
    assert mean(results, "session-mos") == 1.0
    assert answer(results).sentences[0].startswith("The session of call is poor: MOS 1.00")


def test_the_worst_stream_is_the_headline():
    rows = plain().to_polars("media")
    assert mean(plain(), "session-mos") == pytest.approx(min(rows["mos"].to_list()))
    assert mean(plain(), "session-mos") <= min(mean(plain(), "audio-mos"), mean(plain(), "video-mos")) + 1e-12


def test_a_session_without_a_camera_has_no_video_and_one_without_a_microphone_no_audio():
    no_camera = scenario(seconds=5, traffic={"kind": "media", "video": False}).run()
    assert set(no_camera.to_polars("media")["stream"].to_list()) == {"audio"}
    no_microphone = scenario(seconds=5, traffic={"kind": "media", "audio": False}).run()
    assert set(no_microphone.to_polars("media")["stream"].to_list()) == {"video"}


def test_threads_do_not_change_a_byte():
    asked = scenario(seconds=5, loss={"model": "bernoulli", "rate": 0.03})
    one, two = (asked.replicate(3, threads=threads) for threads in (1, 2))
    assert one.to_polars("work")["digest"].to_list() == two.to_polars("work")["digest"].to_list()
    for name in one.tables:
        assert one.to_polars(name).equals(two.to_polars(name)), name


def test_saved_results_have_the_tables_of_sessions(tmp_path):
    plain().save(tmp_path / "kept")
    again = fairwave.Results.load(tmp_path / "kept")
    for name in ("media", "media_transport", "media_outbound", "media_inbound"):
        assert again.to_polars(name).equals(plain().to_polars(name)), name


def test_the_page_shows_the_estimate_next_to_the_capacity_before_everything_else(tmp_path, fairwave):
    path = tmp_path / "asked.toml"
    path.write_text(scenario("1 Mb/s", 10).to_toml(), encoding="utf-8")
    status, _, err = fairwave("run", str(path), "--out", str(tmp_path / "out"))
    assert status == 0, err
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert page.index('id="answer"') < page.index('id="figure-rates"') < page.index('id="tables"')
    data = (tmp_path / "out" / "figures" / "rates.csv").read_text(encoding="utf-8")
    assert "capacity of the path" in data
    assert "estimate" in data


def check(table, tmp_path):
    path = tmp_path / "asked.toml"
    path.write_text(
        'name = "x"\nduration = "5 s"\n[[link]]\nfrom = "a"\nto = "b"\nrate = "1 Mb/s"\ndelay = "20 ms"\n'
        f'[[flow]]\nname = "call"\nfrom = "a"\nto = "b"\n{table}\n'
    )
    command = [sys.executable, "-m", "fairwave", "check", str(path)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('transport = "udp"\ntraffic = "media"', ["call[0]", "udp does not", 'transport = "webrtc"']),
        ('transport = "webrtc"\ntraffic = "voice"', ["call[0]", 'traffic = "media"']),
        (
            'transport = "webrtc"\ntraffic = { kind = "media", audio = false, video = false }',
            ["traffic.audio", "audio = true"],
        ),
        ('transport = "webrtc"\ntraffic = { kind = "media", vidoe = {} }', ["`vidoe`", "`video`"]),
        ('transport = { name = "webrtc", control = "gc" }\ntraffic = "media"', ["control", "`gcc`"]),
        (
            'transport = "webrtc"\ntraffic = { kind = "media", audio = { rate = "1 kb/s" } }',
            ["audio.rate", "6 kb/s"],
        ),
    ],
)
def test_mistakes_are_told_with_their_place_and_what_to_write(table, said, tmp_path):
    found = check(table, tmp_path)
    assert found.returncode != 0
    for words in said:
        assert words in found.stderr


def test_a_session_is_never_the_reason_why_a_link_is_called_overloaded(tmp_path):
    adaptive = check('transport = "webrtc"\ntraffic = "media"', tmp_path)
    assert adaptive.returncode == 0
    assert "likely mistake" not in adaptive.stdout
    fixed = (
        'transport = { name = "webrtc", control = { name = "fixed", rate = "3 Mb/s" } }\ntraffic = "media"'
    )
    assert "likely mistake" in check(fixed, tmp_path).stdout


@pytest.fixture(scope="module")
def controllers():
    @fairwave.rate_controller("half-of-most")
    class Half(fairwave.RateController):
        """Half of the rate that the encoders can use."""

        share: float = fairwave.parameter(0.5, least=0.01, most=1, doc="Share of the most.")

        def on_limits(self, now, start, least, most):
            self.rate = most * self.share

        def on_feedback(self, feedback):
            assert all(packet.arrived is None or packet.arrived > 0 for packet in feedback.packets)

        def target(self):
            return self.rate

    @fairwave.rate_controller("fails")
    class Fails(Half):
        """Raises."""

        def on_feedback(self, feedback):
            raise ValueError("no idea what to do")


def session_with(control):
    return scenario("10 Mb/s", 3, transport=WEBRTC | {"control": control})


@pytest.mark.usefixtures("controllers")
def test_a_rate_controller_in_python_sets_the_target():
    whole, half = (
        session_with({"name": "half-of-most", "share": share})
        .run()
        .to_polars("media_transport")["target_bps"][-1]
        for share in (1.0, 0.5)
    )
    assert half == pytest.approx(whole / 2)


@pytest.mark.usefixtures("controllers")
def test_its_errors_are_told_with_their_place():
    with pytest.raises(
        fairwave.RunError, match=r"seed 1: law `fails`, on_feedback at .*: ValueError: no idea what to do"
    ):
        session_with("fails").run()
    with pytest.raises(fairwave.ScenarioError, match="share"):
        session_with({"name": "half-of-most", "share": 2}).plan(1)


def test_after_a_stream_ends_the_drawn_rate_is_that_of_the_others():
    pl = pytest.importorskip("polars")
    from fairwave_report.session import _compute_rate

    rows = [("audio", at, 1000.0 * at) for at in range(1, 9)] + [
        ("video", at, 9000.0 * (at - 2)) for at in range(3, 6)
    ]
    table = pl.DataFrame(rows, schema=["stream", "time_s", "bytes_received"], orient="row")
    drawn = _compute_rate(table, "bytes_received", 8.0)
    assert dict(drawn.iter_rows()) == {2: 8e3, 3: 8e4, 4: 8e4, 5: 8e4, 6: 8e3, 7: 8e3, 8: 8e3}
