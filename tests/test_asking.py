"""Questions of a scenario: how they are written, and that the answers are right where they are known."""

import json
import math

import numpy as np
import pytest

import fairwave
from fairwave.ask import AskError, find, sweep
from fairwave.ask.finding import Search, best, probe, reversals, search
from fairwave.ask.wording import condition, measure, precision, steps, variation
from fairwave.runs.grid import vary
from fairwave.scenario import load
from scenarios import CALLS


@pytest.fixture(scope="module")
def calls():
    return load(CALLS)


def test_a_key_takes_values_of_every_kind():
    assert variation("flow.voice.count=5, 10,20") == ("flow.voice.count", {5: 5, 10: 10, 20: 20})
    assert variation("a.b=1..4")[1] == {1: 1, 2: 2, 3: 3, 4: 4}
    key, values = variation("link.a>b.queue=red,{ discipline = 'pie', capacity = { packets = 5 } },\"x,y\"")
    assert key == "link.a>b.queue"
    assert list(values.values()) == ["red", {"discipline": "pie", "capacity": {"packets": 5}}, "x,y"]
    assert next(iter(values)) == "red"


def test_a_range_to_search_has_whole_numbers_or_quantities():
    assert steps("1..4") == [1, 2, 3, 4]
    rates = steps("500 kb/s..1 Mb/s")
    assert (rates[0], rates[-1], rates[64]) == ("500 kb/s", "1000 kb/s", "750 kb/s")
    assert steps("10..20 ms")[0] == "10 ms"


