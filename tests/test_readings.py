"""All readings of a study: their draw, judgement, storage and presentation."""

import ast
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fairwave
from fairwave.measuring import measures
from fairwave_study import Assumption, Claim, Grid, Study, comparisons, deciding, design, moderation, vary
from fairwave_study import experiments as trying
from fairwave_study import overview as shown
from fairwave_study.accounts import Account
from fairwave_study.claims import Comparison, Evidence, Verdict
from fairwave_study.design import Candidate
from fairwave_study.experiments import Experiment, Side
from fairwave_study.explore import explore
from fairwave_study.overall import ClaimOverview, JudgedReading, Spreads, overview_claim
from fairwave_study.readings import Factor, Readings, Value
from fairwave_study.shares import Shares, percent, weights, wilson
from fairwave_study.shelf import Shelf, StoredReading, from_plain, judge, to_plain
from page_links import problems
from scenarios import CALLS

DELAY = measures.delay("voice")
SECONDS = {"duration": "2 s", "flow.files.count": 0}

FACTORS = (
    Factor(
        "delay",
        "How long is the path?",
        (
            Value("short", "§1", {"topology.bottleneck.delay": "20 ms"}),
            Value("long", "§2", {"topology.bottleneck.delay": "80 ms"}, plausibility=3.0),
        ),
        "§1 says more.",
    ),
    Factor(
        "calls",
        "How many calls?",
        (
            Value("few", "§3"),
            Value(
                "many", "§4", lambda grid, labels: {"flow.voice.count": labels["flows"] + 2},
                flagged="Nobody has so many.",
            ),
        ),
        "Nobody says.",
    ),
    Factor(
        "line", "What is short?", (Value("400 ms", "§5"), Value("150 ms", "§6")), "The standard.", "definition"
    ),
)  # fmt: skip


def study_under(reading, readings):
    base = fairwave.load(CALLS).with_overrides(SECONDS)
    grid = Grid("main", base, {"flows": vary("flow.voice.count", [2, 4])})
    line = float(reading["line"].split()[0])

    def short(data):
        return comparisons.is_below(data.measured(DELAY, "main"), line)

    return Study(
        name="small",
        title="A small study",
        question="Which?",
        grids=[readings.apply(grid, reading)],
        claims=[
            Claim("S1", "Delay is short.", "paper 000 §1", ("main",), short),
            Claim(
                "S2", "Delay is positive.", "paper 001 §1", ("main",),
                lambda data: comparisons.is_above(data.measured(DELAY, "main"), 0.0),
            ),
            Claim(
                "S3", "Delay is negative.", "papers 000 §1; 001 §2", ("main",),
                lambda data: comparisons.is_below(data.measured(DELAY, "main"), 0.0),
            ),
        ],
        readings=readings,
        assumptions=[
            Assumption("line", "400 ms are short.", "", "line"), Assumption("silence", "Nobody is silent.", "", ""),
        ],
        accounts=[Account("000", {"delay": "long"}, "Paths were long then.", closing="Delay adds up.")],
        experiments=[EXPERIMENT],
    )  # fmt: skip


def told(found):
    return f"Delay is {found.change(LATE).mean:.0f} ms longer: the path is."


LATE = "mean delay (ms)"
EXPERIMENT = Experiment(
    "why-S3", "S3", "A path of 90 ms instead of 20 ms.",
    (Side("short"), Side("long", changes={"topology.bottleneck.delay": "90 ms"})),
    {LATE: lambda data: data.measured(DELAY, "main").averaged("flows").samples()}, told,
)  # fmt: skip


def made(refuses=lambda _: ""):
    readings = Readings(
        FACTORS, lambda one: study_under(one, readings), lambda one: study_under(one, readings), refuses,
        "runs take 2 s.",
    )  # fmt: skip
    return readings


@pytest.fixture(scope="module")
def readings():
    return made()


