"""A server that shows the lab to the devices in a local network, such as the phones of a class."""

from __future__ import annotations

import gzip
import socket
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOOPBACK = "127.0.0.1"

PATHS = ("/", "/lab.html")


class _Handler(BaseHTTPRequestHandler):
    """Answers requests for the page; every other path is unknown."""

    server: LabServer
    server_version = "fairwave"
    sys_version = ""
    timeout = 30  # a device that stays silent does not hold a thread
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # the base class sets the name
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        if self.path.partition("?")[0] not in PATHS:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        is_packed = "gzip" in self.headers.get("Accept-Encoding", "")
        body = self.server.packed if is_packed else self.server.page
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Vary", "Accept-Encoding")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        if is_packed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        if with_body:
            self.server.devices.add(self.client_address[0])
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Prints nothing: a class would fill the terminal."""


class LabServer(ThreadingHTTPServer):
    """Serves one page.

    Attributes:
        page: The page, in UTF-8.
        packed: The same, compressed by gzip.
        devices: Addresses of the devices that have loaded the page.
    """

    daemon_threads = True
    # On Windows, this option of sockets would let two servers share a port.
    allow_reuse_address = sys.platform != "win32"

    def __init__(self, page: str, listen: str, port: int) -> None:
        """Opens the port.

        Args:
            page: The page.
            listen: Address of this computer; empty for all of them.
            port: The port; 0 for any free one.

        Raises:
            OSError: The port or the address cannot be used.
        """
        self.page = page.encode()
        self.packed = gzip.compress(self.page, 6, mtime=0)
        self.devices: set[str] = set()
        super().__init__((listen, port), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Prints nothing: a phone that leaves the network breaks its connection."""

    @property
    def port(self) -> int:
        """The port."""
        return int(self.server_address[1])


def find_lan_address() -> str | None:
    """This computer's address in its network; None without a network. Nothing is sent.

    The system chooses the address from which it would reach a host elsewhere.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address for documentation (RFC 5737)
            address = str(probe.getsockname()[0])
        except OSError:
            return None
    return None if address.startswith("127.") or address == "0.0.0.0" else address
