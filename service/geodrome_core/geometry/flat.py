"""What flat manifolds share whose rows are their own coordinates."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.manifold import Manifold


class Flat(Manifold):
    """R^n, or a quotient of it: all tangent spaces are R^n, and parallel transport changes nothing."""

    def inner(
        self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b"]:
        """Dot product."""
        return (u * v).sum(-1)

    def project(self, x: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """``v`` itself."""
        return v

    def retract(self, x: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """``exp(x, u)``."""
        return self.exp(x, u)

    def transport(
        self, x: Float[Tensor, "*b d"], y: Float[Tensor, "*b d"], u: Float[Tensor, "*b d"]
    ) -> Float[Tensor, "*b d"]:
        """``u`` itself."""
        return u

    def basis(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b m d"]:
        """The coordinate axes."""
        return torch.eye(self.dim, dtype=x.dtype).expand(*x.shape[:-1], self.dim, self.dim)