@pytest.fixture(scope="module")
def outcome(readings, tmp_path_factory):
    folder = tmp_path_factory.mktemp("explored")
    return study_under(readings.base(), readings).run(folder, 2, explored=8), folder


def test_the_base_takes_the_first_value_of_each_factor_and_the_rest_of_a_part_is_the_bases(readings):
    assert readings.base() == {"delay": "short", "calls": "few", "line": "400 ms"}
    assert readings.complete({"calls": "many"}) == {"delay": "short", "calls": "many", "line": "400 ms"}
    assert readings.distance({"delay": "long", "calls": "few", "line": "150 ms"}) == 2


def test_a_reading_that_does_not_fit_is_refused_with_what_is_allowed(readings, tmp_path):
    with pytest.raises(
        LookupError, match=r"no factor 'dealy' \(did you mean 'delay'\?\); there are 'delay', 'calls'"
    ):
        readings.complete({"dealy": "long"})
    with pytest.raises(LookupError, match="factor 'delay' has no value 'huge'; there are 'short', 'long'"):
        readings.complete({"delay": "huge"})
    file = tmp_path / "reading.json"
    for text, words in (
        ("[]", r'a JSON object of factors to values, such as {"delay": "short"}'),
        ("{", "no JSON"),
        ('{"delay": 3}', "a JSON object"),
        ('{"delay": "huge"}', "has no value 'huge'"),
    ):
        file.write_text(text)
        with pytest.raises(ValueError, match=words):
            readings.read(file)
    with pytest.raises(ValueError, match="both cannot be"):
        made(lambda one: "both cannot be" if one["delay"] == "long" else "").complete({"delay": "long"})


def test_values_change_the_points_after_the_axes(readings):
    points = study_under(readings.complete({"delay": "long", "calls": "many"}), readings).grids[0].points()
    assert [
        next(one["count"] for one in point.scenario.to_dict()["flow"] if one["name"] == "voice")
        for point in points
    ] == [4, 6]
    assert [point.labels["flows"] for point in points] == [2, 4]


def test_the_design_holds_the_base_every_neighbour_and_admissible_readings_evenly(readings):
    found = design.design(readings, 6)
    assert [one.kind for one in found] == ["base", *["neighbour"] * 3, *["drawn"] * 6]
    assert all(readings.distance(one.reading) == 1 for one in found[1:4])
    assert design.design(readings, 6) == found
    # All existing readings, each once.
    assert len(design.draw_readings(readings, 100)) == 8
    apart = made(lambda one: "no" if one["delay"] == "long" and one["line"] == "400 ms" else "")
    assert len(design.draw_readings(apart, 100)) == 6
    many = Readings(
        [Factor(str(n), "?", tuple(Value(str(v), "§") for v in range(3)), "") for n in range(12)],
        lambda _: None, lambda _: None,
    )  # fmt: skip
    drawn = design.draw_readings(many, 128)
    for factor in many.factors:
        counts = [sum(one.reading[factor.id] == value.name for one in drawn) for value in factor.values]
        assert min(counts) >= 38, "a third each, nearly"


def test_variances_are_pooled_as_far_as_they_agree():
    random = np.random.default_rng(3)
    truth, freedom = 2.0, 8.0
    true = freedom * truth / random.chisquare(freedom, 4000)
    borrowed, common = moderation.prior(list(true * random.chisquare(2, 4000) / 2), 2)
    assert borrowed == pytest.approx(freedom, rel=0.3)
    assert common == pytest.approx(truth, rel=0.1)
    assert moderation.prior([1.0] * 9, 2) == (0.0, 0.0)
    alike, _ = moderation.prior([1.0] * 50, 2)
    assert alike == float("inf")
    samples = np.asarray([1.0, 2.0, 3.0])
    assert moderation.moderated(samples, 2.0, 4.0) == pytest.approx((np.sqrt((2 * 4 + 2 * 1) / 4), 4.0))
    assert moderation.moderated(samples, 0.0, 0.0) is None
    assert moderation.moderated(np.ones(3), 2.0, 4.0) is None


