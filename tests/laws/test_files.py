"""Laws on the command line: every command loads them from a file, and no scenario can."""

import json
import subprocess
import sys

import pytest

import fairwave as fw
from fairwave.measuring import measures

LAWS = '''
import fairwave as fw
from helper import GAIN


@fw.controller("from-file")
class FromFile(fw.Controller):
    """Adds a segment per round trip; a loss leaves a part."""

    kept: float = fw.parameter(GAIN, above=0, below=1, doc="Part of the window kept on loss.")

    def on_ack(self, path, window):
        window.congestion += 1 if window.in_slow_start else 1 / window.congestion

    def on_loss(self, path, window):
        window.congestion = window.threshold = max(2.0, self.kept * path.in_use)

    def on_timeout(self, path, window):
        self.on_loss(path, window)
        window.congestion = 1.0


@fw.measure("packets-per-flow", better="higher")
def packets_per_flow(run):
    """Packets sent, mean over flows."""
    return run.flows["packets_sent"].mean()
'''

SCENARIO = """
name = "from file"
duration = "3 s"

[topology]
preset = "dumbbell"
bottleneck = { rate = "2 Mb/s", delay = "10 ms" }

[[flow]]
name = "files"
transport = "tcp/from-file"
traffic = "bulk"
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "helper.py").write_text("GAIN = 0.5\n")
    (tmp_path / "mine.py").write_text(LAWS)
    (tmp_path / "mine.toml").write_text(SCENARIO)
    yield str(tmp_path / "mine.toml"), str(tmp_path / "mine.py")
    for name in list(measures.OWN):
        del measures.OWN[name], measures.STANDARD[name]


def test_every_command_takes_laws(files, fairwave, tmp_path):
    scenario, laws = files
    status, out, err = fairwave("run", scenario, "--laws", laws, "--json")
    assert (status, err) == (0, "")
    summary = {row["measure"]: row["mean"] for row in json.loads(out)["summary"]}
    assert summary["packets-per-flow"] > 100
    status, out, _ = fairwave("compare", scenario, "--laws", laws, "--over", "tcp/sack,tcp/from-file", "-n", 2,
                              "--no-audio", "--out", tmp_path / "out", "--json")  # fmt: skip
    assert status == 0
    assert "packets-per-flow" in {row["measure"] for row in json.loads(out)["comparison"]}
    assert "packets per flow" in (tmp_path / "out" / "index.html").read_text()
    status, out, _ = fairwave("sweep", scenario, "--laws", laws, "--grid", "flow.files.count=1,2",
                              "--until", "packets-per-flow.files:±20%", "-n", 2, "--json")  # fmt: skip
    assert status == 0
    assert len(json.loads(out)["points"]) == 2
    status, out, _ = fairwave("find", scenario, "--laws", laws, "--vary", "flow.files.count=1..8",
                              "--until", "packets-per-flow.files >= 200", "-n", 2, "--most", 2, "--json")  # fmt: skip
    assert status == 0
    assert "answer" in out or "tested" in out
    assert fairwave("check", scenario, "--laws", laws)[0] == 0
    status, out, _ = fairwave("list", "transports", "--laws", laws)
    assert "tcp/from-file" in out
    status, out, _ = fairwave("explain", "from-file", "--laws", laws)
    assert "Part of the window kept on loss." in out
    assert "mine.py" in out.replace("\n", "")
    status, out, _ = fairwave("schema", "--laws", laws)
    assert '"tcp/from-file"' in out


def test_who_forgets_the_file_is_told(files):
    told = subprocess.run(
        [sys.executable, "-m", "fairwave", "check", files[0]], capture_output=True, text=True, check=False
    )
    assert told.returncode == 2
    assert "unknown transport `tcp/from-file`" in told.stderr
    assert "--laws FILE.py" in told.stderr


def test_no_scenario_runs_code(files, fairwave, tmp_path):
    laws = files[1]
    for line in (f"laws = [{json.dumps(laws)}]", f"[laws]\npython = [{json.dumps(laws)}]"):
        where = tmp_path / "named.toml"
        where.write_text(f"{SCENARIO.replace('tcp/from-file', 'tcp/sack')}\n{line}\n")
        status, _, err = fairwave("run", where)
        assert status == 2
        assert "unknown key `laws`" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "no file"),
        ("x = 1\n", "hands in no law and no measure"),
        ("def broken(:\n", "(line 1)"),
        (
            "import fairwave\n\nfairwave.nothing\n",
            "AttributeError: module 'fairwave' has no attribute 'nothing' (line 3)",
        ),
        (
            "import fairwave as fw\n@fw.controller('reno')\nclass C(fw.Controller):\n    pass\n",
            "lacks on_ack",
        ),
        (
            "import fairwave as fw\n@fw.measure('mos')\ndef m(run): return 1\n",
            "there is a measure named `mos` already",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_told_with_its_line(files, fairwave, tmp_path, text, said):
    where = tmp_path / "odd.py"
    if text is not None:
        where.write_text(text)
    status, _, err = fairwave("check", files[0], "--laws", where)
    assert status == 2
    assert said in err.replace("\n", " ")
    assert "odd.py" in err


def test_a_law_that_fails_on_the_command_line_shows_where(files, fairwave, tmp_path):
    where = tmp_path / "fails.py"
    text = LAWS.replace("from-file", "fails").replace("packets-per-flow", "other")
    rule = "window.congestion = window.threshold = max(2.0, self.kept * path.in_use)"
    where.write_text(text.replace(rule, "raise RuntimeError('no way on')"))
    status, _, err = fairwave("run", files[0], "--laws", where, "--set", "flow.files.transport=tcp/fails")
    assert status == 1
    assert "law `tcp/fails`, on_loss at " in err
    assert "fails.py" in err
    assert "raise RuntimeError('no way on')" in err
    assert "site-packages" not in err


def test_loading_again_replaces_and_answers_with_the_names(files):
    assert fw.load_laws(files[1]) == ["tcp/from-file", "packets-per-flow"]
    assert fw.load_laws(files[1]) == ["tcp/from-file", "packets-per-flow"]
