"""A results folder cannot redirect files: fairwave follows no link under any name that it writes."""

import shutil
from pathlib import Path

import pytest

CALL = """
name = "call"
duration = "2 s"

[[link]]
from = "a"
to = "b"
rate = "1 Mb/s"
delay = "20 ms"

[[flow]]
name = "call"
from = "a"
to = "b"
transport = "udp"
traffic = "voice"

[record]
bin = "100 ms"
queues = ["a>b"]
"""

COMMANDS = {
    "run": ["run", "{call}", "--out", "{out}"],
    "replications": ["run", "{call}", "-n", "2", "--out", "{out}", "--qlog", "{out}/qlog"],
    "compare": ["compare", "{call}", "--vary", "link.a>b.delay=20 ms,40 ms", "-n", "2", "--out", "{out}"],
    "sweep": ["sweep", "{call}", "--grid", "link.a>b.delay=20 ms,40 ms", "-n", "2", "--out", "{out}"],
    "find": [
        "find", "{call}", "--vary", "flow.call.count=1..3", "--until", "mos.call >= 3", "-n", "2", "--out", "{out}",
    ],
}  # fmt: skip


def plant(source: Path, out: Path, outside: Path) -> tuple[list[Path], list[Path]]:
    """Makes `out` with a link in place of each file of `source`; returns the targets and the subfolders."""
    targets, folders = [], []
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source)
        if path.is_dir():
            (out / name).mkdir(parents=True, exist_ok=True)
            folders.append(name)
            continue
        target = outside / str(name).replace("/", "_")
        target.write_text("mine")
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).symlink_to(target)
        targets.append(target)
    return targets, folders


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_writes_through_links(command, tmp_path, fairwave):
    call = tmp_path / "call.toml"
    call.write_text(CALL)

    def run(out: Path) -> int:
        words = [word.format(call=call, out=out) for word in COMMANDS[command]]
        return fairwave(*words, "--overwrite")[0]

    first = tmp_path / "first"
    assert run(first) == 0
    written = {path.relative_to(first).as_posix() for path in first.rglob("*") if path.is_file()}
    assert {".fairwave", ".cache/runs.sqlite", "index.html", "scenario.toml"} <= written

    # Links in place of files: replaced, or refused.
    out, outside = tmp_path / "planted", tmp_path / "outside"
    outside.mkdir()
    targets, folders = plant(first, out, outside)
    assert run(out) == 2, "the note is a link"
    (out / ".fairwave").unlink()
    assert run(out) == 2, "the database is a link"
    (out / ".cache/runs.sqlite").unlink()
    for end in ("-journal", "-wal", "-shm"):
        target = outside / f"journal{end}"
        target.write_text("mine")
        (out / f".cache/runs.sqlite{end}").symlink_to(target)
        targets.append(target)
        assert run(out) == 2, end
        (out / f".cache/runs.sqlite{end}").unlink()
    for path in sorted(out.rglob("*.qlog")):
        path.unlink()
    assert run(out) == 0
    assert [target.read_text() for target in targets] == ["mine"] * len(targets)
    left = [path for path in out.rglob("*") if path.is_symlink()]
    assert not left

    # A link in place of each folder: refused, nothing written behind it.
    for name in folders:
        elsewhere = tmp_path / "elsewhere"
        shutil.rmtree(out)
        shutil.rmtree(elsewhere, ignore_errors=True)
        elsewhere.mkdir()
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).symlink_to(elsewhere)
        assert run(out) == 2, name
        assert not list(elsewhere.iterdir()), name


@pytest.mark.parametrize(
    "words",
    [
        ["run", "{call}", "--capture", "link:a>b={out}/file.pcapng"],
        ["run", "{call}", "--loss-pattern", "link:a>b={out}/file.txt"],
        ["run", "{call}", "--loss-pattern", "link:a>b={out}/file.csv"],
        ["new", "controller", "file", "--in", "{out}"],
    ],
)
def test_no_named_file_is_written_through_a_link(words, tmp_path, fairwave):
    call = tmp_path / "call.toml"
    call.write_text(CALL)
    out, target = tmp_path / "out", tmp_path / "target"
    out.mkdir()
    target.write_text("mine")
    for name in ("file.pcapng", "file.txt", "file.csv", "file.py", "test_file.py"):
        (out / name).symlink_to(target)
    status, _, errors = fairwave(*(word.format(call=call, out=out) for word in words))
    assert target.read_text() == "mine"
    assert status == 2
    assert "link" in errors or "exists" in errors
