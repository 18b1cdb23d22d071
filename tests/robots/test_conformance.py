"""check_robot finds planted faults, and tells them all at once."""

from __future__ import annotations

from typing import Any

import pytest
from geodrome_robots.conformance import RobotDefect, check_robot
from geodrome_robots.robot import Infeasible, Measurement, Readiness
from geodrome_robots.stop import Stop

GAIN = {"type": "real", "bounds": [0.0, 1.0]}
PAIR = {"type": "product", "factors": {"rotation": {"type": "rotation"}, "gain": GAIN}}


def test_a_robot_that_keeps_the_rules_passes(pointer):
    robot = pointer()

    check_robot(robot)

    assert (robot.calls, robot.stops) == (3, 1)


def test_several_faults_are_told_at_once(pointer):
    class Careless(pointer):
        name = "no blanks please"

        def describe(self) -> dict[str, Any]:
            return {"name": "other", "version": "1", "cost": {"weights": {1, 2}}, "deterministic": "yes"}

        def evaluate(self, point: Any, *, seed: int, stop: Stop) -> Measurement:
            point[0] = 2.0
            return Measurement(float("nan"), metrics={"time_s": float("inf")}, executed=[2.0, 0.0, 0.0, 0.0])

    with pytest.raises(RobotDefect) as caught:
        check_robot(Careless())

    told = str(caught.value)
    for part in (
        "name is 'no blanks please'",
        "describe() has no 'model'",
        "describe() has no 'parameters'",
        "describe() is not JSON",
        "describe() says the name is 'other'",
        "deterministic is 'yes'",
        "evaluate changes the point it is given",
        "the cost is nan",
        "the metric 'time_s' is inf",
        "the executed point has norm 2, not 1",
    ):
        assert part in told
    assert len(caught.value.violations) == 10


def test_a_class_that_is_no_robot_is_told_what_it_lacks():
    class Brick:
        space = GAIN

    with pytest.raises(RobotDefect, match="it has no describe, evaluate, ready, safe_stop, close"):
        check_robot(Brick())


@pytest.mark.parametrize(
    ("space", "told"),
    [
        ({"type": "real"}, "without bounds"),
        ({"type": "rotation", "order": "zyxw"}, "space.rotation.order"),
        ("rotation", "a dict"),
    ],
)
def test_a_space_that_cannot_be_searched_is_found(pointer, space, told):
    robot = pointer()
    robot.space = space

    with pytest.raises(RobotDefect, match=told):
        check_robot(robot)


def test_a_robot_that_only_says_that_it_is_deterministic_is_found(pointer):
    class Drifting(pointer):
        def evaluate(self, point: Any, *, seed: int, stop: Stop) -> Measurement:
            return Measurement(super().evaluate(point, seed=seed, stop=stop).cost + 1e-15 * self.calls)

    with pytest.raises(RobotDefect, match="it says that it is deterministic"):
        check_robot(Drifting())


def test_a_robot_that_is_not_ready_is_not_moved(pointer):
    class Stopped(pointer):
        def ready(self) -> Readiness:
            return Readiness(is_ready=False, reason="the e-stop is pressed")

    robot = Stopped()

    with pytest.raises(RobotDefect, match="the e-stop is pressed"):
        check_robot(robot)
    assert robot.calls == 0


def test_infeasible_points_are_replaced_by_others(pointer):
    def limit(calls: int) -> None:
        if calls in (1, 2):
            raise Infeasible("too far")

    robot = pointer(limit)

    check_robot(robot)

    assert robot.calls == 5


def test_a_robot_that_can_do_nothing_is_found(pointer):
    def limit(calls: int) -> None:
        raise Infeasible("too far")

    with pytest.raises(RobotDefect, match="fewer than two of 10 random points are feasible"):
        check_robot(pointer(limit))


def test_an_exception_of_the_robot_is_told_with_its_point(pointer):
    def crash(calls: int) -> None:
        raise ZeroDivisionError("no mass")

    with pytest.raises(RobotDefect, match=r"evaluate\(\[.*\]\) raises ZeroDivisionError: no mass"):
        check_robot(pointer(crash))


def test_every_parameter_of_a_product_has_to_be_explained(pointer):
    class Pair(pointer):
        space = PAIR

        def evaluate(self, point: Any, *, seed: int, stop: Stop) -> Measurement:
            return Measurement(point["gain"])

    with pytest.raises(RobotDefect, match=r"does not explain the parameters \['gain'\]"):
        check_robot(Pair())
