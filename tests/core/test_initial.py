"""Space-filling points: spread out, away from what is taken, and reproducible."""

from __future__ import annotations

import pytest
import torch
from geodrome_core import space_from_spec
from geodrome_core.initial import Neighbourhood, space_filling
from geodrome_core.search.domain import Domain

from tests.core.spaces import SPACES


@pytest.mark.parametrize("name", SPACES)
def test_designs_spread_wider_than_random_points(name):
    manifold = space_from_spec(SPACES[name]).manifold

    def smallest_gap(points):
        gaps = manifold.distance(points.unsqueeze(1), points.unsqueeze(0))
        return gaps[~torch.eye(len(points), dtype=torch.bool)].min().item()

    none = manifold.random(0, torch.Generator())
    pairs = [
        (
            smallest_gap(space_filling(Domain(manifold), 8, taken=none, generator=torch.Generator().manual_seed(seed))),
            smallest_gap(manifold.random(8, torch.Generator().manual_seed(seed))),
        )
        for seed in range(10)
    ]

    assert sum(design > chance for design, chance in pairs) >= 9


@pytest.mark.parametrize("name", SPACES)
def test_a_new_point_keeps_away_from_the_taken_ones(name):
    manifold = space_from_spec(SPACES[name]).manifold
    taken = manifold.random(1, torch.Generator().manual_seed(0)).repeat(3, 1)

    points = space_filling(Domain(manifold), 1, taken=taken, generator=torch.Generator().manual_seed(0))

    assert manifold.contains(points).all()
    assert manifold.distance(points[0], taken[0]) > 0.25 * manifold.diameter


def test_the_same_seed_gives_the_same_design():
    manifold = space_from_spec(SPACES["product"]).manifold
    none = manifold.random(0, torch.Generator())

    first, second = (
        space_filling(Domain(manifold), 5, taken=none, generator=torch.Generator().manual_seed(4)) for _ in "ab"
    )

    assert torch.equal(first, second)


@pytest.mark.parametrize("name", SPACES)
def test_designs_about_a_point_stay_near_it_and_inside(name):
    space = space_from_spec(SPACES[name])
    manifold = space.manifold
    center = manifold.random(1, torch.Generator().manual_seed(1))[0]
    near = Neighbourhood(center, 0.1)

    points = space_filling(
        Domain(manifold), 12, taken=center.unsqueeze(0), generator=torch.Generator().manual_seed(0), near=near
    )

    assert manifold.contains(points).all()
    for factor_name, factor in space.factors.items():
        columns = manifold.columns[factor_name]
        distances = factor.distance(points[:, columns], center[columns])
        # Whole numbers are rounded, and moving into a domain may move past the center's other side.
        assert (distances <= 0.1 * factor.diameter * 1.5).all()
    assert manifold.distance(points, center).max() > 0.02 * manifold.diameter


def test_a_design_of_all_whole_numbers_has_each_of_them():
    manifold = space_from_spec({"type": "integer", "bounds": [-3, 40]}).manifold
    none = manifold.random(0, torch.Generator())

    points = space_filling(Domain(manifold), 44, taken=none, generator=torch.Generator().manual_seed(0))

    assert len(points.unique()) == 44
