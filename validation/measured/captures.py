"""Captures of calls with known values: kinds of calls, written on every kind of link, and read again.

Run `python -m validation captures` to see the table. The right values follow from how each file is made, not from
fairwave. `tests/test_streams.py` compares the reader with tshark.
"""

from __future__ import annotations

import gzip
import struct
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fairwave import captures
from fairwave.foreign import ForeignFileError
from validation.measured.made_captures import pcap, pcapng
from validation.measured.made_streams import (
    DTLS,
    MS,
    RTCP,
    STUN,
    Frames,
    Talk,
    back,
    every,
    frame,
    merge,
    packet,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Values = dict[int, tuple[int, int, int | None, str]]
"""For each SSRC: packets lost, duplicates, clock in Hz, and role."""

SNAP = b"\xaa\xaa\x03\0\0\0\x08\0"
ETHERNET = bytes(12)


def _wrap_in_gre(contents: bytes) -> bytes:
    outer = struct.pack(">BBHHHBBH", 0x45, 0, 24 + len(contents), 0, 0, 64, 47, 0) + bytes(
        (192, 0, 2, 1, 192, 0, 2, 2)
    )
    return ETHERNET + b"\x08\0" + outer + b"\0\0\x08\0" + contents


LINKS: dict[str, tuple[int, Callable[[bytes], bytes]]] = {
    "Ethernet": (1, lambda ip: ETHERNET + b"\x08\0" + ip),
    "VLAN": (1, lambda ip: ETHERNET + b"\x81\0\0\5\x08\0" + ip),
    "PPPoE": (
        1,
        lambda ip: ETHERNET + b"\x88\x64\x11\0\0\1" + struct.pack(">H", len(ip) + 2) + b"\0\x21" + ip,
    ),
    "MPLS": (1, lambda ip: ETHERNET + b"\x88\x47\0\2\1\x40" + ip),
    "raw IP": (101, lambda ip: ip),
    "PPP": (9, lambda ip: b"\xff\3\0\x21" + ip),
    "Linux cooked 2": (276, lambda ip: b"\x08\0" + bytes(18) + ip),
    "BSD loopback": (0, lambda ip: struct.pack("<I", 2) + ip),
    "radiotap": (127, lambda ip: struct.pack("<BBHI", 0, 0, 8, 0) + b"\x08\1" + bytes(22) + SNAP + ip),
    "GRE": (1, _wrap_in_gre),
}
"""Link types, each with its number and a function that puts a packet of IP into a frame."""


@dataclass(frozen=True)
class Case:
    """A kind of call: its description, frames of Ethernet, and right values."""

    what: str
    frames: Frames
    right: Values


def number(numbers: list[int], stamps: list[int]) -> Frames:
    """A stream of speech with these numbers and timestamps, one packet every 20 ms."""
    return [(20 * MS * at, frame(packet(*one))) for at, one in enumerate(zip(numbers, stamps, strict=True))]


def make_video() -> tuple[Frames, Frames]:
    """A video that loses every 40th packet, and the retransmissions of these, without encryption."""
    bodies = {n: bytes((n % 251,)) * (700 + n % 7) for n in range(1200)}
    lost = range(11, 1200, 40)
    sent = [
        (25 * MS * n // 3, frame(packet(n, 3000 * (n // 4), 2, 96, bodies[n])))
        for n in bodies
        if n not in lost
    ]
    again = [
        (
            25 * MS * n // 3 + 60 * MS,
            frame(packet(at, 3000 * (n // 4), 9, 97, struct.pack(">H", n) + bodies[n])),
        )
        for at, n in enumerate(lost)
    ]
    return sent, again


def make_cases() -> list[Case]:
    """Every kind of call."""
    speech = (0, 0, 8000, "media")
    video, again = make_video()
    camera = Talk(kind=96, clock=90_000, ssrc=2, size=900, step_ms=5, count=2000, lost=(3, 4))
    correction = [
        (50 * MS * n + 1, frame(packet(n, 4500 * n, 5, 98, bytes(8) + b"\1\0\0\0" + struct.pack(">I", 2) + bytes(90))))
        for n in range(150)
    ]  # fmt: skip
    outage = [(20 * MS * n, frame(packet(n, 160 * n))) for n in range(5000) if not 500 <= n < 4000]
    order = [*range(300), *range(360, 700), *range(300, 360), *range(700, 800)]
    relayed = [(20 * MS * n, frame(struct.pack(">HH", 0x4001, 172) + packet(n, 160 * n))) for n in range(100)]
    home = [(20 * MS * n + 7 * MS, back(packet(n, 160 * n, 8))) for n in range(500)]
    opus = Talk(kind=111, clock=48_000, size=80, lost=(400, 401), count=1000)
    mixed = merge(opus.frames(), every(100, RTCP, 200), every(2500, STUN, 8), every(7000, DTLS, 3))
    return [
        Case("speech, 6 of 500 lost", Talk(lost=(3, 4, 50, 200, 201, 202)).frames(), {7: (6, 0, 8000, "media")}),
        Case("jitter of 15 ms", Talk(jitter_ms=15).frames(), {7: speech}),
        Case("duplicates", Talk(again=(7, 8, 300), lost=(10,)).frames(), {7: (1, 3, 8000, "media")}),
        Case("reordered packets", Talk(late=(20, 40, 60)).frames(), {7: speech}),
        Case("numbers pass 65535", Talk(first=65_500, lost=(35, 36)).frames(), {7: (2, 0, 8000, "media")}),
        Case("DVI4, 11 025 Hz", Talk(kind=16, clock=11_025).frames(), {7: (0, 0, 11_025, "media")}),
        Case("L16, 44 100 Hz", Talk(kind=11, clock=44_100).frames(), {7: (0, 0, 44_100, "media")}),
        Case("Opus next to RTCP, STUN and DTLS", mixed, {7: (2, 0, 48_000, "media")}),
        Case(
            "another SSRC at 10 s",
            merge(Talk(lost=(5,), ssrc=1).frames(), Talk(lost=(1, 2), ssrc=2, begin_ms=10_000).frames()),
            {1: (1, 0, 8000, "media"), 2: (2, 0, 8000, "media")},
        ),
        Case(
            "speech and video on one port",
            merge(opus.frames(), camera.frames()),
            {7: (2, 0, 48_000, "media"), 2: (2, 0, 90_000, "media")},
        ),
        Case(
            "video and retransmissions",
            merge(video, again),
            {2: (30, 0, 90_000, "media"), 9: (0, 0, 90_000, "rtx")},
        ),
        Case(
            "video and FlexFEC",
            merge(camera.frames(), correction),
            {2: (2, 0, 90_000, "media"), 5: (0, 0, 90_000, "fec")},
        ),
        Case(
            "numbers begin anew",
            number([*range(100, 300), *range(40_000, 40_200), 40_201], [160 * n for n in range(401)]),
            {7: (1, 0, 8000, "media")},
        ),
        Case("an outage of 70 s", outage, {7: (3500, 0, 8000, "media")}),
        Case("60 packets held back", number(order, [160 * n for n in order]), {7: speech}),
        Case("relayed by TURN", relayed, {7: speech}),
        Case("a conversation", merge(Talk().frames(), home), {7: speech, 8: speech}),
    ]  # fmt: skip


def try_file(case: Case, link: str, folder: Path) -> Values | str:
    """Writes a call on one link and reads it; a message if it was refused."""
    kind, wrap = LINKS[link]
    frames = [(at, wrap(one[14:])) for at, one in case.frames]
    write = pcapng if len(case.frames) % 2 else pcap
    path = write(folder / "file", frames, link=kind)
    if len(case.what) % 2:
        path.write_bytes(gzip.compress(path.read_bytes(), 1))
    try:
        found = captures.read(path).streams
    except ForeignFileError as error:
        return str(error)
    return {one.ssrc: (one.lost, one.duplicates, one.clock, one.role) for one in found}


def describe(values: Values) -> str:
    """Values in words: `media 8000 Hz: 6 lost, 0 twice`."""
    return "; ".join(
        f"{role} {clock} Hz: {lost} lost, {again} twice" for lost, again, clock, role in values.values()
    )


ABOUT = """Each row is a kind of call, each column a link. The files are made packet by packet, so the right values are
known: for each stream its role and clock, the packets lost, and the packets that arrived twice. About half of the files
are pcapng, and about half are compressed."""


def render(_: Path) -> str:
    """Makes and reads all files, and renders the table."""
    lines, right, total = [], 0, 0
    with tempfile.TemporaryDirectory() as name:
        for case in make_cases():
            cells = []
            for link in LINKS:
                found = try_file(case, link, Path(name))
                right, total = right + (found == case.right), total + 1
                wrong = found if isinstance(found, str) else describe(found)
                cells.append("right" if found == case.right else f"**{wrong}**")
            lines.append(f"| {case.what} | {describe(case.right)} | {' | '.join(cells)} |")
    head = f"| call | right values | {' | '.join(LINKS)} |\n|---|---|{'---|' * len(LINKS)}"
    counted = f"{right} of {total} files have the right values."
    return "\n".join(["# Captures of calls with known values", "", ABOUT, "", counted, "", head, *lines, ""])


def main() -> int:
    """Prints the table; the status is 1 if a value is wrong."""
    text = render(Path())
    sys.stdout.write(text)
    return int("**" in text)
