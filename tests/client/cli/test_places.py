"""Dotted paths into a study's definition."""

from __future__ import annotations

from copy import deepcopy

import pytest
from geodrome.cli.places import NoSuchPlace, put

STUDY = {
    "name": "press",
    "space": {
        "type": "product",
        "factors": {
            "k": {"type": "spd", "dim": 2, "eigenvalues": [10, 1000]},
            "arm": {"type": "product", "factors": {"gain": {"type": "real", "bounds": [0, 1]}}},
            "unit": {"type": "real", "bounds": [0, 1]},
        },
    },
    "constraints": [{"coefficients": {"d": 1}, "upper": 50}],
    "budget": None,
}


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("space.k.eigenvalues", ("space", "factors", "k", "eigenvalues")),
        ("space.factors.k.eigenvalues", ("space", "factors", "k", "eigenvalues")),
        ("space.k.eigenvalues.1", ("space", "factors", "k", "eigenvalues", 1)),
        ("space.k", ("space", "factors", "k")),
        ("space.arm.gain.bounds", ("space", "factors", "arm", "factors", "gain", "bounds")),
        ("space.factors.new", ("space", "factors", "new")),
        ("space.unit", ("space", "unit")),  # the product's own field comes first
        ("space.factors.unit.bounds", ("space", "factors", "unit", "bounds")),
        ("constraints.0.upper", ("constraints", 0, "upper")),
        ("budget.trials", ("budget", "trials")),
        ("kernel.nu", ("kernel", "nu")),
        ("seed", ("seed",)),
    ],
)
def test_a_path_leads_to_one_place(path, where):
    changed = deepcopy(STUDY)

    put(changed, path, "new")

    found = changed
    for key in where:
        found = found[key]
    assert found == "new"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("space.z.bounds", "space.z.bounds: space is a product without a factor 'z'; it has k, arm, unit"),
        ("space.arm.k", "space.arm is a product without a factor 'k'; it has gain"),
        ("constraints.1.upper", "constraints is a list with numbers from 0 to 0, got '1'"),
        ("constraints.-1", "got '-1'"),
        ("constraints.first", "got 'first'"),
        ("name.first", "name is 'press', which has no 'first'"),
        ("space..k", "'space..k' has an empty part"),
        ("", "'' has an empty part"),
    ],
)
def test_a_path_that_leads_nowhere_says_from_where_on(path, said):
    with pytest.raises(NoSuchPlace) as refused:
        put(deepcopy(STUDY), path, 1)

    assert said in str(refused.value)
