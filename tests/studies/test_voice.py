"""The study of voice from end to end, at the fewest points and for seconds instead of minutes."""

import json
from dataclasses import replace

import polars as pl
import pytest

from fairwave.layers import study as find
from fairwave_studies.voice import study
from fairwave_studies.voice.points import BEYOND, CALLS, ESSENTIAL, PAPER, grid
from fairwave_study.parts import Data
from page_links import problems
from validation import kept

FIGURES = [f"000-{number}" for number in range(2, 25)] + [f"001-{number}" for number in range(2, 13)]
VERDICTS = {"reproduced", "not reproduced", "undecided"}


def hurried(described, duration="1500 ms"):
    """The same study with shorter runs."""
    grids = [replace(one, base=one.base.with_overrides({"duration": duration})) for one in described.grids]
    return replace(described, grids=grids)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    out = tmp_path_factory.mktemp("voice")
    return hurried(study(extent=ESSENTIAL)).run(out, replications=2), out


def test_the_ledger_has_every_figure_of_both_papers_and_every_claim(outcome):
    ledger = json.loads((outcome[1] / "ledger.json").read_text(encoding="utf-8"))
    assert [one["id"] for one in ledger["figures"]][: len(FIGURES)] == FIGURES
    assert [one["id"] for one in ledger["claims"]] == [f"V{number}" for number in range(1, 40)]
    assert {one["verdict"] for one in ledger["claims"]} <= VERDICTS
    assert {one["id"] for one in ledger["tables"]} == {"calls", "bottlenecks", "beyond"}


def test_every_figure_leaves_a_picture_and_its_numbers(outcome):
    for name in FIGURES:
        for kind in ("svg", "png", "csv", "parquet"):
            assert (outcome[1] / "figures" / f"{name}.{kind}").stat().st_size > 100


def test_the_page_stands_alone(outcome):
    page = (outcome[1] / "index.html").read_text(encoding="utf-8")
    assert problems(outcome[1] / "index.html") == []
    assert all(f'id="figure-{name}"' in page for name in FIGURES)


def test_every_call_is_rated_and_none_beyond_the_scale(outcome):
    from fairwave_studies.voice.quantities import MOS, R_FACTOR

    data = outcome[0].data
    assert data.measured(MOS, CALLS).frame["value"].is_between(1, 4.5).all()
    assert data.measured(R_FACTOR, CALLS).frame["value"].is_between(0, 100).all()


def test_what_was_sent_is_timely_delayed_or_lost_by_every_reading(outcome):
    flows = outcome[0].data.results[CALLS].to_polars("flows")
    rows = outcome[0].data.results[CALLS].to_polars("timeliness")
    sums = (
        rows.with_columns(total=rows["timely"] + rows["delayed"])
        .select("run", "group", "flow", "total")
        .unique()
    )
    joined = sums.join(flows, on=["run", "group", "flow"])
    assert (joined["total"] == joined["units_received"]).all()


def test_the_same_calls_are_made_whatever_carries_them(outcome):
    results = outcome[0].data.results[CALLS]
    flows = results.to_polars("flows").join(results.to_polars("runs"), on="run")
    voice = flows.filter(pl.col("group").cast(pl.String) == "voice")
    point = ["ftp", "payload", "per", "flows", "seed", "flow"]
    made = (pl.col("units_sent") + pl.col("units_in_flight")).n_unique()
    spoken = voice.group_by(point).agg(made.alias("different"), pl.len())
    assert (spoken["different"] == 1).all()
    assert (spoken["len"] == 4).all()


def test_a_single_figure_runs_only_its_own_points(tmp_path):
    ran = []
    hurried(study(extent=ESSENTIAL)).run(
        tmp_path, replications=1, figure="000-17", progress=lambda done, total: ran.append(total)
    )
    assert ran[-1] == 3 * 4  # three error rates, four transports
    ledger = json.loads((tmp_path / "ledger.json").read_text(encoding="utf-8"))
    assert [one["id"] for one in ledger["figures"]] == ["000-17"]
    assert ledger["claims"] == []


def test_every_assumption_that_a_claim_hangs_on_is_listed_and_every_factor_exists():
    described = find("voice")
    listed = {one.id for one in described.assumptions}
    assert {id_ for claim in described.claims for id_ in claim.assumptions} <= listed
    assert {one.swept for one in described.assumptions if one.swept} <= {
        one.id for one in described.readings.factors
    }