def test_precisions_and_conditions_are_read(calls):
    wanted = precision("mos.voice:±0.05", calls)
    assert (wanted.half, wanted.relative, str(wanted)) == (0.05, False, "mos.voice:±0.05")
    assert precision("goodput.files:2%", calls).wanted(50.0) == 1.0
    held = condition("delay.voice < 150 ms", calls)
    assert (held.sign, held.bound, held.direction) == ("<", 150.0, -1.0)
    assert condition("utilisation.r1>r2 >= 90", calls).of.text == "utilisation.r1>r2"


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda s: measure("mos.cal-up", s), "no flow group 'cal-up'; it has voice, files"),
        (lambda s: measure("mso.voice", s), "did you mean 'mos'?"),
        (lambda s: measure("utilisation.r1>r3", s), "did you mean 'r1>r2'?"),
        (lambda s: condition("mos.voice", s), "a condition is MEASURE >= NUMBER"),
        (lambda s: condition("delay.voice < 1 s", s), "is in ms, not in s"),
        (lambda s: precision("mos.voice", s), "'mos.voice:±0.05'"),
        (lambda s: precision("mos.voice:±0", s), "'mos.voice:±0.05'"),
        (lambda _: variation("flow.voice.count"), "KEY=VALUE,VALUE"),
        (lambda _: variation("a=5..1"), "no range from less to more"),
        (lambda _: steps("5..1"), "LOW..HIGH"),
        (lambda _: steps("5 ms..1 Mb/s"), "LOW..HIGH"),
        (lambda s: find(s, "flow.voice.count", "1..9", "mos.voice >= 3", n=1), "2 or more"),
        (lambda s: sweep(s, {"flow.voice.count": [1]}, "mos.voice:±1", n=1), "2 replications or more"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_to_write(calls, ask, says):
    with pytest.raises(AskError) as error:
        ask(calls)
    assert says in str(error.value)


def trial(curve, count=100, wanted="goodput >= 0", spread=0.05, **options):
    """A search over a made-up measure: a curve with the same noise per seed at every step."""

    def sample(step, seeds):
        noise = np.random.default_rng(7).normal(0.0, spread, 100)[:seeds]
        own = np.random.default_rng(step).normal(0.0, spread / 5, 100)[:seeds]
        return curve(step) + noise + own

    return Search(sample, condition(wanted), count, **options)


@pytest.mark.parametrize("turn", [0.5, 17.5, 63.5, 98.5])
def test_the_search_finds_where_a_measure_falls_below_its_bound(turn):
    tried = trial(lambda step: turn - step)
    holds, fails, upwards = search(tried)
    assert upwards
    assert holds <= turn <= fails
    assert fails - holds <= 2
    assert best(tried, upwards) in {math.floor(turn), math.floor(turn) - 1}
    probe(tried)
    assert reversals(tried, list(range(100)), upwards) == []


def test_the_search_finds_where_a_measure_rises_to_its_bound():
    holds, fails, upwards = search(trial(lambda step: step - 40.5))
    assert not upwards
    assert (fails, holds) == (40, 41)


def test_what_the_noise_leaves_open_lies_within_the_answer():
    tried = trial(lambda step: (50 - step) / 10, spread=2.0, most=20)
    holds, fails, _ = search(tried)
    assert holds < 50 < fails
    assert fails - holds > 5
    assert "open" in tried.known.values()


def test_a_condition_that_holds_throughout_or_nowhere_is_said():
    assert search(trial(lambda step: 200 - step))[:2] == (99, None)
    assert search(trial(lambda step: -1 - step))[:2] == (None, 0)


def test_a_measure_that_does_not_go_one_way_is_found_out():
    def valley(step):
        return 20 - step if step < 70 else step - 95

    tried = trial(valley)
    _, _, upwards = search(tried)
    probe(tried)
    assert any("throughout" in said for said in reversals(tried, list(range(100)), upwards))


def test_the_answer_covers_the_truth_as_often_as_it_says():
    missed = 0
    for seed in range(100):
        draw = np.random.default_rng(seed)
        noise = draw.normal(0.0, 3.0, (100, 40))

        def sample(step, seeds, noise=noise):
            return 50.5 - step + noise[step, :seeds]

        holds, fails, _ = search(Search(sample, condition("goodput >= 0"), 100))
        missed += not ((holds is None or holds <= 50) and (fails is None or fails >= 51))
    assert missed <= 5


def test_find_brackets_the_number_of_calls_that_a_line_carries(calls):
    # Four calls of 80 kb/s on the wire cross 300 kb/s with loss, three do not lose to their own load alone.
    alone = calls.with_overrides({"flow": [calls.to_dict()["flow"][0]]})
    answer = find(alone, "flow.voice.count", "1..12", "loss.voice <= 1", n=3, most=6)
    assert (answer.holds, answer.fails) == (3, 4)
    assert answer.monotone
    assert "holds up to flow.voice.count = 3" in str(answer)
    json.dumps(answer.to_dict())


def test_find_refuses_a_measure_that_the_range_does_not_have(calls):
    with pytest.raises(AskError, match="not defined at the first value"):
        find(calls, "flow.voice.count", "0..4", "mos.voice >= 3", n=2, most=2)


def test_a_sweep_replicates_until_it_is_precise_enough(calls):
    found = sweep(calls, {"flow.voice.count": [2, 4]}, "loss.voice:±3", n=2, most=40)
    assert [cell.labels for cell in found.cells] == [{"flow.voice.count": 2}, {"flow.voice.count": 4}]
    assert all(cell.reached and cell.interval.half_width <= 3 for cell in found.cells)
    runs = found.results.runs.to_pandas().groupby("flow.voice.count")["seed"].apply(list).to_dict()
    assert all(seeds == list(range(1, len(seeds) + 1)) for seeds in runs.values()), (
        "the same seeds at each point"
    )
    again = found.results.measured("loss", "voice").interval(**{"flow.voice.count": 4})
    assert again.mean == pytest.approx(found.cells[1].interval.mean)


def test_a_sweep_says_where_its_cap_was_hit(calls):
    found = sweep(calls, {"flow.voice.count": [4]}, "loss.voice:±0.0001", n=2, most=4)
    assert [cell.interval.n for cell in found.short] == [4]


def test_a_sweep_without_a_precision_is_a_grid(calls):
    found = sweep(
        calls, {"flow.voice.count": vary("flow.voice.count", [2])}, show=[measure("mos.voice")], n=3
    )
    assert found.results.runs.num_rows == 3
    assert found.short == []


def test_the_package_has_the_questions():
    assert fairwave.find is find
    assert fairwave.sweep is sweep


def documented(fence):
    from pathlib import Path

    text = Path("docs/asking.md").read_text(encoding="utf-8")
    return [part.split("\n", 1)[1] for part in text.split("```")[1::2] if part.split("\n", 1)[0] == fence]


def test_the_documents_python_runs(capsys, tmp_path, monkeypatch):
    code = "".join(documented("python"))
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs/asking.md", "exec"), {})
    assert (tmp_path / "out" / "voice.pdf").read_bytes().startswith(b"%PDF")
    said = capsys.readouterr().out
    assert "{'flow.voice.count': 5}" in said
    assert "loss.voice <= 1 holds down to topology.bottleneck.rate" in said


def test_the_documents_commands_are_sound(monkeypatch):
    import shlex

    from fairwave.cli import app as cli

    asked = []
    monkeypatch.setattr(
        "fairwave.cli.comparing.compare_alternatives", lambda *given, **_: asked.append(given)
    )
    monkeypatch.setattr("fairwave.cli.asking.find_value", lambda *given, **_: asked.append(given))
    for command in documented(""):
        program, *words = shlex.split(command)
        assert program == "fairwave"
        cli.app(words, standalone_mode=False)
    (compared, searched) = asked
    key, values = variation(compared[2][0])
    home = load(compared[0])
    for value in values.values():
        home.with_overrides({key: value})
    key, _, values = searched[1].partition("=")
    home.with_overrides({key: steps(values)[0]})
    assert str(condition(searched[2], home)) == "mos.call >= 2.5"


def test_a_measure_that_is_asked_for_twice_has_its_samples_once(calls):
    found = sweep(
        calls, {"flow.voice.count": [2]}, "loss.voice:±90", show=[measure("loss.voice", calls)], n=2
    )
    (cell,) = found.cells
    assert cell.interval.n == 2
