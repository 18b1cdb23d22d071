"""Against the library GeometricKernels, within the error that it makes itself; the values come from a stored run."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch
from geodrome_core import space_from_spec
from geodrome_core.kernels import for_space

from tests.core.kernels.cases import gram

ENTRIES = json.loads((Path(__file__).parents[1] / "data" / "geometric_kernels.json").read_text())

KINDS = sorted({(entry["space"], entry["dim"], entry["nu"]) for entry in ENTRIES})


@pytest.mark.parametrize(("name", "dim", "nu"), KINDS)
def test_geometric_kernels_agrees_within_its_own_error(name, dim, nu):
    """On compact spaces to 1e-4 or far better; on hyperbolic ones to four standard errors of its random phases."""
    spec = {"type": name, "dim": dim}
    if name == "rotation":
        spec["representation"] = "matrix"
    entries = [entry for entry in ENTRIES if (entry["space"], entry["dim"], entry["nu"]) == (name, dim, nu)]

    for entry in entries:
        kernel = for_space(space_from_spec(spec), nu=float(nu), lengthscale=entry["kappa"], definition="shifted")
        k = float(gram(kernel, *(torch.tensor([entry[each]], dtype=torch.float64) for each in "xy")))

        assert abs(k - entry["k"]) < 4 * entry["error"]
        assert entry["error"] < (0.05 if name == "hyperbolic" else 1e-2)
    assert len(entries) == 6
    assert math.isfinite(k)
