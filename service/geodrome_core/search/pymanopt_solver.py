"""pymanopt's trust regions behind the call of ours: one start after another, a truncated conjugate gradient inside.

Slower by an order of magnitude; it shares neither loop nor subproblem with ``trust_region``, so that tests can compare.
A domain is kept by refusing steps that leave it, without a barrier: optima on a border are not found.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pymanopt
import torch
from jaxtyping import Float
from pymanopt.manifolds.manifold import Manifold as PymanoptManifold
from pymanopt.optimizers import TrustRegions
from torch import Tensor

from geodrome_core.geometry.manifold import Manifold
from geodrome_core.search.domain import Domain
from geodrome_core.search.objective import Expanded, Objective
from geodrome_core.search.trust_region import DEFAULT_TOLERANCE, Search, Tolerance


def maximize(
    objective: Objective,
    domain: Domain,
    starts: Float[Tensor, "b d"],
    *,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
) -> Search:
    """Maximizes from each start; arguments and result as in ``trust_region.maximize``."""
    ends, iterations = [], 0
    slopes = objective.expand(starts).gradient.norm(dim=-1)
    for start, slope in zip(starts, slopes.tolist(), strict=True):
        solver = TrustRegions(
            max_iterations=tolerance.iterations,
            min_gradient_norm=tolerance.gradient * (1 + slope),
            min_step_size=1e-14,
            verbosity=0,
        )
        # initial_point is copied, since pymanopt keeps references.
        result = solver.run(_problem(objective, domain), initial_point=start.numpy().copy())
        ends.append(torch.from_numpy(np.asarray(result.point)))
        iterations += result.iterations
    points = domain.manifold.nearest(torch.stack(ends))
    with torch.no_grad():
        return Search(points, objective(points), iterations)


def _problem(objective: Objective, domain: Domain) -> pymanopt.Problem:
    """Minimization of minus the objective, with its Riemannian gradient and Hessian; infinite outside the domain."""
    manifold = domain.manifold
    wrapped = _Wrapped(manifold)

    def expand(x: np.ndarray) -> tuple[Tensor, Expanded]:
        row = torch.from_numpy(x)
        return manifold.basis(row), objective.expand(row.unsqueeze(0))

    def cost(x: np.ndarray) -> float:
        with torch.no_grad():
            row = torch.from_numpy(x).unsqueeze(0)
            return -float(objective(row)) if bool(domain.contains(row)) else math.inf

    def gradient(x: np.ndarray) -> np.ndarray:
        basis, at = expand(x)
        return (-at.gradient[0] @ basis).numpy()

    def hessian(x: np.ndarray, u: np.ndarray) -> np.ndarray:
        basis, at = expand(x)
        tangent = torch.from_numpy(u).expand_as(basis)
        coordinates = manifold.inner(torch.from_numpy(x).expand_as(basis), basis, tangent)
        return (-(at.hessian[0] @ coordinates) @ basis).numpy()

    function = pymanopt.function.numpy(wrapped)
    return pymanopt.Problem(
        wrapped,
        function(lambda x: cost(x)),
        riemannian_gradient=function(lambda x: gradient(x)),
        riemannian_hessian=function(lambda x, u: hessian(x, u)),
    )


class _Wrapped(PymanoptManifold):  # type: ignore[misc]
    """One of our manifolds, as pymanopt sees it."""

    def __init__(self, manifold: Manifold) -> None:
        super().__init__(type(manifold).__name__, manifold.dim, point_layout=1)
        self._manifold = manifold

    @property
    def typical_dist(self) -> float:
        """Scale of the largest step."""
        return self._manifold.diameter

    def inner_product(self, point: Any, tangent_vector_a: Any, tangent_vector_b: Any) -> float:
        """Riemannian inner product."""
        return float(self._manifold.inner(*(torch.from_numpy(v) for v in (point, tangent_vector_a, tangent_vector_b))))

    def projection(self, point: Any, vector: Any) -> Any:
        """Tangent vector nearest to ``vector``."""
        return self._manifold.project(torch.from_numpy(point), torch.from_numpy(vector)).numpy()

    def to_tangent_space(self, point: Any, vector: Any) -> Any:
        """Removes what rounding has left beside the tangent space."""
        return self.projection(point, vector)

    def norm(self, point: Any, tangent_vector: Any) -> float:
        """Length of a tangent vector."""
        return float(self._manifold.norm(torch.from_numpy(point), torch.from_numpy(tangent_vector)))

    def random_point(self) -> Any:
        """Never asked for: every search has its start."""
        return self._manifold.random(1, torch.Generator().manual_seed(0))[0].numpy()

    def random_tangent_vector(self, point: Any) -> Any:
        """Never asked for: the solver's randomized variant is off."""
        return self.projection(point, point)

    def zero_vector(self, point: Any) -> Any:
        """Zero."""
        return np.zeros_like(point)

    def retraction(self, point: Any, tangent_vector: Any) -> Any:
        """Our second-order retraction."""
        return self._manifold.retract(torch.from_numpy(point), torch.from_numpy(tangent_vector)).numpy()
