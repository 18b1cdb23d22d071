"""Kernels to compare with, over HTTP: they say what they are, and are refused where they cannot be."""

from __future__ import annotations

import pytest

SPD = {"type": "spd", "dim": 2, "eigenvalues": [1, 10]}
SPHERE = {"type": "sphere", "dim": 2}


@pytest.mark.parametrize("kind", ["euclidean_matern", "geodesic_se", "cholesky_matern"])
def test_a_baseline_says_that_it_is_one_and_suggests(make_lab, http, kind):
    lab = make_lab(space=SPD, kernel={"type": kind}, initial_design={"size": 3})

    for trial in http.post(f"{lab.path}/ask", json={"count": 4}).json()["trials"]:
        lab.tell(trial["number"], cost=trial["point"][0][0])

    [note] = lab.show()["notes"]
    assert note.startswith(f"kernel {kind} is a baseline to compare with: ")
    assert lab.show()["kernel"] == {"type": kind, "nu": "inf" if kind == "geodesic_se" else "learn"}
    assert lab.ask()["origin"]["kind"] == "model"


def test_the_flat_kernel_is_no_baseline_and_suggests(make_lab, http):
    lab = make_lab(space=SPD, kernel={"type": "flat_matern"}, initial_design={"size": 3})

    for trial in http.post(f"{lab.path}/ask", json={"count": 4}).json()["trials"]:
        lab.tell(trial["number"], cost=trial["point"][0][0])

    assert lab.show()["notes"] == []
    assert lab.ask()["origin"]["kind"] == "model"


def test_thompson_draws_functions_of_the_kernel_of_hyperbolic_space(make_lab):
    ball = {"type": "hyperbolic", "dim": 2, "radius": 2.0}
    lab = make_lab(space=ball, acquisition={"type": "thompson"}, initial_design={"size": 2})

    for cost in (0.5, 0.25, 0.75):
        lab.tell(lab.ask()["number"], cost=cost)

    assert lab.show()["kernel"]["type"] == "auto"
    assert lab.ask()["origin"]["kind"] == "model"


def test_the_heat_kernel_suggests_too(make_lab, http):
    lab = make_lab(kernel={"nu": "inf"}, initial_design={"size": 2})

    for trial in http.post(f"{lab.path}/ask", json={"count": 2}).json()["trials"]:
        lab.tell(trial["number"], cost=trial["point"][0])

    assert lab.ask()["origin"]["kind"] == "model"


def test_the_space_s_own_kernel_needs_no_note(lab):
    assert lab.show()["notes"] == []


@pytest.mark.parametrize(
    ("definition", "pointer"),
    [
        ({"space": SPHERE, "kernel": {"type": "cholesky_matern"}}, "/kernel/type"),
        ({"space": SPHERE, "kernel": {"type": "flat_matern"}}, "/kernel/type"),
        ({"space": {**SPD, "metric": "log_euclidean"}, "kernel": {"type": "flat_matern"}}, "/kernel/type"),
        ({"space": SPHERE, "kernel": {"type": "geodesic_se", "nu": 2.5}}, "/kernel"),
        (
            {"space": SPHERE, "kernel": {"type": "euclidean_matern"}, "acquisition": {"type": "thompson"}},
            "/acquisition/type",
        ),
        ({"space": SPD, "kernel": {"type": "flat_matern"}, "acquisition": {"type": "thompson"}}, "/acquisition/type"),
        ({"space": {**SPD, "metric": "eigen_product"}, "acquisition": {"type": "thompson"}}, "/acquisition/type"),
    ],
)
def test_kernels_that_cannot_be_are_refused(http, study_name, definition, pointer):
    answer = http.post("/v1/studies", json={"name": study_name, **definition})

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-request")
    assert answer.json()["errors"][0]["pointer"] == pointer
