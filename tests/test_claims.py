"""Verdicts: confirmation, contradiction, and undecided cases."""

import math
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairwave.measuring.measured import Measured
from fairwave.measuring.measures import Measure
from fairwave_study import comparisons
from fairwave_study.claims import Claim, Comparison, Evidence, Part, Verdict

SOME = Measure("some", "some", "kb/s", lambda results: results.to_polars("runs"))  # never reduced here


def tabulate(points, axes):
    """A measure from {labels: samples by seed}."""
    rows = [
        {**dict(zip(axes, labels, strict=True)), "seed": seed, "value": float(value)}
        for labels, samples in points.items()
        for seed, value in enumerate(samples, 1)
    ]
    return Measured(SOME, tuple(axes), pl.DataFrame(rows))


def draw(mean, n=10):
    """Samples around a mean, with a standard deviation near 1."""
    return mean + np.array([-1.2, 0.4, 1.1, -0.3, 0.8, -0.9, 0.1, 1.3, -1.4, 0.1])[:n]


def test_a_conjunction_holds_when_every_comparison_does():
    assert Evidence([Comparison("a", draw(5)), Comparison("b", draw(2))]).verdict() is Verdict.REPRODUCED


def test_one_clear_violation_breaks_a_conjunction():
    evidence = Evidence([Comparison("a", draw(5)), Comparison("b", draw(-5))])
    assert evidence.verdict() is Verdict.NOT_REPRODUCED
    assert evidence.decisive().label == "b"


def test_an_interval_that_straddles_the_line_leaves_the_claim_open():
    assert Evidence([Comparison("a", draw(5)), Comparison("b", draw(0.1))]).verdict() is Verdict.UNDECIDED


def test_among_many_comparisons_a_slight_stray_does_not_contradict():
    stray = draw(-0.9)  # beyond the line at 95 %, not at the level widened for 20 comparisons
    assert Comparison("alone", stray).contradicts()
    assert Evidence([Comparison("alone", stray)]).verdict() is Verdict.NOT_REPRODUCED
    many = [Comparison("good", draw(5))] * 19
    assert Evidence([*many, Comparison("stray", stray)]).verdict() is Verdict.UNDECIDED


def test_an_existence_claim_needs_one_comparison_only():
    good, bad = Comparison("good", draw(5)), Comparison("bad", draw(-5))
    assert Evidence([bad, good], "any").verdict() is Verdict.REPRODUCED
    assert Evidence([bad, bad], "any").verdict() is Verdict.NOT_REPRODUCED


def test_nothing_to_compare_decides_nothing():
    assert Evidence([]).verdict() is Verdict.UNDECIDED


def test_a_single_replication_decides_nothing():
    assert Evidence([Comparison("a", np.array([100.0]))]).verdict() is Verdict.UNDECIDED


def test_numbers_that_do_not_exist_decide_nothing():
    assert Evidence([Comparison("a", np.array([math.nan] * 10))]).verdict() is Verdict.UNDECIDED


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=12), st.floats(0, 20))
def test_more_room_never_turns_a_verdict_against_the_claim(samples, shift):
    order = [Verdict.NOT_REPRODUCED, Verdict.UNDECIDED, Verdict.REPRODUCED]
    before = Evidence([Comparison("a", np.array(samples))]).verdict()
    after = Evidence([Comparison("a", np.array(samples) + shift)]).verdict()
    assert order.index(after) >= order.index(before)


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=12), st.floats(0, 5))
def test_a_difference_that_must_count_is_never_easier_to_show(samples, relevant):
    plain = Evidence([Comparison("a", np.array(samples))]).verdict()
    strict = Evidence([Comparison("a", np.array(samples), relevant=relevant)]).verdict()
    assert strict in {plain, Verdict.ALIKE, Verdict.UNDECIDED}


