"""A folder belongs to one command, and to one process at a time."""

import subprocess
import sys

import pytest

from fairwave import folders
from fairwave.folders import FolderTakenError, claimed


def test_a_folder_is_claimed_again_for_the_same_work(tmp_path):
    for _ in range(2):
        with claimed(tmp_path / "out", "run", "calls"):
            assert folders.keeps() == tmp_path / "out"


def test_other_work_is_refused_with_what_is_there(tmp_path):
    with claimed(tmp_path, "run", "calls"):
        pass
    with (
        pytest.raises(FolderTakenError, match="holds the run of 'calls'"),
        claimed(tmp_path, "run", "others"),
    ):
        pass
    with pytest.raises(FolderTakenError), claimed(tmp_path, "compare", "calls"):
        pass
    with claimed(tmp_path, "compare", "calls", overwrite=True):
        pass
    with claimed(tmp_path, "compare", "other", scratch=True):
        pass


def test_work_within_work_of_the_same_process_may_write_there(tmp_path):
    with claimed(tmp_path, "study", "voice"), claimed(tmp_path, "study", "voice"):
        pass
    with claimed(tmp_path, "study", "voice"):
        pass


def test_a_page_of_somebody_else_stays(tmp_path):
    page = tmp_path / "index.html"
    page.write_text("<html>mine</html>")
    for scratch in (False, True):
        with (
            pytest.raises(FolderTakenError, match="not written by fairwave"),
            claimed(tmp_path, "run", "calls", scratch=scratch),
        ):
            pass
    assert page.read_text() == "<html>mine</html>"
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def test_two_processes_do_not_write_into_one_folder(tmp_path):
    script = (
        "import sys; from fairwave.folders import claimed\n"
        f"with claimed({str(tmp_path)!r}, 'run', 'calls'): print('in', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "in\n"
        with (
            pytest.raises(FolderTakenError, match="another process is writing"),
            claimed(tmp_path, "run", "calls"),
        ):
            pass
        other.communicate("")
        with claimed(tmp_path, "run", "calls"):
            pass
    finally:
        other.kill()
        other.wait()


def test_a_study_holds_its_folder(tmp_path):
    from fairwave_study import Study

    with claimed(tmp_path, "run", "calls"):
        pass
    with pytest.raises(FolderTakenError, match="holds the run of 'calls'; give another folder, or remove it"):
        Study(name="small", title="", question="", grids=[]).run(tmp_path, 1)


def test_a_page_is_known_however_long_the_policy_before_its_mark_is(tmp_path):
    page = tmp_path / "index.html"
    page.write_text(
        f'<head>\n<meta content="{"x" * 9000}">\n<meta name="generator" content="fairwave 0.1.0">\n</head>'
    )
    with claimed(tmp_path, "study", "small"):
        pass


def test_a_mark_in_the_body_of_a_page_is_none(tmp_path):
    page = tmp_path / "index.html"
    page.write_text('<head>\n</head>\n<body>\n<meta name="generator" content="fairwave 0.1.0">\n</body>')
    with (
        pytest.raises(FolderTakenError, match="give another folder, or remove it"),
        claimed(tmp_path, "study", "small"),
    ):
        pass


def test_a_finished_study_goes_on_in_its_own_folder(tmp_path):
    from fairwave_study import Study

    for title in ("first", "second"):
        Study(name="small", title=title, question="", grids=[]).run(tmp_path, 1)
        page = (tmp_path / "index.html").read_text()
        assert f"<title>{title}" in page
        # As long as with the styles of many figures.
        (tmp_path / "index.html").write_text(
            page.replace("'unsafe-hashes'", f"'unsafe-hashes' {'x' * 9000}", 1)
        )


def test_what_a_killed_command_left_incomplete_is_removed(tmp_path):
    from fairwave.folders import claimed

    with claimed(tmp_path / "out", "run", "x") as out:
        (out / ".partial-a" / "deep").mkdir(parents=True)
        (out / ".cache").mkdir()
        (out / ".cache" / ".partial-b.sqlite").write_bytes(b"half")
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "mine").write_bytes(b"kept")
        (out / ".partial-c").symlink_to(tmp_path / "elsewhere")
        (out / "mine.csv").write_bytes(b"kept")
    with claimed(tmp_path / "out", "run", "x"):
        assert sorted(path.name for path in out.rglob("*")) == [".cache", ".fairwave", "mine.csv"]
    assert (tmp_path / "elsewhere" / "mine").read_bytes() == b"kept"
