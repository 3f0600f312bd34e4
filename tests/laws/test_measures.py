"""Custom measures: available by name everywhere, null with a reason if they are undefined."""

import pytest

import fairwave as fw
from fairwave import reference
from fairwave.answers.lines import lines
from fairwave.answers.run_tables import measure_groups
from fairwave.ask.wording import condition, precision
from fairwave.measuring import measures, remarks
from scenarios import CALLS


@pytest.fixture(autouse=True)
def remove_custom_measures():
    """Removes custom measures, because they appear everywhere and other tests must not see them."""
    yield
    for name in list(measures.OWN):
        del measures.OWN[name], measures.STANDARD[name]


@pytest.fixture(scope="module")
def results():
    return fw.load(CALLS).with_(duration="2 s").replicate(3)


def deepest():
    @fw.measure("deepest-wait", unit="ms", better="lower", title="deepest wait", least=0)
    def deepest_wait(run):
        """Longest one-way delay of any unit, in ms.

        Further words.
        """
        delays = run.flows["delay_max_s"].drop_nulls()
        return 1e3 * delays.max() if len(delays) else None

    return deepest_wait


def test_it_is_measured_run_by_run_of_a_group_or_of_all_flows(results):
    deepest()
    for group in ("voice", "files", None):
        rows = [row for row in results.flows.to_pylist() if group in {row["group"], None}]
        delays = [
            [row["delay_max_s"] for row in rows if row["run"] == run and row["delay_max_s"]]
            for run in range(3)
        ]
        expected = [1e3 * max(each) if each else None for each in delays]
        assert results.measured("deepest-wait", group).frame["value"].to_list() == expected
    measured = results.measured("deepest-wait", "voice").measure
    assert (measured.label, measured.better, measured.limits[0]) == ("voice deepest wait (ms)", "lower", 0)


def test_it_sees_the_tables_of_its_run_and_group_seed_and_labels():
    seen = []

    @fw.measure("looker")
    def looker(run):
        """Looks."""
        seen.append((run.group, run.seed, run.labels, run.flows.height, run.links.height, run.units.height,
                     run.groups["group"].to_list(), run.table("nothing").height, run.series.height))  # fmt: skip
        return run.flows.height

    small = fw.load(CALLS).with_(duration="2 s")
    found = fw.compare(small, {"flow.voice.count": [2, 3]}, seeds=[5])
    assert found.measured("looker", "voice").frame["value"].to_list() == [2, 3]
    links = found.links.to_pylist()
    assert seen[1] == (
        "voice",
        5,
        {"flow.voice.count": 3},
        3,
        sum(row["run"] == 1 for row in links),
        0,
        ["voice"],
        0,
        0,
    )


def test_questions_name_it(results):
    deepest()
    scenario = fw.load(CALLS)
    assert precision("deepest-wait.voice:±5%", scenario).of.measure.unit == "ms"
    wanted = condition("deepest-wait.voice <= 80 ms", scenario)
    assert (wanted.bound, wanted.of.measure.id) == (80, "deepest-wait")
    swept = fw.sweep(
        scenario.with_(duration="2 s"), {"flow.voice.count": [1]}, "deepest-wait.voice:±50%", n=2, most=3
    )
    assert swept.cells[0].measure.id == "deepest-wait"
    answer = fw.find(
        scenario.with_(duration="2 s"),
        "flow.voice.count",
        "1..12",
        "deepest-wait.voice <= 100000",
        n=2,
        most=2,
    )
    assert "deepest-wait.voice <= 100000 ms holds" in str(answer)


def test_tables_and_pages_show_it_behind_the_usual_ones(results):
    shown = {row["measure"] for row in measure_groups(fw.load(CALLS), results)}
    deepest()
    rows = {row["measure"]: row for row in measure_groups(fw.load(CALLS), results) if row["group"] == "voice"}
    assert set(rows) - shown == {"deepest-wait"}
    assert list(rows)[-1] == "deepest-wait"
    found = fw.compare(fw.load(CALLS).with_(duration="2 s"), {"transport": {
        "udp": {"flow.voice.transport": "udp"}, "tfrc": {"flow.voice.transport": "tfrc"}}}, n=2)  # fmt: skip
    mine = [line for line in lines(found, "transport", "voice") if line.measure.id == "deepest-wait"]
    assert [line.group for line in mine] == ["voice"]  # units of bulk data have no delay
    assert set(mine[0].cells) == {"udp", "tfrc"}


