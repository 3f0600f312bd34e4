"""The study of dropping from end to end, in runs of 20 s instead of 500."""

import functools
import itertools
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from fairwave import _native
from fairwave.layers import study as find
from fairwave_studies.dropping import (
    agreement,
    calibration,
    claims,
    points,
    published,
    recognition,
    study,
)
from fairwave_studies.dropping import experiments as why
from fairwave_studies.dropping import quantities as q
from fairwave_studies.dropping.points import BASE, ESSENTIAL, Extent
from fairwave_study import experiments, texts
from fairwave_study.claims import Comparison, Evidence
from fairwave_study.folder import Case
from fairwave_study.parts import Data
from page_links import problems

LETTERS = {4: "abcd", 5: "abcd", 6: "ab", 7: "ab", 8: "abcd", 9: "abcdef"}
PAPER = [f"004-{number}{letter}" for number, letters in LETTERS.items() for letter in letters]
TABLES = [f"table-{number}" for number in range(5, 10)]
VERDICTS = {"reproduced", "not reproduced", "undecided", "alike"}
SHORT = Extent(duration=12, spoken=False)
READINGS = study().readings
FACTORS = READINGS.factors


ONE_OF_EACH = (
    "004-4b", "004-5c", "004-6a", "004-7b", "004-8c", "004-9e", "g107-CA9", "guard-CA6", "distance", "related-CA5",
)  # fmt: skip


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """The whole study without figures that differ only in their case, because drawing takes longer than simulating."""
    out = tmp_path_factory.mktemp("dropping")
    described = study(extent=SHORT)
    few = [one for one in described.figures if one.id in ONE_OF_EACH]
    return replace(described, figures=few).run(out, replications=2), out


def test_every_figure_and_table_of_the_paper_is_described():
    described = study(extent=SHORT)
    assert [one.id for one in described.figures][: len(PAPER)] == PAPER
    assert [one.id for one in described.tables][: len(TABLES)] == TABLES


def test_the_ledger_has_every_table_and_claim_of_the_paper(outcome):
    ledger = json.loads((outcome[1] / "ledger.json").read_text(encoding="utf-8"))
    assert [one["id"] for one in ledger["tables"]][: len(TABLES)] == TABLES
    assert [one["id"] for one in ledger["claims"]] == [f"Q{number}" for number in range(1, 33)]
    assert {one["verdict"] for one in ledger["claims"]} <= VERDICTS


def test_every_figure_leaves_a_picture_and_its_numbers(outcome):
    for name in ONE_OF_EACH:
        for kind in ("svg", "png", "csv"):
            assert (outcome[1] / "figures" / f"{name}.{kind}").stat().st_size > 100


def test_the_page_stands_alone(outcome):
    page = (outcome[1] / "index.html").read_text(encoding="utf-8")
    assert problems(outcome[1] / "index.html") == []
    assert all(f'id="figure-{name}"' in page for name in ONE_OF_EACH)


def test_the_one_calibration_is_printed_with_what_was_found(outcome):
    ledger = json.loads((outcome[1] / "ledger.json").read_text(encoding="utf-8"))
    (calibration,) = ledger["calibrations"]
    assert calibration["target"] == "83 ms"
    assert f"{points.calibrated(BASE):g} packets" in calibration["setting"]
    assert calibration["measured"].endswith("ms of queueing delay")


def test_what_claims_hang_on_is_listed_and_what_is_swept_is_a_factor():
    described = study(extent=SHORT)
    listed = {one.id for one in described.assumptions}
    assert {name for claim in described.claims for name in claim.assumptions} <= listed
    swept = {name for one in described.assumptions for name in one.swept.split(", ") if name}
    assert swept == {one.id for one in FACTORS}


