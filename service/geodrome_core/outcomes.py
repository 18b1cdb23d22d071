"""From costs as they were told to the scale that the model works on, and back."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

KNEE = 3.0
"""Costs more than this many robust standard deviations from the median are compressed, by a logarithm taken twice."""

LARGEST = 1e300
"""Costs beyond it count as it: their differences would overflow."""

MAD_TO_STD = 1.4826  # standard deviation of a normal law over its median absolute deviation


@dataclass(frozen=True)
class CostScale:
    """A monotone change of scale: minimization, standardized, and robust to bad outliers.

    Differences among ordinary costs guide a search; one of 1e50 among them must not flatten these. It stays the worst.

    Attributes:
        sign: +1 to minimize, -1 to maximize.
        center, spread: Median, and robust standard deviation, of the signed costs.
        mean, std: Of what those give after compression.
    """

    sign: float
    center: float
    spread: float
    mean: float
    std: float

    @classmethod
    def of(cls, costs: Float[Tensor, " n"], *, maximize: bool = False) -> CostScale:
        """The scale of these costs; any finite costs will do."""
        sign = -1.0 if maximize else 1.0
        signed = sign * costs.clamp(-LARGEST, LARGEST)
        center = float(signed.median())
        deviations = (signed - center).abs()
        # More than half the costs may be equal: then all deviations but the largest must serve.
        largest = float(deviations.max())
        spread = MAD_TO_STD * float(deviations.median()) or float(deviations.sort().values[:-1].sum()) / len(costs)
        # What is smaller is rounding of the costs, or would overflow below.
        spread = max(spread or largest, 1e-12 * abs(center), 1e-100 * largest) if largest else 1.0
        bent = _bend((signed - center) / spread)
        std = float(bent.std(correction=0)) if len(costs) > 1 else 0.0
        return cls(sign, center, spread, float(bent.mean()), std or 1.0)

    @property
    def unit(self) -> float:
        """Difference of two ordinary costs that differ by one on the model's scale."""
        return self.spread * self.std

    def forward(self, costs: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """Costs on the model's scale: small is good."""
        signed = self.sign * costs.clamp(-LARGEST, LARGEST)
        return (_bend((signed - self.center) / self.spread) - self.mean) / self.std

    def forward_std(self, costs: Float[Tensor, "*b"], stds: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """Standard deviations of costs on the model's scale, NaN where they are NaN: as steep as the scale is there."""
        z = (self.sign * costs.clamp(-LARGEST, LARGEST) - self.center) / self.spread
        beyond = (z.abs() - KNEE).clamp_min(0)
        slope = torch.where(beyond > 0, 1 / ((1 + torch.log1p(beyond)) * (1 + beyond)), 1.0)
        return slope * stds / (self.spread * self.std)

    def backward(self, values: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """Costs, as they are told, of values on the model's scale."""
        return self.sign * (self.center + self.spread * _unbend(self.mean + self.std * values))

    def backward_std(self, values: Float[Tensor, "*b"], stds: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """Standard deviations in the unit of the cost: half the width of the interval one deviation to each side."""
        return 0.5 * (self.backward(values + stds) - self.backward(values - stds)).abs()


def _bend(z: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    beyond = (z.abs() - KNEE).clamp_min(0)
    return torch.where(beyond > 0, z.sign() * (KNEE + torch.log1p(torch.log1p(beyond))), z)


def _unbend(z: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    beyond = (z.abs() - KNEE).clamp_min(0)
    return torch.where(beyond > 0, z.sign() * (KNEE + torch.expm1(torch.expm1(beyond).clamp_max(600))), z)
