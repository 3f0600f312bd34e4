"""Overlays of saved folders, and pages of sweeps and searches from the command line."""

import json
import re
import shutil

import polars as pl
import pytest

from fairwave.results import Results
from made_up import renew_checksums
from page_making import command
from scenarios import CALLS


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """Two runs and a search of the same calls, saved."""
    folder = tmp_path_factory.mktemp("overlay")
    (folder / "calls.toml").write_text(CALLS, encoding="utf-8")
    calls = folder / "calls.toml"
    for name, rate in (("slow", "250 kb/s"), ("fast", "400 kb/s")):
        words = ("run", calls, "-n", 3, "--set", f"topology.bottleneck.rate={rate}", "--no-page")
        assert command(*words, "--out", folder / name) == 0
        shutil.copy(calls, folder / name / "scenario.toml")
    text = (folder / "fast" / "scenario.toml").read_text(encoding="utf-8")
    (folder / "fast" / "scenario.toml").write_text(text.replace("300 kb/s", "400 kb/s"), encoding="utf-8")
    assert command("run", calls, "-n", 2, "--no-page", "--out", folder / "two") == 0
    assert (
        command("run", calls, "-n", 3, "--no-page", "--set", "flow.files.count=0", "--out", folder / "alone")
        == 0
    )
    return folder


def missed_of(folder):
    """Packets missed in each run of a folder, by seed."""
    return Results.load(folder).measured("missed", "voice").samples()


def test_two_saved_folders_are_compared_without_running_anything(work, capsys, monkeypatch):
    monkeypatch.setattr("fairwave.runs.replication.replicate", lambda *_, **__: pytest.fail("runs are saved"))
    assert command("compare", work / "slow", work / "fast", "--out", work / "both", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["folders"] == {"slow": str(work / "slow"), "fast": str(work / "fast")}
    means = {
        one["folder"]: one["mean"]
        for one in told["comparison"]
        if (one["group"], one["measure"]) == ("voice", "missed")
    }
    for name in ("slow", "fast"):
        assert means[name] == pytest.approx(missed_of(work / name).mean())
    page = (work / "both" / "index.html").read_text(encoding="utf-8")
    assert "What differs in the scenarios" in page
    assert re.search(r"bottleneck\.rate</th><td[^>]*>300 kb/s</td><td[^>]*>400 kb/s</td>", page)
    for name in ("cdf", "box", "violin", "differences", "call"):
        assert (work / "both" / "figures" / f"{name}.svg").is_file(), name


def test_differences_are_paired_by_seed(work):
    assert command("compare", work / "slow", work / "fast", "--out", work / "paired") == 0
    rows = pl.read_csv(work / "paired" / "figures" / "differences.csv")
    assert rows["minus"].unique().to_list() == ["slow"]
    missed = rows.filter(pl.col("measure") == "missed").sort("replication")["difference"].to_list()
    assert missed == pytest.approx((missed_of(work / "fast") - missed_of(work / "slow")).tolist())


def test_folders_of_one_name_are_told_apart_by_their_path(work):
    for name in ("slow", "fast"):
        shutil.copytree(work / name, work / name.upper() / "run")
    assert command("compare", work / "SLOW" / "run", work / "FAST" / "run", "--out", work / "named") == 0
    assert "SLOW/run and FAST/run" in (work / "named" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["slow"], "is one folder; compare takes two or more, or a scenario"),
        (["slow", "missing"], "is no folder with results, but"),
        (["slow", "calls.toml"], "is no folder with results, but"),
        (["calls.toml", "nosuch.toml"], "and no file has that name"),
        (["slow", "slow"], "is given twice"),
        (["slow", "two"], "do not have the same seeds: 1–3, and 1–2"),
        (
            ["slow", "alone"],
            "do not have the same measures: their flow groups are files (bulk), voice (stream) and voice",
        ),
        (["slow", "fast", "--over", "udp"], "--over is for a scenario that is run"),
        (["slow", "fast", "--set", "a=1"], "--set is for a scenario that is run"),
        (["slow", "fast", "--flow", "nosuch"], "no flow group 'nosuch'; they have voice, files"),
        (["slow", "fast", "--measures", "mso"], "--measures"),
        (["slow", "fast", "--style", "nosuch"], "--style is 'nosuch'"),
        (["slow", "empty"], "no results in"),
        (["slow", "searched"], "holds a search, which keeps no runs to compare"),
        (["slow", "damaged"], "is damaged"),
        (["slow", "older"], "has no missed_ratio in its table flows"),
    ],
)
def test_what_cannot_be_laid_over_is_refused_with_what_to_write(work, capsys, words, says):
    (work / "empty").mkdir(exist_ok=True)
    if not (work / "searched").exists():
        (work / "searched").mkdir()
        (work / "searched" / ".fairwave").write_text('{"kind": "find", "name": "calls"}\n', encoding="utf-8")
        shutil.copytree(work / "fast", work / "damaged")
        with (work / "damaged" / "flows.parquet").open("ab") as file:
            file.write(b"x")
        _older(work)
    paths = [work / word if (work / word).exists() or word == "missing" else word for word in words]
    assert command("compare", *paths, "--out", work / "refused") == 2
    assert says in capsys.readouterr().err
    assert not (work / "refused").exists()


