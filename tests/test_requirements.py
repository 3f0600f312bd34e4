"""Requirements: conditions that hold, fail and stay undecided, and the exit status of commands."""

import json
import math
from xml.etree import ElementTree as ET

import pytest

import fairwave
from fairwave.ask import finding
from fairwave.ask.finding import Answer, Region
from fairwave.ask.requiring import KeyCondition, amount, judge, judge_key, overall, split, write_junit
from fairwave.ask.searching import spans
from fairwave.ask.wording import AskError, condition
from fairwave.measuring.relevance import ANY
from fairwave.measuring.statistics import Interval, interval

TEXT = """
name = "calls"
duration = "6 s"
warmup = "1 s"

[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms" }

[[flow]]
name = "voice"
count = 4
transport = "udp"
traffic = "voice"
"""


@pytest.fixture
def calls(tmp_path):
    path = tmp_path / "calls.toml"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize(
    ("text", "samples", "verdict"),
    [
        ("mos.voice >= 3.6", [4.0, 4.1, 4.2], "holds"),
        ("mos.voice >= 3.6", [3.0, 3.1, 3.2], "fails"),
        ("mos.voice >= 3.6", [3.4, 3.6, 3.8], "undecided"),
        ("mos.voice >= 3.6", [3.6, 3.6, 3.6], "holds"),  # a bound that is met belongs to ≥ …
        ("mos.voice > 3.6", [3.6, 3.6, 3.6], "fails"),  # … and not to >
        ("loss.voice <= 1", [1, 1, 1], "holds"),
        ("loss.voice < 1", [1, 1, 1], "fails"),
        ("loss.voice <= 1", [0.2, 0.3, 0.4], "holds"),
        ("loss.voice <= 1", [2, 2.1, 2], "fails"),
        ("mos.voice >= 3.6", [4.2], "undecided"),
        ("mos.voice >= 3.6", [math.nan, math.nan], "undecided"),
    ],
)
def test_the_whole_interval_decides(text, samples, verdict):
    assert judge(condition(text), interval(samples)).verdict == verdict


def test_what_is_undecided_says_what_to_try():
    assert judge(condition("mos.voice >= 3.6"), interval([4.2])).advice.endswith("try `-n 10`.")
    close = judge(condition("mos.voice >= 3.6"), interval([3.4, 3.6, 3.9] * 4))
    assert close.advice == "Try `-n 200`."
    on_it = judge(condition("mos.voice >= 3.6"), interval([3.5, 3.7] * 10))
    assert on_it.advice == "Mean and bound are alike: differences count from 0.1."
    wide = judge(condition("mos.voice >= 3.6"), interval([3.0, 4.2] * 10))
    assert "too close to the bound" in wide.advice
    assert "not defined" in judge(condition("mos.voice >= 3.6"), interval([])).advice


def test_a_run_that_nothing_repeats_is_judged_by_its_value():
    assert judge(condition("mos.voice >= 3.6"), interval([4.2]), alone=True).verdict == "holds"
    assert judge(condition("mos.voice >= 3.6"), interval([3.2]), alone=True).verdict == "fails"


def test_one_that_fails_decides_then_one_that_is_undecided():
    holds = judge(condition("mos >= 3.6"), interval([4, 4]))
    fails = judge(condition("mos >= 3.6"), interval([3, 3]))
    undecided = judge(condition("mos >= 3.6"), interval([4]))
    assert overall([holds]) == "holds"
    assert overall([holds, undecided]) == "undecided"
    assert overall([undecided, fails, holds]) == "fails"


def searched(*verdicts, values=None):
    """A search that tried these values with these verdicts: h holds, f fails, o stays open."""
    wanted = condition("mos.voice >= 3.6")
    names = {"h": "holds", "f": "fails", "o": "open"}
    values = values or [verdict[1] for verdict in verdicts]
    tested = [
        finding.Tested(value, [interval([4.0, 4.1])], [names[verdict[0]]])
        for value, verdict in zip(values, verdicts, strict=True)
    ]
    known = {at: one.verdict for at, one in enumerate(tested)}
    regions = [
        Region(values[first], values[last], None, None, values[first], values[last])
        for first, last, _, _ in spans(known)
    ]
    return Answer("key", [wanted], (values[0], values[-1]), regions, tested, [], 0.95, 9, [ANY])


