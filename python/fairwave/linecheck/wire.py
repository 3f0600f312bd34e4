"""Wire format between `fairwave measure` and `fairwave reflector`: handshake, probes, load, report.

One port serves all traffic. Over TCP, the handshake proves that both ends have the key, the reflector first
(HMAC-SHA256, RFC 2104, with a nonce of each end). Sealed messages follow. Over UDP, both ends send probes of 172
bytes, as long as RTP with 20 ms of G.711, each with a code of the session. The format is particular to fairwave. Both
ends derive the key with scrypt (RFC 7914) and a salt that each reflector draws when it starts. So a peer that collects
proofs cannot try many weak keys quickly, nor prepare tables.

**Protection against abuse.** Before the peer has proved the key, the reflector answers only a hello of full size, and
its reply is shorter than the hello. Datagrams without a valid code get no reply. Probes go to an address only after
that address has returned a cookie. A captured datagram that is replayed from a forged address gets one datagram
of equal size, once a session.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import struct
from dataclasses import asdict, dataclass
from typing import Any

PORT = 8868
"""Default UDP and TCP port of a reflector; not assigned by IANA †."""

PROBE = 172
"""Bytes of a probe above UDP: 12 of RTP's header, 160 of 20 ms of G.711."""

INTERVAL_S = 0.02
"""Time between probes, in seconds."""

LEAST_KEY = 12
"""Smallest number of characters of a key."""

MAGIC = b"fwmeas2\n"
NONCE, CODE, SESSION, COOKIE, SALT, MARK = 32, 16, 8, 16, 16, 32
HELLO = 96
"""Bytes of a hello: more than any reply to it before the peer is known."""

FLIGHT = 1024
"""The longest message of a handshake, in bytes."""

LONGEST = 8_000_000
"""The longest sealed message, in bytes."""

COST, BLOCK, LANES = 2**17, 8, 1
"""Parameters N, r and p of scrypt: 128 MiB and about half a second, the least that OWASP recommends for passwords."""


class WireError(ValueError):
    """Bytes are malformed, or come from another sender than expected."""


