"""Policies in files: written, read, named in scenarios, evaluated."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import fairwave as fw
import fairwave.gym as gym
from fairwave import policy_files
from fairwave.cli import app as cli
from fairwave.gym.task import default

ROOT = Path(__file__).parents[2]


def plain(steers):
    """The default rule of `policy` without a file."""
    zeros = gym.Policy.zeros(steers)
    return zeros.with_parameters([0, 0, 0, -1, -1, -1, -2, 0, 0, -0.2, 0.05])


@pytest.mark.parametrize("steers", ["rate", "window"])
def test_a_policy_steers_from_outside_as_it_does_within_the_run(steers):
    task = default(steers)
    control = {"name": "webrtc", "control": plain(steers).law()} if steers == "rate" else plain(steers).law()
    within = task.scenario.with_overrides({f"flow.{task.flow}.transport": control}).run(4)
    env = {"rate": gym.RateEnv, "window": gym.WindowEnv}[steers](gym.Task.create(task.scenario))
    observation, _ = env.reset(seed=1, options={"run_seed": 4})
    over = False
    while not over:
        observation, _, _, over, _ = env.step(plain(steers).act(observation))
    outside = np.frombuffer(env.finish()["flows"]["goodput_bps"][1])[0]
    assert outside == pytest.approx(float(within.rows("flows").numbers("goodput_bps")[0]), rel=1e-3)


def test_what_is_saved_is_read_and_acts_the_same(tmp_path):
    random = np.random.default_rng(1)
    policy = gym.Policy.zeros("rate", (6,))
    policy = policy.with_parameters(random.standard_normal(len(policy.parameters)), {"by": "hand"})
    again = gym.Policy.load(policy.save(tmp_path / "p" / "mine.json"))
    seen = random.standard_normal((5, 10))
    assert np.array_equal(policy.act(seen), again.act(seen))
    assert again.trained == {"by": "hand"}
    assert policy.act(seen[0]).shape == (1,)


def test_a_scenario_names_a_policy_s_file(tmp_path):
    plain("rate").save(tmp_path / "mine.json")
    text = (ROOT / "examples" / "gym" / "call.toml").read_text()
    (tmp_path / "call.toml").write_text(
        text.replace('control = "policy"', 'control = { name = "policy", file = "mine.json" }')
    )
    named = fw.load(tmp_path / "call.toml").run(1)
    default_rule = fw.load(text).run(1)
    assert float(named.rows("flows").numbers("goodput_bps")[0]) == float(
        default_rule.rows("flows").numbers("goodput_bps")[0]
    )
    (tmp_path / "mine.json").unlink()
    with pytest.raises(fw.ScenarioError, match=r"control\.file.*mine\.json"):
        fw.load(tmp_path / "call.toml")


def test_a_file_that_was_not_read_is_not_run_as_something_else():
    from fairwave import _native

    text = (ROOT / "examples" / "gym" / "call.toml").read_text()
    unread = _native.Scenario.from_text(
        text.replace('control = "policy"', 'control = { name = "policy", file = "x.json" }')
    )
    with pytest.raises(fw.RunError, match=r"x\.json"):
        list(_native.Batch([(unread, 1)]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "fairwave policy 9"}, "format"),
        ({"steers": "wheel"}, "steers"),
        ({"observation": ["a"]}, "observation"),
        ({"colour": 1}, "colour"),
        ({"layers": None}, "layers"),
    ],
)
def test_files_that_hold_no_policy_say_why(tmp_path, change, words):
    table = json.loads(plain("rate").save(tmp_path / "p.json").read_text())
    table.update(change)
    (tmp_path / "p.json").write_text(json.dumps({key: one for key, one in table.items() if one is not None}))
    with pytest.raises(policy_files.PolicyError, match=words):
        policy_files.law(tmp_path / "p.json")


def test_a_policy_for_windows_is_no_rate_controller(tmp_path):
    where = plain("window").save(tmp_path / "w.json")
    with pytest.raises(policy_files.PolicyError, match="tcp/policy"):
        policy_files.law(where, "rate")


def test_layers_that_do_not_fit_are_refused_by_reader_and_simulator(tmp_path):
    table = json.loads(plain("rate").save(tmp_path / "p.json").read_text())
    table["layers"][0]["weights"][0].pop()
    (tmp_path / "p.json").write_text(json.dumps(table))
    with pytest.raises(policy_files.PolicyError, match="10"):
        gym.Policy.load(tmp_path / "p.json")
    with pytest.raises(fw.ScenarioError, match="9 weights"):
        default("rate").scenario.with_overrides(
            {"flow.call.transport": {"name": "webrtc", "control": policy_files.law(tmp_path / "p.json")}}
        )


def test_the_example_trains_a_policy_that_is_better_than_none(tmp_path):
    cem = runpy.run_path(str(ROOT / "examples" / "gym_cem.py"))
    policy = cem["train"](seconds=60, generations=2, candidates=6, networks=2, say=False)
    again = cem["train"](seconds=60, generations=2, candidates=6, networks=2, say=False)
    assert np.array_equal(policy.parameters, again.parameters), "a seed fixes what is learned"
    assert policy.trained["generations"] == 2
    idle = cem["returns"](gym.RateVectorEnv(4), policy, gym.Policy.zeros().parameters[None], [1, 2, 3, 4])
    learned = cem["returns"](gym.RateVectorEnv(4), policy, policy.parameters[None], [1, 2, 3, 4])
    assert learned.mean() > idle.mean() + 0.1


def test_rfc8867_s_table_has_a_policy_next_to_gcc(tmp_path):
    where = plain("rate").save(tmp_path / "mine.json")
    told = CliRunner().invoke(cli.app, ["rfc8867", str(where), "--case", "5.1", "-n", "2", "--json"])
    assert told.exit_code == 0, told.output
    rows = json.loads(told.stdout)["rows"]
    assert [(row["section"], row["controller"]) for row in rows] == [("5.1", "gcc"), ("5.1", "mine")]
    table = CliRunner().invoke(cli.app, ["rfc8867", str(where), "--case", "5.1", "-n", "2"]).stdout
    assert "MOS video" in table
    assert "queueing" in table
    assert all(0.2 < row["utilisation"]["mean"] < 1 for row in rows)


def test_evaluate_takes_a_policy_for_windows_and_sends_one_for_rates_to_rfc8867(tmp_path):
    from fairwave_evaluation.command import _choice

    where = plain("window").save(tmp_path / "w.json")
    assert _choice(str(where), "transports", "name")["name"] == "tcp/policy"
    told = CliRunner().invoke(cli.app, ["evaluate", str(plain("rate").save(tmp_path / "r.json"))])
    assert told.exit_code
    assert "rfc8867" in f"{told.output}{told.exception}"
