"""The page of a network in a browser: on a phone, in the dark, with the keyboard, and for screen readers."""

import networkx as nx
import pytest

from page_making import command
from square import SQUARE, graph


@pytest.fixture(scope="module")
def page_of_network(tmp_path_factory):
    """The page of four nodes, with each link failing in turn."""
    folder = tmp_path_factory.mktemp("network")
    nx.write_graphml(graph(), folder / "net.graphml")
    (folder / "demands.csv").write_text("from,to,demand\nA,C,3\nC,A,1\n", encoding="utf-8")
    (folder / "net.toml").write_text(SQUARE.replace("1.6 Mb/s", "2.6 Mb/s"), encoding="utf-8")
    words = ("-n", 2, "--widen", 1, "--failures", "links", "--out", folder / "out")
    assert command("network", folder / "net.toml", *words) == 0
    return folder / "out" / "index.html"


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (400, "dark")])
def test_a_failure_is_chosen_with_the_keyboard_and_nothing_keeps_anybody_from_reading(
    page_of_network, chromium, width, scheme
):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed")
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(page_of_network.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    said = page.locator("[aria-live]").first
    assert "Nothing fails" in said.inner_text()
    page.focus("#atlas-failure")
    page.keyboard.press("ArrowRight")
    assert "fails:" in said.inner_text()
    assert "Nothing" not in said.inner_text()
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = axe.Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in {"serious", "critical"}] == []
    context.close()