@dataclass(frozen=True)
class Plan:
    """Phases and load of a session, agreed before any probe is sent.

    Attributes:
        phase_s: Duration of each phase in seconds, 2 to 60: idle, line loaded downward, line loaded upward.
        rest_s: Pause between phases in seconds, 0 to 10, in which queues empty.
        most: Most bytes of load in each direction, above TCP.
        connections: Simultaneous TCP connections that load the line, 1 to 16.
    """

    phase_s: float = 10.0
    rest_s: float = 2.0
    most: int = 50_000_000
    connections: int = 4

    @property
    def lasts_s(self) -> float:
        """Duration of the probes, in seconds."""
        return 3 * self.phase_s + 3 * self.rest_s

    @property
    def probes(self) -> int:
        """Number of probes that each end sends."""
        return round(self.lasts_s / INTERVAL_S)

    @property
    def probe_bytes(self) -> int:
        """Bytes of IPv4 in the probes of each end."""
        return self.probes * (PROBE + 28)

    def phases(self) -> list[tuple[str, float, float]]:
        """Returns name, begin and end of each phase, in seconds from the first probe on."""
        step = self.phase_s + self.rest_s
        return [
            (name, index * step, index * step + self.phase_s)
            for index, name in enumerate(("idle", "down", "up"))
        ]

    @classmethod
    def from_bytes(cls, data: bytes) -> Plan:
        """Parses a plan from a peer.

        Raises:
            WireError: The bytes are no plan, or a value is out of range.
        """
        found = _object(data)
        try:
            plan = cls(
                float(found["phase_s"]), float(found["rest_s"]), int(found["most"]), int(found["connections"])
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            raise WireError("no plan of a measurement") from None
        if (wrong := plan.wrong()) is not None:
            raise WireError(wrong)
        return plan

    def wrong(self) -> str | None:
        """Describes a value that is out of its range; None if there is none."""
        if not 2 <= self.phase_s <= 60:
            return f"a phase of {self.phase_s:g} s: must be 2 to 60"
        if not 0 <= self.rest_s <= 10:
            return f"a rest of {self.rest_s:g} s: must be 0 to 10"
        if not 100_000 <= self.most <= 10_000_000_000:
            return f"a load of {self.most} bytes each way: must be 100 kB to 10 GB"
        if not 1 <= self.connections <= 16:
            return f"{self.connections} connections: must be 1 to 16"
        return None

    def to_bytes(self) -> bytes:
        """Returns the plan in wire format."""
        return json.dumps(asdict(self)).encode()


def _object(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise WireError("no JSON") from None
    if not isinstance(found, dict):
        raise WireError("no JSON object")
    return found


def check_key(key: str) -> str:
    """Returns the key without the space around it.

    Raises:
        WireError: The key is too short.
    """
    key = key.strip()
    if len(key) < LEAST_KEY:
        raise WireError(f"the key has {len(key)} characters, but must have {LEAST_KEY} or more")
    return key


def derive_key(key: str, salt: bytes) -> bytes:
    """Derives the key that both ends use, 32 bytes, from the key that people give and the reflector's salt.

    Raises:
        WireError: The key is too short.
    """
    key = check_key(key)
    memory = 2 * 128 * COST * BLOCK
    return hashlib.scrypt(key.encode(), salt=salt, n=COST, r=BLOCK, p=LANES, maxmem=memory, dklen=32)


def made_up_key() -> str:
    """Returns a new random key: 20 letters and digits, 100 bits."""
    signs = "abcdefghijkmnpqrstuvwxyz23456789"
    return "".join(signs[one % 32] for one in os.urandom(20))


def code(key: bytes, *parts: bytes) -> bytes:
    """Computes HMAC-SHA256 of parts, each with its length, so that different lists of parts give different input."""
    made = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        made.update(struct.pack(">I", len(part)))
        made.update(part)
    return made.digest()


def same(one: bytes, other: bytes) -> bool:
    """Whether two codes are equal, in constant time."""
    return hmac.compare_digest(one, other)


# The handshake: hello → challenge with the reflector's proof → proof of the measuring end → accepted or refused.


def hello(nonce: bytes) -> bytes:
    """Returns the first message of the measuring end, padded beyond the length of the reply."""
    return (MAGIC + b"H" + nonce).ljust(HELLO, b"\0")


def read_hello(data: bytes) -> bytes:
    """Returns the nonce of a hello.

    Raises:
        WireError: The bytes are no hello.
    """
    if len(data) != HELLO or not data.startswith(MAGIC + b"H"):
        raise WireError("no hello")
    return data[len(MAGIC) + 1 : len(MAGIC) + 1 + NONCE]


@dataclass(frozen=True)
class Secrets:
    """Shared secrets that both ends derive in a handshake.

    Attributes:
        session: Identifier of the session on the wire.
        probes: Key of datagrams.
        load: Key of connections that carry load.
        sealed: Key of messages.
    """

    session: bytes
    probes: bytes
    load: bytes
    sealed: bytes

    @classmethod
    def derive(cls, key: bytes, ours: bytes, theirs: bytes) -> Secrets:
        """Derives the secrets from the key and both nonces, the measuring end's first."""
        made = [code(key, what, ours, theirs) for what in (b"session", b"probes", b"load", b"sealed")]
        return cls(made[0][:SESSION], *made[1:])


def proof(key: bytes, ours: bytes, theirs: bytes, plan: bytes) -> bytes:
    """Returns the measuring end's reply to a challenge: its code and its plan."""
    return code(key, b"measure", ours, theirs, plan) + plan


def accepted(key: bytes, ours: bytes, theirs: bytes, plan: bytes) -> bytes:
    """Returns the reflector's consent to a plan."""
    return b"A" + code(key, b"accepted", ours, theirs, plan)


def refused(key: bytes, ours: bytes, theirs: bytes, why: str) -> bytes:
    """Returns a refusal with its reason, from a reflector that has the key."""
    text = why.encode()[:400]
    return b"R" + code(key, b"refused", ours, theirs, text) + text


def framed(data: bytes) -> bytes:
    """Returns a message with its length in front."""
    return struct.pack(">I", len(data)) + data


def seal(secrets: Secrets, way: bytes, number: int, content: dict[str, Any]) -> bytes:
    """Returns a message of a session, framed. Its code covers direction and number, which prevents replay."""
    data = json.dumps(content).encode()
    return framed(code(secrets.sealed, way, struct.pack(">I", number), data) + data)


def unseal(secrets: Secrets, way: bytes, number: int, data: bytes) -> dict[str, Any]:
    """Checks and parses a message.

    Raises:
        WireError: The peer did not write it, or not as the message of this number.
    """
    mark, content = data[:32], data[32:]
    if not same(mark, code(secrets.sealed, way, struct.pack(">I", number), content)):
        raise WireError("a message that the peer did not write")
    return _object(content)


# Load: the first bytes of a connection.

LOAD = len(MAGIC) + 1 + SESSION + 2 + 32
"""Bytes of the first message of a connection that carries load."""


def load_begin(secrets: Secrets, down: bool, number: int) -> bytes:
    """Returns the first message of a connection that carries load. Each number is used once."""
    what = bytes([down, number])
    return MAGIC + b"L" + secrets.session + what + code(secrets.load, what)


def read_load_begin(data: bytes) -> tuple[bytes, bool, int, bytes]:
    """Returns session, direction, number and code.

    Raises:
        WireError: The bytes are no such message.
    """
    at = len(MAGIC) + 1
    if len(data) != LOAD or not data.startswith(MAGIC + b"L") or data[at + SESSION] > 1:
        raise WireError("no load")
    rest = data[at + SESSION :]
    return data[at : at + SESSION], bool(rest[0]), rest[1], rest[2:]


def is_load_begin(secrets: Secrets, down: bool, number: int, mark: bytes) -> bool:
    """Whether the session's peer wrote the message."""
    return same(mark, code(secrets.load, bytes([down, number])))


# Datagrams.

OPEN, COOKIES, BACK, UP, DOWN = range(1, 6)
"""Kinds: the peer's first, the reflector's cookie, the cookie back, a probe up, a probe down."""

_HEAD = struct.Struct(">BBHII8sBIQIQ")
"""RTP's fixed header (RFC 3550 §5.1), then session, kind, number, sending time, last received probe and its arrival."""

TYPE, SAMPLES = 0, 160
"""RTP's payload type of G.711 µ-law, and samples of a packet (RFC 3551)."""


@dataclass(frozen=True)
class Probe:
    """One datagram.

    Attributes:
        kind: One of `OPEN`, `COOKIES`, `BACK`, `UP`, `DOWN`.
        session: Identifier of the session.
        number: The sender's count.
        sent_ns: Sending time by the sender's clock.
        last: Number of the last probe that the sender received from its peer; `NONE` before the first.
        came_ns: Arrival time of that probe, by the sender's clock.
    """

    kind: int
    session: bytes
    number: int
    sent_ns: int
    last: int
    came_ns: int


NONE = 0xFFFFFFFF
"""No probe came yet."""

_FILL = hashlib.shake_256(b"speech").digest(PROBE)
"""Padding after the fields: bytes that do not compress, like those of speech."""


def datagram(secrets: Secrets, probe: Probe, cookie: bytes = bytes(COOKIE)) -> bytes:
    """Returns the bytes of a probe, always `PROBE` of them."""
    head = _HEAD.pack(
        0x80, TYPE, probe.number & 0xFFFF, probe.number * SAMPLES & 0xFFFFFFFF,
        int.from_bytes(probe.session[:4], "big"), probe.session, probe.kind, probe.number, probe.sent_ns, probe.last,
        probe.came_ns,
    )  # fmt: skip
    body = head + cookie
    body += _FILL[: PROBE - CODE - len(body)]
    return body + code(secrets.probes, body)[:CODE]


def read_datagram(secrets: Secrets, data: bytes) -> tuple[Probe, bytes]:
    """Parses a probe and its cookie.

    Raises:
        WireError: The bytes are no probe, or not from the session's peer.
    """
    if len(data) != PROBE:
        raise WireError(f"{len(data)} bytes: no probe")
    body = data[:-CODE]
    if not same(data[-CODE:], code(secrets.probes, body)[:CODE]):
        raise WireError("the session's peer did not send it")
    fields = _HEAD.unpack_from(body)
    session, kind, number, sent, last, came = fields[5:]
    if session != secrets.session or not OPEN <= kind <= DOWN:
        raise WireError("no probe of this session")
    return Probe(kind, session, number, sent, last, came), body[_HEAD.size : _HEAD.size + COOKIE]


def session_of(data: bytes) -> bytes:
    """Returns the session that a datagram claims to belong to."""
    return data[12 : 12 + SESSION]


def cookie(secret: bytes, session: bytes, address: tuple[Any, ...]) -> bytes:
    """Returns the cookie that an address must send back. Only the reflector can compute it."""
    return code(secret, session, repr(address[:2]).encode())[:COOKIE]


@dataclass(frozen=True)
class Challenge:
    """The reflector's reply to a hello.

    Attributes:
        nonce: The reflector's nonce.
        salt: The salt of its key.
        mark: Its proof that it has the key.
    """

    nonce: bytes
    salt: bytes
    mark: bytes

    @classmethod
    def create(cls, key: bytes, salt: bytes, theirs: bytes, ours: bytes) -> Challenge:
        """Creates a challenge with the reflector's proof, for the nonce of a hello and a fresh nonce."""
        return cls(ours, salt, code(key, b"reflector", theirs, ours, salt))

    @classmethod
    def from_bytes(cls, data: bytes) -> Challenge:
        """Reads a challenge.

        Raises:
            WireError: The bytes are no challenge.
        """
        if len(data) != CHALLENGE or not data.startswith(MAGIC + b"C"):
            raise WireError("the program there is no reflector of fairwave, or another version of it")
        rest = data[len(MAGIC) + 1 :]
        return cls(rest[:NONCE], rest[NONCE : NONCE + SALT], rest[NONCE + SALT :])

    def to_bytes(self) -> bytes:
        """The challenge as bytes, fewer than the hello has."""
        return MAGIC + b"C" + self.nonce + self.salt + self.mark

    def proves(self, key: bytes, nonce: bytes) -> bool:
        """Whether the sender of the challenge has the key; `nonce` is the nonce of the hello."""
        return same(self.mark, code(key, b"reflector", nonce, self.nonce, self.salt))


CHALLENGE = len(MAGIC) + 1 + NONCE + SALT + MARK
"""Bytes of a challenge."""
