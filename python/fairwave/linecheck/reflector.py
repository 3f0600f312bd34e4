"""The other end of a measurement: it answers peers that have the key, and sends probes and load to these peers only.

The reflector sets the limits: number of sessions at once, duration of a session, and load in each direction. A session
ends after its peer was silent for `SILENT_S`. `Reflector.answered` and `Reflector.taken` count bytes exchanged with
peers that have not proved the key, so that tests can check that a reflector amplifies nothing.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairwave.linecheck import wire
from fairwave.linecheck.load import Allowance, Carried, prepare, receive_load, send_load
from fairwave.linecheck.probes import Log, datagrams, receive, send_probes

if TYPE_CHECKING:
    from collections.abc import Callable

SILENT_S = 6.0
"""Seconds without a probe after which a peer counts as gone."""

HANDSHAKE_S = 5.0
"""Longest duration of a handshake, in seconds."""

PENDING = 64
"""Largest number of connections within their handshake. For more, the oldest is closed."""

PER_ADDRESS = 20
"""Largest number of connections of one address (IPv6: one /64) within their handshake. 16 may carry load."""

EXTRA_S = 15.0
"""Time in seconds that a session may last beyond its probes, for the handshake and the report."""


@dataclass(frozen=True)
class Limits:
    """Limits that a reflector accepts.

    Attributes:
        sessions: Simultaneous measurements.
        longest_s: Longest measurement, in seconds.
        most: Bytes of load of a measurement in each direction.
    """

    sessions: int = 1
    longest_s: float = 120.0
    most: int = 200_000_000


@dataclass
class Session:
    """One measurement at the reflector."""

    secrets: wire.Secrets
    plan: wire.Plan
    ends_s: float
    log: Log = field(default_factory=Log)
    stopped: threading.Event = field(default_factory=threading.Event)
    address: tuple[Any, ...] | None = None
    opened: int = -1
    begun: set[tuple[bool, int]] = field(default_factory=set)
    down: list[Carried] = field(default_factory=list)
    up: list[Carried] = field(default_factory=list)
    allowed: dict[bool, Allowance] = field(default_factory=dict)
    heard_s: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def is_over(self) -> bool:
        """Whether the session must stop sending."""
        now = time.monotonic()
        return self.stopped.is_set() or now > self.ends_s or now - self.heard_s > SILENT_S

    def report(self) -> dict[str, Any]:
        """Returns this end's observations for the other end."""
        bins: dict[int, int] = {}
        for one in self.up:
            for bin_, count in list(one.bins.items()):
                bins[bin_] = bins.get(bin_, 0) + count
        return {
            "came": [[number, arrived] for number, _, arrived, _, _ in list(self.log.came)],
            "sent_ns": list(self.log.sent_ns),
            "late_ns": list(self.log.late_ns),
            "skipped": self.log.skipped,
            "up": sorted(bins.items()),
            "segments": [list(one.segments) for one in list(self.up)],
            "tcp": [one.tcp for one in self.down],
        }


class Handshakes:
    """Connections within their handshake, oldest first: at most `PENDING`, and `PER_ADDRESS` of one address.

    Idle connections cannot block others: at a limit the oldest is closed, first among connections of the same
    address.
    """

    def __init__(self) -> None:
        self._hosts: dict[socket.socket, str] = {}
        self._lock = threading.Lock()

    def add(self, connection: socket.socket, address: tuple[Any, ...]) -> None:
        """Adds a connection, and closes the oldest one if a limit is exceeded."""
        host = _network(address)
        with self._lock:
            mine = [one for one, other in self._hosts.items() if other == host]
            old = mine[0] if len(mine) >= PER_ADDRESS else None
            if old is None and len(self._hosts) >= PENDING:
                old = next(iter(self._hosts))
            if old is not None:
                del self._hosts[old]
                # The connection's thread closes the socket.
                with contextlib.suppress(OSError):
                    old.shutdown(socket.SHUT_RDWR)
            self._hosts[connection] = host

    def remove(self, connection: socket.socket) -> None:
        """Removes a connection after its handshake, successful or not."""
        with self._lock:
            self._hosts.pop(connection, None)


def _network(address: tuple[Any, ...]) -> str:
    """Returns the part of an address that one user has: an IPv4 address, or the /64 of an IPv6 address."""
    import ipaddress

    found = ipaddress.ip_address(str(address[0]).partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))
    return str(found)


