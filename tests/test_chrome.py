"""Calls of browsers: evaluation of their logs, and comparison with simulated calls. No browser is needed."""

import json

import numpy as np
import pytest

from validation.compare.chrome import bands, call, cases, freezes


def log(folder, *, seconds=12, lost=3, connected=2.5):
    """Possible logs of both browsers: 1 Mb/s there, an estimate of 1.2 Mb/s, a freeze of half a second."""
    for role in ("caller", "callee"):
        lines = []
        for at in range(1, seconds + 1):
            stats = {
                "T": {
                    "type": "candidate-pair", "nominated": True, "availableOutgoingBitrate": 1.2e6,
                    "currentRoundTripTime": 0.1,
                },
                "V": {"type": "outbound-rtp", "kind": "video", "targetBitrate": 9e5, "bytesSent": 100_000 * at},
                "A": {"type": "outbound-rtp", "kind": "audio", "bytesSent": 25_000 * at},
                "I": {
                    "type": "inbound-rtp", "kind": "video", "bytesReceived": 100_000 * at, "packetsLost": lost,
                    "freezeCount": 1, "totalFreezesDuration": 0.5, "framesDecoded": 30 * at, "frameHeight": 360,
                    "packetsReceived": 97,
                },
                "J": {"type": "inbound-rtp", "kind": "audio", "bytesReceived": 25_000 * at},
            }  # fmt: skip
            lines.append(json.dumps({"at": float(at), "state": "connected", "stats": stats}))
        (folder / f"log-{role}.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "connected.txt").write_text(f"{connected}\n")


def test_logs_of_both_browsers_become_a_call(tmp_path):
    log(tmp_path)
    (made,) = call.read(cases.CASES[0], tmp_path)
    assert (made.time_s[0], len(made.time_s)) == (3.5, 12)
    assert made.received_bps[0] is None
    assert made.received_bps[1:] == pytest.approx([1e6] * 11)
    assert made.sent_bps[1] == pytest.approx(1e6)
    assert (made.estimate_bps[0], made.round_trip_s[0], made.packets) == (1.2e6, 0.1, 97)


def test_a_call_without_logs_says_that_nothing_was_logged(tmp_path):
    with pytest.raises(call.ChromeError, match="did not connect"):
        call.read(cases.CASES[0], tmp_path)
    (tmp_path / "error-caller.jsonl").write_text("NotAllowedError: no camera\n")
    with pytest.raises(call.ChromeError, match="no camera"):
        call.read(cases.CASES[0], tmp_path)


def test_without_a_browser_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(call, "chromium", lambda: None)
    with pytest.raises(call.ChromeError, match="install the package chromium"):
        call.make(cases.CASES[0], 1, tmp_path)


def test_sides_agree_within_their_margins_and_differ_beyond_them(tmp_path):
    log(tmp_path)
    case = cases.Case("short", "a short call", 14, ((0, 2.0),))
    browsers = bands.measure_browsers(case, call.read(case, tmp_path) * 3)
    assert browsers.means["received"] == pytest.approx(1.0)
    assert browsers.means["lost packets"] == pytest.approx(300 / 97)
    assert browsers.means["frozen"] == pytest.approx(100 * 0.5 / 12)
    assert browsers.begins == browsers.latest == 2.5
    verdicts = {one.quantity.name: one.agrees for one in bands.compare(*[bands.summarise(browsers)] * 2)}
    assert all(verdicts.values())
    worse = dict(browsers.means)
    worse["received"] = browsers.means["received"] * 1.21
    worse["round trip"] = browsers.means["round trip"] + 24
    apart = bands.Runs(browsers.times, browsers.traces, worse, 2.5, 2.5)
    verdicts = {
        one.quantity.name: one.agrees
        for one in bands.compare(bands.summarise(browsers), bands.summarise(apart))
    }
    assert (verdicts["received"], verdicts["round trip"], verdicts["estimate"]) == (False, True, True)


def test_simulated_calls_are_measured_in_the_same_seconds(tmp_path):
    log(tmp_path)
    case = cases.Case("short", "a short call", 14, ((0, 2.0),))
    browsers = bands.measure_browsers(case, call.read(case, tmp_path) * 2)
    simulated = bands.measure_simulation(
        case, case.scenario(browsers.begins).replicate(seeds=[1, 2]), browsers
    )
    assert simulated.traces["received"].shape == (2, len(browsers.times))
    # The call begins at 2.5 s, without data before.
    assert np.isnan(simulated.traces["received"][:, :2]).all()
    assert (simulated.means["received"] > 0.3).all()


def test_every_case_is_a_scenario_and_an_unknown_one_is_refused():
    for one in cases.CASES:
        assert one.scenario().plan(1)["duration_s"] == one.seconds
    with pytest.raises(LookupError, match="there are variable"):
        cases.case("other")


def test_what_is_kept_of_browsers_is_read_back(tmp_path):
    log(tmp_path)
    case = cases.Case("short", "a short call", 14, ((0, 2.0),))
    side = bands.summarise(bands.measure_browsers(case, call.read(case, tmp_path) * 3))
    again = bands.Side.from_dict(json.loads(json.dumps(side.to_dict())))
    assert (again.count, again.begins, again.intervals) == (3, 2.5, side.intervals)
    np.testing.assert_allclose(again.bands["received"], side.bands["received"], atol=1e-4)
    assert all(one.agrees for one in bands.compare(side, again))


def test_sessions_of_a_call_are_read_from_their_own_logs_and_both_ways(tmp_path):
    log(tmp_path)
    for role in ("caller", "callee"):
        (tmp_path / f"log-{role}-1.jsonl").write_text((tmp_path / f"log-{role}.jsonl").read_text())
    two = cases.case("several")
    assert [one.packets for one in call.read(two, tmp_path)] == [97, 97]
    assert len(call.read(cases.case("both"), tmp_path)) == 2
    runs = bands.measure_browsers(two, call.read(two, tmp_path) * 2)
    assert bands.summarise(runs, 2).count == 2


def test_two_sessions_and_calls_both_ways_are_simulated_session_by_session():
    for name in ("several", "both"):
        case = cases.case(name)
        short = cases.Case(name, "short", 6, case.rates, sessions=case.sessions, back=case.back)
        results = short.scenario(0.5).replicate(seeds=[1])
        browsers = bands.Side(1, np.arange(1.0, 5), {}, {}, 0.5, 1.0)
        simulated = bands.measure_simulation(short, results, browsers)
        assert simulated.traces["estimate"].shape == (2, 4)
        assert len(simulated.means["frozen"]) == 2


def test_freezes_count_as_the_encoders_where_it_left_out_half_of_the_frames(tmp_path):
    # Frames, quantisers and freezes as running sums; the picture freezes in the 4th second and in the 9th.
    made = np.cumsum([30, 30, 30, 10, 10, 30, 30, 30, 30, 30])
    stood = np.cumsum([0, 0, 0, 0.4, 0, 0, 0, 0, 0.25, 0])
    quantisers = np.cumsum([50 * 30, 50 * 30, 50 * 30, 106 * 10, 100 * 10, *[50 * 30] * 5])
    for role in ("caller", "callee"):
        lines = []
        for at in range(10):
            stats = {
                "T": {"type": "candidate-pair", "nominated": True, "availableOutgoingBitrate": 8e5},
                "V": {
                    "type": "outbound-rtp", "kind": "video", "targetBitrate": 2e5 if at == 3 else 4e5,
                    "framesEncoded": int(made[at]), "qpSum": int(quantisers[at]),
                },
                "I": {"type": "inbound-rtp", "kind": "video", "totalFreezesDuration": float(stood[at])},
            }  # fmt: skip
            lines.append(json.dumps({"at": float(at + 1), "stats": stats}))
        (tmp_path / f"log-{role}.jsonl").write_text("\n".join(lines) + "\n")
    found = freezes.count_freezes(cases.CASES[0], [tmp_path])
    assert found.frozen_s == pytest.approx(0.65)
    assert found.few_s == pytest.approx(0.4)
    assert found.target_share == pytest.approx((0.25 + 0.5) / 2)
    assert found.quantiser == pytest.approx(103)
    calm = freezes.count_freezes(cases.CASES[0], [])
    assert (calm.frozen_s, calm.target_share, calm.quantiser) == (0, None, None)
