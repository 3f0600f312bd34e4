"""Environments that follow Gymnasium, and known mistakes of simulators for learned controllers."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.utils.env_checker import check_env

import fairwave as fw
import fairwave.gym as gym
from fairwave.gym.task import default

FIXED = {
    "link.a>b.rate": "1 Mb/s",
    "link.a>b.delay": "40 ms",
    "link.a>b.queue.capacity.bytes": 30000,
    "link.a>b.loss": "none",
}


def short(steers, **more):
    task = default(steers)
    return gym.Task.create(task.scenario.with_overrides({"duration": "3 s"}), vary=task.train, **more)


@pytest.mark.parametrize("make", [gym.RateEnv, gym.WindowEnv])
def test_gymnasium_s_checker_finds_nothing(make):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # It recommends actions from -1 to 1 (as here) and float32; the policy within a run receives float64.
        warnings.filterwarnings("ignore", message=".*render.*")
        check_env(make(short(make.steers), render_mode="rgb_array").unwrapped)


def test_environments_are_registered():
    env = gymnasium.make("fairwave/Rate-v0", task=short("rate"))
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    many = gymnasium.make_vec(
        "fairwave/Window-v0", num_envs=2, vectorization_mode="vector_entry_point", task=short("window")
    )
    assert many.reset(seed=1)[0].shape == (2, 10)
    env.close()
    many.close()


def course(env, seed, steps=40):
    observation, info = env.reset(seed=seed)
    random = np.random.default_rng(seed)
    found = [observation]
    for _ in range(steps):
        observation, reward, terminated, _, _ = env.step(random.uniform(-0.3, 0.3, 1))
        assert not terminated
        found.append(np.append(observation, reward))
    return np.concatenate(found), info["scenario"], info["run_seed"]


@pytest.mark.parametrize("make", [gym.RateEnv, gym.WindowEnv])
def test_a_seed_fixes_everything_and_another_seed_changes_it(make):
    task = short(make.steers)
    first, again, other = course(make(task), 5), course(make(task), 5), course(make(task), 6)
    assert np.array_equal(first[0], again[0])
    assert first[1:] == again[1:]
    assert not np.array_equal(first[0], other[0])
    assert first[1] != other[1]


def test_many_environments_are_as_each_alone_through_the_end_of_episodes():
    task = short("rate")
    many = gym.RateVectorEnv(3, task)
    alone = [gym.RateEnv(task) for _ in range(3)]
    observations, _ = many.reset(seed=7)
    singles = [env.reset(seed=7 + place)[0] for place, env in enumerate(alone)]
    ended = [False] * 3
    random = np.random.default_rng(1)
    for turn in range(75):
        assert np.array_equal(observations, np.array(singles)), turn
        actions = random.uniform(-0.2, 0.2, (3, 1))
        observations, rewards, _, truncated, infos = many.step(actions)
        for place, env in enumerate(alone):
            if ended[place]:
                singles[place], reward, over = env.reset()[0], 0.0, False
            else:
                singles[place], reward, _, over, _ = env.step(actions[place])
            assert (rewards[place], truncated[place]) == (reward, over)
            ended[place] = over
    assert infos["time"].shape == (3,)


def test_the_end_no_number_and_numbers_outside_follow_gymnasium_s_conventions():
    env = gym.RateEnv(short("rate"))
    with pytest.raises(ResetNeeded, match="reset"):
        env.step([0.0])
    env.reset(seed=1)
    with pytest.raises(ValueError, match="NaN"):
        env.step([float("nan")])
    with pytest.raises(ValueError, match="shape"):
        env.step([0.0, 0.0])
    twin = gym.RateEnv(env.task)
    twin.reset(seed=1)
    assert np.array_equal(env.step([50.0])[0], twin.step([1.0])[0]), "numbers outside are cut"
    over = False
    while not over:
        *_, over, _ = env.step([0.0])
    with pytest.raises(ResetNeeded, match="over"):
        env.step([0.0])
    with pytest.raises(ValueError, match="split"):
        env.reset(options={"split": "both"})
    with pytest.raises(ValueError, match="weather"):
        env.reset(options={"weather": 1})
    env.reset()
    env.close()
    env.close()
    with pytest.raises(ClosedEnvironmentError):
        env.step([0.0])


def test_many_environments_refuse_what_one_refuses():
    many = gym.RateVectorEnv(2, short("rate"))
    with pytest.raises(ResetNeeded):
        many.step(np.zeros((2, 1)))
    many.reset(seed=1)
    with pytest.raises(ValueError, match="NaN"):
        many.step([[0.0], [np.nan]])
    with pytest.raises(ValueError, match="shape"):
        many.step([0.0])
    with pytest.raises(ValueError, match="num_envs"):
        gym.RateVectorEnv(0)
    with pytest.raises(ValueError, match="seeds"):
        many.reset(seed=[1, 2, 3])
    many.close()
    with pytest.raises(ClosedEnvironmentError):
        many.step(np.zeros((2, 1)))


def test_a_figure_of_the_episode():
    for make in (gym.RateEnv, gym.WindowEnv):
        env = make(short(make.steers), render_mode="rgb_array")
        env.reset(seed=2)
        for _ in range(20):
            env.step([0.05])
        picture = env.render()
        assert picture.dtype == np.uint8
        assert picture.shape == (600, 800, 3)
        assert picture.std() > 5
    assert gym.RateEnv(short("rate")).render() is None


def held(env, action, steps=45):
    env.reset(seed=3, options={"set": FIXED})
    return [env.step([action])[4] for _ in range(steps)][-15:]


# OpenNetLab/gym#21: at high rates the round trip collapsed, and nothing was lost.
def test_sending_more_than_the_link_carries_never_shortens_the_delay():
    env = gym.RateEnv(short("rate"))
    little, much = held(env, 0.0), held(env, 1.0)
    assert max(info["queueing_s"] for info in little) < 0.02
    assert min(info["queueing_s"] for info in much) > 0.1
    assert np.mean([info["lost"] for info in much]) > 0.05
    assert np.mean([info["delivered_bps"] for info in much]) < 1.05e6


def test_the_least_round_trip_is_that_of_the_path_at_every_rate():
    env = gym.RateEnv(short("rate"))
    for action in (-0.1, 0.0, 0.3, 1.0):
        env.reset(seed=3, options={"set": FIXED})
        for _ in range(40):
            observation = env.step([action])[0]
        # 2 × 40 ms, transmission, and at most one interval of feedback.
        assert 0.08 <= observation[7] < 0.14, action


# One trace for training and test.
def test_tests_show_what_training_never_does():
    env = gym.RateEnv()
    trained = [env.reset(seed=seed)[1]["scenario"]["link.a>b.rate"] for seed in range(20)]
    tested = [
        env.reset(seed=seed, options={"split": "test"})[1]["scenario"]["link.a>b.rate"] for seed in range(20)
    ]
    assert len(set(trained)) == 20, "every episode has a network of its own"
    assert not {str(one) for one in trained} & {str(one) for one in tested}
    assert any(isinstance(one, list) for one in tested), "rates that change within an episode"


# ns3-gym#31: results of one lucky seed.
def test_each_episode_has_a_seed_of_its_own_even_after_one_reset_with_a_seed():
    env = gym.RateEnv(short("rate"))
    seeds = [env.reset(seed=1)[1]["run_seed"], *(env.reset()[1]["run_seed"] for _ in range(5))]
    assert len(set(seeds)) == 6
    assert env.reset(options={"run_seed": 9})[1]["run_seed"] == 9


def test_delays_in_steps_and_in_the_tables_of_the_run_agree():
    task = gym.Task.create(default("rate").scenario.with_overrides(FIXED))
    env = gym.RateEnv(task)
    env.reset(seed=3)
    infos = [env.step([0.0])[4] for _ in range(400)]
    links = env.finish()["links"]
    assert links["mean_wait_s"][0] == "f64"
    waited = np.frombuffer(links["mean_wait_s"][1])[0]
    assert np.mean([info["queueing_s"] for info in infos]) == pytest.approx(waited, abs=0.01)


def test_laws_in_python_are_refused():
    @fw.loss_model("gym-python-loss")
    class Loss(fw.LossModel):
        """Loses nothing."""

        def lost(self, now, packet):
            return False

    scenario = default("rate").scenario.with_overrides({"link.a>b.loss": "gym-python-loss"})
    with pytest.raises((ValueError, fw.ScenarioError), match=r"Python|built-in"):
        gym.RateEnv(gym.Task.create(scenario)).reset(seed=1)
