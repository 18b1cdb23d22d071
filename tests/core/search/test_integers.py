"""Searching over whole numbers, alone and beside reals and matrices: against trying every one."""

from __future__ import annotations

import pytest
import torch
from geodrome_core import space_from_spec
from geodrome_core.search import integers
from geodrome_core.search.domain import Domain
from geodrome_core.search.objective import ByAutograd
from torch import Tensor

from tests.strategies import generator


def domain_of(*factors: dict[str, object]) -> Domain:
    names = "abcdef"[: len(factors)]
    spec = {"type": "product", "factors": dict(zip(names, factors, strict=True))} if len(factors) > 1 else factors[0]
    return Domain(space_from_spec(spec).manifold)


def integer(low: int, high: int) -> dict[str, object]:
    return {"type": "integer", "bounds": [low, high]}


def found_from(function, domain: Domain, count: int = 4) -> integers.Search:
    return integers.maximize(ByAutograd(function, domain.manifold), domain, domain.random(count, generator(0)))


@pytest.mark.parametrize("high", [1, 7, 64, 65, 1000, 2**53])
def test_one_hill_is_climbed_from_everywhere(high):
    """Jumps of powers of two reach each of many numbers."""
    domain = domain_of(integer(0, high))
    top = round(0.37 * high) / high

    found = found_from(lambda x: -((x[:, 0] - top) ** 2), domain)

    torch.testing.assert_close(found.values, torch.zeros(4, dtype=torch.float64), rtol=0, atol=1e-12)
    assert found.points.max() <= 1
    torch.testing.assert_close(found.points * high, torch.round(found.points * high), rtol=0, atol=1e-3)


def test_of_few_numbers_the_best_is_found_across_valleys():
    domain = domain_of(integer(0, 40))
    costs = torch.randn(41, generator=generator(1), dtype=torch.float64)

    found = found_from(lambda x: costs[(40 * x[:, 0]).round().long()] + 0 * x[:, 0], domain)

    assert (found.values == costs.max()).all()


def test_a_real_beside_a_whole_number_is_searched_for_each_that_is_tried():
    """The best real depends on the whole number: together they are the best of all."""
    domain = domain_of(integer(0, 6), {"type": "real", "bounds": [0, 1]})
    tops = torch.linspace(0.2, 0.8, 7, dtype=torch.float64)
    heights = torch.tensor([0.0, 0.4, 0.1, 0.3, 0.9, 0.2, 0.8], dtype=torch.float64)

    def function(x: Tensor) -> Tensor:
        step = (6 * x[:, 0].detach()).round().long()
        return heights[step] - 0.5 * (x[:, 1] - tops[step]) ** 2

    found = found_from(function, domain)

    expected = torch.tensor([4 / 6, float(tops[4])], dtype=torch.float64)
    torch.testing.assert_close(found.points, expected.expand(4, 2), rtol=0, atol=1e-6)


@pytest.mark.parametrize(("high", "wide"), [(20, 10), (40, 20)])
def test_two_whole_numbers_change_together(high, wide):
    """Few combinations are all tried; along a ridge, one of many is a step of both."""
    domain = domain_of(integer(0, high), integer(-wide // 2, wide // 2))

    found = found_from(lambda x: -((x[:, 0] - 0.3) ** 2) - 9 * (x[:, 1] - x[:, 0]) ** 2, domain, count=8)

    grid = torch.cartesian_prod(torch.arange(high + 1) / high, torch.arange(wide + 1) / wide).double()
    best = (-((grid[:, 0] - 0.3) ** 2) - 9 * (grid[:, 1] - grid[:, 0]) ** 2).max()
    assert found.values.max().item() == pytest.approx(best.item(), abs=1e-12)


def test_inequalities_forbid_whole_numbers():
    domain = domain_of(integer(0, 10)).narrowed(
        ByAutograd(lambda x: 0.65 - x[:, 0], domain_of(integer(0, 10)).manifold)
    )

    found = found_from(lambda x: x[:, 0], domain)

    torch.testing.assert_close(found.points, torch.full((4, 1), 0.6, dtype=torch.float64))


def test_without_whole_numbers_it_is_the_continuous_search():
    domain = domain_of({"type": "sphere", "dim": 2})

    found = found_from(lambda x: x[:, 2], domain)

    assert found.values.min() > 1 - 1e-9
