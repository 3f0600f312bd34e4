"""Start of fairwave: quickly, without unrequested parts, and with colours only on terminals."""

import os
import pty
import resource
import subprocess
import sys

import pytest

RUN = (sys.executable, "-m", "fairwave")


def cpu(*words, times=3):
    """CPU seconds of a command, the least of several, because other load only adds to it.

    Modules are compiled once, as in normal use.
    """
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    spent = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


@pytest.mark.slow
def test_import_and_help_cost_a_few_times_what_python_itself_does():
    # By ratio, so that a slow machine does not fail: on one of 2020 `import json, typing` takes about 25 ms, and the
    # promise is 150 ms more than Python's start for the import and 300 ms for the help.
    scale = cpu("-c", "import argparse, asyncio, decimal, email, http.client, unittest, xml.dom.minidom")
    start = cpu("-c", "pass")
    assert cpu("-c", "import fairwave") - start < 1.0 * scale
    assert cpu("-m", "fairwave", "--help") < 4.0 * scale


def test_heavy_libraries_wait_until_they_are_needed():
    script = "import sys, fairwave; fairwave.load; print(*sorted(m for m in sys.modules if '.' not in m))"
    out = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert not {"numpy", "pyarrow", "polars", "scipy", "matplotlib", "typer", "av"} & set(out.split())


ABSENT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"av", "pocketsphinx", "skvideo", "visqol", "pandas"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""

WITHOUT = f"""{ABSENT}
from fairwave.cli import main
sys.argv = ["fairwave", *sys.argv[1:]]
main()
"""


def run_without_extras(*words):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *map(str, words)], capture_output=True, text=True, check=False
    )


@pytest.fixture
def scenario(tmp_path):
    from scenarios import CALLS

    file = tmp_path / "calls.toml"
    file.write_text(CALLS)
    return str(file)


def test_without_extras_everything_else_works(scenario, tmp_path):
    for words in (("list",), ("check", scenario), ("run", scenario), ("explain", "voice")):
        done = run_without_extras(*words)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    out = tmp_path / "out"
    done = run_without_extras("compare", scenario, "--over", "udp,tfrc", "-n", 2, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "No audio: " in done.stderr
    assert (out / "index.html").exists()


def test_what_an_extra_brings_is_asked_for_with_the_command_that_installs_it(scenario, tmp_path):
    sound = tmp_path / "a.wav"
    sound.write_bytes(b"RIFF")
    done = run_without_extras(
        "compare", scenario, "--over", "udp", "--speech", sound, "--out", tmp_path / "out"
    )
    assert done.returncode == 2
    assert "pip install 'fairwave[speech]'" in done.stderr
    clip = "flow.voice.traffic={ kind = 'video-trace', clip = 'bikes', layers = ['128 kb/s'] }"
    done = run_without_extras("run", scenario, "--set", clip)
    assert done.returncode == 2
    assert "pip install 'fairwave[video]'" in done.stderr
    script = f"{ABSENT}import fairwave; fairwave.load(sys.argv[1]).run().to_pandas()"
    done = subprocess.run(
        [sys.executable, "-c", script, scenario], capture_output=True, text=True, check=False
    )
    assert "MissingExtraError" in done.stderr
    assert "pip install 'fairwave[pandas]'" in done.stderr


def test_names_and_commands_complete_in_three_shells():
    def completed(shell, **given):
        words = {"_FAIRWAVE_COMPLETE": f"complete_{shell}", **given}
        done = subprocess.run(RUN, env=os.environ | words, capture_output=True, text=True, check=False)
        return done.stdout

    assert completed("bash", COMP_WORDS="fairwave list pr", COMP_CWORD="2").split() == ["presets"]
    assert "vegas" in completed("zsh", _TYPER_COMPLETE_ARGS="fairwave explain ve")
    assert "sweep" in completed(
        "fish", _TYPER_COMPLETE_ARGS="fairwave sw", _TYPER_COMPLETE_FISH_ACTION="get-args"
    )
    # Which shell runs the tests does not matter.
    named = os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = subprocess.run(
        [*RUN, "--show-completion", "bash"], env=named, capture_output=True, text=True, check=False
    )
    assert "_FAIRWAVE_COMPLETE" in shown.stdout


def on_a_terminal(*words, **given):
    """The output of a command on a terminal."""
    mine, theirs = pty.openpty()
    done = subprocess.Popen(
        [*RUN, *words], stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm", **given}
    )
    os.close(theirs)
    seen = b""
    try:
        while data := os.read(mine, 65536):
            seen += data
    except OSError:  # Linux ends a terminal this way
        pass
    os.close(mine)
    assert done.wait() == 0
    return seen


def test_colours_are_for_terminals_that_want_them(scenario):
    coloured = on_a_terminal("check", scenario)
    assert b"\x1b[33m" in coloured
    assert b"\x1b[33m" not in on_a_terminal("check", scenario, NO_COLOR="1")
    plain = subprocess.run([*RUN, "check", scenario], capture_output=True, check=True)
    assert b"\x1b" not in plain.stdout + plain.stderr
