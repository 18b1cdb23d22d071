"""Squared distances of pairs: the digits of differences, the derivatives of the definition."""

from __future__ import annotations

import pytest
import torch
from geodrome_core.kernels.pairs import squared_distance

SHAPES = {
    "matrix": ((5, 1, 4), (1, 6, 4)),
    "batch of matrices": ((3, 5, 1, 4), (3, 1, 6, 4)),
    "list of pairs": ((7, 4), (7, 4)),
    "batch against one": ((3, 5, 1, 4), (1, 6, 4)),
}


def points(shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("name", SHAPES)
def test_values_and_both_derivatives_are_those_of_the_definition(name):
    x, y = (points(shape, seed).requires_grad_() for seed, shape in enumerate(SHAPES[name]))

    found, expected = squared_distance(x, y), ((x - y) ** 2).sum(-1)

    torch.testing.assert_close(found, expected, rtol=1e-14, atol=0)
    for order in ((x, x), (x, y), (y, y)):
        seconds = []
        for value in (found, expected):
            (first,) = torch.autograd.grad(torch.sin(value).sum(), order[0], create_graph=True)
            (second,) = torch.autograd.grad((first**2).sum(), order[1], retain_graph=True)
            seconds.append((first, second))
        torch.testing.assert_close(seconds[0][0], seconds[1][0], rtol=1e-11, atol=1e-12)
        torch.testing.assert_close(seconds[0][1], seconds[1][1], rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-12])
def test_nearly_coincident_points_keep_their_digits(gap):
    """|x|^2 + |y|^2 - 2 <x, y> would be wrong by 1e-16 absolute: by all of gap^2."""
    x = torch.tensor([[1.0, 0.0, 0.0]], dtype=torch.float64)
    y = x + torch.tensor([[0.0, gap, 0.0]], dtype=torch.float64)

    found = squared_distance(x.unsqueeze(-2).requires_grad_(), y.unsqueeze(-3))

    assert found.item() == pytest.approx(gap**2, rel=1e-14)


def test_coincident_points_are_exactly_zero_apart_with_finite_derivatives():
    x = points((4, 3), 0)
    left = x.unsqueeze(-2).clone().requires_grad_()

    found = squared_distance(left, x.unsqueeze(-3))
    (slope,) = torch.autograd.grad(torch.diagonal(found).sum(), left, create_graph=True)

    assert (torch.diagonal(found) == 0).all()
    torch.testing.assert_close(slope, torch.zeros_like(slope), rtol=0, atol=1e-15)
