"""Defaults that a scenario uses: their values, their list in `check`, and the output of `--doubt`."""

import json

import pytest

import fairwave as fw
from fairwave import reference
from fairwave.defaults import CUBIC, TCP, TRAFFIC, used_defaults
from fairwave.doubting import AS_IT_IS, plan

LINE = """
name = "line"
duration = "20 s"
warmup = "4 s"

[[link]]
from = "a"
to = "b"
rate = "2 Mb/s"
delay = "20 ms"
queue = { capacity = { packets = 100 } }

[[flow]]
name = "call"
from = "a"
to = "b"
transport = "udp"
traffic = { kind = "voice", codec = "g711" }
playout = { strategy = "fixed", delay = "60 ms" }

[[flow]]
name = "file"
from = "a"
to = "b"
transport = "tcp/cubic"
traffic = "bulk"
"""

EVERYTHING = """
name = "everything"
duration = "5 s"

[topology]
preset = "dumbbell"
bottleneck = { rate = "5 Mb/s", delay = "20 ms" }
""" + "".join(
    f'\n[[flow]]\nname = "{kind}"\ntransport = "{transport}"\ntraffic = "{kind}"\n'
    for kind, transport in (
        ("voice", "udp"), ("conversation", "udp"), ("web", "tcp/sack"), ("stream", "tcp/cubic"), ("media", "webrtc"),
    )
)  # fmt: skip


def named(scenario):
    return {one.name: one for one in used_defaults(scenario)}


@pytest.fixture
def line(tmp_path):
    file = tmp_path / "line.toml"
    file.write_text(LINE, encoding="utf-8")
    return file


def test_a_scenario_without_a_preset_has_that_of_linux():
    bare = fw.load(LINE)
    assert bare == fw.load('preset = "linux"\n' + LINE)
    assert bare != fw.load('preset = "rfc"\n' + LINE)
    tcp = {flow["name"]: flow["transport"] for flow in fw.load('preset = "rfc"\n' + LINE).plan(1)["flows"]}[
        "file[0]"
    ]
    assert tcp["preset"] == "rfc"


def test_a_preset_of_a_flow_goes_before_that_of_the_scenario_and_survives_writing():
    mixed = fw.load(LINE).with_overrides({"flow.file.transport.preset": "rfc"})
    again = fw.load(mixed.to_toml())
    assert again == mixed != fw.load(LINE)
    assert again.to_dict()["flow"][1]["transport"]["preset"] == "rfc"


def test_the_values_that_are_listed_are_those_of_the_simulator():
    def rows(name, kind):
        (entry,) = (one for one in reference.entries(name) if one.kind == kind)
        return {row[0]: row[2] for _, rows in entry.tables() for row in rows}

    cubic, web, stream = rows("tcp/cubic", "transports"), rows("web", "traffic"), rows("stream", "traffic")
    said = {known.key.partition(".")[2]: known.value for known in (*TCP, *CUBIC)}
    assert cubic["initial-window"].startswith(said["initial-window"].partition(" ")[0])
    assert (said["segment"], cubic["segment"].partition(";")[0]) == ("1448 B", '"1.448 kB"')
    for key in ("min-rto", "ack-delay"):
        assert cubic[key].startswith(f'"{said[key]}"'), key
    assert cubic["recovery"].startswith('"rack"')
    assert cubic["hystart"] == "true"
    assert web["page"] == '"http-archive-2025"'
    assert stream["abr"] == '"bola"'
    assert stream["buffer"] in {'"60 s"', '"1 min"'}
    assert rows("voice", "traffic")["codec"] == '"g711"'
    assert rows("webrtc", "transports")["start"] == '"300 kb/s"'


def test_every_alternative_of_every_default_can_be_run():
    scenario = fw.load(EVERYTHING)
    found = named(scenario)
    keys = {known.name for kind in TRAFFIC for known in TRAFFIC[kind]} | {known.name for known in TCP} - {
        "ECN"
    }
    assert keys <= found.keys()
    assert {"queue", "buffer", "send jitter of hosts", "details of TCP"} <= found.keys()
    planned = plan(scenario)
    assert not planned.impossible
    base = planned.base
    for label, changes in planned.axis.items():
        assert (base.with_overrides(dict(changes)) == base) == (label == AS_IT_IS), label


def test_a_value_that_the_scenario_sets_is_not_listed():
    scenario = fw.load(LINE)
    assert {"shortest timeout", "first window", "details of TCP", "queue"} <= named(scenario).keys()
    assert named(scenario)["queue"].used_by == ("a>b",)
    for key, value, gone in (
        ("flow.file.transport.min-rto", "1 s", "shortest timeout"),
        ("flow.file.transport.initial-window", 4, "first window"),
        ("preset", "rfc", "details of TCP"),
        ("flow.file.transport.preset", "rfc", "shortest timeout"),
        ("hosts.send-jitter", "1 ms", "send jitter of hosts"),
    ):
        assert gone not in named(scenario.with_overrides({key: value})), key
    tail = LINE.replace("queue = { capacity", 'queue = { discipline = "drop-tail", capacity')
    assert "queue" not in named(fw.load(tail))


