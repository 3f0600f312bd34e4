"""Live runs: real packets between namespaces, for seconds each. Skipped with a reason if namespaces are unavailable."""

import contextlib
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import fairwave
from fairwave.live import live, missing, promise
from thrice import thrice

FAIRWAVE = [sys.executable, "-m", "fairwave"]

# All of them, because a late run fails, and other tests on the same machine make runs late.
pytestmark = pytest.mark.live

LINK = """
[[link]]
from = "alice"
to = "bob"
rate = "10 Mb/s"
delay = "10 ms"
queue = {{ {queue} }}
"""

VOICE = """
[[flow]]
name = "voice"
from = "alice"
to = "bob"
transport = "udp"
traffic = {{ kind = "voice", codec = "g711" }}
"""

VOICE_TRAFFIC = '{ kind = "voice", codec = "g711" }'


def text(flows=VOICE, *, name="live", duration="2 s", queue="capacity = { packets = 50 }"):
    """A scenario with two hosts and a link of 10 Mb/s."""
    return (
        f'name = "{name}"\nduration = "{duration}"\n'
        + LINK.format(queue=queue)
        + flows.replace("{{", "{").replace("}}", "}")
    )


def flow(name, transport, traffic='"bulk"'):
    """A flow from alice to bob."""
    return f'[[flow]]\nname = "{name}"\nfrom = "alice"\nto = "bob"\ntransport = {transport}\ntraffic = {traffic}\n'


@functools.cache
def skip_reason():
    """The reason to skip these tests, or nothing."""
    return missing()


@pytest.fixture(autouse=True)
def namespaces():
    """Skips the test if live runs are impossible."""
    if skip_reason():
        pytest.skip(f"no live run can be made here: {skip_reason()}")


@pytest.fixture
def scenario(tmp_path):
    """A scenario's file."""

    def write(*arguments, **named):
        path = tmp_path / "scenario.toml"
        path.write_text(text(*arguments, **named))
        return path

    return write


def run_when_calm(command, **named):
    """Runs a command, and repeats it after pauses if the run was late because the machine was busy."""
    for pause in (0.5, 1, 2, 4, None):
        ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60, **named)
        if pause is None or "The promise of accuracy was not kept" not in ended.stderr:
            return ended
        time.sleep(pause)
    raise AssertionError("the last attempt has no pause")


def run_in_shell(path, *words, **named):
    """Runs programs behind a network."""
    return run_when_calm([*FAIRWAVE, "shell", str(path), *map(str, words)], **named)


@pytest.mark.slow
@thrice
def test_a_link_of_ten_megabits_carries_ten_megabits():
    load = flow("load", '"udp"', '{ kind = "cbr", rate = "11 Mb/s", payload = "1172 B" }')
    made = live(fairwave.load(text(load, duration="4 s")))
    report, books = made.report, made.report["books"]
    assert report["rate_error"] < 0.005
    assert report["books_closed"]
    assert books["dropped"] > 100
    found = (
        books["read"]
        + books["copied"]
        - books["released"]
        - books["dropped"]
        - books["lost"]
        - books["queued"]
    )
    assert found == books["unmapped"] + books["after_end"]
    goodput = made.results.flows["goodput_bps"][0].as_py()
    (row,) = (one for one in made.results.links.to_pylist() if one["link"] == "alice>bob")
    assert row["utilisation"] > 0.97
    assert goodput == pytest.approx(10e6 * 1172 / 1212, rel=0.03)
    if not report["urgent"] and report["lateness_p99_s"] > 1e-3:
        pytest.skip(f"no thread may go before others here: {made.broken}")
    assert made.broken is None


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["tfrc", "dvrc", "rtcp", "rap", "tcp/sack", "tcp/cubic"])
@thrice
def test_transports_of_ours_are_the_same_on_real_sockets(transport):
    flows = flow("load", f'"{transport}"', '{ kind = "cbr", rate = "2 Mb/s", payload = "800 B" }')
    scenario = fairwave.load(text(flows, duration="3 s"))
    made = live(scenario)
    simulated = scenario.run()
    assert made.troubles == []
    assert made.report["books_closed"]
    (ours,), (theirs,) = made.results.flows.to_pylist(), simulated.flows.to_pylist()
    assert ours.keys() == theirs.keys()
    assert set(made.results.tables) == set(simulated.tables)
    assert ours["goodput_bps"] == pytest.approx(theirs["goodput_bps"], rel=0.05)
    assert ours["units_lost"] == theirs["units_lost"] == 0
    assert ours["delay_p50_s"] == pytest.approx(theirs["delay_p50_s"], abs=2e-3)