class Reflector:
    """A reflector on one port of UDP and TCP.

    Args:
        key: The key that both ends have.
        host: Address to listen on; empty for all addresses.
        port: Port for UDP and TCP; 0 for any free port.
        limits: Limits that it accepts.
        say: Called with a sentence for each session.

    Raises:
        WireError: The key is too short.
        OSError: The address cannot be used.
    """

    def __init__(
        self, key: str, host: str = "", port: int = wire.PORT, limits: Limits | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:  # fmt: skip
        self.salt = os.urandom(wire.SALT)
        self.key = wire.derive_key(key, self.salt)
        self.limits = limits or Limits()
        self.say = say
        self.answered = 0
        self.taken = 0
        self._secret = os.urandom(32)
        self._sessions: dict[bytes, Session] = {}
        self._lock = threading.Lock()
        self._pending = Handshakes()
        self._closed = threading.Event()
        self._streams, self._datagrams = _bound(host, port)
        self.port = int(self._streams.getsockname()[1])

    def __enter__(self) -> Reflector:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Serves in background threads."""
        for work in (self._accept, self._hear):
            threading.Thread(target=work, daemon=True).start()

    def serve(self, seconds: float | None = None) -> None:
        """Serves for `seconds`, or without end."""
        self.start()
        ends = None if seconds is None else time.monotonic() + seconds
        while not self._closed.is_set() and (ends is None or time.monotonic() < ends):
            self._closed.wait(0.5 if ends is None else max(min(0.5, ends - time.monotonic()), 0.0))

    def close(self) -> None:
        """Ends all sessions."""
        self._closed.set()
        for one in list(self._sessions.values()):
            one.stopped.set()
        for made in (self._streams, self._datagrams):
            with contextlib.suppress(OSError):
                made.shutdown(socket.SHUT_RDWR)
            made.close()

    # UDP

    def _hear(self) -> None:
        while not self._closed.is_set():
            try:
                data, address, arrived = receive(self._datagrams)
            except OSError:
                if self._closed.is_set():
                    return
                continue
            self._on_datagram(data, address, arrived)

    def _on_datagram(self, data: bytes, address: tuple[Any, ...], arrived: int) -> None:
        session = self._sessions.get(wire.session_of(data))
        if session is None or session.is_over():
            self.taken += len(data)
            return
        try:
            probe, cookie = wire.read_datagram(session.secrets, data)
        except wire.WireError:
            self.taken += len(data)
            return
        if probe.kind == wire.OPEN:
            # Reply once per number: replayed datagrams get no reply.
            self.taken += len(data)
            if session.address is not None or probe.number <= session.opened:
                return
            session.opened = probe.number
            made = wire.cookie(self._secret, session.secrets.session, address)
            answer = wire.Probe(
                wire.COOKIES, session.secrets.session, probe.number, time.monotonic_ns(), wire.NONE, 0
            )
            self.answered += len(data)
            self._send(wire.datagram(session.secrets, answer, made), address)
        elif probe.kind == wire.BACK:
            if session.address is None and wire.same(
                cookie, wire.cookie(self._secret, session.secrets.session, address)
            ):
                session.address = address
                session.heard_s = time.monotonic()
                threading.Thread(target=self._probe, args=(session,), daemon=True).start()
        elif probe.kind == wire.UP and address == session.address:
            if len(session.log.came) < 2 * session.plan.probes:
                session.log.note(probe, arrived)
            session.heard_s = time.monotonic()

    def _send(self, data: bytes, address: tuple[Any, ...]) -> None:
        with contextlib.suppress(OSError):
            self._datagrams.sendto(data, address)

    def _probe(self, session: Session) -> None:
        address = session.address
        assert address is not None
        watch = threading.Thread(target=self._watch, args=(session,), daemon=True)
        watch.start()
        # Send for a second longer than the other end, so that its last probes have an echo.
        send_probes(
            lambda data: self._datagrams.sendto(data, address), session.secrets, wire.DOWN,
            session.plan.probes + 50, session.log, session.stopped,
        )  # fmt: skip

    def _watch(self, session: Session) -> None:
        while not session.stopped.wait(0.25):
            if session.is_over():
                session.stopped.set()

    # TCP

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, address = self._streams.accept()
            except OSError:
                if self._closed.is_set():
                    return
                time.sleep(0.05)
                continue
            self._pending.add(connection, address)
            threading.Thread(target=self._serve, args=(connection, address), daemon=True).start()

    def _serve(self, connection: socket.socket, address: tuple[Any, ...]) -> None:
        with connection, contextlib.suppress(OSError, wire.WireError):
            try:
                ends = time.monotonic() + HANDSHAKE_S
                begin = exactly(connection, len(wire.MAGIC) + 1, ends)
                self.taken += len(begin)
                if begin == wire.MAGIC + b"H":
                    self._session(connection, begin, ends, address)
                elif begin == wire.MAGIC + b"L":
                    self._load(connection, begin, ends)
            finally:
                self._pending.remove(connection)

    def _session(
        self,
        connection: socket.socket,
        begin: bytes,
        ends: float,
        address: tuple[Any, ...],
    ) -> None:
        rest = exactly(connection, wire.HELLO - len(begin), ends)
        self.taken += len(rest)
        theirs, ours = wire.read_hello(begin + rest), os.urandom(wire.NONCE)
        answer = wire.Challenge.create(self.key, self.salt, theirs, ours).to_bytes()
        connection.sendall(answer)
        self.answered += len(answer)
        flight = read_framed(connection, wire.FLIGHT, ends)
        self.taken += 4 + len(flight)
        written = flight[32:]
        if not wire.same(flight[:32], wire.code(self.key, b"measure", theirs, ours, written)):
            self.say(f"refused {plain(address)}: it does not have the key")
            return
        session, why = self._agreed(wire.Secrets.derive(self.key, theirs, ours), written)
        if session is None:
            connection.sendall(wire.framed(wire.refused(self.key, theirs, ours, why)))
            self.say(f"refused {plain(address)}: {why}")
            return
        self._pending.remove(connection)
        self.say(f"measures with {plain(address)} for {session.plan.lasts_s:g} s")
        try:
            connection.sendall(wire.framed(wire.accepted(self.key, theirs, ours, written)))
            self._control(connection, session)
        finally:
            session.stopped.set()
            with self._lock:
                self._sessions.pop(session.secrets.session, None)
            self.say(f"done with {plain(address)}")

    def _agreed(self, secrets: wire.Secrets, written: bytes) -> tuple[Session | None, str]:
        """Creates the session for a plan, or returns why the plan is refused."""
        try:
            plan = wire.Plan.from_bytes(written)
        except wire.WireError as error:
            return None, str(error)
        if plan.lasts_s > self.limits.longest_s:
            return None, f"{plan.lasts_s:g} s is longer than the {self.limits.longest_s:g} s that it allows"
        if plan.most > self.limits.most:
            return (
                None,
                f"{plan.most / 1e6:g} MB each way is more than the {self.limits.most / 1e6:g} MB that it allows",
            )
        made = Session(secrets, plan, time.monotonic() + plan.lasts_s + EXTRA_S)
        made.allowed = {True: Allowance(plan.most), False: Allowance(plan.most)}
        with self._lock:
            if len(self._sessions) >= self.limits.sessions:
                return None, "it is busy with another measurement; try again in a minute"
            self._sessions[secrets.session] = made
        return made, ""

    def _control(self, connection: socket.socket, session: Session) -> None:
        """Waits for the request of the report. The end of the connection ends the session."""
        flight = read_framed(connection, wire.FLIGHT, session.ends_s)
        if wire.unseal(session.secrets, b"up", 0, flight).get("ask") != "report":
            return
        session.stopped.set()
        answer = wire.seal(session.secrets, b"down", 0, session.report())
        connection.settimeout(HANDSHAKE_S * 2)
        connection.sendall(answer)
        with contextlib.suppress(OSError, wire.WireError):
            exactly(connection, 1, time.monotonic() + HANDSHAKE_S)

    def _load(self, connection: socket.socket, begin: bytes, ends: float) -> None:
        rest = exactly(connection, wire.LOAD - len(begin), ends)
        self.taken += len(rest)
        name, down, number, mark = wire.read_load_begin(begin + rest)
        session = self._sessions.get(name)
        if session is None or session.address is None or session.is_over():
            return
        if number >= session.plan.connections or not wire.is_load_begin(session.secrets, down, number, mark):
            return
        carried = Carried()
        with session.lock:
            if (down, number) in session.begun:
                return
            session.begun.add((down, number))
            (session.down if down else session.up).append(carried)
        self._pending.remove(connection)
        prepare(connection)
        stop = time.monotonic() + session.plan.phase_s + 2.0
        (send_load if down else receive_load)(
            connection, lambda: session.is_over() or time.monotonic() > stop, session.allowed[down], carried
        )


def _bound(host: str, port: int) -> tuple[socket.socket, socket.socket]:
    """Opens sockets of both protocols on one port."""
    if host:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
    else:
        family, address = (socket.AF_INET6, ("::", port)) if _has_ipv6() else (socket.AF_INET, ("", port))
    for _ in range(20):
        streams = socket.socket(family, socket.SOCK_STREAM)
        try:
            streams.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                streams.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            streams.bind(address)
            streams.listen(PENDING)
            return streams, datagrams(family, (address[0], streams.getsockname()[1], *address[2:]))
        except OSError:
            streams.close()
            if port:  # chosen by the user; otherwise try the next port, which may be free for both protocols
                raise
    raise OSError("no port is free for UDP and TCP")


def plain(address: tuple[Any, ...]) -> str:
    """Formats an address of a dual-stack socket for display."""
    return str(address[0]).removeprefix("::ffff:")


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as made:
            made.bind(("::", 0))
    except OSError:
        return False
    return True


def exactly(connection: socket.socket, count: int, ends_s: float) -> bytes:
    """Reads `count` bytes before the time `ends_s` of the monotonic clock.

    Raises:
        OSError: The bytes did not arrive in time.
    """
    data = b""
    while len(data) < count:
        left = ends_s - time.monotonic()
        if left <= 0:
            raise TimeoutError("the peer is too slow")
        connection.settimeout(left)
        more = connection.recv(count - len(data))
        if not more:
            raise ConnectionResetError("the peer closed the connection")
        data += more
    return data


def read_framed(connection: socket.socket, most: int, ends_s: float) -> bytes:
    """Reads a message with a length prefix.

    Raises:
        WireError: The message is longer than `most`.
        OSError: The message did not arrive in time.
    """
    length = int.from_bytes(exactly(connection, 4, ends_s), "big")
    if length > most:
        raise wire.WireError(f"a message of {length} bytes: must be at most {most}")
    return exactly(connection, length, ends_s)
