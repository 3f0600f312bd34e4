"""A call between two baresip phones through Drop-Sel and through drop-tail, next to kernel downloads, with audio.

Each call uses real packets, is recorded at both ends, and is also simulated. The same code measures all four. Needs
Linux, root or user namespaces, and baresip (on Debian: apt install baresip). Nothing leaves the machine.

    python examples/live/baresip_call.py --out out/call
    python examples/live/baresip_call.py --out out/call --seconds 20 --speech mine.wav
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import fairwave
from fairwave.live import baresip, live
from fairwave.live.comparison import simulated
from fairwave.live.packets import RecordingError
from fairwave_report.live_call import MEASURES, CallSide, live_side, simulated_side, write
from fairwave_speech import RATE, Recording, SpeechError, normalise, read
from fairwave_speech import write as write_wav
from fairwave_speech.fetch import speech

SCENARIO = Path(__file__).with_name("call.toml")
RULES = {"tail": "Drop-tail", "drop-sel": "Drop-Sel"}
CALLER = "call-s0"
BUFFER = (
    f"baresip's playout buffer holds {baresip.BUFFER_MS[0]} to {baresip.BUFFER_MS[1]} ms, and what puts packets in "
    f"order at most {baresip.ORDER_FRAMES[1]} of them. It does not stretch speech: having run dry, it waits."
)
AROUND_S = 3
"""Time of the run in addition to the call, s: for call set-up and for the last packets."""


def compare_live_and_simulated(rule: str, said: Recording, seconds: int, keep: Path) -> list[CallSide]:
    """Returns the call under one rule, on real packets and simulated."""
    scenario = fairwave.load(SCENARIO).with_overrides(
        {"duration": f"{seconds + AROUND_S} s", "topology.bottleneck.queue.victim": rule}
    )
    name = RULES[rule]
    with tempfile.TemporaryDirectory(prefix="fairwave-call-") as folder:
        original = write_wav(Path(folder) / "said.wav", said.samples)
        call = baresip.Call.from_folder(Path(folder), original, seconds)
        call.write()
        programs = {
            "flow.call.transport": call.transport(),
            "flow.call.traffic": "bulk",
            "flow.echo.count": 0,
        }
        packets = keep / f"{rule}.pcapng"
        made = live(scenario.with_overrides(programs), recording=packets)
        for trouble in [*made.troubles, *filter(None, [made.broken])]:
            sys.stderr.write(f"{name}: {trouble}\n")
        side = live_side(f"{name}, live", made, packets, CALLER, read(call.heard).samples, said.samples)
        write_wav(keep / f"{rule}-there-and-back.wav", read(call.came_back).samples)
    spoken = replace(said, samples=said.samples[: len(side.sent_s) * RATE // 50])
    return [side, simulated_side(f"{name}, simulated", simulated(scenario), "call", spoken, side.sent_s[0])]


def main() -> int:
    """Makes the calls and the page."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path, default=Path("out/live-call"), help="where the page is left")
    options.add_argument("--seconds", type=int, default=27, help="how long each call lasts, 5 to 600")
    options.add_argument(
        "--speech", type=Path, help="what is said: any recording, instead of the packaged one"
    )
    asked = options.parse_args()
    if not 5 <= asked.seconds <= 600:
        options.error(f"--seconds is {asked.seconds}, but must be from 5 to 600; for example --seconds 27")
    if why := baresip.missing():
        sys.stderr.write(f"no call can be made: {why}\n")
        return 1
    asked.out.mkdir(parents=True, exist_ok=True)
    try:
        recording = normalise(speech(asked.speech))
        said = replace(recording, samples=recording.samples[: (asked.seconds + 1) * RATE])
        sides = [
            side
            for rule in RULES
            for side in compare_live_and_simulated(rule, said, asked.seconds, asked.out)
        ]
    except (fairwave.RunError, RecordingError, SpeechError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    page = write(
        sides,
        fairwave.load(SCENARIO),
        replace(said, samples=said.samples[: asked.seconds * RATE]),
        asked.out,
        title="A real telephone's call, and the simulated one",
        lead="baresip calls baresip over a line of 2 Mb/s beside eight downloads of the kernel's CUBIC, once through a "
        "queue that drops what arrives and once through Drop-Sel; and the same is simulated.",
        heard=[BUFFER],
    )
    for side in sides:
        cells = zip(MEASURES, side.cells, strict=True)
        sys.stdout.write(f"{side.title}: {', '.join(f'{what} {value}' for what, value in cells)}\n")
    sys.stdout.write(f"page: {page}\n")
    return 1 if any(side.accounts.get("broken") for side in sides) else 0


if __name__ == "__main__":
    sys.exit(main())
