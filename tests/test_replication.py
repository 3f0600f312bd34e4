"""Replication: every run once, kept when it ends, resumed after an interruption."""

import struct
from dataclasses import dataclass

import pytest

from fairwave.runs.keeping import Folder, Memory
from fairwave.runs.replication import replicate


@dataclass(frozen=True)
class NamedScenario:
    """The parts of a scenario that replication uses."""

    hash: str

    @property
    def name(self):
        return self.hash


def raw(value):
    return {
        "flows": {
            "value": ("f64", struct.pack("<d", value), None),
            "group": ("dictionary", b"\0\0\0\0", ["voice"]),
        }
    }


class Counting:
    """A runner that ends jobs in reverse order, counts them, and may stop after some."""

    def __init__(self, stop_after=None):
        self.made = []
        self.stop_after = stop_after

    def __call__(self, jobs, _threads, _tell=None):
        for done, index in enumerate(reversed(range(len(jobs)))):
            if done == self.stop_after:
                raise KeyboardInterrupt
            scenario, seed = jobs[index]
            self.made.append((scenario.hash, seed))
            yield index, raw(float(scenario.hash) * 100 + seed)


JOBS = [(NamedScenario(name), seed) for name in ("1", "2") for seed in (1, 2, 3)]
EXPECTED = [101, 102, 103, 201, 202, 203]


def values(tables):
    return [one["flows"]["value"].to_list()[0] for one in tables]


def test_results_come_in_the_order_of_jobs_however_they_ended():
    assert values(replicate(JOBS, runner=Counting())) == EXPECTED


def test_the_same_run_asked_for_twice_is_made_once():
    runner = Counting()
    assert values(replicate(JOBS + JOBS, runner=runner)) == EXPECTED * 2
    assert len(runner.made) == 6


@pytest.mark.parametrize("stop_after", [0, 1, 2, 3, 5])
def test_interrupted_work_resumes_where_it_stopped(tmp_path, stop_after):
    first, second = Counting(stop_after), Counting()
    with pytest.raises(KeyboardInterrupt):
        replicate(JOBS, runner=first, keep=Folder(tmp_path, "1"))
    assert values(replicate(JOBS, runner=second, keep=Folder(tmp_path, "1"))) == EXPECTED
    assert sorted(first.made + second.made) == sorted((scenario.hash, seed) for scenario, seed in JOBS)


def test_more_replications_run_only_what_is_new(tmp_path):
    replicate(JOBS[:2], runner=Counting(), keep=Folder(tmp_path, "1"))
    runner = Counting()
    replicate(JOBS, runner=runner, keep=Folder(tmp_path, "1"))
    assert len(runner.made) == 4


def test_what_another_version_left_is_not_used(tmp_path):
    replicate(JOBS, runner=Counting(), keep=Folder(tmp_path, "1"))
    runner = Counting()
    replicate(JOBS, runner=runner, keep=Folder(tmp_path, "2"))
    assert len(runner.made) == 6
    assert Folder(tmp_path, "1").stale == "2"
    assert Folder(tmp_path, "2").stale is None


def test_a_damaged_file_costs_its_runs_and_nothing_else(tmp_path):
    replicate(JOBS, runner=Counting(), keep=Folder(tmp_path, "1"))
    (victim,) = tmp_path.glob("*.sqlite")
    whole = victim.read_bytes()
    for damaged in (whole[:100], whole[: len(whole) // 2], b"", b"nonsense" * 1000):
        victim.write_bytes(damaged)
        runner = Counting()
        assert values(replicate(JOBS, runner=runner, keep=Folder(tmp_path, "1"))) == EXPECTED
        assert len(runner.made) == 6
        assert values(replicate(JOBS, runner=Counting(stop_after=0), keep=Folder(tmp_path, "1"))) == EXPECTED


def test_kept_tables_are_as_they_were(tmp_path):
    (fresh,) = replicate(JOBS[:1], runner=Counting(), keep=Memory())
    replicate(JOBS[:1], runner=Counting(), keep=Folder(tmp_path, "1"))
    kept = Folder(tmp_path, "1").get("1", 1)
    assert kept is not None
    assert kept["flows"].to_arrow().equals(fresh["flows"].to_arrow())


def test_progress_counts_what_was_kept_before(tmp_path):
    replicate(JOBS[:2], runner=Counting(), keep=Folder(tmp_path, "1"))
    told = []
    replicate(
        JOBS,
        runner=Counting(),
        keep=Folder(tmp_path, "1"),
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(2, 6), (3, 6), (4, 6), (5, 6), (6, 6)]


def test_a_run_under_way_counts_by_the_time_that_has_passed_in_it():
    def runner(jobs, _threads, tell):
        for index in range(len(jobs)):
            tell(index + 0.5)
            yield index, raw(1.0)

    told = []
    replicate(JOBS[:2], runner=runner, progress=lambda done, total: told.append((done, total)))
    assert told == [(0, 2), (0.5, 2), (1, 2), (1.5, 2), (2, 2)]


def test_a_long_run_tells_how_far_it_has_come_and_can_be_stopped():
    import fairwave
    from fairwave import _native

    text = """
    name = "long"
    duration = "1000 s"
    [topology]
    preset = "dumbbell"
    bottleneck = { rate = "100 Mb/s", delay = "5 ms" }
    [[flow]]
    name = "files"
    count = 10
    transport = "tcp/sack"
    traffic = "bulk"
    """
    told = []

    def tell(done):
        told.append(done)
        if len(told) == 5:
            raise KeyboardInterrupt

    batch = _native.Batch([(fairwave.load(text).native, 1)], 1, tell)
    with pytest.raises(KeyboardInterrupt):
        next(batch)
    assert told == sorted(told)
    assert 0 < told[-1] < 1
