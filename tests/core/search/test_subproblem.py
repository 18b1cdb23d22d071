"""The exact minimizer of a quadratic in a ball."""

from __future__ import annotations

import pytest
import torch
from geodrome_core.search.subproblem import step_within
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import generator


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from([1, 2, 3, 6]), st.floats(-4, 2))
def test_the_subproblem_is_solved_exactly(seed, dim, log_radius):
    """Optimality after Moré and Sorensen: (H + l I) s = -g, H + l I >= 0, l (radius - |s|) = 0."""
    g = torch.randn(1, dim, generator=generator(seed), dtype=torch.float64)
    h = torch.randn(1, dim, dim, generator=generator(seed + 1), dtype=torch.float64)
    h = h + h.mT
    radius = torch.tensor([10.0**log_radius], dtype=torch.float64)

    step = step_within(g, *torch.linalg.eigh(h), radius)[0]

    assert step.norm() <= radius * (1 + 1e-9)
    multiplier = -(step @ (h[0] @ step + g[0])) / (step @ step)
    torch.testing.assert_close(h[0] @ step + multiplier * step, -g[0], rtol=0, atol=1e-6 * float(1 + g.norm()))
    assert multiplier >= max(-1e-6, -float(torch.linalg.eigvalsh(h[0])[0]) - 1e-6)


def test_the_subproblem_survives_the_hard_case():
    g = torch.tensor([[0.0, 1.0]], dtype=torch.float64)
    h = torch.diag_embed(torch.tensor([[-2.0, 1.0]], dtype=torch.float64))

    step = step_within(g, *torch.linalg.eigh(h), torch.tensor([3.0], dtype=torch.float64))[0]

    assert step.norm().item() == pytest.approx(3.0, rel=1e-6)
    value = (g * step).sum() + 0.5 * (step @ h[0] * step).sum()
    # On the circle, s_2 minimizes s_2 + 1.5 s_2^2 - 9: s_2 = -1/3.
    assert value.item() == pytest.approx(-9 - 1 / 6, rel=1e-6)
