"""Writes the scenario that sends a capture's flows over one link."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fairwave import _native
from fairwave.captures import TCP, CaptureError

if TYPE_CHECKING:
    from fairwave.captures import Capture, FlowSummary

MOST_FLOWS = 50
"""Default limit on the number of flows in the scenario. The largest flows are taken."""


def scenario_text(
    capture: Capture,
    *,
    rate: str,
    delay: str = "20 ms",
    queue: str = "drop-tail",
    most: int = MOST_FLOWS,
    tcp: Literal["transfer", "packets"] = "transfer",
    file: str | None = None,
) -> str:
    """Returns a scenario, as TOML, in which a capture's flows share one link, each in its direction.

    UDP and all other protocols are replayed packet by packet. TCP would have sent differently over another link. So a
    TCP flow becomes a transfer of the same number of new bytes that begins when the flow did. With `tcp="packets"`,
    its packets are replayed too.

    Args:
        capture: The capture.
        rate: Rate of the shared link.
        delay: One-way propagation delay of the link.
        queue: Discipline of the link's queue.
        most: Limit on the number of flows; the largest are taken.
        tcp: Treatment of TCP flows.
        file: Name of the capture in the scenario. Default: its file name.

    Raises:
        CaptureError: No flow can be sent again.
    """
    name = file or Path(capture.path).name
    taken = capture.flows[:most]
    last = max(one.last_ns for one in taken)
    lasts = math.ceil((last - capture.first_ns) / 1e9) + 5
    left_out = len(capture.flows) - len(taken)
    said = f"# The flows of {name} over one link of {rate}, as `fairwave replay` wrote it."
    if left_out:
        said += f"\n# {left_out} smaller flows are left out: `--most {len(capture.flows)}` takes all."
    flows = [line for one in taken for line in _flow(one, capture, name, tcp)]
    if not flows:
        raise CaptureError(
            f"{capture.path} has only TCP's acknowledgements: capture at the data's side, or add --tcp packets"
        )
    title = f"{Path(name).stem} over {rate}"
    return "\n".join([said, "", *network(title, lasts, rate, delay, queue), *flows]) + "\n"


def network(name: str, lasts_s: int, rate: str, delay: str, queue: str) -> list[str]:
    """Returns the scenario's lines before its flows."""
    return [
        f'version = "{_native.language}"',
        f"name = {_text(name)}",
        f'duration = "{lasts_s} s"',
        "",
        "[topology]",
        'preset = "dumbbell"',
        f"bottleneck = {{ rate = {_text(rate)}, delay = {_text(delay)}, queue = {_text(queue)} }}",
    ]


def _flow(one: FlowSummary, capture: Capture, file: str, tcp: str) -> list[str]:
    start = (one.first_ns - capture.first_ns) / 1e9
    head = ["", f"# {one.name}: {one.packets} packets, {one.ip_bytes} bytes of IP", "[[flow]]"]
    head += [f'name = "{_short(one)}"']
    if one.is_reverse:
        head.append('path = "reverse"')
    if start:
        head.append(f'start = "{start:.6f} s"')
    if one.flow.protocol == TCP and tcp == "transfer" and one.wanted:
        return [
            *head,
            'transport = "tcp/cubic"',
            f'traffic = {{ kind = "transfer", size = "{one.wanted} B" }}',
        ]
    if one.flow.protocol == TCP and tcp == "transfer":
        # A flow of acknowledgements alone: the transfer in the other direction creates them.
        return []
    most = max(one.largest, 1)
    return [
        *head,
        # The fixed IP header; the packet sizes include all other headers.
        f'transport = {{ name = "udp", header = "{one.header} B", max-payload = "{min(most, 65535 - one.header)} B" }}',
        f'traffic = {{ kind = "replay", file = {_text(file)}, select = {_text(one.name)} }}',
    ]


def _short(one: FlowSummary) -> str:
    kind = one.name.split(" ", 1)[0]
    if one.stream is not None:
        kind = "rtp" if one.is_media else one.stream.role
    return f"{kind}-{one.number}"


def _text(value: str) -> str:
    """Formats a TOML string."""
    return json.dumps(value, ensure_ascii=False)
