"""Scenarios from objects and as text, without loss in either direction; tables in the formats of other libraries."""

import sys
import types
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fairwave
from fairwave import notebook
from fairwave.scenario import Scenario, load
from scenarios import CALLS

FILES = sorted([*Path("examples").glob("*.toml"), *Path("tests/golden").glob("*.toml")])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_text_and_objects_lose_nothing_either_way(file):
    read = load(file)
    for again in (
        Scenario.from_dict(read.to_dict()),
        load(read.to_toml()),
        load(read.to_json()),
        load(Scenario.from_dict(read.to_dict()).to_toml()),
    ):
        assert again.to_dict() == read.to_dict()
        assert again.hash == read.hash
        assert again.plan() == read.plan()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    count=st.integers(1, 30),
    rate=st.integers(1, 10_000),
    transport=st.sampled_from(["udp", "tfrc", "tcp/vegas"]),
    timely=st.lists(st.integers(1, 999), min_size=1, max_size=3, unique=True),
    name=st.text("abcäöü-_ 'é\"\\", min_size=1).filter(str.strip),
)
def test_what_is_built_reads_back_as_it_was(count, rate, transport, timely, name):
    built = fairwave.build(
        name,
        "10 s",
        topology={"preset": "dumbbell", "bottleneck": {"rate": f"{rate} kb/s"}},
        flows=[
            fairwave.flow(
                "voice", transport, "voice", count=count, timely=[f"{t} ms" for t in sorted(timely)]
            )
        ],
        warmup="1 s",
        record={"bin": "1 s"},
    )
    assert built.name == name
    assert Scenario.from_dict(built.to_dict()) == built
    assert load(built.to_toml()) == built
    assert built.to_dict()["flow"][0].get("count", 1) == count


def test_keywords_stand_for_the_languages_keys():
    built = fairwave.build(
        "two hosts",
        "5 s",
        links=[fairwave.link("a", "b", "1 Mb/s", "5 ms", queue="codel", reverse={"rate": "2 Mb/s"})],
        flows=[fairwave.flow("call", "udp", {"kind": "voice", "always-on": True}, from_="a", to="b")],
        send_jitter=None,
    )
    assert built.to_dict()["flow"][0]["from"] == "a"
    text = CALLS.replace('name = "voice"', 'name = "voice"\nsink-access = { delay = "9 ms" }')
    group = fairwave.flow(
        "voice", "udp", {"kind": "voice", "always-on": True}, count=4, sink_access={"delay": "9 ms"}
    )
    same = fairwave.build(
        "calls",
        "6 s",
        warmup="1 s",
        topology={"preset": "dumbbell", "bottleneck": {"rate": "300 kb/s", "delay": "20 ms"}},
        flows=[group, fairwave.flow("files", "tfrc", "bulk")],
    )
    assert same == load(text)


def test_objects_that_no_scenario_holds_are_refused_in_words():
    with pytest.raises(fairwave.ScenarioError, match="what no scenario can"):
        fairwave.build(
            "x", "1 s", topology="dumbbell", flows=[fairwave.flow("v", "udp", "voice", count=object())]
        )
    with pytest.raises(fairwave.ScenarioError, match="did you mean `udp`"):
        fairwave.build("x", "1 s", topology="dumbbell", flows=[fairwave.flow("v", "upd", "voice")])


@pytest.fixture(scope="module")
def runs():
    return load(CALLS).replicate(2)


