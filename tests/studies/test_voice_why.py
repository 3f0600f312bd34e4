"""Explanations of the voice study's claims: experiments switch the named mechanism, and their words contain numbers."""

import itertools
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from fairwave.measuring.measured import Measured
from fairwave_studies.voice import quantities as q
from fairwave_studies.voice import study
from fairwave_studies.voice.experiments import EXPERIMENTS, _fall, _repeated_share, _widening, sample
from fairwave_studies.voice.explanations import SAME
from fairwave_studies.voice.points import TRANSPORTS
from fairwave_study.claims import Comparison, Evidence
from fairwave_study.experiments import FRESH, FoundExperiment
from fairwave_study.parts import Data

WAYS = study().readings
BY_CLAIM = {one.claim: one for one in EXPERIMENTS}


def test_the_hard_claims_have_an_experiment_each():
    assert list(BY_CLAIM) == sorted(BY_CLAIM, key=lambda claim: int(claim[1:]))
    assert {"V2", "V4", "V5", "V9", "V11", "V14", "V16", "V26", "V35", "V37"} <= set(BY_CLAIM)
    assert [one.id for one in study().experiments] == [one.id for one in EXPERIMENTS]


def test_every_claim_has_an_experiment_or_points_at_one():
    assert {one.id for one in study().claims} == set(BY_CLAIM) | set(SAME)


def test_claims_of_the_same_mechanism_point_at_an_experiment_that_there_is():
    assert set(SAME.values()) <= set(BY_CLAIM)
    assert not set(SAME) & set(BY_CLAIM)
    assert set(SAME) <= {one.id for one in study().claims}


def test_either_paper_has_an_account_with_a_setup_that_is_a_reading():
    assert [one.paper for one in study().accounts] == ["000", "001"]
    kinds = {factor.kind for factor in WAYS.factors}
    for one in study().accounts:
        assert WAYS.differs(WAYS.complete(one.setup)) == {"first-bottleneck": "1.2 Mb/s"}
        assert set(one.words) <= kinds


def simulated(side):
    """The calls' transports at one point of a side, as plain data."""
    (grid,) = WAYS.essential(WAYS.complete(side.reading)).grids
    changed = WAYS.changed(grid, side.changes) if side.changes else grid
    wanted = {"ftp": 20, "payload": "160 B", "per": 0.01, "flows": 80}
    found = {}
    for point in changed.points():
        if all(point.labels[axis] == label for axis, label in wanted.items()):
            calls = next(one for one in point.scenario.to_dict()["flow"] if one["name"] == "voice")
            found[point.labels["transport"]] = calls["transport"]
    return found


def hashes(side):
    """Digests of a side's scenarios."""
    (grid,) = WAYS.essential(WAYS.complete(side.reading)).grids
    changed = WAYS.changed(grid, side.changes) if side.changes else grid
    return " ".join(point.scenario.hash for point in changed.points())


@pytest.mark.parametrize("one", EXPERIMENTS, ids=lambda one: one.id)
def test_sides_differ_and_those_with_a_change_of_their_own_differ_by_it(one):
    left = [hashes(side) + str(sorted(side.reading.items())) for side in one.sides]
    assert len(set(left)) == len(left)
    for side in one.sides:
        WAYS.complete(side.reading)


def test_what_is_put_in_a_transports_place_has_its_keys():
    assert simulated(BY_CLAIM["V2"].sides[2])["tcp/westwood"]["name"] == "tcp/reno"
    assert simulated(BY_CLAIM["V2"].sides[2])["tcp/real"]["name"] == "tcp/real"
    assert simulated(BY_CLAIM["V16"].sides[2])["tcp/westwood"]["name"] == "tcp/reno"
    other = simulated(BY_CLAIM["V4"].sides[2])["tcp/real"]
    assert other["name"] == "tcp/newreno"
    assert not {"hold", "cut", "jitter"} & set(other)
    vegas = [simulated(side)["tcp/vegas"].get("header") for side in BY_CLAIM["V9"].sides]
    assert vegas == [None, None, None, "40 B"]
    udp = [simulated(side)["udp"].get("header") for side in BY_CLAIM["V9"].sides]
    assert udp == ["0 B", "0 B", "40 B", "40 B"]


