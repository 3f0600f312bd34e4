"""`fairwave guard`: a call that gets worse fails, one that stays passes, and what is open is undecided."""

import json
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fairwave.answers.markdown import MARK, GuardedScenario, write_guard
from fairwave.ask.requiring import Requirement
from page_making import command

HOME = Path(__file__).parents[1] / "examples" / "home-call.toml"
CALL = """
name = "call"
duration = "6 s"
warmup = "1 s"

[topology]
preset = "dumbbell"
bottleneck = { rate = "RATE", delay = "DELAY" }

[[flow]]
name = "call"
count = 3
transport = "udp"
traffic = "voice"
"""
WEB = """
[[flow]]
name = "web"
transport = "tcp/cubic"
traffic = "bulk"
"""


def call(rate="1 Mb/s", delay="20 ms"):
    return CALL.replace("RATE", rate).replace("DELAY", delay)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("old.toml").write_text(call())
    Path("slow.toml").write_text(call(rate="150 kb/s"))
    return tmp_path


def git(*words):
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    done = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *words],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


def test_a_home_line_with_a_smaller_rate_fails_with_junit_a_report_and_pictures(desk):
    Path("home.toml").write_text(
        HOME.read_text(encoding="utf-8").replace("5 Mb/s", "2 Mb/s"), encoding="utf-8"
    )
    words = ("--set", "duration=15 s", "-n", 3, "--out", "out", "--junit", "deep/guard.xml")
    assert command("guard", "home.toml", "--baseline", HOME, *words) == 3
    report = Path("out/guard.md").read_text(encoding="utf-8")
    assert report.startswith(MARK)
    assert "A call gets worse" in report
    assert "| home.toml | mos.call >= baseline - 0.1 | **fails** |" in report
    assert "| home>isp.rate | 5 Mb/s | 2 Mb/s |" in report
    for name in ("home-differences.png", "home-call.png"):
        assert f"](pictures/{name})" in report
        assert (Path("out/pictures") / name).read_bytes().startswith(b"\x89PNG")
    suite = ET.parse("deep/guard.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
    assert suite.find("testcase/failure").get("message").startswith("mos.call >= baseline - 0.1: fails")
    assert "home.toml" in Path("out/home/index.html").read_text(encoding="utf-8")


def test_a_faster_link_passes(desk):
    assert command("guard", "old.toml", "--baseline", "slow.toml", "-n", 2, "--no-page") == 0
    assert "No call gets worse" in Path("out/guard/guard.md").read_text(encoding="utf-8")


def test_a_difference_that_is_significant_and_does_not_count_passes(desk, capsys):
    Path("longer.toml").write_text(call(delay="50 ms"))
    words = ("guard", "longer.toml", "--baseline", "old.toml", "-n", 2, "--no-page", "--json")
    assert command(*words) == 0
    found = json.loads(capsys.readouterr().out)["scenarios"][0]["requirements"][0]
    assert -0.1 < found["mean"] < 0
    assert command(*words, "--relevant", "mos=0") == 3


def test_one_run_is_undecided_and_says_what_to_try(desk):
    assert (
        command("guard", "slow.toml", "--baseline", "old.toml", "-n", 1, "--no-page", "--junit", "guard.xml")
        == 4
    )
    report = Path("out/guard/guard.md").read_text(encoding="utf-8")
    assert "Undecided" in report
    assert "try \\`-n 10\\`" in report
    assert ET.parse("guard.xml").getroot().find("testsuite").get("errors") == "1"


def test_requirements_replace_the_implied_one(desk):
    words = (
        "guard",
        "slow.toml",
        "--baseline",
        "old.toml",
        "-n",
        2,
        "--no-page",
        "--require",
        "mos.call >= 1",
    )
    assert command(*words) == 0
    assert "All requirements hold" in Path("out/guard/guard.md").read_text(encoding="utf-8")
    assert command(*words, "--require", "missed.call <= baseline + 1") == 3
    assert "A requirement fails" in Path("out/guard/guard.md").read_text(encoding="utf-8")


def test_a_revision_is_the_baseline_and_leaves_nothing_in_the_repository(desk, capsys):
    git("init", "--quiet")
    Path("lines").mkdir()
    Path("lines/call.toml").write_text(call())
    git("add", "lines")
    git("commit", "--quiet", "--message", "First")
    Path("lines/call.toml").write_text(call(rate="150 kb/s"))
    Path("lines/new.toml").write_text(call())
    words = ("--baseline", "HEAD", "-n", 2, "--no-page", "--json")
    assert command("guard", "lines/call.toml", "lines/new.toml", *words) == 3
    told = json.loads(capsys.readouterr().out)
    first, second = told["scenarios"]
    assert first["differences"] == {"topology.bottleneck.rate": ["1 Mb/s", "150 kb/s"]}
    assert [one["verdict"] for one in first["requirements"]] == ["fails"]
    assert "nothing to compare with" in second["note"]
    assert second["requirements"] == []
    assert len(git("worktree", "list").splitlines()) == 1
    assert told["baseline"].startswith("HEAD (")


def test_a_repository_of_another_user_is_explained(desk, capsys, monkeypatch):
    git("init", "--quiet")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert command("guard", "slow.toml", "--baseline", "HEAD") == 2
    assert "git config --global --add safe.directory" in capsys.readouterr().err


def test_each_side_has_its_version_of_a_law(desk):
    assert command("new", "controller", "mine") == 0
    Path("mine.toml").write_text(call() + WEB.replace("tcp/cubic", "tcp/mine"))
    git("init", "--quiet")
    git("add", "mine.py", "mine.toml")
    git("commit", "--quiet", "--message", "First")
    words = ("guard", "mine.toml", "--laws", "mine.py", "--baseline", "HEAD", "-n", 2, "--no-page")
    assert command(*words, "--out", "same") == 0
    assert "The scenarios are the same" in Path("same/guard.md").read_text(encoding="utf-8")
    text = Path("mine.py").read_text(encoding="utf-8")
    assert "raise" not in text
    Path("mine.py").write_text(text + "\nraise RuntimeError('only the current version')\n", encoding="utf-8")
    assert command(*words, "--out", "broken") != 0


def test_a_folder_of_runs_and_a_folder_of_files_are_baselines(desk, capsys):
    assert command("run", "old.toml", "-n", 2, "--no-page", "--out", "kept") == 0
    assert command("guard", "slow.toml", "--baseline", "kept", "-n", 2, "--no-page", "--out", "a") == 3
    capsys.readouterr()
    assert command("guard", "slow.toml", "--baseline", "kept", "-n", 3, "--no-page", "--out", "a") == 2
    assert "seeds" in capsys.readouterr().err
    Path("earlier").mkdir()
    Path("earlier/slow.toml").write_text(call())
    assert command("guard", "slow.toml", "--baseline", "earlier", "-n", 2, "--no-page", "--out", "b") == 3


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("nowhere.toml", "--baseline", "old.toml"), "there is no scenario nowhere.toml"),
        (("slow.toml", "--baseline", "nowhere"), "neither a file nor a folder"),
        (("slow.toml", "--baseline", "--all"), "neither a file nor a folder"),
        (("slow.toml", "old.toml", "--baseline", "old.toml"), "2 scenarios are guarded"),
        (("slow.toml", "--baseline", "old.toml", "--junit", "."), "a folder"),
        (("slow.toml", "--baseline", "old.toml", "-n", "0"), "--replications is 0"),
        (("slow.toml", "--baseline", "old.toml", "--relevant", "mos"), "MEASURE=DIFFERENCE"),
    ],
)
def test_what_cannot_be_guarded_is_refused_in_one_line(desk, capsys, words, says):
    assert command("guard", *words) == 2
    said = capsys.readouterr().err
    assert says in said
    assert len(said.splitlines()) == 1


def test_a_requirement_on_a_group_that_is_not_there_is_an_error(desk, capsys):
    words = (
        "guard",
        "slow.toml",
        "--baseline",
        "old.toml",
        "-n",
        2,
        "--no-page",
        "--require",
        "mos.cal >= 3",
    )
    assert command(*words) == 2
    said = capsys.readouterr().err
    assert "no flow group 'cal'" in said
    assert len(said.splitlines()) == 1


def test_a_mistake_in_the_baseline_names_the_side(desk, capsys):
    Path("old.toml").write_text(call().replace("udp", "upd"))
    assert command("guard", "slow.toml", "--baseline", "old.toml", "-n", 2, "--no-page") == 2
    said = capsys.readouterr().err
    assert "did you mean `udp`?" in said
    assert "baseline of slow.toml" in said


def test_names_of_others_cannot_inject_markup():
    evil = "a|b <img src=x> @team `x` [y](z)"
    one = GuardedScenario(evil, [], [Requirement(evil, "fails", evil)], note=evil)
    text = write_guard([one], "fails", evil, evil, implied=True)
    assert "<img" not in text
    assert "[y](z)" not in text
    row = next(line for line in text.splitlines() if line.startswith("| a"))
    assert row.replace("\\|", "").count("|") == 5
