"""Cases from the field: angles and limits."""

from __future__ import annotations

import math

import pytest

from tests.service.cases.wire import add, asked, distance, observed, predicted

CIRCLE, DEGREES = ({"type": "torus", "dim": 1, "unit": unit} for unit in ("rad", "deg"))


def test_zero_and_two_pi_are_neighbours(make_lab):
    """L22, facebook/Ax#2763."""
    lab = make_lab(space=CIRCLE, initial_design={"size": 2})

    points = [observed(lab, angle)["point"] for angle in (0.000, 6.283, 6.258)]

    assert distance(CIRCLE, points[0], points[1]) == pytest.approx(1.85e-4, abs=1e-6)
    means = [prediction["mean"] for prediction in predicted(lab, 0.000, 6.283, 6.258)]
    assert max(means) - min(means) < 1e-3
    assert lab.ask()["state"] == "running"


def test_2_and_358_degrees_are_4_apart(make_lab):
    """L23, facebookresearch/nevergrad#759."""
    lab = make_lab(space=DEGREES)

    two, before, twelve = (observed(lab, angle)["point"] for angle in (2, 358, 372))

    assert distance(DEGREES, two, before) == pytest.approx(math.radians(4), abs=1e-12)
    assert twelve == [12.0]


def test_several_turns_are_one_point_and_the_raw_value_is_kept(make_lab):
    """L25, PR2/pr2_controllers#169, moveit/moveit2#1777."""
    lab = make_lab(space=CIRCLE)

    one, other = observed(lab, 10.0), observed(lab, 10.0 - 4 * math.pi)

    assert one["point"] == pytest.approx([-2.566371], abs=1e-6)
    assert distance(CIRCLE, one["point"], other["point"]) < 1e-6
    [kept] = lab.trial(one["number"])["corrections"]
    assert (kept["pointer"], kept["got"]) == ("/point/0", 10.0)


def test_a_bounded_joint_is_asked_inside_and_never_wrapped(make_lab):
    """L26, Kinovarobotics/ros_kortex#131."""
    joint = {"type": "joints", "bounds": [[-147.823, 147.823]], "unit": "deg"}
    lab = make_lab(space=joint, initial_design={"size": 200})

    points = [trial["point"] for trial in asked(lab, 200)]
    told, queued = add(lab, [-147.964], cost=1.0), add(lab, [-147.964])

    assert all(abs(angle) <= 147.823 for [angle] in points)
    assert (told.json()["point"], told.json()["flags"]) == ([-147.964], ["outside_domain"])
    assert queued.status_code == 422
    [fault] = queued.json()["errors"]
    assert fault["detail"].endswith("by 0.141")
    assert "never wrapped" in fault["rule"]