@pytest.mark.parametrize(
    ("mean", "verdict"),
    [
        (0.3, "reproduced"),
        (0.025, "alike"),
        (2e-5, "alike"),
        (-0.025, "alike"),
        (0.09, "undecided"),
        (-0.3, "not reproduced"),
    ],
)
def test_a_claim_of_a_difference_holds_from_the_smallest_that_counts(mean, verdict):
    noise = 0.05 * np.array([-1, 1, -1, 1, 0, 0, -1, 1, 1, -1])
    evidence = Evidence([Comparison("a", mean + noise, relevant=0.1)])
    assert str(evidence.verdict()) == verdict
    assert ("alike in 1" in evidence.describe()) == (verdict == "alike")
    assert ("perhaps by less than counts in 1" in evidence.describe()) == (verdict == "undecided")


def test_a_claim_that_is_better_here_and_alike_there_is_alike():
    better, same = Comparison("a", draw(5), relevant=2.0), Comparison("b", 0.1 * draw(0), relevant=2.0)
    worse, wide = Comparison("c", draw(-9), relevant=2.0), Comparison("d", 9 * draw(0), relevant=2.0)
    assert Evidence([better, same]).verdict() is Verdict.ALIKE
    assert Evidence([better, same]).decisive() is same
    assert Evidence([better, same, wide]).verdict() is Verdict.UNDECIDED
    assert Evidence([better, same, worse]).verdict() is Verdict.NOT_REPRODUCED
    assert Evidence([better, same, wide], "any").verdict() is Verdict.REPRODUCED
    assert Evidence([same, worse], "any").verdict() is Verdict.ALIKE
    assert Evidence([same, wide], "any").decisive() is wide


def test_a_claim_of_equality_holds_where_values_are_alike():
    measured = tabulate({("udp",): draw(100), ("vegas",): draw(101), ("real",): draw(90)}, ["transport"])
    assert comparisons.is_at_least(measured, "udp", ["vegas"]).verdict() is Verdict.REPRODUCED
    assert comparisons.is_at_least(measured, "real", ["vegas"]).verdict() is Verdict.NOT_REPRODUCED
    assert (
        comparisons.is_at_least(measured, "udp", ["vegas"], margin=0.001).verdict() is Verdict.NOT_REPRODUCED
    )


def test_a_slope_must_add_up_to_a_difference_that_counts():
    slight = tabulate({(x,): draw(100 + 0.001 * x) for x in (1, 2, 4)}, ["flows"])
    assert comparisons.rises(slight, "flows").verdict() is Verdict.ALIKE


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=12))
def test_below_is_above_upside_down(samples):
    above = Evidence([Comparison("a", np.array(samples), 1.0)]).verdict()
    below = Evidence([Comparison("a", -np.array(samples), -1.0, "below")]).verdict()
    assert above is below


def test_at_least_counts_the_margin_as_equal_and_higher_does_not():
    same = tabulate({("udp",): draw(100), ("vegas",): draw(100)}, ["transport"])
    assert comparisons.is_at_least(same, "udp").verdict() is Verdict.REPRODUCED
    assert comparisons.highest(same, "udp").verdict() is Verdict.ALIKE


def test_highest_compares_with_every_rival_at_every_point():
    axes = ["transport", "flows"]
    measured = tabulate(
        {(t, n): draw(mean) for n in (10, 20) for t, mean in (("udp", 9), ("vegas", 5), ("real", 1))}, axes
    )
    evidence = comparisons.highest(measured, "udp")
    assert evidence.verdict() is Verdict.REPRODUCED
    assert {one.label for one in evidence.comparisons} == {
        "udp − vegas at flows 10", "udp − vegas at flows 20", "udp − real at flows 10", "udp − real at flows 20",
    }  # fmt: skip
    assert comparisons.lowest(measured, "udp").verdict() is Verdict.NOT_REPRODUCED


