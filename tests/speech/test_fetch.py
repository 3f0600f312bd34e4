"""Location of recordings, and messages if they are unavailable."""

import numpy as np
import pytest
from speech_material import voiced

from fairwave_speech import SpeechError, fetch, write


def test_the_data_folder_is_the_one_that_the_environment_names(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("FAIRWAVE_DATA", str(tmp_path))
    assert fetch.data_dir() == tmp_path


def test_prompts_are_found_in_the_data_folder_with_their_attribution(tmp_path) -> None:
    folder = tmp_path / "recordings" / fetch.SPEECH_PACKAGE / "usr/share/asterisk/sounds/en_US_f_Allison"
    speech = voiced(0.5)
    write(folder / "demo-congrats.wav", speech)
    recording = fetch.Recordings(tmp_path).prompt("demo-congrats")
    assert np.array_equal(recording.samples, speech)
    assert "Allison Smith" in recording.attribution
    assert "CC-BY-SA-3.0" in recording.attribution
    with pytest.raises(SpeechError, match="demo-congrats"):
        fetch.Recordings(tmp_path).prompt("nonsense")


def test_without_tools_the_message_says_how_to_supply_a_recording(monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.setenv("FAIRWAVE_DATA", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fetch.main() == 0
    said = capsys.readouterr().out
    assert "--speech FILE" in said
    assert "no apt-get" in said
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_fails_leaves_nothing_behind(monkeypatch, tmp_path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("apt-get", "dpkg"):
        (tools / tool).write_text("#!/bin/sh\necho 'E: Unable to locate package' >&2\nexit 100\n")
        (tools / tool).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    with pytest.raises(SpeechError, match=r"Unable to locate package.*--speech FILE"):
        fetch.fetch(["nothing"], tmp_path / "data")
    assert list((tmp_path / "data" / "recordings").iterdir()) == []


def test_what_is_there_is_not_fetched_again(monkeypatch, tmp_path) -> None:
    place = tmp_path / "recordings" / "something"
    place.mkdir(parents=True)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fetch.fetch(["something"], tmp_path) == [place]
