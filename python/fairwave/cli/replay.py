"""`fairwave replay`."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fairwave.cli import console
from fairwave.cli.input import refuse_other
from fairwave.errors import BadInputError

if TYPE_CHECKING:
    from fairwave.replay import Capture

SHOWN = 30
"""Largest number of flows in the list."""


def show_replay(
    file: Path,
    *,
    rate: str | None,
    delay: str,
    queue: str,
    most: int,
    tcp: Literal["transfer", "packets"],
    out: Path | None,
    losses: Path | None,
    select: str | None,
    json: bool,
) -> None:
    """Lists the flows of a capture, and writes a scenario or a pattern of loss on request."""
    from fairwave import patterns, replay

    if out and not rate:
        raise BadInputError(
            "--out writes a scenario, which needs the rate of its link: add for example --rate '2 Mb/s'"
        )
    try:
        with console.progress(f"reading {file.name}") as progress:
            capture = replay.read(file, progress=progress)
        chosen = capture.find(select)
    except (FileNotFoundError, replay.CaptureError) as error:
        refuse_other(file, "a capture", ("capture",))
        raise BadInputError(str(error)) from None
    written: dict[str, str] = {}
    if losses:
        lost = next((one.losses() for one in ([chosen] if select else capture.flows) if one.is_rtp), None)
        if lost is None:
            what = chosen.name if select else str(file)
            raise BadInputError(f"--losses needs a flow of RTP, whose packets are numbered; {what} has none")
        written["losses"] = str(patterns.write(losses, lost))
    if rate:
        where = out or file.with_suffix(".toml")
        name = os.path.relpath(file.resolve(), where.resolve().parent)
        _check(rate, delay, queue)
        try:
            text = replay.scenario_text(
                capture, rate=rate, delay=delay, queue=queue, most=most, tcp=tcp, file=name
            )
        except replay.CaptureError as error:
            raise BadInputError(str(error)) from None
        if out is None and where.exists():
            raise BadInputError(
                f"{where} exists already: add --out FILE to choose another name, or to overwrite it"
            )
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text, encoding="utf-8")
        written["scenario"] = str(where)
    if json:
        console.document(
            {
                "flows": [one.to_dict() for one in capture.flows],
                "notes": capture.notes.sentences(),
                "written": written,
            }
        )
        return
    _show(capture)
    for path in written.values():
        console.say(f"\nwritten: {path}")
    if "scenario" in written:
        console.say(f"run it with: fairwave run {written['scenario']}")
    elif not written:
        console.say(f"\nreplay all over one link: fairwave replay {file} --rate '2 Mb/s'")


def _check(rate: str, delay: str, queue: str) -> None:
    """Refuses an invalid rate, delay or queue, before anything is written."""
    import fairwave
    from fairwave.replay.scenarios import network

    flow = ["[[flow]]", 'name = "flow"', 'transport = "udp"', 'traffic = "voice"']
    try:
        fairwave.load("\n".join([*network("check", 10, rate, delay, queue), *flow]))
    except fairwave.ScenarioError as error:
        raise BadInputError(f"of --rate, --delay and --queue one cannot be read\n{error}") from None


def _show(capture: Capture) -> None:
    rows = []
    for one in capture.flows[:SHOWN]:
        lost = one.losses()
        rows.append(
            [
                str(one.number),
                one.name,
                str(one.packets),
                f"{one.ip_bytes}",
                f"{one.lasts_s:.3f}",
                _rate(one.rate_bps),
                "–" if lost is None else f"{int(lost.sum())} of {len(lost)}",
            ]
        )
    more = len(capture.flows) - SHOWN
    lasts = (capture.last_ns - capture.first_ns) / 1e9
    caption = f"{capture.notes.packets} packet{'s' * (capture.notes.packets != 1)} in {lasts:.3f} s" + (
        f"; and {more} smaller flows" if more > 0 else ""
    )
    console.table(
        capture.path,
        ["flow", "select", "packets", "bytes", "seconds", "rate", "lost before (RTP)"],
        rows,
        caption=caption,
    )
    for sentence in capture.notes.sentences():
        console.say(sentence)


def _rate(bits: float) -> str:
    if math.isnan(bits):
        return "–"
    for factor, unit in ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s")):
        if bits >= factor:
            return f"{bits / factor:.3g} {unit}"
    return f"{bits:.3g} b/s"