def test_an_interval_rests_on_the_spread_that_it_is_given():
    one = Comparison("x", np.asarray([1.0, 2.0, 3.0]), spread=(1.0, float("inf")))
    assert one.interval().high - 2.0 == pytest.approx(1.96 / np.sqrt(3), rel=1e-3)
    assert (
        Comparison("x", one.samples, spread=(1.0, 2.0)).interval() == Comparison("x", one.samples).interval()
    )


def test_what_decides_is_found_singly_in_pairs_and_by_a_tree_and_chance_is_not():
    factors = [Factor(name, "?", (Value("0", "§"), Value("1", "§")), "") for name in "abcdefgh"]
    readings = Readings(factors, lambda _: None, lambda _: None)
    drawn = [one.reading for one in design.draw_readings(readings, 128)]

    def told(rule):
        verdicts = ["reproduced" if rule(one) else "not reproduced" for one in drawn]
        return deciding.decided(readings, drawn, verdicts, {"reproduced": 1.0, "not reproduced": 0.0})

    alone = told(lambda one: one["c"] == "1")
    assert alone.factors == ["c"]
    assert alone.singles[0].share == pytest.approx(1.0)
    assert alone.tree.factors == ("c",)
    assert alone.tree.accuracy == 1.0
    both = told(lambda one: one["a"] != one["f"])
    assert set(both.factors) == {"a", "f"}
    assert both.pairs[0].factors == ("a", "f")
    random = np.random.default_rng(5)
    chance = told(lambda _: random.random() < 0.5)
    assert chance.factors == []
    assert not chance.tree.useful
    assert told(lambda _: True).tree is None


def make_overview(reproduced, undecided, contradicted):
    return ClaimOverview(
        "S1", 100, reproduced, undecided, contradicted, "", deciding.ClaimDecision([], [], None), None
    )


def test_verdicts_over_all_readings_say_what_happened():
    assert make_overview(1.0, 0.0, 0.0).verdict == "reproduced"
    assert make_overview(0.96, 0.04, 0.0).verdict == "reproduced"
    assert make_overview(0.7, 0.1, 0.2).verdict == "reproduced in most readings"
    assert make_overview(0.3, 0.3, 0.4).verdict == "hangs on the reading"
    assert make_overview(0.0, 0.0, 1.0).verdict == "contradicted in every reading"
    assert make_overview(0.0, 0.2, 0.8).verdict == "contradicted in most readings"
    assert make_overview(0.03, 0.07, 0.9).verdict == "contradicted in most readings"
    assert make_overview(0.1, 0.0, 0.9).verdict == "hangs on the reading"
    assert make_overview(0.0, 0.6, 0.4).verdict == "undecided"
    assert make_overview(0.3, 0.7, 0.0).verdict == "undecided"
    assert make_overview(0.04, 0.76, 0.2).verdict == "undecided"
    # Neither a coin's share nor three of four is a clear majority.
    assert make_overview(0.55, 0.35, 0.1).verdict == "hangs on the reading"
    assert make_overview(0.55, 0.45, 0.0).verdict == "undecided"
    assert make_overview(0.0, 0.45, 0.55).verdict == "undecided"
    assert Shares(4, 0.75, 0.0, 0.25).verdict == "hangs on the reading"


def test_shares_have_intervals_from_counts():
    # Wilson's interval by hand: 1.96² = 3.8415.
    low, high = wilson(0.5, 128)
    middle, half = 0.5, 1.959964 / (1 + 3.841459 / 128) * (0.25 / 128 + 3.841459 / (4 * 128**2)) ** 0.5
    assert (low, high) == pytest.approx((middle - half, middle + half), abs=1e-6)
    assert wilson(0.0, 128)[0] == 0.0
    assert wilson(0.0, 128)[1] == pytest.approx(3.841459 / (128 + 3.841459), abs=1e-6)
    assert wilson(0.5, 0) == (0.0, 1.0)
    # 150 readings suffice for an interval of 8 points.
    assert max(wilson(k / 150, 150)[1] - wilson(k / 150, 150)[0] for k in range(151)) / 2 < 0.08
    assert percent(0.508, wilson(0.508, 128)) == "51 % (42 to 59)"
    assert percent(float("nan")) == "–"