AIR = """
[medium.air]
{medium}

[[link]]
from = "server"
to = "mast"
rate = "100 Mb/s"
delay = "5 ms"

[[link]]
from = "mast"
to = "phone"
medium = "air"

[[link]]
from = "mast"
to = "laptop"
medium = "air"
"""

MEDIA = {
    "wifi": 'law = "wifi"\nstandard = "802.11n"\nchannel = { mcs = 3 }\naccess-point = "mast"',
    "airtime": (
        'law = "wifi"\nchannel = { snr = 25.0, doppler = 5.0 }\nqueues = "airtime"\naccess-point = "mast"'
    ),
    "cell": 'law = "cell"\nchannel = { snr = 15.0, doppler = 5.3 }\nbase-station = "mast"',
}


@pytest.mark.slow
@pytest.mark.parametrize("medium", MEDIA)
@thrice
def test_a_shared_medium_is_the_same_on_real_packets(medium):
    between = {"down": ("server", "phone"), "up": ("phone", "server"), "load": ("server", "laptop")}
    load = '{ kind = "cbr", rate = "40 Mb/s", payload = "1172 B" }'
    flows = "".join(
        f'[[flow]]\nname = "{name}"\nfrom = "{source}"\nto = "{sink}"\ntransport = "udp"\n'
        f"traffic = {load if name == 'load' else VOICE_TRAFFIC}\n"
        for name, (source, sink) in between.items()
    )
    scenario = fairwave.load(
        f'name = "{medium}"\nduration = "6 s"\nwarmup = "1 s"\n' + AIR.format(medium=MEDIA[medium]) + flows
    )
    made, simulated = live(scenario), scenario.run()
    assert made.troubles == []
    assert made.report["books_closed"]
    assert set(made.results.tables) == set(simulated.tables)
    ours = {flow["group"]: flow for flow in made.results.flows.to_pylist()}
    for flow in simulated.flows.to_pylist():
        own = ours[flow["group"]]
        assert own["goodput_bps"] == pytest.approx(flow["goodput_bps"], rel=0.05)
        assert own["delay_mean_s"] == pytest.approx(flow["delay_mean_s"], rel=0.1, abs=2e-3)
    shares = {row["link"]: row["airtime_share"] for row in made.results.radio.to_pylist()}
    for row in simulated.radio.to_pylist():
        assert shares[row["link"]] == pytest.approx(row["airtime_share"], abs=0.02)
    assert shares["mast>laptop"] > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("controller", ["reno", "cubic"])
@thrice
def test_the_kernels_tcp_fills_the_link_and_units_come_out_of_it(controller):
    call = '{ kind = "cbr", rate = "200 kb/s", payload = "500 B" }'
    flows = flow("bulk", f'"host/{controller}"') + flow("units", f'"host/{controller}"', call)
    made = live(fairwave.load(text(flows, duration="4 s")))
    bulk, units = made.results.flows.to_pylist()
    assert bulk["transport"] == f"host/{controller}"
    assert bulk["goodput_bps"] > 8e6
    assert units["units_received"] > 150
    assert units["units_lost"] == 0
    assert units["delay_p50_s"] > 0.010
    assert made.report["books_closed"]
    assert made.troubles == []
    # The queue drops packets, which are sent again. Values that the kernel does not report are null.
    assert 0 < bulk["packets_retransmitted"] <= bulk["dropped"] + 3
    assert bulk["timeouts"] is None
    assert bulk["fast_retransmits"] is None


