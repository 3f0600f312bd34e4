"""Installs a wheel into an empty environment and uses it: run, demo, lab, guard, and the golden digests.

`python packaging/smoke.py` takes the wheel for this system from `out/wheels`, `--build` first builds one there, and
`--wheels FOLDER` names another folder. It needs Python alone, so that it runs on Linux, macOS and Windows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST_S = 10.0
"""Longest time from the start of a command to its answer."""

DIGESTS = ROOT / "validation" / "packaging" / "digests.py"


def call(words: list[str], folder: Path, **more: object) -> str:
    """Runs a command and returns its output; the program ends if the command fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
        "PYTHONUTF8": "1"
    }
    start = time.monotonic()
    done = subprocess.run(
        words, cwd=folder, env=environment, check=False, capture_output=True, text=True, encoding="utf-8"
    )
    took = time.monotonic() - start
    print(f"{took:6.1f} s  {' '.join(map(str, words[1:]))[:100]}", flush=True)
    if done.returncode not in more.get("allowed", (0,)):
        sys.exit(f"{words} ended with status {done.returncode}\n{done.stdout}\n{done.stderr}")
    if more.get("is_first_answer") and took > LONGEST_S:
        sys.exit(f"the first answer took {took:.1f} s; at most {LONGEST_S:g} s are allowed")
    return done.stdout


def main() -> None:
    """Checks the wheel of this system."""
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("--wheels", type=Path, default=ROOT / "out" / "wheels", help="folder of the wheels")
    reader.add_argument("--build", action="store_true", help="first build the wheel of this system there")
    given = reader.parse_args()
    given.wheels.mkdir(parents=True, exist_ok=True)
    if given.build:
        call([sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(given.wheels), str(ROOT)], ROOT)
    with tempfile.TemporaryDirectory(prefix="fairwave-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        venv.create(folder / "venv", with_pip=True)
        programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        python, fairwave = str(programs / "python"), str(programs / "fairwave")
        quiet = ["--quiet", "--disable-pip-version-check"]
        # The wheel comes from the folder alone; a second call installs what it needs.
        own = [python, "-m", "pip", "install", *quiet, "--no-index", "--no-deps", "--find-links"]
        call([*own, str(given.wheels), "fairwave"], folder)
        call([python, "-m", "pip", "install", *quiet, "fairwave"], folder)
        print(call([fairwave, "--version"], folder).strip())
        answer = call([fairwave, "run", "home-call", "--json"], folder, is_first_answer=True)
        print("       ", json.loads(answer)["verdict"][0])
        call([fairwave, "demo"], folder)
        if not given.build:  # a wheel that pip builds has no page of the lab
            call([fairwave, "lab", "home-call", "--out", "lab.html"], folder)
        call([python, "-m", "pip", "install", *quiet, "fairwave[report]"], folder)
        worse = (ROOT / "examples" / "home-call.toml").read_text(encoding="utf-8").replace("5 Mb/s", "2 Mb/s")
        (folder / "worse.toml").write_text(worse, encoding="utf-8")
        old = str(ROOT / "examples" / "home-call.toml")
        words = ["guard", "worse.toml", "--baseline", old, "-n", "3", "--set", "duration=20 s"]
        call([fairwave, *words], folder, allowed=(3,))
        if "A call gets worse" not in (folder / "out" / "guard" / "guard.md").read_text(encoding="utf-8"):
            sys.exit("guard did not report the worse call")
        if DIGESTS.is_file():
            print(call([python, str(DIGESTS), str(ROOT / "tests" / "golden")], folder).strip())


if __name__ == "__main__":
    main()
