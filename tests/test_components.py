"""`fairwave doctor`: installed parts, missing parts, and remedies."""

import json

from fairwave import components, extras


def test_every_component_has_a_purpose_and_every_missing_one_a_remedy(fairwave):
    found = components.components()
    assert len({(one.part, one.name) for one in found}) == len(found)
    for one in found:
        assert one.purpose
        assert one.is_there or one.remedy, one
    status, out, err = fairwave("doctor", "--json")
    assert (status, err) == (0, "")
    assert [one["name"] for one in json.loads(out)] == [one.name for one in found]


def test_people_see_what_is_missing_with_its_purpose(fairwave, monkeypatch):
    monkeypatch.setattr(components.shutil, "which", lambda name: None)
    status, out, _ = fairwave("doctor")
    assert status == 0
    for name in ("chromium", "irtt", "node", "ns"):
        assert f"\n{name} " in out
    assert "apt install chromium" in out


def test_an_extra_is_missing_if_one_of_its_packages_is(monkeypatch):
    monkeypatch.setattr(components, "is_there", lambda package: package != "sklearn")
    by_name = {one.name: one for one in components.components() if one.part == "extras"}
    assert set(by_name) == set(components.EXTRAS)
    assert not by_name["explore"].is_there
    assert "pip install 'fairwave[explore]' (missing: scikit-learn)" in by_name["explore"].remedy


def test_every_extra_of_the_package_but_all_is_listed():
    from importlib import metadata

    listed = set(metadata.metadata("fairwave").get_all("Provides-Extra") or [])
    assert listed - {"all"} == set(components.EXTRAS)
    assert "polars" in components.requirements("report")
    assert extras.is_there("numpy")
    assert not extras.is_there("no_such_package")


def test_the_build_and_the_commit_are_named(fairwave):
    from fairwave.provenance import commit
    from fairwave.runs.keeping import engine

    core = {one.name: one.found for one in components.components() if one.part == "fairwave"}
    assert commit() in core["fairwave"]
    assert engine().partition("+")[2] in core["simulator"]
