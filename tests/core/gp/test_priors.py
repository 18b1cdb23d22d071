"""Priors of lengthscales: however many factors a space has, some of its costs tell of the others."""

from __future__ import annotations

import math

import pytest
import torch
from geodrome_core import space_from_spec
from geodrome_core.gp.fit import ModelSpec, fit
from geodrome_core.gp.priors import PRIORS
from geodrome_core.kernels import for_space

from tests.strategies import generator

FACTORS = {
    "real": {"type": "real", "bounds": [0, 1]},
    "torus": {"type": "torus", "dim": 1},
    "hyperbolic": {"type": "hyperbolic", "dim": 2, "radius": 2.0},
    "sphere": {"type": "sphere", "dim": 2},
}


def medians(space) -> dict[str, float]:
    law = PRIORS["default"].lengthscale
    return {name: law(factor, space.manifold.dim).median for name, factor in space.factors.items()}


def copies(kind: str, count: int):
    return space_from_spec({"type": "product", "factors": {f"x{i}": FACTORS[kind] for i in range(count)}})


def test_the_lengthscale_of_a_single_factor_is_half_its_diameter():
    for spec in [*FACTORS.values(), {"type": "torus", "dim": 3}, {"type": "rotation"}]:
        space = space_from_spec(spec)

        assert medians(space)[""] == pytest.approx(0.5 * space.manifold.diameter)


def test_reals_are_alike_whether_they_are_grouped_or_not():
    vector = {"type": "euclidean", "dim": 4, "bounds": [[0, 1]] * 4}
    grouped = space_from_spec({"type": "product", "factors": {"x": vector, "y": FACTORS["real"]}})

    assert list(medians(copies("real", 5)).values()) == pytest.approx([0.5 * math.sqrt(5)] * 5)
    assert list(medians(grouped).values()) == pytest.approx([0.5 * math.sqrt(5)] * 2)


def test_random_points_are_as_alike_in_a_product_of_reals_as_on_one():
    similarities = []
    for count in (1, 3, 10):
        space = copies("real", count)
        one, other = space.manifold.random(400, generator(count)).chunk(2)
        kernel = for_space(space, nu=2.5, lengthscale=medians(space)).requires_grad_(requires_grad=False)

        similarities.append(float(kernel(one, other).to_dense().diagonal().log().mean().exp()))

    assert similarities == pytest.approx([similarities[0]] * 3, rel=0.3)


def test_thirty_costs_of_five_points_of_the_hyperbolic_plane_tell_of_others():
    space = copies("hyperbolic", 5)
    manifold, chance = space.manifold, generator(1)
    planes, columns = list(manifold.factors.values()), list(manifold.columns.values())
    X = manifold.random(230, chance)
    lengths = sum(planes[i].distance(X[:, columns[i]], X[:, columns[i + 1]]) for i in range(4))
    known = (lengths[:30] - lengths[:30].mean()) / lengths[:30].std()

    mean, _ = fit(ModelSpec(space), X[:30], known).posterior.mean_std(X[30:])

    assert torch.corrcoef(torch.stack([mean, lengths[30:]]))[0, 1] > 0.3
