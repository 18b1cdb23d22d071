"""Products of manifolds: rows side by side, squared distances added."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import pad

from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.slack import Slack


class Product(Manifold):
    """The product of named manifolds; every operation acts on each factor's own columns.

    Attributes:
        factors: The manifolds by name, in the order of their columns.
        columns: Where each factor's numbers stand in a row.
    """

    def __init__(self, factors: Mapping[str, Manifold]) -> None:
        self.factors = dict(factors)
        self.columns: dict[str, slice] = {}
        end = 0
        for name, factor in self.factors.items():
            self.columns[name] = slice(end, end + factor.width)
            end += factor.width
        self.width = end
        self.dim = sum(factor.dim for factor in self.factors.values())
        self.diameter = math.hypot(*(factor.diameter for factor in self.factors.values()))
        self.injectivity_radius = min(factor.injectivity_radius for factor in self.factors.values())
        self.is_bounded = all(factor.is_bounded for factor in self.factors.values())
        self.has_border = any(factor.has_border for factor in self.factors.values())

    def inner(
        self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b"]:
        """Sum over the factors."""
        return self._total([factor.inner(x[..., c], u[..., c], v[..., c]) for factor, c in self._parts()])

    def exp(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Factor by factor."""
        return torch.cat([factor.exp(x[..., c], u[..., c]) for factor, c in self._parts()], -1)

    def log(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b d"]:
        """Factor by factor."""
        return torch.cat([factor.log(x[..., c], y[..., c]) for factor, c in self._parts()], -1)

    def distance(self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"]) -> Float[Tensor, "*#b"]:
        """Root of the sum of the factors' squared distances."""
        parts = [factor.distance(x[..., c], y[..., c]) for factor, c in self._parts()]
        return torch.linalg.vector_norm(torch.stack(parts, -1), dim=-1)

    def project(self, x: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Factor by factor."""
        return torch.cat([factor.project(x[..., c], v[..., c]) for factor, c in self._parts()], -1)

    def nearest(self, v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Factor by factor."""
        return torch.cat([factor.nearest(v[..., c]) for factor, c in self._parts()], -1)

    def retract(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Factor by factor."""
        return torch.cat([factor.retract(x[..., c], u[..., c]) for factor, c in self._parts()], -1)

    def transport(
        self, x: Float[Tensor, "*b d"], y: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b d"]:
        """Factor by factor."""
        return torch.cat([factor.transport(x[..., c], y[..., c], u[..., c]) for factor, c in self._parts()], -1)

    def basis(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m d"]:
        """The factors' bases, each in its own columns."""
        out = x.new_zeros(*x.shape[:-1], self.dim, self.width)
        row = 0
        for factor, c in self._parts():
            out[..., row : row + factor.dim, c] = factor.basis(x[..., c])
            row += factor.dim
        return out

    def random(self, count: int, generator: torch.Generator) -> Float[Tensor, "n d"]:
        """Factors drawn independently."""
        return torch.cat([factor.random(count, generator) for factor in self.factors.values()], -1)

    def contains(self, x: Float[Tensor, "*b d"]) -> Bool[Tensor, "*b"]:
        """Whether every factor's point is in its domain."""
        return torch.stack([factor.contains(x[..., c]) for factor, c in self._parts()]).all(0)

    def slacks(self, x: Float[Tensor, "*b d"]) -> list[Float[Tensor, "*b q k k"]]:
        """Those of all factors."""
        return [slack for factor, c in self._parts() for slack in factor.slacks(x[..., c])]

    def slacks_around(self, x: Float[Tensor, "b d"]) -> list[Slack] | None:
        """Those of all factors, each in its own coordinates."""
        out: list[Slack] = []
        first = 0
        for factor, c in self._parts():
            found = factor.slacks_around(x[..., c])
            if found is None:
                return None
            before, after = first, self.dim - first - factor.dim
            out += [_in_coordinates(slack, before, after) for slack in found]
            first += factor.dim
        return out

    def clamp(self, x: Float[Tensor, "*b d"], *, margin: float = 0.0) -> Float[Tensor, "*b d"]:
        """Factor by factor."""
        return torch.cat([factor.clamp(x[..., c], margin=margin) for factor, c in self._parts()], -1)

    def _parts(self) -> list[tuple[Manifold, slice]]:
        return [(factor, self.columns[name]) for name, factor in self.factors.items()]

    @staticmethod
    def _total(parts: list[Float[Tensor, "*b"]]) -> Float[Tensor, "*b"]:
        return torch.stack(parts).sum(0)


def _in_coordinates(slack: Slack, before: int, after: int) -> Slack:
    """A factor's slack in the coordinates of the product, of which so many stand before and after its own."""
    return Slack(
        slack.value,
        pad(slack.slope, (0, 0, 0, 0, 0, 0, before, after)),
        lambda c: pad(slack.bend(c), (before, after, before, after)),
    )