@thrice
def test_marks_of_a_queue_reach_a_sender_of_ours():
    flows = flow("load", '{ name = "tcp/sack", ecn = "classic" }')
    queue = 'discipline = "codel", ecn = true, capacity = { packets = 200 }'
    made = live(fairwave.load(text(flows, duration="3 s", queue=queue)))
    (row,) = made.results.flows.to_pylist()
    assert (row["marked"] > 3, row["dropped"]) == (True, 0), row


@pytest.mark.parametrize("short", [False, True])
def test_programs_of_a_flow_are_told_where_the_others_are(tmp_path, short):
    served = tmp_path / "served"
    serve = (
        "import socket; s = socket.create_server(('', 80)); _, who = s.accept(); "
        f"open({str(served)!r}, 'w').write(who[0])"
    )
    ask = "import socket, sys, time; time.sleep(0.5); socket.create_connection((sys.argv[1], 80)).send(b'x')"
    commands = {"command": [sys.executable, "-c", ask, "{to}"], "serve": [sys.executable, "-c", serve]}
    keys = [f"{key} = {json.dumps(words)}" for key, words in commands.items()]
    whole = flow("programs", f'{{ name = "host/program", {", ".join(keys)} }}')
    transport = next(line for line in whole.splitlines() if line.startswith("transport"))
    traffic = next(line for line in whole.splitlines() if line.startswith("traffic"))
    told = whole.replace(transport, "\n".join(keys)).replace(traffic, "") if short else whole
    scenario = fairwave.load(
        'name = "programs"\nduration = "2 s"\n' + LINK.format(queue="").replace("{ ", "{") + told
    )
    assert scenario.to_dict() == fairwave.Scenario.from_dict(scenario.to_dict()).to_dict()
    made = live(scenario)
    assert served.read_text() == "192.0.2.1", made.troubles
    assert made.report["books"]["released"] >= 4


def test_a_flow_of_programs_has_no_traffic_of_its_own():
    programs = flow("phone", '{ name = "host/program", command = ["true"] }', '{ kind = "voice" }')
    with pytest.raises(fairwave.RunError, match=r"phone\[0\].*leave out `traffic`"):
        live(fairwave.load(text(programs)))


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["true"], 0),
        (["sh", "-c", "exit 7"], 7),
        (["sh", "-c", "kill -9 $$"], 137),
        (["no-such-program"], 127),
    ],
)
def test_a_shell_ends_as_its_program_does(scenario, command, status):
    assert run_in_shell(scenario(), "--", *command).returncode == status


def test_a_shell_is_bounded_in_time(scenario):
    ended = run_in_shell(scenario(), "--for", 0.5, "--", "sleep", 1000)
    assert ended.returncode == 1
    assert "--for SECONDS" in ended.stderr


def test_programs_on_two_hosts_speak_to_each_other_by_name(scenario):
    serve = (
        "import socket; c, who = socket.create_server(('', 7)).accept(); print(c.recv(9).decode(), who[0])"
    )
    ask = "import socket, time; time.sleep(0.5); socket.create_connection(('bob', 7)).send(b'hello'); time.sleep(0.3)"
    ended = run_in_shell(
        scenario(),
        "--at",
        "bob",
        "--",
        sys.executable,
        "-c",
        serve,
        "--at",
        "alice",
        "--",
        sys.executable,
        "-c",
        ask,
    )
    assert (ended.returncode, ended.stdout) == (0, "hello 192.0.2.1\n"), ended.stderr
    assert "books" in ended.stderr
    assert "closed" in ended.stderr


