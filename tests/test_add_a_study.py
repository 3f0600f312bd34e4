"""The contract of a study's folder: the documented example runs, and mistakes name file and key."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairwave.cli.app import app
from fairwave.cli.input import BadInputError
from fairwave_study.study import from_folder

PAGE = (Path(__file__).parents[1] / "docs/add-a-study.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w.]+)`\n\n```\w+\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE))


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "codel"
    place.mkdir()
    for name, text in FILES.items():
        (place / name).write_text(text, encoding="utf-8")
    return place


def test_the_page_shows_every_file_of_its_example():
    assert set(FILES) == {
        "study.toml",
        "points.py",
        "claims.toml",
        "claims.py",
        "readings.toml",
        "figures.py",
    }
    for stem in ("accounts", "assumptions", "calibrations", "experiments", "explanations", "tables"):
        assert f"`{stem}." in PAGE


def test_the_example_runs_from_its_folder_on_the_command_line(folder, tmp_path):
    out = tmp_path / "out"
    ran = CliRunner().invoke(app, ["study", str(folder), "-n", "2", "--explore", "2", "--out", str(out)])
    assert ran.exit_code == 0, ran.output
    ledger = json.loads((out / "ledger.json").read_text(encoding="utf-8"))
    assert [(one["id"], one["verdict"]) for one in ledger["claims"]] == [("C1", "reproduced")]
    assert ledger["figures"][0]["id"] == "delay"
    assert len(list((out / "readings").glob("*.json"))) == 3  # two readings, and the best one on other seeds


def test_a_reading_changes_what_is_simulated(folder):
    base, other = from_folder(folder), from_folder(folder, {"buffer": "300 packets"})

    def capacities(study):
        return {
            point.scenario.to_dict()["topology"]["bottleneck"]["queue"]["capacity"]["packets"]
            for point in study.grids[0].points()
        }

    assert (base.name, base.folder) == ("codel", folder)
    assert capacities(base) == {100}
    assert capacities(other) == {300}
    assert base.readings.essential({"buffer": "300 packets"}).figures == ()


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("study.toml", None, "it has no study.toml; docs/add-a-study.md"),
        ("points.py", None, "codel has no points.py"),
        ("points.py", "", "points.py defines neither a function grids(case) nor a constant GRIDS"),
        ("claims.py", "", "claims.py defines neither a function tests(case) nor a constant TESTS"),
        ("claims.py", "TESTS = {}", "claims.toml: C1: this claim has a text and not a test of that id"),
        ("claims.toml", "[C1]\nstatement = 'S'\nsource = 'T'\ngrids = ['alone']", "C1 reads grid 'alone', but"),
        ("readings.py", "CHANGES = {'bufer': {}}", "readings.py changes the factor 'bufer' (did you mean 'buffer'?)"),
        ("experiments.py", "EXPERIMENTS = []", "codel has no experiments.toml"),
    ],
)  # fmt: skip
def test_mistakes_name_the_file_and_what_it_lacks(folder, file, text, said):
    if text is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(said)):
        from_folder(folder)
    ran = CliRunner().invoke(app, ["study", str(folder)])
    assert isinstance(ran.exception, BadInputError)


def test_a_place_that_is_no_folder_and_no_package_is_named():
    with pytest.raises(ValueError, match="there is no folder 'nowhere', and no package of that name"):
        from_folder("nowhere")
