"""Kept readings after a change of code: reused only if readings judged again have the same result."""

import json
import sys
from dataclasses import replace

import pytest

import fairwave
from fairwave.measuring import measures
from fairwave.runs.axes import vary
from fairwave.runs.grid import Grid
from fairwave_study import Claim, Factor, Readings, Study, Value, comparisons, design, experiments
from fairwave_study.experiments import Experiment, Side, carry_out
from fairwave_study.shelf import Shelf, judge, to_plain, version
from scenarios import CALLS
from validation.checks import readings as moving

SECOND = {"duration": "2 s", "flow.files.count": 0}
DELAY = measures.delay("voice")
LONG = {"topology.bottleneck.delay": "90 ms"}
FACTORS = (Factor("delay", "How long?", (Value("20 ms", "§1"), Value("90 ms", "§2", LONG)), "So."),)

WHY = Experiment(
    "why-S1", "S1", "A path of 90 ms.", (Side("short"), Side("long", changes=LONG)),
    {"delay": lambda data: data.measured(DELAY, "main").averaged("flows").samples()},
)  # fmt: skip


@pytest.fixture(scope="module")
def study():
    def study_under(reading):
        grid = Grid(
            "main", fairwave.load(CALLS).with_overrides(SECOND), {"flows": vary("flow.voice.count", [2])}
        )
        claim = Claim(
            "S1", "Delay is short.", "paper 000 §1", ("main",),
            lambda data: comparisons.is_below(data.measured(DELAY, "main"), 50.0),
        )  # fmt: skip
        return Study(
            "voice", "T", "Q", [readings.apply(grid, reading)], claims=[claim], readings=readings,
            experiments=[WHY],
        )  # fmt: skip

    readings = Readings(FACTORS, study_under, study_under)
    return study_under(readings.base())


@pytest.fixture
def folder(study, tmp_path, monkeypatch):
    monkeypatch.setattr(moving.layers, "study", lambda _: study)
    shelf = Shelf(tmp_path / "readings", "before")
    for delay in ("20 ms", "90 ms"):
        reading = {"delay": delay}
        shelf.put(design.key(reading), [1, 2], to_plain(judge(study.readings, reading, [1, 2])))
    return tmp_path


def found(folder, delay="20 ms"):
    return Shelf(folder / "readings", version("voice"), lambda _: None).get(
        design.key({"delay": delay}), [1, 2]
    )


def test_readings_of_another_version_go_on_when_they_leave_the_same(folder):
    assert found(folder) is None
    assert moving.adopt("voice", folder, 1) == (2, [])
    assert found(folder).claims["S1"].comparisons[0].label
    assert found(folder, "90 ms") is not None
    assert moving.adopt("voice", folder, 1) == (0, [])


def test_what_experiments_left_goes_on_with_the_rest(folder, study, monkeypatch):
    monkeypatch.setattr(experiments, "version", lambda *_: "before")
    (before,) = carry_out(study, folder, threads=1)
    assert len(moving.kept(study, folder)) == 4
    assert moving.adopt("voice", folder, 1) == (4, [])
    monkeypatch.setattr(experiments, "version", version)
    monkeypatch.setattr(experiments, "judge", lambda *_, **__: pytest.fail("judged again"))
    (after,) = carry_out(study, folder, threads=1)
    for label, kept in before.quantities.items():
        assert (after.quantities[label]["delay"].samples == kept["delay"].samples).all()


def test_what_nothing_in_the_study_leaves_does_not_go_on(folder, study, monkeypatch):
    monkeypatch.setattr(experiments, "version", lambda *_: "before")
    carry_out(replace(study, experiments=[replace(WHY, quantities={})]), folder, threads=1)
    assert len(list((folder / "readings").glob("*.json"))) == 4
    assert len(moving.kept(study, folder)) == 2


def test_readings_that_leave_something_else_are_named_and_none_goes_on(folder, study, monkeypatch, capsys):
    plain = to_plain(judge(study.readings, {"delay": "90 ms"}, [1, 2]))
    plain["claims"]["S1"]["comparisons"][0]["samples"][0] += 1e-9
    Shelf(folder / "readings", "before").put(design.key({"delay": "90 ms"}), [1, 2], plain)
    monkeypatch.setattr(sys, "argv", ["readings", "voice", str(folder), "--again", "2"])
    assert moving.main() == 1
    told = capsys.readouterr()
    assert 'readings of before: claim S1, {"delay": "90 ms"}' in told.err
    assert f"0 readings are now kept under {version('voice')}" in told.out
    assert found(folder) is None


def test_one_version_goes_on_though_an_older_one_differs(folder, study, monkeypatch, capsys):
    plain = to_plain(judge(study.readings, {"delay": "90 ms"}, [1, 2]))
    plain["claims"]["S1"]["comparisons"][0]["samples"][0] += 1e-9
    Shelf(folder / "readings", "long before").put(design.key({"delay": "90 ms"}), [1, 2], plain)
    monkeypatch.setattr(sys, "argv", ["readings", "voice", str(folder)])
    assert moving.main() == 0
    told = capsys.readouterr()
    assert "left as they are: readings of long before: claim S1" in told.err
    assert "1 readings are now kept" in told.out
    assert found(folder) is not None
    assert found(folder, "90 ms") is None


def test_a_damaged_reading_does_not_go_on(folder, study):
    file = next((folder / "readings").glob("*.json"))
    text = json.loads(file.read_text(encoding="utf-8"))
    text["kept"]["seconds"] = 0.0
    file.write_text(json.dumps(text), encoding="utf-8")
    assert len(moving.kept(study, folder)) == 1


def test_at_least_one_reading_is_judged_again(folder, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["readings", "voice", str(folder), "--again", "0"])
    with pytest.raises(SystemExit):
        moving.main()
    assert found(folder) is None
