"""`fairwave trace-packet`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.markup import escape

from fairwave.cli import console
from fairwave.cli.input import scenario, seeds
from fairwave.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.packet_path import PacketPath, PathStep


def show_packet(
    file: str, seed: int, flow: str | None, packet: int | None, settings: Sequence[str], *, json: bool
) -> None:
    """Shows the path of a packet."""
    from fairwave.packet_path import trace_packet

    seeds(seed, 1)
    read = scenario(file, settings)
    try:
        path = trace_packet(read, flow=flow, packet=packet, seed=seed)
    except ValueError as error:
        raise BadInputError(f"{file}: {error}") from None
    if json:
        console.document(asdict(path))
        return
    console.out.print(f"\n[bold]{escape(_title(read.name, path, seed))}[/]", soft_wrap=True)
    rows = [("time (ms)", "place", "step", "waiting", "source line", "")]
    rows += [
        (f"{step.time_s * 1e3:.6f}", step.place, step.step, _waiting(step), step.source, step.detail)
        for step in path.steps
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        aligned = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        console.out.print(escape(f"{aligned}  {row[5]}".rstrip()), soft_wrap=True)
    console.out.print(f"[dim]Chosen: {escape(path.chosen)}.[/]", soft_wrap=True)


def _title(name: str, path: PacketPath, seed: int) -> str:
    return f"{name}: packet {path.packet} of {path.sent} of {path.flow}, {path.bytes} B, seed {seed}"


def _waiting(step: PathStep) -> str:
    """The queue at an arrival."""
    if step.waiting_packets is None:
        return ""
    return (
        f"{step.waiting_packets}"
        if step.waiting_bytes is None
        else f"{step.waiting_packets}, {step.waiting_bytes} B"
    )
