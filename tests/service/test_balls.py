"""Caps and balls over HTTP: asked within, told anywhere, begun only within."""

from __future__ import annotations

import math

import pytest

CAP = {"type": "sphere", "dim": 2, "cap": {"center": [0.6, 0, -0.8], "radius": 0.3}}
TOOL = {"type": "rotation", "order": "xyzw", "ball": {"center": {"rotvec": [0, 0, 2]}, "radius": 0.3}}


def angle_from_the_center(space, point):
    """By the cosine: good enough for angles that are not small."""
    if space is CAP:
        return math.acos(sum(a * b for a, b in zip(point, CAP["cap"]["center"], strict=True)))
    return 2 * math.acos(abs(point[2] * math.sin(1) + point[3] * math.cos(1)))


@pytest.mark.parametrize("space", [CAP, TOOL], ids=["cap", "ball"])
def test_what_is_asked_lies_within_also_when_the_cost_pulls_outwards(make_lab, space):
    lab = make_lab(space=space, initial_design={"size": 3})

    for _ in range(6):
        trial = lab.ask()
        assert angle_from_the_center(space, trial["point"]) <= 0.3
        told = lab.tell(trial["number"], cost=-angle_from_the_center(space, trial["point"]))
        assert told.json()["flags"] == []


@pytest.mark.parametrize(("space", "far"), [(CAP, [0.0, 0.0, -1.0]), (TOOL, [0.0, 0.0, 0.0, 1.0])], ids=["cap", "ball"])
def test_what_was_done_outside_is_an_observation_with_a_flag(make_lab, space, far):
    lab = make_lab(space=space)
    lab.ask()

    trial = lab.tell(1, cost=1, point=far).json()

    assert (trial["state"], trial["point"], trial["flags"]) == ("completed", far, ["outside_domain"])
    assert angle_from_the_center(space, lab.ask()["point"]) <= 0.3


def test_a_study_does_not_begin_outside(http, study_name):
    around = [0, 0, 0, 1]

    answer = http.post("/v1/studies", json={"name": study_name, "space": TOOL, "initial_design": {"around": around}})

    [fault] = answer.json()["errors"]
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-point")
    assert fault["pointer"] == "/initial_design/around"
    assert fault["detail"] == "the point is 2 rad from the center, 1.7 beyond the radius 0.3"


def test_the_space_is_shown_as_it_was_sent(make_lab):
    lab = make_lab(space=TOOL)

    assert lab.show()["space"]["ball"] == TOOL["ball"]
