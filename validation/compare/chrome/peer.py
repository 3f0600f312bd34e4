"""The program of each host of a call: a browser, and on host `a` the server of its page and its log.

`fairwave shell` runs it as `python peer.py ROLE FOLDER SECONDS CHROMIUM MOST BOTH SESSIONS`. The caller is on host `a`
with the server. The logs of both browsers are lines of files in FOLDER.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SERVER = "a"
"""The name of the server's host."""

PORT = 8080

CONNECTED = "connected.txt"
"""File with the seconds from the beginning of the network, which begins with its programs, to the call's."""

BEGAN = time.monotonic()


class Shelf(BaseHTTPRequestHandler):
    """The page, the descriptions of both ends, and their log."""

    def __init__(self, kept: dict[str, bytes], folder: Path, *args: Any) -> None:
        self.kept, self.folder = kept, folder
        super().__init__(*args)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        """The page or a description, if it is there."""
        name = self.path.partition("?")[0].strip("/")
        if not name:
            page = Path(__file__).with_name("page.html").read_bytes()
            return self._answer(200, page, "text/html; charset=utf-8")
        body = self.kept.get(name)
        return self._answer(404, b"") if body is None else self._answer(200, body)

    def do_POST(self) -> None:
        """Keeps a description, or adds a line to a log."""
        name = self.path.strip("/")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kind, _, number = name.rpartition("-")
        first = kind if number.isdecimal() else name
        if first in {"offer", "answer"}:
            self.kept[name] = body
        elif first in {f"{what}-{role}" for what in ("log", "error") for role in ("caller", "callee")}:
            if name == "log-caller" and not (self.folder / CONNECTED).exists():
                # The first line comes a second after the connection.
                (self.folder / CONNECTED).write_text(f"{time.monotonic() - BEGAN - 1}\n", encoding="utf-8")
            with (self.folder / f"{name}.jsonl").open("ab") as file:
                file.write(body.replace(b"\n", b" ") + b"\n")
        self._answer(200, b"")

    def _answer(self, status: int, body: bytes, kind: str = "text/plain") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def browser(chromium: str, role: str, clip: Path, most: int, sessions: int, *, both: bool) -> list[str]:
    """The command that opens the page."""
    profile = tempfile.mkdtemp(prefix="chromium-")
    origin = f"http://{SERVER}:{PORT}"
    return [
        chromium,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={profile}",
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        f"--use-file-for-fake-video-capture={clip}",
        f"--unsafely-treat-insecure-origin-as-secure={origin}",
        "--autoplay-policy=no-user-gesture-required",
        # No resolver here knows mDNS names of candidates.
        "--disable-features=WebRtcHideLocalIpsWithMdns",
        "--disable-background-timer-throttling",
        "--disable-backgrounding-occluded-windows",
        f"{origin}/?role={role}&most={most}&both={int(both)}&sessions={sessions}",
    ]


def main(arguments: list[str]) -> int:
    """One host's part of the call, until its time is over."""
    role, folder, seconds, chromium, most, both, sessions = arguments
    out = Path(folder)
    if role == "caller":
        server = ThreadingHTTPServer(("0.0.0.0", PORT), partial(Shelf, {}, out))
        threading.Thread(target=server.serve_forever, daemon=True).start()
    else:
        time.sleep(1)
    command = browser(chromium, role, out / "camera.y4m", int(most), int(sessions), both=both == "1")
    with (out / f"{role}.txt").open("wb") as said:
        running = subprocess.Popen(command, stdout=said, stderr=said)
        try:
            running.wait(timeout=float(seconds))
        except subprocess.TimeoutExpired:
            running.terminate()
            try:
                running.wait(timeout=5)
            except subprocess.TimeoutExpired:
                running.kill()
    profile = next(part for part in command if part.startswith("--user-data-dir=")).partition("=")[2]
    shutil.rmtree(profile, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
