"""Runs on a cluster: the same bytes as on one machine, also if a worker dies during the runs."""

import hashlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fairwave
from fairwave import cluster
from fairwave.runs import keeping
from fairwave.runs.replication import replicate

distributed = pytest.importorskip(
    "distributed", reason="Dask's scheduler is not installed: fairwave[cluster]"
)

CALLS = """
name = "calls"
duration = "20 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "2 Mb/s", delay = "20 ms" }
[[flow]]
name = "voice"
count = 4
transport = "udp"
traffic = "voice"
[[flow]]
name = "files"
count = 2
transport = "tcp/sack"
traffic = "bulk"
"""


@pytest.fixture(scope="module")
def workers():
    """A scheduler and three workers, each in a separate process."""
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 3}),
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as started,
    ):
        yield started


def sweep(folder, *more, wait=True):
    (folder / "calls.toml").write_text(CALLS)
    process = subprocess.Popen(
        [
            sys.executable, "-c", "import sys; sys.argv[0] = 'fairwave'; from fairwave.cli import main; main()",
            "sweep", "calls.toml", "--grid", "flow.voice.count=1..20", "-n", "6", "--out", "out", *more,
        ],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    if wait:
        said, complaint = process.communicate(timeout=300)
        assert process.returncode == 0, complaint
        return said
    return process


def runs_kept(folder):
    file = folder / "out" / ".cache" / "runs.sqlite"
    if not file.exists():
        return 0
    try:
        with sqlite3.connect(file, timeout=5) as kept:
            return kept.execute("select count(*) from runs").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def left(folder):
    """The content of every output file, without the store of single runs, which has them in order of completion."""
    out = folder / "out"
    return {
        str(file.relative_to(out)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(out.rglob("*"))
        if file.is_file() and ".cache" not in file.parts
    }


@pytest.mark.slow
def test_the_same_command_leaves_the_same_bytes_though_a_worker_is_killed_amid_it(tmp_path, workers):
    alone, together = tmp_path / "alone", tmp_path / "together"
    alone.mkdir()
    together.mkdir()
    said = sweep(alone)
    process = sweep(together, "--cluster", workers.scheduler_address, wait=False)
    deadline = time.monotonic() + 120
    while runs_kept(together) < 10 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    before = runs_kept(together)
    victim = next(iter(workers.workers.values()))
    os.kill(victim.pid, signal.SIGKILL)
    said_together, complaint = process.communicate(timeout=300)
    assert process.returncode == 0, complaint
    assert 10 <= before < 120, "it was killed in the middle"
    assert said_together == said
    assert left(together) == left(alone)
    assert {"runs.parquet", "flows.parquet", "flows.csv", "provenance.json"} <= left(alone).keys()


@pytest.mark.slow
def test_whoever_is_killed_himself_loses_only_the_runs_in_flight(tmp_path):
    process = sweep(tmp_path, "--threads", "1", wait=False)
    while runs_kept(tmp_path) < 20 and process.poll() is None:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    before = runs_kept(tmp_path)
    assert 20 <= before < 120
    scenario = fairwave.load(CALLS)
    points = [scenario.with_overrides({"flow.voice.count": count}) for count in range(1, 21)]
    folder = keeping.Folder(tmp_path / "out" / ".cache")
    there = [folder.get(point.hash, seed) is not None for point in points for seed in range(1, 7)]
    # One after another on one thread: no gap among them.
    assert there == [True] * before + [False] * (120 - before)
    sweep(tmp_path)
    assert runs_kept(tmp_path) == 120


class LocalCluster:
    """A scheduler and a worker in separate processes."""

    def __init__(self, folder, *words):
        dask = [sys.executable, "-m", "dask"]
        self.log = (folder / "dask.log").open("w")
        place = folder / "scheduler.json"
        place.unlink(missing_ok=True)
        begin = {"stdout": self.log, "stderr": self.log, "cwd": folder}
        self.scheduler = subprocess.Popen(
            [*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show",
             "--scheduler-file", str(place)],
            **begin,
        )  # fmt: skip
        while not place.exists() or not place.read_text().endswith("}"):
            assert self.scheduler.poll() is None
            time.sleep(0.05)
        self.address = json.loads(place.read_text())["address"]
        self.worker = subprocess.Popen(
            [*dask, "worker", self.address, "--nworkers", "1", "--nthreads", "1", "--no-nanny", "--no-dashboard",
             *words],
            **begin,
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in (self.worker, self.scheduler):
            one.kill()
            one.wait()
        self.log.close()


@pytest.mark.slow
def test_a_scheduler_that_is_killed_is_said_in_words_and_the_same_command_goes_on(tmp_path):
    alone, together = tmp_path / "alone", tmp_path / "together"
    alone.mkdir()
    together.mkdir()
    said = sweep(alone)
    with LocalCluster(together) as first:
        process = sweep(together, "--cluster", first.address, wait=False)
        while runs_kept(together) < 10 and process.poll() is None:
            time.sleep(0.02)
        first.scheduler.kill()
        _, complaint = process.communicate(timeout=120)
    before = runs_kept(together)
    assert 10 <= before < 120, complaint
    assert process.returncode == 1, complaint
    (line,) = complaint.splitlines()
    assert f"the Dask scheduler at {first.address} no longer answers" in line
    assert "what had finished is kept in out, and the same command goes on from it" in line
    with LocalCluster(together) as second:
        said_together = sweep(together, "--cluster", second.address)
    assert said_together == said
    assert left(together) == left(alone)


@pytest.mark.slow
def test_a_worker_without_a_law_is_told_how_to_get_it(tmp_path):
    (tmp_path / "laws.py").write_text(LAWS)
    (tmp_path / "calls.toml").write_text(CALLS.replace("tcp/sack", "tcp/fixed-four"))
    with LocalCluster(tmp_path) as started:
        run = subprocess.run(
            [sys.executable, "-m", "fairwave", "run", "calls.toml", "--laws", "laws.py", "--cluster", started.address],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert run.returncode == 2
    assert "a worker does not know a law of this scenario" in run.stderr
    assert f"dask worker {started.address} --preload my_laws.py" in run.stderr
    assert "unknown transport `tcp/fixed-four`" in run.stderr


def test_in_python_everything_within_the_block_is_made_there(workers):
    scenario = fairwave.load(CALLS)
    here = scenario.replicate(3)
    with cluster.on(workers.scheduler_address):
        there = scenario.replicate(3)
        assert cluster.executor() is not None
    assert cluster.executor() is None
    assert {name: table.equals(there.tables[name]) for name, table in here.tables.items()} == dict.fromkeys(
        here.tables, True
    )


class Broken:
    """A job with a scenario that the worker cannot read."""

    name = hash = "broken"

    def to_json(self):
        return '{"name": 3}'


def test_what_fails_there_fails_here_with_the_same_words(workers):
    with pytest.raises(fairwave.ScenarioError) as here:
        fairwave.load(Broken().to_json())
    with cluster.on(workers.scheduler_address), pytest.raises(fairwave.RunError) as there:
        replicate([(Broken(), 1)])
    assert str(there.value) == str(here.value)


def test_workers_of_another_build_are_refused(workers, monkeypatch):
    monkeypatch.setattr(cluster, "engine", lambda: "0.0.1+other")
    with pytest.raises(cluster.ClusterError, match=r"has fairwave .*, but this is 0\.0\.1\+other.*not mixed"):
        cluster._same(keeping.engine(), "tcp://worker")
    # Each task asks the workers, so that a later worker is included.
    assert cluster._make([(0, CALLS, "hash", 1)], "0.0.2+another") == "0.0.1+other"


def test_workers_with_other_laws_of_the_same_name_are_refused():
    ((_, said),) = cluster._make([(0, CALLS, "another", 1)], keeping.engine())
    assert "other laws of these names" in said
    assert "--preload" in said
    scenario = fairwave.load(CALLS)
    ((_, tables),) = cluster._make([(0, CALLS, scenario.hash, 1)], keeping.engine())
    assert "flows" in tables


LAWS = """
import fairwave as fw


@fw.controller("fixed-four")
class FixedFour(fw.Controller):
    def on_ack(self, path, window):
        window.congestion = 4.0

    def on_loss(self, path, window):
        window.congestion = 4.0

    def on_timeout(self, path, window):
        window.congestion = 1.0
"""


@pytest.mark.slow
def test_workers_that_were_given_the_same_laws_make_the_same_runs(tmp_path):
    (tmp_path / "laws.py").write_text(LAWS)
    (tmp_path / "calls.toml").write_text(CALLS.replace("tcp/sack", "tcp/fixed-four"))
    words = [
        "sweep",
        "calls.toml",
        "--laws",
        "laws.py",
        "--grid",
        "flow.files.count=1,2",
        "-n",
        "3",
        "--json",
    ]
    run = [sys.executable, "-m", "fairwave", *words]
    alone = subprocess.run(run, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    with distributed.LocalCluster(
        n_workers=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=50,
        preload=[str(tmp_path / "laws.py")],
    ) as started:
        elsewhere = [*run, "--cluster", started.scheduler_address]
        together = subprocess.run(elsewhere, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert [one["mean"] for one in json.loads(together)["points"]] == [
        one["mean"] for one in json.loads(alone)["points"]
    ]


def test_nobody_there_is_said_with_what_to_start(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    with (
        pytest.raises(
            cluster.ClusterError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'.*dask scheduler"
        ),
        cluster.on("tcp://127.0.0.1:9"),
    ):
        pass


def test_a_port_that_is_open_and_silent_is_no_scheduler(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with (
            pytest.raises(
                cluster.ClusterError, match=r"no Dask scheduler answers at .*\(no answer within 0\.5 s\)"
            ),
            cluster.on(address),
        ):
            pass


def test_the_address_of_a_worker_is_not_taken_for_the_schedulers(workers):
    worker = next(iter(workers.scheduler_info["workers"]))
    with (
        pytest.raises(cluster.ClusterError, match="is the address of a worker, not of the scheduler"),
        cluster.on(worker),
    ):
        pass


def test_what_dask_raises_when_the_scheduler_is_lost_is_said_in_words():
    with (
        pytest.raises(cluster.ClusterLostError, match="no longer answers"),
        cluster._rewording_errors("tcp://there:1"),
    ):
        raise distributed.client.FutureCancelledError("key", "scheduler-connection-lost")


def test_a_worker_that_joined_later_with_an_older_fairwave_is_refused_in_words():
    error = AttributeError("module 'fairwave.cluster' has no attribute '_make'")
    assert "lack this version" in str(cluster._missing_package("tcp://there:1", error))
    missing = ModuleNotFoundError("No module named 'fairwave'", name="fairwave")
    assert "lack the package 'fairwave'" in str(cluster._missing_package("tcp://there:1", missing))


def test_where_runs_were_made_is_not_part_of_where_numbers_come_from(monkeypatch):
    from fairwave.provenance import command

    monkeypatch.setattr(
        sys,
        "argv",
        ["/bin/fairwave", "sweep", "a.toml", "--cluster", "tcp://b:1", "--threads=2", "--seed", "3"],
    )
    assert command() == "fairwave sweep a.toml --seed 3"
    assert Path(sys.argv[0]).name == "fairwave"
