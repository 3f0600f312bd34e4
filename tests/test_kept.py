"""Damaged kept runs: never a wrong result, never a crash. Lost runs are made again, with one line of output."""

import json
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from fairwave.runs.keeping import Folder
from fairwave.runs.replication import replicate
from fairwave_study.shelf import Shelf, to_plain


@dataclass(frozen=True)
class NamedScenario:
    """The parts of a scenario that replication uses."""

    hash: str

    @property
    def name(self):
        return self.hash


def raw(value):
    return {
        "flows": {"value": ("f64", struct.pack("<40d", *([value] * 40)), None)},
        "links": {"sent": ("f64", struct.pack("<d", value), None)},
    }


JOBS = [(NamedScenario(name), seed) for name in ("1", "2") for seed in range(1, 11)]
EXPECTED = [float(scenario.hash) * 100 + seed for scenario, seed in JOBS]


class JobRequests:
    """Requests all jobs, kept in a folder; records the jobs that were made and the messages."""

    def __init__(self, folder, version="1", jobs=JOBS):
        self.made, self.said = [], []
        left = replicate(jobs, runner=self._run, keep=Folder(folder, version, self.said.append))
        self.values = [one["flows"]["value"].to_list() for one in left]
        self.tables = {frozenset(one) for one in left}

    def _run(self, jobs, _threads, _tell=None):
        for index, (scenario, seed) in enumerate(jobs):
            self.made.append((scenario.hash, seed))
            yield index, raw(float(scenario.hash) * 100 + seed)

    @property
    def is_right(self):
        return self.values == [[value] * 40 for value in EXPECTED] and self.tables == {
            frozenset({"flows", "links"})
        }


@pytest.fixture
def file(tmp_path):
    """A file with 20 kept runs."""
    JobRequests(tmp_path)
    return tmp_path / Folder.FILE


def assert_mended(file):
    """The next command finds everything and prints nothing."""
    again = JobRequests(file.parent)
    assert again.is_right
    assert (again.made, again.said) == ([], [])


def test_a_flipped_bit_anywhere_costs_at_most_runs_that_are_made_again_and_said(file):
    whole = file.read_bytes()
    flips = 200
    unsaid = []
    for flip in range(flips):
        bit = flip * (len(whole) * 8) // flips + flip % 8
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        asked = JobRequests(file.parent)
        assert asked.is_right, f"bit {bit}"
        if asked.made and not asked.said:
            unsaid.append(bit)
        # A row that was read before the damage was found may be too close to it to be saved.
        second = JobRequests(file.parent)
        assert second.is_right
        assert second.said == []
        assert len(second.made) <= 2
        assert_mended(file)
    assert unsaid == []


