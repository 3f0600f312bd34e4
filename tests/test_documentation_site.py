"""The documentation site: versions, the embedded lab, the index of the search, and the page of the Python package."""

import inspect
import json
import re
import runpy
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

import fairwave
from fairwave import glossary

pytest.importorskip("sphinx", reason="the site is not built: sphinx is not installed")

from validation.pages import render, site

ROOT = Path(__file__).parents[1]
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
DESCRIBED = re.findall(r"^\.\. auto(?:function|class|exception|data):: ([\w.]+)$", API, re.M)
MODULES = re.findall(r"^\.\. automodule:: ([\w.]+)$", API, re.M)


@pytest.fixture(scope="module")
def conf():
    return runpy.run_path(str(ROOT / "docs" / "conf.py"))


def resolve(name):
    """The object that a dotted name means."""
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError:
        return getattr(resolve(module), attribute)


def fill(root, *names):
    for name in names:
        for page in ("index", "asking"):
            file = root / name / "docs" / f"{page}.html"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("", encoding="utf-8")


def test_versions_are_listed_with_the_newest_release_first_and_the_start_leads_there(tmp_path):
    fill(tmp_path, "latest", "0.9", "0.10", "docs")
    site.write_versions(tmp_path)
    versions = json.loads((tmp_path / "versions.json").read_text(encoding="utf-8"))
    assert [one["name"] for one in versions] == ["latest", "0.10", "0.9"]
    assert versions[0]["pages"] == ["docs/asking.html", "docs/index.html"]
    script = (tmp_path / "versions-list.js").read_text(encoding="utf-8")
    assert json.loads(script.removeprefix("window.fairwaveVersions = ").rstrip(";\n")) == versions
    assert "url=0.10/docs/index.html" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_without_a_release_the_start_leads_to_latest(tmp_path):
    fill(tmp_path, "latest")
    site.write_versions(tmp_path)
    assert "url=latest/docs/index.html" in (tmp_path / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["docs/lab", "docs/start/teaching"])
def test_a_page_embeds_the_lab_or_explains_how_to_build_it(conf, page):
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    for lab_page, expected in (
        ("lab.html", f'src="{"../" * page.count("/")}lab.html"'),
        ("", "run `make lab`, then `make site`"),
    ):
        source = [text]
        conf["embed_lab"](SimpleNamespace(config=SimpleNamespace(lab_page=lab_page)), page, source)
        assert expected in source[0]
        assert ("figures/lab.png" in source[0]) == (not lab_page)


def test_the_sidebar_follows_the_lists_of_the_start_page(conf):
    source = [(ROOT / "docs" / "index.md").read_text(encoding="utf-8")]
    conf["add_navigation"](None, "docs/index", source)
    captions = re.findall(r"^:caption: (.+)$", source[0], re.M)
    assert captions == ["Ten minutes", "Learn", "Do", "Look up", "Studies", "Validation", "Project"]
    entries = re.findall(r"^(.+) <(\S+)>$", source[0], re.M)
    assert len({label for label, _ in entries}) == len({page for _, page in entries}) == len(entries)
    pages = {
        page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in (ROOT / "docs").rglob("*.md")
    }
    assert pages - {page for _, page in entries} == {"index"}


def test_tables_and_pictures_have_other_names_in_the_sidebar_than_the_pages_of_the_start_page(conf, tmp_path):
    source = [(ROOT / "docs" / "index.md").read_text(encoding="utf-8")]
    conf["add_navigation"](None, "docs/index", source)
    for page in render.PAGES.values():
        (tmp_path / f"{page.name}.md").write_text("", encoding="utf-8")
    render.write_index(tmp_path)
    text = source[0] + (tmp_path / "index.md").read_text(encoding="utf-8")
    labels = re.findall(r"^(.+) <\S+>$", text, re.M)
    assert len(labels) >= len(render.PAGES) + 40
    assert len(labels) == len(set(labels))


def test_every_public_name_of_the_package_is_on_its_page_and_has_a_description():
    public = {f"fairwave.{name}" for name in fairwave.__all__ if name != "__version__"}
    assert sorted(public - set(DESCRIBED)) == []
    annotated = {"fairwave.Duration", "fairwave.Rate", "fairwave.Size"}
    for name in DESCRIBED:
        found = resolve(name)
        assert name in annotated or inspect.getdoc(found), name
        members = vars(found).items() if inspect.isclass(found) else ()
        nameless = [
            member
            for member, value in members
            if not member.startswith("_")
            and member not in getattr(found, "__dataclass_fields__", {})
            and (inspect.isroutine(value) or isinstance(value, property))
            and not inspect.getdoc(getattr(found, member))
        ]
        assert nameless == [], name


def test_every_name_in_the_index_by_task_is_described_below():
    named = set(re.findall(r"`(fairwave\.[\w.]+)`", API.partition("## Scenarios")[0]))
    assert len(named) >= 20
    known = {*DESCRIBED, *MODULES}
    assert sorted(name for name in named if name not in known and name.rpartition(".")[0] not in known) == []
    for name in named - set(MODULES):
        resolve(name)


def search_index(folder):
    text = (folder / "searchindex.js").read_text(encoding="utf-8")
    return json.loads(text[text.index("{") : text.rindex("}") + 1])


@pytest.mark.slow
def test_the_search_knows_the_names_of_the_package_and_the_terms_of_the_glossary(made_site):
    index = search_index(made_site.folder)
    objects = {f"{prefix}.{one[4]}" for prefix, found in index["objects"].items() for one in found}
    assert set(DESCRIBED) - {"fairwave.cluster.on"} <= objects
    page = index["docnames"].index("python/fairwave/glossary")
    terms = {
        entry
        for entry, places in index["indexentries"].items()
        if [page, True] in [[one[0], one[2]] for one in places]
    }
    names = {re.sub(r" \(.*", "", term.term).lower() for term in glossary.terms()}
    assert len(terms) >= 250
    # Sphinx leaves out entries with a comma.
    assert sorted(name for name in names - terms if "," not in name) == []


@pytest.mark.slow
def test_the_page_of_the_package_shows_each_name_with_its_signature(made_site):
    html = (made_site.folder / "docs" / "api.html").read_text(encoding="utf-8")
    for name in DESCRIBED:
        assert f'id="{name}"' in html, name
    assert 'href="#fairwave.Results.measured"' in html
    signatures = dict(re.findall(r'<dt class="sig[^"]*" id="([\w.]+)">(.*?)</dt>', html, re.S))
    for name in DESCRIBED:
        found = resolve(name)
        if inspect.isfunction(found):
            shown = re.findall(
                r'<em class="sig-param">.*?<span class="n"><span class="pre">(\w+)', signatures[name]
            )
            assert set(shown) == set(inspect.signature(found).parameters), name
