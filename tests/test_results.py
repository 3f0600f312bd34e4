"""Results: kept with their provenance, read back unchanged."""

import hashlib
import json

import pyarrow.parquet as pq
import pytest

from fairwave.provenance import MixedProvenanceWarning, Provenance, seeds_in_words
from fairwave.results import DamagedResultsError, Results
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


def test_a_flipped_bit_in_a_table_is_an_error_that_names_the_file(results, tmp_path):
    results.save(tmp_path)
    file = tmp_path / "flows.parquet"
    whole = file.read_bytes()
    for bit in range(0, len(whole) * 8, len(whole) * 8 // 300):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        with pytest.raises(DamagedResultsError, match=r"flows\.parquet is damaged.*make them again"):
            Results.load(tmp_path)
    file.write_bytes(whole[:-1])
    with pytest.raises(DamagedResultsError, match="damaged"):
        Results.load(tmp_path)
    file.write_bytes((tmp_path / "groups.parquet").read_bytes())
    with pytest.raises(DamagedResultsError, match="damaged"):
        Results.load(tmp_path)
    file.unlink()
    with pytest.raises(DamagedResultsError, match=r"flows\.parquet is missing"):
        Results.load(tmp_path)


def test_a_damaged_list_never_passes_for_a_whole_one(results, tmp_path):
    results.save(tmp_path)
    file = tmp_path / "SHA256SUMS"
    whole = file.read_bytes()
    for end in range(len(whole) - 1):
        file.write_bytes(whole[:end])
        with pytest.raises(DamagedResultsError):
            Results.load(tmp_path)
    # Two bits of every byte: the one that distinguishes capitals, and another one each time.
    bits = sorted({8 * at + bit for at in range(len(whole)) for bit in (5, at % 8)})
    for bit in bits:
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        try:
            back = Results.load(tmp_path)
        except DamagedResultsError:
            continue
        # Checksums of files that `load` does not read.
        assert back.tables.keys() == results.tables.keys()


def test_the_list_of_checksums_is_one_that_others_can_check(results, tmp_path):
    results.save(tmp_path)
    for line in (tmp_path / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest


def test_only_the_tables_of_the_last_results_are_read(results, tmp_path):
    results.save(tmp_path)
    fewer = Results(
        {name: table for name, table in results.tables.items() if name != "timeliness"},
        results.axes,
        results.provenance,
    )
    fewer.save(tmp_path)
    assert (tmp_path / "timeliness.parquet").exists()
    assert "timeliness" not in Results.load(tmp_path).tables


def test_a_folder_without_a_list_holds_no_results(results, tmp_path):
    results.save(tmp_path)
    (tmp_path / "SHA256SUMS").unlink()
    with pytest.raises(FileNotFoundError, match=r"no results in .*SHA256SUMS"):
        Results.load(tmp_path)


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
