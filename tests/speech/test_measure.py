"""What the page about loss on speech measures."""

import numpy as np
from speech_material import phrases

from fairwave_speech import Recording, script
from validation.measured.speech import lossy_call, markdown


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
