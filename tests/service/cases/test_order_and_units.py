"""Cases from the field: order, layout, units."""

from __future__ import annotations

import math

import pytest

from tests.service.cases.wire import add, distance, observed

XYZW, WXYZ = ({"type": "rotation", "order": order} for order in ("xyzw", "wxyz"))
POSE = {"type": "pose", "position": {"bounds": [[-1, 1]] * 3, "unit": "m"}, "orientation": {"order": "xyzw"}}
FRANKA = [
    0.7681760305042956, -0.6365870159800344, 0.06828292058998993, 0,
    -0.6381994665792949, -0.7698674017593761, 0.002371616784093802, 0,
    0.05105905420752297, -0.04539994266409048, -0.9976631787279365, 0,
    0.6951395624527535, 0.081864847706614, 0.4775871098049651, 1,
]  # fmt: skip
PENDANT = [0.170, 0.472, -0.074, 0.862]


def wxyz(point):
    x, y, z, w = point
    return {"w": w, "x": x, "y": y, "z": z}


def test_the_order_decides_what_four_numbers_mean_and_is_echoed(make_lab, http, study_name):
    """L16, NVIDIA/IsaacTeleop#614."""
    lab = make_lab(space=XYZW)
    other = f"{study_name}-wxyz"
    created = http.post("/v1/studies", json={"name": other, "space": {"type": "rotation"}}).json()

    identity = observed(lab, [0, 0, 0, 1])["point"]
    same = http.post(f"/v1/studies/{other}/trials", json={"point": [1, 0, 0, 0], "cost": 1}).json()["point"]
    half_turn = http.post(f"/v1/studies/{other}/trials", json={"point": [0, 0, 0, 1], "cost": 1}).json()["point"]

    assert distance(WXYZ, wxyz(identity), same) < 1e-6
    assert distance(WXYZ, wxyz(identity), half_turn) == pytest.approx(math.pi)
    assert lab.show()["space"]["order"] == "xyzw"
    assert created["space"]["order"] == "wxyz"


def test_a_point_comes_and_goes_in_another_order_and_is_the_same_rotation(make_lab, http):
    """L17, isri-aist/RoboManipBaselines#11."""
    lab = make_lab(space=WXYZ)
    trial = http.post(f"{lab.path}/ask?order=xyzw").json()["trials"][0]

    told = http.post(f"{lab.path}/trials/{trial['number']}/tell?order=xyzw", json={"cost": 1, "point": trial["point"]})

    stored = lab.trial(trial["number"])
    x, y, z, w = trial["point"]
    assert (trial["form"]["order"], stored["form"]) == ("xyzw", None)
    assert (told.status_code, told.json()["point"]) == (200, trial["point"])
    assert stored["point"] == [w, x, y, z]
    assert distance(WXYZ, stored["point"], wxyz(trial["point"])) < 1e-12


def test_a_pose_of_16_numbers_says_how_it_is_laid_out(make_lab):
    """L19, petercorke/robotics-toolbox-matlab#107."""
    lab = make_lab(space=POSE)

    point = observed(lab, {"matrix": FRANKA, "layout": "column_major"})["point"]
    wrong = add(lab, {"matrix": FRANKA, "layout": "row_major"}, cost=1)

    assert point["position"] == pytest.approx([0.69514, 0.08186, 0.47759], abs=5e-6)
    assert distance(WXYZ, wxyz(point["orientation"]), [0.012703, 0.940174, -0.338976, 0.031734]) < 2e-6
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid-point")
    assert wrong.json()["errors"][0]["detail"].startswith("the last row is [0.69514, 0.081865, 0.477587, 1.0]")


def test_millimetres_taken_for_metres_are_told_so_and_can_be_said(make_lab):
    """L20, UniversalRobots/Universal_Robots_ROS2_Driver#791."""
    lab = make_lab(space=POSE)

    refused = add(lab, {"position": [246, -249, 619], "orientation": PENDANT})
    queued = add(lab, {"position": {"mm": [246, -249, 619]}, "orientation": PENDANT})

    assert refused.status_code == 422
    assert [fault["pointer"] for fault in refused.json()["errors"]] == [
        f"/point/position/{index}" for index in range(3)
    ]
    assert "in mm it would be 0.246 m: say {mm: […]} if it is" in refused.json()["errors"][0]["detail"]
    assert queued.status_code == 201
    assert queued.json()["point"]["position"] == pytest.approx([0.246, -0.249, 0.619], abs=1e-15)
    [correction] = queued.json()["corrections"]
    assert correction["pointer"] == "/point/orientation"
    assert correction["got"] == PENDANT
