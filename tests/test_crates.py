"""Every crate of the workspace is ready for a registry of crates, or says that it is not published."""

import importlib.util
import re
import tarfile
from pathlib import Path

import pytest
import tomllib

ROOT = Path(__file__).parents[1]
WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
MANIFESTS = {
    file.parent.name: tomllib.loads(file.read_text(encoding="utf-8"))
    for file in ROOT.glob("crates/*/Cargo.toml")
}
PUBLISHED = sorted(name for name, one in MANIFESTS.items() if one["package"].get("publish", True))
UNPUBLISHED = {"fairwave-python", "fairwave-wasm"}
"""A wheel and a page contain them; no Rust program can use them as a library."""


@pytest.fixture(scope="module")
def crates():
    spec = importlib.util.spec_from_file_location("crates", ROOT / "packaging" / "crates.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_only_the_libraries_are_published(crates):
    assert set(MANIFESTS) - set(PUBLISHED) == UNPUBLISHED
    assert crates.published() == PUBLISHED
    assert crates.common_version() == WORKSPACE["package"]["version"]
    assert {one.removeprefix("crates/") for one in WORKSPACE["members"]} == set(MANIFESTS)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_manifest_has_what_a_registry_shows(name):
    package = MANIFESTS[name]["package"]
    for key in ("version", "edition", "rust-version", "license", "repository", "homepage", "include"):
        assert package[key] == {"workspace": True}, key
        assert WORKSPACE["package"][key], key
    assert package["name"] == name
    assert package["readme"] == "README.md"
    assert package["documentation"].endswith(f"/{name}")
    assert 30 <= len(package["description"]) <= 150
    assert len(package["categories"]) in range(1, 6)
    assert len(package["keywords"]) in range(1, 6)
    for keyword in package["keywords"]:
        assert re.fullmatch(r"[a-z][a-z0-9_+-]{0,19}", keyword), keyword


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_crate_carries_both_licences(name):
    for file in ("LICENSE-APACHE", "LICENSE-MIT"):
        assert (ROOT / "crates" / name / file).read_bytes() == (ROOT / file).read_bytes()


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_readme_is_the_front_page_with_an_example_and_all_features(name):
    readme = (ROOT / "crates" / name / "README.md").read_text(encoding="utf-8")
    library = (ROOT / "crates" / name / "src/lib.rs").read_text(encoding="utf-8")
    assert library.startswith('#![doc = include_str!("../README.md")]\n'), "cargo runs its example as a test"
    assert readme.startswith(f"# {name}: ")
    example = re.search(r"^```rust\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    assert example
    assert f"{name.replace('-', '_')}::" in example[1]
    features = readme.partition("## Features")[2].partition("\n## ")[0]
    for feature in MANIFESTS[name].get("features", {}):
        assert feature == "default" or f"`{feature}`" in features, feature


def test_crates_of_a_release_require_each_other_exactly():
    for name, one in WORKSPACE["dependencies"].items():
        if name.startswith("fairwave"):
            assert one["version"] == f"={WORKSPACE['package']['version']}", name
            assert one["path"] == f"crates/{name}"


def test_a_published_crate_depends_on_published_crates_only():
    for name in PUBLISHED:
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            assert not UNPUBLISHED & set(MANIFESTS[name].get(kind, {}))


def test_packages_are_listed_and_foreign_files_are_found(crates, tmp_path, capsys):
    version = WORKSPACE["package"]["version"]
    (tmp_path / "package").mkdir()

    def pack(name, files):
        with tarfile.open(tmp_path / "package" / f"{name}-{version}.crate", "w:gz") as archive:
            for file in files:
                archive.add(ROOT / "Cargo.toml", f"{name}-{version}/{file}")

    for name in PUBLISHED:
        pack(name, crates.REQUIRED)
    assert crates.main(tmp_path) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed[1:]] == PUBLISHED

    pack("fairwave-sim", [*crates.REQUIRED, "tests/all.rs"])
    pack("fairwave-tcp", crates.REQUIRED[1:])
    (tmp_path / "package" / f"fairwave-rtc-{version}.crate").unlink()
    assert crates.main(tmp_path) == 1
    errors = capsys.readouterr().err
    assert "fairwave-sim: tests/all.rs does not belong into a package" in errors
    assert "fairwave-tcp: Cargo.toml is missing" in errors
    assert re.search(r"fairwave-rtc: .* is missing; run `cargo package --workspace` first", errors)
    assert crates.faults("fairwave", list(crates.REQUIRED), crates.MOST + 1) == [
        "fairwave: 10000001 bytes; at most 10000000 are allowed"
    ]
