"""One end of a WebRTC session by aiortc: sends speech and a moving picture, or receives them, and writes its getStats.

`examples/live/webrtc.py` runs it at two hosts of a network on real packets; it does not depend on fairwave. Both ends
exchange their descriptions over one connection, and the only candidates are the hosts' addresses, without any server.

    python webrtc_end.py receive --stats receiver.jsonl --seconds 20
    python webrtc_end.py send ADDRESS --stats sender.jsonl --seconds 20 --speech said.wav
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import wave
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

try:
    from aiortc import (
        AudioStreamTrack,
        RTCConfiguration,
        RTCPeerConnection,
        RTCSessionDescription,
        VideoStreamTrack,
    )
    from aiortc.contrib.media import MediaBlackhole
    from av import AudioFrame, VideoFrame
except ImportError as missing:
    sys.exit(f"{missing}: this program needs aiortc; install it with: pip install aiortc")

PORT = 7000
WIDTH, HEIGHT = 640, 360


class Speech(AudioStreamTrack):
    """A looped wav file of 8 kHz, mono, 16 bits, in frames of 20 ms."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        with wave.open(str(path)) as file:
            self.samples = file.readframes(file.getnframes())

    async def recv(self) -> AudioFrame:
        """Returns the next frame. The base class provides its time and silence, which is replaced."""
        frame = await super().recv()
        size = frame.samples * 2
        at = frame.pts * 2 % max(len(self.samples) - size, 1)
        frame.planes[0].update(self.samples[at - at % 2 :][:size].ljust(frame.planes[0].buffer_size, b"\0"))
        return frame


class Picture(VideoStreamTrack):
    """Slanted bars that move by four pixels per frame."""

    async def recv(self) -> VideoFrame:
        """Returns the next frame at its time."""
        pts, base = await self.next_timestamp()
        moved = int(pts * base * 30) * 4
        frame = VideoFrame(WIDTH, HEIGHT, "yuv420p")
        luma, chroma, other = frame.planes
        bar = bytes((x * 3) % 220 + 16 for x in range(luma.line_size + 256))
        luma.update(b"".join(bar[(moved + y) % 256 :][: luma.line_size] for y in range(HEIGHT)))
        for plane, level in ((chroma, 90), (other, 160)):
            plane.update(bytes([level]) * plane.buffer_size)
        frame.pts, frame.time_base = pts, Fraction(base)
        return frame


async def log_statistics(peer: RTCPeerConnection, path: Path, seconds: float) -> None:
    """Writes getStats once a second for `seconds` and at the end, one line each."""
    clock = asyncio.get_running_loop().time
    begun, now = clock(), 0.0
    with path.open("w", encoding="utf-8") as file:
        while now < seconds:
            await asyncio.sleep(max(min(1.0, seconds - now), 0.0))
            now = clock() - begun
            report = [asdict(one) for one in (await peer.getStats()).values()]
            file.write(json.dumps({"at_s": round(now, 3), "stats": report}, default=str) + "\n")
            file.flush()


async def send_description(writer: asyncio.StreamWriter, peer: RTCPeerConnection) -> None:
    """Sends the local session description to the other end."""
    said = {"sdp": peer.localDescription.sdp, "type": peer.localDescription.type}
    writer.write(json.dumps(said).encode() + b"\n")
    await writer.drain()


async def receive_description(reader: asyncio.StreamReader, peer: RTCPeerConnection) -> None:
    """Receives the session description of the other end."""
    await peer.setRemoteDescription(RTCSessionDescription(**json.loads(await reader.readline())))


async def send(address: str, speech: Path, stats: Path, seconds: float) -> None:
    """Sends an offer, then media."""
    peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    peer.addTrack(Speech(speech))
    peer.addTrack(Picture())
    for _ in range(100):
        try:
            reader, writer = await asyncio.open_connection(address, PORT)
            break
        except OSError:
            await asyncio.sleep(0.1)
    else:
        sys.exit(f"nobody listens at {address}, port {PORT}: start the receiver first")
    await peer.setLocalDescription(await peer.createOffer())
    await send_description(writer, peer)
    await receive_description(reader, peer)
    await log_statistics(peer, stats, seconds)
    await peer.close()


async def receive(stats: Path, seconds: float) -> None:
    """Accepts the first offer, then receives media."""
    came: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Future()
    server = await asyncio.start_server(lambda *both: came.set_result(both), "0.0.0.0", PORT)
    reader, writer = await came
    server.close()
    peer, sink = RTCPeerConnection(RTCConfiguration(iceServers=[])), MediaBlackhole()
    peer.on("track", sink.addTrack)
    await receive_description(reader, peer)
    await peer.setLocalDescription(await peer.createAnswer())
    await send_description(writer, peer)
    await sink.start()
    await log_statistics(peer, stats, seconds)
    await sink.stop()
    await peer.close()


def main() -> None:
    """Runs one end for the given time."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("what", choices=["send", "receive"])
    options.add_argument("address", nargs="?", help="of the receiver")
    options.add_argument(
        "--stats", type=Path, required=True, help="where getStats is written, a line a second"
    )
    options.add_argument("--seconds", type=float, default=20.0)
    options.add_argument("--speech", type=Path, help="what is said: a wav file of 8 kHz, mono, 16 bits")
    asked = options.parse_args()
    if asked.what == "receive":
        asyncio.run(receive(asked.stats, asked.seconds))
    elif asked.address and asked.speech:
        asyncio.run(send(asked.address, asked.speech, asked.stats, asked.seconds))
    else:
        options.error("send needs an address, and --speech FILE")


if __name__ == "__main__":
    main()
