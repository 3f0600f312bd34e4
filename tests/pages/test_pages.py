"""Content of pages of every kind: the verdict first, every file embedded, every link valid."""

import base64
import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote_to_bytes

import polars as pl
import pytest

from fairwave.layers import study as find
from page_links import elements, problems
from page_making import command, recording

KINDS = ("run", "compare", "sweep", "find", "study")


@pytest.mark.parametrize("kind", KINDS)
def test_no_link_leads_out_of_a_page_or_nowhere(pages, kind):
    assert problems(pages[kind]) == []


def test_the_link_checker_sees_what_is_wrong(tmp_path):
    page = tmp_path / "index.html"
    page.write_text(
        '<a href="#a">1</a><a href="#b" id="a">2</a><i id="a"></i><img src="figures/x.png"><a href="https://x.org">3</a>'
        '<script src="https://x.org/x.js"></script><p aria-labelledby="c" style="fill:url(#d)"></p>',
        encoding="utf-8",
    )
    assert sorted(problems(page)) == [
        "<a> leads to #b, which is not there",
        "<img> leads out of the page, to 'figures/x.png'",
        "<script> leads out of the page, to 'https://x.org/x.js'",
        "<style> leads to #d, which is not there",
        "no element is called c",
        "the id a stands 2 times",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_headings_come_in_order(pages, kind):
    levels = elements(pages[kind].read_text(encoding="utf-8")).headings
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_has_a_caption_and_scopes(pages, kind):
    tables = re.findall(r"<table.*?</table>", pages[kind].read_text(encoding="utf-8"), re.DOTALL)
    assert tables
    for table in tables:
        assert re.search(r"<caption[^>]*>[^<]+</caption>", table)
        assert all('scope="' in head for head in re.findall(r"<th\b[^>]*>", table))


@pytest.mark.parametrize("kind", KINDS)
def test_every_picture_says_what_is_to_be_seen(pages, kind):
    page = pages[kind].read_text(encoding="utf-8")
    said = re.findall(r'role="img" aria-label="([^"]+)"', page)
    assert len(said) == page.count('<svg aria-hidden="true"')
    assert all(re.search(r"\d", one) for one in said), "numbers, not only what is drawn"


def offered(page):
    """Name to content of the files in a page."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r'href="data:[^;,"]+;base64,([^"]*)" download="([^"]+)"', text)
    return {name: base64.b64decode(unquote_to_bytes(content)) for content, name in found}


def test_a_page_carries_the_data_beside_it(pages):
    files = offered(pages["compare"])
    for name in ("comparison.csv", "scenario.toml", "flows.csv", "call.csv", "call.png", "provenance.json"):
        assert name in files
    for name in ("comparison.csv", "flows.csv", "scenario.toml"):
        assert files[name] == (pages["compare"].parent / name).read_bytes()
    assert files["call.png"].startswith(b"\x89PNG")
    numbers = pl.read_csv(files["comparison.csv"])
    assert {"measure", "transport", "mean", "low", "high"} <= set(numbers.columns)
    assert numbers["transport"].unique().sort().to_list() == ["tcp/reno", "udp"]
    assert {"ledger.json", "digest.md", "t.csv", "a.csv", "a.png"} <= set(offered(pages["study"]))
    assert {"scenario.toml", "runs.csv", "network.csv", "call.csv"} <= set(offered(pages["run"]))


def test_a_comparison_says_first_which_is_good(pages):
    page = pages["compare"].read_text(encoding="utf-8")
    main = page[page.index("<main") :]
    verdict = re.search(r"<strong>(.*?)</strong>", main)[1]
    assert re.fullmatch(r"(Over|With) .* (is|are) (good|fair|poor)[^:]*: MOS \d\.\d\d.*\.", verdict)
    assert main.index("<strong>") < main.index("<nav") < main.index("<table")
    assert "ITU-T G.109" in main[: main.index("<nav")]
    assert "Means over 3 runs, each with its 95 % interval." in main


def test_a_study_says_first_which_claims_hold(pages):
    page = pages["study"].read_text(encoding="utf-8")
    assert "<strong>Of 2 claims 1 holds, 1 does not, and 0 are undecided.</strong>" in page
    first, second = re.findall(r'<li><a href="#claim-(S\d)">', page)
    assert (first, second) == ("S2", "S1"), "what does not hold stands first"


def test_what_a_claim_hangs_on_is_a_link_only_where_it_is_told(pages):
    page = pages["study"].read_text(encoding="utf-8")
    assert 'May depend on: <a href="#assumption-rate">rate</a>, unnamed' in page


def test_the_table_and_the_recordings_of_a_comparison_agree_on_the_scale(pages):
    flows = pl.read_parquet(pages["compare"].parent / "flows.parquet")
    rated = flows.filter(pl.col("r_factor").is_not_null())
    assert rated["r_factor"].is_between(0, 129).all()
    shown = re.findall(r"E-model R (-?\d+)", pages["compare"].read_text(encoding="utf-8").replace("−", "-"))
    assert shown
    assert all(0 <= int(one) <= 129 for one in shown)


@pytest.mark.parametrize("name", ["voice", "smoothness", "video", "dropping"])
def test_every_assumption_that_a_study_varies_is_told_as_a_factor(name):
    one = find(name)
    factors = {factor.id for factor in one.readings.factors} if one.readings else set()
    told = factors | {assumption.id for assumption in one.assumptions}
    for assumption in one.assumptions:
        swept = [id_ for id_ in assumption.swept.split(", ") if id_]
        assert set(swept) <= factors, f"{assumption.id} is varied as {swept}"
    for claim in one.claims:
        assert set(claim.assumptions) <= told, f"{claim.id} hangs on {claim.assumptions}"


@pytest.mark.slow
def test_the_page_of_the_demo_can_be_mailed(tmp_path, monkeypatch):
    """With the demo's scenario and alternatives, and an incompressible recording."""
    monkeypatch.setattr("fairwave_speech.score.is_visqol_installed", lambda: False)
    scenario = Path(__file__).parents[2] / "examples" / "contested-call.toml"
    words = (
        "--over",
        "udp,tcp/vegas,tcp/westwood,tcp/real",
        "-n",
        2,
        "--speech",
        recording(tmp_path / "said.wav"),
    )
    assert command("compare", scenario, *words, "--out", tmp_path / "out") == 0
    page = tmp_path / "out" / "index.html"
    assert page.stat().st_size < 8_000_000
    assert problems(page) == []
    assert page.read_text(encoding="utf-8").count("<audio") == 5
