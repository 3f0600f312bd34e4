"""Replays captures of real traffic: lists the flows of a pcap or pcapng file and sends them over another link.

`traffic = { kind = "replay", file = "last-night.pcapng", select = "1" }` sends the packets of one flow again, with the
times and sizes of the capture. `fairwave replay FILE` lists flows, and with `--rate` it writes a scenario with all of
them, each in its direction.
"""

from fairwave.captures import (
    Capture,
    CaptureError,
    Flow,
    FlowSummary,
    Notes,
    Packet,
    is_capture,
    packets,
    read,
)
from fairwave.captures.capture import MOST_PACKETS
from fairwave.replay.resolving import resolved
from fairwave.replay.scenarios import MOST_FLOWS, scenario_text

__all__ = [
    "MOST_FLOWS",
    "MOST_PACKETS",
    "Capture",
    "CaptureError",
    "Flow",
    "FlowSummary",
    "Notes",
    "Packet",
    "is_capture",
    "packets",
    "read",
    "resolved",
    "scenario_text",
]
