"""Fairwave's controllers in the kernel: messages if they are unavailable, and conformance to their laws."""

import functools
import itertools
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

import fairwave
from fairwave._native import RunError, ScenarioError
from fairwave.live import comparison, kernel, live
from fairwave.live import missing as no_live
from thrice import thrice


@functools.cache
def skip_reason():
    """The reason why controllers cannot be tested here, or nothing."""
    return kernel.missing() or no_live()


@pytest.fixture
def loaded():
    """Loads controllers under unique names, and removes them again."""
    if skip_reason():
        pytest.skip(f"no controller can be brought into the kernel here: {skip_reason()}")
    names = (f"fw_t{os.getpid()}_{number}" for number in itertools.count())
    made = []

    def load(law, **parameters):
        try:
            made.append(kernel.load(law, parameters, next(names)))
        except RunError as error:
            if not made and "does not take" in str(error):
                pytest.skip(f"this kernel takes no controllers: {error}")
            raise
        return made[-1]

    yield load
    for one in made:
        if one.name in kernel.available():
            kernel.unload(one.name)


def transport(name):
    """The table of a controller in the kernel."""
    return f'{{ name = "host/tcp", controller = "{name}" }}'


def scenario(controller, *, duration="5 s", queue=33, delay="20 ms"):
    """One flow over 10 Mb/s."""
    return fairwave.load(
        f'name = "kernel"\nduration = "{duration}"\n[[link]]\nfrom = "alice"\nto = "bob"\nrate = "10 Mb/s"\n'
        f'delay = "{delay}"\nqueue = {{ capacity = {{ packets = {queue} }} }}\n'
        f'[[flow]]\nname = "bulk"\nfrom = "alice"\nto = "bob"\ntransport = {controller}\ntraffic = "bulk"\n'
    )


@pytest.mark.parametrize("what", [["load", "gamma"], ["unload", "fw_gamma"]])
def test_what_is_missing_is_said_with_the_package_that_has_it(fairwave, monkeypatch, tmp_path, what):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(kernel, "HEADERS", (tmp_path,))
    monkeypatch.setattr(kernel, "BTF", tmp_path / "vmlinux")
    monkeypatch.setattr("sys.platform", "linux")
    status, _, error = fairwave("kernel", *what)
    assert status == 1
    assert "bpftool is missing (Debian's package bpftool)" in error
    if what[0] == "load":
        assert "clang is missing (Debian's package clang)" in error
        assert "CONFIG_DEBUG_INFO_BTF" in error
        assert error.rstrip().endswith("apt install clang libbpf-dev bpftool")


def test_elsewhere_than_on_linux_it_says_so(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(RunError, match="needs Linux"):
        kernel.load("aimd")


def test_the_list_tells_the_kernels_even_where_ours_cannot_be_seen(fairwave, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    if not kernel.available():
        pytest.skip("this is not Linux")
    status, out, _ = fairwave("kernel", "list")
    assert status == 0
    assert "reno" in out
    assert "cannot be read" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["vegas"], "write one of aimd, gamma, gamma-delta"),
        (["aimd", "--alpha", "0"], "--alpha is 0, but must be at least 0.000001 and at most 100"),
        (["aimd", "--alpha", "100.1"], "write for example --alpha 1"),
        (["aimd", "--alpha", "nan"], "--alpha is nan"),
        (["aimd", "--beta", "1"], "--beta is 1, but must be at least 0.000001 and below 1"),
        (["aimd", "--upper", "0.5"], "aimd has no --upper: it has --alpha, --beta"),
        (["gamma", "--upper", "-1"], "--upper is -1"),
        (["gamma", "--delta", "2"], "gamma has no --delta"),
        (["gamma-delta", "--upper", "0.3", "--lower", "0.3"], "below 0.3 (--upper)"),
        (["gamma-delta", "--delta", "inf"], "--delta is inf"),
        (["gamma", "--name", "gamma"], "write for example --name fw_gamma"),
        (["gamma", "--name", "fw_abcdefghijklm"], "1 to 12 letters"),
        (["gamma", "--name", 'fw_"; ls'], "1 to 12 letters"),
    ],
)
def test_what_is_out_of_range_is_refused_with_what_to_write(fairwave, words, said):
    status, _, error = fairwave("kernel", "load", *words)
    assert status == 2
    assert said in error


def test_parameters_left_out_are_those_of_the_simulated_laws():
    assert kernel.checked("gamma-delta", {"upper": 0.25}) == {
        "alpha": 1.0,
        "beta": 0.5,
        "upper": 0.25,
        "lower": 0.1,
        "delta": 2.0,
    }
    for law in kernel.LAWS:
        controller = kernel.Controller("fw_x", law, kernel.checked(law, {}), 1)
        plain = scenario(f'{{ name = "tcp/{law}", preset = "linux", recovery = "rack" }}', duration="2 s")
        told = plain.with_overrides({"flow.bulk.transport": controller.simulated})
        assert told.run().flows["units_received"] == plain.run().flows["units_received"]
        assert told.run().flows["goodput_bps"] == plain.run().flows["goodput_bps"]


