"""What the service makes of points that are not quite right, of every kind of space."""

from __future__ import annotations

import pytest
import torch
from geodrome_core import space_from_spec

from tests.service.cases.test_life_cycle import SPACES
from tests.service.cases.wire import add, asked, refusal

SPD = {"type": "spd", "dim": 2, "eigenvalues": [1, 10]}
POSE = SPACES["pose"]
OUTSIDE = {
    "real": ({"type": "real", "bounds": [1, 10], "scale": "log"}, 11.0),
    "integer": ({"type": "integer", "bounds": [0, 5]}, 6),
    "euclidean": ({"type": "euclidean", "dim": 2, "bounds": [[0, 1], [0, 1]]}, [0.5, 1.5]),
    "joints": ({"type": "joints", "bounds": [[-1, 1]]}, [2.0]),
    "eigenvalues": (SPD, [[0.5, 0.0], [0.0, 20.0]]),
    "eigenvalues of another metric": ({**SPD, "metric": "cholesky"}, [[0.5, 0.0], [0.0, 20.0]]),
    "cap": ({"type": "sphere", "dim": 2, "cap": {"center": [0, 0, 1], "radius": 0.5}}, [1.0, 0.0, 0.0]),
    "ball": ({"type": "rotation", "ball": {"center": [1, 0, 0, 0], "radius": 0.5}}, [0.0, 1.0, 0.0, 0.0]),
    "radius": ({"type": "hyperbolic", "dim": 2, "model": "poincare", "radius": 1}, [0.9, 0.0]),
    "pose": (POSE, {"position": [0.0, 0.0, 3.0], "orientation": [1.0, 0.0, 0.0, 0.0]}),
}


def as_float32(value):
    """All numbers rounded to 32 bits."""
    if isinstance(value, dict):
        return {name: as_float32(item) for name, item in value.items()}
    if isinstance(value, list):
        return [as_float32(item) for item in value]
    return float(torch.tensor(float(value), dtype=torch.float32)) if isinstance(value, float) else value


@pytest.mark.parametrize(("space", "point"), OUTSIDE.values(), ids=OUTSIDE)
def test_an_observation_outside_is_kept_as_it_is_and_a_point_to_be_run_is_refused(make_lab, space, point):
    lab = make_lab(space=space)

    told, queued = add(lab, point, cost=1), add(lab, point)

    assert (told.status_code, told.json()["point"], told.json()["flags"]) == (201, point, ["outside_domain"])
    assert (queued.status_code, queued.json()["code"]) == (422, "invalid-point")
    assert lab.show()["counts"]["queued"] == 0


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_what_is_asked_is_inside_also_as_floats_of_32_bits(make_lab, space):
    built = space_from_spec(space)

    for trial in asked(make_lab(space=space), 4):
        exact = built.check(trial["point"])
        assert (exact.point, exact.outside, exact.corrections) == (trial["point"], (), ())
        assert built.check(as_float32(trial["point"])).outside == ()


@pytest.mark.parametrize(
    ("space", "point", "pointer", "says"),
    [
        ({"type": "rotation"}, [0.9, 0, 0, 0], "/point", "norm 0.9; normalized it would be [1.0, 0.0, 0.0, 0.0]"),
        ({"type": "rotation"}, [[1, 0.01, 0], [0, 1, 0], [0, 0, 1]], "/point", "max |R R^T - I| = 0.01"),
        (
            {"type": "rotation"},
            {"matrix": [1] * 8, "layout": "row_major"},
            "/point/matrix",
            "expected 9 numbers, got 8",
        ),
        ({"type": "sphere", "dim": 2}, [0, 0, 1e-9], "/point", "was it never set?"),
        (SPD, [[2, 1e-5], [0, 2]], "/point", "not symmetric: relative difference 5e-06"),
        (SPD, [[1, 2], [2, 1]], "/point", "not positive definite: eigenvalues -1, 3"),
        (SPD, {"diag": ["2", 3]}, "/point/diag/0", "expected a number, got '2'"),
        ({"type": "torus", "dim": 1}, ["NaN"], "/point/0", "expected a number, got 'NaN'"),
        ({"type": "integer", "bounds": [0, 5]}, 2.5, "/point", "its neighbours are 2 and 3"),
    ],
)
def test_what_is_wrong_is_refused_with_the_number_that_was_found(make_lab, space, point, pointer, says):
    fault = refusal(make_lab(space=space), point)

    assert fault["pointer"] == pointer
    assert says in fault["detail"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_numbers_that_json_has_not_are_refused_in_points(make_lab, http, number):
    lab = make_lab(space={"type": "real", "bounds": [0, 1]})
    body = f'{{"point": {number}, "cost": 1}}'

    answer = http.post(f"{lab.path}/trials", content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/point"
    assert lab.trials() == []


def test_small_deviations_are_mended_in_silence_and_larger_ones_told(make_lab):
    lab = make_lab(space={"type": "sphere", "dim": 2})

    silent, told = add(lab, [0, 0, 1.0000005], cost=1).json(), add(lab, [0, 0, 1.005], cost=1).json()

    assert (silent["point"], silent["corrections"]) == ([0, 0, 1], [])
    [correction] = told["corrections"]
    assert (correction["pointer"], correction["detail"]) == ("/point", "the vector was normalized")
    assert (correction["deviation"], correction["got"]) == (pytest.approx(0.005), [0, 0, 1.005])


def test_units_and_frames_are_echoed_and_change_no_number(make_lab):
    said = {"unit": "N/m", "frame": "panda_hand", "relative_to": "panda_link0"}
    lab = make_lab(space={**SPD, **said})

    assert {name: lab.show()["space"][name] for name in said} == said
    assert add(lab, [[2, 0], [0, 3]], cost=1).json()["point"] == [[2, 0], [0, 3]]


def test_named_choices_are_refused_and_the_reason_is_told(http, study_name):
    space = {"type": "product", "factors": {"gripper": {"type": "choice", "values": ["soft", "hard"]}}}

    answer = http.post("/v1/studies", json={"name": study_name, "space": space})

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-space")
    [fault] = answer.json()["errors"]
    assert fault["pointer"] == "/space/factors/gripper/type"
    assert fault["detail"].startswith("the type choice is reserved and not built yet")


def test_the_schema_of_every_type_is_published(http):
    types = http.get("/v1/spaces").json()["types"]

    assert {"pose", "product", "spd"} <= set(types)
    assert "eigen_product" in str(types["spd"])


def test_a_pose_that_cannot_be_is_pointed_at(http, study_name):
    space = {"type": "pose", "position": {"unit": "inch", "bounds": [[0, 1]] * 3}, "orientation": {"dim": 4}}

    answer = http.post("/v1/studies", json={"name": study_name, "space": space})

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-space")
    assert answer.json()["errors"][0]["pointer"] == "/space/position/unit"


def test_a_pose_without_bounds_cannot_be_searched(http, study_name):
    answer = http.post("/v1/studies", json={"name": study_name, "space": {"type": "pose", "position": {}}})

    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/space/position")
