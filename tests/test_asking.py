"""Questions about a scenario: their syntax, and results that match known truths."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import fairwave
from fairwave.ask import AskError, find, sweep
from fairwave.ask.searching import Search, crossing, reversals, search, spans
from fairwave.ask.wording import condition, measure, precision, steps, variation
from fairwave.runs.axes import vary
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
        (lambda s: measure("mso.voice", s), "did you mean 'mos"),
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
    """A search over a made-up measure: a curve with the same noise at every step, new in each run."""

    def sample(step, numbers):
        noise = np.random.default_rng(7).normal(0.0, spread, 10_000)
        return curve(step) + noise[list(numbers)]

    return Search(sample, condition(wanted), count, **options)


def found_by(tried):
    """The steps that hold according to the search: first, last, and the nearest that fail."""
    search(tried)
    return spans(tried.judged())


@pytest.mark.parametrize("turn", [0.5, 17.5, 63.5, 98.5])
def test_the_search_finds_where_a_measure_falls_below_its_bound(turn):
    tried = trial(lambda step: turn - step)
    ((first, last, before, after),) = found_by(tried)
    assert (first, before) == (0, None)
    assert last <= turn <= after
    assert after - last <= 2
    assert crossing([tried], last, after) in {math.floor(turn), math.floor(turn) - 1}
    assert reversals(tried, list(range(100))) == []


def test_the_search_finds_where_a_measure_rises_to_its_bound():
    assert found_by(trial(lambda step: step - 40.5)) == [(41, 99, 40, None)]


@pytest.mark.parametrize(("low", "high"), [(10, 30), (34, 52), (60, 95), (45, 48)])
def test_the_search_finds_a_region_inside_the_range(low, high):
    middle, half = (low + high) / 2, (high - low) / 2
    assert found_by(trial(lambda step: half + 0.5 - abs(step - middle))) == [(low, high, low - 1, high + 1)]


def test_the_search_finds_a_gap_inside_the_range():
    found = found_by(trial(lambda step: abs(step - 52) - 3.5))
    assert found == [(0, 48, None, 49), (56, 99, 55, None)]


def test_what_the_noise_leaves_open_belongs_to_no_region():
    tried = trial(lambda step: (50 - step) / 10, spread=2.0, most=20)
    ((first, last, before, after),) = found_by(tried)
    assert (first, before) == (0, None)
    assert last < 50 < after
    assert after - last > 5
    assert "open" in tried.judged().values()


def test_a_condition_that_holds_throughout_or_nowhere_is_found_out():
    assert found_by(trial(lambda step: 200 - step)) == [(0, 99, None, None)]
    assert found_by(trial(lambda step: -1 - step)) == []


def test_a_measure_that_does_not_go_one_way_is_found_out():
    def valley(step):
        return 20.5 - step if step < 70 else step - 94.5

    tried = trial(valley)
    assert found_by(tried) == [(0, 20, None, 21), (95, 99, 94, None)]
    assert any("throughout" in said for said in reversals(tried, list(range(100))))


def test_find_brackets_the_number_of_calls_that_a_line_carries(calls):
    # Four calls of 80 kb/s on the wire over 300 kb/s have loss; three have none.
    alone = calls.with_overrides({"flow": [calls.to_dict()["flow"][0]]})
    answer = find(alone, "flow.voice.count", "1..12", "loss.voice <= 1", n=3, most=6)
    (region,) = answer.regions
    assert (region.first, region.last, region.fails_before, region.fails_after) == (1, 3, None, 4)
    assert answer.monotone
    assert "holds on flow.voice.count = 1..3" in str(answer)
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
    text = Path("docs/asking.md").read_text(encoding="utf-8")
    return [part.split("\n", 1)[1] for part in text.split("```")[1::2] if part.split("\n", 1)[0] == fence]


def test_the_documents_python_runs(capsys, tmp_path, monkeypatch):
    code = "".join(documented("python"))
    (tmp_path / "examples").symlink_to(Path("examples").resolve())
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs/asking.md", "exec"), {})
    assert (tmp_path / "out" / "voice.pdf").read_bytes().startswith(b"%PDF")
    said = capsys.readouterr().out
    assert "{'flow.voice.count': 5}" in said
    assert "loss.voice <= 1 % holds on topology.bottleneck.rate" in said


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
    assert [str(condition(one, home)) for one in searched[2]] == ["mos.call >= 2.5"]


def test_a_measure_that_is_asked_for_twice_has_its_samples_once(calls):
    found = sweep(
        calls, {"flow.voice.count": [2]}, "loss.voice:±90", show=[measure("loss.voice", calls)], n=2
    )
    (cell,) = found.cells
    assert cell.interval.n == 2
