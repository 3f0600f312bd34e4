"""Runs with hundreds of flow groups: one pass measures all, and the output shows the worst."""

import math
import re
from collections import Counter

import pytest

from fairwave import load
from fairwave.answers import conference, verdict
from fairwave.answers.bands import scale_of
from fairwave.answers.events import Events
from fairwave.measuring import measures
from fairwave.measuring.parts import Parts
from fairwave.results import Results
from fairwave.tables import Table
from many_groups import many_groups

GROUPS = 400


@pytest.fixture(scope="module")
def many():
    return load(many_groups(GROUPS)).run(1)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("many") / "many.toml"
    path.write_text(many_groups(GROUPS, calls=1))
    return path


def alone(results, group):
    """The same runs as if they had this flow group alone."""
    tables = {name: results.rows(name) for name in results.tables}
    return Results(
        {
            name: rows.take(rows["group"].is_(group)) if "group" in rows else rows
            for name, rows in tables.items()
        },
        results.axes,
        results.provenance,
    )


def same(one, other):
    return len(one) == len(other) and all(
        (a is None) == (b is None) and (a is None or math.isclose(a, b, rel_tol=1e-12))
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("group", ["g0", "g17", "g399"])
def test_all_groups_in_one_pass_are_measured_as_each_alone(many, group):
    by_itself = alone(many, group)
    for define in measures.STANDARD.values():
        measure = define(group)
        assert same(measure.compute(many).values, measure.compute(by_itself).values), measure.id


def test_several_runs_keep_their_own_numbers():
    results = load(many_groups(9, calls=2, duration_s=2)).replicate(3)
    for group in ("g0", "g8"):
        by_itself = alone(results, group)
        for define in measures.STANDARD.values():
            measure = define(group)
            assert same(measure.compute(results).values, measure.compute(by_itself).values), measure.id


def passes(groups, monkeypatch):
    """Counts the passes over columns for the verdict and the first ten groups."""
    results = load(many_groups(groups, calls=2, duration_s=2)).run(1)
    counted = Counter()
    whole = Parts._sum

    def count(self, values):
        counted["passes"] += 1
        return whole(self, values)

    with monkeypatch.context() as patch:
        patch.setattr(Parts, "_sum", count)
        str(results.answer())
        for group in range(groups):
            for define in measures.STANDARD.values():
                define(f"g{group}").compute(results)
    return counted["passes"]


def test_the_number_of_passes_does_not_grow_with_the_groups(monkeypatch):
    assert passes(24, monkeypatch) == passes(96, monkeypatch) > 0


def test_rows_of_a_group_are_found_without_a_look_at_all_rows(many):
    flows = many.rows("flows")
    for group in ("g0", "g250", "g399"):
        assert flows.only(group=group).to_dicts() == flows.take(flows["group"].is_(group)).to_dicts()
    assert flows.only(group="nobody").num_rows == 0
    mixed = Table.from_columns({"name": [f"w{at % 11}" for at in range(44)], "at": list(range(44))})
    assert mixed.only(name="w3")["at"].to_list() == [3, 14, 25, 36]


def test_the_answer_counts_bands_and_names_the_ten_worst(many):
    answer = many.answer()
    first, *others = answer.sentences
    assert len(others) == verdict.WORST
    mos = {f"g{at}": measures.mos(f"g{at}").compute(many).interval() for at in range(GROUPS)}
    held = {name: Events.collect(many, name).hold(cell) for name, cell in mos.items()}
    scale = scale_of("mos")
    counts = Counter(map(scale.word, held.values()))
    told = {word: int(count) for count, word in re.findall(r"(\d+) (?:is|are) (\w+)", first)}
    assert told == dict(counts)
    assert sum(told.values()) == GROUPS
    assert len(counts) > 1, "the test needs groups in several bands"
    order = {"poor": 0, "fair": 1, "good": 2}
    worst = sorted(mos, key=lambda name: (order[scale.classify_mean(held[name])], mos[name].mean))[
        : verdict.WORST
    ]
    assert [re.search(r"\b(g\d+)\b", one)[1] for one in others] == worst
    assert set(answer.left_out) == mos.keys() - set(worst)


def test_up_to_twenty_groups_are_all_told():
    answer = load(many_groups(verdict.MOST_GROUPS, calls=1, duration_s=2)).run(1).answer()
    assert len(answer.sentences) == verdict.MOST_GROUPS
    assert not answer.left_out


def test_run_shows_the_worst_and_says_how_to_see_all(fairwave, file):
    status, out, _ = fairwave("run", file)
    assert status == 0
    assert len(re.findall(r"^g\d+: \d+ ×", out, re.MULTILINE)) == verdict.WORST
    assert len(out.splitlines()) < 300
    assert "390 flow groups are not shown: `fairwave run --groups all` shows every group" in out


def test_run_shows_all_groups_if_asked(fairwave, tmp_path):
    (tmp_path / "some.toml").write_text(many_groups(30, calls=1))
    _, out, _ = fairwave("run", tmp_path / "some.toml", "--groups", "all", "--measures", "mos")
    assert len(re.findall(r"^g\d+: \d+ ×", out, re.MULTILINE)) == 30
    assert len(re.findall(r"^The call of g\d+ is ", out, re.MULTILINE)) == 30
    assert "not shown" not in out


def test_groups_names_those_to_show(fairwave, file):
    _, out, _ = fairwave("run", file, "--groups", "g7,g300")
    assert re.findall(r"^(g\d+): \d+ ×", out, re.MULTILINE) == ["g7", "g300"]
    assert "The call of g7 is" in out
    assert "not shown" not in out


def test_a_measure_of_a_group_shows_that_group(fairwave, file):
    _, out, _ = fairwave("run", file, "--measures", "mos.g123")
    assert re.search(r"^g123: ", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--groups", "g999"],
            "--groups: the scenario has no flow group 'g999'; it has g0, g1, g2 and 397 others",
        ),
        (["--groups", "all,g1"], "leave out the other names"),
        (["--groups", ","], "names no flow group"),
        (["--groups", "g1", "--json"], "--json has every flow group; leave out --groups"),
    ],
)
def test_groups_that_are_none_are_refused(fairwave, file, options, message):
    status, _, err = fairwave("run", file, *options)
    assert status == 2
    assert message in err
    assert len(err) < 600


