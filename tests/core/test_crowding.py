"""Weights of observations: a crowd counts as one point."""

from __future__ import annotations

import pytest
import torch
from geodrome_core import space_from_spec
from geodrome_core.crowding import COUNTED, declustered

SPHERE = space_from_spec({"type": "sphere", "dim": 3}).manifold


def around(x, count, width, generator):
    base, steps = x.expand(count, -1), torch.randn(count, SPHERE.dim, generator=generator, dtype=torch.float64)
    return SPHERE.retract(base, SPHERE.tangent(base, width * steps))


def test_points_far_from_all_others_count_fully():
    X = torch.eye(4, dtype=torch.float64)

    assert declustered(SPHERE, X).tolist() == pytest.approx([1.0] * 4)


def test_a_crowd_counts_as_one_point():
    X = torch.cat([torch.eye(4, dtype=torch.float64)[1:], torch.eye(4, dtype=torch.float64)[:1].expand(50, 4)])

    weights = declustered(SPHERE, X)

    assert weights[:3].tolist() == pytest.approx([1.0] * 3)
    assert float(weights[3:].sum()) == pytest.approx(1.0)


def test_of_many_points_some_are_counted():
    """Those that have few neighbours seldom have one that is counted, and count for rather too much."""
    generator = torch.Generator().manual_seed(0)
    X = SPHERE.random(5 * COUNTED, generator)
    X[::2] = around(X[:1], len(X[::2]), 0.05, generator)

    weights = declustered(SPHERE, X)

    gaps = SPHERE.distance(X.unsqueeze(1), X) / (0.05 * SPHERE.diameter)
    exact = 1 / torch.exp(-0.5 * gaps**2).sum(-1)
    assert float(weights[::2].sum() / exact[::2].sum()) == pytest.approx(1, abs=0.2)
    assert 0.8 < float(weights[1::2].sum() / exact[1::2].sum()) < 1.5