class AnyData:
    """Data in which every measure is 1, except goodputs of transfers next to UDP, which are a half."""

    def measured(self, measure, grid):
        axes = {
            "ftp": (10, 20), "payload": ("160 B", "500 B"), "per": (0.0, 0.01, 0.05), "flows": (40, 80, 120),
            "transport": tuple(TRANSPORTS["transport"]), "seed": FRESH,
        }  # fmt: skip
        rows = []
        for labels in itertools.product(*axes.values()):
            point = dict(zip(axes, labels, strict=True))
            value = 1.0 - 0.5 * (point["transport"] == "udp") * (point["flows"] / 120) - point["per"]
            rows.append({**point, "value": value})
        return Measured(measure, tuple(axes)[:-1], pl.DataFrame(rows))


def test_quantities_say_what_their_names_do():
    data = AnyData()
    assert sample(q.GOODPUT, "udp", 120, 10)(data) == pytest.approx(np.full(5, 0.49))
    fall = _fall(q.GOODPUT, "tcp/real", 80)(data)
    assert fall == pytest.approx(np.full(5, 5.0))
    # 0.99 Mb/s of speech of 160 bytes are 1.2375 Mb/s of segments; R1 in this data is used to 0.99 %.
    assert _repeated_share(160)(data) == pytest.approx(np.full(5, (1 - 0.99 * 1.25 / (0.0099 * 2)) * 100))
    # Next to UDP, transfers keep 1 − 0.5 · calls / 120 of their goodput next to a TCP.
    assert _widening(data) == pytest.approx(np.full(5, 0.5 * (120 - 40) / 120))


@pytest.mark.parametrize("one", study().experiments, ids=lambda one: one.id)
def test_words_hold_numbers_of_the_experiment_and_no_others(one):
    """With other numbers, the paragraph contains those; only prose and the settings of the sides stay."""

    def made(level):
        samples = np.full(len(FRESH), level) + np.linspace(-0.01, 0.01, len(FRESH))
        labels = KNOWN.get(one.claim, ())
        evidence = Evidence([Comparison(label, samples) for label in labels] or [Comparison("any", samples)])
        quantities = {name: Comparison(name, samples) for name in one.quantities}
        sides = [side.label for side in one.sides]
        return FoundExperiment(one, dict.fromkeys(sides, evidence), dict.fromkeys(sides, quantities))

    low, high = made(3.25).paragraph(), made(-7.5).paragraph()
    assert "3.2" in low or "3.3" in low
    assert "-7.5" in high
    assert "3.2" not in high
    assert "reproduced" in low
    assert "not reproduced" in high
    without = re.sub(r"-?\d+(?:\.\d+)? \[[^]]*\]", "", low)
    assert without.replace("reproduced", "") == re.sub(r"-?\d+(?:\.\d+)? \[[^]]*\]", "", high).replace(
        "not reproduced", ""
    ).replace("reproduced", "")


KNOWN = {
    "V35": ("satisfied at 200 ms: flows 80, transport tcp/vegas",),
    "V5": ("calls alone (000): flows 120", "beside 10 transfers (001): flows 80 − 2 × flows 40"),
    "V9": ("Vegas does not: gain of tcp/vegas", "UDP gains: gain of udp"),
    "V11": (
        "Real mostly leaves most: beside 20 transfers: tcp/real − tcp/vegas, mean over calls",
        "Real mostly leaves most: beside 60 transfers: tcp/real − tcp/westwood, mean over calls",
    ),
    "V14": (
        "the index: |slope| of udp − tcp/westwood along per at flows 120",
        "goodput: |slope| of udp − tcp/real along per at flows 120",
    ),
    "V16": ("gain of tcp/westwood − tcp/real",),
}
"""Comparisons in the words."""


def test_the_comparisons_that_the_words_name_exist():
    (grid,) = WAYS.essential(WAYS.base()).grids
    short = replace(grid, base=grid.base.with_overrides({"duration": "1500 ms"}))
    data = Data({grid.id: short.run((1, 2), threads=2)})
    found = {one.id: one.evidence(data) for one in WAYS.essential(WAYS.base()).claims if one.id in KNOWN}
    for claim, labels in KNOWN.items():
        assert set(labels) <= {one.label for one in found[claim].comparisons}