UP_TO_12 = searched(("h", 1), ("h", 12), ("f", 14), ("f", 40))
UP_TO_THE_END = searched(("h", 1), ("h", 12))
FROM_3 = searched(("o", 1), ("o", 2), ("h", 3), ("h", 40))
NOWHERE = searched(("f", 1), ("f", 20), ("f", 40))
OPEN = searched(("f", 1), ("o", 20), ("f", 40))
RATES = searched("f", "h", "h", values=["1 Mb/s", "2 Mb/s", "3 Mb/s"])


@pytest.mark.parametrize(
    ("sign", "bound", "found", "verdict"),
    [
        (">=", 10, UP_TO_12, "holds"),
        (">=", 12, UP_TO_12, "holds"),
        (">", 12, UP_TO_12, "undecided"),
        (">=", 13, UP_TO_12, "undecided"),
        (">=", 14, UP_TO_12, "fails"),  # it fails there
        ("<=", 11, UP_TO_12, "holds"),
        ("<=", 0, UP_TO_12, "undecided"),  # the range begins at 1
        (">=", 10, UP_TO_THE_END, "holds"),
        (">=", 20, UP_TO_THE_END, "undecided"),  # the range ended
        (">=", 5, FROM_3, "holds"),
        (">=", 41, FROM_3, "undecided"),
        ("<=", 2, FROM_3, "undecided"),
        ("<=", 3, FROM_3, "holds"),
        ("<", 3, FROM_3, "undecided"),
        (">=", 1, NOWHERE, "fails"),
        ("<=", 99, NOWHERE, "fails"),
        (">=", 5, OPEN, "undecided"),
        (">=", 40, OPEN, "fails"),
        ("<=", 2e6, RATES, "holds"),
        ("<=", 1e6, RATES, "fails"),
        ("<=", 1.5e6, RATES, "undecided"),
    ],
)
def test_a_bound_on_the_key_is_met_if_the_conditions_hold_at_such_a_value(sign, bound, found, verdict):
    assert judge_key(KeyCondition("key", sign, bound), found).verdict == verdict


def test_amounts_are_compared_in_base_units():
    assert amount("500 kb/s") == 5e5
    assert amount("20 ms") == pytest.approx(0.02)
    assert amount("1.5 kB") == 1500
    assert (amount(7), amount("7"), amount("udp"), amount(True)) == (7, 7, None, None)


def test_a_search_has_requirements_of_its_limit_and_of_measures_there():
    read = fairwave.load(TEXT)
    limits, others = split(["flow.voice.count >= 20", "loss.voice <= 1"], "flow.voice.count", read)
    assert [(one.sign, one.bound) for one in limits] == [(">=", 20)]
    assert [str(one) for one in others] == ["loss.voice <= 1"]
    with pytest.raises(AskError, match=r"has no number.*'flow.voice.count >= 20'"):
        split(["flow.voice.count >= many"], "flow.voice.count", read)


