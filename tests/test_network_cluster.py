"""A network link by link on two workers of a cluster, with one killed: the same bytes as on one machine."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import time

import networkx as nx
import pytest

from square import SQUARE, graph

distributed = pytest.importorskip(
    "distributed", reason="Dask's scheduler is not installed: fairwave[cluster]"
)

TABLES = ("pairs.parquet", "links.parquet", "network.graphml", "pairs.csv", "links.csv")


def started(folder, *more):
    """The command, with 60 seeds: each loaded link has 60 runs."""
    folder.mkdir()
    nx.write_graphml(graph(), folder / "net.graphml")
    (folder / "demands.csv").write_text("from,to,demand\nA,C,3\nC,A,1\n", encoding="utf-8")
    text = SQUARE.replace("1.6 Mb/s", "2.6 Mb/s").replace("6 s", "40 s")
    (folder / "net.toml").write_text(text, encoding="utf-8")
    words = ["network", "net.toml", "--link-by-link", "-n", "60", "--widen", "0", "--out", "out", *more]
    program = "import sys; sys.argv[0] = 'fairwave'; from fairwave.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", program, *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def runs_kept(folder):
    try:
        with sqlite3.connect(
            f"file:{folder / 'out/.cache/runs.sqlite'}?mode=ro", uri=True, timeout=5
        ) as kept:
            return kept.execute("select count(*) from runs").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def left(folder):
    return {name: hashlib.sha256((folder / "out" / name).read_bytes()).hexdigest() for name in TABLES}


@pytest.mark.slow
def test_a_worker_of_two_is_killed_and_the_answer_is_the_same(tmp_path):
    import dask

    process = started(tmp_path / "alone")
    said, complaint = process.communicate(timeout=300)
    assert process.returncode == 0, complaint
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 3}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,
    ):
        process = started(tmp_path / "together", "--cluster", cluster.scheduler_address)
        deadline = time.monotonic() + 120
        while runs_kept(tmp_path / "together") < 5 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        before = runs_kept(tmp_path / "together")
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        said_together, complaint = process.communicate(timeout=300)
    assert process.returncode == 0, complaint
    assert 5 <= before < runs_kept(tmp_path / "together"), "it was killed in the middle"
    assert said_together == said
    assert left(tmp_path / "together") == left(tmp_path / "alone")
