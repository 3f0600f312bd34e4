"""Workflows, the action and the packages: each names targets and files that exist, and has least permissions."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tomllib
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTIONS = [*WORKFLOWS, ROOT / "action.yml"]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
RELEASE = ROOT / "packaging" / "release.py"


def read(path):
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {("on" if key is True else key): value for key, value in found.items()}


def jobs():
    return [(path.stem, name, job) for path in WORKFLOWS for name, job in read(path)["jobs"].items()]


def steps(path):
    data = read(path)
    parts = data["jobs"].values() if "jobs" in data else [data["runs"]]
    return [step for part in parts for step in part.get("steps", [])]


def test_there_are_the_workflows_that_contributors_need():
    assert {"test", "wheels", "pages", "release", "weekly", "calls"} <= {path.stem for path in WORKFLOWS}
    systems = json.dumps(read(ROOT / ".github/workflows/test.yml")["jobs"])
    for system in ("ubuntu", "macos", "windows"):
        assert system in systems


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_least_permissions_and_ends_an_outdated_run(path):
    data = read(path)
    assert data["permissions"] in ({}, {"contents": "read"})
    assert "group" in data["concurrency"]
    assert "pull_request_target" not in data["on"]


@pytest.mark.parametrize(("workflow", "name", "job"), jobs())
def test_a_job_has_a_limit_and_few_rights(workflow, name, job):
    if "uses" in job:
        assert (ROOT / job["uses"]).is_file()
        return
    assert job["timeout-minutes"]
    rights = {key for key, value in job.get("permissions", {}).items() if value == "write"}
    allowed = {
        ("pages", "deploy"): {"pages", "id-token"}, ("release", "provenance"): {"id-token", "attestations"},
        ("release", "python-package"): {"id-token"}, ("release", "crates"): {"id-token"},
        ("release", "announce"): {"contents"}, ("calls", "guard"): {"contents", "pull-requests"},
    }  # fmt: skip
    assert rights == allowed.get((workflow, name), set())
    assert "secrets." not in json.dumps(job)


@pytest.mark.parametrize("path", ACTIONS, ids=lambda path: path.stem)
def test_actions_of_others_are_pinned_by_commit_with_their_version(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        found = re.search(r"uses: (\S+)(.*)", line)
        if found and not found[1].startswith("./"):
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", found[1]), line
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", found[2]), line


def test_one_action_has_one_version():
    pins = {
        tuple(one["uses"].split("@")) for path in ACTIONS for one in steps(path) if "@" in one.get("uses", "")
    }
    assert len({name for name, _ in pins}) == len(pins)


@pytest.mark.parametrize("path", ACTIONS, ids=lambda path: path.stem)
def test_a_command_is_one_line_and_names_a_target_or_a_file_that_exists(path):
    for step in steps(path):
        command = step.get("run")
        if command is None:
            continue
        assert "\n" not in command.strip()
        assert "${{" not in command
        first, second = (*command.split(), "")[:2]
        if first == "make":
            choices = [second]
            if second == '"$WORK"':
                choices = [one["work"] for one in read(path)["jobs"]["long"]["strategy"]["matrix"]["include"]]
            assert set(choices) <= TARGETS
        elif first.startswith("python"):
            name = second.strip('"').removeprefix("$GITHUB_ACTION_PATH/")
            assert name == "-m" or (ROOT / name).is_file(), command
        elif first.startswith(".ci/"):
            assert os.access(ROOT / first, os.X_OK), command
        else:
            assert first in {"cargo", "gh"}, command


def test_the_packages_have_the_version_and_the_libraries_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"][
        "version"
    ]
    recipe = yaml.safe_load((ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == version
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["tables"], *extras["report"]]
    wanted = {one.partition(";")[0].strip() for one in wanted if "fairwave[" not in one and "3.11" not in one}
    named = {
        one.replace(" ", "").replace("matplotlib-base", "matplotlib") for one in recipe["requirements"]["run"]
    }
    assert named == wanted | {f"python{project['requires-python']}"}
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == version
    formula = (ROOT / "packaging/homebrew/fairwave.rb").read_text(encoding="utf-8")
    assert f'tag: "v{version}"' in formula


def test_the_dev_container_uses_a_stage_of_the_container_file():
    text = (ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8")
    build = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.M))["build"]
    file = ROOT / ".devcontainer" / build["dockerfile"]
    assert f" AS {build['target']}\n" in file.read_text(encoding="utf-8")
    assert "make setup" in text


@pytest.mark.parametrize("path", sorted((ROOT / ".ci").iterdir()), ids=lambda path: path.name)
def test_a_script_of_the_workflows_names_targets_that_exist(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith("#!/usr/bin/env bash\n")
    assert set(re.findall(r"^make (\S+)$", text, re.M)) <= TARGETS


def test_dependabot_watches_each_kind_of_dependency():
    found = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    kinds = {
        "cargo": "Cargo.lock",
        "pip": "pyproject.toml",
        "npm": "package-lock.json",
        "github-actions": "action.yml",
    }
    assert {one["package-ecosystem"] for one in found} == set(kinds)
    for one in found:
        folder = ROOT / one["directory"].removeprefix("/")
        assert (folder / kinds[one["package-ecosystem"]]).is_file()


def release(root, tag):
    words = [sys.executable, RELEASE, "--root", root, "--tag", tag, "--notes", root / "out" / "notes.md"]
    environment = {**os.environ, "GITHUB_SERVER_URL": "https://hub", "GITHUB_REPOSITORY": "o/r"}
    return subprocess.run(words, check=False, capture_output=True, text=True, env=environment)


def test_a_release_needs_the_tag_of_the_version_and_its_notes(tmp_path):
    (tmp_path / "Cargo.toml").write_text('[workspace.package]\nedition = "2024"\nversion = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.2.3 (2026-12-01)\n\n- [Old](docs/a.md).\n"
    )
    assert release(tmp_path, "v1.2.3").returncode == 0
    assert (tmp_path / "out/notes.md").read_text() == "- [Old](https://hub/o/r/blob/v1.2.3/docs/a.md).\n"
    assert "tag v1.2.3" in release(tmp_path, "v1.2.4").stderr
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- New.\n")
    assert "CHANGELOG.md has no section '## 1.2.3 (DATE)'" in release(tmp_path, "v1.2.3").stderr


def test_this_version_can_be_released(tmp_path):
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"][
        "version"
    ]
    for name in ("Cargo.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    assert release(tmp_path, f"v{version}").returncode == 0
    assert len((tmp_path / "out/notes.md").read_text(encoding="utf-8").split()) > 50


def test_a_dry_run_runs_the_commands_of_a_job_in_a_clone(tmp_path):
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no checkout of git")
    words = [
        sys.executable,
        ROOT / "packaging" / "dry_run.py",
        "release",
        "check",
        "--in",
        tmp_path / "clone",
    ]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "left out: actions/checkout@" in done.stdout
    assert (tmp_path / "clone" / "out" / "notes.md").is_file()
