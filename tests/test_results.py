"""Results: kept with their provenance, read back as they were."""

import json

import pyarrow.parquet as pq
import pytest

from fairwave.provenance import MixedProvenanceWarning, Provenance, seeds_in_words
from fairwave.results import Results
from fairwave.staging import staging, write_text
from made_up import made_up


def test_what_is_saved_is_read_back(results, tmp_path):
    back = Results.load(results.save(tmp_path / "out"))
    assert back.axes == results.axes
    assert back.provenance == results.provenance
    for name in results.tables:
        assert back.to_polars(name).equals(results.to_polars(name)), name


def test_every_file_says_where_it_comes_from(results, tmp_path):
    results.save(tmp_path)
    for file in tmp_path.glob("*.parquet"):
        carried = json.loads(pq.read_schema(file).metadata[b"fairwave"])
        assert carried["seeds"] == [1, 2, 3], file
        assert carried["scenarios"] == {"hash0": "made up", "hash1": "made up"}
    assert json.loads((tmp_path / "provenance.json").read_text())["version"] == "0.0.0"


def test_saving_twice_leaves_the_same_bytes(results, tmp_path):
    for name in ("one", "two"):
        results.save(tmp_path / name)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes(), file.name


def test_mixing_versions_warns():
    one, other = made_up(), made_up()
    other = Results(other.tables, other.axes, Provenance("9.9.9", "", {"hash0": "made up"}, (1,)))
    with pytest.warns(MixedProvenanceWarning, match=r"different versions of fairwave: 0\.0\.0, 9\.9\.9"):
        both = Results.concatenate([one, other])
    assert both.runs.num_rows == 12
    assert both.to_polars("flows")["run"].n_unique() == 12


def test_a_folder_without_results_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no results in"):
        Results.load(tmp_path)


def test_a_table_that_is_not_there_says_how_to_ask_for_it(results):
    with pytest.raises(LookupError, match=r"ask for them in the scenario's \[record\]"):
        results.series  # noqa: B018


def test_tables_leave_as_pandas_and_polars(results):
    assert len(results.to_pandas("flows")) == results.to_polars("flows").height == 12


def test_an_error_leaves_nothing_half_written(tmp_path):
    (tmp_path / "old.txt").write_text("old")

    def write():
        with staging(tmp_path) as partial:
            (partial / "new.txt").write_text("new")
            raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError):
        write()
    assert [path.name for path in tmp_path.iterdir()] == ["old.txt"]


def test_what_is_staged_arrives_with_its_folders(tmp_path):
    with staging(tmp_path) as partial:
        (partial / "figures").mkdir()
        (partial / "figures" / "a.svg").write_text("a")
    assert (tmp_path / "figures" / "a.svg").read_text() == "a"
    assert [path.name for path in tmp_path.iterdir()] == ["figures"]


def test_a_text_file_is_replaced_whole(tmp_path):
    write_text(tmp_path / "a.txt", "one")
    write_text(tmp_path / "a.txt", "two")
    assert (tmp_path / "a.txt").read_text() == "two"
    assert len(list(tmp_path.iterdir())) == 1


def test_seeds_are_told_shortly():
    assert seeds_in_words([3, 1, 2, 7]) == "1–3, 7"
    assert seeds_in_words([]) == "none"
