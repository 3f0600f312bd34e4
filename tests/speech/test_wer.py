"""Paper 004, Eq. 3 and 4: counting errors of recognition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairwave_speech.wer import Alignment, align

WORDS = st.lists(st.sampled_from("abc"), max_size=7)


@pytest.mark.parametrize(
    ("spoken", "recognised", "errors"),
    [
        ("one two three", "one two three", (0, 0, 0)),
        ("one two three", "one four three", (1, 0, 0)),
        ("one two three", "one three", (0, 1, 0)),
        ("one two three", "one two two three", (0, 0, 1)),
        ("one two three", "", (0, 3, 0)),
        ("", "one", (0, 0, 1)),
        # Shifted by one: two errors, not three substitutions.
        ("one two three", "two three four", (0, 1, 1)),
        ("nine nine one", "nine one one five", (1, 0, 1)),
    ],
)
def test_sentences_are_aligned_with_the_fewest_errors(spoken: str, recognised: str, errors: tuple) -> None:
    found = align(spoken.split(), recognised.split())
    assert (found.substitutions, found.deletions, found.insertions) == errors


def distance(first: tuple, second: tuple) -> int:
    """Edit distance by its definition, slowly."""
    if not first or not second:
        return len(first) + len(second)
    return min(
        distance(first[1:], second[1:]) + (first[0] != second[0]),
        distance(first[1:], second) + 1,
        distance(first, second[1:]) + 1,
    )


@given(WORDS, WORDS)
def test_errors_are_the_edit_distance_and_lengths_add_up(spoken: list, recognised: list) -> None:
    found = align(spoken, recognised)
    assert found.substitutions + found.deletions + found.insertions == distance(
        tuple(spoken), tuple(recognised)
    )
    assert len(recognised) == len(spoken) - found.deletions + found.insertions


def test_accuracy_is_eq_3_and_4() -> None:
    total = Alignment(words=200, substitutions=10, deletions=6, insertions=4, sentences=50, correct=40)
    assert total.word_error_rate == pytest.approx(10.0)
    assert total.word_accuracy == pytest.approx(90.0)
    assert total.sentence_accuracy == pytest.approx(80.0)


def test_insertions_can_push_accuracy_below_zero() -> None:
    assert align(["one"], ["two", "three", "four"]).word_accuracy == pytest.approx(-200.0)


def test_a_deletion_spoils_a_sentence_only_in_the_strict_reading() -> None:
    total = align(["one", "two"], ["one"]) + align(["one"], ["one"]) + align(["one"], ["two"])
    assert total.sentence_accuracy_as_printed == pytest.approx(200 / 3)
    assert total.sentence_accuracy == pytest.approx(100 / 3)
    assert total.words == 4


def test_of_no_words_there_is_no_rate() -> None:
    assert Alignment().word_error_rate != Alignment().word_error_rate