def test_without_the_scenarios_flows_its_network_is_there_alone(scenario):
    serve = "import socket; c, who = socket.create_server(('', 7)).accept(); print(c.recv(9).decode(), flush=True)"
    # The network ends with the last command, so this one waits until the other has closed.
    ask = "import socket, time; time.sleep(1.5); s = socket.create_connection(('bob', 7)); s.send(b'hello'); s.recv(1)"
    ended = run_in_shell(
        *(scenario(), "--no-flows"),
        *("--at", "bob", "--", sys.executable, "-c", serve, "--at", "alice", "--", sys.executable, "-c", ask),
    )
    assert (ended.returncode, ended.stdout) == (0, "hello\n"), ended.stderr
    # One connection only: no packet of the scenario's flows.
    packets = int(re.search(r"(\d+) read,", ended.stderr)[1])
    assert 4 <= packets <= 20, ended.stderr


def test_programs_have_no_privileges_and_see_no_other_processes(scenario):
    look = (
        "import os; print(open('/proc/self/status').read()); "
        "print('most', max(int(p) for p in os.listdir('/proc') if p.isdigit()))"
    )
    ended = run_in_shell(scenario(), "--", sys.executable, "-c", look)
    said = dict(line.split(None, 1) for line in ended.stdout.splitlines() if len(line.split(None, 1)) == 2)
    assert {int(said[f"Cap{kind}:"], 16) for kind in ("Prm", "Eff", "Bnd", "Amb", "Inh")} == {0}
    assert said["NoNewPrivs:"].strip() == "1"
    assert int(said["most"]) < 10


RIGHTS = "grep -E '^(Uid|Gid|Groups|Cap|NoNew)' /proc/self/status"


