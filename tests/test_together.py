"""Runs that end together: the same tables, words and gaps as if each had been delivered alone."""

import itertools

import numpy as np
import pytest

import fairwave
from fairwave import _native
from fairwave import tables as tables_
from fairwave.runs.grid import Point, assemble_runs
from fairwave.runs.keeping import Folder, Memory
from fairwave.runs.replication import replicate
from fairwave.runs.run_batch import RunBatch, RunTables
from fairwave.runs.runs_file import packed, unpacked

CALLS = """
name = "calls"
duration = "1 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms" }
[[flow]]
name = "voice"
transport = "udp"
traffic = "voice"
[[flow]]
name = "files"
transport = "tcp/cubic"
traffic = "bulk"
"""


@pytest.fixture(scope="module")
def jobs():
    alone = fairwave.load(CALLS)
    # Another transport, and a group less: other words, other gaps, tables without rows.
    other = fairwave.load(CALLS.rpartition("[[flow]]")[0]).with_overrides({"flow.voice.transport": "tfrc"})
    return [
        (Point({"kind": name}, one), seed)
        for name, one in (("a", alone), ("b", other))
        for seed in range(1, 9)
    ]


@pytest.fixture(scope="module")
def alone(jobs):
    """Each run's tables as from a batch of one."""
    batch = _native.Batch([(point.scenario.native, seed) for point, seed in jobs], 2)
    found = dict(batch)
    return [tables_.tables(found[job]) for job in range(len(jobs))]


def same(one, other):
    assert list(one) == list(other)
    for name, table in one.items():
        mine, theirs = table.columns, other[name].columns
        assert list(mine) == list(theirs)
        for title, column in mine.items():
            twin = theirs[title]
            where = (name, title)
            assert column.words == twin.words, where
            assert column.values.dtype == twin.values.dtype, where
            assert (column.valid is None) == (twin.valid is None), where
            assert column.values.tobytes() == twin.values.tobytes(), where
            assert column.valid is None or np.array_equal(column.valid, twin.valid), where


def together(jobs, pack=False, threads=2):
    batch = _native.Batch([(point.scenario.native, seed) for point, seed in jobs], threads, None, pack)
    while (several := batch.several()) is not None:
        yield RunBatch.from_raw(*several)


def test_each_run_of_several_is_as_it_is_alone(jobs, alone):
    seen = {}
    for several in together(jobs):
        assert list(several.jobs) == sorted(several.jobs)
        for job, tables in several.runs():
            same(dict(tables), alone[job])
            seen[job] = tables
    assert sorted(seen) == list(range(len(jobs)))
    with pytest.raises(KeyError):
        seen[8]["no such table"]


@pytest.mark.parametrize("order", ["asked", "reversed", "every other"])
def test_results_are_the_same_whatever_ended_together(jobs, alone, order):
    runs = {job: tables for several in together(jobs) for job, tables in several.runs()}
    numbers = list(range(len(jobs)))
    chosen = {"asked": numbers, "reversed": numbers[::-1], "every other": numbers[::2] + numbers[1::2]}[order]
    made = [jobs[one] for one in chosen]
    fast, slow = (assemble_runs(made, [where[one] for one in chosen]) for where in (runs, alone))
    same({name: fast.rows(name) for name in fast.tables}, {name: slow.rows(name) for name in slow.tables})


def test_what_a_folder_keeps_is_what_python_would_have_packed(jobs, alone):
    for several in together(jobs, pack=True):
        for (job, tables), data in zip(several.runs(), several.packed, strict=True):
            assert data is not None
            same(unpacked(data), unpacked(packed(tables)))
            same(unpacked(data), alone[job])


def test_tables_too_large_to_be_stored_as_they_are_are_packed_by_python(tmp_path):
    point = fairwave.load(CALLS).with_overrides(
        {"duration": "60 s", "record": {"bin": "10 ms", "queues": ["r1>r2"]}}
    )
    ((several),) = together([(Point({}, point), 1)], pack=True)
    assert several.packed == [None]
    kept = Folder(tmp_path, "1")
    kept.put_several([("x", 1, tables) for _, tables in several.runs()], several.packed)
    same(kept.get("x", 1), dict(next(several.runs())[1]))


def test_kept_runs_come_back(jobs, alone, tmp_path):
    asked = [(point.scenario.native, seed) for point, seed in jobs]
    fresh = replicate(asked[:10], keep=Folder(tmp_path, "1"))
    assert all(isinstance(one, RunTables) for one in fresh)
    again = replicate(asked, keep=Folder(tmp_path, "1"))
    assert [isinstance(one, dict) for one in again] == [True] * 10 + [False] * 6
    for one, other in zip(again, alone, strict=True):
        same(dict(one), other)


def test_a_failure_leaves_what_had_ended(tmp_path):
    """Runs that ended before another one fails are kept."""
    good = fairwave.load(CALLS)
    made = []

    class Kept(Memory):
        def put(self, scenario, seed, tables):
            made.append(seed)
            super().put(scenario, seed, tables)

    def fails(asked, _threads, _tell=None):
        batch = _native.Batch(asked, 1)
        yield RunBatch.from_raw(*batch.several())
        raise _native.RunError("as it was meant to")

    with pytest.raises(fairwave.RunError):
        replicate([(good.native, 1), (good.native, 2)], keep=Kept(), runner=fails)
    assert made == [1, 2]


def test_rows_are_taken_when_they_are_read():
    table = tables_.Table.from_columns(
        {"run": [0, 0, 1, 2], "value": [1.0, None, 3.0, 4.0], "name": ["a", "b", None, "a"]}
    )
    parts = list(table.parted("run"))
    assert [part["value"].to_list() for part in parts] == [[1.0, None], [3.0], [4.0]]
    assert [part.num_rows for part in parts] == [2, 1, 1]
    assert table.take(np.array([True, False, True, False])).only(run=1).to_dicts() == [
        {"run": 1, "value": 3.0, "name": None}
    ]
    assert "value" in parts[0]
    assert list(itertools.chain.from_iterable(part.column_names for part in parts[:1])) == [
        "run",
        "value",
        "name",
    ]


def test_arrow_arrays_of_texts_are_those_that_pyarrow_makes():
    pa = pytest.importorskip("pyarrow")
    texts = ["", "a", None, "ä" * 3, "a", None]
    assert tables_.Column.from_values(texts).to_arrow().equals(pa.array(texts, pa.large_string()))
    codes = tables_.Column(np.array([1, 0, 1], dtype=np.int32), words=("x", "yß"))
    assert codes.to_arrow().equals(
        pa.DictionaryArray.from_arrays(pa.array([1, 0, 1], pa.int32()), pa.array(["x", "yß"]))
    )
    flags = tables_.Column.from_values([True, None, False])
    assert flags.to_arrow().equals(pa.array([True, None, False]))
    assert tables_.Column.from_values([None, "b"]).to_arrow().null_count == 1
