"""Episodes as trials: what an end means is said by the caller, and numbers are told apart by who is to blame."""

from __future__ import annotations

import math

import gymnasium
import numpy as np
import pytest
from geodrome_robots import Infeasible, Measurement, RobotFault, Stop, Stopped, check_robot, from_gymnasium

GAIN = {"type": "real", "bounds": [0.1, 10.0]}
INFINITE = np.array([np.inf])


class Counter(gymnasium.Env):
    """Gives a reward of -1 a step; ``script`` replaces what a step returns, by its number."""

    observation_space = gymnasium.spaces.Box(-10, 10, (1,))
    action_space = gymnasium.spaces.Box(-10, 10, (1,))
    made = []  # noqa: RUF012

    def __init__(self, script=None, first=0.0):
        self.script = script or {}
        self.first = first
        self.steps = 0
        self.seeds = []
        self.actions = []
        self.is_closed = False
        self.made.append(self)

    def reset(self, *, seed=None, options=None):
        self.seeds.append(seed)
        return np.array([self.first]), {}

    def step(self, action):
        self.steps += 1
        self.actions.append(action)
        usual = (np.array([float(self.steps)]), -1.0, False, False, {"at": self.steps})
        return self.script.get(self.steps, usual)

    def close(self):
        self.is_closed = True


def proportional(gain):
    return lambda observation: -gain * observation


@pytest.fixture(autouse=True)
def made():
    Counter.made.clear()
    return Counter.made


def robot(script=None, policy=proportional, *, first=0.0, **options):
    settings = {"terminated": "failed", "truncated": "completed", "max_steps": 5, "name": "counter", **options}
    return from_gymnasium(lambda: Counter(script, first), policy, GAIN, **settings)


def evaluate(*arguments, stop=None, **options):
    return robot(*arguments, **options).evaluate(2.0, seed=7, stop=stop or Stop())


def test_an_environment_by_its_id_keeps_the_rules_of_a_robot():
    def policy(gain):
        return lambda observation: np.array([-gain * observation[2]], dtype=np.float32)

    pendulum = from_gymnasium(
        "Pendulum-v1", policy, GAIN, terminated="failed", truncated="completed", max_steps=500, name="pendulum",
        deterministic=True,
    )  # fmt: skip

    check_robot(pendulum)
    measured = pendulum.evaluate(1.0, seed=3, stop=Stop())
    assert measured.metrics["steps"] == 200  # by the environment's own limit
    assert measured != pendulum.evaluate(1.0, seed=4, stop=Stop())


def test_the_cost_is_minus_the_sum_of_the_rewards():
    measured = evaluate()

    assert measured == Measurement(5.0, metrics={"return": -5.0, "steps": 5})


def test_each_trial_seeds_an_environment_of_its_own_and_closes_it(made):
    counter = robot()
    for _ in range(2):
        counter.evaluate(2.0, seed=7, stop=Stop())

    assert [(env.seeds, env.is_closed, env.steps) for env in made] == [([7], True, 5)] * 2


def test_the_policy_is_made_of_the_point(made):
    evaluate()

    assert [float(action[0]) for action in made[0].actions] == [0.0, -2.0, -4.0, -6.0, -8.0]


ENDS = {"terminated": (True, False), "truncated": (False, True), "both": (True, True)}


@pytest.mark.parametrize(
    ("flags", "meaning", "failure"),
    [
        ("terminated", {"terminated": "failed", "truncated": "completed"}, "terminated after 2 steps"),
        ("terminated", {"terminated": "completed", "truncated": "failed"}, None),
        ("truncated", {"terminated": "failed", "truncated": "completed"}, None),
        ("truncated", {"terminated": "completed", "truncated": "failed"}, "truncated after 2 steps"),
        ("both", {"terminated": "completed", "truncated": "failed"}, None),
        ("both", {"terminated": "failed", "truncated": "completed"}, "terminated after 2 steps"),
    ],
)
def test_an_end_means_what_the_caller_says(flags, meaning, failure):
    script = {2: (np.array([0.0]), -3.0, *ENDS[flags], {})}

    if failure is None:
        assert evaluate(script, **meaning).cost == 4.0
    else:
        with pytest.raises(Infeasible, match=failure):
            evaluate(script, **meaning)


def test_the_end_by_max_steps_is_a_truncation():
    with pytest.raises(Infeasible, match="truncated after 5 steps"):
        evaluate(terminated="completed", truncated="failed")


def test_nobody_can_leave_open_what_an_end_means():
    with pytest.raises(TypeError, match="terminated"):
        from_gymnasium("Pendulum-v1", proportional, GAIN, truncated="failed", max_steps=5, name="pendulum")
    with pytest.raises(ValueError, match="terminated='lost'"):
        robot(terminated="lost")


def test_a_cost_of_ones_own_sees_the_whole_episode():
    def cost(episode):
        assert (len(episode.observations), len(episode.actions), episode.end) == (6, 5, "truncated")
        return Measurement(float(episode.observations[-1][0]), metrics={"at": episode.info["at"]})

    assert evaluate(cost=cost) == Measurement(5.0, metrics={"at": 5})


@pytest.mark.parametrize(
    ("script", "error", "message"),
    [
        ({3: (INFINITE, math.nan, False, False, {})}, Infeasible, "in step 3 the environment went to"),
        ({3: ({"joints": INFINITE, "id": 1}, 0.0, False, False, {})}, Infeasible, "in step 3 the environment"),
        (
            {3: (np.array([0.0]), math.nan, False, False, {})},
            RobotFault,
            "in step 3 the environment gave the reward nan",
        ),
    ],
    ids=["the state diverges", "a part of the state diverges", "the reward alone is broken"],
)
def test_numbers_that_are_not_finite_are_told_apart(made, script, error, message):
    with pytest.raises(error, match=message):
        evaluate(script)
    assert made[0].is_closed


def test_a_policy_that_leaves_the_finite_numbers_makes_the_point_infeasible():
    with pytest.raises(Infeasible, match="in step 1 the policy gave"):
        evaluate(policy=lambda gain: lambda observation: INFINITE)


def test_an_environment_that_begins_nowhere_is_a_fault():
    with pytest.raises(RobotFault, match="begins at"):
        evaluate(first=math.nan)


def test_it_is_broken_off_between_two_steps(made):
    stop = Stop()

    def policy(gain):
        def act(observation):
            if observation[0] == 2:
                stop.want("stopped by somebody")
            return observation

        return act

    with pytest.raises(Stopped, match="stopped by somebody"):
        evaluate(policy=policy, stop=stop)
    assert (made[0].steps, made[0].is_closed) == (3, True)


def test_it_says_what_the_ends_mean():
    described = robot().describe()

    assert described["ends"] == {"terminated": "failed", "truncated": "completed"}
    assert described["max_steps"] == 5
    assert described["cost"]["meaning"] == "Minus the sum of the rewards."