def test_files_and_endless_data_are_ranked_among_themselves():
    text = many_groups(12, calls=1, duration_s=2)
    bulk = [
        f'[[flow]]\nname = "b{at}"\nfrom = "a{at % 8}"\nto = "core"\ntransport = "tcp/cubic"\ntraffic = "bulk"\n'
        for at in range(12)
    ]
    answer = load("\n".join([text, *bulk])).run(1).answer()
    assert re.match(r"Of the 12 groups of calls and other streams, ", answer.sentences[0])
    ranges = next(one for one in answer.sentences if one.startswith("The 12 groups of endless data get "))
    assert re.search(r"get \S+ to \S+ Mb/s of goodput\. The 10 worst follow\.", ranges)
    assert len(re.findall(r"b\d+ gets", answer.sentences[-1])) == verdict.WORST


def test_the_calls_of_many_conferences_are_found_by_their_names():
    names = [
        f"team{call}-p{one}-x-to-p{other}-x"
        for call in range(30)
        for one in range(3)
        for other in range(3)
        if one != other
    ]
    found = conference.calls(names)
    assert [one.name for one in found] == [f"team{call}" for call in range(30)]
    assert all(sorted(one.pairs) == ["p0-x", "p1-x", "p2-x"] for one in found)


def test_check_says_once_what_is_the_same_of_many_groups(fairwave, file):
    status, out, _ = fairwave("check", file)
    assert status == 0
    assert "speech of g0, g1, g2 and 397 others" in out
    assert len(out.splitlines()) < 60
