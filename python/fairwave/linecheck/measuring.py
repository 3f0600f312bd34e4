"""The measuring end: a handshake, probes for the whole time, load in two of three phases, and the other end's report.

It sends to one address only: the address of the host's name, which the caller resolves and shows first (`resolved`).
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.linecheck import wire
from fairwave.linecheck.line import Line, Load, Probes, Span, arrival_places
from fairwave.linecheck.load import (
    BIN_NS,
    Allowance,
    Carried,
    prepare,
    receive_load,
    send_load,
)
from fairwave.linecheck.probes import Log, datagrams, receive, send_probes
from fairwave.linecheck.reflector import exactly, read_framed

if TYPE_CHECKING:
    from collections.abc import Callable

CONNECT_S = 5.0
"""Longest time for a connection to be established, in seconds."""

REPORT_S = 30.0
"""Longest time for the report in seconds: it may have to pass a full queue."""

OPENINGS = 15
"""Number of first datagrams, one every `OPENING_S` seconds, before datagrams count as blocked."""

OPENING_S = 0.3

LEAST_LOADED_S = 1.0
"""Shortest load for a verdict on the loaded line, in seconds."""

LONGEST_DRAIN_S = 10.0
"""Load reported with a later arrival than this after the last probe, in seconds, is ignored."""

LATE_S = 0.005
"""Lateness of sending in seconds (99th percentile) above which a note warns about a busy end."""


class MeasureError(ValueError):
    """The line could not be measured; the message says why and what to do."""


@dataclass(frozen=True)
class Target:
    """The only address that packets are sent to.

    Attributes:
        written: The host as the user wrote it.
        family: Address family.
        address: The address in the form that sockets take.
    """

    written: str
    family: int
    address: tuple[Any, ...]

    @property
    def shown(self) -> str:
        """Address and port."""
        host = str(self.address[0])
        return f"{f'[{host}]' if ':' in host else host}:{self.address[1]}"


def resolved(host: str) -> Target:
    """Resolves HOST, HOST:PORT or [IPv6]:PORT.

    Raises:
        MeasureError: The text is no host, or the host has no address.
    """
    name, port = _split(host)
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise MeasureError(f"no address for {name!r}: {error}") from None
    family, _, _, _, address = found[0]
    return Target(host, family, address)


def _split(host: str) -> tuple[str, int]:
    host = host.strip()
    if host.startswith("["):
        name, closed, rest = host[1:].partition("]")
        if not closed or (rest and not rest.startswith(":")):
            raise MeasureError(
                f"{host!r} is no host: write an IPv6 address with a port as [2001:db8::1]:{wire.PORT}"
            )
        port = rest[1:]
    elif host.count(":") > 1:
        name, port = host, ""
    else:
        name, _, port = host.partition(":")
    if not name or any(sign.isspace() or sign == "/" for sign in name):
        raise MeasureError(
            f"{host!r} is no host: write a name or an address, as far.example or far.example:{wire.PORT}"
        )
    if not port:
        return name, wire.PORT
    if not (port.isascii() and port.isdigit() and 1 <= int(port[:9]) <= 65_535):
        raise MeasureError(f"{port!r} is no port: must be 1 to 65535, as {name}:{wire.PORT}")
    return name, int(port)


def measure(
    target: Target,
    key: str,
    plan: wire.Plan | None = None,
    phase: Callable[[str], None] = lambda _: None,
) -> Line:
    """Measures the line to a reflector.

    Args:
        target: Address of the reflector.
        key: The key that both ends have.
        plan: Phases and load of the session.
        phase: Called when a phase begins, with its description.

    Raises:
        MeasureError: There is no reflector, it has another key, it refuses, or the line fails.
        WireError: The key is too short.
    """
    plan = plan or wire.Plan()
    if (wrong := plan.wrong()) is not None:
        raise MeasureError(wrong)
    wire.check_key(key)
    phase("connecting")
    try:
        with socket.create_connection(target.address[:2], CONNECT_S) as control:
            control.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            secrets = handshake(control, target, key, plan)
            with datagrams(target.family) as probes:
                probes.connect(target.address)
                return Measurement(target, plan, secrets, control, probes, phase).run()
    except wire.WireError as error:
        raise MeasureError(f"{target.shown}: {error}") from None
    except ConnectionRefusedError:
        raise MeasureError(
            f"nothing listens at {target.shown}: run `fairwave reflector` there, and open this port for TCP and UDP"
        ) from None
    except OSError as error:
        raise MeasureError(f"{target.shown}: {error.strerror or error}") from None


def handshake(control: socket.socket, target: Target, key: str, plan: wire.Plan) -> wire.Secrets:
    """Checks that the reflector has the key, then proves that this end has it.

    Raises:
        MeasureError: The peer is no reflector, has another key, or refuses the plan.
    """
    ends = time.monotonic() + 2 * CONNECT_S
    ours, written = os.urandom(wire.NONCE), plan.to_bytes()
    control.sendall(wire.hello(ours))
    try:
        answer = wire.Challenge.from_bytes(exactly(control, wire.CHALLENGE, ends))
    except OSError:
        raise MeasureError(
            f"what answers at {target.shown} is no reflector of fairwave, or is overloaded: run `fairwave reflector` "
            "there"
        ) from None
    theirs, derived = answer.nonce, wire.derive_key(key, answer.salt)
    if not answer.proves(derived, ours):
        raise MeasureError(
            f"the reflector at {target.shown} has another key: give the key that it shows, by --key-file FILE or "
            "FAIRWAVE_KEY; neither this key nor a proof of it was sent"
        )
    control.sendall(wire.framed(wire.proof(derived, ours, theirs, written)))
    try:
        flight = read_framed(control, wire.FLIGHT, time.monotonic() + CONNECT_S)
    except OSError:
        raise MeasureError(
            f"the reflector at {target.shown} closed the connection during the handshake: measure again"
        ) from None
    mark, why = flight[1:33], flight[33:]
    if flight[:1] == b"R" and wire.same(mark, wire.code(derived, b"refused", ours, theirs, why)):
        raise MeasureError(f"the reflector at {target.shown} refuses: {why.decode('utf-8', 'replace')}")
    if flight != wire.accepted(derived, ours, theirs, written):
        raise MeasureError(f"the connection to {target.shown} was altered on the way; nothing else was sent")
    return wire.Secrets.derive(derived, ours, theirs)


class Measurement:
    """One measurement in progress."""

    def __init__(
        self, target: Target, plan: wire.Plan, secrets: wire.Secrets, control: socket.socket, probes: socket.socket,
        phase: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.target, self.plan, self.secrets = target, plan, secrets
        self.control, self.probes, self.phase = control, probes, phase
        self.log = Log()
        self.stopped = threading.Event()
        self.listening = threading.Event()
        self.cookie: bytes | None = None
        self.carried: dict[str, list[Carried]] = {"down": [], "up": []}
        self.allowed = {"down": Allowance(plan.most), "up": Allowance(plan.most)}
        self.begun_ns = 0

    def run(self) -> Line:
        """Measures, and requests the report."""
        hearing = threading.Thread(target=self._hear, daemon=True)
        hearing.start()
        try:
            self._open()
            self.begun_ns = time.monotonic_ns()
            sending = threading.Thread(
                target=send_probes, daemon=True,
                args=(self.probes.send, self.secrets, wire.UP, self.plan.probes, self.log, self.stopped),
            )  # fmt: skip
            sending.start()
            for name, from_s, to_s in self.plan.phases():
                self._wait_until(from_s)
                self.phase(
                    {
                        "idle": "the idle line",
                        "down": "the line loaded downward",
                        "up": "the line loaded upward",
                    }[name]
                )
                if name != "idle":
                    self._load(name, to_s)
                self._wait_until(to_s)
            self.phase("waiting for the last packets")
            sending.join()
            # Packets on their way may wait in a deep queue.
            self.stopped.wait(1.0)
            report = self._report()
        finally:
            self.stopped.set()
            with contextlib.suppress(OSError):
                self.probes.shutdown(socket.SHUT_RDWR)
            hearing.join(1.0)
        return self.line(report)

    def _wait_until(self, at_s: float) -> None:
        wait = self.begun_ns / 1e9 + at_s - time.monotonic()
        if wait > 0:
            time.sleep(wait)

    def _hear(self) -> None:
        self.probes.settimeout(0.5)
        while not self.stopped.is_set():
            try:
                data, _, arrived = receive(self.probes)
                probe, cookie = wire.read_datagram(self.secrets, data)
            except (OSError, wire.WireError):
                continue
            if probe.kind == wire.COOKIES:
                self.cookie = cookie
            elif probe.kind == wire.DOWN and len(self.log.came) < 2 * self.plan.probes + 200:
                self.log.note(probe, arrived)
                self.listening.set()

    def _open(self) -> None:
        """Proves to the reflector that this end receives at its address, and waits for the reflector's probes."""
        for number in range(OPENINGS):
            kind = wire.OPEN if self.cookie is None else wire.BACK
            now = time.monotonic_ns()
            probe = wire.Probe(kind, self.secrets.session, number, now, wire.NONE, 0)
            with contextlib.suppress(OSError):
                self.probes.send(wire.datagram(self.secrets, probe, self.cookie or bytes(wire.COOKIE)))
            ends = time.monotonic() + OPENING_S
            while time.monotonic() < ends:
                if self.listening.wait(0.01):
                    return
                if kind == wire.OPEN and self.cookie is not None:
                    break
        raise MeasureError(
            f"{self.target.shown} answers by TCP, but no datagram comes back: open the port for UDP there, and on "
            "the way"
        )

    def _load(self, direction: str, to_s: float) -> None:
        until = self.begun_ns / 1e9 + to_s
        connections = []
        for number in range(self.plan.connections):
            carried = Carried()
            self.carried[direction].append(carried)
            connections.append(
                threading.Thread(target=self._carry, args=(direction, number, until, carried), daemon=True)
            )
        for one in connections:
            one.start()
        for one in connections:
            one.join(max(until + 2 - time.monotonic(), 0.1))

    def _carry(self, direction: str, number: int, until_s: float, carried: Carried) -> None:
        def is_over() -> bool:
            return self.stopped.is_set() or time.monotonic() >= until_s

        connect = socket.create_connection
        with contextlib.suppress(OSError), connect(self.target.address[:2], CONNECT_S) as connection:
            prepare(connection)
            connection.sendall(wire.load_begin(self.secrets, direction == "down", number))
            (receive_load if direction == "down" else send_load)(
                connection, is_over, self.allowed[direction], carried
            )

    def _report(self) -> dict[str, Any]:
        try:
            self.control.settimeout(REPORT_S)
            self.control.sendall(wire.seal(self.secrets, b"up", 0, {"ask": "report"}))
            flight = read_framed(self.control, wire.LONGEST, time.monotonic() + REPORT_S)
            report = wire.unseal(self.secrets, b"down", 0, flight)
        except OSError as error:
            raise MeasureError(
                f"the connection to {self.target.shown} broke before its report came ({error}); measure again"
            ) from None
        with contextlib.suppress(OSError):
            self.control.sendall(b".")
        return report

    def line(self, report: dict[str, Any]) -> Line:
        """Combines this end's logs with the other end's report.

        Raises:
            MeasureError: The report cannot be read.
        """
        try:
            return lined_up(
                self.target.shown, self.plan, self.begun_ns, self.log, report, self.carried, self.allowed
            )
        except (KeyError, TypeError, ValueError, OverflowError, IndexError):
            raise MeasureError(
                f"{self.target.shown} sent a report that cannot be read; is it the same version?"
            ) from None


