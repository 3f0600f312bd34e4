"""The page's table is measured, not typed."""

import numpy as np
import pytest
from speech_material import phrases

from fairwave_speech import Recording, SpeechError, script
from fairwave_speech.measure import BEGIN, END, fill, lossy_call, markdown


def test_the_table_replaces_what_stands_between_the_markers() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert fill(page, "new") == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
    assert fill(fill(page, "new"), "new") == fill(page, "new")


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(SpeechError, match="no lines"):
        fill("nothing", "new")


def test_rows_become_a_table_with_a_note() -> None:
    assert markdown([{"a": "1", "b": "2"}, {"note": "n"}]).splitlines() == [
        "| a | b |",
        "| --- | --- |",
        "| 1 | 2 |",
        "",
        "n",
    ]


def test_the_same_units_are_lost_with_and_without_concealment() -> None:
    said = script(Recording(phrases(4.0)), talk="all")
    silent, concealed = (lossy_call(said, 0.1, method, 3) for method in ("silence", "appendix-i"))
    assert np.array_equal(silent.fate, concealed.fate)
    assert 0.05 < silent.loss < 0.16
    assert silent.counts["late"] == 0
