"""A WebRTC session by aiortc over an LTE-like trace: its getStats compared with the router's records.

Speech and a moving picture go in one direction; offer and answer use the same network. Needs Linux, root or user
namespaces, and a Python with aiortc, which may differ from fairwave's: `python3 -m venv PLACE && PLACE/bin/pip install
aiortc`. Nothing leaves the machine.

    python examples/live/webrtc.py --python PLACE/bin/python --out out/webrtc
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import fairwave
from fairwave.live import accounts, live
from fairwave.live.host import hand_over
from fairwave.live.packets import RecordingError, delays, streams
from fairwave.live.stats import compare_ends, last
from fairwave_speech import SpeechError, normalise
from fairwave_speech import write as write_wav
from fairwave_speech.fetch import speech

HERE = Path(__file__).parent
SCENARIO = HERE.parent / "lte-call.toml"
END = HERE / "webrtc_end.py"
SENDER, RECEIVER = "call-s0", "call-d0"
AROUND_S = 6
"""Time of the run in addition to the session, s: for set-up and for the end of the programs."""


def missing(python: str) -> str | None:
    """Returns the reason why the session is impossible, with the command to install the missing part."""
    try:
        asked = subprocess.run([python, "-c", "import aiortc"], check=False, capture_output=True, text=True)
    except OSError as error:
        return f"{python} cannot be started ({error}); give --python a Python that has aiortc"
    if asked.returncode:
        return f"{python} has no aiortc; install it with: {python} -m pip install aiortc"
    return None


def main() -> int:
    """Runs the session and compares both records of it."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--python", default=sys.executable, help="a Python that has aiortc")
    options.add_argument(
        "--out", type=Path, default=Path("out/webrtc"), help="where statistics and packets are left"
    )
    options.add_argument("--seconds", type=int, default=24, help="how long the session lasts, 5 to 600")
    options.add_argument("--queue", default="fq-codel", help="the queue's discipline")
    options.add_argument(
        "--busy", action="store_true", help="with the scenario's own call and download beside it"
    )
    asked = options.parse_args()
    if not 5 <= asked.seconds <= 600:
        options.error(f"--seconds is {asked.seconds}, but must be from 5 to 600; for example --seconds 24")
    if why := missing(asked.python):
        sys.stderr.write(f"no session can be made: {why}\n")
        return 1
    out = asked.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    files = {what: out / f"{what}.jsonl" for what in ("send", "receive")}
    for file in files.values():
        file.unlink(missing_ok=True)

    def end(what: str, *more: str) -> list[str]:
        return [
            asked.python,
            str(END),
            what,
            *more,
            "--stats",
            str(files[what]),
            "--seconds",
            str(asked.seconds),
        ]

    try:
        scenario = fairwave.load(SCENARIO).with_overrides(
            {"topology.bottleneck.queue.discipline": asked.queue}
        )
        said = write_wav(out / "said.wav", normalise(speech()).samples)
        hand_over(out)
        commands = [(SENDER, end("send", RECEIVER, "--speech", str(said))), (RECEIVER, end("receive"))]
        packets, longest = out / "all.pcapng", float(asked.seconds + AROUND_S)
        made = live(scenario, commands=commands, flows=asked.busy, duration=longest, recording=packets)
        (out / "accounts.json").write_text(json.dumps(made.report, indent=2) + "\n", encoding="utf-8")
        rows = compare_ends(last(files["send"]), last(files["receive"]), streams(packets), delays(packets))
    except (fairwave.RunError, fairwave.ScenarioError, RecordingError, SpeechError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    for cells in [["", "", "getStats", "router"], *(row.cells for row in rows)]:
        sys.stdout.write(f"{cells[0]:6} {cells[1]:34} {cells[2]:>12} {cells[3]:>12}\n")
    for what, value in accounts(made.report):
        sys.stdout.write(f"  {what}: {value}\n")
    for trouble in [*made.troubles, *filter(None, [made.broken])]:
        sys.stderr.write(f"{trouble}\n")
    return 1 if made.broken else 0


if __name__ == "__main__":
    sys.exit(main())