def test_slopes_are_fitted_seed_by_seed():
    measured = tabulate({(x,): 3.0 * x + np.array([100.0, -50.0, 7.0]) for x in (1, 2, 4)}, ["flows"])
    (slope,) = comparisons.rises(measured, "flows").comparisons
    assert slope.samples == pytest.approx([3.0, 3.0, 3.0])
    assert comparisons.rises(measured, "flows").verdict() is Verdict.REPRODUCED
    assert comparisons.rises(measured, "flows", least=4.0).verdict() is Verdict.NOT_REPRODUCED
    assert comparisons.falls(measured, "flows").verdict() is Verdict.NOT_REPRODUCED


def test_less_steep_compares_sizes_of_slopes():
    points = {(t, x): draw(100 + slope * x) for t, slope in (("vegas", -1), ("real", -30)) for x in (0, 1, 2)}
    measured = tabulate(points, ["transport", "per"])
    assert comparisons.less_steep(measured, "vegas", along="per").verdict() is Verdict.REPRODUCED
    assert comparisons.less_steep(measured, "real", along="per").verdict() is Verdict.NOT_REPRODUCED


def test_growth_by_a_factor():
    measured = tabulate({(x,): draw(y) for x, y in ((10, 20), (80, 70))}, ["flows"])
    assert comparisons.grows_from(measured, "flows", 10, 80, factor=2).verdict() is Verdict.REPRODUCED
    assert comparisons.grows_from(measured, "flows", 10, 80, factor=5).verdict() is Verdict.NOT_REPRODUCED


def test_a_difference_from_a_share_of_the_other():
    measured = tabulate({("dvrc", 10): draw(40), ("rtcp", 10): draw(50)}, ["carrier", "flows"])
    judge = partial(comparisons.differs, measured, "carrier", "dvrc", "rtcp")
    assert judge().verdict() is Verdict.NOT_REPRODUCED
    assert judge(below=True).verdict() is Verdict.REPRODUCED
    assert judge(-5.0).verdict() is Verdict.NOT_REPRODUCED
    assert judge(-15.0).verdict() is Verdict.REPRODUCED
    assert judge(factor=0.5).verdict() is Verdict.REPRODUCED
    assert [one.label for one in judge(factor=0.5).comparisons] == ["dvrc − 0.5 × rtcp at flows 10"]
    assert [
        one.label
        for one in comparisons.differs(measured.drop_axes("flows"), "carrier", "dvrc", "rtcp").comparisons
    ] == ["dvrc − rtcp"]


def test_lines_and_bands():
    measured = tabulate({("a",): draw(40), ("b",): draw(50)}, ["x"])
    assert comparisons.is_above(measured, 30).verdict() is Verdict.REPRODUCED
    assert comparisons.is_below(measured, 45).verdict() is Verdict.NOT_REPRODUCED
    assert comparisons.is_within(measured, 30, 60).verdict() is Verdict.REPRODUCED


def test_samples_of_several_points_are_refused_by_name():
    measured = tabulate({("a", 1): draw(1), ("a", 2): draw(2)}, ["transport", "flows"])
    with pytest.raises(ValueError, match="still open: flows"):
        measured.samples(transport="a")


def test_an_unknown_label_or_axis_is_named():
    measured = tabulate({("a",): draw(1)}, ["transport"])
    with pytest.raises(ValueError, match="has no 'b'"):
        measured.select(transport="b")
    with pytest.raises(KeyError, match="no axis 'flow'"):
        measured.select(flow=1)


def test_summary_averages_what_is_left_out_within_each_seed():
    measured = tabulate({("a", 1): [1, 2, 3], ("a", 2): [3, 4, 5]}, ["transport", "flows"])
    row = measured.summary(["transport"]).to_dicts()[0]
    assert (row["mean"], row["n"]) == (3.0, 3)


