"""Points in other forms than the space's, on request: they say so, and told back they are the same points."""

from __future__ import annotations

import math

import pytest
from geodrome_core import space_from_spec

PRODUCT = {
    "type": "product",
    "factors": {
        "tool": {"type": "rotation", "order": "wxyz"},
        "grasp": {"type": "rotation", "representation": "matrix"},
        "wrist": {"type": "torus", "dim": 2},
        "arm": {"type": "joints", "bounds": [[-170, 170]], "unit": "deg"},
        "stiffness": {"type": "spd", "dim": 3, "eigenvalues": [1, 100]},
        "place": {"type": "hyperbolic", "dim": 2, "radius": 2},
    },
}
SPACE = space_from_spec(PRODUCT)
FORMS = [
    {"representation": "matrix"},
    {"representation": "quaternion", "order": "xyzw"},
    {"order": "xyzw", "unit": "deg"},
    {"unit": "rad", "encoding": "mandel"},
    {"encoding": "voigt", "model": "poincare"},
    {"encoding": "cholesky_lower"},
]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_point_told_back_in_the_form_in_which_it_was_asked_is_the_same_point(make_lab, http, form):
    lab = make_lab(space=PRODUCT)
    [trial] = http.post(f"{lab.path}/ask", params=form).json()["trials"]
    suggested = lab.trial(trial["number"])["point"]

    body = {"cost": 1, "point": trial["point"]}
    told = http.post(f"{lab.path}/trials/{trial['number']}/tell", params=form, json=body)
    again = http.post(
        f"{lab.path}/trials", params=form, json={"point": trial["point"], "cost": 1, "skip_if_exists": True}
    )

    first, second = SPACE.rows([suggested, lab.trial(trial["number"])["point"]])
    assert (told.status_code, told.json()["flags"]) == (200, [])
    assert float(SPACE.manifold.distance(first, second)) < 1e-6
    assert (again.status_code, again.json()["number"]) == (200, trial["number"])
    assert {name: value for name, value in trial["form"].items() if value} == form


def test_each_form_is_what_it_is_called(make_lab, http):
    lab = make_lab(space=PRODUCT)
    point = {
        "tool": [0, 0, 0, 1],
        "grasp": [0, 0, 0, 1],
        "wrist": [math.pi / 2, math.pi],
        "arm": [90],
        "stiffness": {"diag": [4, 9, 16]},
        "place": {"poincare": [0.5, 0]},
    }
    number = http.post(f"{lab.path}/trials", json={"point": point, "cost": 1}).json()["number"]

    def shown(**form):
        return http.get(f"{lab.path}/trials/{number}", params=form).json()["point"]

    half_turn = [[-1, 0, 0], [0, -1, 0], [0, 0, 1]]
    assert shown(representation="matrix")["tool"] == half_turn
    assert shown(order="xyzw")["tool"] == [0, 0, 1, 0]
    assert shown(representation="quaternion")["grasp"] == [0, 0, 0, 1]
    assert shown(unit="deg")["wrist"] == [90, 180]
    assert shown(unit="rad")["arm"] == [pytest.approx(math.pi / 2)]
    assert shown(encoding="mandel")["stiffness"] == {"mandel": [4, 9, 16, 0, 0, 0]}
    assert shown(encoding="cholesky_lower")["stiffness"] == {"cholesky_lower": [[2, 0, 0], [0, 3, 0], [0, 0, 4]]}
    assert shown(model="poincare")["place"]["poincare"] == pytest.approx([0.5, 0])
    [listed] = http.get(f"{lab.path}/trials", params={"order": "xyzw"}).json()["trials"]
    assert listed["point"]["tool"] == [0, 0, 1, 0]
    best = http.get(f"{lab.path}/best", params={"order": "xyzw"}).json()
    assert (best["observed"]["point"]["tool"], best["observed"]["form"]["order"]) == ([0, 0, 1, 0], "xyzw")


def test_an_observation_outside_keeps_its_value_in_another_unit(make_lab, http):
    lab = make_lab(space={"type": "joints", "bounds": [[-1, 1]]})

    trial = http.post(f"{lab.path}/trials", params={"unit": "deg"}, json={"point": [90], "cost": 1}).json()

    assert (trial["point"], trial["flags"]) == ([pytest.approx(90)], ["outside_domain"])
    assert lab.trial(1)["point"] == [pytest.approx(math.pi / 2)]


@pytest.mark.parametrize(
    ("form", "pointer"),
    [
        ({"order": "xyzw"}, "/order"),
        ({"unit": "deg"}, "/unit"),
        ({"unit": "grad"}, "/unit"),
        ({"shape": "round"}, "/shape"),
    ],
)
def test_a_form_that_the_space_has_not_is_refused_and_hands_out_nothing(lab, http, form, pointer):
    answer = http.post(f"{lab.path}/ask", params=form)

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-request")
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert lab.trials() == []
