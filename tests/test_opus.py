"""Opus in calls and sessions: the measured factors, their use, and their experiment."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from fairwave import _native, codecs
from fairwave.scenario import load
from fairwave_speech.errors import SpeechError
from fairwave_speech.fetch import Recordings
from fairwave_speech.score import is_visqol_installed
from validation import kept
from validation.measured import opus as experiment
from validation.measured import opus_fit

KEPT = kept.read(opus_fit.KEPT)
RATES = KEPT["factors"]["rates"]

CALL = """
name = "opus"
duration = "3 s"
[[link]]
from = "a"
to = "b"
rate = "10 Mb/s"
delay = "20 ms"
[[flow]]
name = "call"
from = "a"
to = "b"
{flow}
"""

VOICE = 'transport = "udp"\ntraffic = {{ kind = "voice", codec = "{}" }}\n'


def written(tmp_path: Path, flow: str) -> Path:
    path = tmp_path / "call.toml"
    path.write_text(CALL.format(flow=flow))
    return path


@pytest.mark.parametrize("rate", RATES)
def test_fairwave_has_the_published_factors(rate):
    ie, bpl, copy = _native.opus_factors(f"{rate} kb/s")
    published = RATES[rate]
    assert (ie, bpl) == (published["ie"][0], published["bpl"][0])
    if "copy" in published:
        assert copy == published["copy"][0]
    if any(one.codec == f"opus-{rate}" for one in codecs.known()):
        one = codecs.find(f"opus-{rate}")
        assert (one.ie, one.bpl, one.bpl_without_fec) == (ie, published["bpl_fec"][0], bpl)
        assert one.determined
        assert not one.assumed


def test_the_kept_scores_give_the_published_factors():
    """The fit alone, without the bootstrap that intervals need."""
    fit = opus_fit.fit(KEPT["conditions"], np.arange(len(KEPT["clips"])))
    for rate, published in RATES.items():
        found = fit.ie[int(rate)], fit.bpl[int(rate), False], fit.bpl[int(rate), True]
        assert [round(value, 1) for value in found] == [published[key][0] for key in ("ie", "bpl", "bpl_fec")]


def test_each_factor_lies_in_its_interval():
    for published in RATES.values():
        assert all(low <= value <= high for value, low, high in published.values())


def test_a_few_draws_of_the_bootstrap_stay_near_the_published_intervals():
    speakers = [clip["speaker"] for clip in KEPT["clips"]]
    for one in opus_fit.bootstrap(KEPT["conditions"], speakers, draws=4):
        for rate, published in RATES.items():
            _, low, high = published["ie"]
            assert low - 3 <= one.ie[int(rate)] <= high + 3


def test_the_inverse_of_annex_b_returns_the_rating():
    for r in (20, 50, 80, 93.2):
        mos = 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6
        assert opus_fit.rating(np.array([mos]))[0] == pytest.approx(1.29 * r, abs=0.01)


def test_a_fit_finds_the_factors_of_a_codec_that_obeys_the_equation():
    lossy = [
        ({"loss": loss, "burst": burst}, float(opus_fit.effective(10.0, 15.0, loss, burst)))
        for loss, burst in experiment.LOSSES
    ]
    assert opus_fit._robustness(10.0, lossy) == pytest.approx(15.0, rel=0.02)


def test_losses_have_the_share_and_the_length_that_a_condition_names():
    for loss, burst in experiment.LOSSES:
        found = [experiment.lost(400, loss, burst, seed) for seed in range(60)]
        assert all(np.count_nonzero(one) == 4 * loss for one in found)
        runs = sum(
            np.count_nonzero(np.diff(np.concatenate([[False], one]).astype(int)) == 1) for one in found
        )
        length = 60 * 4 * loss / runs
        assert length * (1 - loss / 100) == pytest.approx(burst, rel=0.12)
    assert (experiment.lost(400, 10, 1, 7) == experiment.lost(400, 10, 1, 7)).all()


needs_scoring = pytest.mark.skipif(
    not is_visqol_installed(), reason="ViSQOL is not installed (fairwave[scoring])"
)


@needs_scoring
def test_the_quick_spectrogram_gives_the_scores_of_visqol():
    from visqol.gammatone import GammatoneSpectrogramBuilder

    from fairwave_speech.score import visqol_api

    experiment._visqol()
    quick = GammatoneSpectrogramBuilder._build_scipy
    random = np.random.default_rng(1)
    reference = np.repeat(random.normal(0, 0.1, 100), 320) * random.normal(0, 1, 32_000)
    heard = reference + random.normal(0, 0.02, 32_000)
    found = visqol_api().measure_from_arrays(reference, heard, 16_000).moslqo
    slow = GammatoneSpectrogramBuilder
    slow._build_scipy = experiment.ORIGINAL_SPECTROGRAM[0]
    try:
        expected = visqol_api().measure_from_arrays(reference, heard, 16_000).moslqo
    finally:
        slow._build_scipy = quick
    assert found == pytest.approx(expected, abs=1e-6)


@needs_scoring
@pytest.mark.skipif(Recordings().digit_model() is None, reason="the recordings are not there (make setup)")
def test_a_cell_of_the_experiment_repeats():
    """Three English clips by Opus at 24 kb/s with 10 % loss: ViSQOL's scores are in the interval of the kept scores."""
    wanted = experiment.Condition("opus-24", loss=10, reported=10)
    kept = next(one for one in KEPT["conditions"] if {**one, **wanted.__dict__} == one)
    try:
        clips = experiment.clips("English woman")
    except SpeechError as error:
        pytest.skip(f"the recordings cannot be downloaded: {error}")
    found = next(experiment.measure([wanted], clips))
    places = [place for place, clip in enumerate(KEPT["clips"]) if clip["speaker"] == "English woman"]
    scores = np.array(kept["mos"])[places]
    half = (
        4.303 * scores.std(ddof=1) / math.sqrt(len(scores))
    )  # Student's t of 95 % with two degrees of freedom
    assert np.mean(found["mos"]) == pytest.approx(scores.mean(), abs=half)
    assert found["kbps"] == pytest.approx(24, rel=0.12)


