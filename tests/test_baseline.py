"""Requirements next to a baseline: the allowed cost of a changed scenario, judged seed by seed."""

import json

import pytest

import fairwave as fw
from fairwave.ask.wording import AskError, condition

OLD = """
name = "calls"
duration = "6 s"
hosts = { clock-skew = "0 ppm", send-jitter = "0 s" }

[[link]]
from = "a"
to = "b"
rate = "10 Mb/s"
delay = "20 ms"
queue = { discipline = "drop-tail", capacity = { packets = 100 } }

[[flow]]
name = "call"
from = "a"
to = "b"
transport = "udp"
traffic = "voice"
"""
"""A call on an idle line: 20 ms more of propagation are 20 ms more of delay."""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "old.toml").write_text(OLD)
    (tmp_path / "new.toml").write_text(OLD.replace('"20 ms"', '"40 ms"'))
    return tmp_path


@pytest.mark.parametrize(
    ("text", "bound", "is_share", "shown"),
    [
        ("mos.call >= baseline - 0.1", -0.1, False, "mos.call >= baseline - 0.1"),
        ("mos.call>=baseline−0.1", -0.1, False, "mos.call >= baseline - 0.1"),
        ("delay.call <= baseline + 5 ms", 5.0, False, "delay.call <= baseline + 5"),
        ("delay.call < baseline", 0.0, False, "delay.call < baseline"),
        ("goodput.call >= baseline - 5 %", -0.05, True, "goodput.call >= baseline - 5 %"),
        ("loss.call <= baseline + 0.5 %", 0.5, False, "loss.call <= baseline + 0.5"),
    ],
)
def test_a_condition_next_to_a_baseline_is_read(text, bound, is_share, shown):
    found = condition(text)
    assert found.has_baseline
    assert (found.bound, found.is_share, str(found)) == (bound, is_share, shown)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("mos.call >= baseline - 9", "no value is 9 from the baseline"),
        ("delay.call <= baseline + 0.1 s", "is in ms, not in s; write 'delay.call <= baseline + 100'"),
        ("mos.call >= baseline 0.1", "'mos.voice >= baseline - 0.1'"),
    ],
)
def test_a_baseline_that_cannot_be_read_is_refused(text, says):
    with pytest.raises(AskError) as error:
        condition(text)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("require", "status"),
    [
        ("delay.call <= baseline + 21 ms", 0),
        ("delay.call <= baseline + 19 ms", 3),
        ("mos.call >= baseline - 0.1", 0),  # 20 ms cost 0.48 points of R
        ("mos.call >= baseline - 0.001", 3),
        ("delay.call <= baseline + 26 %", 3),
    ],
)
def test_a_run_is_judged_by_its_difference_from_the_baseline(fairwave, files, require, status):
    words = (
        "run",
        files / "new.toml",
        "-n",
        "3",
        "--baseline",
        files / "old.toml",
        "--require",
        require,
        "--json",
    )
    found, said, _ = fairwave(*words)
    assert found == status, said
    (told,) = json.loads(said)["requirements"]
    assert told["found"].endswith("from baseline") or told["found"].endswith("from baseline + 26 %")


def test_the_difference_is_paired_by_seed(fairwave, files):
    status, said, _ = fairwave(
        "run", files / "new.toml", "-n", "3", "--baseline", files / "old.toml", "--require",
        "delay.call <= baseline + 30", "--json",
    )  # fmt: skip
    assert status == 0
    (told,) = json.loads(said)["requirements"]
    assert told["mean"] == pytest.approx(20, abs=0.01)
    assert told["interval"] == [None, None], (
        "every pair differs by the same, so nothing is known of the spread"
    )
    assert told["identical"] is True


def test_a_folder_of_runs_is_a_baseline(fairwave, files):
    out = files / "out"
    assert fairwave("run", files / "old.toml", "-n", "2", "--out", out, "--no-page")[0] == 0
    words = ("run", files / "new.toml", "--baseline", out, "--require", "delay.call <= baseline + 21")
    assert fairwave(*words, "-n", "2")[0] == 0
    status, _, complaint = fairwave(*words, "-n", "3")
    assert status == 2
    assert "has runs with the seeds 1–2, but 1–3 are compared" in complaint


