"""Every example of a bridge is a robot that keeps the rules, and takes part in a study from the command line."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from pathlib import Path

import pytest
from geodrome import Infeasible
from geodrome_robots import Stop, check_robot, from_command
from geodrome_robots.cli import app
from geodrome_robots.points import parse_space, random_point
from geodrome_robots.registry import load
from typer.testing import CliRunner

EXAMPLES = Path(__file__).parents[3] / "robot_adapters" / "examples"
ROBOTS = {
    "callable_joint.py": "robot",
    "command_press.py": "robot",
    "gymnasium_pendulum.py": "robot",
    "mujoco_arm.py": "Lift",
}
NO_ROBOTS = {"press_program.py"}  # the program that command_press.py starts


@pytest.fixture
def example():
    """Loads an example and closes its robot."""
    with contextlib.ExitStack() as stack:

        def make(name):
            robot = load(f"{EXAMPLES / name}:{ROBOTS[name]}")
            stack.callback(robot.close)
            return robot

        yield make


def test_every_example_is_tested():
    assert {path.name for path in EXAMPLES.glob("*.py")} == ROBOTS.keys() | NO_ROBOTS


@pytest.mark.parametrize("name", ROBOTS)
def test_the_example_keeps_the_rules_of_a_robot(example, name):
    check_robot(example(name))


@pytest.mark.parametrize("name", ROBOTS)
def test_most_random_points_of_the_example_are_feasible(example, generator, name):
    robot = example(name)
    space = parse_space(robot.space)
    failures = 0
    for _ in range(20):
        try:
            robot.evaluate(random_point(space, generator), seed=1, stop=Stop())
        except Infeasible:
            failures += 1

    assert failures < 10


@pytest.mark.parametrize("name", ROBOTS)
def test_the_example_runs_from_the_command_line_as_it_says(server, study_name, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    target = f"{EXAMPLES / name}:{ROBOTS[name]}"
    assert f"geodrome robot run robot_adapters/examples/{name}:{ROBOTS[name]}" in (EXAMPLES / name).read_text()

    result = CliRunner().invoke(app, ["run", target, "--url", server, "--study", study_name, "--trials", "3"])

    assert result.exit_code == 0, result.output
    assert "best cost" in result.stdout


def test_a_load_is_lifted_best_by_joints_that_are_coupled(example):
    """The load pulls at both joints at once: their stiffness together does what neither can alone."""
    lift = example("mujoco_arm.py")

    costs = [
        lift.evaluate({"stiffness": [[300.0, k], [k, 85.0]], "damping_ratio": 0.4}, seed=0, stop=Stop()).cost
        for k in (-130.0, 0.0, 130.0)
    ]

    assert costs == sorted(costs, reverse=True)


def test_the_program_in_cpp_answers_as_the_one_in_python(example, tmp_path):
    compiler = shutil.which("g++")
    source = EXAMPLES / "press_program.cpp"
    if compiler is None or subprocess.run(
        [compiler, "-x", "c++", "-fsyntax-only", "-"], input="#include <nlohmann/json.hpp>", text=True,
        capture_output=True, check=False,
    ).returncode:  # fmt: skip
        pytest.skip("needs g++ and nlohmann/json")
    subprocess.run(
        [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", source, "-o", tmp_path / "press"], check=True
    )
    python = example("command_press.py")
    cpp = from_command([str(tmp_path / "press")], name="press", space=python.space, start_s=20.0)
    try:
        for point in ({"stiffness": 500.0, "damping": 20.0}, {"stiffness": 50.0, "damping": 2.0}):
            ours, theirs = (robot.evaluate(point, seed=1, stop=Stop()) for robot in (python, cpp))
            assert theirs.cost == pytest.approx(ours.cost)
            assert theirs.metrics.keys() == ours.metrics.keys()
        with pytest.raises(Infeasible, match="it oscillates"):
            cpp.evaluate({"stiffness": 3000.0, "damping": 1.0}, seed=1, stop=Stop())
    finally:
        cpp.close()
