"""From costs as they were told to the scale that the model works on, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

KNEE = 3.0
"""Costs more than this many robust standard deviations from the median are compressed, by a logarithm taken twice."""

LARGEST = 1e300
"""Costs beyond it count as it: their differences would overflow."""

MAD_TO_STD = 1.4826  # standard deviation of a normal law over its median absolute deviation

TAIL = 0.1
"""Part of the costs on either side that tells how lopsided they are."""

SHORTEST_REACH = 0.01
"""Of the median's distance from the best cost: where many are equal to that, the logarithm begins no earlier."""

LEAST_EXCESS = 1e-6
"""How much longer the tail of bad costs must be, relative to its end, for the logarithm to be another scale at all."""


@dataclass(frozen=True)
class CostScale:
    """A monotone change of scale: minimization, standardized, and robust to bad outliers.

    Differences among ordinary costs guide a search; one of 1e50 among them must not flatten these. It stays the worst.

    Attributes:
        sign: +1 to minimize, -1 to maximize.
        best, reach: Signed costs are taken as they are up to about ``reach`` above the best one, and by the logarithm
            beyond; infinite for none.
        center, spread: Median, and robust standard deviation, of what that gives.
        mean, std: Of what those give after compression.
    """

    sign: float
    best: float
    reach: float
    center: float
    spread: float
    mean: float
    std: float

    @classmethod
    def of(
        cls,
        costs: Float[Tensor, " n"],
        weights: Float[Tensor, " n"] | None = None,
        *,
        maximize: bool = False,
        is_logarithmic: bool = False,
    ) -> CostScale:
        """The scale of these costs; any finite costs will do.

        Args:
            costs: As they were told.
            weights: How much each counts; None for all alike.
            maximize: Whether large costs are good.
            is_logarithmic: Whether the logarithm is taken of costs that have a long tail of bad ones, from where on
                makes their tails equally long: large costs then differ by factors.
        """
        sign = -1.0 if maximize else 1.0
        signed = sign * costs.clamp(-LARGEST, LARGEST)
        weights = torch.ones_like(signed) if weights is None else weights
        raw = cls(sign, float(signed.min()), math.inf, 0.0, 1.0, 0.0, 1.0)
        if is_logarithmic:
            raw = replace(raw, reach=_reach(signed - raw.best, weights))
        tamed = raw._tamed(signed)
        center = _quantile(tamed, weights, 0.5)
        deviations = (tamed - center).abs()
        # More than half the costs may be equal: then all deviations but the largest must serve.
        largest = float(deviations.max())
        spread = MAD_TO_STD * _quantile(deviations, weights, 0.5)
        spread = spread or float(deviations.sort().values[:-1].sum()) / len(costs)
        # What is smaller is rounding of the costs, or would overflow below.
        spread = max(spread or largest, 1e-12 * abs(center), 1e-100 * largest) if largest else 1.0
        bent = _bend((tamed - center) / spread)
        parts = weights / weights.sum()
        mean = float(parts @ bent)
        std = float((parts @ (bent - mean) ** 2).sqrt()) if len(costs) > 1 else 0.0
        return replace(raw, center=center, spread=spread, mean=mean, std=std or 1.0)

    @property
    def unit(self) -> float:
        """Difference of two costs near the median that differ by one on the model's scale."""
        # Of a logarithm, the center is that of the height at the median: no more than r log(1 + 1 / SHORTEST_REACH).
        return self.spread * self.std * math.exp(self.center / self.reach)

    def forward(self, costs: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """Costs on the model's scale: small is good."""
        return (_bend((self._tamed(self._signed(costs)) - self.center) / self.spread) - self.mean) / self.std

    def log_slope(self, costs: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """Logarithm of the derivative of ``forward``, but for the sign."""
        signed = self._signed(costs)
        beyond = (((self._tamed(signed) - self.center) / self.spread).abs() - KNEE).clamp_min(0)
        bent = torch.log1p(torch.log1p(beyond)) + torch.log1p(beyond)
        return -bent - _log_ratio(signed - self.best, self.reach) - math.log(self.spread) - math.log(self.std)

    def forward_std(self, costs: Float[Tensor, "*b"], stds: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """Standard deviations of costs on the model's scale, NaN where they are NaN: as steep as the scale is there."""
        return self.log_slope(costs).exp() * stds

    def backward(self, values: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """Costs, as they are told, of values on the model's scale."""
        signed = self.center + self.spread * _unbend(self.mean + self.std * values)
        if self.reach < math.inf:
            above = self.reach * torch.expm1((signed / self.reach).clamp(0, 600))
            signed = self.best + torch.where(signed > 0, above, signed)
        return self.sign * signed.clamp(-LARGEST, LARGEST)

    def backward_std(self, values: Float[Tensor, "*b"], stds: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """Standard deviations in the unit of the cost: half the width of the interval one deviation to each side."""
        return 0.5 * (self.backward(values + stds) - self.backward(values - stds)).abs()

    def _signed(self, costs: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        return self.sign * costs.clamp(-LARGEST, LARGEST)

    def _tamed(self, signed: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
        """Costs, or with a reach r the height above the best: r log(1 + height / r), and as it is below the best."""
        if self.reach == math.inf:
            return signed
        height = signed - self.best
        return torch.where(height > 0, self.reach * _log_ratio(height, self.reach), height)


def candidates(
    costs: Float[Tensor, " n"], weights: Float[Tensor, " n"] | None = None, *, maximize: bool = False
) -> list[CostScale]:
    """Scales that may suit: costs as they are, and where they have a long tail of bad ones, their logarithm too."""
    scales = [CostScale.of(costs, weights, maximize=maximize, is_logarithmic=taken) for taken in (False, True)]
    return scales if scales[1].reach < math.inf else scales[:1]


def _log_ratio(height: Float[Tensor, "*b"], reach: float) -> Float[Tensor, "*b"]:
    """log(1 + height / reach), also where that quotient overflows; zero below zero."""
    if reach == math.inf:
        return torch.zeros_like(height)
    return torch.logaddexp(torch.zeros_like(height), height.clamp_min(0).log() - math.log(reach))


def _reach(heights: Float[Tensor, " n"], weights: Float[Tensor, " n"]) -> float:
    """Where the logarithm must begin for the tails on either side of the median to be equally long.

    With heights a, b, c above the best cost at one tail, the middle and the other tail,  (r + a) (r + c) = (r + b)^2
    has the solution  r = (b^2 - a c) / (a + c - 2 b).  It is infinite if the tail of bad ones is not the longer one,
    but for rounding, and at least ``a``: nearer to the best there is too little to tell from.
    """
    low, middle, high = (_quantile(heights, weights, q) for q in (TAIL, 0.5, 1 - TAIL))
    if middle == 0:
        return math.inf
    a, b = low / high, middle / high
    excess = (1 - b) - (b - a)
    if excess < LEAST_EXCESS:
        return math.inf
    return max(high * (b * b - a) / excess, low, SHORTEST_REACH * middle)


def _quantile(values: Float[Tensor, " n"], weights: Float[Tensor, " n"], q: float) -> float:
    """The least value that, with all smaller ones, has at least a part ``q`` of the weight."""
    ordered, places = values.sort()
    reached = weights[places].cumsum(0)
    return float(ordered[torch.searchsorted(reached, q * reached[-1])])


def _bend(z: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    beyond = (z.abs() - KNEE).clamp_min(0)
    return torch.where(beyond > 0, z.sign() * (KNEE + torch.log1p(torch.log1p(beyond))), z)


def _unbend(z: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    beyond = (z.abs() - KNEE).clamp_min(0)
    return torch.where(beyond > 0, z.sign() * (KNEE + torch.expm1(torch.expm1(beyond).clamp_max(600))), z)
