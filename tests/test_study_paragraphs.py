"""Paragraphs of experiments: results fill the placeholders of a text, and errors name mistakes."""

import numpy as np
import pytest

from fairwave import layers
from fairwave_study import texts
from fairwave_study.claims import Comparison, Evidence
from fairwave_study.experiments import Experiment, FoundExperiment, Side
from fairwave_study.paragraphs import Paragraph

SIDES = ("base", "Reno, 1.2 Mb/s", "SACK")
LOST = "lost, 5 flows (%)"
STUDIES = ("smoothness", "video", "voice", "dropping")


def found(*means):
    """The result of an experiment with these means of its quantity, one per side."""
    experiment = Experiment("why-X1", "X1", "", tuple(Side(one) for one in SIDES))
    spread = np.array([-0.01, 0.0, 0.01])
    evidence, quantities = {}, {}
    for side, mean in zip(SIDES, means, strict=True):
        samples = mean + spread
        parts = [
            Evidence([Comparison("a − b", sign * samples)]).as_part(name)
            for name, sign in (("more", 1), ("less", -1))
        ]
        evidence[side] = Evidence([one for part in parts for one in part.comparisons])
        quantities[side] = {LOST: Comparison(LOST, samples), "sent": Comparison("sent", 2 * samples)}
    return FoundExperiment(experiment, evidence, quantities)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (f"mean | SACK | {LOST} | 1", "3.0"),
        (f"mean | {LOST} | 2", "1.00 (3.00: SACK)"),
        ("mean | base | more: a − b | 0", "1"),
        (f"interval | Reno, 1.2 Mb/s | {LOST} | 2", "1.00 [0.98, 1.02]"),
        (f"change | SACK | {LOST} | 1", "+2.0 [+2.0, +2.0]"),
        (f"change | {LOST} | 1", "+2.0 [+2.0, +2.0]"),
        (f"difference | SACK | sent | {LOST} | 1", "3.0"),
        (f"each | {LOST} | 0", "1 (base), 1 (Reno, 1.2 Mb/s), 3 (SACK)"),
        ("verdict | SACK", "not reproduced"),
        ("verdict | SACK | more", "reproduced"),
        ("verdicts", f"The claim is {', '.join(f'not reproduced ({one})' for one in SIDES)}."),
        (
            "parts",
            "The claim with each, and its parts: "
            + "; ".join(f"{one}: not reproduced (more reproduced, less not reproduced)" for one in SIDES)
            + ".",
        ),
    ],
)
def test_a_place_is_filled_with_what_was_found(place, words):
    assert Paragraph("here", f"It is {{{place}}}.")(found(1, 1, 3)) == f"It is {words}."


def test_a_mean_names_only_sides_that_differ_as_they_are_shown():
    text = Paragraph("here", f"{{mean | {LOST} | 0}}")
    assert text(found(1, 1.2, 0.9)) == "1"
    assert text(found(1, 1.6, 0.9)) == "1 (2: Reno, 1.2 Mb/s)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{median | base | x | 1}", r"why-X1: there is no place \{median \| base"),
        ("{mean | base | x | y | 1}", "there is no place"),
        ("{mean | base | x}", "there is no place"),
        ("{verdict}", "there is no place"),
        ("{times}", "there is no place"),
    ],
)
def test_what_cannot_be_filled_is_named(text, message):
    with pytest.raises(ValueError, match=message):
        Paragraph("why-X1", text)


def test_a_paragraph_is_read_from_the_file_beside_the_code(tmp_path):
    (tmp_path / "experiments.toml").write_text(
        'why-X1 = """\nLost are\n{mean | base | lost, 5 flows (%) | 0} %."""\n'
    )
    words = texts.paragraphs(tmp_path, ["why-X1"])
    assert words["why-X1"](found(7, 1, 1)) == "Lost are 7 %."
    with pytest.raises(
        ValueError, match=r"experiment 'why-X2' has an `Experiment` in the study's code and no text"
    ):
        texts.paragraphs(tmp_path, ["why-X1", "why-X2"])
    with pytest.raises(ValueError, match=r"why-X1: this experiment has a text and not an `Experiment`"):
        texts.paragraphs(tmp_path, [])


def test_a_side_that_an_experiment_does_not_have_is_found():
    experiment = found(1, 1, 1).experiment
    assert Paragraph("here", f"{{mean | SACK | {LOST} | 1}} {{mean | {LOST} | 1}}").unknown(experiment) == []
    assert Paragraph("here", "{verdict | sack}").unknown(experiment) == ["verdict | sack"]


@pytest.mark.parametrize("name", STUDIES)
def test_every_paragraph_belongs_to_an_experiment_and_names_its_sides(name):
    for one in layers.study(name).experiments:
        assert one.words.place.endswith(one.id)
        assert one.words.unknown(one) == []
