"""Mistakes in the Python API: each error lists the allowed values and the remedy."""

import inspect

import numpy as np
import pytest

import fairwave
from fairwave import arguments
from fairwave.measuring.measured import Measured

VARIED = {"flow.voice.count": [1, 2]}


@pytest.fixture(scope="module")
def call():
    """A short call."""
    return fairwave.build(
        "a call", "1 s", topology="dumbbell",
        flows=[fairwave.flow("voice", "udp", "voice"), fairwave.flow("files", "tcp/reno", "bulk")],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("ask", "kind", "says"),
    [
        (lambda c: fairwave.compare(c, ["flow.voice.count"]), TypeError, "a dictionary of keys to values, not ['flow"),
        (lambda c: fairwave.compare(c, None), TypeError, "{'flow.voice.transport': ['udp', 'tcp/vegas']}"),
        (lambda _: fairwave.compare("calls.toml", VARIED), TypeError, "fairwave.load('calls.toml')"),
        (lambda c: fairwave.compare(c.to_dict(), VARIED), TypeError, "fairwave.Scenario.from_dict"),
        (lambda c: fairwave.compare(c, {"flow.voice.transport": "udp,tcp/vegas"}), TypeError, "['udp', 'tcp/vegas']"),
        (lambda c: fairwave.compare(c, {"flow.voice.count": 3}), TypeError, "write [3]"),
        (lambda c: fairwave.compare(c, {"flow.voice.count": []}), ValueError, "has no values"),
        (lambda c: fairwave.compare(c, {"calls": {"few": 3}}), TypeError, "{'few': {'flow.voice.count': 5}}"),
        (lambda c: fairwave.compare(c, {"seed": [1, 2]}), ValueError, "write seeds=[1, 2]"),
        (lambda c: fairwave.compare(c, VARIED, n=0), ValueError, "n is 0, but must be 1 or more; write"),
        (lambda c: fairwave.compare(c, VARIED, n="3"), TypeError, "n is '3', but must be a whole number"),
        (lambda c: fairwave.compare(c, VARIED, n=True), TypeError, "n is True"),
        (lambda c: fairwave.compare(c, VARIED, seeds=3), TypeError, "seeds are 3, but must be a list"),
        (lambda c: fairwave.compare(c, VARIED, seeds=[]), ValueError, "seeds are empty"),
        (lambda c: c.replicate(0), ValueError, "n is 0"),
        (lambda c: c.replicate(threads="all"), TypeError, "threads is 'all'"),
        (lambda c: c.run("a"), TypeError, "a seed is a whole number"),
        (lambda c: c.plan(-1), ValueError, "a seed is a whole number"),
        (lambda c: c.cautions(10**30), ValueError, "a seed is a whole number"),
        (lambda c: c.with_overrides("a=1"), TypeError, "must be a dictionary"),
        (lambda c: c.with_overrides({"flow.voice.count": {1}}), fairwave.ScenarioError, "of the type set"),
        (lambda c: c.with_overrides({"flow.voice.count": float("nan")}), fairwave.ScenarioError, "no scenario can"),
        (lambda c: c.with_overrides({"flow.voice.count": 10**500}), fairwave.ScenarioError, "no scenario can"),
        (lambda c: c.with_overrides({"flow.voice.count": 10**5000}), fairwave.ScenarioError, "no scenario can"),
        (lambda _: fairwave.Scenario("calls.toml"), TypeError, "fairwave.load('calls.toml')"),
        (lambda _: fairwave.load({"name": "x"}), TypeError, "fairwave.Scenario.from_dict"),
        (fairwave.load, TypeError, "a scenario already"),
        (lambda _: fairwave.load(None), TypeError, "takes a path"),
        (lambda _: fairwave.build("x", "1 s", flows=fairwave.flow("a", "udp", "voice")), TypeError, "flows=[fairwave"),
        (lambda _: fairwave.build("x", "1 s", flows=None), TypeError, "must be a list"),
        (lambda c: fairwave.sweep(c, "flow.voice.count=1,2"), TypeError, "a dictionary of keys to values"),
        (lambda _: fairwave.sweep("calls.toml", VARIED), TypeError, "fairwave.load('calls.toml')"),
        (lambda c: fairwave.sweep(c, VARIED, until=0.05), ValueError, "until='mos.voice:±0.05'"),
        (lambda c: fairwave.sweep(c, VARIED, n=0), ValueError, "n is 0"),
        (lambda _: fairwave.find("calls.toml", "a", "1..3", "mos>=3"), TypeError, "fairwave.load('calls.toml')"),
        (lambda c: fairwave.find(c, "flow.voice.count", 40, "mos.voice >= 3"), ValueError, "'1..200' or [1, 5, 10]"),
        (lambda c: fairwave.find(c, "flow.voice.count", "1..9", 3.6), ValueError, "until='mos.voice >= 3.6'"),
        (lambda c: fairwave.find(c, "flow.voice.count", "1..9", "mos.voice > 9"), ValueError, "from 1 to 4.5"),
        (lambda c: c.run().measured("mso.voice"), ValueError, "did you mean 'mos"),
        (lambda c: c.run().measured("mos.voise"), LookupError, "did you mean 'voice'?"),
        (lambda c: c.run().measured("utilisation.r1>r3"), LookupError, "which have r1>r2"),
        (lambda c: c.run().measured("mos.voice", "files"), ValueError, "name one of them"),
        (lambda c: c.replicate(runs=3), TypeError, "Scenario.replicate has no argument 'runs'; did you mean n?"),
        (lambda c: c.replicate(3, 4), TypeError, "at most 1 argument without a name (n); write the others by name"),
        (lambda c: c.run(seeds=3), TypeError, "has no argument 'seeds'; did you mean seed? it takes seed"),
        (lambda c: fairwave.compare(c, vary=VARIED), TypeError, "no argument 'vary'; did you mean over?"),
        (lambda c: fairwave.compare(c, VARIED, 3), TypeError, "write the others by name: n=…, seeds=…"),
        (fairwave.compare, TypeError, "fairwave.compare lacks over; it takes scenario, over, n, seeds"),
        (lambda c: fairwave.find(c, "flow.voice.count", "1..9"), TypeError, "fairwave.find lacks until; it takes"),
        (lambda c: fairwave.find(c, "a", "1..9", "mos>1", reps=3), TypeError, "no argument 'reps'; did you mean n?"),
        (lambda c: fairwave.sweep(c, VARIED, untill="mos:±1"), TypeError, "did you mean until?"),
        (lambda _: fairwave.load(), TypeError, "fairwave.load lacks source"),
        (lambda _: fairwave.load(path="a.toml"), TypeError, "did you mean source?"),
        (lambda _: fairwave.flow("a", "udp"), TypeError, "fairwave.flow lacks traffic; it takes name, transport"),
        (lambda _: fairwave.explain("red", 2), TypeError, "takes at most 1 argument without"),
        (lambda c: fairwave.find(c, "flow.voice.count", [1, 2], "mos > 1", seed="x"), TypeError, "seed is 'x', but"),
        (lambda c: fairwave.find(c, "flow.voice.count", [1, 2], "mos > 1", level="x"), TypeError, "must be a number"),
        (lambda c: fairwave.find(c, "flow.voice.count", [1, 2], "mos > 1", tell=3), TypeError, "tell is 3, but must"),
        (lambda c: fairwave.sweep(c, VARIED, n=1, progress=3), TypeError, "progress is 3, but must be a function"),
        (lambda c: c.run().measured(3), TypeError, "measure is 3, but must be a measure or a text"),
        (lambda c: c.run().measured("mos", 3), TypeError, "group is 3, but must be a text"),
        (lambda c: c.run().answer(3), TypeError, "group is 3, but must be a text"),
        (lambda c: c.run().page("out", scenario=3), TypeError, "scenario is 3, but must be a scenario"),
        (lambda c: c.run().measured("mos.voice").summary("seed"), TypeError, "by is 'seed', but must be a list"),
        (lambda _: fairwave.Results.load(3), TypeError, "folder is 3, but must be a text or a path"),
        (lambda c: c.run().plot("mos", colour="red"), TypeError, "Results.plot has no argument 'colour'; it takes"),
        (lambda _: fairwave.explain(None), TypeError, "fairwave.explain(\"vegas\")"),
        (lambda _: fairwave.explain("wlan"), LookupError, "markov"),
        (lambda _: fairwave.run, AttributeError, "fairwave.load('calls.toml').run()"),
        (lambda _: fairwave.compair, AttributeError, "did you mean fairwave.compare?"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_answered_with_what_to_write(call, ask, kind, says):
    with pytest.raises(kind) as error:
        ask(call)
    assert says in str(error.value.args[0])


def test_results_are_not_saved_onto_a_file(call, tmp_path):
    (tmp_path / "there").write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match="is a file, but results need a folder"):
        call.run().save(tmp_path / "there")
    assert (tmp_path / "there").read_text(encoding="utf-8") == "mine"


def test_tables_may_be_varied_and_are_labelled_by_their_toml(call):
    tables = [{"name": "tcp/vegas", "alpha": 2.0}, "tcp/reno"]
    results = fairwave.compare(call, {"flow.files.transport": tables}, n=1)
    labels = results.to_polars("runs")["flow.files.transport"].to_list()
    assert labels == ['{ name = "tcp/vegas", alpha = 2.0 }', "tcp/reno"]


def test_numbers_of_numpy_are_numbers(call):
    varied = fairwave.compare(call, {"flow.voice.count": np.array([1, 2])}, seeds=np.arange(1, 3))
    assert varied.to_polars("runs")["flow.voice.count"].to_list() == [1, 1, 2, 2]
    assert call.with_overrides({"flow.voice.count": np.int64(3)}).to_dict()["flow"][0]["count"] == 3


def test_measures_to_show_are_written_as_at_the_command_line(call):
    cells = fairwave.sweep(call, VARIED, show=["loss.voice", "mos.voice"], n=1).cells
    assert [cell.asked for cell in cells] == ["loss.voice", "mos.voice"] * 2


def test_more_threads_than_any_number_holds_are_as_many_as_there_are_runs(call):
    assert call.replicate(2, threads=10**30).runs.num_rows == 2


def test_a_type_error_inside_a_function_is_left_alone():
    @arguments.checked
    def call(value):
        return value + "1"

    with pytest.raises(TypeError, match="unsupported operand"):
        call(1)


def test_measures_are_named_as_in_plots_and_requirements(call):
    results = call.run()
    assert results.measured("mos.voice").samples() == results.measured("mos", "voice").samples()
    assert results.measured("mos.voice", "voice").samples() == results.measured("mos.voice").samples()
    assert results.measured("utilisation.r1>r2").measure.unit == "%"


def public():
    """Every public function, and every public method of scenarios, results and measured values."""
    for name in fairwave.__all__:
        found = getattr(fairwave, name)
        if inspect.isfunction(found):
            yield pytest.param(found, id=name)
    for kind in (fairwave.Scenario, fairwave.Results, Measured):
        for name, found in vars(kind).items():
            method = found.__func__ if isinstance(found, classmethod) else found
            if inspect.isfunction(method) and not name.startswith("_"):
                yield pytest.param(method, id=f"{kind.__name__}.{name}")


@pytest.mark.parametrize("function", list(public()))
def test_every_function_names_its_arguments_if_one_does_not_fit(function):
    parameters = inspect.signature(function).parameters
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    known = [
        name
        for name, one in parameters.items()
        if one.kind is not one.VAR_KEYWORD and name not in {"self", "cls"}
    ]
    if takes_any and not known:
        return  # the scenario language checks these keywords
    owner = [None] * (next(iter(parameters), "") in {"self", "cls"})
    with pytest.raises(TypeError) as error:
        function(*owner, **({} if takes_any else {"nonsense": None}))
    for name in known or ["none"]:
        assert name in str(error.value)
