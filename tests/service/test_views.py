"""What there is to see of a model over HTTP: along geodesics and over grids about the recommended point."""

from __future__ import annotations

import math

import httpx
import pytest
from geodrome import schemas

SPACE = {
    "type": "product",
    "factors": {
        "tool": {"type": "rotation", "order": "wxyz"},
        "grasp": {"type": "sphere", "dim": 2, "cap": {"center": [0, 0, 1], "radius": 1}},
        "gains": {"type": "product", "factors": {"p": {"type": "real", "bounds": [0, 40]}}},
        "force": {"type": "real", "bounds": [0, 40]},
    },
}
CONSTRAINTS = [{"type": "linear", "coefficients": {"gains.p": 1, "force": 1}, "upper": 50}]
EMPTY = {"at": None, "slices": [], "fields": []}


@pytest.fixture
def told(http, make_lab):
    """A study whose costs fall with the first part of the quaternion."""
    lab = make_lab(space=SPACE, constraints=CONSTRAINTS)
    trials = []
    for index in range(10):
        half, lean = 0.2 + 0.1 * index, 0.09 * index
        point = {
            "tool": [math.cos(half), math.sin(half), 0, 0],
            "grasp": [math.sin(lean), 0, math.cos(lean)],
            "gains": {"p": 3.0 * index},
            "force": 20 - 2.0 * index,
        }
        trials.append({"point": point, "cost": 100 * half + index % 3})
    assert http.post(f"{lab.path}/trials/batch", json={"trials": trials}).status_code == 201
    return lab


def test_there_is_nothing_to_see_before_two_costs(http, lab):
    assert http.get(f"{lab.path}/views").json() == EMPTY

    http.post(f"{lab.path}/trials", json={"point": [0, 0], "cost": 1})

    assert http.get(f"{lab.path}/views").json() == EMPTY


def test_views_are_about_the_recommended_point_and_say_what_predictions_say(http, told):
    seen = http.get(f"{told.path}/views").json()

    schemas.Views.model_validate(seen)
    assert seen["at"] == http.get(f"{told.path}/best").json()["recommended"]["point"]
    assert {one["factor"] for one in seen["slices"]} == {"tool", "grasp", "gains.p", "force"}
    for one in seen["slices"]:
        assert one["points"][one["distances"].index(0)] == seen["at"]
        assert all(point["gains"]["p"] + point["force"] <= 50 for point in one["points"])
        said = http.post(f"{told.path}/predict", json={"points": one["points"]}).json()["predictions"]
        assert one["mean"] == pytest.approx([value["mean"] for value in said], rel=1e-9)
        assert one["std"] == pytest.approx([value["std"] for value in said], rel=1e-6)
    kinds = {one["factor"]: (one["kind"], len(one["mean"])) for one in seen["fields"]}
    assert kinds == {"grasp": ("sphere", 25), "gains.p": ("real", 41), "force": ("real", 41)}


def test_a_space_that_is_no_product_has_no_names_and_nothing_outside(http, make_lab):
    lab = make_lab(space={"type": "hyperbolic", "dim": 2, "model": "poincare", "radius": 2})
    bodies = [{"point": [0.1 * x, 0.05 * x**2], "cost": x} for x in range(5)]
    http.post(f"{lab.path}/trials/batch", json={"trials": bodies})

    seen = http.get(f"{lab.path}/views").json()

    assert [(one["factor"], one["axis"]) for one in seen["slices"]] == [(None, 1), (None, 2)]
    [field] = seen["fields"]
    assert (field["factor"], field["kind"], field["mean"][0][0], field["std"][0][0]) == (None, "disc", None, None)
    assert field["mean"][20][20] is not None


def test_all_points_come_in_the_form_that_is_asked_for(http, told):
    plain = http.get(f"{told.path}/views").json()

    seen = http.get(f"{told.path}/views", params={"order": "xyzw"}).json()

    def turned(point):
        w, *xyz = point["tool"]
        return {**point, "tool": [*xyz, w]}

    assert seen["at"] == turned(plain["at"])
    for one, other in zip(seen["slices"], plain["slices"], strict=True):
        assert one == {**other, "points": [turned(point) for point in other["points"]]}
    assert seen["fields"] == plain["fields"]


def test_the_same_digits_come_twice_also_after_a_restart(start_server, empty_url, tmp_path):
    texts = []
    for _ in range(2):
        server = start_server(empty_url, tmp_path)
        with httpx.Client(base_url=server.url, timeout=60) as http:
            if not texts:
                http.post("/v1/studies", json={"name": "again", "space": SPACE["factors"]["grasp"]})
                bodies = [{"point": [0.1 * x, 0, math.sqrt(1 - 0.01 * x**2)], "cost": x % 4} for x in range(8)]
                http.post("/v1/studies/again/trials/batch", json={"trials": bodies})
            texts += [http.get("/v1/studies/again/views").text for _ in range(2)]
        server.stop()

    assert len(texts[0]) > 1000
    assert len(set(texts)) == 1


def test_what_is_unknown_is_refused(http, lab):
    unknown = http.get("/v1/studies/nobody/views")
    form = http.get(f"{lab.path}/views", params={"order": "xyzw"})

    assert (unknown.status_code, unknown.json()["code"]) == (404, "study-not-found")
    assert (form.status_code, form.json()["code"]) == (422, "invalid-request")
    assert form.json()["errors"][0]["pointer"] == "/order"