def test_what_an_older_ledger_tells_of_shares_can_be_read():
    told = {"n": 128, "reproduced": 65 / 128, "undecided": 0.0, "contradicted": 63 / 128}
    found = Shares.from_dict(told)
    assert found.verdict == "hangs on the reading", "51 % of 128 is a coin's share"
    assert np.isnan(found.points)
    assert "points" not in found.to_dict()["intervals"]
    again = Shares.from_dict(json.loads(json.dumps({**found.to_dict(), "points": None})))
    assert again.interval("reproduced") == found.interval("reproduced")


def test_readings_are_weighted_by_the_plausibility_of_what_decides(readings):
    drawn = [one.reading for one in design.draw_readings(readings, 8)]
    found = weights(readings, drawn, ["delay"])
    assert sorted(set(found)) == [0.5, 1.5]
    assert {w for one, w in zip(drawn, found, strict=True) if one["delay"] == "long"} == {1.5}
    assert weights(readings, drawn, []) == [1.0] * 8
    verdicts = ["reproduced" if one["delay"] == "long" else "not reproduced" for one in drawn]
    told = Shares.from_verdicts(verdicts, weights=found)
    assert told.reproduced == pytest.approx(0.75)
    assert told.n == pytest.approx(8**2 / (4 * 0.25 + 4 * 2.25))
    for wrong in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="has plausibility"):
            Value("x", "§", plausibility=wrong)


def stored(*samples):
    one = Evidence([Comparison("x", np.asarray(samples))])
    return StoredReading({}, {"S1": one}, 1.0)


def test_only_readings_that_were_drawn_tell_of_spreads_and_each_once():
    random = np.random.default_rng(7)
    sets = [random.normal(0, 10 ** random.uniform(-1, 1), 3) for _ in range(40)]
    kept = {f'{{"a": "{n}"}}': stored(*one) for n, one in enumerate(sets)}
    drawn = [Candidate({"a": str(n)}, "drawn") for n in range(40)]
    base = Candidate({"a": "base"}, "base")
    copies = [Candidate({"a": f"near {n}"}, "neighbour") for n in range(28)]
    same = {one.key: stored(*sets[0]) for one in (base, *copies)}
    alone, beside = (
        Spreads.from_candidates(drawn, kept),
        Spreads.from_candidates([base, *copies, *drawn], {**kept, **same}),
    )
    one = kept[drawn[0].key].claims["S1"]
    assert beside.moderate("S1", one).comparisons[0].spread == alone.moderate("S1", one).comparisons[0].spread
    # Drawn readings that differ only in factors without effect on a comparison count as one.
    twice = [*drawn, *(Candidate({"a": f"again {n}"}, "drawn") for n in range(28))]
    more = {**kept, **{one.key: stored(*sets[0]) for one in twice[40:]}}
    assert Spreads.from_candidates(twice, more).moderate("S1", one).comparisons[0].spread == pytest.approx(
        alone.moderate("S1", one).comparisons[0].spread
    )
    # Their effect without this rule.
    ten = Spreads([*kept.values(), *(stored(*(sets[0] + 0.001 * n)) for n in range(28))])
    assert (
        ten.moderate("S1", one).comparisons[0].spread[1] > alone.moderate("S1", one).comparisons[0].spread[1]
    )