def test_a_file_that_was_cut_or_is_none_costs_its_runs_and_is_said(file):
    whole = file.read_bytes()
    for damaged in (b"", whole[:1], whole[:100], whole[: len(whole) // 2], whole[:-1], b"nonsense" * 1000):
        file.write_bytes(damaged)
        asked = JobRequests(file.parent)
        assert asked.is_right
        (line,) = asked.said
        assert str(file) in line
        assert "damaged" in line
        assert_mended(file)


def change(file, statement, *values):
    with closing(sqlite3.connect(file)) as kept, kept:
        kept.execute(statement, values)


def test_a_row_under_another_runs_name_is_damaged(file):
    with closing(sqlite3.connect(file)) as kept, kept:
        first, second = kept.execute("select * from runs limit 2").fetchall()
        for one, other in ((first, second), (second, first)):
            kept.execute(
                "update runs set digest = ?, data = ? where scenario = ? and seed = ?", (*one[2:], *other[:2])
            )
    asked = JobRequests(file.parent)
    assert asked.is_right
    assert asked.made == [first[:2], second[:2]]
    assert len(asked.said) == 1
    assert "18 kept runs are whole and used" in asked.said[0]
    assert_mended(file)


def test_a_run_without_one_of_its_tables_is_damaged(file):
    from fairwave.runs.runs_file import packed, unpacked

    with closing(sqlite3.connect(file)) as kept:
        (data,) = kept.execute("select data from runs where scenario = '1' and seed = 3").fetchone()
    tables = unpacked(data)
    del tables["links"]
    change(file, "update runs set data = ? where scenario = '1' and seed = 3", packed(tables))
    asked = JobRequests(file.parent)
    assert asked.is_right
    assert asked.made == [("1", 3)]
    assert_mended(file)


def test_what_is_damaged_beside_the_runs_asked_for_is_found_before_anything_is_written(file):
    change(file, "update runs set data = zeroblob(50) where scenario = '2' and seed = 7")
    first = JobRequests(file.parent, jobs=JOBS[:5])
    assert (first.made, first.said) == ([], [])
    fresh = JobRequests(file.parent, jobs=[*JOBS[:5], (NamedScenario("1"), 99)])
    assert fresh.made == [("1", 99)]
    assert "19 kept runs are whole and used, the others are made again" in fresh.said[0]


def test_a_version_that_was_damaged_is_not_taken_for_another_build(file):
    change(file, "update version set made_by = '3'")
    assert Folder(file.parent, "1").stale is None
    asked = JobRequests(file.parent)
    assert asked.is_right
    assert asked.made == []
    assert len(asked.said) == 1


def test_two_processes_that_write_at_once_both_end_well_and_lose_nothing(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; import test_kept\n"
        "asked = test_kept.JobRequests(Path(sys.argv[2])); assert asked.is_right and not asked.said"
    )
    begun = [
        subprocess.Popen([sys.executable, "-c", code, str(Path(__file__).parent), str(tmp_path)])
        for _ in range(3)
    ]
    assert [one.wait() for one in begun] == [0, 0, 0]
    assert_mended(tmp_path / Folder.FILE)


def test_a_file_that_another_process_replaced_is_opened_anew(file):
    keep = Folder(file.parent, "1")
    tables = keep.get("1", 1)
    keep.put("1", 100, tables)
    file.unlink()
    JobRequests(file.parent)
    keep.put("1", 101, tables)
    assert Folder(file.parent, "1").get("1", 101) is not None


def _fill(keep, tables):
    for seed in range(200, 300):
        keep.put("1", seed, tables)


def test_no_room_is_said_in_words_and_leaves_what_was_kept(file):
    keep = Folder(file.parent, "1")
    tables = keep.get("1", 1)
    keep.put("1", 100, tables)
    pages = keep._open.execute("pragma page_count").fetchone()[0]
    keep._open.execute(f"pragma max_page_count = {pages}")
    with pytest.raises(
        OSError, match=r"database or disk is full; the runs that it holds already are kept: '.*runs\.sqlite'"
    ):
        _fill(keep, tables)
    assert_mended(file)


KEPT = {
    "reading": {"line": "1"},
    "seconds": 1.5,
    "claims": {
        "S1": {
            "rule": "all",
            "comparisons": [
                {
                    "label": "a",
                    "samples": [1.0, None],
                    "line": 2.0,
                    "side": "below",
                    "unit": "ms",
                    "or_equal": True,
                    "relevant": 0.1,
                }
            ],
        }
    },
}


def test_a_reading_whose_file_is_damaged_is_judged_again_and_that_is_said(tmp_path):
    said = []
    shelf = Shelf(tmp_path, "1", said.append)
    shelf.put("key", [1, 2], KEPT)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    assert json.loads(whole)["kept"] == KEPT
    for bit in range(len(whole) * 8):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        assert shelf.get("key", [1, 2]) is None
        (line,) = said
        assert str(file) in line
        assert "its reading is judged again" in line
        said.clear()
    for end in range(len(whole)):
        file.write_bytes(whole[:end])
        assert shelf.get("key", [1, 2]) is None
    shelf.put("key", [1, 2], KEPT)
    assert to_plain(shelf.get("key", [1, 2])) == KEPT


def test_a_reading_under_another_ones_name_is_judged_again(tmp_path):
    said = []
    shelf = Shelf(tmp_path, "1", said.append)
    shelf.put("key", [1, 2], KEPT)
    shelf.put("other", [1, 2], {**KEPT, "seconds": 9.0})
    one, other = (shelf.file(key, [1, 2]) for key in ("key", "other"))
    other.write_bytes(one.read_bytes())
    assert shelf.get("other", [1, 2]) is None
    assert len(said) == 1