def addresses(column):
    """Memory addresses of the values of an Arrow column."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return [chunk.buffers()[1].address for chunk in chunks]


def test_a_mistake_in_objects_is_shown_by_its_own_line():
    table = {
        "name": "t", "duration": "1 s", "link": [{"from": "a", "to": "b", "rate": "1 Mb/s", "delay": "1 ms"}],
        "flow": [{"name": "x", "from": "a", "to": "b", "transport": "udp", "traffic": {"rat": "1 kb/s"}}],
    }  # fmt: skip
    table["flow"][0]["traffic"]["kind"] = "cbr"
    with pytest.raises(fairwave.ScenarioError) as raised:
        fairwave.Scenario.from_dict(table)
    message = str(raised.value)
    assert '"rat": "1 kb/s"' in message
    assert max(map(len, message.splitlines())) < 120
    assert raised.value.__context__ is None


def test_polars_pandas_and_others_take_tables_without_copying(runs):
    import pandas as pd

    column = runs.flows["goodput_bps"]
    assert addresses(pl.DataFrame(runs.flows)["goodput_bps"].to_arrow()) == addresses(column)
    frame = runs.to_pandas("flows", arrow=True)
    assert addresses(frame["goodput_bps"].array.__arrow_array__()) == addresses(column)
    assert isinstance(frame["goodput_bps"].dtype, pd.ArrowDtype)
    assert runs.to_pandas("flows")["goodput_bps"].tolist() == column.to_pylist()
    # DuckDB and every other user of the protocol.
    stream = pa.RecordBatchReader.from_stream(runs.flows)
    assert addresses(stream.read_all()["goodput_bps"]) == addresses(column)


def test_a_measure_is_an_arrow_stream(runs):
    found = runs.measured("mos", "voice")
    assert pa.table(found)["value"].to_pylist() == found.frame["value"].to_list()


def test_notebooks_show_scenarios_results_and_measures(runs):
    scenario = load(CALLS.replace('name = "calls"', 'name = "a <b> call"'))
    assert "a &lt;b&gt; call" in scenario._repr_html_()
    assert "<td>tfrc</td>" in scenario._repr_html_()
    assert "2 runs" in runs._repr_html_()
    assert "goodput_bps" in runs._repr_html_()
    assert str(runs.measured("mos", "voice").interval()) in runs.measured("mos", "voice")._repr_html_()


class Kernel:
    """A notebook's kernel, reduced to the parts that progress uses."""

    def __init__(self, monkeypatch, shell="ZMQInteractiveShell"):
        self.shown = []
        module = types.ModuleType("IPython")
        module.get_ipython = type(shell, (), {})
        module.display = types.ModuleType("IPython.display")
        module.display.HTML = str
        module.display.display = self.display
        monkeypatch.setitem(sys.modules, "IPython", module)
        monkeypatch.setitem(sys.modules, "IPython.display", module.display)

    def display(self, text, *, display_id):
        assert display_id
        self.shown.append(text)
        return self

    def update(self, text):
        self.shown.append(text)


def test_a_notebook_shows_progress_of_long_work_and_takes_it_away(monkeypatch):
    kernel = Kernel(monkeypatch)
    monkeypatch.setattr(notebook, "PATIENCE_S", 0.0)
    load(CALLS).replicate(3)
    assert kernel.shown[0].startswith("<progress value='0.00' max='3'></progress> 0 of 3 runs")
    assert kernel.shown[-1] == ""


def test_short_work_and_terminals_show_none(monkeypatch):
    kernel = Kernel(monkeypatch)
    monkeypatch.setattr(notebook, "PATIENCE_S", 1e6)
    load(CALLS).replicate(2)
    assert kernel.shown == []
    kernel = Kernel(monkeypatch, "TerminalInteractiveShell")
    monkeypatch.setattr(notebook, "PATIENCE_S", 0.0)
    load(CALLS).replicate(2)
    assert kernel.shown == []


def test_a_notebook_shows_the_page_of_a_comparison_within_itself(tmp_path):
    call = load(CALLS)
    made = fairwave.compare(call, {"flow.voice.transport": ["udp", "tcp/reno"]}, n=2)
    page = made.page(tmp_path / "page", scenario=call)
    assert str(page) == str(tmp_path / "page" / "index.html")
    assert page._repr_html_().startswith('<iframe title="fairwave: page" srcdoc="&lt;!DOCTYPE html&gt;')
    alone = call.replicate(2)
    with pytest.raises(TypeError, match="needs the scenario of these runs"):
        alone.page(tmp_path / "other")
    assert alone.page(tmp_path / "other", scenario=call).path.is_file()
    grid = {"flow.voice.count": [1, 2], "flow.voice.transport": ["udp", "tcp/reno"]}
    with pytest.raises(LookupError, match="a page shows one axis"):
        fairwave.compare(call, grid, n=1).page(tmp_path / "third")


def test_a_group_that_no_run_has_is_refused_with_those_that_there_are(runs):
    with pytest.raises(
        LookupError, match=r"no flow group 'voic' .* have files, voice; did you mean 'voice'\?"
    ):
        runs.measured("mos", "voic")
    with pytest.raises(ValueError, match=r"did you mean 'mos'"):
        runs.measured("moss", "voice")


def test_threads_and_seeds_that_are_none_are_refused():
    with pytest.raises(ValueError, match="threads is 0, but must be 1 or more"):
        load(CALLS).replicate(1, threads=0)
    with pytest.raises(ValueError, match="a seed is a whole number"):
        load(CALLS).run(seed=-1)


def test_help_teaches(capsys):
    import pydoc

    text = pydoc.render_doc(fairwave, renderer=pydoc.plaintext)
    for word in ("fw.build(", "fw.find(", "explain", "class Scenario", "class Results", "compare("):
        assert word in text