def as_root():
    """Skips a test that needs root and `setpriv`."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv (Debian's package util-linux)")


def run_under_sudo(path, *without):
    """Runs a program that prints its privileges, as under `sudo` for user 4321, without some capabilities of root."""
    bounding = ["setpriv", *(f"--bounding-set=-{one}" for one in without)] if without else []
    environment = os.environ | {"SUDO_UID": "4321", "SUDO_GID": "4321"}
    command = [*bounding, *FAIRWAVE, "shell", str(path), "--", "/bin/sh", "-c", RIGHTS]
    return run_when_calm(command, env=environment)


def test_under_sudo_programs_are_the_users_and_keep_no_right_of_root(scenario):
    as_root()
    ended = run_under_sudo(scenario())
    assert ended.returncode == 0, ended.stderr
    said = {line.split(":")[0]: line.split(":")[1].split() for line in ended.stdout.splitlines()}
    assert said["Uid"] == said["Gid"] == ["4321"] * 4
    assert said["Groups"] == []
    assert {int(said[f"Cap{kind}"][0], 16) for kind in ("Prm", "Eff", "Bnd", "Amb", "Inh")} == {0}
    assert said["NoNewPrivs"] == ["1"]


@pytest.mark.parametrize(
    ("missing", "refused"),
    [
        ("sys_admin", "become user 4321 of group 4321"),  # a user namespace is made, which maps only root
        ("setuid", "become user 4321 of group 4321"),
        ("setgid", "become user 4321 of group 4321"),
        ("setpcap", "remove capability 0 from its bounding set"),
    ],
)
def test_a_program_whose_rights_cannot_be_given_away_does_not_start(scenario, missing, refused):
    as_root()
    ended = run_under_sudo(scenario(), missing)
    assert (ended.returncode, ended.stdout) == (126, "")
    assert "was not started" in ended.stderr
    assert refused in ended.stderr


def test_programs_cannot_leave(scenario):
    reach = "import socket; s = socket.socket(); s.settimeout(2); print(s.connect_ex(('198.51.100.1', 80)))"
    ended = run_in_shell(scenario(), "--", sys.executable, "-c", reach)
    assert ended.stdout.strip() != "0"
    names = "import os; print(sorted(os.listdir('/proc/sys/net/ipv4/conf')))"
    assert "eth0" not in run_in_shell(scenario(), "--", sys.executable, "-c", names).stdout


def test_names_are_no_commands(tmp_path, scenario):
    flag = tmp_path / "flag"
    nasty = f"x'; touch {flag}; $(touch {flag}) `touch {flag}`"
    assert run_in_shell(scenario(name=nasty), "--", "true").returncode == 0
    assert (
        run_in_shell(scenario(), "--", "echo", f"$(touch {flag})", f"; touch {flag}").stdout
        == f"$(touch {flag}) ; touch {flag}\n"
    )
    assert run_in_shell(scenario(), "--at", f"$(touch {flag})", "--", "true").returncode != 0
    assert not flag.exists()


def test_an_unknown_host_is_told_which_there_are(scenario):
    ended = run_in_shell(scenario(), "--at", "carol", "--", "true")
    assert ended.returncode == 1
    assert "carol" in ended.stderr
    assert "alice, bob" in ended.stderr


def running(word):
    """Processes with a word in their command line."""
    found = []
    for one in Path("/proc").iterdir():
        if one.name.isdigit():
            try:
                if word.encode() in (one / "cmdline").read_bytes():
                    found.append(int(one.name))
            except OSError:
                pass
    return found


def namespaces_held(processes=None):
    """Namespaces that any process is in, or one of these."""
    found = set()
    for one in Path("/proc").glob("[0-9]*/ns/net"):
        if processes is None or int(one.parts[2]) in processes:
            with contextlib.suppress(OSError):
                found.add(one.readlink())
    return found


@pytest.mark.parametrize("how", [None, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_behind(scenario, how):
    devices, ours = set(Path("/sys/class/net").iterdir()), Path("/proc/self/ns/net").readlink()
    word = f"{os.getpid()}.{time.monotonic_ns()}"  # an unusual duration, to find this process
    path = scenario(flow("bulk", '"host/cubic"') + VOICE, duration="2 s")
    command = [
        *FAIRWAVE,
        "shell",
        str(path),
        "--for",
        "1" if how is None else "50",
        "--",
        "sh",
        "-c",
        f"sleep {word} & sleep {word}",
    ]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as shell:
        until = time.monotonic() + 20
        while (
            len(running(word)) < 5 and time.monotonic() < until
        ):  # this test, its host, its first process, a shell, `sleep`
            time.sleep(0.02)
        assert len(running(word)) >= 5
        # Tests in other processes have namespaces, too.
        made = namespaces_held(running(word)) - {ours}
        assert made
        if how is not None:
            shell.send_signal(how)
        shell.wait(20)
    until = time.monotonic() + 10
    while running(word) and time.monotonic() < until:
        time.sleep(0.02)
    assert running(word) == []
    assert set(Path("/sys/class/net").iterdir()) == devices
    assert not namespaces_held() & made


@pytest.mark.skipif(
    shutil.which("setpriv") is None or shutil.which("unshare") is None,
    reason="needs setpriv and unshare (Debian's package util-linux)",
)
def test_without_privileges_it_works_in_a_user_namespace(scenario):
    if subprocess.run(["unshare", "-Ur", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("this kernel allows no user namespaces")
    without = (
        ["setpriv", "--bounding-set=-sys_admin,-net_admin", "--inh-caps=-sys_admin,-net_admin"]
        if os.geteuid() == 0
        else []
    )
    command = [*without, *FAIRWAVE, "shell", str(scenario()), "--", "id", "-u"]
    ended = run_when_calm(command)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare (Debian's package util-linux)")
def test_where_the_kernel_allows_no_namespace_it_says_what_to_change(scenario):
    limited = 'echo 0 > /proc/sys/user/max_net_namespaces && exec "$@"'
    command = ["unshare", "-Ur", "sh", "-c", limited, "sh", *FAIRWAVE, "shell", str(scenario()), "--", "true"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    if ended.returncode != 1 and "max_net_namespaces" in ended.stderr:
        pytest.skip("this kernel lets nobody bound namespaces")
    assert ended.returncode == 1
    assert "a network namespace with a TUN device cannot be made" in ended.stderr
    assert "run it as root" in ended.stderr


def test_a_recording_has_every_packet(scenario, tmp_path, fairwave):
    file = tmp_path / "all.pcapng"
    status, out, _ = fairwave("live", scenario(), "--capture", file, "--json")
    told = json.loads(out)
    # On a busy machine the run may be late and fail. It is recorded completely all the same.
    assert status == (told["accounts"]["judgement"] == "broken")
    assert told["unrecorded"] is None
    books = told["accounts"]["books"]
    blocks, data = [], file.read_bytes()
    while data:
        blocks.append(int.from_bytes(data[:4], "little"))
        data = data[int.from_bytes(data[4:8], "little") :]
    assert blocks[0] == 0x0A0D0D0A
    assert blocks.count(1) == 2
    assert blocks.count(6) == books["read"] + books["released"] > 20


@thrice
def test_live_leaves_the_tables_and_the_page_that_run_leaves(scenario, tmp_path, fairwave):
    out = tmp_path / "out"
    status, said, error = fairwave("live", scenario(), "--out", out, "--overwrite", "--beside")
    assert status == 0, error  # repeated on a busy machine, because a late run fails
    assert "live and simulated" in said
    assert "OUTSIDE" not in said
    assert (out / "flows.parquet").exists()
    assert (out / "index.html").exists()
    assert (out / "accounts.json").exists()
    assert "release lateness" in error


def stopped_by_ctrl_c(path, out):
    """Stops a live run as soon as it has begun; returns its status and its output."""
    command = [*FAIRWAVE, "live", str(path), "--out", str(out)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as run:
        said = ""
        while "live, for" not in said:
            line = run.stderr.readline()
            assert line, said
            said += line
        os.killpg(run.pid, signal.SIGINT)
        said += run.communicate(timeout=60)[1]
    return run.returncode, said


def test_ctrl_c_promises_nothing_that_a_live_run_cannot_keep(scenario, tmp_path):
    status, said = stopped_by_ctrl_c(scenario(duration="50 s"), tmp_path / "out")
    assert status == 130
    assert "keeps nothing before it ends; the same command begins again" in said
    assert "goes on" not in said
    assert not (tmp_path / "out" / "accounts.json").exists()


@pytest.fixture
def unsimulated(monkeypatch):
    """Fails if this process makes a simulation."""

    def refuse(*_, **__):
        raise AssertionError("a live run was simulated")

    monkeypatch.setattr(fairwave.Scenario, "run", refuse)


MIXED = (
    flow("kernel", '"host/cubic"')
    + flow("ours", '"tcp/sack"')
    + VOICE
    + '[[flow]]\nname = "none"\nfrom = "alice"\nto = "bob"\ncommand = ["true"]\n'
)


@pytest.mark.usefixtures("unsimulated")
@thrice
def test_a_live_page_draws_what_was_recorded_live_and_begins_with_the_promise(scenario, tmp_path, fairwave):
    out = tmp_path / "out"
    _, _, error = fairwave("live", scenario(MIXED), "--out", out, "--overwrite")
    assert "could not be drawn" not in error
    page = (out / "index.html").read_text()
    report = json.loads((out / "accounts.json").read_text())
    first = page[: page.index("<nav")]
    assert "The promise of accuracy was" in first
    assert "release lateness" in first
    assert "books: closed" in first
    assert "Live run" in first
    assert "The figures show what this live run recorded" in page
    assert "The figures show the run with seed" not in page
    assert "same bytes on any machine" not in page
    # The drawn queue belongs to the same run as the tables next to it.
    series = pl.read_parquet(out / "series.parquet").with_columns(pl.col("name", "kind").cast(pl.String))
    queue = series.filter((pl.col("kind") == "queue_packets") & (pl.col("name") == "alice>bob"))
    drawn = pl.read_parquet(out / "figures" / "series.parquet")
    drawn = drawn.filter((pl.col("panel") == "Busiest queues") & (pl.col("name") == "alice>bob"))
    assert drawn["value"].to_list() == pytest.approx(queue["value"].to_list())
    assert report["books"]["released"] > 100


@thrice
def test_live_figures_have_the_formats_and_the_style_that_are_asked_for(scenario, tmp_path, fairwave):
    out = tmp_path / "out"
    asked = ("live", scenario(MIXED), "--out", out, "--overwrite", "--figures", "pdf", "--style", "paper")
    _, _, error = fairwave(*asked)
    assert "could not be drawn" not in error
    made = sorted(one.name for one in (out / "figures").iterdir())
    assert "series.pdf" in made
    assert not [one for one in made if one.endswith((".svg", ".png"))]


def test_a_live_run_does_not_begin_with_a_style_that_is_none(scenario, tmp_path, fairwave):
    status, _, error = fairwave("live", scenario(MIXED), "--out", tmp_path / "out", "--style", "papr")
    assert status == 2
    assert "did you mean 'paper'?" in error
    assert not (tmp_path / "out").exists()
    status, _, error = fairwave("live", scenario(MIXED), "--figures", "pdf")
    assert status == 2
    assert "add --out FOLDER, without --no-page" in error


@pytest.mark.usefixtures("unsimulated")
def test_results_are_kept_when_the_page_cannot_be_drawn(scenario, tmp_path, fairwave, monkeypatch):
    from fairwave_report import single

    def broken(*_, **__):
        raise ValueError("no ink")

    monkeypatch.setattr(single, "write", broken)
    out = tmp_path / "out"
    status, _, error = fairwave("live", scenario(MIXED), "--out", out)
    assert status == 1
    assert f"the page could not be drawn: ValueError: no ink; tables and accounts are kept in {out}" in error
    assert (out / "flows.parquet").exists()
    assert json.loads((out / "accounts.json").read_text())["books_closed"]


def test_a_network_without_flows_may_last_until_its_time_is_over(scenario):
    ended = run_in_shell(scenario(), "--no-flows", "--for", 0.5, "--", "sleep", 1000)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert "--for SECONDS" in ended.stderr


def test_a_capture_that_does_not_fit_the_disk_fails_the_run(scenario, fairwave):
    status, _, error = fairwave("live", scenario(duration="500 ms"), "--capture", "/dev/full")
    assert status == 1
    assert "the capture does not hold every packet: No space left on device" in error


TALK = """
import socket, time
for port in range(20000, 20000 + {count}):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("", port))
        s.sendto(b"x", ("bob", 9))
        if port % 50 == 0:
            time.sleep(0.002)