def test_the_papers_scenarios_share_points_so_that_each_is_simulated_once():
    points = grid(PAPER).points()
    assert len({point.scenario.hash for point in points}) == len(points) == 204


WAYS = study().readings
EACH = [
    {factor.id: value.name}
    for factor in WAYS.factors
    for value in factor.values[1:]
    if factor.id not in {"timely", "sent"}
]


@pytest.mark.parametrize("part", EACH, ids=lambda part: next(iter(part.values())))
def test_every_value_of_a_factor_changes_what_is_simulated(part):
    def hashes(reading):
        return {point.scenario.hash for one in WAYS.essential(reading).grids for point in one.points()}

    assert hashes(WAYS.complete(part)) != hashes(WAYS.base())


def test_the_base_reading_is_the_scenario_as_it_is_written_but_for_what_ns2_did_in_2005():
    point = next(
        one for one in WAYS.essential(WAYS.base()).grids[0].points() if one.labels["transport"] == "tcp/real"
    )
    written = point.scenario.to_dict()
    calls = next(one for one in written["flow"] if one["name"] == "voice")
    assert calls["transport"]["initial-rto"] == "6 s"
    assert calls["traffic"]["first"] == "silence"


def test_rates_are_admitted_whatever_they_do_and_what_they_do_is_said():
    assert not WAYS.refuses({**WAYS.base(), "first-bottleneck": "4 Mb/s"})
    assert not WAYS.refuses({**WAYS.base(), "first-bottleneck": "1.2 Mb/s", "rate-reading": "on the mean"})
    rates = WAYS.factor("first-bottleneck")
    assert not rates.value("2 Mb/s").flagged
    assert "19 calls" in rates.value("1.2 Mb/s").flagged
    assert "120 calls" in rates.value("4 Mb/s").flagged


def test_no_value_is_more_plausible_than_one_before_it():
    for factor in WAYS.factors:
        told = [one.plausibility for one in factor.values]
        assert told == sorted(told, reverse=True), factor.id
        assert told[0] > told[-1], factor.id


def test_what_is_not_admitted_stands_among_the_assumptions_with_its_reason():
    refused = [one for one in find("voice").assumptions if one.id.startswith("refused-")]
    assert len(refused) > 3
    assert all(one.statement.startswith("Not admitted as a reading: ") and one.source for one in refused)


def _calls(part, transport="tcp/real", **labels):
    """The scenario of a reading at a point, in words."""
    wanted = {"transport": transport, "ftp": 20, "flows": 80, "payload": "160 B", "per": 0.01, **labels}
    points = WAYS.essential(WAYS.complete(part)).grids[0].points()
    written = next(one for one in points if one.labels == wanted).scenario.to_dict()
    return {one["name"]: one for one in written["flow"]} | {"topology": written["topology"]}


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ({"clock": "100 ms"}, "tick", "100 ms"),
        ({"clock": "500 ms"}, "tick", "500 ms"),
        ({"window": "20 segments"}, "receiver-window", 20),
        ({"window": "none"}, "receiver-window", 1000),
        ({"acknowledgements": "delayed"}, "delayed-ack", True),
        ({"send-jitter": "1 ms"}, "send-jitter", "1 ms"),
    ],
)
def test_what_belongs_to_tcp_is_set_for_calls_and_transfers_alike(part, key, value):
    flows = _calls(part)
    assert flows["voice"]["transport"][key] == value
    assert flows["ftp"]["transport"][key] == value
    assert key not in _calls(part, "udp")["voice"]["transport"]


def test_headers_are_counted_by_protocol():
    part = {"headers": "as ns-2, UDP with 40 bytes"}
    header = {
        one: _calls(part, one)["voice"]["transport"].get("header") for one in ("udp", "tcp/vegas", "tcp/real")
    }
    assert header == {"udp": "40 B", "tcp/vegas": None, "tcp/real": None}


def test_hops_and_access_links_have_the_delays_of_the_reading():
    topology = _calls({"hops": "50 ms", "access": "10 ms for all"})["topology"]
    assert topology["first-bottleneck"]["delay"] == topology["shared-bottleneck"]["delay"] == "50 ms"
    assert topology["access"]["delay"] == "10 ms"


