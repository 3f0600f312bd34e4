"""A wheel, installed without access to this checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

SCENARIO = (ROOT / "examples" / "home-uplink.toml").read_text(encoding="utf-8")

LOOK = """
import fairwave, fairwave._native, fairwave.live.kernel, pathlib
assert fairwave.live.kernel.SOURCE.exists()
print(pathlib.Path(fairwave.__file__).resolve().parents[1])
print(fairwave._native.__file__)
print(fairwave.load("home.toml").run().measured("mos", "call").frame["value"].to_list())
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_a_wheel_works_by_itself(tmp_path):
    is_built = subprocess.run(["make", "--question", ".venv/.built"], cwd=ROOT, check=False).returncode == 0
    made = subprocess.run(["make", "wheel"], cwd=ROOT, check=False, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    # The wheel contains the library that `make setup` has built.
    assert not is_built or "Compiling fairwave-python" not in made.stdout + made.stderr
    (wheel,) = sorted((ROOT / "out" / "wheels").glob("fairwave-*.whl"), key=lambda one: one.stat().st_mtime)[
        -1:
    ]
    assert "-cp310-abi3-" in wheel.name
    venv.create(tmp_path / "clean", with_pip=True, symlinks=True)
    python = tmp_path / "clean" / "bin" / "python"
    # Dependencies come from this folder. Its own link to fairwave is not followed from there.
    elsewhere = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    elsewhere["PYTHONPATH"] = sysconfig.get_path("purelib")
    quiet = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps")
    subprocess.run(
        [python, "-m", "pip", "install", *quiet, wheel],
        check=True,
        cwd=tmp_path,
        env=elsewhere | {"PYTHONPATH": ""},
    )
    (tmp_path / "home.toml").write_text(SCENARIO, encoding="utf-8")

    def run(*words):
        done = subprocess.run(
            [python, *words], cwd=tmp_path, env=elsewhere, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    place, native, mos = run("-c", LOOK).splitlines()
    assert Path(place).is_relative_to((tmp_path / "clean").resolve())
    assert Path(native).is_relative_to(tmp_path / "clean")
    import fairwave

    assert mos == str(fairwave.load(SCENARIO).run().measured("mos", "call").frame["value"].to_list())
    program = tmp_path / "clean" / "bin" / "fairwave"
    assert "call: 1 × voice (speakers talk 43 % of the time) over udp" in run(
        program, "run", "home.toml", "--out", "home"
    )
    assert (tmp_path / "home" / "index.html").is_file()
    assert "codel" in run(program, "list", "queues")
    # The examples are in the wheel.
    assert "The call is poor: MOS" in run(program, "run", "home-call")
    assert "Does a call survive an upload?" in run(program, "examples")
    assert sys.version_info >= (3, 10)
