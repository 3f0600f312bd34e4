"""Versions of scenarios, keys with a new name, `fairwave upgrade`, and the schema for editors."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fairwave as fw
from fairwave import _native, provenance, upgrading
from fairwave.cli import schema

ROOT = Path(__file__).parents[1]

OLD = """# A call. SCReAM holds no frames back.
name = "call"   # kept
duration = "2 s"

[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms" }

[[flow]]
name = "call"
transport = { name = "webrtc", control = { name = "scream", pushback = false } } # old
traffic = "media"
"""
NEW = OLD.replace("pushback", "push-back")
CURRENT = f'version = "{_native.language}"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with an old scenario in TOML and in JSON, and a current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.toml").write_text(OLD, encoding="utf-8")
    (tmp_path / "new.toml").write_text(NEW, encoding="utf-8")
    data = {key: value for key, value in fw.load(NEW).to_dict().items() if key != "version"}
    text = json.dumps(data, indent=3).replace('"push-back"', '"pushback"')
    (tmp_path / "old.json").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_scenario_states_its_version_and_means_the_same(fairwave, folder):
    plain, stated = fw.load(NEW), fw.load(CURRENT + NEW)
    assert stated == plain
    assert stated.to_dict()["version"] == plain.plan()["version"] == _native.language
    assert plain.to_toml().startswith(CURRENT)
    assert (
        fw.load(plain.to_json())
        == fw.load(plain.to_toml())
        == fw.Scenario.from_dict(plain.to_dict())
        == plain
    )
    (folder / "stated.toml").write_text(CURRENT + NEW, encoding="utf-8")
    found = json.loads(fairwave("run", "stated.toml", "--json")[1])["provenance"]
    assert found["language"] == _native.language
    again = provenance.Provenance.from_json(json.dumps(found))
    assert provenance.Provenance.merge([again, again]).language == _native.language


@pytest.mark.parametrize("written", ["0.1", '"0.1.0"', '"current"', "[]"])
def test_a_malformed_version_lists_the_allowed_ones(fairwave, folder, written):
    (folder / "wrong.toml").write_text(f"version = {written}\n{NEW}", encoding="utf-8")
    status, _, err = fairwave("check", "wrong.toml")
    assert status == 2
    assert "wrong.toml:1:11 (version)" in err
    assert f'allowed: "{_native.language}"' in err


def test_a_newer_version_is_refused_in_one_sentence(fairwave, folder):
    (folder / "later.toml").write_text(f'version = "99.0"\nlater = 1\n{NEW}', encoding="utf-8")
    for command in ("check", "run", "upgrade"):
        status, _, err = fairwave(command, "later.toml")
        assert status == 2
        assert err.count("error:") == 1
        assert "version 99.0 of the language" in err
        assert "pip install --upgrade fairwave" in err


def test_files_that_fairwave_writes_state_the_version(fairwave, folder):
    assert fairwave("new", "controller", "mine")[0] == 0
    assert (folder / "mine.toml").read_text(encoding="utf-8").startswith(CURRENT)
    assert fairwave("run", "new.toml", "--out", "out", "--no-page")[0] == 0
    assert (folder / "out" / "scenario.toml").read_text(encoding="utf-8").startswith(CURRENT)


def test_an_old_key_works_with_a_warning(fairwave, folder):
    old, new = fw.load("old.toml"), fw.load("new.toml")
    assert old == new
    assert new.cautions() == []
    (caution,) = old.cautions()
    assert caution.startswith("flow[0].transport.control.pushback: `pushback` is the old name of `push-back`")
    results = {}
    compare = ("compare", "--vary", "duration=1s,2s", "-n", "1", "--no-page")
    for name in ("old", "new"):
        for command, *options in (("check",), ("run", "--json"), compare):
            status, out, err = fairwave(command, f"{name}.toml", *options)
            assert status == 0, err
            assert err.count("is the old name of `push-back`") == (name == "old"), (command, err)
            if command == "run":
                results[name] = json.loads(out)["flows"]
    assert results["old"] == results["new"]


def test_an_override_with_an_old_key_works_with_a_warning(fairwave, folder):
    key = "flow.call.transport.control"
    status, _, err = fairwave("check", "new.toml", "--set", f"{key}.pushback=true")
    assert status == 0
    assert "write `push-back`" in err
    assert "fairwave upgrade" not in err
    changed = fw.load(NEW).with_overrides({f"{key}.pushback": True})
    assert changed == fw.load(NEW).with_overrides({f"{key}.push-back": True}) != fw.load(NEW)


def test_an_upgrade_is_shown_as_a_diff_and_written_on_request(fairwave, folder):
    status, out, err = fairwave("upgrade", "old.toml")
    assert status == 0
    assert (folder / "old.toml").read_text(encoding="utf-8") == OLD
    assert "--- old.toml\n+++ old.toml\n" in out
    assert [line[0] for line in out.splitlines() if '{ name = "scream"' in line] == ["-", "+"]
    assert "1 change; add --write" in err
    if shutil.which("patch"):
        shutil.copy("old.toml", "patched.toml")
        subprocess.run(["patch", "--quiet", "patched.toml"], input=out, text=True, check=True)
        assert (folder / "patched.toml").read_text(encoding="utf-8") == NEW
    status, out, _ = fairwave("upgrade", "old.toml", "old.json", "--write")
    assert status == 0
    assert "old.toml:11: flow[0].transport.control.pushback: `pushback` is now `push-back`" in out
    assert (folder / "old.toml").read_text(encoding="utf-8") == NEW
    assert fw.load("old.json") == fw.load("old.toml")
    assert (folder / "old.json").read_text(encoding="utf-8").startswith('{\n   "duration"')
    status, out, err = fairwave("upgrade", "old.toml", "old.json")
    assert (status, out) == (0, "")
    assert err == "old.toml: nothing to change\nold.json: nothing to change\n"


def test_a_written_upgrade_keeps_line_ends_permissions_and_links(fairwave, folder):
    (folder / "windows.toml").write_bytes(OLD.replace("\n", "\r\n").encode())
    (folder / "windows.toml").chmod(0o600)
    (folder / "link.toml").symlink_to("windows.toml")
    assert fairwave("upgrade", "link.toml", "--write")[0] == 0
    assert (folder / "link.toml").is_symlink()
    assert (folder / "windows.toml").read_bytes() == NEW.replace("\n", "\r\n").encode()
    assert (folder / "windows.toml").stat().st_mode & 0o777 == 0o600


def test_standard_input_becomes_standard_output(fairwave, folder, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(OLD.encode())))
    status, out, err = fairwave("upgrade", "-")
    assert (status, out, err) == (0, NEW, "-: 1 change\n")
    for words in (("-", "--write"), ("-", "old.toml")):
        status, _, err = fairwave("upgrade", *words)
        assert status == 2
        assert "give it alone" in err


def test_statuses_of_a_batch(fairwave, folder):
    (folder / "both.toml").write_text(OLD.replace("duration", "durations"), encoding="utf-8")
    status, _, err = fairwave("upgrade", "*.toml")
    assert status == 1
    assert "did you mean `duration`?" in err
    assert "both.toml: 1 change; correct the mistake by hand" in err
    (folder / "broken.toml").write_text("name = ", encoding="utf-8")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    status, out, err = fairwave("upgrade", "*.toml", "*.json", "picture.png", "missing.toml", ".", "--json")
    found = {one["file"]: one for one in json.loads(out)}
    assert (status, err) == (2, "")
    states = {name: one["state"] for name, one in found.items()}
    assert states == {
        "both.toml": "by hand", "broken.toml": "bad input", "new.toml": "current", "old.toml": "changed",
        "old.json": "changed", "picture.png": "bad input", "missing.toml": "bad input", ".": "bad input",
    }  # fmt: skip
    assert found["old.toml"]["changes"] == [
        {"line": 11, "change": "flow[0].transport.control.pushback: `pushback` is now `push-back`"}
    ]
    assert "picture" in found["picture.png"]["message"]
    assert "name its files" in found["."]["message"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="this user may write everywhere")
def test_a_read_only_file_is_not_changed(fairwave, folder):
    (folder / "old.toml").chmod(0o400)
    status, _, err = fairwave("upgrade", "old.toml", "--write")
    assert status == 2
    assert "old.toml is read-only" in err


def test_a_network_is_upgraded_too(folder):
    pytest.importorskip("topohub", reason="no topologies: fairwave[network]")
    text = (ROOT / "examples" / "germany.toml").read_text(encoding="utf-8")
    made = upgrading.upgrade("germany.toml", CURRENT + text)
    assert (made.state, made.rest) == ("current", "")
    made = upgrading.upgrade("germany.toml", text.replace("duration", "durations"))
    assert made.state == "by hand"


def test_examples_are_current(fairwave):
    files = [
        str(one)
        for one in (ROOT / "examples").glob("*.toml")
        if "topohub" not in one.read_text(encoding="utf-8")
    ]
    status, out, err = fairwave("upgrade", *files)
    assert (status, out) == (0, ""), err


def test_the_page_lists_every_renamed_key():
    page = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
    source = (ROOT / "crates" / "fairwave-scenario" / "src" / "renames.rs").read_text(encoding="utf-8")
    table = source.partition("pub const RENAMES")[2].partition("];")[0]
    field = {name: re.findall(rf'{name}: (?:Some\()?"([^"]+)"', table) for name in ("table", "old", "new")}
    assert len(field["old"]) == table.count("Rename {") > 0
    listed = re.findall(r"^\| `([\w-]+)`[^|]*\| `([\w-]+)` \| `([\w-]+)` \|", page, re.MULTILINE)
    assert listed == list(zip(*field.values(), strict=True))


def test_the_schema_has_an_identifier_and_a_file(fairwave, tmp_path, monkeypatch):
    text = _native.Scenario.schema()
    assert json.loads(text)["$id"] == f"urn:fairwave:scenario:{_native.language}"
    assert json.loads(text)["properties"]["version"]["$ref"] == "#/$defs/Version"
    assert json.loads(text)["$defs"]["Version"]["enum"] == [_native.language]
    monkeypatch.setattr(schema, "FILE", tmp_path / "made" / "scenario.schema.json")
    for content in (None, "{}"):  # missing, and of another build
        if content:
            schema.FILE.write_text(content, encoding="utf-8")
        status, out, _ = fairwave("schema", "--path")
        assert (status, Path(out.strip())) == (0, schema.FILE)
        assert schema.FILE.read_text(encoding="utf-8") == fairwave("schema")[1] == f"{text}\n"
    (tmp_path / "file").touch()
    monkeypatch.setattr(schema, "FILE", tmp_path / "file" / "scenario.schema.json")
    status, _, err = fairwave("schema", "--path")
    assert status == 2
    assert "fairwave schema > scenario.schema.json" in err
    status, _, err = fairwave("schema", "--path", "--laws", "mine.py")
    assert status == 2
    assert "leave --path out" in err


def test_wheels_contain_the_schema():
    tomllib = pytest.importorskip("tomllib", reason="Python reads TOML from 3.11 on")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    path = schema.FILE.relative_to(ROOT).as_posix()
    assert path in [one["path"] for one in project["tool"]["maturin"]["include"]]
    assert "schema --path" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_taplo_accepts_examples_and_refuses_a_wrong_key(tmp_path):
    taplo = shutil.which("taplo")
    if taplo is None:
        pytest.skip("no taplo here, the language server for TOML that editors use")
    (tmp_path / "s.json").write_text(_native.Scenario.schema(), encoding="utf-8")
    examples = ("home-uplink", "webrtc-home", "conference")
    good = [CURRENT + NEW, *((ROOT / "examples" / f"{name}.toml").read_text("utf-8") for name in examples)]
    for number, text in enumerate([*good, NEW.replace("duration", "durations")]):
        (tmp_path / f"{number}.toml").write_text(text, encoding="utf-8")
        words = [taplo, "check", "--schema", (tmp_path / "s.json").as_uri(), f"{number}.toml"]
        status = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode
        assert (status == 0) == (number < len(good)), text
