"""The lab from the command line and report pages. Tests of the page itself are in `lab/`."""

import base64
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import fairwave
from fairwave import lab
from fairwave.cli.app import app

SCENARIO = """
name = "a call"
duration = "2 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms" }
[[flow]]
name = "call"
transport = "udp"
traffic = "voice"
"""


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A page of `make lab`, reduced to the parts that Python uses."""
    page = tmp_path / "made" / "lab.html"
    page.parent.mkdir()
    page.write_text('<title>lab</title><meta name="fairwave-scenario" content="">', encoding="utf-8")
    monkeypatch.setattr(lab, "_BESIDE", page)
    return page


@pytest.fixture
def unmade(tmp_path, monkeypatch):
    monkeypatch.setattr(lab, "_BESIDE", tmp_path / "nowhere.html")


def unpacked(words):
    return zlib.decompress(base64.urlsafe_b64decode(words + "=" * (-len(words) % 4)), -15).decode()


def fairwave_(*words):
    app([*words], standalone_mode=False)


ROOT = Path(__file__).parents[1]

WITHOUT_THE_SYSTEMS = """
import runpy, sys
from pathlib import Path

main = runpy.run_path({!r})["main"]
main.__globals__["SOUNDS"] = "nowhere.wav"
main(Path(sys.argv[1]))
"""
"""Makes the speech on a system without recordings."""


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_the_lab_is_built_after_the_recordings_and_anew_when_they_come():
    rules = subprocess.run(
        ["make", "-npq", "out/lab.html"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    (needs,) = re.findall(r"^out/lab\.html: (.*)$", rules.stdout, re.MULTILINE)
    assert ".venv/.recordings" in needs
    assert all(str(one.relative_to(ROOT)) in needs for one in ROOT.glob("data/recordings/*"))


def test_a_lab_without_speech_says_how_to_get_one(tmp_path):
    (tmp_path / "lab").mkdir()
    script = shutil.copy(ROOT / "lab" / "speech.py", tmp_path / "lab")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_SYSTEMS.format(script), str(tmp_path / "none.ulaw")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (tmp_path / "none.ulaw").read_bytes() == b""
    assert done.stderr.count("\n") == 1
    assert "without speech" in done.stderr
    assert "fairwave_speech.fetch" in done.stderr
    assert "make lab" in done.stderr


def test_a_scenario_in_an_address_is_its_toml_in_letters_that_addresses_have():
    text = SCENARIO + "# Ünterwegs\n" * 50
    found = lab.fragment(text)
    assert re.fullmatch(r"#s=[A-Za-z0-9_-]+", found)
    assert unpacked(found.removeprefix("#s=")) == text


def test_the_command_writes_the_page_which_then_opens_on_the_scenario(made, tmp_path, monkeypatch):
    (tmp_path / "call.toml").write_text(SCENARIO, encoding="utf-8")
    out = tmp_path / "there" / "mine.html"
    fairwave_("lab", str(tmp_path / "call.toml"), "--set", "duration=3 s", "--out", str(out))
    (given,) = re.findall(r'name="fairwave-scenario" content="([^"]*)"', out.read_text(encoding="utf-8"))
    assert fairwave.load(unpacked(given)).to_dict()["duration"] == "3 s"
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    fairwave_("lab")
    assert len(opened) == 1
    assert opened[0].startswith("file://")


def test_without_the_page_the_command_names_how_it_is_made(unmade):
    with pytest.raises(Exception, match="make lab"):
        fairwave_("lab")


def test_settings_without_a_scenario_are_refused(made):
    with pytest.raises(Exception, match="name one"):
        fairwave_("lab", "--set", "duration=3 s")


def test_a_report_page_opens_its_scenario_in_a_copy_beside_it(made, tmp_path, monkeypatch):
    folder = tmp_path / "out"
    found = lab.link_from(folder, SCENARIO)
    assert found == "lab.html" + lab.fragment(SCENARIO)
    assert (folder / "lab.html").read_bytes() == made.read_bytes()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "call.toml").write_text(SCENARIO, encoding="utf-8")
    fairwave_("run", "call.toml", "--out", "run")
    text = (tmp_path / "run" / "index.html").read_text(encoding="utf-8")
    (link,) = set(re.findall(r'<a href="(lab.html#s=[A-Za-z0-9_-]+)">Open in the lab</a>', text))
    assert fairwave.load(unpacked(link.partition("#s=")[2])).to_dict()["name"] == "a call"
    assert (tmp_path / "run" / "lab.html").is_file()


def test_without_the_page_a_report_has_no_such_link(unmade, tmp_path):
    assert lab.link_from(tmp_path, SCENARIO) is None
    assert not (tmp_path / "lab.html").exists()


def test_the_widget_says_what_it_needs(made):
    from fairwave.lab.widget import widget

    with pytest.raises(ValueError, match="height"):
        widget(height=0)
    try:
        import anywidget  # noqa: F401
    except ImportError:
        with pytest.raises(lab.LabError, match=r"fairwave\[lab\]"):
            widget()
    else:
        shown = widget(fairwave.load(SCENARIO))
        text = base64.b64decode(shown.page).decode()
        assert 'content=""' not in text
        assert fairwave.load(shown.scenario).to_dict()["name"] == "a call"
