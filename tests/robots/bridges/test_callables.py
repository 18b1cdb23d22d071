"""A plain function as a robot: what it is given, what it may return, what is said about it."""

from __future__ import annotations

import math

import geodrome
import pytest
from geodrome_robots import Infeasible, Measurement, Stop, Stopped, check_robot, from_callable

GAIN = {"type": "real", "bounds": [0.1, 10.0], "unit": "1/s"}


def settling(gain):
    """Settling time of a joint.

    More of it.
    """
    return 4 / gain + gain


def evaluate(function, point=2.0, **about):
    robot = from_callable(function, name="joint", space=GAIN, **about)
    return robot.evaluate(point, seed=7, stop=Stop())


def test_it_keeps_the_rules_of_a_robot():
    check_robot(from_callable(settling, name="joint", space=GAIN, deterministic=True))


def test_the_cost_is_what_the_function_returns():
    assert evaluate(settling) == Measurement(4.0)


def test_a_measurement_goes_through_as_it_is():
    measured = Measurement(1.0, metrics={"peak_Nm": 3.0}, executed=1.9)

    assert evaluate(lambda gain: measured) is measured


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda gain, seed: seed, 7.0),
        (lambda gain, *, seed: seed, 7.0),
        (lambda gain, stop: stop.left_s, math.inf),
        (lambda gain, unit=3.0: unit, 3.0),
        (lambda gain, **others: len(others), 0.0),
        (lambda seed: seed, 2.0),
        (math.sqrt, math.sqrt(2.0)),
    ],
    ids=["seed", "seed by keyword", "stop", "a default", "any keyword", "a point called seed", "compiled"],
)
def test_a_function_gets_seed_and_stop_if_it_has_parameters_of_these_names(function, expected):
    assert evaluate(function).cost == expected


def test_a_function_may_change_its_point():
    point = {"gain": 2.0}
    robot = from_callable(
        lambda point: point.pop("gain"), name="joint", space={"type": "product", "factors": {"gain": GAIN}}
    )

    assert robot.evaluate(point, seed=0, stop=Stop()).cost == 2.0
    assert point == {"gain": 2.0}


@pytest.mark.parametrize("error", [Infeasible("it oscillates"), geodrome.RobotFault("no power"), KeyError("gain")])
def test_what_the_function_raises_goes_through(error):
    def raising(gain):
        raise error

    with pytest.raises(type(error)) as raised:
        evaluate(raising)
    assert raised.value is error


def test_a_function_that_looks_at_stop_is_broken_off():
    stop = Stop()
    stop.want("the trial was taken away")
    robot = from_callable(lambda gain, stop: stop.check(), name="joint", space=GAIN)

    with pytest.raises(Stopped, match="taken away"):
        robot.evaluate(2.0, seed=0, stop=stop)


@pytest.mark.parametrize("returned", [None, "fast", {"cost": 1.0}])
def test_what_is_no_cost_is_told(returned):
    with pytest.raises(TypeError, match="a cost or a Measurement is wanted"):
        evaluate(lambda gain: returned)


def test_it_says_what_the_function_says_about_itself():
    described = from_callable(settling, name="joint", space=GAIN).describe()

    assert described["cost"] == {"meaning": "Settling time of a joint.", "unit": None}
    assert described["model"] == "the function settling"
    assert described["parameters"] == {"point": GAIN}
    assert described["deterministic"] is False


def test_a_description_replaces_what_would_be_said_otherwise():
    robot = from_callable(settling, name="joint", space=GAIN, description={"version": "2", "cost": {"unit": "s"}})

    described = robot.describe()

    assert (described["version"], described["cost"]) == ("2", {"unit": "s"})
    assert described["model"] == "the function settling"


def test_a_space_may_be_written_with_the_classes_of_the_sdk():
    space = geodrome.Product(
        factors={"tool": geodrome.Rotation(order="xyzw"), "gain": geodrome.Real(bounds=(1, 2), unit="N/m")}
    )
    robot = from_callable(lambda point: point["gain"], name="arm", space=space)

    check_robot(robot)
    assert robot.space["factors"]["tool"]["order"] == "xyzw"
    assert robot.describe()["parameters"]["gain"]["unit"] == "N/m"


def test_a_space_that_nobody_knows_is_refused_at_once():
    with pytest.raises(ValueError, match="rael"):
        from_callable(settling, name="joint", space={"type": "rael"})
