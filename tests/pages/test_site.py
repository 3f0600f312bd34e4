"""The site in a browser: its main pages are accessible, at two widths and in both themes."""

import os
import re
import shutil
from pathlib import Path

import pytest

from accessibility import list_violations
from validation.pages.site import write_versions

PAGES = (
    "docs/index",
    "docs/start/voip",
    "docs/start/webrtc",
    "docs/start/research",
    "docs/start/teaching",
    "docs/tutorial",
    "docs/results",
    "docs/conferences",
    "docs/studies/radio",
    "results/index",
    "results/gallery",
    "results/live",
    "results/opinions",
    "results/validation",
    "results/l4s",
)


@pytest.fixture(scope="module")
def site(request):
    """The folder of the site; `FAIRWAVE_SITE` names an existing one."""
    if ready := os.environ.get("FAIRWAVE_SITE"):
        return Path(ready).resolve()
    pytest.importorskip("sphinx", reason="the site is not built: sphinx is not installed")
    made = request.getfixturevalue("made_site").folder
    assert (made / "docs" / "index.html").exists()
    return made


def scrolls_sideways(page):
    fits = page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
    return [] if fits else ["the page scrolls sideways"]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_nothing_keeps_anyone_from_reading_the_site(site, chromium, name):
    page = chromium.new_page()
    try:
        page.goto((site / f"{name}.html").as_uri())
        assert list_violations(page, also=scrolls_sideways) == []
    finally:
        page.close()


@pytest.mark.slow
@pytest.mark.parametrize("fonts", ["wide", "narrow"])
def test_tables_of_six_narrow_columns_fit_a_phone(site, machines, fonts):
    page = machines[fonts].new_page(viewport={"width": 400, "height": 900})
    page.goto((site / "results" / "cell.html").as_uri())
    page.evaluate("document.fonts.ready")
    wide = "[...document.querySelectorAll('.table-wrapper')].filter((one) => one.scrollWidth > one.clientWidth).length"
    assert page.evaluate("document.querySelectorAll('.table-wrapper').length") > 0
    assert page.evaluate(wide) == 0
    page.close()


@pytest.mark.slow
def test_the_sidebar_has_each_page_once(site, chromium):
    page = chromium.new_page()
    page.goto((site / "docs" / "index.html").as_uri())
    found = page.evaluate("[...document.querySelectorAll('.sidebar-tree a')].map((one) => one.href)")
    assert len(found) == len(set(found)) >= 40
    names = page.evaluate(
        "[...document.querySelectorAll('.sidebar-tree a')].map((one) => one.textContent.trim())"
    )
    assert len(names) == len(set(names))
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("jitter", "python/fairwave/glossary.html"),
        ("BDP", "python/fairwave/glossary.html"),
        ("with_overrides", "docs/api.html"),
    ],
)
def test_the_search_works_from_disk_and_shows_terms_and_names_first(site, chromium, typed, first):
    page = chromium.new_page()
    page.goto(f"{(site / 'search.html').as_uri()}?q={typed}")
    found = page.locator("#search-results li a").first
    found.wait_for()
    assert f"/{first}" in found.get_attribute("href") or found.get_attribute("href").startswith(first)
    page.close()


@pytest.mark.slow
def test_the_selector_of_versions_leads_to_the_same_page_or_to_the_start_of_a_version(
    site, chromium, tmp_path
):
    for name, pages in {"latest": ("tutorial", "search"), "0.1": ("tutorial", "index")}.items():
        for one in pages:
            file = tmp_path / name / "docs" / f"{one}.html"
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(site / "docs" / "tutorial.html", file)
            text = file.read_text(encoding="utf-8").replace('"docs/tutorial.html"', f'"docs/{one}.html"')
            file.write_text(text, encoding="utf-8")
        shutil.copytree(site / "_static", tmp_path / name / "_static")
    write_versions(tmp_path)
    page = chromium.new_page()
    for begin, end in (("tutorial", "tutorial"), ("search", "index")):
        page.goto((tmp_path / "latest" / "docs" / f"{begin}.html").as_uri())
        selector = page.get_by_label("Version")
        assert selector.locator("option").all_text_contents() == ["latest", "0.1"]
        assert selector.input_value() == "latest"
        with page.expect_navigation():
            selector.select_option("0.1")
        assert page.url == (tmp_path / "0.1" / "docs" / f"{end}.html").as_uri()
    page.close()


@pytest.mark.slow
def test_the_lab_inside_a_page_gives_a_verdict(site, chromium):
    if not (site / "lab.html").is_file():
        pytest.skip("the site was built without the lab: make lab")
    page = chromium.new_page()
    page.goto((site / "docs" / "start" / "teaching.html").as_uri())
    page.locator("iframe.lab").scroll_into_view_if_needed()
    page.frame_locator("iframe.lab").get_by_text(
        re.compile(r"The call is (good|fair|poor): MOS \d")
    ).wait_for(timeout=60_000)
    page.close()
