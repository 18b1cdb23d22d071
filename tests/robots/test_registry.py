"""Robots by name and by import string."""

from __future__ import annotations

import sys

import pytest
from geodrome_robots.registry import ROBOTS, UnknownRobot, load
from geodrome_robots.robot import Robot
from geodrome_robots.tasks.orientation import Orientation

OWN = """
from geodrome_robots import Measurement, Robot

class Spring(Robot):
    name = "spring"
    space = {"type": "real", "bounds": [0.0, 1.0]}

    def describe(self):
        return {"name": "spring"}

    def evaluate(self, point, *, seed, stop):
        return Measurement(point)

class Brick:
    pass

made = Spring()
"""


@pytest.mark.parametrize("name", ROBOTS)
def test_every_built_in_robot_can_be_made_and_goes_by_its_name(name):
    robot = load(name)

    assert isinstance(robot, Robot)
    assert robot.name == name


def test_options_reach_the_class():
    robot = load("orientation", weights="printed")

    assert isinstance(robot, Orientation)
    assert robot.weighting == "printed"


@pytest.fixture
def own_module(tmp_path, monkeypatch) -> str:
    (tmp_path / "own_robots_of_a_lab.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return "own_robots_of_a_lab"


def test_a_robot_of_ones_own_is_found_in_the_current_directory(own_module):
    assert load(f"{own_module}:Spring").name == "spring"


def test_a_robot_that_has_been_made_is_taken_as_it_is(own_module):
    assert load(f"{own_module}:made").name == "spring"


def test_a_robot_is_found_in_a_file_whatever_else_is_called_like_it(tmp_path, monkeypatch):
    # Programs that this one starts later would take its json for Python's.
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "spring_of_a_neighbour.py").write_text(OWN)
    (tmp_path / "json.py").write_text("from spring_of_a_neighbour import Spring")

    assert load(f"{tmp_path / 'json.py'}:Spring").name == "spring"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("lathe", {}, "no robot is called 'lathe': choose of orientation"),
        ("os:", {}, "no robot is called 'os:'"),
        ("no_such_module:Arm", {}, "cannot be imported"),
        ("own_robots_of_a_lab:Gone", {}, "has no class Gone"),
        ("own_robots_of_a_lab:Brick", {}, "is not a robot"),
        ("own_robots_of_a_lab:made", {"weights": "printed"}, "takes no options"),
        ("no_such_file.py:Arm", {}, "cannot be imported"),
        ("own_robots_of_a_lab:Spring", {"weights": "printed"}, "weights"),
        ("orientation", {"weights": "heavy"}, "heavy"),
    ],
)
def test_what_cannot_be_made_is_told_why(own_module, name, options, message):
    with pytest.raises(UnknownRobot, match=message):
        load(name, **options)