def test_the_verifiers_last_lines_are_shown_and_all_on_request(monkeypatch, tmp_path):
    tool = tmp_path / "bpftool"
    tool.write_text('#!/bin/sh\nfor n in 1 2 3 4 5 6 7 8 9; do echo "complaint $n" >&2; done\nexit 3\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(kernel, "missing", lambda **_: None)
    for verbose in (False, True):
        with pytest.raises(RunError) as raised:
            kernel.load("aimd", name="fw_none", verbose=verbose)
        assert "complaint 9" in str(raised.value)
        assert ("complaint 3" in str(raised.value)) == verbose
        assert ("--verbose" in str(raised.value)) != verbose


def test_a_killed_load_leaves_no_file_behind(monkeypatch, tmp_path):
    # Tools that list the existing files while they run: bpftool writes types, clang an object, bpftool reads it.
    temporary, seen = tmp_path / "tmp", tmp_path / "seen"
    temporary.mkdir()
    tools = tmp_path / "tools"
    tools.mkdir()
    look = f"ls -A {temporary} >> {seen}\n"
    takes = 'case "$1" in struct_ops) cat "$3" >> {seen}; exit 3;; *) echo "types";; esac\n'
    reads = (
        'for word; do case "$word" in -DFAIRWAVE_TYPES=*)\n'
        'file=${word#*=\\"}; cat "${file%\\"}" >> {seen};; esac; done\n'
    )
    for name, does in (("bpftool", takes), ("clang", reads + "printf 'an object\\n'\n")):
        tool = tools / name
        tool.write_text("#!/bin/sh\n" + look + does.replace("{seen}", str(seen)))
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(kernel, "missing", lambda **_: None)
    with pytest.raises(RunError, match="the kernel does not take the controller"):
        kernel.load("aimd", name="fw_none")
    # Each tool read the file of the one before, and a kill at any moment would have left no file.
    assert seen.read_text() == "types\nan object\n"


def test_in_virtual_time_a_controller_of_the_kernel_is_refused_with_what_to_write():
    with pytest.raises(RunError, match="tcp/gamma"):
        scenario(transport("fw_gamma")).run()
    for wrong in ("", "fw gamma", "abcdefghijklmnop", "a;b"):
        with pytest.raises(ScenarioError, match="controller"):
            scenario(transport(wrong))


def test_beside_says_what_it_cannot_simulate():
    with pytest.raises(ScenarioError, match="flow bulk: no simulated controller corresponds"):
        comparison.simulated(scenario(transport("westwood")))
    read = comparison.simulated(scenario(transport("reno"))).to_dict()
    assert read["flow"][0]["transport"]["name"] == "tcp/sack"


def test_a_controller_is_loaded_once_listed_and_taken_away(loaded, fairwave):
    before = kernel.available()
    one = loaded("gamma-delta", alpha=0.31, beta=0.875, upper=0.25, lower=0.125, delta=3.5)
    assert kernel.available() == [*before, one.name]
    assert one in kernel.loaded()
    assert one.parameters == {"alpha": 0.31, "beta": 0.875, "upper": 0.25, "lower": 0.125, "delta": 3.5}
    status, out, _ = fairwave("kernel", "list")
    assert status == 0
    assert re.search(rf"{one.name}\s+gamma-delta\s+alpha 0.31, beta 0.875, upper 0.25", out)
    with pytest.raises(RunError, match=f"fairwave kernel unload {one.name}"):
        kernel.load("aimd", name=one.name)
    assert fairwave("kernel", "unload", one.name)[0] == 0
    assert kernel.available() == before
    status, _, error = fairwave("kernel", "unload", one.name)
    assert status == 1
    assert "is not in the kernel" in error


def test_what_it_did_not_load_is_left_alone(loaded, fairwave):
    loaded("aimd")
    before = kernel.available()
    status, _, error = fairwave("kernel", "unload", "reno")
    assert status == 1
    assert "reno is not ours" in error
    assert kernel.available() == before


def test_a_run_says_how_the_kernel_comes_by_what_it_lacks():
    if no_live():
        pytest.skip(f"no live run can be made here: {no_live()}")
    with pytest.raises(RunError, match="fairwave kernel load aimd"):
        live(scenario(transport("fw_nowhere"), duration="1 s"))
    with pytest.raises(RunError, match="modprobe tcp_nowhere"):
        live(scenario(transport("nowhere"), duration="1 s"))


PROGRAM = """
import socket, struct, sys, threading, time
to, controller, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, controller.encode())
time.sleep(0.3)
s.connect((to, 7))
def send():
    while True: s.sendall(bytes(65536))
threading.Thread(target=send, daemon=True).start()
end = time.monotonic() + seconds
while time.monotonic() < end:
    info = s.getsockopt(socket.IPPROTO_TCP, 11, 104)
    # struct tcp_info of linux/tcp.h: the threshold, the window, and what is smoothed of the round trip
    rtt, _, threshold, window = struct.unpack_from("4I", info, 68)
    print(time.monotonic(), info[1], threshold, window, rtt, flush=True)
    time.sleep(0.004)
"""
SERVE = """
import socket
c, _ = socket.create_server(('', 7)).accept()
while c.recv(1 << 20): pass
"""


def windows(controller, seconds, tmp_path, **network):
    """Time, state, threshold, window and round trip of a connection from the kernel, every 4 ms."""
    out = tmp_path / "windows"
    told = f"import sys; sys.stdout = open({str(out)!r}, 'w')\n{PROGRAM}"
    words = {
        "command": [sys.executable, "-c", told, "{to}", controller, str(seconds)],
        "serve": [sys.executable, "-c", SERVE],
    }
    keys = ", ".join(f"{key} = {json.dumps(value)}" for key, value in words.items())
    made = live(scenario(f'{{ name = "host/program", {keys} }}', duration=f"{seconds + 1} s", **network))
    rows = [[float(cell) for cell in line.split()] for line in out.read_text().splitlines()]
    assert len(rows) > 100, made.troubles
    return rows


RECOVERY = 3
"""The kernel's state of fast recovery (TCP_CA_Recovery)."""


def decreases(rows):
    """Window before and threshold after each loss except slow start's."""
    pairs = itertools.pairwise(rows)
    return [(a[3], b[2]) for a, b in pairs if b[1] == RECOVERY != a[1] and a[3] > a[2]]


@pytest.mark.slow
@thrice
def test_a_loss_leaves_beta_of_the_window_and_alpha_is_gained_per_round_trip(loaded, tmp_path):
    alpha, beta = 3.0, 0.75
    rows = windows(loaded("aimd", alpha=alpha, beta=beta).name, 5, tmp_path)
    kept = [after / before for before, after in decreases(rows)]
    assert len(kept) >= 3
    for one in kept:
        assert one == pytest.approx(beta, abs=0.04), kept
    # From the end of a recovery to the next loss.
    rates = []
    for _, group in itertools.groupby(rows, key=lambda row: (row[2], row[1])):
        run = [row for row in group if row[1] == 0 and row[3] > row[2]]
        if len(run) > 40:
            round_trips = sum((b[0] - a[0]) / (b[4] * 1e-6) for a, b in itertools.pairwise(run))
            rates.append((run[-1][3] - run[0][3]) / round_trips)
    assert rates
    assert sorted(rates)[len(rates) // 2] == pytest.approx(alpha, rel=0.2), rates


@pytest.mark.slow
@thrice
def test_gamma_leaves_the_knee_and_loses_nothing_once_slow_start_is_over(loaded, tmp_path):
    rows = windows(loaded("gamma").name, 5, tmp_path)
    late = [row for row in rows if row[0] > rows[0][0] + 1.5]
    assert all(row[1] == 0 for row in late), "no recovery"
    drops = [b[3] / a[3] for a, b in itertools.pairwise(late) if b[3] < a[3]]
    # The buffer is the bandwidth-delay product: γ of Eq. (16) is about 2/3.
    assert len(drops) >= 3
    for one in drops:
        assert one == pytest.approx(2 / 3, abs=0.06), drops


@pytest.mark.slow
@thrice
def test_delta_is_gained_while_the_queue_is_nearly_empty(loaded, tmp_path):
    def rate(controller):
        rows = windows(controller.name, 6, tmp_path, delay="50 ms", queue=83)
        knee = 2 * 0.05 * 10e6 / 8 / 1500
        rising = [row for row in rows if row[1] == 0 and row[3] > row[2] and row[3] < 0.9 * knee]
        pairs = [(a, b) for a, b in itertools.pairwise(rising) if b[0] - a[0] < 0.05 and b[3] >= a[3]]
        round_trips = sum((b[0] - a[0]) / (b[4] * 1e-6) for a, b in pairs)
        assert round_trips > 5
        return sum(b[3] - a[3] for a, b in pairs) / round_trips

    # Slow start's loss lowers the window far below the knee, to a level without a queue.
    with_delta = rate(loaded("gamma-delta", beta=0.1, delta=6.0))
    without = rate(loaded("gamma", beta=0.1))
    assert with_delta == pytest.approx(6.0, rel=0.25)
    assert without == pytest.approx(1.0, rel=0.25)


@pytest.mark.slow
@thrice
def test_beside_their_simulated_selves_they_agree(loaded):
    read = scenario(transport(loaded("gamma").name), duration="8 s")
    made = live(read)
    assert made.troubles == []
    rows = comparison.compared(read, made.results, comparison.simulated(read).run())
    assert len(rows) == 3
    assert all(row.agrees for row in rows), [row.cells for row in rows]


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv (Debian's package util-linux)")
def test_without_privileges_it_says_what_it_needs():
    if kernel.missing(compiles=False) is not None:
        pytest.skip("nothing to take away")
    command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", sys.executable, "-m", "fairwave"]
    ended = subprocess.run([*command, "kernel", "load", "aimd"], check=False, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "must be root's" in ended.stderr