def test_a_near_miss_comes_nearer_than_a_firm_contradiction_and_parts_are_counted(readings):
    def left(kind, number, *values):
        parts = [
            Comparison("a: it", np.asarray(values), part="a"), Comparison("b: it", np.asarray([5, 6, 7.0]), part="b")
        ]  # fmt: skip
        return JudgedReading(Candidate({**readings.base(), "line": number}, kind), {"S1": Evidence(parts)})

    firm, miss = (-5.0, -5.01, -5.02), (-3.0, 1.0, 1.0)
    judged = [left("base", "400 ms", *firm), left("drawn", "150 ms", *firm), left("drawn", "400 ms", *miss)]
    found = overview_claim(readings, judged, "S1")
    assert found.closest.startswith("a: it: -0.333")
    assert found.verdict == "undecided"
    assert found.contradicted == 0.5
    assert {name: one.reproduced for name, one in found.parts.items()} == {"a": 0.0, "b": 1.0}
    assert found.to_dict()["parts"][1] == {
        "name": "b", "verdict": "reproduced", "n": 2, "reproduced": 1.0, "alike": 0.0, "undecided": 0.0,
        "contradicted": 0.0, "points": 1.0, "intervals": found.parts["b"].to_dict()["intervals"],
    }  # fmt: skip


def test_an_experiment_shows_a_mechanism_on_and_off_and_is_kept(outcome, readings, monkeypatch):
    outcome, folder = outcome
    ledger = json.loads((folder / "ledger.json").read_text(encoding="utf-8"))
    (entry,) = ledger["experiments"]
    assert (entry["claim"], entry["seeds"]) == ("S3", list(trying.FRESH))
    assert [one["verdict"] for one in entry["sides"]] == ["not reproduced", "not reproduced"]
    difference = next(one for one in entry["differences"] if one["of"] == LATE)
    assert difference["estimate"] == pytest.approx(70, abs=8)
    assert difference["interval"][0] < difference["estimate"] < difference["interval"][1]
    assert entry["words"] == f"Delay is {difference['estimate']:.0f} ms longer: the path is."
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert f"<strong>Why.</strong> {entry['words']}" in page
    assert 'id="figure-why-S3"' in page
    for suffix in ("svg", "png", "csv"):
        assert (folder / "figures" / f"why-S3.{suffix}").is_file()
    digest = (folder / "digest.md").read_text(encoding="utf-8")
    assert "![A path of 90 ms instead of 20 ms.](figures/why-S3.png)" in digest

    def never(*_, **__):
        raise AssertionError("what is kept is not made again")

    monkeypatch.setattr(trying, "judge", never)
    study = study_under(readings.base(), readings)
    again = trying.carry_out(study, folder)
    assert again[0].to_dict()["differences"][0] == entry["differences"][0]
    # Another change is another experiment, even with equal names.
    other = replace(EXPERIMENT, sides=(Side("short"), Side("long", changes={"duration": "3 s"})))
    changed = replace(study, experiments=[other])
    with pytest.raises(AssertionError, match="not made again"):
        trying.carry_out(changed, folder)


def test_sides_that_experiments_share_are_simulated_once(readings, monkeypatch, tmp_path):
    asked = []
    judge = trying.judge

    def counted(*args, claims, changes, **more):
        asked.append((claims, changes))
        return judge(*args, claims=claims, changes=changes, **more)

    monkeypatch.setattr(trying, "judge", counted)
    twice = replace(
        EXPERIMENT,
        id="again-S3",
        words=lambda _: "Twice.",
        quantities={"doubled": lambda data: 2 * EXPERIMENT.quantities[LATE](data)},
    )
    study = replace(study_under(readings.base(), readings), experiments=[EXPERIMENT, twice])
    one, other = trying.carry_out(study, tmp_path)
    long = EXPERIMENT.sides[1].changes
    assert [changes for _, changes in asked] == [None, long]
    for side in EXPERIMENT.sides:
        assert other.interval(side.label, "doubled").mean == pytest.approx(
            2 * one.interval(side.label, LATE).mean
        )
        assert other.verdict(side.label) == one.verdict(side.label)
    # Each experiment has separate stored samples.
    alone = replace(study, experiments=[twice])
    assert trying.carry_out(alone, tmp_path)[0].to_dict() == other.to_dict()
    assert len(asked) == 2