def test_it_is_listed_and_explained_by_its_docstring():
    deepest()
    assert dict(reference.listed("measures"))["deepest-wait"] == "Longest one-way delay of any unit, in ms."
    (entry,) = reference.entries("deepest-wait")
    assert entry.about == "Longest one-way delay of any unit, in ms."
    assert entry.notes[0] == "Unit: ms; from 0 to inf; less is better."


def test_where_it_is_not_defined_it_is_null_with_the_reason(results):
    @fw.measure("moody")
    def moody(run):
        """Is defined in odd runs only, and for no files."""
        if run.group == "files":
            return fw.Undefined("files have no mood")
        return 1.0 if run.seed % 2 else fw.Undefined("even seeds have no mood")

    assert results.measured("moody", "voice").frame["value"].to_list() == [1.0, None, 1.0]
    said = remarks.list_notes(results, "moody", "voice")
    assert [str(one) for one in said] == ["not defined: even seeds have no mood (in 1 of 3 runs)"]
    assert remarks.undefined(results, "moody", "voice") == ""
    assert remarks.undefined(results, "moody", "files") == "files have no mood"
    rows = {row["group"]: row for row in measure_groups(fw.load(CALLS), results) if row["measure"] == "moody"}
    assert rows["files"]["text"] == "not defined"
    assert rows["files"]["remarks"] == ["not defined: files have no mood"]


@pytest.mark.parametrize(
    ("answer", "value", "reason"),
    [(None, None, []), (float("nan"), None, ["it came to no number"]), (3, 3.0, []), (True, 1.0, [])],
)
def test_other_answers(results, answer, value, reason):
    @fw.measure("fixed-answer")
    def fixed(run):
        """Returns the same value each time."""
        return answer

    assert results.measured("fixed-answer").frame["value"].to_list() == [value] * 3
    assert [why for why, _ in measures.OWN["fixed-answer"](results, None)] == reason


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        (lambda run: run.flows["nothing"].max(), "ColumnNotFoundError"),
        (lambda run: float("inf"), "it answered inf"),
        (lambda run: "much", "it answered 'much'"),
    ],
)
def test_trouble_is_told_with_measure_and_seed(results, definition, said):
    fw.measure("troubled")(definition)
    with pytest.raises(fw.RunError) as error:
        results.measured("troubled")
    assert str(error.value).startswith("measure `troubled`, seed 1: ")
    assert said in str(error.value)


@pytest.mark.parametrize(
    "traffic", ["conversation", {"kind": "transfer", "size": "20 kB"}, "web", "bulk", "voice"]
)
def test_ones_own_measure_is_shown_of_every_kind_of_group(traffic, tmp_path):
    seen = {}

    @fw.measure("rows-seen", least=0)
    def rows_seen(run):
        """Rows of the tables about this group."""
        seen[run.group] = (run.conversations.height, run.transfers.height, run.completions.height)
        return float(run.flows.height)

    name = traffic if isinstance(traffic, str) else traffic["kind"]
    transport = "tcp/sack" if name in {"transfer", "web", "bulk"} else "udp"
    line = fw.build(
        "own", "20 s", topology={"preset": "dumbbell"},
        flows=[fw.flow("mine", transport, traffic, count=2), fw.flow("others", "udp", "voice")],
    )  # fmt: skip
    results = line.run()
    shown = {(row["group"], row["measure"]): row for row in measure_groups(line, results)}
    for group in ("mine", "others"):
        assert shown[group, "rows-seen"]["usual"]
        assert shown[group, "rows-seen"]["mean"] > 0
    conversations, transfers, completions = seen["mine"]
    assert (conversations > 0) == (name == "conversation")
    assert (transfers > 0, completions > 0) == (name in {"transfer", "web"},) * 2
    compared = fw.compare(line, {"flow.others.count": [1, 2]}, n=2)
    rows = lines(compared, compared.axes[0], "mine")
    assert [one.group for one in rows if one.measure.id == "rows-seen" and one.usual] == ["mine", "others"]
