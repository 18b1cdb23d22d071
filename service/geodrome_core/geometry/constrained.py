"""Products of manifolds whose reals are bound by linear inequalities, too."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.polytope import Polytope
from geodrome_core.geometry.product import Product
from geodrome_core.geometry.slack import Slack


class ConstrainedProduct(Product):
    """A product of named manifolds, its domain narrowed by a polytope.

    Attributes:
        polytope: What may stand for the reals.
    """

    def __init__(self, factors: Mapping[str, Manifold], polytope: Polytope) -> None:
        super().__init__(factors)
        self.polytope = polytope
        self.has_border = True

    def random(self, count: int, generator: torch.Generator) -> Float[Tensor, "n d"]:
        """Factors drawn independently, but for the reals: these are uniform in the polytope."""
        return self._with(super().random(count, generator), self.polytope.random(count, generator))

    def contains(self, x: Float[Tensor, "*b d"]) -> Bool[Tensor, "*b"]:
        """Whether every factor's point is in its domain, and all inequalities hold."""
        return super().contains(x) & (self.polytope.slack(self._values(x)) >= 0).all(-1)

    def slacks(self, x: Float[Tensor, "*b d"]) -> list[Float[Tensor, "*b q k k"]]:
        """Those of all factors, and of the inequalities, relative to those of the center."""
        own = self.polytope.slack(self._values(x)) / self.polytope.depths
        return [*super().slacks(x), own[..., None, None]]

    def slacks_around(self, x: Float[Tensor, "b d"]) -> list[Slack] | None:
        """Those of all factors, and of the inequalities."""
        found = super().slacks_around(x)
        if found is None:
            return None
        reals, shares = self.polytope.reals, self.polytope.weights / self.polytope.depths.unsqueeze(-1)
        first, second = reals.slopes(self._values(x))
        slope = x.new_zeros(len(x), self.dim, len(shares))
        slope[:, reals.coordinates] = -first.unsqueeze(-1) * shares.mT

        def bend(c: Tensor) -> Tensor:
            diagonal = c.new_zeros(len(c), self.dim)
            diagonal[:, reals.coordinates] = -(c.flatten(1) @ shares) * second
            return torch.diag_embed(diagonal)

        return [*found, Slack(self.slacks(x)[-1], slope[..., None, None], bend)]

    def clamp(self, x: Float[Tensor, "*b d"], *, margin: float = 0.0) -> Float[Tensor, "*b d"]:
        """Factor by factor, but for the reals: these go into the polytope's box, and straight towards its center."""
        flat = super().clamp(x, margin=margin).reshape(-1, self.width)
        reals = self.polytope.pulled(x.reshape(-1, self.width)[:, self.polytope.reals.columns], margin)
        return self._with(flat, reals).reshape(x.shape)

    def _values(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b k"]:
        return self.polytope.reals.values(x[..., self.polytope.reals.columns])

    def _with(self, x: Float[Tensor, "n d"], reals: Float[Tensor, "n k"]) -> Float[Tensor, "n d"]:
        return x.index_copy(-1, self.polytope.reals.columns, reals)