def test_panels_of_one_quantity_have_one_axis():
    from matplotlib.figure import Figure

    names = ("lost, a (%)", "lost, b (%)", "lost, b (packets)", "wait, a (ms)")
    several = dict(zip(names, Figure().subplots(1, 4), strict=True))
    for height, panel in enumerate(several.values(), 1):
        panel.set_ylim(0, height)
    trying._share_axes(several)
    assert [panel.get_ylim() for panel in several.values()] == [(0, 2), (0, 2), (0, 3), (0, 4)]


def test_experiments_that_cannot_be_are_refused(readings, tmp_path):
    study = study_under(readings.base(), readings)
    with pytest.raises(ValueError, match="'why-S3' is about 'S9', which is no claim of 'small'"):
        trying.carry_out(replace(study, experiments=[replace(EXPERIMENT, claim="S9")]), tmp_path)
    with pytest.raises(ValueError, match="share an id: why-S3, why-S3"):
        trying.carry_out(replace(study, experiments=[EXPERIMENT, EXPERIMENT]), tmp_path)
    with pytest.raises(ValueError, match="one reading only"):
        trying.carry_out(replace(study, readings=None), tmp_path)
    with pytest.raises(ValueError, match="without a figure, settings"):
        study.run(tmp_path, 2, why=True, settings={"duration": "1 s"})


def test_the_account_at_the_top_says_what_holds_where_and_by_what(outcome):
    outcome, folder = outcome
    ledger = json.loads((folder / "ledger.json").read_text(encoding="utf-8"))
    (account,) = ledger["accounts"]
    parts = {one["heading"]: " ".join(one["sentences"]) for one in account["parts"]}
    assert account["paper"] == "000"
    assert parts["Claims that hold in every reading"].startswith("No claim is reproduced in 95 %")
    there = parts["Claims that hold in the authors' likely set-up"]
    assert "The likely set-up: delay = long. Paths were long then." in there
    assert "In the likely set-up 1 of 2 claims hold (S1); contradicted: S3." in there
    assert "judged on seeds 11, 12, 13, 14, 15" in there
    assert parts["Claims that hold in no reading"].startswith(
        "S3: Delay is negative. Comes nearest with flows 4: 1"
    )
    assert parts["Summary"] == "Delay adds up."
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert page.index('id="account"') < page.index('id="claims"')
    assert "## A fair account of paper 000" in (folder / "digest.md").read_text(encoding="utf-8")


def test_words_of_a_study_leave_what_is_kept_as_it_is(tmp_path, monkeypatch):
    from fairwave_study import shelf

    package = tmp_path / "fairwave_studies" / "small"
    package.mkdir(parents=True)
    (tmp_path / "fairwave_study").mkdir()
    monkeypatch.setattr(shelf, "__file__", str(tmp_path / "fairwave_study" / "shelf.py"))
    version = shelf.version.__wrapped__
    (package / "points.py").write_text("1")
    before = version("small")
    (package / "experiments.py").write_text("words")
    (package / "explanations.py").write_text("words")
    for stem in ("study", "claims", "assumptions", "accounts", "explanations"):
        (package / f"{stem}.toml").write_text("words")
    assert version("small") == before
    readings = "[factors.rate]\nopen = 'O'\n[factors.rate.values.low]\nadmits = 'A'\nchanges = { rate = 1 }\n"
    (package / "readings.toml").write_text(readings)
    written = version("small")
    assert written != before
    (package / "readings.toml").write_text(readings.replace("'O'", "'Another word'").replace("'A'", "'More'"))
    assert version("small") == written
    (package / "readings.toml").write_text(readings.replace("= 1", "= 2"))
    assert version("small") not in (before, written)
    (package / "readings.toml").unlink()
    (package / "scenario.toml").write_text("a link")
    assert version("small") != before
    (package / "scenario.toml").unlink()
    (package / "claims.py").write_text("a test")
    assert version("small") != before
    (package / "claims.py").unlink()
    (package / "points.py").write_text("2")
    assert version("small") != before


