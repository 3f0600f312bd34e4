"""Pages that `make results` renders from kept results, and hand-written pages with the same numbers."""

import re
from pathlib import Path

import pytest

from validation import kept
from validation.pages import render

ROOT = Path(__file__).parents[1]
NUMBER = re.compile(r"(?<![\w.§-])\d[\d,]*(?:\.\d+)?(?![\w])")
ELSEWHERE = {
    "captures",
    "conferences",
    "evaluating",
    "files",
    "fitting",
    "lab",
    "measure",
    "networks",
    "performance",
    "results",
    "speech",
    "stacks",
    "testing",
    "video",
    "webrtc",
}
"""Pages that describe more than the findings; other tests check those parts."""
FINDINGS = sorted(
    {page.about for page in render.PAGES.values() if page.about and "stud" not in page.about} - ELSEWHERE
)


BEGINS = {"intervals": "## Coverage"}
"""The heading at which the findings of a page begin; other pages contain only findings."""


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """Renders a page once for all tests of a process."""
    folder, texts = tmp_path_factory.mktemp("results"), {}

    def text(name):
        if name not in texts:
            texts[name] = render.PAGES[name].render(folder, quick=True)
        return texts[name]

    return text


@pytest.mark.parametrize("name", render.PAGES)
def test_every_page_renders(rendered, name):
    text = rendered(name)
    assert text.startswith("# ")
    assert text.endswith("\n")


@pytest.mark.parametrize("about", FINDINGS)
def test_the_numbers_of_a_page_written_by_hand_are_those_of_the_rendered_pages(rendered, about):
    there = " ".join(rendered(page.name) for page in render.PAGES.values() if page.about == about)
    text = (ROOT / "docs" / f"{about}.md").read_text(encoding="utf-8")
    text = text[text.index(BEGINS.get(about, "# ")) :]
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)|^#.*$|(?:RFC|TS|TR|G\.|P\.|§)\s?[\d.]+", "", text, flags=re.M)
    found = {one for one in NUMBER.findall(prose) if len(one) > 1}
    assert found
    assert sorted(one for one in found if not re.search(rf"(?<![\d.]){re.escape(one)}(?!\d)", there)) == []


@pytest.mark.parametrize("name", render.PAGES)
def test_a_page_links_to_pages_that_exist(rendered, name):
    folder = ROOT / "out" / "results"
    for target in re.findall(r"\]\(([^)\s]+)\)", render.relink(rendered(name), folder)):
        path = target.partition("#")[0]
        if path and not re.match(r"[a-z]+:", path):
            there = (folder / path).resolve()
            assert (
                there.exists() or path.removesuffix(".md") in render.PAGES or path.startswith("figures/")
            ), target


def test_links_to_pages_of_docs_lead_there_and_others_stay():
    text = "[a](links.md#wi-fi) [b](figures/a.png) [c](https://example.org) [d](#below) [e](clauses.md)"
    assert render.relink(text, ROOT / "out" / "results") == (
        "[a](../../docs/links.md#wi-fi) [b](figures/a.png) [c](https://example.org) [d](#below) [e](clauses.md)"
    )


def test_kept_values_and_tables_read_back_as_they_were_written(tmp_path, monkeypatch):
    import polars as pl

    monkeypatch.setattr(kept, "RESULTS", tmp_path)
    assert not kept.exists("a/b")
    kept.write("a/b", {"x": [1.5, None, "µ"]})
    first = (tmp_path / "a" / "b.json.gz").read_bytes()
    kept.write("a/b", kept.read("a/b"))
    assert (tmp_path / "a" / "b.json.gz").read_bytes() == first
    assert kept.read("a/b") == {"x": [1.5, None, "µ"]}
    table = pl.DataFrame({"x": [1, 2], "y": ["a", None]})
    kept.write_table("a/c", table)
    assert kept.read_table("a/c").equals(table)
    assert kept.exists("a/c")


def test_the_kept_measurements_take_at_most_6_megabytes():
    assert sum(file.stat().st_size for file in kept.RESULTS.rglob("*") if file.is_file()) <= 6e6