def _older(work):
    """A folder of another version: without one column."""
    import pyarrow.parquet as pq

    shutil.copytree(work / "fast", work / "older")
    for name in ("flows", "runs"):
        table = pq.read_table(work / "older" / f"{name}.parquet")
        metadata = {
            key: value.replace(b'"version": "', b'"version": "0.0.')
            for key, value in table.schema.metadata.items()
        }
        kept = table.drop_columns(["missed_ratio"]) if name == "flows" else table
        pq.write_table(kept.replace_schema_metadata(metadata), work / "older" / f"{name}.parquet")
    renew_checksums(work / "older")


def test_a_folder_of_another_version_is_compared_with_a_word(work, capsys):
    import pyarrow.parquet as pq

    if not (work / "other").exists():
        shutil.copytree(work / "fast", work / "other")
        table = pq.read_table(work / "other" / "runs.parquet")
        metadata = {
            key: value.replace(b'"version": "', b'"version": "9.')
            for key, value in table.schema.metadata.items()
        }
        pq.write_table(table.replace_schema_metadata(metadata), work / "other" / "runs.parquet")
        renew_checksums(work / "other")
    assert command("compare", work / "slow", work / "other", "--out", work / "versions") == 0
    assert "Made by different versions" in capsys.readouterr().err
    assert "Made by different versions" in (work / "versions" / "index.html").read_text(encoding="utf-8")


def test_a_comparison_does_not_replace_what_it_compares(work, capsys):
    assert command("compare", work / "slow", work / "fast", "--out", work / "slow") == 2
    assert "would be replaced by its own comparison" in capsys.readouterr().err


def test_sweeps_are_laid_over_as_curves(work):
    for name, queue in (("tail", "drop-tail"), ("red", "red")):
        words = ("sweep", work / "calls.toml", "--set", f"topology.bottleneck.queue={queue}", "-n", 2)
        grid = ("--grid", "flow.voice.count=2,4,6")
        assert command(*words, *grid, "--out", work / f"sweep-{name}") == 0
    assert command("compare", work / "sweep-tail", work / "sweep-red", "--out", work / "curves") == 0
    rows = pl.read_csv(work / "curves" / "figures" / "overlay.csv")
    assert rows["series"].unique().sort().to_list() == ["sweep-red", "sweep-tail"]
    assert sorted(set(rows["x"].to_list())) == [2.0, 4.0, 6.0]
    assert not (work / "curves" / "figures" / "call.svg").exists(), "curves instead of twelve bars"


