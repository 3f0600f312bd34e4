"""SCReAM next to its authors' measurements: ``python -m validation.scream`` prints the table of ``docs/webrtc.md``.

The authors' ``test-record.md`` (github.com/EricssonResearch/scream, test of 2024-10-31) has SCReAM v2 on two
computers over 100 Mb/s with DualPI2, alone for 20 s; then a flow of TCP Prague is added every 20 s. Frames have one
size. Here the same path and flows are simulated, with the defaults of ``control = "scream"``. Each rate is the mean of
the last 10 s of its 20 s.
"""

from __future__ import annotations

import sys
from typing import Any

from fairwave.building import from_dict

RECORD = {5: (79, 52, 40, 29, 20), 25: (78, 60, 48, 38, 29), 100: (71, 54, 32, 25, 18)}
"""Round trip, ms, to the rate of SCReAM beside 0 to 4 flows of Prague, Mb/s: test 2, frames of one size."""

MARGIN, FLOOR = 0.25, 8.0
"""Rates within a quarter, or within 8 Mb/s, agree: stated before the first run."""

STEP = 20
"""From one flow to the next, seconds."""

SEEDS = range(1, 4)


def scenario(round_trip: int) -> Any:
    """The path of the record, with a session and four flows of Prague."""
    prague = [
        {"name": f"prague{number}", "from": "a", "to": "b", "transport": "tcp/prague", "traffic": "bulk",
         "start": f"{STEP * number} s"}
        for number in range(1, 5)
    ]  # fmt: skip
    session = {
        "name": "scream",
        "from": "a",
        "to": "b",
        "transport": {"name": "webrtc", "control": "scream", "feedback": "rfc8888", "start": "10 Mb/s"},
        "traffic": {
            "kind": "media",
            "audio": False,
            "video": {"least": "5 Mb/s", "most": "200 Mb/s", "width": 1920, "height": 1080, "frame-rate": 50},
        },
    }
    return from_dict(
        {
            "name": "SCReAM beside Prague",
            "duration": f"{5 * STEP} s",
            "link": [
                {
                    "from": "a",
                    "to": "b",
                    "rate": "100 Mb/s",
                    "delay": f"{round_trip / 2:g} ms",
                    "queue": {"discipline": "dualpi2", "capacity": {"packets": 10_000}},
                }
            ],
            "flow": [session, *prague],
        }
    )


def rates(round_trip: int) -> list[float]:
    """What SCReAM received beside 0 to 4 flows, Mb/s: mean over seeds."""
    rows = scenario(round_trip).replicate(seeds=SEEDS).rows("media_inbound").only(stream="video")
    found = []
    for number in range(5):
        ends = STEP * (number + 1) - 0.5
        total = []
        for own in rows.parted("run"):
            times, got = own.numbers("time_s"), own.numbers("bytes_received")
            first, last = (got[times <= at].max() for at in (ends - 10, ends))
            total.append(8 * float(last - first) / 10 / 1e6)
        found.append(sum(total) / len(total))
    return found


def main() -> int:
    """The command."""
    print("| round trip | | alone | 1 flow | 2 | 3 | 4 |\n|---|---|---|---|---|---|---|")
    for round_trip, record in RECORD.items():
        ours = rates(round_trip)
        agrees = [
            abs(mine - theirs) <= max(FLOOR, MARGIN * theirs)
            for mine, theirs in zip(ours, record, strict=True)
        ]
        print(f"| {round_trip} ms | authors | " + " | ".join(str(one) for one in record) + " |")
        marked = (f"{one:.0f}" if same else f"**{one:.0f}**" for one, same in zip(ours, agrees, strict=True))
        print(f"| | fairwave | {' | '.join(marked)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