def lined_up(
    source: str,
    plan: wire.Plan,
    begun_ns: int,
    log: Log,
    report: dict[str, Any],
    carried: dict[str, list[Carried]],
    allowed: dict[str, Allowance],
) -> Line:
    """Puts both ends' logs on one clock.

    Raises:
        MeasureError: No probe came through in one of the directions.
    """
    came = np.asarray(log.came, dtype=np.int64).reshape(-1, 5)
    theirs = np.asarray(report["came"], dtype=np.int64).reshape(-1, 2)
    ours_ns, theirs_ns = (
        np.asarray(log.sent_ns, dtype=np.int64),
        np.asarray(report["sent_ns"], dtype=np.int64),
    )
    theirs = theirs[(theirs[:, 0] >= 0) & (theirs[:, 0] < len(ours_ns))]
    came = came[(came[:, 0] >= 0) & (came[:, 0] < len(theirs_ns))]
    if not len(theirs) or not len(came):
        way = "from it" if not len(came) else "to it"
        raise MeasureError(f"{source}: not one probe came through {way}; measure again")
    # Offset of the other clock if both directions have the same delay. Used only to place its times in phases.
    upward = theirs[:, 1] - ours_ns[theirs[:, 0]]
    downward = came[:, 2] - came[:, 1]
    offset = (int(upward.min()) - int(downward.min())) // 2
    up = _probes(ours_ns, theirs[:, 0], theirs[:, 1], begun_ns, 0)
    down = _probes(theirs_ns, came[:, 0], came[:, 2], begun_ns, offset)
    echoed = came[(came[:, 3] != wire.NONE) & (came[:, 3] < len(ours_ns))]
    # The first echo of each of our probes counts, because it waited least.
    echoed = echoed[np.unique(echoed[:, 3], return_index=True)[1]]
    went = ours_ns[echoed[:, 3]]
    trips = echoed[:, 2] - went - (echoed[:, 1] - echoed[:, 4])
    bins = {int(bin_) - offset // BIN_NS: int(count) for bin_, count in report["up"]}
    first, last = (
        begun_ns // BIN_NS,
        begun_ns // BIN_NS + round((plan.lasts_s + LONGEST_DRAIN_S) * 1e9) // BIN_NS,
    )
    bins = {bin_: count for bin_, count in bins.items() if first <= bin_ <= last and count >= 0}
    counted = {
        "down": [list(one.segments) for one in carried["down"]],
        "up": [[(int(at) - offset, int(count)) for at, count in one] for one in report["segments"]],
    }
    tcp = [one for one in report["tcp"] if isinstance(one, dict)]
    loads = {
        "down": _loaded(_summed(carried["down"]), counted["down"], begun_ns, tcp, allowed["down"]),
        "up": _loaded(bins, counted["up"], begun_ns, [one.tcp for one in carried["up"]], allowed["up"]),
    }
    notes = [
        *_late("this computer", log.late_ns, log.skipped),
        *_late("the other end", report["late_ns"], report["skipped"]),
    ]
    spans = []
    for name, from_s, to_s in plan.phases():
        load = loads.get(name)
        if load is None or not load.ended_early or not load.carried:
            spans.append(Span(name, from_s, to_s))
            if load is not None and not load.carried:
                notes.append(f"No load came through {name}ward: the phase {name!r} is as idle as the first.")
            continue
        end = min(float(load.at_s[-1]) + load.bin_s, to_s)
        carried_mb = load.carried / 1e6
        said = f"The load {name}ward ended after {end - from_s:.2g} s and {carried_mb:.3g} MB: --most allows no more."
        if end - from_s >= LEAST_LOADED_S:
            spans.append(Span(name, from_s, end))
            notes.append(f"{said} So long the loaded line is judged.")
        else:
            notes.append(f"{said} That is too short to judge the loaded line; give a larger --most.")
    return Line(
        source, wire.INTERVAL_S, wire.PROBE + 28, spans, {"up": up, "down": down},
        (went - begun_ns) / 1e9, trips / 1e9, loads, notes,
    )  # fmt: skip


def _probes(sent_ns: Any, numbers: Any, arrived_ns: Any, begun_ns: int, offset: int) -> Probes:
    """Builds the probes of a direction from times of the sender's clock and of the receiver's."""
    at = np.full(len(sent_ns), np.nan)
    order = np.argsort(arrived_ns, kind="stable")
    numbers, arrived_ns = numbers[order], arrived_ns[order]
    first = np.unique(numbers, return_index=True)[1]
    # Subtract integers first: nanoseconds since boot have too many digits for a float.
    zero = int(arrived_ns.min())
    at[numbers[first]] = (arrived_ns[first] - zero) / 1e9
    delay = at - (sent_ns - sent_ns[0]) / 1e9
    return Probes(
        (sent_ns - offset - begun_ns) / 1e9,
        delay - np.nanmin(delay),
        arrival_places(at),
        len(numbers) - len(first),
    )


def _summed(several: list[Carried]) -> dict[int, int]:
    bins: dict[int, int] = {}
    for one in several:
        for bin_, count in one.bins.items():
            bins[bin_] = bins.get(bin_, 0) + count
    return bins


def _loaded(
    bins: dict[int, int],
    counted: list[list[tuple[int, int]]],
    begun_ns: int,
    tcp: list[dict[str, Any]],
    allowed: Allowance,
) -> Load:
    keys = np.asarray(sorted(bins), dtype=np.int64)
    told = [one for one in tcp if one.get("sent")]
    sent = sum(int(one["sent"]) for one in told)
    return Load(
        (keys * BIN_NS - begun_ns) / 1e9,
        np.asarray([bins[key] for key in keys.tolist()], dtype=float),
        BIN_NS / 1e9,
        max((int(one["segment"]) for one in told), default=0),
        sum(int(one["again"]) for one in told) / sent if sent else float("nan"),
        len(told),
        tuple(sorted({str(one["control"]) for one in told})),
        not allowed.left,
        tuple(
            (
                np.asarray([(at - begun_ns) / 1e9 for at, _ in one]),
                np.asarray([float(number) for _, number in one]),
            )
            for one in counted
            if len(one) > 1
        ),
    )


def _late(who: str, late_ns: list[int], skipped: int) -> list[str]:
    said = []
    late = float(np.quantile(late_ns, 0.99)) / 1e9 if len(late_ns) else 0.0
    if late > LATE_S:
        said.append(
            f"Probes of {who} left up to {late * 1e3:.3g} ms late (99th percentile): it was busy. Delays count from "
            "the real time of sending."
        )
    if skipped:
        said.append(f"{skipped} probes of {who} were not sent: it was too busy.")
    return said
