"""A page's verdict follows from the numbers: the band, the doubt, the winner and its lead."""

import re
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import polars as pl
import pytest

from fairwave.answers.bands import SCALES, counted, describe_bands, enough, scale_of
from fairwave.answers.lines import lines
from fairwave.answers.verdict import judge_comparison, judge_points, judge_run
from fairwave.measuring import measures
from fairwave.measuring.remarks import Remark
from fairwave.measuring.statistics import Interval, interval
from fairwave.results import Results
from fairwave_study.answer import answer_study
from fairwave_study.claims import Claim, Evidence, Judgement, Verdict
from made_up import made_up

MOS = scale_of("mos")
MISSED = scale_of("missed")


def mean(value, half, n=10):
    return Interval(value, value - half, value + half, n)


def test_opinion_scores_have_the_bands_of_g109_by_g107():
    # ITU-T G.107 Annex B: R 70 is MOS 3.60, R 60 is MOS 3.10; ITU-T G.109 calls R from 70 medium, from 60 low.
    for score, band in (
        (4.5, "good"),
        (3.6, "good"),
        (3.59, "fair"),
        (3.1, "fair"),
        (3.09, "poor"),
        (1.0, "poor"),
    ):
        assert MOS.band(score) == band


def test_less_loss_is_better():
    assert [MISSED.band(loss) for loss in (0.0, 1.0, 1.1, 3.0, 3.1)] == [
        "good",
        "good",
        "fair",
        "fair",
        "poor",
    ]
    assert [name for name, _, _ in MISSED.parts()] == ["good", "fair", "poor"]
    assert [name for name, _, _ in MOS.parts()] == ["poor", "fair", "good"]


@pytest.mark.parametrize("scale", SCALES, ids=lambda one: one.measure)
def test_the_bands_of_a_picture_lie_side_by_side_from_end_to_end(scale):
    parts = scale.parts()
    assert parts[0][1] == 0.0
    assert parts[-1][2] == 100.0
    for (_, _, end), (_, begin, _) in pairwise(parts):
        assert end == begin
    for name, begin, end in parts:
        low, high = scale.ends
        assert scale.band(low + (begin + end) / 200 * (high - low)) == name


def test_an_interval_over_a_bound_leaves_it_undecided():
    assert MOS.bands(mean(3.7, 0.05)) == ["good"]
    assert describe_bands(MOS.bands(mean(3.6, 0.05)), 10) == "undecided after 10 runs: fair to good"
    assert MOS.bands(mean(3.3, 0.6)) == ["good", "fair", "poor"]
    assert MISSED.bands(mean(1.0, 0.5)) == ["good", "fair"]
    assert MOS.bands(interval([3.7])) == ["good"], (
        "of one run the mean is told, and that nothing tells how sure it is"
    )


def calls(scores, seeds=(1, 2, 3)):
    """Runs with these opinion scores of calls: transport to a score per seed."""
    results = made_up(tuple(scores), seeds, flows=2, shift=0.0)
    flows = results.to_polars("flows")
    wanted = [score for each in scores.values() for score in each for _ in range(2)]
    tables = dict(results.tables)
    tables["flows"] = flows.with_columns(pl.Series("mos", wanted)).to_arrow()
    return Results(tables, results.axes, results.provenance)


def told(scores, key="", **more):
    results = calls(scores, **more)
    found = lines(results, "transport", "voice", [measures.mos("voice")])
    return judge_comparison(found, "transport", "voice", results, key)


def test_alternatives_are_sorted_into_bands_and_the_best_is_ahead_by_the_paired_difference():
    answer = told({"tcp/vegas": [1.0, 1.1, 1.2], "udp": [3.9, 4.0, 4.1], "tfrc": [1.5, 1.6, 1.7]})
    assert answer.sentences == [
        "Over UDP the 2 calls are good: MOS 4.00 ± 0.25.",
        "Over TFRC and Vegas they are poor: MOS 1.60 ± 0.25 and 1.10 [1.00, 1.35].",
        (
            "UDP is best, ahead of TFRC by 2.40 points of MOS in each of 3 runs (95 %, paired by seed; "
            "differences count from 0.1)."
        ),
    ]
    assert answer.sure == "Means over 3 runs, each with its 95 % interval."
    (picture,) = answer.pictures
    assert [(mark.label, mark.words, mark.tone) for mark in picture.marks] == [
        ("Vegas", "poor", "not_reproduced"),
        ("UDP", "good", "reproduced"),
        ("TFRC", "poor", "not_reproduced"),
    ]
    assert picture.marks[1].low < picture.marks[1].at < picture.marks[1].high


