"""Where searches begin: in the domain, on different hills, near the incumbents at every scale."""

from __future__ import annotations

import pytest
import torch
from geodrome_core import space_from_spec
from geodrome_core.geometry.sphere import Sphere
from geodrome_core.search import integers
from geodrome_core.search.domain import Domain
from geodrome_core.search.objective import ByAutograd
from geodrome_core.search.starts import EACH, RANKED, SCALES, STARTS, candidates, near, starts
from torch import Tensor

from tests.core.spaces import SPACES
from tests.strategies import generator


def height(x: Tensor) -> Tensor:
    return x[:, 0]


@pytest.mark.parametrize("name", SPACES)
def test_candidates_are_points_of_the_domain(name):
    domain = Domain(space_from_spec(SPACES[name]).manifold)
    incumbents = domain.random(3, generator(0))

    found = candidates(domain, incumbents, generator(1))

    assert len(found) > 250
    assert domain.contains(found).all()
    torch.testing.assert_close(domain.manifold.nearest(found), found, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SPACES)
def test_starts_are_distinct_and_the_best_candidate_is_one(name):
    domain = Domain(space_from_spec(SPACES[name]).manifold)
    incumbents = domain.random(3, generator(0))
    objective = ByAutograd(height, domain.manifold)

    chosen, searched = starts(objective, domain, incumbents, generator(1), narrowed=domain)

    assert searched is domain
    assert 1 < len(chosen) <= STARTS + (EACH if domain.whole else 0)
    gaps = domain.manifold.distance(chosen.unsqueeze(1), chosen)
    assert (gaps + torch.eye(len(chosen)) > 0).all()
    assert height(chosen).max() == height(candidates(domain, incumbents, generator(1))).max()


def grippers(x: Tensor) -> Tensor:
    """Each whole number from 0 to 7 has a narrow hill of its own, where others have a valley; that of 1 is highest."""
    k = (7 * x[:, 1]).round()
    hill = torch.exp(-800 * (x[:, 0] - 0.1 - 0.1 * (3 * k % 8)) ** 2)
    return (1 + 0.3 * (k == 1).double()) * hill


def test_every_one_of_few_whole_numbers_has_a_start_so_that_the_best_is_found_across_valleys():
    spec = {
        "type": "product",
        "factors": {"force": {"type": "real", "bounds": [0, 1]}, "jaw": {"type": "integer", "bounds": [0, 7]}},
    }
    manifold = space_from_spec(spec).manifold
    domain, objective = Domain(manifold), ByAutograd(grippers, manifold)
    incumbent = torch.tensor([[0.1, 0.0]], dtype=torch.float64)

    chosen, _ = starts(objective, domain, incumbent, generator(0), narrowed=domain)
    found = integers.maximize(objective, domain, chosen)

    assert set((7 * chosen[:, 1]).round().tolist()) == set(range(8))
    assert found.values.max().item() == pytest.approx(1.3, abs=1e-9)


def test_a_low_hill_far_from_a_high_one_gets_a_start():
    """Many candidates on the high hill are better than all on the low one, whose top is what a search must not miss."""
    sphere = Sphere(3)
    domain = Domain(sphere)
    high, low = torch.eye(4, dtype=torch.float64)[:2]

    def hills(x: Tensor) -> Tensor:
        broad = torch.exp(-2 * sphere.distance(x, high) ** 2)
        return broad + 0.6 * torch.exp(-2 * sphere.distance(x, low) ** 2)

    chosen, _ = starts(ByAutograd(hills, sphere), domain, high.unsqueeze(0), generator(0), narrowed=domain)

    assert sphere.distance(chosen, high).min() < 0.1
    assert sphere.distance(chosen, low).min() < 0.6


def test_points_about_an_incumbent_have_every_scale():
    sphere = Sphere(2)
    incumbent = sphere.random(1, generator(0))

    found = near(Domain(sphere), incumbent, generator(1))

    distances = sphere.distance(found, incumbent) / sphere.diameter
    for scale in SCALES:
        assert int(((distances > scale / 3) & (distances < 3 * scale)).sum()) >= 8
    assert distances.min() == 0


def test_the_preferred_part_is_searched_unless_no_candidate_lies_there():
    sphere = Sphere(2)
    domain = Domain(sphere)
    incumbent = sphere.random(1, generator(0))
    objective = ByAutograd(height, sphere)
    upper = domain.narrowed(ByAutograd(lambda x: x[:, 2], sphere))
    nowhere = domain.narrowed(ByAutograd(lambda x: x[:, 2] - 2, sphere))

    chosen, searched = starts(objective, domain, incumbent, generator(1), narrowed=upper)
    assert searched is upper
    assert (chosen[:, 2] > 0).all()

    chosen, searched = starts(objective, domain, incumbent, generator(1), narrowed=nowhere)
    assert searched is domain
    assert len(chosen) > 1


def test_of_few_whole_numbers_each_is_a_start():
    """Whole numbers: candidates repeat each other."""
    count = space_from_spec({"type": "integer", "bounds": [0, 3]}).manifold
    domain = Domain(count)

    chosen, _ = starts(ByAutograd(height, count), domain, domain.random(1, generator(0)), generator(1), narrowed=domain)

    assert sorted((3 * chosen).round().flatten().tolist()) == [0, 1, 2, 3]
    assert len(chosen) < RANKED
