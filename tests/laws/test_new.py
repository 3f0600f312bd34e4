"""`fairwave new`: its files work immediately, and nothing is overwritten."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fairwave.cli import main
from fairwave.laws.skeletons import KINDS, SkeletonError, begin
from fairwave.measuring import measures

HERE = Path(__file__).resolve().parents[2]


@pytest.fixture
def remove_custom_measures():
    """Removes custom measures, because they appear everywhere and other tests must not see them."""
    yield
    for name in list(measures.OWN):
        del measures.OWN[name], measures.STANDARD[name]


def test_every_python_skeleton_passes_its_test_and_runs(
    tmp_path, monkeypatch, capsys, remove_custom_measures
):
    for kind in KINDS:
        module = f"my_{kind.replace('-', '_')}"
        written, commands = begin(kind, f"my-{kind}", tmp_path)
        assert [one.name for one in written] == [f"{module}.py", f"test_{module}.py", f"{module}.toml"]
        assert commands[1] == f"fairwave run {tmp_path / module}.toml --laws {tmp_path / module}.py"
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", "."],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.environ.get("PYTHONPATH", str(HERE / "python"))},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert tested.returncode == 0, tested.stdout + tested.stderr
    for kind in KINDS:
        stem = tmp_path / f"my_{kind.replace('-', '_')}"
        words = [
            "run",
            f"{stem}.toml",
            "--laws",
            f"{stem}.py",
            "--set",
            "duration=3 s",
            "--set",
            "warmup=0 s",
            "--json",
        ]
        monkeypatch.setattr(sys, "argv", ["fairwave", *words])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        assert not end.value.code, printed.err
        assert f"my-{kind}" in printed.out


def test_what_is_there_is_left_as_it_is(tmp_path):
    (tmp_path / "test_my_own.py").write_text("mine")
    with pytest.raises(SkeletonError, match=r"test_my_own\.py exists, and is left as it is"):
        begin("controller", "my-own", tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["test_my_own.py"]


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("controler", "mine", "no kind 'controler' of law; there are controller"),
        ("controller", "My", "is no name"),
        ("controller", "../mine", "is no name"),
        ("controller", "reno", "there is a controller named `reno` already"),
        ("discipline", "codel", "there is a queue discipline named `codel` already"),
        ("measure", "mos", "there is a measure named `mos` already"),
        ("measure", "late-for-playout", "named `late-for-playout` already"),
        ("source", "class", "take another name, as my-class"),
        ("source", "fairwave", "take another name"),
    ],
)
def test_what_cannot_be_begun_is_told_with_what_to_write(kind, name, said, tmp_path):
    with pytest.raises(SkeletonError) as refused:
        begin(kind, name, tmp_path)
    assert said in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_the_command_prints_files_and_what_to_type_next(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["fairwave", "new", "loss", "burst-loss", "--in", str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        main()
    printed = capsys.readouterr().out
    assert not end.value.code
    assert f"wrote {tmp_path / 'burst_loss.py'}" in printed
    assert f"pytest {tmp_path / 'test_burst_loss.py'}" in printed
    monkeypatch.setattr(sys, "argv", ["fairwave", "new", "loss", "burst-loss", "--in", str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert "is left as it is" in capsys.readouterr().err


def test_a_rust_program_refers_to_the_sources(tmp_path):
    written, commands = begin("controller", "my-own", tmp_path, rust=True, checkout=HERE)
    assert {str(one.relative_to(tmp_path / "my-own")) for one in written} == {
        "Cargo.toml", "Cargo.lock", "src/main.rs", "src/law.rs", "my_own.toml",
    }  # fmt: skip
    assert f'path = "{HERE}/crates/fairwave-core"' in (tmp_path / "my-own/Cargo.toml").read_text()
    assert "tcp::control::register::<law::MyOwnConfig>()" in (tmp_path / "my-own/src/main.rs").read_text()
    for file in written:
        assert "@" not in file.read_text() or file.name == "Cargo.lock"
    assert commands[1:] == ["cargo test", "cargo run --release -- my_own.toml"]


def test_a_rust_program_needs_sources_and_no_measure(tmp_path):
    with pytest.raises(SkeletonError, match="has no crates/fairwave-core: give --fairwave FOLDER"):
        begin("controller", "my-own", tmp_path, rust=True, checkout=tmp_path)
    with pytest.raises(SkeletonError, match="leave --rust out"):
        begin("measure", "my-own", tmp_path, rust=True, checkout=HERE)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not there")
def test_a_rust_program_compiles(tmp_path):
    begin("controller", "my-own", tmp_path, rust=True, checkout=HERE)
    environment = {"CARGO_TARGET_DIR": str(HERE / "target"), **os.environ}
    checked = subprocess.run(
        ["cargo", "check", "--offline", "--tests", "--quiet"],
        cwd=tmp_path / "my-own", env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stderr
    assert "warning" not in checked.stderr
