"""Real packets compared with simulations: the page matches its numbers, and a minute of its cases runs if possible."""

from __future__ import annotations

import json
import math
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from thrice import PAUSES_S

if sys.version_info < (3, 11):
    pytest.skip("reasons are TOML, read from 3.11 on", allow_module_level=True)

import fairwave
from fairwave.live import missing
from fairwave.live.comparison import GOODPUT, LOSS, QUEUEING, quantities, simulated
from validation import explanations
from validation import kept as results
from validation.compare import live as suite
from validation.explanations import Explanation
from validation.verdict import Estimate

QUICK = [replace(case, runs=2) for case in suite.cases() if case.quick]


def difference(live: list[float], other: list[float], margin=GOODPUT, wider: float = 1.0) -> suite.Difference:
    return suite.Difference(
        "a: goodput",
        Estimate.from_values(live),
        Estimate.from_values(other),
        margin,
        wider,
        scale=1.0,
        unit="Mb/s",
    )


@pytest.mark.parametrize(
    ("one", "verdict"),
    [
        (difference([1.04, 1.041], [1.0, 1.001]), "alike"),
        (difference([1.06, 1.061], [1.0, 1.001]), "differs"),
        (difference([1.06, 1.061], [1.0, 1.001], wider=2.0), "alike"),
        (difference([1.5, 0.8], [1.0, 1.0]), "undecided"),
        (difference([1.06], [1.0, 1.001]), "differs"),
        (difference([0.019, 0.019], [0.01, 0.01], LOSS), "alike"),
        (difference([0.023, 0.023], [0.012, 0.012], LOSS), "differs"),
        (difference([0.0018, 0.0018], [0.0, 0.0], QUEUEING), "nothing waits"),
        (difference([0.0218, 0.0218], [0.02, 0.02], QUEUEING), "alike"),
        (difference([0.0025, 0.0025], [0.0, 0.0], QUEUEING), "differs"),
        (difference([math.nan], [1.0, 1.0]), "differs"),
        (difference([math.nan], [math.nan]), "not defined"),
    ],
)
def test_a_difference_is_judged_by_its_margin_then_by_chance(one: suite.Difference, verdict: str) -> None:
    assert one.verdict == verdict


def test_the_cases_are_every_sender_over_every_path_alone_and_beside_others() -> None:
    keys = [case.key for case in suite.cases()]
    assert len(set(keys)) == len(keys)
    for path in ("drop-tail", "red", "codel", "pie", "drop-sel", "errors", "trace"):
        for sender in ("host-reno", "host-cubic", "host-bbr", "tfrc", "dvrc", "gamma"):
            assert {f"alone/{sender}/{path}", f"beside/{sender}/{path}"} <= set(keys)
        assert f"ours/{path}" in keys
        assert path == "trace" or f"alone/calls/{path}" in keys


@pytest.mark.parametrize("case", suite.cases(), ids=lambda case: case.key)
def test_every_case_can_be_simulated(case: suite.Case) -> None:
    scenario = fairwave.Scenario.from_dict(case.scenario)
    short = simulated(scenario).with_overrides({"duration": "1 s", "warmup": "0 s"})
    found = quantities(scenario, short.run(1))
    assert any(one.value is not None for one in found.values())
    assert sum(what.endswith("mean queueing") for what in found) == 2


def test_a_run_that_is_not_true_enough_is_made_again_and_then_the_best_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Made:
        def __init__(self, broken: str | None, late: float) -> None:
            self.broken = broken
            self.report = {"lateness_p99_s": late}

    def made(*runs: Made) -> tuple[object, int]:
        left = list(runs)
        monkeypatch.setattr(suite, "live", lambda _scenario, _seed: left.pop(0))
        return suite.run_live(None, 7)  # type: ignore[arg-type]

    good, late, later = Made(None, 1e-4), Made("late", 2e-3), Made("late", 3e-3)
    assert made(good) == (good, 0)
    assert made(late, good) == (good, 1)
    assert suite.AGAIN == 2
    assert made(later, late, later) == (late, 2)


def test_numbers_are_kept_as_they_are() -> None:
    case = suite.cases()[0]
    outcome = suite.Outcome(
        case.key,
        case.title,
        2,
        [
            difference([1.0, 1.2], [2.0, 2.1]),
            replace(difference([math.nan], [math.nan]), measure="a: MOS"),
            replace(difference([1.0], [2.0]), measure="b: goodput"),
        ],
        {
            "rate_error": 0.0,
            "lateness_p50_s": 1e-5,
            "lateness_p99_s": 1e-4,
            "lateness_worst_s": 1e-3,
            "cpu": 0.1,
        },
        1,
        ["said"],
    )
    kept = json.loads(json.dumps(suite.data([outcome])))
    assert suite.data(suite.stored(kept)) == kept
    assert suite.unexplained([outcome], []) == [(case.key, "a: goodput"), (case.key, "b: goodput")]
    page = suite.markdown({"machine": "here", "cases": kept}, [])
    assert "2 differ, of which 2 without an explanation" in page
    assert "✗ not explained" in page
    reason = Explanation("because", (case.key,), ("*: goodput",), "Because.")
    assert "✗ [because](#because)" in suite.markdown({"machine": "here", "cases": kept}, [reason])
    assert suite.unexplained([outcome], [reason]) == []


def test_every_case_is_kept_and_every_difference_has_a_reason() -> None:
    reasons = explanations.read(suite.REASONS)
    outcomes = suite.stored(results.read(suite.KEPT)["cases"])
    assert [outcome.key for outcome in outcomes] == [case.key for case in suite.cases()]
    assert suite.unexplained(outcomes, reasons) == []
    needed = {
        explanations.find(reasons, outcome.key, one.measure)
        for outcome in outcomes
        for one in outcome.differences
        if one.verdict in suite.DOUBTS
    }
    assert set(reasons) == needed - {None}, "a reason that no difference needs"


@pytest.mark.slow
@pytest.mark.live
def test_a_minute_of_the_suite_is_as_its_page_says() -> None:
    if why := missing():
        pytest.skip(f"no live run can be made here: {why}")
    reasons = explanations.read(suite.REASONS)
    left = QUICK
    assert len(left) == 4
    # Differences by chance or by load of the machine do not occur three times.
    for pause in (0, *PAUSES_S):
        time.sleep(pause)
        with ThreadPoolExecutor(suite.AT_ONCE) as pool:
            outcomes = [suite.carry_out(case, pool, simulated_runs=5) for case in left]
        wrong = suite.unexplained(outcomes, reasons)
        for outcome in outcomes:
            assert any(one.verdict == "alike" for one in outcome.differences), outcome
        left = [case for case in left if any(case.key == key for key, _ in wrong)]
        if not left:
            return
    pytest.fail(f"live and simulated differ three times: {wrong}")