def test_junit_tells_failures_from_what_is_undecided(tmp_path):
    found = [
        judge(condition("mos >= 3.6"), interval([4, 4]), "udp"),
        judge(condition("mos >= 3.6"), interval([3, 3]), "tcp/\x1bvegas"),
        judge(condition("loss < 1"), Interval(0.5, -math.inf, math.inf, 1)),
    ]
    write_junit(tmp_path / "deep" / "report.xml", "calls", found)
    (suite,) = ET.parse(tmp_path / "deep" / "report.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert [case.get("name") for case in suite] == ["mos >= 3.6 [udp]", "mos >= 3.6 [tcp/�vegas]", "loss < 1"]
    assert [[inner.tag for inner in case] for case in suite] == [[], ["failure"], ["error"]]


def test_a_run_ends_with_the_status_of_its_requirements(fairwave, calls, tmp_path):
    report = tmp_path / "report.xml"
    words = ("run", calls, "-n", "3", "--require", "mos.voice >= 3.6")
    status, said, _ = fairwave(*words, "--junit", report)
    assert status == 0
    assert "mos.voice >= 3.6" in said
    assert ET.parse(report).getroot()[0].get("tests") == "1"
    status, said, _ = fairwave(*words, "--require", "utilisation.r1>r2 > 90", "--json")
    told = json.loads(said)
    assert status == 3
    assert told["required"] == "fails"
    assert [one["verdict"] for one in told["requirements"]] == ["holds", "fails"]
    status, said, _ = fairwave("run", calls, "--require", "mos.voice >= 3.6")
    assert status == 4
    assert "try `-n 10`" in said


def test_each_alternative_of_a_comparison_is_judged(fairwave, calls, tmp_path):
    status, said, _ = fairwave(
        "compare", calls, "--vary", "flow.voice.count=4,30", "-n", "3", "--require", "mos.voice >= 3.6",
        "--out", tmp_path / "out", "--no-audio", "--json",
    )  # fmt: skip
    verdicts = {one["alternative"]: one["verdict"] for one in json.loads(said)["requirements"]}
    assert verdicts == {"4": "holds", "30": "fails"}
    assert status == 3


def test_a_search_is_judged_by_its_limit_and_by_measures_at_its_limit(fairwave, calls):
    words = (
        "find",
        calls,
        "--vary",
        "flow.voice.count=1..40",
        "--until",
        "mos.voice >= 3.6",
        "-n",
        "2",
        "--json",
    )
    status, said, _ = fairwave(*words, "--require", "flow.voice.count >= 8", "--require", "goodput.voice > 0")
    assert status == 0, said
    told = json.loads(said)["requirements"]
    assert [one["verdict"] for one in told] == ["holds", "holds"]
    status, _, _ = fairwave(*words, "--require", "flow.voice.count >= 39")
    assert status == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--require", "mos.voice"], "a condition is MEASURE >= NUMBER"),
        (["--require", "mos.vioce >= 3"], "did you mean 'voice'?"),
        (["--require", "mos.voice >= 9"], "never holds"),
        (["--junit", "report.xml"], "there are none; for example --require"),
        (["--require", "mos.voice >= 3", "--junit", "."], "which is a folder"),
    ],
)
@pytest.mark.parametrize("command", ["run", "compare", "find"])
def test_mistakes_are_told_before_anything_is_run(fairwave, calls, command, words, said):
    more = {
        "run": [],
        "compare": ["--over", "udp,tcp/reno"],
        "find": ["--vary", "flow.voice.count=1..9", "--until", "mos.voice >= 3.6"],
    }[command]
    status, out, error = fairwave(command, calls, *more, *words)
    assert (status, out) == (2, "")
    assert said in error


def test_a_comparison_answers_in_words_and_tells_differences(calls):
    made = fairwave.compare(fairwave.load(calls), {"flow.voice.transport": ["udp", "tcp/reno"]}, n=3)
    assert "Over UDP" in str(made.answer())
    found = made.difference("udp", "tcp/reno", "delay", "voice")
    measured = made.measured("delay", "voice")
    ours, theirs = (measured.samples(**{"flow.voice.transport": one}) for one in ("udp", "tcp/reno"))
    assert found.mean == pytest.approx((ours - theirs).mean())
    assert found.n == 3
    with pytest.raises(LookupError, match="no axis has both 'udp' and 'nothing'; there are"):
        made.difference("udp", "nothing", "loss", "voice")


def test_a_single_run_answers_and_has_no_differences(calls):
    made = fairwave.load(calls).replicate(2)
    assert "The 4 calls of voice are good" in str(made.answer())
    with pytest.raises(LookupError, match="no alternatives; compare some first"):
        made.difference("udp", "tcp/vegas")
    with pytest.raises(LookupError, match="did you mean 'voice'"):
        made.answer("voise")


def test_a_grid_of_two_axes_answers_for_each_point(calls):
    grid = {"flow.voice.count": [2, 30], "flow.voice.transport": ["udp", "tcp/reno"]}
    made = fairwave.sweep(fairwave.load(calls), grid, n=2).results
    assert "voice.count = 2" in str(made.answer("voice"))
    found = made.difference(2, 30, "mos", "voice", at={"flow.voice.transport": "udp"})
    assert found.mean > 1
    with pytest.raises(LookupError, match=r"say where on flow.voice.transport .* at="):
        made.difference(2, 30, "mos", "voice")