def test_one_run_is_undecided_and_names_the_number_of_runs(fairwave, files):
    status, said, _ = fairwave(
        "run", files / "new.toml", "--baseline", files / "old.toml", "--require", "mos.call >= baseline - 0.1"
    )
    assert status == 4
    assert "try `-n 10`" in said


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "--require", "mos.call >= baseline"], "add --baseline old.toml"),
        (["run", "--baseline", "old.toml"], "no condition compares with it"),
        (["run", "--baseline", "old.toml", "--require", "mos.call >= 3"], "no condition compares with it"),
        (
            ["run", "--baseline", "gone.toml", "--require", "mos.call >= baseline"],
            "no scenario file 'gone.toml'",
        ),
        (
            ["sweep", "--grid", "flow.call.count=1,2", "--require", "mos.call >= baseline"],
            "add --baseline old.toml",
        ),
        (
            ["find", "--vary", "flow.call.count=1..9", "--until", "mos.call >= baseline"],
            "needs a baseline; add --baseline old.toml",
        ),
        (["live", "--require", "mos.call >= baseline"], "a live run has none"),
    ],
)
def test_a_baseline_that_is_missing_or_unused_is_refused(fairwave, files, monkeypatch, words, says):
    monkeypatch.chdir(files)
    command, *rest = words
    status, _, complaint = fairwave(command, files / "new.toml", *rest)
    assert status == 2
    assert says in complaint


def test_alternatives_are_compared_with_the_first(fairwave, files):
    status, said, _ = fairwave(
        "compare", files / "old.toml", "--vary", "link.a>b.delay=20 ms,25 ms,60 ms", "-n", "2", "--no-audio", "--out",
        files / "out", "--require", "delay.call <= baseline + 10", "--json",
    )  # fmt: skip
    verdicts = {one["alternative"]: one["verdict"] for one in json.loads(said)["requirements"]}
    assert verdicts == {"25 ms": "holds", "60 ms": "fails"}
    assert status == 3


def test_each_point_of_a_sweep_is_judged(fairwave, files):
    words = ("sweep", files / "new.toml", "--grid", "link.a>b.delay=20 ms,60 ms", "-n", "2", "--json")
    status, said, _ = fairwave(
        *words, "--require", "delay.call <= baseline + 1", "--baseline", files / "old.toml"
    )
    assert status == 3
    assert [one["verdict"] for one in json.loads(said)["requirements"]] == ["holds", "fails"]
    assert fairwave(*words, "--require", "loss.call <= 1")[0] == 0


def test_a_sweep_that_is_less_precise_than_asked_is_undecided(fairwave, files):
    words = ("sweep", files / "old.toml", "--grid", "flow.call.count=1,2", "-n", "2", "--most", "2")
    loss = ("--set", "link.a>b.loss={ model = 'bernoulli', rate = 0.1 }")
    assert fairwave(*words, *loss, "--until", "loss.call:±0.0001")[0] == 4
    assert fairwave(*words, *loss, "--until", "loss.call:±99")[0] == 0


def test_a_search_compares_with_a_baseline(fairwave, files):
    words = (
        "find",
        files / "old.toml",
        "--vary",
        "link.a>b.delay=20 ms..60 ms",
        "-n",
        "2",
        "--most",
        "2",
        "--json",
    )
    words = (*words, "--baseline", files / "old.toml")
    status, said, _ = fairwave(
        *words, "--until", "delay.call <= baseline + 10", "--require", "mos.call >= baseline - 0.1"
    )
    assert status == 0
    (region,) = json.loads(said)["regions"]
    assert region["first"] == "20 ms"
    assert 29 <= float(region["last"].removesuffix(" ms")) <= 30
    old = fw.load(OLD)
    values = ["20 ms", "25 ms", "35 ms"]
    found = fw.find(old, "link.a>b.delay", values, "delay.call <= baseline + 10", n=2, most=2, baseline=old)
    assert [str(one) for one in found.regions] == ["20 ms..25 ms"]
