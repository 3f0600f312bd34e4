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
    from fairwave.captures import Capture

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
    sdp: Path | None = None,
) -> None:
    """Lists the flows of a capture, and writes a scenario or a pattern of loss on request."""
    from fairwave import captures, patterns, replay

    if out and not rate:
        raise BadInputError(
            "--out writes a scenario, which needs the rate of its link: add for example --rate '2 Mb/s'"
        )
    try:
        with console.progress(f"reading {file.name}") as progress:
            description = captures.read_description(sdp) if sdp else None
            capture = replay.read(file, progress=progress, description=description)
        chosen = capture.find(select)
    except (FileNotFoundError, replay.CaptureError) as error:
        refuse_other(file, "a capture", ("capture",))
        raise BadInputError(str(error)) from None
    written: dict[str, str] = {}
    if losses:
        lost = next((one.losses() for one in ([chosen] if select else capture.media) if one.is_rtp), None)
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
                one.direction,
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
        ["flow", "select", "packets", "bytes", "seconds", "rate", "direction", "lost before (RTP)"],
        rows,
        caption=caption,
    )
    if capture.streams:
        list_streams(capture)
    show_notes(capture)


def list_streams(capture: Capture) -> None:
    """Prints a table of the streams of RTP in a capture."""
    entries = [one for one in capture.flows if one.stream is not None]
    rows = []
    for one in entries[:SHOWN]:
        stream = one.stream
        assert stream is not None
        jitter, largest = stream.mean_jitter_s, stream.largest_jitter_s
        codec = stream.format.codec if stream.format else f"type {stream.payload_type}"
        rows.append(
            [
                str(one.number),
                f"0x{stream.ssrc:08x}",
                codec + (f", {stream.clock} Hz" if stream.clock else ""),
                stream.role + (f" of 0x{stream.repairs:08x}" if stream.repairs is not None else ""),
                f"{stream.lost} of {stream.expected}",
                str(stream.duplicates),
                str(stream.reordered),
                str(stream.restarts),
                "–" if jitter is None or largest is None else f"{1e3 * jitter:.2f} ({1e3 * largest:.2f})",
            ]
        )
    more = len(entries) - SHOWN
    console.table(
        "streams of RTP",
        [
            "flow",
            "SSRC",
            "codec",
            "carries",
            "lost",
            "duplicates",
            "reordered",
            "restarts",
            "jitter, ms (largest)",
        ],
        rows,
        caption=f"and {more} smaller streams" if more > 0 else "",
    )


def show_notes(capture: Capture) -> None:
    """Prints what the reader repaired or left out."""
    for sentence in capture.notes.sentences():
        console.say(sentence)


def _rate(bits: float) -> str:
    if math.isnan(bits):
        return "–"
    for factor, unit in ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s")):
        if bits >= factor:
            return f"{bits / factor:.3g} {unit}"
    return f"{bits:.3g} b/s"