def test_a_sweep_leaves_a_page_with_its_answer_curves_and_tables(work, capsys):
    out = work / "sweep-tail"
    page = (out / "index.html").read_text(encoding="utf-8")
    main = page[page.index("<main") :]
    assert main.index("<strong>With voice.count") < main.index("<figure")
    assert {one.name for one in (out / "figures").iterdir()} >= {"curves.svg", "curves.png", "curves.csv"}
    points = pl.read_csv(out / "points.csv")
    assert {"flow.voice.count", "measure", "mean", "low", "high", "replications"} <= set(points.columns)
    assert (out / "points.parquet").is_file()
    # The picture shows the numbers of the runs.
    drawn = pl.read_csv(out / "figures" / "curves.csv").filter(pl.col("measure") == "missed.voice").sort("x")
    table = points.filter(pl.col("measure") == "missed.voice").sort("flow.voice.count")
    assert drawn["mean"].to_list() == pytest.approx(table["mean"].to_list())


def test_a_sweep_over_three_axes_has_small_multiples(work):
    grid = (
        "flow.voice.count=2,4",
        "topology.bottleneck.rate=200 kb/s,400 kb/s",
        "topology.bottleneck.queue=drop-tail,red",
    )
    words = [word for one in grid for word in ("--grid", one)]
    out = work / "three"
    assert (
        command(
            "sweep",
            work / "calls.toml",
            *words,
            "-n",
            2,
            "--show",
            "missed.voice",
            "--out",
            out,
            "--figures",
            "svg",
        )
        == 0
    )
    text = (out / "figures" / "map-missed-voice.svg").read_text(encoding="utf-8")
    assert "bottleneck.queue = drop-tail" in text
    assert "bottleneck.queue = red" in text
    assert text.count("<title>voice.count ") + text.count("<title>bottleneck.rate ") == 8, (
        "each cell says its mean"
    )
    assert not (out / "figures" / "map-missed-voice.png").exists()


def test_a_search_leaves_a_page_with_the_region_that_holds(work):
    out = work / "find"
    alone = ("--set", "flow.files.count=0")
    words = (
        "find",
        work / "calls.toml",
        *alone,
        "--vary",
        "flow.voice.count=1..12",
        "--until",
        "loss.voice <= 1",
    )
    assert command(*words, "-n", 3, "--most", 6, "--out", out, "--style", "paper", "--figures", "pdf") == 0
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "<strong>loss.voice &lt;= 1 % holds on flow.voice.count = 1..3" in page
    (region,) = json.loads((out / "answer.json").read_text(encoding="utf-8"))["regions"]
    assert (region["first"], region["last"], region["fails_after"]) == (1, 3, 4)
    tried = pl.read_csv(out / "tried.csv")
    assert set(tried["verdict"].to_list()) <= {"holds", "fails", "undecided"}
    assert (out / "figures" / "limit.pdf").read_bytes().startswith(b"%PDF-")
    assert not (out / "figures" / "limit.png").exists()


def test_style_without_a_page_is_refused(work, capsys):
    for words in (
        ("run",),
        ("sweep", "--grid", "flow.voice.count=2"),
        ("find", "--vary", "a=1..2", "--until", "loss.voice <= 1"),
    ):
        name, *more = words
        assert command(name, work / "calls.toml", *more, "--style", "paper") == 2
        assert "--style is about the figures of a page: add --out FOLDER" in capsys.readouterr().err


def test_without_the_report_package_a_sweep_leaves_tables_and_a_line(work, capsys, monkeypatch):
    from fairwave.extras import MissingExtraError

    def missing(name):
        raise MissingExtraError(f"{name} needs a package; install it with: pip install 'fairwave[report]'")

    monkeypatch.setattr("fairwave.layers.layer", missing)
    assert (
        command("sweep", work / "calls.toml", "--grid", "flow.voice.count=2", "-n", 2, "--out", work / "bare")
        == 0
    )
    assert (
        "tables only: pages needs a package; install it with: pip install 'fairwave[report]'"
        in capsys.readouterr().err
    )
    assert (work / "bare" / "runs.parquet").is_file()
    assert not (work / "bare" / "index.html").exists()
    assert command("compare", work / "slow", work / "fast", "--out", work / "bare-both") == 0
    assert (work / "bare-both" / "comparison.parquet").is_file()
