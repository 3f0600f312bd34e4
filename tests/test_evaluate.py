"""`fairwave evaluate`: the reports of RFC 9743 and RFC 7928."""

import json
import math

import numpy as np
import pytest

import fairwave as fw
from fairwave_evaluation.controller import evaluate_controller
from fairwave_evaluation.discipline import evaluate_discipline
from fairwave_evaluation.trade_off import EPSILON, ellipse
from fairwave_study.claims import Verdict


def verdicts(folder):
    ledger = json.loads((folder / "ledger.json").read_text(encoding="utf-8"))
    return {one["id"]: one["verdict"] for one in ledger["claims"]}


@pytest.mark.slow
def test_a_controller_is_evaluated_from_the_command_line(fairwave, tmp_path):
    out = tmp_path / "out"
    status, printed, err = fairwave("evaluate", "tcp/vegas", "--against", "tcp/sack", "-n", 2, "--out", out)
    assert status == 0, err
    found = verdicts(out)
    assert len(found) == len(evaluate_controller("tcp/vegas", "tcp/sack").claims) >= 21
    assert set(found.values()) <= {"met", "not met", "undecided"}
    # Vegas keeps queues short with any buffer; a doubling timer suffices for silence.
    assert (found["bufferbloat"], found["silence"]) == ("met", "met")
    assert "bufferbloat" in printed
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "RFC 9743 §5.1.2" in page
    assert "A criterion is <em>met</em>" in page
    assert all((out / "figures" / f"{name}.png").stat().st_size > 5000 for name in found)


@pytest.mark.slow
def test_a_discipline_is_evaluated_from_the_command_line(fairwave, tmp_path):
    out = tmp_path / "out"
    status, _, err = fairwave(
        "evaluate", "--queue", "{ discipline = 'pie', target = '10 ms' }", "-n", 2, "--out", out
    )
    assert status == 0, err
    found = verdicts(out)
    assert (found["levels"], found["varying-congestion"]) == ("met", "met"), "this is what PIE is for"
    assert "characterised as RFC 7928 asks" in (out / "index.html").read_text(encoding="utf-8")
    assert (out / "figures" / "levels.png").stat().st_size > 5000


def test_one_criterion_can_be_made_alone(fairwave, tmp_path):
    status, printed, err = fairwave(
        "evaluate",
        "tcp/reno",
        "--against",
        "tcp/sack",
        "--figure",
        "silence",
        "-n",
        1,
        "--out",
        tmp_path / "o",
    )
    assert status == 0, err
    assert "1 figures" in printed + err
    assert [one.name for one in (tmp_path / "o" / "figures").glob("*.png")] == ["silence.png"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "one of them"),
        (("tcp/reno", "--queue", "red"), "one of them"),
        (("tcp/rneo",), "did you mean 'tcp/reno'?"),
        (("--queue", "codle"), "did you mean 'codel'?"),
        (("{ alpha = 1 }",), "neither a name nor a table"),
        (("udp",), "bulk"),
        (("tcp/reno", "--figure", "nothing"), "there is no criterion 'nothing'"),
        (("tcp/reno", "-n", "0"), "--replications"),
        (("tcp/reno", "--against", "tcp/nobody"), "there is no 'tcp/nobody'"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(fairwave, words, said, tmp_path):
    status, _, err = fairwave(
        "evaluate",
        *words,
        "--out",
        tmp_path / "o",
        *(
            ()
            if "--against" in words
            else ("--against", "tcp/sack")
            if words and "--queue" not in words
            else ()
        ),
    )
    assert status == 2
    assert said in " ".join(err.split())


def judged(study, name, seeds=range(1, 4)):
    """The verdict about one criterion, and its evidence."""
    claim = next(one for one in study.claims if one.id == name)
    grid = next(one for one in study.grids if one.id == name)
    from fairwave_study.parts import Data

    judgement = claim.judge(Data({name: grid.run(list(seeds))}))
    return judgement.verdict, judgement.evidence


def test_a_controller_that_heeds_nothing_fails_where_it_does_harm():
    @fw.controller("heedless")
    class Heedless(fw.Controller):
        """Keeps 400 segments in flight in any case."""

        def on_ack(self, path, window):
            window.congestion = 400.0

        def on_loss(self, path, window):
            window.congestion = 400.0

        def on_timeout(self, path, window):
            window.congestion = 400.0

    study = evaluate_controller("tcp/heedless", "tcp/sack")
    # Its timer doubles like any other, but it sends the same amount each time.
    for name in ("bufferbloat", "high-loss", "coexistence", "silence"):
        assert judged(study, name)[0] is Verdict.NOT_REPRODUCED, name


def test_a_controller_compared_with_itself_differs_in_nothing():
    study = evaluate_controller("tcp/sack", "tcp/sack")
    verdict, evidence = judged(study, "coexistence")
    assert verdict is not Verdict.NOT_REPRODUCED
    assert all("(compared with)" in one.label for one in evidence.comparisons)


def test_drop_tail_fails_what_active_queues_are_for():
    study = evaluate_discipline({"discipline": "drop-tail"}, {"discipline": "codel"})
    assert judged(study, "friendly")[0] is Verdict.NOT_REPRODUCED


def test_parameters_reach_the_scenario():
    study = evaluate_controller({"name": "tcp/aimd", "alpha": 0.31, "beta": 0.875}, "tcp/sack")
    points = next(one for one in study.grids if one.id == "fairness").points()
    ours = next(one for one in points if one.labels["controller"] == "tcp/aimd")
    assert ours.scenario.to_dict()["flow"][0]["transport"]["beta"] == 0.875


def test_the_ellipse_holds_half_of_a_normal_cloud():
    rng = np.random.default_rng(1)
    x = rng.normal(10, 3, 4000)
    y = 0.5 * x + rng.normal(0, 1, 4000)
    width, height, angle = ellipse(x, y)
    turned = math.radians(angle)
    along = (x - x.mean()) * math.cos(turned) + (y - y.mean()) * math.sin(turned)
    across = -(x - x.mean()) * math.sin(turned) + (y - y.mean()) * math.cos(turned)
    inside = (2 * along / width) ** 2 + (2 * across / height) ** 2 <= 1
    assert abs(inside.mean() - (1 - EPSILON)) < 0.03
    assert width > height


def test_flows_make_the_levels_of_congestion_of_the_standard():
    from fairwave_evaluation import discipline as d

    # §8.2.1: a loss rate of 0.76 N² / S² of 0.1, 0.5 and 1 %; S is product and buffer, in packets.
    assert d.ROOM == 2 * d.PRODUCT == 2 * round(10e6 * 0.1 / 8 / 1040)
    for level, loss in (("mild", 0.001), ("medium", 0.005), ("heavy", 0.01)):
        assert abs(d.LEVELS[level] - d.ROOM * math.sqrt(loss / 0.76)) < 1


def test_round_trips_are_those_that_the_standard_asks_for():
    study = evaluate_discipline("codel")
    points = next(one for one in study.grids if one.id == "round-trips").points()

    def round_trip(flow):
        return 2 * (float(flow["source-access"]["delay"].removesuffix(" ms")) + 1 + 0.5)

    for point in points:
        one, two = point.scenario.to_dict()["flow"]
        assert (round_trip(one), round_trip(two)) == (100.0, float(point.labels["other"]))
