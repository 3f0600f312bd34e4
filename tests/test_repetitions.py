"""Options that are given twice: each repetition counts, or the command refuses it and names the option."""

import json

import pytest
import typer.main
from typer.core import TyperOption

import fairwave
from fairwave.ask.wording import AskError, variation
from fairwave.cli import plain
from fairwave.cli.app import app
from fairwave.cli.repetition import takes_several

TEXT = """
name = "twice"
duration = "2 s"

[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms" }

[[flow]]
name = "a"
transport = "udp"
traffic = "voice"

[[flow]]
name = "b"
transport = "udp"
traffic = "voice"
"""

HONOURED = {
    "--against",
    "--capture",
    "--case",
    "--grid",
    "--groups",
    "--laws",
    "--loss-pattern",
    "--measures",
    "--qlog-flow",
    "--record",
    "--relevant",
    "--require",
    "--set",
    "--show",
    "--until",
    "--vary",
}
"""Options that take several values: every command uses all of them."""


@pytest.fixture
def two(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(TEXT)
    return path


def commands(group=None, path=()):
    """Every command of the command line with its words."""
    for name, command in (group or typer.main.get_command(app)).commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def options():
    """Every option of every command."""
    for words, command in commands():
        for option in command.params:
            if isinstance(option, TyperOption):
                yield pytest.param(command, option, id=f"{' '.join(words)} {option.opts[0]}")


def words_of(command, option):
    """The option twice, in each of its spellings, after the required arguments of the command."""
    needed = [
        word
        for one in command.params
        if one.required and one is not option
        for word in ([one.opts[0], "k=1..9"] if isinstance(one, TyperOption) else ["x"])
    ]
    names = [*option.opts, *option.secondary_opts]
    if option.is_flag:
        return [*needed, names[0], names[-1]]
    return [*needed, names[0], "2", names[-1], "2"]


@pytest.mark.parametrize(("command", "option"), list(options()))
def test_an_option_given_twice_counts_twice_or_is_refused(command, option):
    words = words_of(command, option)
    if takes_several(option):
        found = command.make_context("x", list(words)).params[option.name]
        assert found is True if option.is_flag else len(found) == 2
        assert option.is_flag or option.opts[0] in HONOURED
        return
    with pytest.raises(Exception, match="is given twice") as error:
        command.make_context("x", list(words))
    assert error.value.exit_code == 2
    assert option.opts[0] in str(error.value)


@pytest.mark.parametrize("name", list(plain.COMMANDS))
def test_the_quick_way_leaves_repetitions_to_the_library(name):
    for option, (_, takes) in plain.options_of(name).items():
        value = {"flag": [], "no": [], "number": ["2"]}.get(takes, ["a=1"])
        read = plain.arguments([name, "x.toml", option, *value, option, *value])
        has_several = takes in {"texts", "paths"} or (takes == "flag" and option != "--page")
        assert (read is not None) == has_several, option


def test_the_two_names_of_an_option_are_one_option(fairwave, two):
    status, _, complaint = fairwave("run", two, "-n", "2", "--replications", "3")
    assert (status, complaint.count("\n")) == (2, 1)
    assert "--replications/-n is given twice, but takes one value; keep one" in complaint


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--set", "flow.a.count=2", "--set", "flow.a.count=3"], "would replace --set flow.a.count=…"),
        (
            ["check", "--set", "topology.bottleneck.rate=2 Mb/s", "--set", "topology.bottleneck={}"],
            "or put topology.bottleneck first",
        ),
        (["compare", "--vary", "flow.a.count=1,2,1"], "has the value 1 twice"),
        (["compare", "--vary", "flow.a.count=1..3,2"], "has the value 2 twice"),
        (["compare", "--vary", "flow.a.count=1,2", "--vary", "flow.a.count=3"], "names flow.a.count twice"),
        (["compare", "--vary", "flow.a.count=1,2", "--set", "flow.a.count=3"], "would replace --set"),
        (["compare", "--vary", "flow.a.count,flow.a.count=1,2"], "ties flow.a.count to itself"),
        (["compare", "--vary", "flow.a.count,=1,2"], "a key is missing next to a comma"),
        (["compare", "--over", "udp,tfrc,udp"], "--over names udp twice"),
        (["compare", "--over", "udp,tfrc", "--set", "flow.a.transport=rap"], "would replace --set"),
        (["sweep", "--grid", "flow.a.count=1,1"], "has the value 1 twice"),
        (["sweep", "--grid", "flow.a.count=1", "--grid", "flow.a.count=2"], "names flow.a.count twice"),
        (
            ["sweep", "--grid", "flow.a.count,flow.b.count=1", "--grid", "flow.b.count=2"],
            "names flow.b.count twice",
        ),
        (
            ["find", "--vary", "flow.a.count=1..9", "--until", "mos.a >= 3", "--set", "flow.a.count=3"],
            "would replace --set",
        ),
    ],
)
def test_a_key_given_twice_is_refused_with_the_remedy(fairwave, two, words, said):
    command, *rest = words
    status, _, complaint = fairwave(command, two, *rest)
    assert status == 2
    assert said in complaint


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--capture", "link:r1>r2=a.pcapng", "--capture", "link:r1>r2=b.pcapng"], "one file for each place"),
        (["--capture", "link:*=a.pcapng", "--capture", "link:r1>r2=b.pcapng"], "link:* includes link:r1>r2"),
        (
            ["--loss-pattern", "link:r1>r2=a.txt", "--loss-pattern", "link:r1>r2=b.txt"],
            "one file for each place",
        ),
        (
            ["--loss-pattern", "link:r1>r2=a.txt", "--loss-pattern", "link:r2>r1=a.txt"],
            "but holds one pattern",
        ),
    ],
)
def test_no_file_of_packets_stays_empty_in_silence(fairwave, two, words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, _, complaint = fairwave("run", two, *words)
    assert status == 2
    assert said in complaint


def test_a_later_setting_refines_an_earlier_one(fairwave, two):
    status, said, _ = fairwave(
        "check", two, "--expand", "--set", "topology.bottleneck.queue={ discipline = \"codel\" }",
        "--set", "topology.bottleneck.queue.capacity={ packets = 7 }",
    )  # fmt: skip
    assert status == 0
    assert "codel" in said


def test_tied_keys_take_the_same_value():
    assert variation("flow.a.count, flow.b.count=1..3") == ("flow.a.count, flow.b.count", {1: 1, 2: 2, 3: 3})
    read = fairwave.load(TEXT)
    for key in ("flow.a.count,flow.b.count", ("flow.a.count", "flow.b.count")):
        found = fairwave.compare(read, {key: [1, 2]}, n=1)
        (axis,) = found.axes
        groups = found.to_polars("groups").join(found.to_polars("runs"), on="run")
        flows = {(row["group"], row[axis]): row["flows"] for row in groups.to_dicts()}
        assert flows == {("a", 1): 1, ("b", 1): 1, ("a", 2): 2, ("b", 2): 2}
    with pytest.raises(AskError, match="to itself"):
        variation("flow.a.count,flow.a.count=1..3")


def test_a_comparison_names_both_tied_keys(fairwave, two, tmp_path):
    status, said, _ = fairwave(
        "compare", two, "--vary", "flow.a.count,flow.b.count=1,2", "-n", "2", "--no-audio", "--json", "--out",
        tmp_path / "out",
    )  # fmt: skip
    assert status == 0
    told = json.loads(said)
    assert told["alternatives"]["2"] == {"flow.a.count": 2, "flow.b.count": 2}
    assert "a.count = b.count = " in " ".join(told["verdict"])
    assert "a.count = b.count" in (tmp_path / "out" / "index.html").read_text()


def test_a_sweep_names_both_tied_keys(fairwave, two):
    status, said, _ = fairwave("sweep", two, "--grid", "flow.a.count,flow.b.count=1,2", "-n", "2")
    assert status == 0
    assert "a.count = b.count" in said


def test_python_refuses_a_value_that_is_given_twice():
    with pytest.raises(ValueError, match="hold 2 twice; write each value once"):
        fairwave.compare(fairwave.load(TEXT), {"flow.a.count": [1, 2, 2]})


def test_a_key_that_is_searched_twice_may_be_tied(fairwave, two):
    words = ("--vary", "flow.a.count=1..4", "--vary", "flow.b.count=1..4", "--until", "mos.a >= 1")
    status, _, complaint = fairwave("find", two, *words)
    assert status == 2
    assert "--vary KEY,KEY=LOW..HIGH" in complaint


def test_a_factor_given_twice_in_a_reading_is_refused(fairwave, tmp_path):
    from fairwave import layers

    factor = layers.study("voice").readings.factors[0]
    first, second = (one.name for one in factor.values[:2])
    file = tmp_path / "reading.json"
    file.write_text(f'{{"{factor.id}": {json.dumps(first)}, "{factor.id}": {json.dumps(second)}}}')
    status, _, complaint = fairwave("study", "voice", "--reading", file)
    assert status == 2
    assert f"reading.json, line 1: the key {factor.id!r} stands twice" in complaint