time.sleep(1000)
"""


@thrice
def test_a_queue_tells_four_thousand_conversations_between_two_hosts_apart():
    commands = [("alice", [sys.executable, "-c", TALK.format(count=4096)])]
    wide = text().replace('"10 Mb/s"', '"1 Gb/s"').replace("packets = 50", "packets = 9000")
    made = live(fairwave.load(wide), commands=commands, flows=False, duration=4)
    assert made.troubles == []
    flows = made.results.to_polars("flows").with_columns(pl.col("group").cast(pl.String))
    assert flows["group"].unique().to_list() == ["programs alice-bob"]
    # One packet each: none shares its flow with another.
    assert flows["packets_sent"].to_list() == [1] * 4096
    counted = {row["group"]: row["flows"] for row in made.results.groups.to_pylist()}
    # The reports of closed ports are a separate conversation.
    assert counted == {"voice": 0, "programs alice-bob": 4097}


def test_a_promise_is_told_as_kept_broken_or_not_judged():
    report = {"broken": None, "not_judged": None, "deadlines_missed": 2, "books": {"released": 4000}}
    assert promise(report).startswith("The promise of accuracy was kept: 2 of 4000 packets")
    assert promise(report | {"not_judged": "too few"}) == "The promise of accuracy was not judged: too few."
    assert promise(report | {"broken": "late"}) == "The promise of accuracy was not kept: late."


def test_the_kernels_transports_are_refused_in_virtual_time(scenario, fairwave):
    status, _, error = fairwave("run", scenario(flow("bulk", '"host/cubic"')))
    assert status == 1
    assert "fairwave live" in error
    assert "tcp/cubic" in error
