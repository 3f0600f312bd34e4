"""The study of voice from end to end, at the fewest points and for seconds instead of minutes."""

import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from fairwave.studies import find
from fairwave.studies.voice import study
from fairwave.studies.voice.points import CALLS, ESSENTIAL, SWEEPS, grid

FIGURES = [f"000-{number}" for number in range(2, 25)] + [f"001-{number}" for number in range(2, 13)]
VERDICTS = {"reproduced", "not reproduced", "undecided"}


def hurried(described, duration="1500 ms"):
    """The same study with shorter runs."""
    grids = [replace(one, base=one.base.with_overrides({"duration": duration})) for one in described.grids]
    return replace(described, grids=grids)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    out = tmp_path_factory.mktemp("voice")
    return hurried(study(ESSENTIAL)).run(out, replications=2), out


def test_the_ledger_has_every_figure_of_both_papers_and_every_claim(outcome):
    ledger = json.loads((outcome[1] / "ledger.json").read_text(encoding="utf-8"))
    assert [one["id"] for one in ledger["figures"]][: len(FIGURES)] == FIGURES
    assert [one["id"] for one in ledger["claims"]] == [f"V{number}" for number in range(1, 16)]
    assert {one["verdict"] for one in ledger["claims"]} <= VERDICTS
    assert {one["id"] for one in ledger["tables"]} == {"calls", "bottlenecks"}


def test_every_figure_leaves_a_picture_and_its_numbers(outcome):
    for name in FIGURES:
        for kind in ("svg", "png", "csv", "parquet"):
            assert (outcome[1] / "figures" / f"{name}.{kind}").stat().st_size > 100


def test_the_page_stands_alone(outcome):
    page = (outcome[1] / "index.html").read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="https?:', page)
    assert all(f'id="figure-{name}"' in page for name in FIGURES)


def test_every_call_is_rated_and_none_beyond_the_scale(outcome):
    from fairwave.studies.voice.quantities import MOS, R_FACTOR

    data = outcome[0].data
    assert data.measured(MOS, CALLS).frame["value"].is_between(1, 4.5).all()
    assert data.measured(R_FACTOR, CALLS).frame["value"].is_between(0, 100).all()


def test_what_was_sent_is_timely_delayed_or_lost_by_every_reading(outcome):
    flows = outcome[0].data.results[CALLS].to_polars("flows")
    rows = outcome[0].data.results[CALLS].to_polars("timeliness")
    sums = (
        rows.with_columns(total=rows["timely"] + rows["delayed"])
        .select("run", "group", "flow", "total")
        .unique()
    )
    joined = sums.join(flows, on=["run", "group", "flow"])
    assert (joined["total"] == joined["units_received"]).all()


def test_the_same_calls_are_made_whatever_carries_them(outcome):
    results = outcome[0].data.results[CALLS]
    flows = results.to_polars("flows").join(results.to_polars("runs"), on="run")
    voice = flows.filter(pl.col("group").cast(pl.String) == "voice")
    point = ["ftp", "payload", "per", "flows", "seed", "flow"]
    made = (pl.col("units_sent") + pl.col("units_in_flight")).n_unique()
    spoken = voice.group_by(point).agg(made.alias("different"), pl.len())
    assert (spoken["different"] == 1).all()
    assert (spoken["len"] == 4).all()


def test_a_single_figure_runs_only_its_own_points(tmp_path):
    ran = []
    hurried(study(ESSENTIAL)).run(
        tmp_path, replications=1, figure="000-17", progress=lambda done, total: ran.append(total)
    )
    assert ran[-1] == 4 * 4  # four error rates, four transports
    ledger = json.loads((tmp_path / "ledger.json").read_text(encoding="utf-8"))
    assert [one["id"] for one in ledger["figures"]] == ["000-17"]
    assert ledger["claims"] == []


def test_every_assumption_that_a_claim_hangs_on_is_listed_and_every_sweep_exists():
    described = find("voice")
    listed = {one.id for one in described.assumptions}
    assert {id_ for claim in described.claims for id_ in claim.assumptions} <= listed
    assert {one.swept for one in described.assumptions if one.swept} <= {
        one.id for one in described.sensitivities
    }


def test_the_papers_scenarios_share_points_so_that_each_is_simulated_once():
    points = grid(CALLS, SWEEPS).points()
    assert len({point.scenario.hash for point in points}) == len(points) == 200


@pytest.mark.parametrize("name", ["path", "one-by-one"])
def test_every_setting_of_a_sensitivity_table_is_a_scenario_of_its_own(name):
    described = find("voice")
    swept = next(one for one in described.grids if one.id == name)
    axes = next(one.over for one in described.sensitivities if one.id == name)
    by_setting = {}
    for point in swept.points():
        by_setting.setdefault(tuple(point.labels[axis] for axis in axes), set()).add(point.scenario.hash)
    hashes = [frozenset(some) for some in by_setting.values()]
    assert len(set(hashes)) == len(hashes)


def test_the_document_is_that_of_the_study_as_it_stands():
    document = (Path(__file__).parents[2] / "docs" / "studies" / "voice.md").read_text(encoding="utf-8")
    for claim in find("voice").claims:
        assert claim.statement in document
    assert "by each reading" in document