def test_every_value_of_every_factor_is_known_to_the_scenarios():
    for values, factor in (
        (points.LAWS, READINGS.factor("red")),
        (points.UNITS, READINGS.factor("red-unit")),
        (points.LEAST, READINGS.factor("thresholds")),
        (points.TRANSFERS_BPS, READINGS.factor("transfer")),
        (points.TCP, READINGS.factor("tcp")),
        (points.BUFFERS_S, READINGS.factor("buffer")),
        (points.AVQ_BUFFERS_S, READINGS.factor("avq-buffer")),
        (points.AVQ_LAWS, READINGS.factor("avq-law")),
        (points.REM_UNITS, READINGS.factor("rem")),
        (points.EARLY_VICTIMS, READINGS.factor("victim-drops")),
        (points.CLOCKS, READINGS.factor("clock")),
        (points.SINKS, READINGS.factor("acknowledgements")),
        (points.WINDOWS, READINGS.factor("window")),
        (points.SEGMENTS, READINGS.factor("headers")),
        (points.UNRESPONSIVE, READINGS.factor("unresponsive")),
    ):
        assert list(values) == [one.name for one in factor.values], factor.id
    keys = itertools.product(*([one.name for one in factor.values] for factor in calibration.OVER))
    assert set(points.CALIBRATED) == set(keys)


@pytest.mark.parametrize(
    ("factor", "value"), [(one.id, value.name) for one in FACTORS for value in one.values[1:]]
)
def test_every_value_changes_what_is_simulated_or_judged_and_can_be_run(factor, value):
    base, other = ({**BASE, factor: name} for name in (BASE[factor], value))
    if factor == "logarithm":
        assert q.opinion(base) is not q.opinion(other)
        return
    assert hashes(other) != hashes(base)


@functools.cache
def _hashes(names: tuple[str, ...]) -> tuple[str, ...]:
    reading = dict(zip(BASE, names, strict=True))
    few = [
        replace(grid, keep=lambda labels: labels.get("victim", points.FRONT) == points.FRONT)
        for grid in study(reading, ESSENTIAL, essential=True).grids
    ]
    return tuple(point.scenario.hash for grid in few for point in grid.points())


def hashes(reading: dict[str, str]) -> tuple[str, ...]:
    """The scenarios with Drop-Front, and those for Figure 7."""
    return _hashes(tuple(reading.values()))


def test_the_base_reading_is_the_first_value_of_each_factor_and_the_studys():
    described = study(extent=SHORT).readings
    assert described is not None
    assert described.base() == BASE
    assert described.complete({"red": "ns-2.35"}) == {**BASE, "red": "ns-2.35"}
    assert {one.id for one in described.essential(BASE).claims} == {
        one.id for one in study(extent=SHORT).claims if one.id not in claims.HEARD
    }


ODD = {"red": "ns-2.35", "red-unit": "packets", "punsi": "flow", "rem": "packets of 1000", "periods": "exponential",
       "headers": "payload", "avq-law": "authors', exchanged", "logarithm": "decimal"}  # fmt: skip


@pytest.mark.parametrize("differs", [{}, ODD])
def test_every_essential_claim_can_be_judged_under_a_reading_by_the_same_comparisons(differs):
    reading = {**BASE, **differs}
    tiny = replace(ESSENTIAL, duration=5, always_on=2)
    described = study(reading, tiny, essential=True)
    data = Data({grid.id: grid.run([1, 2]) for grid in described.grids})
    labels = {}
    for claim in described.claims:
        judged = claim.judge(data)
        labels[claim.id] = [one.label for one in judged.evidence.comparisons]
        assert labels[claim.id], claim.id
    assert LABELS.setdefault("of all readings", labels) == labels


LABELS: dict[str, dict[str, list[str]]] = {}


def test_a_compound_claim_is_judged_part_by_part_and_each_part_is_told(outcome):
    ledger = json.loads((outcome[1] / "ledger.json").read_text(encoding="utf-8"))
    parts = {one["id"]: [part["name"] for part in one["parts"]] for one in ledger["claims"]}
    # These runs render no audio, so comparisons of intelligibility are left out.
    joined = {
        name: list(test)
        for name, test in claims.tests(Case(BASE)).items()
        if not callable(test) and name not in claims.HEARD
    }
    assert len(joined) > 10
    assert {name: found for name, found in parts.items() if found} == joined


def test_every_figure_of_throughput_has_one_panel_with_input_output_and_what_is_printed(outcome):
    drawn = pl.read_csv(outcome[1] / "figures" / "004-6a.csv")
    assert set(drawn["of"]) == {"in", "out", "printed"}
    (sel,) = (drawn.filter(pl.col("victim") == points.DROP_SEL) for _ in range(1))
    carried = sel.filter(pl.col("of") == "out")["mean"].sum()
    shares = sel.filter(pl.col("of") == "printed")["mean"] / carried * 100
    assert shares.to_list() == pytest.approx([39, 21, 40], abs=0.01)
    none = pl.read_csv(outcome[1] / "figures" / "004-5c.csv")
    assert set(none["of"]) == {"in", "out"}
    into, out = (none.filter(pl.col("of") == one)["mean"].to_list() for one in ("in", "out"))
    assert all(a >= b > 0 for a, b in zip(into, out, strict=True))