def test_what_is_undecided_is_said_to_be():
    answer = told({"udp": [3.5, 3.9, 3.7], "tfrc": [3.9, 3.5, 3.6]})
    assert answer.sentences[0].startswith(
        "Over UDP and TFRC the 2 calls are undecided after 3 runs: fair to good (MOS 3.70 "
    )
    assert re.search(r"\. Try `-n \d+`\.$", answer.sentences[0])
    assert answer.sentences[1].startswith("Undecided between UDP and TFRC: they differ by 0.03 [")
    assert {mark.tone for mark in answer.pictures[0].marks} == {"undecided"}


def test_a_rating_beyond_the_ranges_of_the_model_is_said_to_be():
    results = calls({"udp": [1.0, 1.0, 1.0]})
    (line,) = lines(results, "transport", "voice", [measures.mos("voice")])
    line = replace(line, remarks=(Remark("extrapolated", "delay 900 ms outside 0–500 ms", 4, 6),))
    sure = judge_comparison([line], "transport", "voice", results).sure
    assert sure.endswith("4 of 6 calls lie outside the ranges of the E-model: their MOS is extrapolated.")


def test_of_many_alternatives_the_range_is_told():
    answer = told({f"tcp/{name}": [1 + at / 10] * 3 for at, name in enumerate("abcdef")})
    assert answer.sentences[0] == "Over tcp/f and 5 others the 2 calls are poor: MOS 1.00 to 1.50."
    assert len(answer.pictures[0].marks) == 6


def test_alternatives_that_are_the_same_do_not_differ():
    answer = told({"udp": [1.0, 1.0, 1.0], "tfrc": [1.0, 1.0, 1.0]})
    assert answer.sentences[-1] == "UDP and TFRC are alike: they do not differ."


def test_one_run_tells_nothing_of_how_sure_it_is():
    answer = told({"udp": [3.9], "tfrc": [3.0]}, seeds=(1,))
    assert "In this one pair of runs" in answer.sentences[-1]
    assert answer.sure == "One run does not show how sure this is. Try `-n 10`."


def test_others_get_most_and_least_only_where_that_is_more_than_chance():
    results = made_up(("udp", "tcp/vegas"), (1, 2, 3))
    line = next(
        one
        for one in lines(results, "transport", "x", [measures.goodput("voice")])
        if one.measure.id == "goodput"
    )
    own = lines(results, "transport", "voice", [measures.mos("voice")])
    said = judge_comparison([*own, replace(line, group="ftp")], "transport", "voice", results)
    assert said.sentences[-1] == (
        "Meanwhile ftp gets 0.03 to 0.06 Mb/s of goodput: most over Vegas, least over UDP (differences count from "
        "2 %)."
    )


def test_a_run_tells_of_each_group_by_what_it_is():
    results = calls({"udp": [3.9, 4.0, 4.1]})
    answer = judge_run(results, {"voice": "voice"}, lambda _: "R 80: loss costs 9 points")
    assert answer.sentences == ["The 2 calls of voice are good: MOS 4.00 ± 0.25 (R 80: loss costs 9 points)."]
    answer = judge_run(results, {"voice": "bulk"}, lambda _: "")
    assert answer.sentences == ["voice gets 0.0300 ± 0.0000 Mb/s of goodput."]
    assert answer.pictures == []
    assert judge_run(results, {}, lambda _: "").sentences == ["No flow was on long enough to be measured."]


def test_a_comparison_names_the_key_and_the_values_that_were_varied():
    answer = told({"tcp/cubic": [1.0, 1.1, 1.2], "tcp/vegas": [3.9, 4.0, 4.1]}, key="flow.download.transport")
    assert answer.sentences == [
        "With download.transport = tcp/vegas the 2 calls are good: MOS 4.00 ± 0.25.",
        "With download.transport = tcp/cubic they are poor: MOS 1.10 [1.00, 1.35].",
        (
            "download.transport = tcp/vegas is best, ahead of tcp/cubic by 2.90 points of MOS in each of 3 runs "
            "(95 %, paired by seed; differences count from 0.1)."
        ),
    ]
    own = told({"tcp/cubic": [1.0] * 3, "udp": [4.0] * 3}, key="flow.voice.transport")
    assert own.sentences[0] == "Over UDP the 2 calls are good: MOS 4.00 (same in all 3)."


def test_one_alternative_is_best_only_where_it_is_significantly_ahead_of_all_others():
    answer = told({"udp": [3.9, 4.1, 4.0], "tfrc": [4.0, 3.9, 4.1], "tcp/vegas": [1.0, 1.1, 1.2]})
    assert answer.sentences[-1].startswith(
        "No single best: undecided between UDP and TFRC: they differ by 0.00 ["
    )