@pytest.fixture(scope="module")
def odd():
    """The claims' points under a reading far from the base, for seconds instead of minutes."""
    part = {"timely": "one-way delay", "sent": "by the transport", "buffers": "75 kB", "errors": "per byte"}
    described = hurried(WAYS.essential(WAYS.complete(part)))
    return described, {one.id: one.run((1, 2), threads=2) for one in described.grids}


def test_every_claim_can_be_judged_under_an_odd_reading(odd):
    described, results = odd
    data = Data(results)
    assert {str(one.evidence(data).verdict()) for one in described.claims} <= VERDICTS


def test_every_transport_carries_a_single_call_on_an_empty_path_without_errors():
    from fairwave_studies.voice import quantities as q

    alone = grid({"one": {"ftp": (0,), "payload": ("160 B",), "per": (0.0,), "flows": (1,)}})
    results = WAYS.apply(alone, WAYS.base()).run((1, 2), threads=2)
    flows = results.to_polars("flows")
    assert (flows["units_lost"] == 0).all()
    assert (flows["packets_retransmitted"] == 0).all()
    for transport in ("udp", "tcp/vegas", "tcp/westwood", "tcp/real"):
        # After each silence ns-2's TCPs restart from one segment, which delays the first words.
        assert (q.DELAY_P95.compute(results).samples(transport=transport) < 300).all(), transport


def test_redundancy_repairs_and_a_deadline_keeps_speech_young():
    """120 calls for ten seconds: the mechanisms must show their purpose, with any effect on the rating."""
    from fairwave_studies.voice import quantities as q

    grid_ = next(one for one in study(extent=ESSENTIAL).grids if one.id == BEYOND)
    few = replace(
        grid_,
        base=grid_.base.with_overrides({"duration": "10 s"}),
        axes={
            **grid_.axes,
            "ftp": {0: {"flow.ftp.count": 0}},
            "flows": {20: {"flow.voice.count": 20}, 120: {"flow.voice.count": 120}},
        },
    )
    data = Data({BEYOND: few.run((1,), threads=2)})

    def value(measure, **labels):
        return float(data.measured(measure, BEYOND).samples(ftp=0, **labels)[0])

    lost, repaired = (value(q.loss(), flows=20, transport=one) for one in ("udp", "udp, redundant"))
    assert repaired < lost / 3
    assert value(q.WIRE, flows=20, transport="udp, redundant") > 1.8 * value(
        q.WIRE, flows=20, transport="udp"
    )
    assert value(q.DELAY, flows=120, transport="tcp/real") > 1000
    assert value(q.DELAY, flows=120, transport="tcp/real, partial") < 500
    # Units that never left the sender are not part of the traffic on the wire.
    for one in ("tcp/real", "tcp/real, partial"):
        made, wired = (
            value(q.index(q.ShareDefinition("gap", sent)), flows=120, transport=one)
            for sent in q.SENT.values()
        )
        assert made + 0.1 < wired <= 1
        made, wired = (value(q.loss(sent), flows=120, transport=one) for sent in q.SENT.values())
        assert 0 <= wired < made - 10
    made, wired = (value(q.loss(sent), flows=120, transport="udp") for sent in q.SENT.values())
    assert made == pytest.approx(wired)


def test_the_kept_claims_are_those_of_the_study():
    claims = {claim["id"]: claim["statement"] for claim in kept.read("studies/voice")["claims"]}
    assert claims == {claim.id: claim.statement for claim in find("voice").claims}


def test_the_papers_figures_have_one_panel_as_in_the_papers_and_the_other_meanings_stand_apart():
    from fairwave_studies.voice.quantities import TIMELY, define_shares, delayed, index

    drawn = {one.id: one for one in find("voice").figures}
    for name in FIGURES:
        assert len(drawn[name].measures) == 1, name
        assert not drawn[name].panel_titles
    how = define_shares(WAYS.base())
    assert drawn["000-3"].measures == [index(how)]
    assert drawn["000-5"].measures == [delayed(how)]
    for name in FIGURES:
        pointed = drawn[name].caption.rpartition("Figure ")[2].rstrip(".")
        if pointed and "other meanings" in drawn[name].caption:
            assert len(drawn[pointed].measures) == len(TIMELY), name
            differs = {
                axis for axis in drawn[name].fix if drawn[name].fix[axis] != drawn[pointed].fix.get(axis)
            }
            assert not differs, name
    assert "Figure timely-calls-00." in drawn["000-3"].caption