def test_every_refusal_has_a_reason_and_none_of_them_is_a_value():
    admitted = {value.name for one in FACTORS for value in one.values}
    refused = texts.refused(points.__file__)
    assert len(refused) > 5
    assert all(what not in admitted and len(why) > 20 for what, why in refused)


def test_the_loads_that_the_papers_cells_imply_are_reckoned_from_them():
    loss = published.LOSS_S2["CA6"][published.QUEUE]["AVQ", points.DROP_SEL]
    voice, other, _ = published.SHARES["CA6", "AVQ", points.DROP_SEL]
    asked, wanted, _ = points.CASES["CA6"]
    assert pytest.approx(voice / (asked * (1 - loss / 100))) == points.FROM_LOSSES
    assert pytest.approx(other / wanted) == points.FROM_NEED
    assert (round(points.FROM_LOSSES, 2), round(points.FROM_NEED, 1)) == (1.18, 1.1)


def test_a_buffer_of_50_packets_could_not_hold_the_calibrated_wait():
    plan = points.dumbbell(**points.loads("CA1", BASE)).plan()
    sizes = {"a": (92, 100), "b-near": (252, 1 / 0.03), "b-far": (252, 1 / 0.03), "c": (492, 1 / 0.06)}
    sizes |= {"other": (1500, 64e3 / 12000), "ftp": (1500, 262e3 / 12000)}
    found = [sizes[flow["name"].split("[")[0]] for flow in plan["flows"]]
    mean = sum(size * rate for size, rate in found) / sum(rate for _, rate in found)
    assert mean == pytest.approx(564, rel=0.02)
    assert 50 * mean * 8 / points.RATE_BPS * 1e3 < published.QUEUEING_MS["CA1"][points.TAIL]


def test_what_the_exploration_shortens_is_said():
    described = study(extent=SHORT).readings
    assert described is not None
    for words in ("60 s instead of 500", "90 s", "32.4 s", "5.56 times", "Q11, Q18, Q32"):
        assert words in described.shortened


@pytest.mark.parametrize(
    ("differs", "path", "value"),
    [
        ({"tcp-delays": "39 ms"}, "transfer", 0.039),
        ({}, "transfer", 0.269),
        ({"mix": "equal numbers"}, "calls", 1.0),
        ({}, "calls", 3.0),
    ],
)
def test_transfers_come_from_where_and_calls_are_as_many_as_a_reading_says(differs, path, value):
    reading = {**BASE, **differs}
    plan = points.dumbbell(
        PAPER_LENGTH, reading, **points.on_off(reading), **points.loads("CA5", reading)
    ).plan()
    if path == "calls":
        count = {name: sum(flow["name"].startswith(name) for flow in plan["flows"]) for name in ("a[", "b-")}
        assert count["b-"] / count["a["] == pytest.approx(value, rel=0.2)
        return
    delays = {link["name"]: link["delay_s"] for link in plan["links"]}
    ways = [
        delay + delays["r1>r2"] + delays[name.replace("ftp-s", "r2>ftp-d").split(">r1")[0]]
        for name, delay in delays.items()
        if name.startswith("ftp-s") and name.endswith(">r1")
    ]
    assert max(ways) == pytest.approx(value)


PAPER_LENGTH = Extent()


def test_the_quantile_of_delays_is_that_of_the_packets():
    heard = {f"flow.{group}.timely": points.THRESHOLDS for group in points.VOICE}
    base = points.dumbbell(Extent(20), **points.loads("CA1", BASE), **heard, **{"record.units": ["*"]})
    results = base.replicate(1)
    units = results.to_polars("units").filter(~pl.col("flow").cast(pl.String).str.starts_with("other"))
    delays = (1e3 * (units["arrived_s"] - units["created_s"])).drop_nans()
    for measure, part in ((q.MEDIAN, 0.5), (q.LATEST_TENTH, 0.9)):
        (found,) = measure.compute(results).frame["value"]
        assert found == pytest.approx(delays.quantile(part), abs=4), measure.id