def test_only_what_matters_is_listed():
    scenario = fw.load(LINE)
    assert "ECN" not in named(scenario), "no queue marks"
    assert "ECN" in named(scenario.with_overrides({"link.a>b.queue.discipline": "codel"}))
    assert "web page" not in named(scenario)
    assert "playout buffer" not in named(scenario), "the call sets it"
    alone = fw.load(LINE.partition('[[flow]]\nname = "file"')[0])
    assert list(named(alone)) == ["send jitter of hosts"], "a queue in which nothing waits does not matter"
    own = {"kind": "web", "main": "10 kB", "object": "10 kB", "objects": 9}
    assert "web page" not in named(scenario.with_overrides({"flow.file.traffic": own}))


def test_check_lists_defaults_with_the_systems_that_have_them(fairwave, line):
    status, out, _ = fairwave("check", line)
    assert status == 0
    assert "defaults that this scenario uses" in out
    row = next(one for one in out.splitlines() if one.startswith("shortest timeout"))
    assert "200 ms" in row
    assert "Linux 6.x" in row
    assert "1 s (RFC 6298)" in row
    _, out, _ = fairwave("check", line, "--json")
    found = {one["name"]: one for one in json.loads(out)["defaults"]}
    assert found["shortest timeout"]["alternatives"] == [{"value": "1 s", "systems": "RFC 6298"}]
    assert found["shortest timeout"]["used_by"] == ["file"]


def test_doubt_names_each_default_that_would_change_the_verdict(fairwave, line):
    status, out, err = fairwave("run", line, "-n", 2, "--doubt")
    assert status == 0
    assert err.startswith("doubt: "), "what it costs is said before it runs"
    assert "alternatives of" in err
    assert "runs would" in err
    (first,) = (one for one in out.splitlines() if one.startswith("The verdict depends on defaults: "))
    assert "queue" in first
    said = next(one for one in out.splitlines() if one.startswith("With fq-codel"))
    assert "instead of drop-tail as queue: " in said
    assert "call: poor to good (MOS " in said


def test_doubt_is_in_the_document(fairwave, line):
    _, out, _ = fairwave("run", line, "-n", 2, "--doubt", "--json")
    doubt = json.loads(out)["doubt"]
    assert "queue" in doubt["verdict_depends_on"]
    codel = next(one for one in doubt["trials"] if one["alternative"] == "fq-codel")
    (call,) = (one for one in codel["effects"] if one["group"] == "call")
    assert call["bands"] == ["poor", "good"]
    assert call["changes_verdict"]
    assert call["after"] - call["before"] == pytest.approx(call["difference"])
    assert all(one["changes"] for one in doubt["trials"])


def test_doubt_says_so_where_no_default_changes_the_verdict():
    alone = fw.load(LINE.partition('[[flow]]\nname = "file"')[0])
    doubted = fw.doubt(alone, 2)
    assert doubted.changing == []
    assert str(doubted) == "No default changes the verdict (2 alternatives of 1 default, 2 runs each)."
    in_step = fw.doubt(alone.with_overrides({"hosts.send-jitter": "0 s"}), 1)
    assert str(in_step) == "This scenario uses no default that has a plausible alternative."


def test_doubt_holds_calls_with_a_long_gap_below_good():
    """The mean of a minute hides an interruption of 2 s: the same bands as in `run`."""
    alone = fw.load(LINE.partition('[[flow]]\nname = "file"')[0])
    cut = [
        {"name": name, "at": at, "link": "a<>b", "state": name}
        for name, at in (("down", "20 s"), ("up", "22 s"))
    ]
    for events, band in (([], "good"), (cut, "fair")):
        doubted = fw.doubt(alone.with_(duration="60 s", event=events), 2)
        assert {effect.bands for one in doubted.trials for effect in one.effects} == {(band, band)}


def test_alternatives_have_the_seeds_of_the_scenario_and_smallest_differences_can_be_changed():
    scenario = fw.load(LINE)
    doubted = fw.doubt(scenario, 2, seed=5)
    assert sorted(doubted.results.rows("runs")["seed"].unique()) == [5, 6]
    assert doubted.results.measured("mos", "call").interval(default=AS_IT_IS).mean == pytest.approx(
        scenario.replicate(seeds=[5, 6]).measured("mos", "call").interval().mean
    )
    strict = fw.doubt(scenario, 2, seed=5, relevant={"mos": 4, "goodput": "90 %"})
    assert len(strict.changing) <= len(doubted.changing)


def test_a_page_has_the_alternatives_or_else_the_defaults(fairwave, line, tmp_path):
    fairwave("run", line, "--doubt", "--out", tmp_path / "doubt")
    page = (tmp_path / "doubt/index.html").read_text(encoding="utf-8")
    assert 'id="table-doubt"' in page
    assert "OpenWrt and most Linux distributions" in page
    fairwave("run", line, "--out", tmp_path / "plain")
    page = (tmp_path / "plain/index.html").read_text(encoding="utf-8")
    assert 'id="table-defaults"' in page


def test_a_wrong_argument_is_answered_with_those_that_fit():
    with pytest.raises(TypeError, match=r"fairwave\.doubt"):
        fw.doubt("line.toml")
    with pytest.raises(TypeError, match="relevant"):
        fw.doubt(fw.load(LINE), relevance={"mos": 1})
