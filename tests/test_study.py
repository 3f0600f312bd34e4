"""A study from end to end: runs, figures, tables, verdicts, page and ledger, all or nothing."""

import json

import polars as pl
import pytest

import fairwave
from fairwave.measuring import measures
from fairwave_report.listening import Clip
from fairwave_study import Assumption, Calibration, Claim, Figure, Grid, Study, Table, comparisons, vary
from page_links import problems
from scenarios import CALLS

LOSS = measures.loss("voice")
GOODPUT = measures.goodput("voice")
TRANSPORTS = {name: {"flow.voice.transport": name} for name in ("udp", "tfrc")}


def own_drawing(canvas, data):
    numbers = data.measured(LOSS, "main").summary(["flows"])
    canvas.subplots().plot(numbers["flows"], numbers["mean"])
    return numbers


def grows(data):
    return comparisons.rises(data.measured(LOSS, "main").select(transport="udp"), "flows")


@pytest.fixture(scope="module")
def study():
    base = fairwave.load(CALLS).with_overrides(
        {"duration": "3 s", "warmup": "0 s", "hosts": {"clock-skew": "0 ppm", "send-jitter": "0 s"}}
    )
    flows = vary("flow.voice.count", [2, 6])
    return Study(
        name="small",
        title="A small study",
        question="Does it hold together?",
        grids=[
            Grid("main", base, {"transport": TRANSPORTS, "flows": flows}),
        ],
        figures=[
            Figure("a", "Loss", "main", [LOSS, GOODPUT], x="flows", x_label="flows", source="paper 000, Figure 6"),
            Figure("b", "Its own", draw=own_drawing, grids=("main",)),
            Figure("c", "Bars", "main", [LOSS], x="transport", series=None, fix={"flows": 6}, kind="bar"),
        ],
        tables=[Table("t", "Loss", ("main",), lambda data: data.measured(LOSS, "main").summary())],
        claims=[
            Claim("S1", "Loss rises with flows.", "nowhere", ("main",), grows, assumptions=("rate",)),
            Claim(
                "S2", "Loss falls with flows.", "nowhere", ("main",),
                lambda data: comparisons.falls(data.measured(LOSS, "main").select(transport="udp"), "flows"),
            ),
        ],
        assumptions=[Assumption("rate", "The bottleneck has 300 kb/s.", "not stated", "rate")],
        calibrations=[Calibration("loss", "1 %", "Table 1", "rate 300 kb/s", lambda _: "2 %", ("main",))],
        audio=lambda: [Clip("A call", b"RIFF")],
    )  # fmt: skip


@pytest.fixture(scope="module")
def outcome(study, tmp_path_factory):
    return study.run(tmp_path_factory.mktemp("out") / "small", 3)


def test_verdicts_follow_the_numbers(outcome):
    assert {one.claim.id: str(one.verdict) for one in outcome.ledger.claims} == {
        "S1": "reproduced",
        "S2": "not reproduced",
    }


def test_every_figure_leaves_picture_and_data(outcome):
    folder = outcome.page.parent / "figures"
    for name in ("a", "b", "c"):
        for suffix in ("svg", "png", "csv", "parquet"):
            assert (folder / f"{name}.{suffix}").stat().st_size > 0
    data = pl.read_csv(folder / "a.csv")
    assert data["measure"].unique(maintain_order=True).to_list() == ["loss", "goodput"]
    assert data.height == 2 * 2 * 2


def test_the_ledger_has_its_shape(outcome):
    ledger = json.loads((outcome.page.parent / "ledger.json").read_text(encoding="utf-8"))
    for claim in ledger["claims"]:
        assert {"id", "statement", "source", "verdict", "estimate", "interval", "explanation"} <= set(claim)
        assert claim["interval"][0] <= claim["estimate"] <= claim["interval"][1]
    for entry in [*ledger["figures"], *ledger["tables"]]:
        assert {"id", "files", "command", "seeds"} <= set(entry)
        assert entry["seeds"] == [1, 2, 3]
        for file in entry["files"]:
            assert (outcome.page.parent / file).exists()
    assert ledger["figures"][0]["command"] == "fairwave study small --figure a --replications 3"
    assert ledger["calibrations"][0]["measured"] == "2 %"
    assert ledger["assumptions"][0]["swept"] == "rate"
    assert ledger["provenance"]["seeds"] == [1, 2, 3]


def test_the_page_stands_alone(outcome):
    page = outcome.page.read_text(encoding="utf-8")
    assert page.count("<svg") == 5
    assert "data:audio/wav;base64,UklGRg==" in page
    assert "not reproduced" in page


def test_no_link_leads_out_of_the_page_or_nowhere(outcome):
    assert problems(outcome.page) == []


def test_running_again_makes_no_run_and_leaves_the_same_bytes(study, outcome, tmp_path):
    again = study.run(outcome.page.parent, 3)
    fresh = study.run(tmp_path / "fresh", 3)
    for file in ("index.html", "ledger.json", "figures/a.svg", "figures/a.png", "figures/a.parquet"):
        assert (again.page.parent / file).read_bytes() == (fresh.page.parent / file).read_bytes(), file


def test_one_figure_alone_makes_only_that(study, tmp_path):
    outcome = study.run(tmp_path, 2, figure="b")
    assert [one.id for one in outcome.drawings] == ["b"]
    assert not (tmp_path / "figures" / "a.svg").exists()


def test_an_unknown_figure_is_told_which_there_are(study, tmp_path):
    with pytest.raises(LookupError, match="no figure 'z'; there are a, b, c, t"):
        study.run(tmp_path, 2, figure="z")


def test_an_error_while_drawing_leaves_no_page(study, tmp_path):
    from dataclasses import replace

    def fail(_canvas, _data):
        raise RuntimeError("cannot draw")

    broken = replace(study, figures=[study.figures[0], Figure("x", "Broken", draw=fail, grids=("main",))])
    with pytest.raises(RuntimeError, match="cannot draw"):
        broken.run(tmp_path, 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".cache", ".fairwave"]