def test_what_a_reading_left_is_kept_whole_and_used_by_the_same_version_only(readings, tmp_path):
    kept = judge(readings, readings.base(), [1, 2])
    odd = Evidence([Comparison("odd", np.asarray([1.0, np.nan]), 2.0, "below", "ms", True)], "any")
    plain = json.loads(json.dumps(to_plain(kept)))
    again = from_plain(plain)
    assert again.claims["S1"].verdict() == kept.claims["S1"].verdict()
    assert [str(one) for one in again.claims["S1"].comparisons] == [
        str(one) for one in kept.claims["S1"].comparisons
    ]
    other = from_plain(
        {"reading": {}, "seconds": 1.0, "claims": to_plain(type(kept)({}, {"x": odd}, 1.0))["claims"]}
    )
    assert np.isnan(other.claims["x"].comparisons[0].samples[1])
    shelf = Shelf(tmp_path, "1")
    shelf.put("key", [1, 2], plain)
    assert shelf.get("key", [1, 2]).reading == readings.base()
    assert shelf.get("key", [3]) is None
    assert Shelf(tmp_path, "2").get("key", [1, 2]) is None


def test_every_claim_is_judged_in_every_reading_and_the_ledger_says_so(outcome):
    outcome, folder = outcome
    ledger = json.loads((folder / "ledger.json").read_text(encoding="utf-8"))
    first, second, third = ledger["claims"]
    # The wider line holds everywhere, the narrower one only on the short path with few calls.
    assert first["verdict"] == "reproduced"
    assert first["readings"]["n"] == 8
    assert first["readings"]["reproduced"] == 0.625
    assert first["readings"]["contradicted"] == 0.375
    # Five of eight is no more than chance.
    assert first["readings"]["verdict"] == "hangs on the reading"
    low, high = first["readings"]["intervals"]["reproduced"]
    assert low < 0.5 < high
    assert first["readings"]["points"] == 0.625
    # "long" has three times the weight of "short", and only deciding readings are weighted.
    assert first["readings"]["weighted"]["n"] <= 8
    assert first["readings"]["base"] == "reproduced"
    nearest = first["readings"]["nearest"]
    assert nearest["distance"] == 2
    assert nearest["verdict"] == "not reproduced"
    assert nearest["factors"]["line"] == "150 ms"
    assert second["readings"]["verdict"] == "reproduced"
    assert third["readings"]["verdict"] == "contradicted in every reading"
    assert second["readings"]["nearest"] is None
    papers = {one["paper"]: one["best_reading"] for one in ledger["papers"]}
    assert papers["001"]["held"] == 1
    assert papers["001"]["of"] == 2
    assert papers["000"]["factors"] == {"delay": "short", "calls": "few", "line": "400 ms"}
    likely = next(one["likely"] for one in ledger["papers"] if one["paper"] == "000")
    assert likely["factors"]["delay"] == "long"
    assert likely["against"] == ["S3"]
    assert next(one["likely"] for one in ledger["papers"] if one["paper"] == "001") is None
    assert next(one["base_anew"]["held"] for one in ledger["papers"] if one["paper"] == "001") == 1
    assert ledger["exploration"]["shortened"] == "runs take 2 s."
    assert [one["kind"] for one in ledger["factors"]] == ["", "", "definition"]
    assert ledger["factors"][0]["values"][1]["plausibility"] == 3
    assert ledger["factors"][1]["values"][1]["flagged"] == "Nobody has so many."
    assert not set(papers["000"]["chosen_on"]) & set(papers["000"]["judged_on"])
    assert [one["id"] for one in ledger["factors"]] == ["delay", "calls", "line"]
    assert ledger["exploration"]["drawn"] == 8
    assert [one.candidate.kind for one in outcome.ledger.exploration.judged].count("neighbour") == 3


