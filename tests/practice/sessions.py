"""Media sessions: rates, repairs, bytes on the wire, and company."""

from __future__ import annotations

from collections.abc import Iterator

from practice.situation import IN_STEP, Outcome, Situation, Table, about, between, flow, link, near, ran

WEBRTC: Table = {"name": "webrtc"}
SPEECH: Table = {"kind": "media", "video": False}


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _rates()
    yield from _wire()
    yield from _repairs()
    yield from _company()


def _alone(control: str, rate: str = "1 Mb/s", packets: int = 100) -> Outcome:
    transport = WEBRTC | {"control": control, "feedback": "rfc8888" if control != "gcc" else "transport-wide"}
    return ran(link(rate, "25 ms", packets), flow("call", transport, "media"), 40, warmup="20 s")


def _rates() -> Iterator[Situation]:
    for control in ("gcc", "scream", "nada"):
        yield Situation(
            f"session/alone-{control}", f"A call by {control} alone on 1 Mb/s, after 20 s: utilisation", "%",
            *between(85, 65, 100), "RFC 8836 §2: use what the path has; never more than all of it",
            lambda control=control: 100 * _alone(control).mean("links", "utilisation", link="a>b"),
        )  # fmt: skip
    yield Situation(
        "session/limited", "A call on 20 Mb/s, after 20 s: target of the camera", "kb/s",
        *between(2500, 2250, 2500), "libwebrtc: at most 2.5 Mb/s for 1280 × 720",
        lambda: _alone("gcc", "20 Mb/s", 1000).values("media_outbound", "target_bps", stream="video")[-1] / 1e3,
    )  # fmt: skip


def _speech(**audio: object) -> Outcome:
    transport = WEBRTC | {"control": {"name": "fixed", "rate": "200 kb/s"}}
    return ran(
        link("10 Mb/s", "20 ms"), flow("call", transport, SPEECH | {"audio": audio}), 60, hosts=IN_STEP
    )


def _wire() -> Iterator[Situation]:
    for rate, frame in ((32, 20), (64, 20), (24, 60)):
        payload = rate * frame / 8
        yield Situation(
            f"session/opus-{rate}-{frame}", f"Opus at {rate} kb/s, frames of {frame} ms: payload bytes per packet", "B",
            *near(payload, 0.01), "RFC 7587 §4.2: rate × duration / 8",
            lambda rate=rate, frame=frame: (
                _speech(rate=f"{rate} kb/s", frame=f"{frame} ms").values("media_outbound", "bytes_sent")[-1]
                / _speech(rate=f"{rate} kb/s", frame=f"{frame} ms").values("media_outbound", "packets_sent")[-1]
            ),
        )  # fmt: skip
        yield Situation(
            f"session/packets-{rate}-{frame}", f"The same: packets of RTP sent in 60 s, {rate} kb/s by {frame} ms", "packets",
            *near(60_000 / frame, 2), "RFC 7587 §4.2: one frame a packet",
            lambda rate=rate, frame=frame: _speech(rate=f"{rate} kb/s", frame=f"{frame} ms").values("media_outbound", "packets_sent")[-1],
        )  # fmt: skip


def _lossy(rate: float, **keys: object) -> Outcome:
    loss = {"model": "bernoulli", "rate": rate}
    return ran(link("5 Mb/s", "20 ms", loss=loss), flow("call", WEBRTC | keys, "media"), 40)


def _repairs() -> Iterator[Situation]:
    yield Situation(
        "session/nack", "2 % lost, NACK and RTX, round trip 40 ms: time frozen", "%",
        *between(0, 0, 2), "RFC 4585, RFC 4588: one round trip repairs a loss",
        lambda: 100 * _lossy(0.02).mean("media", "freeze_ratio", stream="video"),
    )  # fmt: skip
    yield Situation(
        "session/no-repair", "The same without NACK and FEC: time frozen", "%",
        *between(40, 5, 100), "a frame lost stops all that depend on it until a key frame comes (RFC 4585 §6.3.1)",
        lambda: 100 * _lossy(0.02, nack=False).mean("media", "freeze_ratio", stream="video"),
    )  # fmt: skip
    yield Situation(
        "session/lost-speech", "2 % lost: packets of speech that stay lost, of those sent", "%",
        *near(2, 1.3), "binomial, 2000 packets; ± 4 σ",
        lambda: 100 * _lossy(0.02).total("media", "packets_lost", stream="audio")
        / _lossy(0.02).total("media", "packets_sent", stream="audio"),
    )  # fmt: skip


def _delay_with_cubic(discipline: str) -> float:
    wire = link("5 Mb/s", "20 ms") | {"queue": {"discipline": discipline, "capacity": {"packets": 400}}}
    call = flow("call", WEBRTC, SPEECH)
    outcome = ran(wire, [call, flow("bulk", "tcp/cubic", "bulk")], 40, warmup="10 s")
    return 1e3 * outcome.mean("media", "delay_s", stream="audio")


def _company() -> Iterator[Situation]:
    yield Situation(
        "session/cubic-fq-codel", "Speech of 58 kb/s next to CUBIC on 5 Mb/s, FQ-CoDel: mouth to ear", "ms",
        *between(90, 40, 150), "RFC 8290 §5.1: a sparse flow waits for a packet or two; ITU-T G.114: below 150 ms",
        lambda: _delay_with_cubic("fq-codel"),
    )  # fmt: skip
    yield Situation(
        "session/cubic-drop-tail", "The same with drop-tail and room for 400 packets: mouth to ear", "ms",
        *about(600, 0.5), "400 packets × 1500 B at 5 Mb/s take up to 960 ms, half of that in the mean at least",
        lambda: _delay_with_cubic("drop-tail"),
    )  # fmt: skip