def test_what_a_class_loses_at_the_bottleneck_is_what_came_and_was_not_served_and_does_not_wait():
    results = points.dumbbell(Extent(20), **points.loads("CA1", BASE)).replicate(1)
    rows = results.to_polars("classes").filter(pl.col("link").cast(pl.String) == points.BOTTLENECK)
    lost = rows.select(
        pl.col("class").cast(pl.String),
        (100 * (pl.col("arrivals") - pl.col("served") - pl.col("waiting")) / pl.col("arrivals")).alias(
            "value"
        ),
    )
    found = q.DROPPED.compute(results).frame
    assert dict(found.select(pl.col("class").cast(pl.String), "value").iter_rows()) == pytest.approx(
        dict(lost.iter_rows())
    )


def test_every_experiment_switches_what_readings_admit():
    described = study(extent=SHORT)
    assert described.readings is not None
    for one in described.experiments:
        first, *others = [
            (described.readings.complete(side.reading), side.changes is not None) for side in one.sides
        ]
        assert others
        assert all(side != first for side in others), one.id


def test_experiments_are_carried_out_and_their_words_come_from_what_they_measured(monkeypatch, tmp_path):
    monkeypatch.setattr(points, "ESSENTIAL", replace(ESSENTIAL, duration=3, always_on=2))
    monkeypatch.setattr(experiments, "FRESH", (21, 22))
    found = experiments.carry_out(study(extent=SHORT), tmp_path, threads=2, only=("why-Q2", "why-Q12"))
    assert [one.experiment.id for one in found] == ["why-Q2", "why-Q12"]
    for one in found:
        assert all(one.verdict(side.label) in one.paragraph() for side in one.experiment.sides)
        for name in one.experiment.quantities:
            taken = [one.interval(side.label, name).mean for side in one.experiment.sides]
            assert np.isfinite(taken).all(), name


def test_every_experiments_words_tell_the_numbers_of_every_quantity():
    """Made-up numbers that are distinguishable in the words."""
    for one in study(extent=SHORT).experiments:
        named = list(one.quantities)
        made, told = {}, {}
        for i, side in enumerate(one.sides):
            made[side.label] = Evidence([Comparison(why.RATIO, np.array([2.0, 2.1, 2.2]) + i, 2.0)])
            told[side.label] = {
                name: Comparison(name, np.full(3, 100.0 * (i + 1) + k)) for k, name in enumerate(named)
            }
        words = experiments.FoundExperiment(one, made, told).paragraph()
        for k, name in enumerate(named):
            assert any(f"{100 * (i + 1) + k}" in words for i in range(len(one.sides))), (one.id, name)


def test_the_likely_set_up_is_a_reading_and_not_the_base():
    described = study(extent=SHORT)
    (account,) = described.accounts
    assert described.readings is not None
    assert described.readings.differs(described.readings.complete(account.setup)) == account.setup
    kinds = {one.kind for one in FACTORS if one.kind}
    assert set(account.words) == kinds


def test_late_of_what_came_through_leaves_out_what_was_dropped(outcome):
    place = {"case": "CA7", "queue": "RED", "victim": points.FRONT}
    late, gone = (
        outcome[0].data.measured(one, points.ON_OFF).samples(**place) for one in (q.LATE_LOSS, q.QUEUE_LOSS)
    )
    taken = why._late_of_received(points.FRONT)(outcome[0].data)
    assert taken == pytest.approx(late / (1 - gone / 100))


def test_red_is_that_of_1993_in_the_base_reading():
    queue = points.queue("RED", points.TAIL)
    assert (queue["max-p"], queue["weight"], queue["gentle"], queue["wait"]) == (0.02, 0.002, False, False)
    assert queue["max-threshold"] == points.calibrated(BASE) == pytest.approx(3 * queue["min-threshold"])


def test_the_calibrated_cell_comes_out_as_printed_within_a_tenth():
    found = calibration.wait_ms(BASE, points.calibrated(BASE), duration=60, replications=1)
    assert found == pytest.approx(83, rel=0.1)