def test_the_page_shows_each_claim_as_a_picture_two_sentences_and_folded_numbers(outcome):
    outcome, folder = outcome
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert page.count('class="strip"') == 3
    assert (
        "S1 over 8 readings: reproduced in 62 %, alike in 0 %, undecided in 0 %, contradicted in 38 %" in page
    )
    assert "Of 8 readings 62 % (31 to 86) reproduce it, 38 % contradict it" in page
    assert "in 62 % all means are on the claimed side" in page
    assert "Runs of the readings are smaller than the study's own: runs take 2 s." in page
    assert "ranked before the exploration" in page
    assert "before any claim was judged" not in page
    assert "Not explored, and the same in every reading: silence." in page
    assert "Flagged: Nobody has so many." in page
    assert page.count("<summary>Numbers and reasons") == 3
    assert problems(folder / "index.html") == []
    for name in ("readings-matrix", "readings-factors"):
        assert (folder / "figures" / f"{name}.png").is_file()
    for name in ("readings", "readings-claims", "readings-best", "readings-never"):
        assert (folder / "tables" / f"{name}.csv").is_file()
    assert 'id="factor-delay"' in page
    # Every link within the page has a target.
    targets = set(re.findall(r'id="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= targets
    assert sum(many for _, _, many in shown.strip(outcome.ledger.exploration, "S1")) == 8


def test_what_was_interrupted_goes_on_and_gives_the_same(readings, tmp_path):
    study = study_under(readings.base(), readings)
    done = []

    def stop(ended, total):
        done.append(ended)
        if ended == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explore(study, tmp_path, 8, progress=stop)
    before = len(list((tmp_path / "readings").glob("*.json")))
    assert before == 3
    seen = []
    resumed = explore(study, tmp_path, 8, progress=lambda ended, total: seen.append((ended, total)))
    assert seen[0] == (3, 8), "of eight readings, base and neighbours among those drawn"
    fresh = explore(study, tmp_path / "fresh", 8)
    assert [one.verdicts for one in resumed.judged] == [one.verdicts for one in fresh.judged]


def test_what_cannot_be_explored_is_refused(readings, tmp_path):
    study = study_under(readings.base(), readings)
    with pytest.raises(ValueError, match="1 reading or more, not 0; 128 are usual"):
        explore(study, tmp_path, 0)
    with pytest.raises(ValueError, match="without a figure, settings"):
        study.run(tmp_path, 1, explored=2, settings={"duration": "1 s"})
    single = Study(name="single", title="", question="", grids=[])
    with pytest.raises(ValueError, match="one reading only"):
        explore(single, tmp_path, 4)
    with pytest.raises(ValueError, match="one reading only"):
        single.run(tmp_path / "single", 1, reading={"delay": "long"})


def test_another_reading_is_the_whole_study_under_it_and_says_so(readings, tmp_path):
    outcome = study_under(readings.base(), readings).run(
        tmp_path, 2, reading={"delay": "long", "line": "150 ms"}
    )
    assert outcome.ledger.reading == {"delay": "long", "calls": "few", "line": "150 ms"}
    assert outcome.ledger.claims[0].verdict == Verdict.NOT_REPRODUCED
    assert "another reading than the base: delay = long, line = 150 ms" in outcome.page.read_text(
        encoding="utf-8"
    )


def test_what_is_simulated_and_measured_does_not_rest_on_modules_that_only_tell():
    import fairwave_studies
    from fairwave_study.shelf import TELLING

    package = Path(fairwave_studies.__file__).parent
    for study in (one for one in package.iterdir() if one.is_dir() and not one.name.startswith("_")):
        for file in study.glob("*.py"):
            if file.stem in (*TELLING, "__init__"):
                continue
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if (
                    isinstance(node, ast.ImportFrom)
                    and node.module
                    and node.module.startswith(f"fairwave_studies.{study.name}.")
                ):
                    found = node.module.rpartition(".")[2], {one.name for one in node.names}
                    assert found[0] not in TELLING or found == ("explanations", {"EXPLANATIONS"}), (
                        file,
                        found,
                    )