def test_a_judged_claim_tells_how_its_comparisons_came_out():
    claim = Claim(
        "X1", "Above the line everywhere.", "paper, Figure 1", ("main",),
        lambda _: Evidence([Comparison("at 10", draw(5), unit="%"), Comparison("at 20", draw(-5), unit="%")]),
        notes={Verdict.NOT_REPRODUCED: "The paper has larger buffers."},
    )  # fmt: skip
    entry = claim.judge(None).to_dict()
    assert entry["verdict"] == "not reproduced"
    assert entry["estimate"] == pytest.approx(-5, abs=0.01)
    assert entry["interval"][0] < -5 < entry["interval"][1]
    assert "Holds in 1 of 2" in entry["explanation"]
    assert "at 20: -5" in entry["explanation"]
    assert entry["explanation"].endswith("The paper has larger buffers.")
    assert [one["holds"] for one in entry["comparisons"]] == [True, False]


def test_what_contradicts_is_shown_and_not_a_wide_comparison_that_is_merely_open():
    # A firm contradiction with a narrow interval, and one that straddles the line with its mean far on the other side.
    firm, wide = Comparison("firm", -5 + 0.01 * draw(0)), Comparison("wide", -4 + 8 * draw(0))
    evidence = Evidence([wide, firm])
    assert evidence.verdict() is Verdict.NOT_REPRODUCED
    assert evidence.decisive().label == "firm"
    assert firm.room() < wide.room() < 0
    assert Evidence([Comparison("good", draw(5)), wide]).decisive().label == "wide"
    assert Evidence([firm, wide], "any").decisive().label == "wide"


def test_the_interval_that_decides_is_shown_with_its_level_and_the_line():
    near = Comparison("near", -0.8 + draw(0), unit="ms")
    far = Comparison("far", 5 + draw(0), unit="ms")
    contradicted = Evidence([far, far, far, Comparison("off", -5 + draw(0), unit="ms")])
    level = contradicted.widened
    assert level == 0.9875
    low, high = (f"{end:.3g}" for end in contradicted.decisive().interval(level).ends)
    told = f"off: -5 [{low}, {high}] ms, to be above 0 ms; 98.75 % interval, widened for 4 comparisons"
    assert contradicted.decided_by() == told
    # The 95 % interval is below the line; the wider one, which decides, is not.
    open_ = Evidence([far, far, far, near])
    assert open_.verdict() is Verdict.UNDECIDED
    assert near.interval().high < 0 < near.interval(level).high
    assert "98.75 % interval" in open_.decided_by()
    # A comparison of a conjunction holds by its 95 % interval.
    assert Evidence([far, far]).decided_by().endswith("] ms, to be above 0 ms")
    # The interval of one comparison that decides for all is widened.
    assert "97.5 % interval" in Evidence([far, near], "any").decided_by()
    same = Evidence([Comparison("same", np.full(5, 4.0), line=10.5, side="below")])
    assert same.decided_by() == "same: 4 (same in all 5), to be below 10.5"
    assert Evidence([]).decided_by() == "–"


def test_the_ledger_has_the_interval_that_decides():
    tests = [Comparison("a", draw(5)), Comparison("b", draw(-5)), Comparison("c", draw(5))]
    claim = Claim("V9", "It is so.", "here", (), lambda _: Evidence(tests))
    entry = claim.judge(None).to_dict()
    assert entry["deciding_level"] == pytest.approx(1 - 0.05 / 3)
    assert entry["deciding_interval"][0] < entry["interval"][0]
    assert entry["deciding_interval"] == pytest.approx(tests[1].interval(1 - 0.05 / 3).ends)


@given(
    st.lists(st.floats(-10, 10), min_size=2, max_size=12),
    st.floats(-20, 20),
    st.sampled_from([0.0, 0.5, 5.0]),
)
def test_what_is_shown_has_the_verdicts_standing(samples, shift, relevant):
    evidence = Evidence(
        [
            Comparison("a", np.array(samples), relevant=relevant),
            Comparison("b", np.array(samples) * 0.1 + shift, relevant=relevant),
        ]
    )
    standing, _ = evidence.standing(evidence.decisive())
    ranks = {"not reproduced": -1, "undecided": 0, "alike": 1, "reproduced": 2}
    assert standing == ranks[str(evidence.verdict())]


