"""What the service says of itself: whether it is ready, and which spaces it knows."""

from __future__ import annotations

import jsonschema
import pytest


def test_a_server_that_serves_is_ready(http, eventually):
    eventually(lambda: http.get("/readyz").status_code == 200)

    assert http.get("/readyz").json() == {"database": True, "compute": True}


def test_every_type_of_space_has_a_schema(http):
    types = http.get("/v1/spaces").json()["types"]

    assert {
        "real",
        "integer",
        "euclidean",
        "sphere",
        "rotation",
        "torus",
        "joints",
        "spd",
        "hyperbolic",
        "product",
    } <= set(types)
    jsonschema.validate({"type": "spd", "dim": 3, "eigenvalues": [10, 3000]}, types["spd"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"type": "spd", "dim": 7}, types["spd"])
