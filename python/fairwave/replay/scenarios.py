"""A capture as a scenario: its flows over one link."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fairwave.replay.packets import TCP, CaptureError

if TYPE_CHECKING:
    from fairwave.replay.flows import Capture, FlowSummary

MOST_FLOWS = 50
"""So many flows become flows of the scenario, the largest first, where nothing else is said."""


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
    """A scenario, as TOML, in which a capture's flows share one link.

    UDP and all else is sent again packet by packet. A flow of TCP would not have sent as it did over another link: it
    becomes a transfer of as many new bytes, which begins when the flow did; or its packets are sent as they were.

    Args:
        capture: What was read.
        rate: Rate of the link that all share.
        delay: Its propagation delay, one way.
        queue: Discipline of its queue.
        most: So many flows are taken, the largest first.
        tcp: What becomes of TCP.
        file: How the scenario names the capture; its own name if left out.

    Raises:
        CaptureError: Nothing of it can be sent again.
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
    """The lines of the scenario before its flows."""
    return [
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
    if start:
        head.append(f'start = "{start:.6f} s"')
    if one.flow.protocol == TCP and tcp == "transfer" and one.wanted:
        return [
            *head,
            'transport = "tcp/cubic"',
            f'traffic = {{ kind = "transfer", size = "{one.wanted} B" }}',
        ]
    if one.flow.protocol == TCP and tcp == "transfer":
        # Nothing but acknowledgements: whoever sends the data has them sent again.
        return []
    most = max(one.largest, 1)
    return [
        *head,
        # The fixed IP header; all else is in the sizes.
        f'transport = {{ name = "udp", header = "{one.header} B", max-payload = "{min(most, 65535 - one.header)} B" }}',
        f'traffic = {{ kind = "replay", file = {_text(file)}, select = {_text(one.name)} }}',
    ]


def _short(one: FlowSummary) -> str:
    kind = "rtp" if one.is_rtp else one.name.split(" ", 1)[0]
    return f"{kind}-{one.number}"


def _text(value: str) -> str:
    """A string of TOML."""
    return json.dumps(value, ensure_ascii=False)
