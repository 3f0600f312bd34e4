"""Preparations that several test processes need run once."""

import pytest

from once import once


def test_what_is_made_is_made_once(tmp_path_factory):
    made = []
    first = once(tmp_path_factory, "made-once", made.append)
    assert first.is_dir()
    assert once(tmp_path_factory, "made-once", made.append) == first
    assert made == [first]


def test_what_failed_is_made_anew_in_an_empty_folder(tmp_path_factory):
    def fails(folder):
        (folder / "left").touch()
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        once(tmp_path_factory, "made-anew", fails)
    folder = once(tmp_path_factory, "made-anew", lambda folder: (folder / "whole").touch())
    assert [one.name for one in folder.iterdir()] == ["whole"]


def test_all_processes_of_a_run_share_one_folder(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    shared = tmp_path_factory.mktemp("shared")
    monkeypatch.setattr(tmp_path_factory, "getbasetemp", lambda: shared / "popen-gw0")
    assert once(tmp_path_factory, "made", lambda folder: None) == shared / "made"
