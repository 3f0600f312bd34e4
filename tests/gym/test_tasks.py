"""Tasks: files, ranges, and their errors."""

from pathlib import Path

import numpy as np
import pytest

import fairwave as fw
import fairwave.gym as gym
from fairwave.gym.task import default

EXAMPLE = Path(__file__).parents[2] / "examples" / "gym" / "call-task.toml"


def make_task(**vary):
    return gym.Task.create(
        default("rate").scenario, vary={key.replace("__", "."): value for key, value in vary.items()}
    )


def test_the_example_is_a_task_with_training_and_tests_apart():
    task = gym.Task.load(EXAMPLE)
    assert (task.flow, task.steers, task.interval) == ("call", "rate", "50 ms")
    env = gym.RateEnv(EXAMPLE)
    env.reset(seed=1)
    tested = [env.reset(seed=seed, options={"split": "test"}) for seed in range(4)]
    laws = {str(info["scenario"]["link.a>b.rate"])[:20] for _, info in tested}
    assert len(laws) == 2, "a trace and a rate that falls"
    env.step([0.1])


def test_ranges_are_drawn_within_their_bounds_and_logarithms_evenly():
    task = default("rate")
    random = np.random.default_rng(1)
    drawn = [task.draw(random)[1] for _ in range(400)]
    rates = np.array([float(one["link.a>b.rate"].split()[0]) for one in drawn])
    assert all(one["link.a>b.rate"].endswith("Mb/s") for one in drawn)
    assert (rates.min() >= 0.2, rates.max() <= 5) == (True, True)
    # The median of uniform logarithms is the geometric mean: 1 Mb/s.
    assert np.median(rates) == pytest.approx(1, rel=0.2)
    sizes = [one["link.a>b.queue.capacity.bytes"] for one in drawn]
    assert all(isinstance(one, int) and 8000 <= one <= 150000 for one in sizes)


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ({"link.a>b.rate": {"least": "5 Mb/s", "most": "1 Mb/s"}}, "above"),
        ({"link.a>b.rate": {"least": "1 Mb/s", "most": "2 s"}}, "one unit"),
        ({"link.a>b.rate": {"least": "x", "most": "2 s"}}, "no quantity"),
        ({"link.a>b.rate": {"least": "0 Mb/s", "most": "2 Mb/s", "scale": "log"}}, "above 0"),
        ({"link.a>b.rate": {"least": "1 Mb/s", "most": "2 Mb/s", "scale": "cubic"}}, "scale"),
        ({"link.a>b.rate": "2 Mb/s"}, "no range"),
        ({"link.a>b.rate": {"one-of": []}}, "one-of"),
        ({"link.a>b.rate": {"one-of": ["fast"]}}, "does not fit"),
        ({"link.z>y.rate": {"one-of": ["1 Mb/s"]}}, "does not fit"),
        ({"flow.call.transport": {"one-of": ["udp"]}}, "does not fit|cannot be steered"),
    ],
)
def test_what_cannot_be_varied_is_refused_with_its_path(vary, words):
    with pytest.raises(gym.TaskError, match=words) as error:
        gym.Task.create(default("rate").scenario, vary=vary)
    assert next(iter(vary)) in str(error.value)


def test_flows_that_cannot_be_steered_and_too_many_are_refused():
    cubic = default("window").scenario.with_overrides({"flow.download.transport": "tcp/cubic"})
    with pytest.raises(gym.TaskError, match="tcp/policy"):
        gym.Task.create(cubic)
    two = default("rate").scenario.with_overrides({"flow.call.count": 2})
    with pytest.raises(gym.TaskError, match="flow"):
        gym.Task.create(two)
    assert gym.Task.create(two, "call[1]").index == 1
    with pytest.raises(gym.TaskError, match="WindowEnv"):
        gym.RateEnv(default("window"))
    with pytest.raises(gym.TaskError, match="interval"):
        gym.Task.create(default("rate").scenario, interval="1 h")


def test_files_that_are_no_task_say_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="task"):
        gym.Task.load(tmp_path / "none.toml")
    for text, words in [
        ("scenario = 'none.toml'", "none.toml"),
        ("flow = 'a'", "scenario"),
        ("colour = 1", "colour"),
        ("a = [", "TOML"),
    ]:
        where = tmp_path / "task.toml"
        where.write_text(text)
        with pytest.raises((gym.TaskError, FileNotFoundError), match=words):
            gym.Task.load(where)


def test_a_trace_may_be_drawn(tmp_path):
    (tmp_path / "up.csv").write_text("time_s,rate_mbps\n0,1\n1,2\n2,0.5\n")
    scenario = default("rate").scenario
    task = gym.Task.create(
        scenario,
        vary={"link.a>b.rate": {"one-of": [{"law": "trace", "file": "up.csv", "after": "repeat"}]}},
        folder=tmp_path,
    )
    drawn, _ = task.draw(np.random.default_rng(1))
    assert isinstance(drawn, fw.Scenario)
    assert "up.csv" not in drawn.to_json()
    gym.RateEnv(task).reset(seed=1)
