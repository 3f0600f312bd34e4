"""Packaged examples by name, `fairwave demo`, `fairwave lab --serve`, and the build of wheels."""

import gzip
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest

import fairwave
from fairwave import components, extras, lab, packaged
from fairwave.cli import demo
from fairwave.cli.app import app
from fairwave.errors import BadInputError
from fairwave.lab import serving
from fairwave.lab.serving import LabServer
from fairwave_speech import fetch
from validation.packaging import digests, wheels

ROOT = Path(__file__).parents[1]

SCENARIO = """
name = "mine"
duration = "2 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms" }
[[flow]]
name = "call"
transport = "udp"
traffic = "voice"
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """An empty folder outside the checkout."""
    monkeypatch.chdir(tmp_path)


def fairwave_(*words):
    app([str(word) for word in words], standalone_mode=False)


# Examples by name.


def test_every_example_has_a_name_and_a_question():
    names = packaged.list_examples()
    assert {"home-call", "germany", "lte-call"} <= set(names)
    assert names == sorted(one.stem for one in (ROOT / "examples").glob("*.toml"))
    for name in names:
        question = packaged.summarise(packaged.find_example(name))
        assert question.endswith((".", "?"))
        assert 20 < len(question) < 240


@pytest.mark.parametrize("text", ["home-call", "examples/home-call.toml"])
def test_the_name_of_an_example_stands_for_its_file(text, capsys):
    assert fairwave.load(text).name == "a call and an upload on a home line"
    fairwave_("check", text)
    assert "a call and an upload on a home line" in capsys.readouterr().out


def test_an_example_finds_the_files_that_it_names():
    assert fairwave.load("lte-call").run(1).flows.num_rows > 0


def test_a_file_comes_before_an_example_and_a_folder_does_not(tmp_path):
    (tmp_path / "home-uplink").mkdir()
    (tmp_path / "home-call").write_text(SCENARIO, encoding="utf-8")
    assert fairwave.load("home-call").name == "mine"
    assert fairwave.load("home-uplink").name == "a call over a busy home uplink"


@pytest.mark.parametrize("text", ["home-call.toml", "../examples/home-call.toml", "", ".", "examples"])
def test_no_other_text_is_an_example(text):
    assert packaged.find_scenario(text) is None


def test_a_slip_in_a_name_gets_the_nearest_one():
    with pytest.raises(BadInputError, match=r"no scenario file 'home-cal'.*did you mean home-call\?"):
        fairwave_("check", "home-cal")
    with pytest.raises(BadInputError, match=r"or the name of an example: `fairwave examples` lists them"):
        fairwave_("check", "zzz")


def test_commands_with_several_scenarios_take_names(capsys):
    fairwave_("compare", "home-call", "home-uplink", "-n", "1", "--no-page", "--set", "duration=30 s")
    assert "home-uplink" in capsys.readouterr().out


def test_networks_have_names():
    from fairwave_network.command import _read

    assert _read("germany", as_whole=False, strict=False).name == "germany"


def test_examples_lists_prints_and_copies(tmp_path, capsys):
    fairwave_("examples", "--json")
    listed = json.loads(capsys.readouterr().out)
    assert {"name": "home-call", "question": "Does a call survive an upload?"} in listed
    fairwave_("examples", "home-call")
    assert capsys.readouterr().out == (ROOT / "examples" / "home-call.toml").read_text(encoding="utf-8")
    fairwave_("examples", "lte-call", "--out", tmp_path / "mine")
    assert sorted(one.name for one in (tmp_path / "mine").iterdir()) == ["lte-call.toml", "lte.csv"]
    with pytest.raises(BadInputError, match=r"lte-call\.toml exists and would be replaced"):
        fairwave_("examples", "lte-call", "--out", tmp_path / "mine")
    with pytest.raises(BadInputError, match=r"no example 'lte-cal'; there are .*did you mean 'lte-call'"):
        fairwave_("examples", "lte-cal")
    with pytest.raises(BadInputError, match="--json is for the list"):
        fairwave_("examples", "lte-call", "--json")


def test_an_installation_without_examples_says_so(monkeypatch):
    monkeypatch.setattr("fairwave.cli.packaged_examples.examples_folder", lambda: None)
    with pytest.raises(BadInputError, match="this installation has no examples"):
        fairwave_("examples")


def test_an_example_without_a_command_gets_one():
    done = subprocess.run(
        [sys.executable, "-m", "fairwave", "home-call"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "home-call is an example; a command comes first: type fairwave run home-call" in done.stderr


# The demo without the extra `report`.


def test_the_demo_answers_without_the_layer_of_pages(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(extras, "is_there", lambda _: False)
    monkeypatch.setattr(demo, "layer_or_note", lambda **_: None)
    fairwave_("demo", "-n", "1")
    out = capsys.readouterr().out
    assert re.search("With queue = (CAKE and FQ-CoDel|FQ-CoDel and CAKE) the call is good", out)
    assert "Over UDP the 21 calls are good" in out
    for question in demo.QUESTIONS:
        assert (tmp_path / "out" / "demo" / question.id / "comparison.csv").is_file()
    with pytest.raises(BadInputError, match="--replications is 0, but must be 1 or more"):
        fairwave_("demo", "-n", "0")


def test_a_wheel_carries_the_default_prompt(tmp_path, monkeypatch):
    assert fetch.packaged_prompts() is None or fetch.packaged_prompts().is_dir()
    found = wheels.find_recording()
    if found is None:
        pytest.skip("there is no recording here")
    shutil.copy(found / wheels.PROMPT, tmp_path / "demo-instruct.wav")
    monkeypatch.setattr(fetch, "packaged_prompts", lambda: tmp_path)
    monkeypatch.setattr(fetch.Recordings, "prompts", lambda _: None)
    assert len(fetch.speech().samples) > 60 * 8000
    with pytest.raises(fetch.SpeechError, match="prompt 'digits/7': not among the recordings"):
        fetch.Recordings().prompt("digits/7")


# The lab for a class.


@contextmanager
def serve(page):
    with LabServer(page, serving.LOOPBACK, 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def get(server, path, **headers):
    asked = urllib.request.Request(f"http://{serving.LOOPBACK}:{server.port}{path}", headers=headers)
    with urllib.request.urlopen(asked, timeout=10) as answer:
        return answer.headers, answer.read()


def test_the_server_shows_one_page_and_nothing_else(tmp_path):
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    with serve("<title>läb</title>") as server:
        headers, body = get(server, "/")
        assert body.decode() == "<title>läb</title>"
        assert headers["Content-Type"] == "text/html; charset=utf-8"
        headers, body = get(server, "/lab.html?x", **{"Accept-Encoding": "br, gzip"})
        assert headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(body).decode() == "<title>läb</title>"
        for path in ("/secret.txt", "/../secret.txt", "/favicon.ico"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                get(server, path)
        assert server.devices == {serving.LOOPBACK}


@pytest.fixture
def page(tmp_path, monkeypatch):
    file = tmp_path / "lab.html"
    file.write_text('<meta name="fairwave-scenario" content="">', encoding="utf-8")
    monkeypatch.setattr(lab, "_BESIDE", file)


@pytest.mark.usefixtures("page")
def test_a_port_in_use_and_a_wrong_address_are_explained():
    with socket.create_server((serving.LOOPBACK, 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(BadInputError, match=f"--port {port} is in use on this computer; choose another"):
            fairwave_("lab", "--serve", "--listen", serving.LOOPBACK, "--port", port)
    with pytest.raises(BadInputError, match=r"--listen 203\.0\.113\.9 is no address of this computer"):
        fairwave_("lab", "--serve", "--listen", "203.0.113.9", "--port", "0")
    with pytest.raises(BadInputError, match="give one of the two"):
        fairwave_("lab", "--serve", "--out", "x.html")
    with pytest.raises(BadInputError, match="--port has no effect without --serve"):
        fairwave_("lab", "--port", "8000")


@pytest.mark.usefixtures("page")
def test_ctrl_c_ends_the_server_and_no_network_is_said(monkeypatch, capsys):
    class Stopped(LabServer):
        def serve_forever(self, poll_interval=0.5):
            self.devices |= {"192.0.2.7"}
            raise KeyboardInterrupt

    monkeypatch.setattr(serving, "LabServer", Stopped)
    monkeypatch.setattr(serving, "find_lan_address", lambda: None)
    fairwave_("lab", "home-call", "--serve", "--port", "0")
    said = capsys.readouterr()
    assert "the lab: http://127.0.0.1:" in said.out
    assert "Only this computer can open it" in said.err
    assert "The lab is no longer served; 1 device opened it." in said.err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal for Ctrl-C to one process")
def test_the_served_lab_ends_by_a_signal():
    if lab.built() is None:
        pytest.skip("the lab has not been built")
    command = [sys.executable, "-m", "fairwave", "lab", "--serve", "--listen", "127.0.0.1", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=None, bufsize=1
    ) as made:
        assert made.stdout.readline().startswith("the lab: http://127.0.0.1:")
        while "Ctrl-C ends it" not in made.stderr.readline():
            pass
        made.send_signal(signal.SIGINT)
        _, err = made.communicate(timeout=20)
        assert made.returncode == 0, err
        assert "The lab is no longer served; no devices opened it." in err


def test_the_address_in_the_network_is_no_loopback():
    found = serving.find_lan_address()
    assert found is None or not found.startswith("127.")


def test_the_code_of_an_address_is_drawn(monkeypatch, capsys):
    pytest.importorskip("segno")
    from fairwave.cli import console, lab_page

    monkeypatch.setattr(console.out, "_force_terminal", True)
    lab_page._draw_code("http://192.168.1.20:8867/")
    assert capsys.readouterr().out.count("\n") > 10


# Other systems.


@pytest.mark.parametrize("words", [["live", "home-call"], ["shell", "home-call"], ["kernel", "list"]])
def test_commands_for_linux_say_so_elsewhere(words, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(fairwave.RunError, match="needs Linux, and this is darwin; "):
        fairwave_(*words)


def test_an_old_python_is_named():
    program = "import sys; sys.version_info = (3, 9, 18); import fairwave"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert (
        done.stderr.splitlines()[-1]
        == "ImportError: fairwave needs Python 3.10 or newer, and this is Python 3.9"
    )


def test_doctor_works_elsewhere(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert components._namespaces() == ""


# Wheels.


def test_packaged_files_are_placed_for_a_build_and_removed(capsys):
    with wheels.packaged_files() as missing:
        there = sorted((ROOT / "python" / "fairwave" / "examples").rglob("*.toml"))
        assert len(there) == len(list((ROOT / "examples").rglob("*.toml")))
        has_prompt = (wheels.SPEECH / "demo-instruct.wav").is_file()
        assert has_prompt is not any("recording" in one for one in missing)
        assert packaged.examples_folder() == ROOT / "examples"  # in a checkout, the files that you edit
    assert not (ROOT / "python" / "fairwave" / "examples").exists()
    assert not (wheels.SPEECH / "demo-instruct.wav").exists()


def wheel(path, text):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(zipfile.ZipInfo("fairwave/a.py", (2026, 1, 1, 0, 0, 0)), text * 1000)
    return path


def test_wheels_are_packed_alike_and_too_large_ones_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(wheels, "ROOT", tmp_path)
    monkeypatch.setattr(wheels, "OUT", tmp_path)
    made = [wheel(tmp_path / f"{name}.whl", "print(1)\n") for name in "ab"]
    before = made[0].stat().st_size
    for one in made:
        wheels.shrink(one)
    assert made[0].read_bytes() == made[1].read_bytes()
    assert made[0].stat().st_size < before / 10
    assert wheels.show_sizes(made) == 0
    monkeypatch.setattr(wheels, "LARGEST_MB", 1e-6)
    assert wheels.show_sizes(made) == 1
    assert "a.whl is larger than 1e-06 MB" in capsys.readouterr().err


def test_an_unknown_wheel_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["wheels", "beos"])
    assert wheels.main() == 2
    assert "no wheel 'beos'; write some of: sources, linux-x86_64," in capsys.readouterr().err


def test_a_missing_tool_is_explained(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(wheels.BuildError, match="need rustup"):
        wheels.prepare_tools(wheels.TARGETS[:4])
    with pytest.raises(wheels.BuildError, match="needs x86_64-w64-mingw32-gcc"):
        wheels.prepare_tools(wheels.TARGETS)


def test_digests_are_compared_and_a_difference_is_named(tmp_path, monkeypatch, capsys):
    golden = json.loads((ROOT / "tests" / "golden" / "digests.json").read_text(encoding="utf-8"))
    shutil.copy(ROOT / "tests" / "golden" / "calls.toml", tmp_path)
    for each, status, words in (
        (golden["calls"], 0, f"{len(golden['calls'])} digests are the golden ones"),
        (["0" * 16, *golden["calls"][1:]], 1, "digests differ in calls"),
    ):
        (tmp_path / "digests.json").write_text(json.dumps({"calls": each}), encoding="utf-8")
        monkeypatch.setattr(sys, "argv", ["digests", str(tmp_path)])
        assert digests.main() == status
        assert words in capsys.readouterr().out


def test_a_build_without_compilers_ends_in_a_sentence(monkeypatch):
    pytest.importorskip("maturin")
    monkeypatch.syspath_prepend(str(ROOT / "build_backend"))
    import fairwave_build

    monkeypatch.chdir(ROOT)  # where maturin reads pyproject.toml
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(
        SystemExit, match=r"needs what is not installed: Rust .* and a C compiler .*There are wheels for"
    ):
        fairwave_build.get_requires_for_build_wheel()
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    assert fairwave_build.get_requires_for_build_wheel() == []


def test_a_build_by_pip_has_the_examples(tmp_path, monkeypatch):
    pytest.importorskip("maturin")
    monkeypatch.syspath_prepend(str(ROOT / "build_backend"))
    import fairwave_build

    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "a.toml").write_text("", encoding="utf-8")
    (tmp_path / "python" / "fairwave").mkdir(parents=True)
    target = tmp_path / "python" / "fairwave" / "examples"

    def build(folder):
        assert (target / "a.toml").is_file()
        return "a.whl"

    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(fairwave_build.maturin, "build_wheel", build)
    assert fairwave_build.build_wheel("out") == "a.whl"
    assert not target.exists()
