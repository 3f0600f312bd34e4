"""Options of a study: other readings, other assumptions, one figure, a document."""

import json

import polars as pl
import pytest

import fairwave
from fairwave.measuring import measures
from fairwave.provenance import Provenance
from fairwave.results import Results
from fairwave_study import Claim, Figure, Grid, Study, comparisons, vary
from fairwave_study.claims import Verdict
from scenarios import CALLS

LOSS = measures.loss("voice")
BASE = {"duration": "2 s", "flow.files.count": 0}


def rising(data):
    return comparisons.rises(data.measured(LOSS, "main"), "flows")


def falling(data):
    return comparisons.falls(data.measured(LOSS, "main"), "flows")


@pytest.fixture(scope="module")
def study():
    base = fairwave.load(CALLS).with_overrides(BASE)
    axes = {
        "flows": vary("flow.voice.count", [2, 6]),
        "delay": vary("topology.bottleneck.delay", ["20 ms", "40 ms"]),
    }
    return Study(
        name="small",
        title="A small study",
        question="Which?",
        grids=[Grid("main", base, axes)],
        figures=[Figure("a", "Loss", "main", [LOSS], x="flows", series=None, fix={"delay": "20 ms"})],
        claims=[
            Claim(
                "S1", "Loss rises | with flows.", "nowhere", ("main",), rising,
                dict.fromkeys(Verdict, lambda data: f"{len(data.results['main'].to_polars('runs'))} runs say so."),
                wordings={"upwards": rising, "downwards": falling},
            )
        ],
    )  # fmt: skip


@pytest.fixture(scope="module")
def out(study, tmp_path_factory):
    folder = tmp_path_factory.mktemp("options")
    study.run(folder, 3)
    return folder


def claim(folder):
    return json.loads((folder / "ledger.json").read_text(encoding="utf-8"))["claims"][0]


def test_each_reading_of_a_claim_is_judged_beside_its_verdict(out):
    wordings = {one["name"]: one["verdict"] for one in claim(out)["wordings"]}
    assert wordings["upwards"] == claim(out)["verdict"] == "reproduced"
    assert wordings["downwards"] == "not reproduced"
    assert "downwards" in (out / "index.html").read_text(encoding="utf-8")


def test_a_note_may_hold_numbers_of_the_runs(out):
    assert claim(out)["explanation"].endswith("12 runs say so.")


def test_the_digest_tells_verdicts_and_does_not_break_its_tables(out):
    digest = (out / "digest.md").read_text(encoding="utf-8")
    assert " ()" not in digest, "a figure without a source has no brackets"
    row = next(line for line in digest.splitlines() if line.startswith("| S1"))
    assert "**reproduced**" in row
    assert "Loss rises \\| with flows." in row
    assert "upwards: reproduced; downwards: not reproduced" in row


def test_a_single_figure_runs_the_points_that_it_draws(study, tmp_path):
    totals = []
    study.run(tmp_path, 2, figure="a", progress=lambda _, total: totals.append(total))
    assert totals[-1] == 2 * 2


def test_another_assumption_changes_every_run_and_is_told(study, tmp_path):
    outcome = study.run(tmp_path, 2, settings={"topology.bottleneck.rate": "10 Mb/s"})
    lost = outcome.data.results["main"].to_polars("links").filter(pl.col("link").cast(pl.String) == "r1>r2")
    assert (lost["dropped_overflow"] == 0).all()
    assert outcome.ledger.settings == {"topology.bottleneck.rate": "10 Mb/s"}
    assert "topology.bottleneck.rate = 10 Mb/s" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "changed assumptions" in (tmp_path / "digest.md").read_text(encoding="utf-8")


def test_an_axis_can_change_what_concerns_one_label_of_another_only():
    transports = {name: {"flow.voice.transport": {"name": name}} for name in ("udp", "tfrc")}
    headers = {
        "small": lambda labels: {"flow.voice.transport.header": "0 B"} if labels["transport"] == "udp" else {}
    }
    points = Grid("main", fairwave.load(CALLS), {"transport": transports, "headers": headers}).points()
    written = [point.scenario.to_dict()["flow"][0]["transport"] for point in points]
    assert written[0] == {"name": "udp", "header": "0 B"}
    assert written[1] == {"name": "tfrc"}


def test_the_index_of_a_group_is_the_mean_of_its_flows_and_leaves_out_the_silent():
    flows = pl.DataFrame({"run": 0, "group": "voice", "flow": [0, 1, 2], "units_sent": [10, 1000, 0]})
    timely = pl.DataFrame(
        {
            "run": 0, "group": "voice", "flow": [0, 1, 2], "threshold_s": 0.3, "reading": "delay",
            "timely": [10, 500, 0], "delayed": [0, 100, 0],
        }
    )  # fmt: skip
    runs = pl.DataFrame({"run": [0], "seed": [1], "scenario": ["x"]})
    tables = {"runs": runs.to_arrow(), "flows": flows.to_arrow(), "timeliness": timely.to_arrow()}
    results = Results(tables, (), Provenance("0", "test", {"x": "x"}, (1,)))
    assert measures.index("voice").compute(results).samples()[0] == pytest.approx((1.0 + 0.5) / 2)
    assert measures.delayed("voice").compute(results).samples()[0] == pytest.approx(100 * 100 / 1010)
