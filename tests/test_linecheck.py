"""`fairwave measure` and its reflector: accepted clients, parsed files, and messages."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fairwave
from fairwave.linecheck import (
    IrttError,
    Limits,
    MeasureError,
    Plan,
    Reflector,
    WireError,
    alternatives,
    fitted,
    judge_line,
    least_rate,
    measure,
    measuring,
    read_irtt,
    reflector,
    resolved,
    wire,
)
from fairwave.linecheck.fitted_network import rate_of
from fairwave.linecheck.line import jitter, longest_run
from fairwave.live import missing
from made_lines import irtt_file, load, made_line, trip
from thrice import thrice

KEY = "a-key-for-the-tests"
SHORT = Plan(phase_s=2.0, rest_s=0.0, most=1_000_000, connections=2)


COST = wire.COST


@pytest.fixture(autouse=True)
def cheap_keys(monkeypatch):
    """Keys are derived at a small cost here; one test checks the real cost."""
    monkeypatch.setattr(wire, "COST", 2**4)


@pytest.fixture
def far():
    """A reflector on loopback."""
    with Reflector(KEY, "127.0.0.1", 0, Limits(longest_s=60, most=10_000_000)) as made:
        made.start()
        yield made


def target(far):
    return resolved(f"127.0.0.1:{far.port}")


def connected(far):
    made = socket.create_connection(("127.0.0.1", far.port), 5)
    made.settimeout(5)
    return made


def handshake(far, plan=SHORT):
    """A session that has begun: its connection and secrets."""
    control = connected(far)
    return control, measuring.handshake(control, target(far), KEY, plan)


def everything(connection):
    """All bytes until the other end closes."""
    found = b""
    while True:
        try:
            more = connection.recv(65536)
        except ConnectionResetError:
            return found
        if not more:
            return found
        found += more


def asking(secrets, kind=wire.OPEN, number=0, cookie=bytes(wire.COOKIE)):
    return wire.datagram(secrets, wire.Probe(kind, secrets.session, number, 1, wire.NONE, 0), cookie)


def datagrams(far):
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.connect(("127.0.0.1", far.port))
    return made


def receives_nothing(made):
    made.settimeout(0.3)
    try:
        made.recv(2048)
    except TimeoutError:
        return True
    return False


def next_of(made):
    """The next packet; waits long enough for a busy machine."""
    made.settimeout(5)
    return made.recv(2048)


# Accepted and refused clients.


def test_another_key_is_refused_with_what_to_do(far):
    with pytest.raises(MeasureError, match=r"has another key: .* --key-file FILE"):
        measure(target(far), "not-the-key-of-tests", SHORT)
    assert not far._sessions
    assert far.answered <= far.taken


def test_an_end_without_the_key_gets_less_than_it_sent(far):
    with connected(far) as one:
        one.sendall(wire.hello(os.urandom(32)))
        challenge = measuring.exactly(one, wire.CHALLENGE, time.monotonic() + 5)
        one.sendall(wire.framed(bytes(32) + SHORT.to_bytes()))
        assert everything(one) == b""
        assert len(challenge) < wire.HELLO


def test_a_handshake_that_is_sent_again_is_refused(far):
    nonce, plan = os.urandom(32), SHORT.to_bytes()
    with connected(far) as one:
        one.sendall(wire.hello(nonce))
        found = wire.Challenge.from_bytes(measuring.exactly(one, wire.CHALLENGE, time.monotonic() + 5))
        proof = wire.framed(wire.proof(wire.derive_key(KEY, found.salt), nonce, found.nonce, plan))
        one.sendall(proof)
        assert one.recv(5)[4:] == b"A"
    deadline = time.monotonic() + 5
    while far._sessions and time.monotonic() < deadline:
        time.sleep(0.01)
    with connected(far) as again:
        again.sendall(wire.hello(nonce))
        measuring.exactly(again, wire.CHALLENGE, deadline)
        again.sendall(proof)
        assert everything(again) == b""


def test_load_without_a_session_gets_nothing(far):
    control, secrets = handshake(far)
    strange = wire.Secrets.derive(bytes(range(32)), bytes(32), bytes(32))
    begun = bytearray(wire.load_begin(secrets, True, 0))
    begun[-1] ^= 1
    with control:
        for begin in (
            wire.load_begin(strange, True, 0),
            bytes(begun),  # a session that exists, and a wrong code
            wire.load_begin(secrets, True, 0),  # the session's address has not been confirmed yet
            wire.load_begin(secrets, True, 200),
            wire.MAGIC + b"L" + bytes(200),
        ):
            with connected(far) as one:
                one.sendall(begin)
                assert everything(one) == b""


def test_probes_go_to_an_address_only_after_it_has_sent_back_its_cookie(far):
    control, secrets = handshake(far)
    with control, datagrams(far) as own, datagrams(far) as forged:
        own.send(asking(secrets))
        probe, cookie = wire.read_datagram(secrets, next_of(own))
        assert probe.kind == wire.COOKIES
        forged.send(asking(secrets))  # captured, and sent again from another address
        assert receives_nothing(forged)
        forged.send(asking(secrets, wire.BACK, 0, cookie))
        assert receives_nothing(forged)
        own.send(asking(secrets, wire.BACK, 0, cookie))
        assert wire.read_datagram(secrets, next_of(own))[0].kind == wire.DOWN
        forged.send(asking(secrets, wire.OPEN, 9))  # the session has its address
        assert receives_nothing(forged)


def test_a_peer_that_is_silent_gets_no_more_probes(far, monkeypatch):
    monkeypatch.setattr(reflector, "SILENT_S", 0.3)
    control, secrets = handshake(far)
    with control, datagrams(far) as own:
        own.send(asking(secrets))
        _, cookie = wire.read_datagram(secrets, next_of(own))
        own.send(asking(secrets, wire.BACK, 0, cookie))
        count = 0
        while not receives_nothing(own):
            count += 1
        assert 1 <= count <= 60  # 15 in 0.3 s, plus the watch's interval


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        (Plan(phase_s=30), "96 s is longer than the 60 s that it allows"),
        (Plan(most=50_000_000), "50 MB each way is more than the 10 MB that it allows"),
    ],
)
def test_a_plan_beyond_the_limits_is_refused_with_the_limit(far, plan, says):
    with pytest.raises(MeasureError, match=f"refuses: {says}"):
        measure(target(far), KEY, plan)


def test_one_measurement_at_a_time(far):
    control, _ = handshake(far)
    with control, pytest.raises(MeasureError, match="busy with another measurement"):
        measure(target(far), KEY, SHORT)


def test_a_reflector_without_the_key_gets_a_hello_and_no_proof():
    """So it collects nothing for an attack on keys."""
    got = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            one, _ = server.accept()
            with one:
                hello = measuring.exactly(one, wire.HELLO, time.monotonic() + 5)
                found = wire.Challenge.create(bytes(32), bytes(16), wire.read_hello(hello), bytes(32))
                one.sendall(found.to_bytes())
                got.append(everything(one))

        serving = threading.Thread(target=serve, daemon=True)
        serving.start()
        with pytest.raises(MeasureError, match="neither this key nor a proof of it was sent"):
            measure(resolved(f"127.0.0.1:{server.getsockname()[1]}"), KEY, SHORT)
        serving.join(5)
        assert got == [b""]


def test_idle_connections_keep_nobody_out(far):
    idle = [connected(far) for _ in range(reflector.PER_ADDRESS + 5)]
    try:
        control, _ = handshake(far)
        control.close()
        # The oldest were closed, which bounds their number.
        idle[0].settimeout(5)
        assert idle[0].recv(1) == b""
    finally:
        for one in idle:
            one.close()


def test_one_address_cannot_fill_all_places():
    made = reflector.Handshakes()
    pairs = [socket.socketpair() for _ in range(reflector.PENDING + 2)]
    try:
        for index, (_, mine) in enumerate(pairs[: reflector.PER_ADDRESS + 3]):
            made.add(mine, (f"2001:db8::{index:x}", 1, 0, 0))
        assert len(made._hosts) == reflector.PER_ADDRESS
        for index, (_, mine) in enumerate(pairs[reflector.PER_ADDRESS + 3 :]):
            made.add(mine, (f"192.0.2.{index}", 1))
        assert len(made._hosts) <= reflector.PENDING
        for other, mine in pairs:
            other.setblocking(False)
            if mine in made._hosts:
                with pytest.raises(BlockingIOError):
                    other.recv(1)
    finally:
        for pair in pairs:
            for one in pair:
                one.close()


def test_a_key_costs_memory_and_depends_on_the_salt(monkeypatch):
    assert wire.derive_key(KEY, bytes(16)) != wire.derive_key(KEY, bytes(15) + b"1")
    assert 128 * COST * wire.BLOCK >= 128 * 2**20
    monkeypatch.setattr(wire, "COST", COST)
    assert len(wire.derive_key(KEY, bytes(16))) == 32


def test_what_is_no_reflector_is_named():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            one, _ = server.accept()
            with one:
                one.sendall(b"SSH-2.0-OpenSSH_9.6\r\n".ljust(wire.CHALLENGE, b"."))
                one.recv(wire.HELLO)

        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(MeasureError, match="no reflector of fairwave"):
            measure(resolved(f"127.0.0.1:{server.getsockname()[1]}"), KEY, SHORT)


# Bytes from untrusted senders.

SECRETS = wire.Secrets.derive(bytes(range(32)), bytes(32), bytes(32))
READERS = (
    wire.Plan.from_bytes,
    wire.read_hello,
    wire.Challenge.from_bytes,
    wire.read_load_begin,
    lambda data: wire.read_datagram(SECRETS, data),
    lambda data: wire.unseal(SECRETS, b"up", 0, data),
)
SOUND = (
    SHORT.to_bytes(),
    wire.hello(bytes(32)),
    wire.Challenge.create(bytes(32), bytes(16), bytes(32), bytes(32)).to_bytes(),
    wire.load_begin(SECRETS, True, 0),
    asking(SECRETS),
    wire.seal(SECRETS, b"up", 0, {"ask": "report"})[4:],
)


@pytest.mark.parametrize("which", range(len(READERS)))
@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_fuzz_bytes_are_read_or_refused(which, data):
    """Arbitrary bytes, and valid bytes with a few changes: a value or a WireError."""
    sound = SOUND[which]
    READERS[which](sound)
    made = data.draw(st.binary(max_size=300))
    if data.draw(st.booleans()):
        changed = bytearray(sound)
        for place, byte in data.draw(
            st.lists(st.tuples(st.integers(0, len(sound) - 1), st.integers(0, 255)), max_size=4)
        ):
            changed[place] = byte
        made = bytes(changed[: data.draw(st.integers(0, len(sound)))])
    try:
        READERS[which](made)
    except WireError:
        assert made != sound


def test_changed_codes_are_noticed_bit_by_bit():
    sound = asking(SECRETS)
    for place in range(len(sound)):
        for bit in range(8):
            changed = bytearray(sound)
            changed[place] ^= 1 << bit
            with pytest.raises(WireError):
                wire.read_datagram(SECRETS, bytes(changed))
    sealed = wire.seal(SECRETS, b"up", 0, {"ask": "report"})[4:]
    for way, number in ((b"down", 0), (b"up", 1)):
        with pytest.raises(WireError, match="did not write"):
            wire.unseal(SECRETS, way, number, sealed)


def test_fuzz_a_reflector_answers_no_hostile_datagram(far):
    control, secrets = handshake(far)
    draw = np.random.default_rng(1)
    got = sent = 0
    with control, datagrams(far) as one:
        one.settimeout(0.02)
        for index in range(300):
            data = draw.bytes(int(draw.integers(0, 400)))
            if index % 3 == 0:
                data = b"\x80\0\0\0" + bytes(8) + secrets.session + data  # of a session that exists
            one.send(data)
            sent += len(data)
        try:
            while True:
                got += len(one.recv(2048))
        except TimeoutError:
            pass
        assert got == 0
        for number in range(5):
            one.send(asking(secrets, wire.OPEN, number))
            sent += wire.PROBE
            got += len(next_of(one))
        for _ in range(20):  # the same again
            one.send(asking(secrets, wire.OPEN, 4))
        assert receives_nothing(one)
        assert got <= sent
        assert far.answered <= far.taken


def test_fuzz_a_reflector_survives_hostile_connections(far):
    draw = np.random.default_rng(2)
    begins = (
        b"",
        wire.MAGIC,
        wire.MAGIC + b"H",
        wire.MAGIC + b"L",
        wire.MAGIC + b"H" + bytes(87) + b"\xff" * 4,
    )
    for index in range(40):
        with connected(far) as one:
            data = begins[index % len(begins)] + draw.bytes(int(draw.integers(0, 200)))
            one.sendall(data)
            with contextlib.suppress(OSError):  # it has closed the connection already
                one.shutdown(socket.SHUT_WR)
            assert len(everything(one)) <= len(data)
    control, _ = handshake(far)
    control.close()


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"came": [[0]], "sent_ns": [], "late_ns": [], "skipped": 0, "up": [], "segments": [], "tcp": []},
        {"came": "x", "sent_ns": [1], "late_ns": [1], "skipped": 0, "up": [], "segments": [], "tcp": []},
        {
            "came": [[0, 10**30]],
            "sent_ns": [1],
            "late_ns": [1],
            "skipped": 0,
            "up": [],
            "segments": [],
            "tcp": [],
        },
        {
            "came": [[0, 5]],
            "sent_ns": [1],
            "late_ns": [1],
            "skipped": 0,
            "up": [[1, "x"]],
            "segments": [[1]],
            "tcp": [1],
        },
        {
            "came": [[0, 5]],
            "sent_ns": [1],
            "late_ns": None,
            "skipped": [],
            "up": {},
            "segments": [[[1, "x"]]],
            "tcp": [{"sent": 1}],
        },
    ],
)
def test_a_report_that_is_none_is_refused(far, report):
    made = measuring.Measurement(target(far), SHORT, SECRETS, None, None, lambda _: None)
    made.log.sent_ns = [1]
    made.log.came = [(0, 1, 5, 0, 2)]
    with pytest.raises(MeasureError):
        made.line(report)


# A whole measurement.


@pytest.mark.slow
@thrice
def test_loopback_is_a_good_line(far):
    phases = []
    line = measure(target(far), KEY, SHORT, phases.append)
    assert phases == [
        "connecting",
        "the idle line",
        "the line loaded downward",
        "the line loaded upward",
        "waiting for the last packets",
    ]
    assert not far._sessions
    assert far.answered <= far.taken
    for direction in ("up", "down"):
        assert 0 < line.loads[direction].carried <= SHORT.most
        assert line.loads[direction].ended_early
    assert [span.name for span in line.spans] == ["idle"]
    assert all(
        any(f"The load {way}ward ended after" in note for note in line.notes) for way in ("up", "down")
    )
    idle = [one for one in line.numbers() if one.phase == "idle"]
    assert [one.sent for one in idle] == pytest.approx([100, 100], abs=5)
    assert sum(one.lost for one in idle) == 0
    assert line.least_trip_s < 0.005
    verdict = judge_line(line, {})
    assert verdict.sentences[0].startswith("Voice: good while the line is idle")


# Numbers.


def test_numbers_of_a_phase():
    delay = np.zeros(500)
    delay[100:110] = np.nan
    delay[200] = 0.05  # arrives behind the two after it
    line = made_line({("idle", "up"): delay})
    up, down = (one for one in line.numbers() if one.phase == "idle")
    assert (up.sent, up.lost, up.longest_run, up.loss) == (500, 10, 10, 0.02)
    assert up.reordered == 1  # the packet that others overtook
    assert (up.most_s, up.p50_s) == (0.05, 0.0)
    assert (down.lost, down.reordered) == (0, 0)
    assert longest_run(np.asarray([True, True, False, True])) == 2
    assert jitter(np.asarray([0.0, 0.016])) == pytest.approx(0.001)
    # The mean of the estimates 1 ms and 15/16 ms, as in a simulated call; not the last one.
    assert jitter(np.asarray([0.0, 0.016, 0.016])) == pytest.approx(0.00096875)


def test_a_good_line_is_called_good_and_its_rate_limits_video():
    line = made_line()
    said = judge_line(line, {"up": 1.2e6, "down": 2e6}).sentences
    assert said[0].startswith("Voice: good while the line is idle")
    assert said[1].startswith("Video: poor upward while the line is idle (1.2 Mb/s), good while you download")
    assert any("slow (up 1.2 Mb/s)" in one for one in said)
    assert not any("What limits it" in one for one in said)


def test_losses_of_an_idle_line_are_not_the_queues():
    lost = np.where(np.arange(500) % 12 == 0, np.nan, 0.0)
    said = judge_line(made_line({("idle", "down"): lost}), {}).sentences
    assert any("8.4 % of the packets downward are lost" in one and "Wi-Fi" in one for one in said)
    assert "The rate of the line is not known: video is rated by delay and loss alone." in said


def test_a_bloated_upload_is_poor_upward_alone():
    line = made_line(
        {("up", "up"): 0.5 * np.abs(np.sin(np.arange(500) / 40))}, loads={"up": load((20, 30), 1e6)}
    )
    verdict = judge_line(line, {"up": 1e6, "down": 5e6})
    bands = {(one.phase, one.direction): one.band for one in verdict.voice}
    assert bands["up", "up"] == "poor"
    assert {band for key, band in bands.items() if key != ("up", "up")} == {"good"}
    assert any(
        one.startswith("What limits it upward: the queue before the line. An upload raises")
        for one in verdict.sentences
    )


def test_a_direction_in_which_nothing_arrives_is_poor():
    verdict = judge_line(made_line({("down", "down"): np.full(500, np.nan)}), {})
    assert any("poor downward while you download (no packet arrived)" in one for one in verdict.sentences)


def test_responsiveness_leaves_out_the_longest_trips():
    line = made_line(trip=0.06)
    line.trip_s[:20] = 3.0  # 4 % of the idle phase
    assert judge_line(line, {}).responsiveness["idle"] == pytest.approx(1000)


def test_the_rate_counts_headers_and_probes():
    line = made_line(loads={"down": load((10, 20), 4.8e6)})
    found = rate_of(line, "down")
    assert found.value == pytest.approx(4.8e6 * 1500 / 1448 + 80e3, rel=1e-3)
    assert rate_of(line, "up") is None


def test_no_load_fits_no_network():
    assert fitted(made_line()) is None


def test_a_line_that_loses_packets_by_itself_has_a_least_rate():
    lost = np.where(np.arange(500) % 100 == 50, np.nan, 0.0)
    line = made_line(
        {(phase, "down"): lost for phase in ("idle", "down", "up")},
        loads={"down": load((10, 20), 2e6, 0.012)},
    )
    network = fitted(line)
    assert network.sides["down"].random_loss == pytest.approx(0.01)
    assert not network.sides["down"].full
    assert any(one.startswith("The rate downward") and "at least 2." in one for one in network.unknown)
    assert any(one.startswith("The buffer downward") for one in network.unknown)


def test_a_load_that_ended_early_tells_the_least_rate():
    line = made_line(loads={"down": load((10, 10.5), 800e6)})
    line.loads["down"].ended_early = True
    assert fitted(line) is None
    assert least_rate(line, "down") == pytest.approx(800e6, rel=0.05)
    assert least_rate(line, "up") is None


# The network behind the line, with a known truth: the measurement is simulated.

TRUTH = """
name = "line"
duration = "11 s"
preset = "linux"
[[link]]
from = "here"
to = "far"
rate = "{rate} Mb/s"
delay = "15 ms"
queue = {{ discipline = "{queue}", capacity = {{ bytes = {buffer} }} }}
[link.reverse]
rate = "20 Mb/s"
[[flow]]
name = "call"
from = "here"
to = "far"
transport = "udp"
traffic = {{ kind = "recording", codec = "g711", packet-time = "20 ms", talk = [[0, 500]] }}
[[flow]]
name = "load"
count = 4
from = "here"
to = "far"
transport = "tcp/cubic"
traffic = "bulk"
[record]
units = ["call"]
bin = "10 ms"
goodput = ["load"]
"""


def simulated_line(queue, rate, buffer, seed=77):
    results = fairwave.load(TRUTH.format(queue=queue, rate=rate, buffer=buffer)).run(seed)
    units = results.rows("units")
    created, arrived = units.numbers("created_s"), units.numbers("arrived_s")
    delay = arrived - created - (0.015 + 1600 / (rate * 1e6))
    flows = results.rows("flows").only(group="load")
    sent = float(flows.numbers("packets_sent").sum())
    gone = float(flows.numbers("dropped").sum())
    good = float(flows.numbers("goodput_bps").sum())
    line = made_line({("up", "up"): np.resize(np.maximum(delay[:500], 0), 500)}, trip=0.0305)
    line.loads["up"] = load((20, 30), good, gone / sent)
    return line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("queue", "buffer", "family"),
    [
        ("drop-tail", 250_000, "tail drop"),
        ("codel", 1_000_000, "active, one queue"),
        ("fq-codel", 1_000_000, "fair queueing"),
    ],
)
def test_the_queue_of_a_line_is_found(queue, buffer, family):
    network = fitted(simulated_line(queue, 4, buffer))
    side = network.sides["up"]
    assert next(iter(side.families)) == family
    assert side.rate.value == pytest.approx(4e6, rel=0.07)
    if queue == "drop-tail":
        assert side.full
        assert side.buffer == pytest.approx(buffer, rel=0.2)
        now, other = alternatives(network, ["fq-codel"], seeds=3)
        assert now.median("up") < 3.1 < 3.6 < other.median("up")
        assert other.title == "fq-codel at 95 % of the rate"
    else:
        assert any(said.startswith("The buffer upward") for said in network.unknown)
    again = fairwave.load(network.scenario().to_toml())
    assert {flow["name"] for flow in again.to_dict()["flow"]} == {"call-up", "load-up", "call-down"}


# irtt.


def several(count=300):
    """Round trips: one in thirty is lost up, one in fifty down, and one without a known direction."""
    trips = []
    for number in range(count):
        lost = (
            "true_up"
            if number % 30 == 5
            else "true_down"
            if number % 50 == 7
            else "true"
            if number == 99
            else "false"
        )
        trips.append(trip(number, lost=lost, up=10e6 + (number % 5) * 1e6))
    return trips


@pytest.mark.parametrize("name", ["line.json", "line.json.gz"])
def test_what_irtt_wrote_is_read_with_the_direction_of_losses(tmp_path, name):
    line = read_irtt(irtt_file(tmp_path, several(), name=name))
    up, down = line.numbers()
    assert line.interval_s == 0.02
    assert line.size == 200
    assert line.least_trip_s == pytest.approx(0.022)
    assert (up.lost, down.lost) == (10 + 1, 6 + 1)
    assert (up.sent, down.sent) == (300 - 6, 300 - 10)
    assert (up.p50_s, up.most_s) == pytest.approx((0.002, 0.004))
    assert down.most_s == 0
    assert any("1 losses have no direction" in note for note in line.notes)


WRITTEN = (
    '{"seqno": 3, "lost": "false", "timestamps": {"client": {"receive": {"wall": 1795651836843162227, "monotonic": '
    '136333522}, "send": {"wall": 1795651836810943922, "monotonic": 104115207}}, "server": {"receive": {"wall": '
    '1795651836827689529, "monotonic": 1203494337}, "send": {"wall": 1795651836827696479, "monotonic": 1203501297}}}, '
    '"delay": {"receive": 15465748, "rtt": 32211355, "send": 16745607}, "ipdv": {"receive": -13109}}'
)
"""A round trip in the format of irtt 0.9.0."""


def test_round_trips_of_zero_are_a_result(tmp_path, fairwave):
    """The clocks of the file are too coarse: the verdict reports it, and there is no responsiveness."""
    trips = [trip(number, up=0, down=0) for number in range(60)]
    for one in trips:
        one["timestamps"]["server"]["send"] = one["timestamps"]["server"]["receive"]
        one["timestamps"]["client"]["receive"] = one["timestamps"]["client"]["send"]
    line = read_irtt(irtt_file(tmp_path, trips))
    assert line.least_trip_s == 0
    assert any("too coarse" in note for note in line.notes)
    assert np.isnan(judge_line(line, {}).responsiveness["recorded"])
    assert fairwave("measure", "--irtt", tmp_path / "line.json")[0] == 0


@pytest.mark.parametrize("end", ["client", "server"])
@pytest.mark.parametrize("step", [-5_000_000_000, 5_000_000_000])
def test_a_wall_clock_that_is_set_is_no_delay(tmp_path, end, step):
    trips = [trip(number) for number in range(200)]
    for one in trips:
        for stamps in one["timestamps"].values():
            for times in stamps.values():
                del times["monotonic"]
        if one["seqno"] >= 120:
            for times in one["timestamps"][end].values():
                times["wall"] += step
    line = read_irtt(irtt_file(tmp_path, trips))
    up, down = line.numbers()
    assert max(up.most_s, down.most_s) < 0.001
    assert line.least_trip_s == pytest.approx(0.022)
    assert max(one.mos for one in judge_line(line, {}).voice) > 4
    assert any("A clock was set during the measurement (1 time)" in note for note in line.notes)
    assert line.spans[0].to_s == pytest.approx(4.0, abs=0.1)


def test_clocks_that_drift_are_not_taken_for_clocks_that_were_set(tmp_path):
    trips = [trip(number) for number in range(3000)]
    for one in trips:
        for times in one["timestamps"]["server"].values():
            times["monotonic"] = round(times["monotonic"] * (1 + 100e-6))
    line = read_irtt(irtt_file(tmp_path, trips))
    assert not any("clock was set" in note for note in line.notes)


def test_what_irtt_calls_the_round_trip_is_what_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("fairwave.linecheck.irtt.LEAST", 1)
    line = read_irtt(irtt_file(tmp_path, [json.loads(WRITTEN)]))
    assert line.trip_s.tolist() == pytest.approx([json.loads(WRITTEN)["delay"]["rtt"] / 1e9], abs=1e-9)


def test_bools_and_one_time_of_the_server_are_read(tmp_path):
    trips = [trip(number) for number in range(100)]
    for one in trips:
        one["lost"] = False
        one["timestamps"]["server"]["send"] = {}
    assert read_irtt(irtt_file(tmp_path, trips)).least_trip_s == pytest.approx(0.02205)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda found: found.pop("round_trips"), "has no list round_trips"),
        (lambda found: found.update(round_trips=found["round_trips"][:20]), "50 are needed"),
        (lambda found: found.update(round_trips=[]), "0 answered packets"),
        (lambda found: found.update(round_trips=[1, 2]), "has not the fields"),
        (lambda found: found["round_trips"][3].update(lost="perhaps"), "has not the fields"),
        (lambda found: found["round_trips"][3]["timestamps"].pop("client"), "has not the fields"),
        (lambda found: found["config"]["params"].update(interval=1_000_000_000), "every 1000 ms.*-i 20ms"),
        (lambda found: found["config"].pop("params"), "has no config.params.interval"),
        (
            lambda found: [one["timestamps"].pop("server") for one in found["round_trips"]],
            "no times of the server",
        ),
    ],
)
def test_what_lacks_something_is_refused_with_what_to_do(tmp_path, change, says):
    file = irtt_file(tmp_path, [trip(number) for number in range(100)])
    found = json.loads(file.read_text())
    change(found)
    file.write_text(json.dumps(found))
    with pytest.raises(IrttError, match=says):
        read_irtt(file)


@given(data=st.data())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fuzz_files_of_irtt_are_read_or_refused(tmp_path, data):
    odd = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.integers(), max_size=2),
        st.dictionaries(st.sampled_from(["wall", "monotonic", "send"]), st.integers(), max_size=2),
    )  # fmt: skip
    trips = [trip(number) for number in range(80)]
    found = json.loads(irtt_file(tmp_path, trips).read_text())
    for _ in range(data.draw(st.integers(1, 3))):
        place = found
        for _ in range(data.draw(st.integers(1, 6))):
            keys = (
                list(place)
                if isinstance(place, dict)
                else list(range(len(place)))
                if isinstance(place, list)
                else []
            )
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if data.draw(st.booleans()) or not isinstance(place[key], (dict, list)):
                place[key] = data.draw(odd)
                break
            place = place[key]
    file = tmp_path / "odd.json"
    file.write_text(json.dumps(found))
    try:
        read_irtt(file).numbers()
    except IrttError as error:
        assert str(file) in str(error)  # noqa: PT017


def test_a_file_of_irtt_is_judged_at_the_command_line(fairwave, tmp_path):
    file = irtt_file(tmp_path, several())
    status, out, err = fairwave("measure", "--irtt", str(file), "--out", str(tmp_path / "out"))
    assert status == 0, err
    assert "Voice: " in out
    assert "in what was recorded" in out
    assert {one.name for one in (tmp_path / "out").iterdir()} >= {
        "measured.json",
        "packets.csv",
        "phases.csv",
        "index.html",
    }
    status, out, _ = fairwave("measure", "--irtt", str(file), "--json")
    found = json.loads(out)
    assert found["network"] is None
    assert found["phases"][0]["lost"] == 11


# The command line.


def test_the_promise_names_bytes_time_and_the_one_address(fairwave, monkeypatch):
    monkeypatch.setenv("FAIRWAVE_KEY", KEY)
    status, _, err = fairwave("measure", "127.0.0.1:9", "--for", "5", "--most", "3")
    assert status == 2
    for word in (
        "takes 21 s",
        "172 bytes every 20 ms",
        "0.21 MB",
        "For 5 s each way",
        "at most 3 MB each way",
        "127.0.0.1:9",
    ):
        assert word in err


@pytest.mark.parametrize(("answer", "sends"), [("y\n", True), ("n\n", False), ("", False)])
def test_at_a_terminal_the_user_is_asked_before_anything_is_sent(monkeypatch, answer, sends):
    from io import StringIO

    from fairwave.cli import linecheck
    from fairwave.errors import BadInputError

    terminal = StringIO(answer)
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdin", terminal)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    agree = lambda: linecheck.agreed(Plan(), resolved("127.0.0.1"), yes=False, quiet=False)  # noqa: E731
    if sends:
        agree()
    else:
        with pytest.raises(BadInputError, match="nothing was sent"):
            agree()


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("127.0.0.1", ("127.0.0.1", 8868)),
        ("127.0.0.1:99", ("127.0.0.1", 99)),
        ("[::1]:99", ("::1", 99)),
        ("::1", ("::1", 8868)),
    ],
)
def test_hosts_are_written_as_usual(written, address):
    assert resolved(written).address[:2] == address


@pytest.mark.parametrize(
    "written", ["", "[::1", "[::1]x", "a b", "a:0", "a:x", "a:70000", "a/b", "\0", "a" * 300]
)
def test_hosts_that_are_none_are_refused(written):
    with pytest.raises(MeasureError):
        resolved(written)


def test_no_command_line_takes_a_key(fairwave):
    for command in (["measure", "far"], ["reflector"]):
        status, _, err = fairwave(*command, "--key", KEY)
        assert status == 2
        assert "--key-file" in err


def test_a_key_is_typed_at_a_terminal_without_an_echo(monkeypatch):
    import getpass

    from fairwave.cli import linecheck

    assert linecheck.prompted_key() is None
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(getpass, "getpass", lambda *_, **__: KEY)
    assert linecheck.prompted_key() == KEY


# Between namespaces, with known truth.

LINK = """
name = "line"
duration = "60 s"
[[link]]
from = "home"
to = "far"
rate = "1 Mb/s"
delay = "15 ms"
queue = {{ discipline = "{queue}", capacity = {{ bytes = {up} }} }}
[link.reverse]
rate = "5 Mb/s"
queue = {{ discipline = "{queue}", capacity = {{ bytes = {down} }} }}
[[flow]]
name = "call"
from = "home"
to = "far"
transport = "udp"
traffic = "voice"
"""


def measure_between_namespaces(folder, queue, up, down):
    """Measures such a link, and returns the document of the measurement."""
    if (why := missing()) is not None:
        pytest.skip(f"no live run can be made here: {why}")
    file = folder / "line.toml"
    file.write_text(LINK.format(queue=queue, up=up, down=down))
    out = folder / "measured"
    command = [sys.executable, "-m", "fairwave"]
    client = (
        f"sleep 1; {' '.join(command)} measure far --for 8 --yes --overwrite --out {out} || exit 1; exit 0"
    )
    done = subprocess.run(
        [*command, "shell", str(file), "--no-flows", "--quiet", "--for", "60", "--at", "far", "--", *command,
         "reflector", "--for", "45", "--at", "home", "--", "sh", "-c", client],
        check=False, capture_output=True, text=True, timeout=120, env={**os.environ, "FAIRWAVE_KEY": KEY},
    )  # fmt: skip
    assert (out / "measured.json").exists(), done.stderr
    return json.loads((out / "measured.json").read_text()), out


@pytest.mark.slow
@thrice
def test_half_a_second_of_drop_tail_is_found_between_namespaces(tmp_path):
    found, out = measure_between_namespaces(tmp_path, "drop-tail", 62_500, 312_500)
    assert found["least_round_trip_s"] == pytest.approx(0.032, abs=0.002)
    bands = {(one["phase"], one["direction"]): one["band"] for one in found["verdict"]["voice"]}
    assert {bands[key] for key in (("idle", "up"), ("idle", "down"), ("down", "up"), ("up", "down"))} == {
        "good"
    }
    assert bands["up", "up"] == bands["down", "down"] == "poor"
    for direction, rate, buffer in (("up", 1e6, 62_500), ("down", 5e6, 312_500)):
        side = found["network"]["sides"][direction]
        assert side["rate"]["value"] == pytest.approx(rate, rel=0.05)
        assert side["buffer"] == pytest.approx(buffer, rel=0.2)
        assert next(iter(side["families"])) == "tail drop"
    assert any("What would help: fq-codel or cake" in said for said in found["verdict"]["sentences"])
    assert fairwave.load(out / "network.toml").plan()["links"]


@pytest.mark.slow
@thrice
def test_fq_codel_is_found_between_namespaces(tmp_path):
    found, _ = measure_between_namespaces(tmp_path, "fq-codel", 1_000_000, 1_000_000)
    assert {one["band"] for one in found["verdict"]["voice"]} == {"good"}
    for direction, rate in (("up", 1e6), ("down", 5e6)):
        side = found["network"]["sides"][direction]
        assert side["rate"]["value"] == pytest.approx(rate, rel=0.05)
        assert next(iter(side["families"])) == "fair queueing"
    assert not any("What limits it" in said for said in found["verdict"]["sentences"])