def test_room_grows_with_the_mean_and_knows_nothing_where_nothing_is_known():
    rooms = [Comparison("a", draw(mean)).room() for mean in (-50, -5, -0.1, 0.1, 5, 50)]
    assert rooms == sorted(rooms)
    assert Comparison("one seed", np.array([3.0])).room() == 0
    assert Comparison("equal", np.array([3.0, 3.0]), 1.0, "below").room() == -math.inf
    assert Comparison("on the line", np.array([3.0, 3.0]), 3.0).room() == 0


def test_a_seed_without_a_number_leaves_a_comparison_open():
    sure = np.append(draw(50), math.nan)
    one = Comparison("sure", sure, unit="%")
    assert Evidence([one]).verdict() is Verdict.UNDECIDED
    assert Evidence([Comparison("contrary", -sure)]).verdict() is Verdict.UNDECIDED
    assert Evidence([Comparison("moderated", sure, spread=(0.1, 40.0))]).verdict() is Verdict.UNDECIDED
    assert not one.points()
    assert str(one) == "sure: not defined under 1 of 11 seeds (mean of the others: 50 %)"
    assert str(Comparison("none", np.array([math.nan] * 2))) == "none: not defined under 2 of 2 seeds"
    # One that contradicts still decides for all.
    assert Evidence([one, Comparison("bad", draw(-5))]).verdict() is Verdict.NOT_REPRODUCED


def test_means_point_the_claimed_way_or_do_not():
    assert Comparison("a", draw(0.1)).points()
    assert not Comparison("a", draw(0.1), 0.0, "below").points()
    assert Comparison("on it", np.ones(3), 1.0, or_equal=True).points()
    assert not Comparison("on it", np.ones(3), 1.0).points()
    there, not_there = Comparison("a", draw(0.1)), Comparison("b", draw(-0.1))
    assert not Evidence([there, not_there]).points()
    assert Evidence([there, not_there], "any").points()
    assert not Evidence([]).points()


def compound(*means, **more):
    tests = [lambda _, mean=mean: Evidence([Comparison("it", draw(mean))]) for mean in means]
    return Claim(
        "X", "Both.", "paper", ("main",), parts=tuple(Part(f"part {n}", one) for n, one in enumerate(tests)), **more
    )  # fmt: skip


def test_a_compound_claim_is_what_its_parts_are():
    for means, whole, parts in (
        ((5, 5), "reproduced", ["reproduced", "reproduced"]),
        ((5, -5), "not reproduced", ["reproduced", "not reproduced"]),
        ((5, 0.1), "undecided", ["reproduced", "undecided"]),
        # Beyond the line at 95 %, not at the level widened for both: neither part nor whole is contradicted.
        ((5, -0.78), "undecided", ["reproduced", "undecided"]),
    ):
        judged = compound(*means).judge(None)
        assert str(judged.verdict) == whole, means
        assert [str(one.verdict()) for one in judged.evidence.parts().values()] == parts, means
        entry = judged.to_dict()
        assert [one["name"] for one in entry["parts"]] == ["part 0", "part 1"]
        assert [one["verdict"] for one in entry["parts"]] == parts
        assert entry["comparisons"][0]["label"] == "part 0: it"
    assert Comparison("alone", draw(-0.78)).contradicts()


def test_a_claim_has_a_test_or_parts():
    with pytest.raises(ValueError, match="needs a test or parts"):
        Claim("X", "Nothing.", "paper", ()).judge(None)
    with pytest.raises(ValueError, match="has a test and parts"):
        compound(1, test=lambda _: Evidence([])).judge(None)
    twice = Part("a", lambda _: Evidence([]))
    with pytest.raises(ValueError, match="two parts of one name: a, a"):
        Claim("X", "Twice.", "paper", (), parts=(twice, twice)).judge(None)
    any_ = Part("a", lambda _: Evidence([Comparison("it", draw(1))], "any"))
    with pytest.raises(ValueError, match="needs each of them"):
        Claim("X", "Any.", "paper", (), parts=(any_,)).judge(None)
    assert Evidence([Comparison("it", draw(1))]).parts() == {}