def test_the_decimal_logarithm_is_that_of_equation_1():
    results = points.dumbbell(Extent(duration=10), **points.loads("CA2", BASE)).replicate(1)
    natural, decimal = (one.compute(results).frame["value"][0] for one in (q.MOS, q.DECIMAL_MOS))
    delay, loss = (one.compute(results).frame["value"][0] for one in (q.END_TO_END, q.TOTAL_LOSS))
    assert loss > 1
    rating, opinion = _native.simplified_quality(delay / 1e3, loss / 100)
    assert natural == pytest.approx(opinion)
    rating += 30 * np.log(1 + 0.15 * loss) - 30 * np.log10(1 + 0.15 * loss)
    # G.107 Annex B, from a rating to an opinion.
    assert decimal == pytest.approx(
        1 + 0.035 * rating + 7e-6 * rating * (rating - 60) * (100 - rating), abs=1e-6
    )


def test_nothing_is_unaccounted_for_per_class_and_cause_in_any_run(outcome):
    data = outcome[0].data
    for grid, results in data.results.items():
        assert set(data.measured(q.UNSETTLED, grid).frame["value"]) == {0.0}, grid
        assert data.measured(q.IN_FLIGHT, grid).frame["value"].min() >= 0, grid
        # A class's loss at queues equals its flows' loss there.
        rows = results.to_polars("classes").filter(pl.col("class").cast(pl.String) == "voice")
        at_queues = rows.group_by("run", maintain_order=True).agg(
            (pl.col("dropped_overflow") + pl.col("dropped_early")).sum().alias("dropped")
        )
        of_flows = q.voice(results).group_by("run", maintain_order=True).agg(pl.col("dropped").sum())
        assert at_queues.sort("run")["dropped"].to_list() == of_flows.sort("run")["dropped"].to_list(), grid


def test_queue_late_and_link_make_the_whole_loss(outcome):
    data = outcome[0].data
    whole, *parts = (
        data.measured(one, points.ON_OFF).frame["value"].to_numpy()
        for one in (q.TOTAL_LOSS, q.QUEUE_LOSS, q.LATE_LOSS, q.LINK_LOSS)
    )
    assert np.allclose(whole, sum(parts))
    assert whole.max() > 0


PARTS = {"ten calls, while on": (1, 1, 1), "ten calls, mean": (360 / 500, 300 / 500, 2 / 3)}


@pytest.mark.parametrize("which", PARTS)
@pytest.mark.parametrize("case", points.CASES)
def test_each_case_offers_its_shares_of_the_load(case, which):
    reading = {**BASE, "load-s2": which, "load-s3": "1.5 of L2, while on"}
    duty = PARTS[which] if case in points.S2_CASES else (1, 1, 1)
    base = points.read("routers") if case in points.S3_CASES else points.dumbbell()
    total = 6.75e6 if case in points.S3_CASES else 4.34e6
    if case in points.S2_CASES:
        total = 681.6e3 / 0.13 * duty[0]
    plan = base.with_overrides(points.loads(case, reading)).plan()
    calls = {"a": 92 / 0.01, "b": 252 / 0.03, "b-near": 252 / 0.03, "b-far": 252 / 0.03, "c": 492 / 0.06}
    offered = dict.fromkeys(("voice", "other-udp", "tcp"), 0.0)
    for flow in plan["flows"]:
        group = flow["name"].split("[")[0]
        rate = 8 * calls[group] if group in calls else {"other": 64e3, "ftp": 262e3}[group]
        offered["voice" if group in calls else {"other": "other-udp", "ftp": "tcp"}[group]] += rate
    for name, percent, on in zip(offered, points.CASES[case], duty, strict=True):
        # A class consists of whole flows.
        assert abs(100 * offered[name] * on / total - percent) < (3.1 if name == "tcp" else 1.1), name


def test_ca7_has_the_papers_ten_calls_with_the_far_ones_at_269_ms():
    plan = points.dumbbell(**points.on_off(), **points.loads("CA7", BASE)).plan()
    names = {flow["name"] for flow in plan["flows"]}
    assert {name for name in names if not name.startswith(("other", "ftp"))} == set(
        recognition.PLACES.values()
    )
    delays = {link["name"]: 1e3 * link["delay_s"] for link in plan["links"]}
    far = delays["b-far-s0>r1"] + delays["r1>r2"] + delays["r2>b-far-d0"]
    near = delays["a-s0>r1"] + delays["r1>r2"] + delays["r2>a-d0"]
    assert (near, far) == pytest.approx((39, 269))


