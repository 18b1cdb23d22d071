"""Cases from the field: Gram matrices that other programs could not factorize."""

from __future__ import annotations

import pytest
import torch
from geodrome_core.kernels import for_space

from tests.core.kernels.cases import SPACES, random_rows

LEAST = -1e-8
LENGTHSCALES = (0.1, 0.3, 1.0, 2.0, 3.0)


def least_eigenvalue(name, kappa, nu, rows):
    kernel = for_space(SPACES[name], nu=nu, lengthscale=kappa)
    return float(torch.linalg.eigvalsh(kernel(rows, rows + 0).to_dense().detach())[0])


@pytest.mark.parametrize("kappa", LENGTHSCALES)
@pytest.mark.parametrize("name", ["S3", "SO3"])
@pytest.mark.parametrize("nu", [2.5, float("inf")])
def test_sixty_quaternions_have_a_positive_gram_matrix(name, kappa, nu):
    """L61, meta-pytorch/botorch#1529: of exp(-d^2 / 2 l^2) the least eigenvalue is -0.41 at l = 2."""
    assert least_eigenvalue(name, kappa, nu, random_rows(name, 60)) >= LEAST


@pytest.mark.parametrize("kappa", LENGTHSCALES)
@pytest.mark.parametrize("name", ["SO3", "SO4", "T2", "T4", "SPD2", "SPD3", "H2", "H3", "pose", "tool"])
def test_a_repeated_point_of_32_bits_leaves_the_gram_matrix_positive(name, kappa):
    """L62, JuliaGaussianProcesses/KernelFunctions.jl#520, GPflow/GPflow#1105."""
    rows = random_rows(name, 40)
    single = torch.cat([rows, rows[:1]]).to(torch.float32)

    gram = for_space(SPACES[name], lengthscale=kappa)(single, single + 0).to_dense().detach()

    assert gram.dtype == torch.float64
    assert least_eigenvalue(name, kappa, 2.5, torch.cat([rows, rows[:1]])) >= LEAST