def test_a_bare_opus_is_32_kilobits_per_second(tmp_path, fairwave):
    bare, named = codecs.find("opus"), codecs.find("opus-32")
    assert (bare.payload, bare.packet_ms, bare.ie, bare.bpl) == (80, 20, named.ie, named.bpl)
    results = load(written(tmp_path, VOICE.format("opus"))).run()
    again = load(written(tmp_path, VOICE.format("opus-32"))).run()
    assert results.flows["mos"].to_pylist() == again.flows["mos"].to_pylist()


@pytest.mark.parametrize("words", [["check"], ["run", "--no-page"], ["run", "-n", "2", "--no-page"]])
def test_a_bare_opus_goes_through_commands(words, tmp_path, fairwave):
    status, printed, said = fairwave(words[0], written(tmp_path, VOICE.format("opus")), *words[1:])
    assert status == 0, said
    assert "determined here" in printed


def test_explain_knows_a_bare_opus(fairwave):
    status, printed, _ = fairwave("explain", "opus")
    assert status == 0
    assert "determined here" in printed
    assert 'codec = "opus"' in printed


def test_a_rating_with_determined_factors_has_the_double_dagger(tmp_path, fairwave):
    path = written(tmp_path, VOICE.format("opus-24"))
    _, printed, _ = fairwave("run", path, "--no-page")
    assert any("MOS (E-model) † ‡" in line for line in printed.splitlines())
    assert "‡ determined here: Ie" in " ".join(printed.split())
    _, printed, _ = fairwave("list", "codecs")
    assert "determined here ‡" in " ".join(printed.split())


def test_check_names_the_factors_of_calls_and_of_sessions(tmp_path, fairwave):
    session = (
        'transport = "webrtc"\ntraffic = { kind = "media", video = false, audio = { rate = "24 kb/s" } }\n'
    )
    for flow in (VOICE.format("opus-24"), session):
        said = json.loads(fairwave("check", written(tmp_path, flow), "--json")[1])["ratings"]["call"]
        assert said.startswith(f"determined here ‡: Ie {RATES['24']['ie'][0]:g}, Bpl")


def test_in_band_fec_belongs_to_opus(tmp_path, fairwave):
    status, _, said = fairwave("check", written(tmp_path, f"{VOICE.format('g711')}in-band-fec = true\n"))
    assert status == 2
    assert "in-band-fec" in said
    assert "Opus" in said


def test_calls_and_sessions_have_one_rule(tmp_path):
    """The rating rises by the same amount with the rate, in a call of `voice` and in a session."""

    def session(rate: int) -> float:
        flow = (
            'transport = { name = "webrtc", control = { name = "fixed", rate = "200 kb/s" } }\n'
            f'traffic = {{ kind = "media", video = false, audio = {{ rate = "{rate} kb/s" }} }}\n'
        )
        table = load(written(tmp_path, flow)).run().to_polars("media")
        return float(table["r_factor"][0])

    def call(rate: int) -> float:
        return float(load(written(tmp_path, VOICE.format(f"opus-{rate}"))).run().flows["r_factor"][0].as_py())

    for low, high in ((12, 24), (24, 64)):
        gain = RATES[str(low)]["ie"][0] - RATES[str(high)]["ie"][0]
        assert session(high) - session(low) == pytest.approx(gain, abs=0.3)
        assert call(high) - call(low) == pytest.approx(gain, abs=0.3)