def test_in_s3_what_comes_from_each_router_goes_to_the_papers_sink_node():
    plan = points.read("routers").plan()
    ends = {link["name"].split(">")[1]: link["name"].split(">")[0] for link in plan["links"]}
    assert [ends[f"d{router}"] for router in range(6)] == ["nf1", "nf2", "nf2", "nf3", "nf4", "nf2"]


def test_the_printed_e_model_is_equation_1_and_refuses_what_is_no_delay_or_loss():
    rating, opinion = _native.simplified_quality(0.2773, 0.1)
    assert rating == pytest.approx(94.2 - 11 - 6.6552 - 30 * np.log(2.5))
    assert 1 < opinion < 4.5
    for delay, loss in ((-1.0, 0.0), (0.1, 1.5), (float("nan"), 0.0)):
        with pytest.raises(ValueError, match="fraction from 0 to 1"):
            _native.simplified_quality(delay, loss)


def test_the_variance_from_the_distribution_is_that_of_the_packets():
    heard = {f"flow.{group}.timely": points.THRESHOLDS for group in points.VOICE}
    base = points.dumbbell(Extent(20), **points.loads("CA1", BASE), **heard, **{"record.units": ["*"]})
    results = base.replicate(1)
    units = results.to_polars("units").filter(~pl.col("flow").cast(pl.String).str.starts_with("other"))
    delays = (1e3 * (units["arrived_s"] - units["created_s"])).drop_nans()
    (found,) = q.VARIANCE.compute(results).frame["value"]
    assert found == pytest.approx(delays.var(), rel=0.1)
    cdf = q.CDF.compute(results).frame
    at_100 = cdf.filter(pl.col("delay") == 100)["value"][0]
    assert at_100 == pytest.approx((delays <= 100).mean(), abs=1e-9)


def test_a_figure_can_be_made_alone(tmp_path):
    outcome = study(extent=SHORT).run(tmp_path, replications=2, figure="004-4b")
    assert [one.id for one in outcome.drawings] == ["004-4b"]
    assert set(outcome.data.results[points.ALWAYS_ON].to_polars("runs")["case"]) == {"CA2"}


def test_the_command_line_finds_it():
    assert find("dropping").name == "dropping"


def test_two_victims_that_stand_the_other_way_round_are_told_and_losses_alike_are_not():
    assert agreement._way(5.0, 1.0) == 1
    assert agreement._way(1.0, 5.0) == -1
    assert agreement._way(0.05, 0.0) == 0
    swapped = agreement.LossCell("CA5", "RED", "total", {}, {}, [("Drop-Tail", "Drop-Front")])
    assert not swapped.agrees


def test_rank_correlation_is_one_for_the_same_order_and_leaves_out_what_is_missing():
    assert agreement.spearman([1, 2, 3, 9], [10, 20, 30, 31]) == (1.0, 4)
    assert agreement.spearman([3, 2, 1, float("nan")], [10, 20, 30, 31]) == (-1.0, 3)
    assert np.isnan(agreement.spearman([1, 2], [1, 2])[0])


def test_the_papers_tables_are_whole():
    for tables in (published.LOSS_S2, published.LOSS_S3):
        for case, rows in tables.items():
            for cell in published.CELLS:
                parts = sum(row[cell] for part, row in rows.items() if part != published.TOTAL)
                # Two cells of the paper do not add up to the last digit.
                assert parts == pytest.approx(rows[published.TOTAL][cell], abs=0.02), (case, cell)


def test_calls_of_ca7_are_heard_as_the_network_left_them(monkeypatch, tmp_path):
    pytest.importorskip("pocketsphinx")
    from fairwave_speech.fetch import Recordings

    if Recordings().digit_model() is None or Recordings().prompts() is None:
        pytest.skip("recordings or model have not been fetched")
    monkeypatch.setattr(recognition, "SENTENCES", 1)
    monkeypatch.setattr(points, "QUEUES", ("RED",))
    outcome = study(extent=Extent(duration=30, random=False, beyond=False)).run(
        tmp_path, replications=1, figure="table-8"
    )
    found = recognition.heard(outcome.data)
    assert not found.missing
    assert set(found.frame["flow"]) == set(published.FLOWS)
    near, far = (
        recognition.accuracy(found, "words", flow=flows, victim=points.DROP_SEL, method="appendix-i")[0]
        for flows in (("A1", "A2"), ("B4", "B5", "B6"))
    )
    assert near > far, "31 ms of queueing are soon used up"
