"""Video: decodable frames by time, and bytes on the wire."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from practice.situation import (
    IN_STEP,
    Outcome,
    Situation,
    Table,
    about,
    between,
    exactly,
    flow,
    link,
    near,
    ran,
)

GROUP = "IBBPBBPBBPBB"
OPEN = "IPPPPPPPPP"


def traced(
    group: str,
    loss: str = "0",
    *,
    layers: int = 1,
    size: int = 1000,
    repeat: int = 10,
    path: str = "10 ms",
    rate: str = "100 Mb/s",
    playout: str = "1 s",
    seconds: float = 6,
) -> Outcome:
    """`repeat` groups of frames, with a packet of 1000 bytes per layer; `loss` has a character per packet."""
    frames = [{"type": letter, "sizes": [size] * layers} for letter in group] * repeat
    traffic = {"kind": "video-trace", "frames": frames, "playout-delay": playout}
    lost = {"model": "pattern", "pattern": loss, "repeat": False}
    return ran(link(rate, path, loss=lost), flow("video", "udp", traffic), seconds, hosts=IN_STEP)


def _lose_at(place: int) -> str:
    """A pattern that loses one packet."""
    return "0" * place + "1"


def _undecoded(group: str, loss: str, **how: object) -> float:
    """Frames that could not be shown."""
    (row,) = traced(group, loss, **how).rows("flows")  # type: ignore[arg-type]
    return round(row["frames"] * (1 - row["decodable_ratio"]), 6)


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _dependencies()
    yield from _deadlines()
    yield from _layers()
    yield from _rates()


def _dependencies() -> Iterator[Situation]:
    yield Situation(
        "video/intact", "Nothing lost: frames that can be decoded in time", "%",
        *exactly(100), "experience", lambda: 100 * traced(GROUP).mean("flows", "decodable_ratio"),
    )  # fmt: skip
    yield Situation(
        "video/frames", "Frames of 10 groups of 12", "frames",
        *exactly(120), "10·12", lambda: traced(GROUP).mean("flows", "frames"),
    )  # fmt: skip
    yield Situation(
        "video/lost-i", "An I frame lost, groups IPPPPPPPPP: frames that cannot be decoded", "frames",
        *exactly(10), "all that follow in the group refer to it, one through the other",
        partial(_undecoded, OPEN, _lose_at(20)),
    )  # fmt: skip
    yield Situation(
        "video/lost-i-open", "An I frame lost, groups IBBPBBPBBPBB", "frames",
        *exactly(14), "its group, and the two B frames before it, which refer to it, too",
        partial(_undecoded, GROUP, _lose_at(24)),
    )  # fmt: skip
    yield Situation(
        "video/lost-p", "The fifth of IPPPPPPPPP lost", "frames",
        *exactly(6), "itself and the five that follow", partial(_undecoded, OPEN, _lose_at(24)),
    )  # fmt: skip
    yield Situation(
        "video/lost-last-p", "The last P frame of IBBPBBPBBPBB lost", "frames",
        *exactly(5), "itself, two B frames before and two behind it", partial(_undecoded, GROUP, _lose_at(24 + 9)),
    )  # fmt: skip
    yield Situation(
        "video/lost-b", "A B frame lost", "frames",
        *exactly(1), "nothing refers to it", partial(_undecoded, GROUP, _lose_at(25)),
    )  # fmt: skip
    yield Situation(
        "video/one-of-five", "One packet lost of the five of an I frame, groups IPPPPPPPPP", "frames",
        *exactly(10), "a frame that lacks a packet cannot be decoded",
        partial(_undecoded, OPEN, _lose_at(10 * 5 * 2 + 2), size=6000),
    )  # fmt: skip


def _deadlines() -> Iterator[Situation]:
    yield Situation(
        "video/late", "A path of 2 s, shown after 1 s: frames that can be decoded in time", "%",
        *exactly(0), "experience",
        lambda: 100 * traced(GROUP, path="2 s", seconds=12).mean("flows", "decodable_ratio"),
    )  # fmt: skip
    yield Situation(
        "video/late-units", "The same: units that come too late, of those that come", "%",
        *exactly(100), "experience",
        lambda: 100 * traced(GROUP, path="2 s", seconds=12).share("late_units", "units_received"),
    )  # fmt: skip
    yield Situation(
        "video/reordering", "IBBPBBPBBPBB shown 30 ms after it was made, path 10 ms: frames decoded in time", "%",
        *near(100 * (40 + 2) / 120, 1e-6), "a B frame waits for the reference behind it, 40 or 80 ms later; only the last two have none",
        lambda: 100 * traced(GROUP, playout="30 ms").mean("flows", "decodable_ratio"),
    )  # fmt: skip
    yield Situation(
        "video/half-reordering", "The same shown after 60 ms", "%",
        *near(100 * (80 + 1) / 120, 1e-6), "the second B frame's reference is 40 ms away, the first one's 80",
        lambda: 100 * traced(GROUP, playout="60 ms").mean("flows", "decodable_ratio"),
    )  # fmt: skip
    yield Situation(
        "video/enough-reordering", "The same shown after 95 ms", "%",
        *exactly(100), "80 + 10 ms and a packet's transmission",
        lambda: 100 * traced(GROUP, playout="95 ms").mean("flows", "decodable_ratio"),
    )  # fmt: skip
    yield Situation(
        "video/queued", "I frames of 25 kB each 400 ms over 1 Mb/s, shown after 150 ms: decoded in time", "%",
        *exactly(0), "25 kB take over 200 ms",
        lambda: 100 * ran(
            link("1 Mb/s", "10 ms"),
            flow("video", "udp", {
                "kind": "video-trace", "frames": [{"type": "I", "sizes": [25_000]}] * 20, "frame-rate": 2.5,
                "playout-delay": "150 ms",
            }), 10, hosts=IN_STEP,
        ).mean("flows", "decodable_ratio"),
    )  # fmt: skip


def _layers() -> Iterator[Situation]:
    yield Situation(
        "video/layers", "Three layers, nothing lost: layers decoded", "layers",
        *exactly(3), "experience", lambda: traced(OPEN, layers=3).mean("flows", "decodable_layers"),
    )  # fmt: skip
    yield Situation(
        "video/lost-enhancement", "Two layers, the second of one I frame lost, 10 groups of 10: layers decoded", "layers",
        *exactly((200 - 10) / 100), "its group has the base alone",
        lambda: traced(OPEN, _lose_at(2 * 20 + 1), layers=2).mean("flows", "decodable_layers"),
    )  # fmt: skip
    yield Situation(
        "video/enhancement-shown", "The same: frames that can be decoded", "%",
        *exactly(100), "the base layer suffices",
        lambda: 100 * traced(OPEN, _lose_at(2 * 20 + 1), layers=2).mean("flows", "decodable_ratio"),
    )  # fmt: skip
    yield Situation(
        "video/lost-base", "Two layers, the base of one I frame lost: layers decoded", "layers",
        *exactly((200 - 20) / 100), "an enhancement without its base is of no use",
        lambda: traced(OPEN, _lose_at(2 * 20), layers=2).mean("flows", "decodable_layers"),
    )  # fmt: skip


def _modelled(rate: str = "100 Mb/s", transport: str | Table = "udp", seeds: int = 3) -> Outcome:
    return ran(link(rate, "10 ms"), flow("video", transport, "video"), 120, warmup="5 s", seeds=seeds)


def _packets(transport: str) -> float:
    """Packets of a frame of 5000 B."""
    traffic = {"kind": "video-trace", "frames": [{"type": "I", "sizes": [5000]}] * 500}
    outcome = ran(
        link("100 Mb/s", "10 ms"), flow("video", transport, traffic), 20, hosts=IN_STEP, warmup="5 s"
    )
    return outcome.share("packets_sent", "units_sent")


def _rates() -> Iterator[Situation]:
    yield Situation(
        "video/rate", "25 frames of 5000 B per second: goodput", "kb/s",
        *about(1000, 0.01), "frame rate times size",
        lambda: traced("I", size=5000, repeat=500, seconds=20).mean("flows", "goodput_bps") / 1e3,
    )  # fmt: skip
    yield Situation(
        "video/wire", "The same over UDP in datagrams of at most 1200 B: bytes on the wire of a frame", "B",
        *about(5000 + 5 * 40, 1e-6), "five packets, 40 B of headers each",
        lambda: traced("I", size=5000, repeat=500, seconds=20).share("wire_sent", "units_sent"),
    )  # fmt: skip
    for transport in ("rtcp", "dvrc"):
        yield Situation(
            f"video/packets-{transport}", f"Packets of that video over {transport.upper()} for each over UDP, nothing lost", "",
            *about(1, 0.02), "experience: transports are compared with packets of one size",
            lambda transport=transport: _packets(transport) / _packets("udp"),  # type: ignore[misc]
        )  # fmt: skip
    yield Situation(
        "video/model", "The default video, five layers of 1.024 Mb/s together: goodput", "kb/s",
        *about(1024, 0.04), "128 + 128 + 128 + 256 + 384 kb/s; ± 4 σ", lambda: _modelled(seeds=20).mean("flows", "goodput_bps") / 1e3,
    )  # fmt: skip
    yield Situation(
        "video/halved", "The default video over 512 kb/s, UDP: goodput, of the link", "%",
        *between(94.8, 88, 94.8), "the link is full; of a frame 7·40 B are headers, 5120 B payload, and a torn frame is of no use",
        lambda: 100 * _modelled("512 kb/s").mean("flows", "goodput_bps") / 512e3,
    )  # fmt: skip
    yield Situation(
        "video/rtcp", "The default video by an RTP that adapts its layers, over 512 kb/s: goodput, of the link", "%",
        *between(75, 40, 100), "experience: it takes most of the link, never more than all",
        lambda: 100 * _modelled("512 kb/s", "rtcp").mean("flows", "goodput_bps") / 512e3,
    )  # fmt: skip
    yield Situation(
        "video/tfrc-wait", "The default video by TFRC over 512 kb/s, 120 s: the longest that anything waits in the sender", "s",
        *about(120 * (1 - 0.49 / 1.024), 0.2), "what is offered at 1.024 Mb/s and goes at some 490 kb/s piles up: T(1 − C/offered)",
        lambda: _modelled("512 kb/s", "tfrc", 10).mean("flows", "sender_wait_max_s"),
    )  # fmt: skip
    yield Situation(
        "video/dvrc-wait", "The default video by DVRC over 512 kb/s: the longest that anything waits in the sender", "ms",
        *between(200, 0, 200), "its parameter `most-delay`, 200 ms",
        lambda: 1e3 * max(_modelled("512 kb/s", "dvrc").values("flows", "sender_wait_max_s")),
    )  # fmt: skip
