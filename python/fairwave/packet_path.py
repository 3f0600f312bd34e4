"""The path of one packet through a network: time, place, queue and the source line that decided each step."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairwave import _native
from fairwave.arguments import LARGEST_SEED, check_seed, checked

if TYPE_CHECKING:
    from fairwave.scenario import Scenario


@dataclass(frozen=True)
class PathStep:
    """A step of a packet.

    Attributes:
        time_s: Time since the start of the run, seconds.
        place: Name of the link, or of the node for the first and last step.
        step: `sent`, `arrives`, `admitted`, `marked`, `transmitted`, `leaves`, `discarded`, `lost` or `delivered`.
        waiting_packets: Packets in the queue just before an arrival. None for other steps.
        waiting_bytes: Their bytes. None for other steps, and for queues that do not count bytes.
        detail: Explanation.
        source: The source line that decided: `crates/…/file.rs:LINE`.
        simulator: The line of the simulator that applied the decision.
    """

    time_s: float
    place: str
    step: str
    waiting_packets: int | None
    waiting_bytes: int | None
    detail: str
    source: str
    simulator: str


@dataclass(frozen=True)
class PacketPath:
    """The path of a packet.

    Attributes:
        flow: Name of the flow.
        packet: Number among the data packets of the flow, from 1.
        sent: Number of data packets that the flow sent.
        bytes: Size on the wire.
        chosen: Why this packet was chosen.
        steps: The steps, in order.
    """

    flow: str
    packet: int
    sent: int
    bytes: int
    chosen: str
    steps: tuple[PathStep, ...]


@checked
def trace_packet(
    scenario: Scenario, *, flow: str | None = None, packet: int | None = None, seed: int = 1
) -> PacketPath:
    """Makes a run and returns the path of one data packet. The run is the same as without the trace.

    Args:
        scenario: The scenario to run.
        flow: Name of the flow: `voice[0]`, or `voice` for the first flow of a group. Default: the first flow with a
            packet that is discarded, marked or lost; if there is none, the first flow that sends.
        packet: Number of the packet among the flow's data packets, from 1. Default: the first one that is discarded,
            marked or lost; if there is none, the one that waits longest in queues.
        seed: The seed of the run.

    Raises:
        ValueError: There is no such flow or packet, or the seed is not allowed.
        RunError: The run failed.
    """
    check_seed(seed)
    if packet is not None and not 1 <= packet <= LARGEST_SEED:
        raise ValueError(f"`packet` is a whole number from 1 to {LARGEST_SEED}, not {packet}")
    found = json.loads(_native.trace_packet(scenario.native, seed, flow, packet))
    return PacketPath(**{**found, "steps": tuple(PathStep(**step) for step in found["steps"])})