def test_what_is_undecided_says_how_many_runs_probably_decide():
    assert enough(MOS, mean(3.65, 0.1, n=2)) == 10
    assert enough(MOS, mean(3.62, 0.1)) == 200
    assert enough(MOS, mean(3.6, 0.1)) is None, "a mean at the bound itself is never decided"
    assert enough(MOS, mean(3.6, 0.9, n=2)) == 20, "two runs do not tell how wide the spread is"


def test_a_grid_is_told_by_its_points_in_their_order():
    cells = {5: mean(4.1, 0.1), 10: mean(3.7, 0.05), 20: mean(2.0, 0.1)}
    results = calls({"udp": [3.9, 4.0, 4.1]})
    answer = judge_points(
        [("mos", cells)],
        lambda *labels: f"with voice.count = {' and '.join(map(str, labels))}",
        "voice",
        results,
    )
    assert answer.sentences == [
        "With voice.count = 5 and 10 the 2 calls are good: MOS 4.10 ± 0.10 and 3.70 ± 0.05.",
        "With voice.count = 20 they are poor: MOS 2.00 ± 0.10.",
    ]


def judged(verdict, name):
    claim = Claim(name, f"{name} is so.", "here", (), lambda _: Evidence([]))
    return Judgement(claim, verdict, Evidence([]), "")


def test_a_study_counts_its_claims_and_names_first_those_that_do_not_hold():
    ledger = SimpleNamespace(exploration=None)
    one_of_each = [
        judged(Verdict.REPRODUCED, "A"),
        judged(Verdict.NOT_REPRODUCED, "B"),
        judged(Verdict.UNDECIDED, "C"),
        judged(Verdict.REPRODUCED, "D"),
    ]
    answer = answer_study(ledger, one_of_each, 10)
    assert answer.sentences == ["Of 4 claims 2 hold, 1 does not, and 1 is undecided."]
    assert [one.id for one in answer.claims] == ["B", "C", "A", "D"]
    assert "10 replications" in answer.sure
    assert "nothing can be decided" in answer_study(ledger, one_of_each, 1).sure
    assert answer_study(ledger, [], 10).sentences == [
        "No claim was judged: one figure or table was made alone."
    ]


def test_a_mean_outside_the_picture_lies_at_its_edge():
    assert MISSED.locate(50.0) == 100.0
    assert MOS.locate(0.0) == 0.0
    assert MOS.locate(4.5) == 100.0


def conference(scores):
    """Runs of a call without a server: participant to the opinion score of its received media, in each run."""
    names = list(scores)
    results = made_up(("udp",), range(1, 1 + len(scores[names[0]])))
    rows = [
        {"run": run, "group": f"team-{sender}-to-{receiver}", "flow": 0, "stream": "audio", "mos": score}
        for receiver, each in scores.items()
        for sender in names
        if sender != receiver
        for run, score in zip(results.to_polars("runs")["run"].to_list(), each, strict=True)
    ]
    unknown = ("height", "silence_s", "without_s", "longest_without_s", "switches_per_min")
    unknown += ("gaps", "longest_gap_s", "longest_freeze_s", "measured_s")
    media = pl.DataFrame(rows).with_columns(pl.lit(None, pl.Float64).alias(name) for name in unknown)
    tables = {**results.tables, "media": media.to_arrow()}
    return Results(tables, results.axes, results.provenance), list(
        dict.fromkeys(row["group"] for row in rows)
    )


def test_participants_whose_interval_touches_several_bands_count_as_undecided_and_not_as_good():
    twelve = {f"p{at}": (2.4 + at / 60, 3.4 + at / 60) for at in range(12)}
    results, groups = conference(twelve)
    first = judge_run(results, dict.fromkeys(groups, "media"), lambda _: "").sentences[0]
    assert first == "Of the 12 participants, the call team is undecided for 12."
    mixed = dict(
        zip(twelve, [(4.0, 4.01)] * 5 + [(3.3, 3.3)] * 4 + [(2.0, 2.01)] + [(2.0, 4.0)] * 2, strict=True)
    )
    results, groups = conference(mixed)
    first = judge_run(results, dict.fromkeys(groups, "media"), lambda _: "").sentences[0]
    assert (
        first
        == "Of the 12 participants, the call team is good for 5, fair for 4, poor for 1 and undecided for 2."
    )


def test_words_are_counted_from_the_best_to_the_worst():
    assert counted(["poor", "undecided", "good", "poor"]) == ["1 good", "2 poor", "1 undecided"]
    assert [MOS.word(mean(*one)) for one in ((3.7, 0.05), (3.6, 0.05), (3.3, 0.1))] == [
        "good",
        "undecided",
        "fair",
    ]
    assert MOS.word(interval([3.7])) == "good", "one run has no interval"
