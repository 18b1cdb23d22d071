"""Feature maps: phi with k(x, y) ~ <phi(x), phi(y)>, and the functions that they make of random weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.features.basis import ExactLevels
from geodrome_core.features.waves import Waves


@dataclass(frozen=True)
class Kept:
    """Levels of a compact space that are kept whole: their part of the kernel is exact.

    Attributes:
        levels: Their bases.
        scale: (count,) roots of the shares of the variance.
    """

    levels: ExactLevels
    scale: Tensor

    def evaluate(self, x: Float[Tensor, "n d"]) -> Float[Tensor, "n k"]:
        """Scaled values of the bases."""
        return self.levels.evaluate(x) * self.scale


@dataclass(frozen=True)
class Drawn:
    """Products of random waves, one for each factor and draw: their part of the kernel is right in the mean.

    Attributes:
        parts: Waves, and the columns of a row that they are functions of.
        draws: Number of waves.
        width: Features of a wave: its cosine and its sine, or one if it is real.
    """

    parts: Sequence[tuple[Waves, slice]]
    draws: int
    width: int

    def evaluate(self, x: Float[Tensor, "n d"]) -> Float[Tensor, "n k w"]:
        """Features of each draw, divided by the root of their number."""
        amplitude = torch.full((), 1 / math.sqrt(self.draws), dtype=torch.float64)
        phase = torch.zeros((), dtype=torch.float64)
        for waves, columns in self.parts:
            size, angle = waves.evaluate(x[..., columns])
            amplitude = amplitude * size
            phase = phase if angle is None else phase + angle
        if self.width == 1:
            return amplitude.unsqueeze(-1)
        return torch.stack([amplitude * torch.cos(phase), amplitude * torch.sin(phase)], -1)


@dataclass(frozen=True)
class Features:
    """A feature map of a normalized kernel: k(x, y) is the mean of <phi(x), phi(y)>, but for what is left out.

    Attributes:
        kept: The exact part, or None.
        drawn: The random part, or None.
        variance_left_out: Share of the prior variance that no feature carries. The kernel of what is left out is at
            most this large anywhere, and equal to it at coincident points.
    """

    kept: Kept | None
    drawn: Drawn | None
    variance_left_out: float

    @property
    def exact_count(self) -> int:
        """Features that carry whole levels."""
        return self.kept.levels.count if self.kept else 0

    @property
    def random_count(self) -> int:
        """Features of random waves."""
        return self.drawn.draws * self.drawn.width if self.drawn else 0

    @property
    def count(self) -> int:
        """All features."""
        return self.exact_count + self.random_count

    def evaluate(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b k"]:
        """Phi of rows; smooth in them."""
        rows = x.reshape(-1, x.shape[-1])
        parts = []
        if self.kept:
            parts.append(self.kept.evaluate(rows))
        if self.drawn:
            parts.append(self.drawn.evaluate(rows).flatten(-2))
        return torch.cat(parts, -1).reshape(*x.shape[:-1], self.count)

    def standard_error(self, x: Float[Tensor, "*b d"], y: Float[Tensor, "*b d"]) -> Float[Tensor, "*b"]:
        """Standard deviation of <phi(x), phi(y)> over draws, estimated from this one; of matching rows.

        Draws that are spread evenly have a smaller one than independent ones, which are assumed here. Where the waves'
        amplitudes vary a lot, far from the origin of a space of negative curvature, the estimate is itself uncertain.
        """
        if self.drawn is None:
            return x.new_zeros(x.shape[:-1])
        at_x, at_y = (self.drawn.evaluate(points.reshape(-1, points.shape[-1])) for points in (x, y))
        terms = (at_x * at_y).sum(-1)
        return (terms.std(-1) * math.sqrt(self.drawn.draws)).reshape(x.shape[:-1])


@dataclass(frozen=True)
class PriorSample:
    """A function drawn from the prior, of variance 1 and mean 0: f(x) = <phi(x), weights>.

    Attributes:
        features: phi.
        weights: (count,).
    """

    features: Features
    weights: Tensor

    def __call__(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b"]:
        """Values at rows, differentiable twice."""
        return self.features.evaluate(x) @ self.weights


def prior_sample(features: Features, generator: torch.Generator) -> PriorSample:
    """A function of standard normal weights."""
    return PriorSample(features, torch.randn(features.count, generator=generator, dtype=torch.float64))
