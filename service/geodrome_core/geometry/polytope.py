"""What linear inequalities leave of a box: whether it is anything, a point deep inside, and points spread over it.

Inequalities A v <= b hold in natural units, between the numbers v as a user writes them. Rows of points hold positions
p in the unit box, after the logarithm for a log scale: there the domain is bounded by curves, and need not be convex.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from scipy.optimize import linprog
from torch import Tensor

from geodrome_core.geometry.euclidean import FLOAT32_ROUNDING

LEAST_ROOM = 1e-6
"""Radius of the largest ball inside, where all sides of the smallest box around the domain are 1: less is a border."""

REJECTED = 64
"""Points of the smallest box around the domain that are drawn for each that is wanted, before a walk begins."""

STEPS, SHRINKS = 50, 40
"""Of a walk through the domain, and of each of its steps until it ends inside."""

TIGHTENINGS = 100
"""Times that every inequality narrows the box; nearly always two are enough."""

LONGEST_PULL, BISECTIONS = 40, 20
"""Halvings of the way to the center, of which the least that leads inside is taken, and of that again."""


@dataclass(frozen=True)
class Reals:
    """The bounded numbers of points, in natural units and as positions in the unit box.

    Attributes:
        columns: Where they stand in a row.
        coordinates: Which tangent coordinates they are.
        bounds: Lower and upper bounds, in natural units.
        is_log: Whether the scale is that of the logarithm.
    """

    columns: Int[Tensor, " k"]
    coordinates: Int[Tensor, " k"]
    bounds: Float[Tensor, "k 2"]
    is_log: Bool[Tensor, " k"]

    @cached_property
    def span(self) -> Float[Tensor, " k"]:
        """Width of the box, after the logarithm."""
        return self._ends[:, 1] - self._ends[:, 0]

    @cached_property
    def _ends(self) -> Float[Tensor, "k 2"]:
        return self._warped(self.bounds.mT).mT

    def values(self, p: Float[Tensor, "*b k"]) -> Float[Tensor, "*b k"]:
        """Natural units of positions."""
        warped = self._ends[:, 0] + self.span * p
        return torch.where(self.is_log, torch.exp(torch.where(self.is_log, warped, 0.0)), warped)

    def positions(self, v: Float[Tensor, "*b k"]) -> Float[Tensor, "*b k"]:
        """The way back."""
        return (self._warped(v) - self._ends[:, 0]) / self.span

    def slopes(self, v: Float[Tensor, "*b k"]) -> tuple[Float[Tensor, "*b k"], Float[Tensor, "*b k"]]:
        """First and second derivatives of values by their positions."""
        first = torch.where(self.is_log, self.span * v, self.span)
        return first, torch.where(self.is_log, self.span * first, 0.0)

    def _warped(self, v: Float[Tensor, "*b k"]) -> Float[Tensor, "*b k"]:
        return torch.where(self.is_log, torch.log(torch.where(self.is_log, v, 1.0)), v)


class NoRoomError(ValueError):
    """No point satisfies all inequalities strictly; the message says why."""


class Polytope:
    """The points of a box that satisfy linear inequalities.

    Args:
        reals: The numbers that the inequalities are about.
        weights: A.
        limits: b.

    Attributes:
        box: The smallest bounds that the inequalities leave, about.
        center: Values deep inside.

    Raises:
        NoRoomError: There is no point inside, or none that stays inside when it is stored as floats of 32 bits.
    """

    def __init__(self, reals: Reals, weights: Float[Tensor, "q k"], limits: Float[Tensor, " q"]) -> None:
        self.reals, self.weights, self.limits = reals, weights, limits
        self.box = self._tightened()
        self.center = self._deepest()
        self.depths = self.slack(self.center)

    def slack(self, v: Float[Tensor, "*b k"]) -> Float[Tensor, "*b q"]:
        """What is left: b - A v."""
        return self.limits - v @ self.weights.mT

    def rounding(self, v: Float[Tensor, "*b k"]) -> Float[Tensor, "*b q"]:
        """What A v may change by when values are stored, and added up, as floats of 32 bits."""
        return (len(self.reals.columns) + 2) * FLOAT32_ROUNDING * (v.abs() @ self.weights.abs().mT)

    def pulled(self, p: Float[Tensor, "b k"], margin: float) -> Float[Tensor, "b k"]:
        """Positions, moved straight towards the center until they are inside, less what rounding can change.

        Args:
            p: Positions in the unit box.
            margin: Part of the box's width, below 1/2, to keep free on both sides; twice that of the center's slacks.
        """
        low, high = self.reals.positions(self.box.mT)
        free = margin * (high - low)
        out = p.clamp(low + free, high - free)
        bad = torch.nonzero(~self._is_deep(out, margin)).flatten()
        if len(bad) == 0:
            return out
        start = out[bad]
        way = self.reals.positions(self.center) - start
        shares = 0.5 ** torch.arange(LONGEST_PULL, -1, -1, dtype=p.dtype)
        deep = self._is_deep(start + shares[:, None, None] * way, margin)
        share = shares[deep.to(torch.int8).argmax(0)]
        low = 0.5 * share
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + share)
            is_deep = self._is_deep(start + middle.unsqueeze(-1) * way, margin)
            share, low = torch.where(is_deep, middle, share), torch.where(is_deep, low, middle)
        out[bad] = start + share.unsqueeze(-1) * way
        return out

    def random(self, count: int, generator: torch.Generator) -> Float[Tensor, "n k"]:
        """Positions, uniform in the domain: by rejection, or by a walk where that finds too few.

        Source:
            Smith 1984, "Efficient Monte Carlo procedures for generating points uniformly distributed over bounded
            regions" (hit and run); Neal 2003, "Slice sampling", for steps in domains that are not convex.
        """
        low, high = self.reals.positions(self.box.mT)
        drawn = torch.rand(REJECTED * count, len(low), generator=generator, dtype=low.dtype)
        points = low + (high - low) * drawn
        found = points[(self.slack(self.reals.values(points)) > 0).all(-1)]
        if len(found) >= count:
            return found[:count]
        walkers = self._mixed(count, generator)
        for _ in range(STEPS):
            directions = self._mixed(count, generator) - self._mixed(count, generator)
            walkers = self._stepped(walkers, directions, (low, high), generator)
        return walkers

    def _is_deep(self, p: Float[Tensor, "*b k"], margin: float) -> Bool[Tensor, "*b"]:
        v = self.reals.values(p)
        return (self.slack(v) >= self.rounding(v) + 2 * margin * self.depths).all(-1)

    def _tightened(self) -> Float[Tensor, "k 2"]:
        """Each inequality bounds each number, with all others at their best."""
        low, high = self.reals.bounds.unbind(-1)
        positive, negative = self.weights > 0, self.weights < 0
        for _ in range(TIGHTENINGS):
            least = torch.minimum(self.weights * low, self.weights * high)  # (q, k)
            rest = (self.limits - least.sum(-1)).unsqueeze(-1) + least
            furthest = rest / torch.where(self.weights == 0, 1.0, self.weights)
            new_high = torch.minimum(high, torch.where(positive, furthest, torch.inf).amin(0))
            new_low = torch.maximum(low, torch.where(negative, furthest, -torch.inf).amax(0))
            if bool((new_low >= new_high).any()):
                index = int((new_low - new_high).argmax())
                raise NoRoomError(_crossed(float(new_low[index]), float(new_high[index])))
            change = ((high - new_high) + (new_low - low)) / (high - low)
            low, high = new_low, new_high
            if float(change.max()) < 0.01:
                break
        return torch.stack([low, high], -1)

    @cached_property
    def _scaled(self) -> tuple[np.ndarray, np.ndarray]:
        """The inequalities on the smallest box, as the unit cube; each with a normal of length 1."""
        low, high = self.box.unbind(-1)
        weights, limits = self.weights * (high - low), self.limits - self.weights @ low
        lengths = torch.linalg.vector_norm(weights, dim=-1)
        return (weights / lengths.unsqueeze(-1)).numpy(), (limits / lengths).numpy()

    def _deepest(self) -> Float[Tensor, " k"]:
        """Center of the largest ball in that cube."""
        weights, limits = self._scaled
        size = weights.shape[1]
        eye, ones = np.eye(size), np.ones((size, 1))
        sides = np.block([[weights, np.ones((len(weights), 1))], [eye, ones], [-eye, ones]])
        ends = np.concatenate([limits, np.ones(size), np.zeros(size)])
        found = linprog(np.append(np.zeros(size), -1.0), A_ub=sides, b_ub=ends, bounds=[(0, 1)] * (size + 1))
        if not found.success:
            raise NoRoomError("no point within the bounds satisfies all constraints")
        if found.x[-1] < LEAST_ROOM:
            raise NoRoomError(
                "the constraints leave no room between them: leave a parameter out where one is an equation"
            )
        low, high = self.box.unbind(-1)
        center = low + (high - low) * torch.from_numpy(found.x[:-1])
        if bool((self.slack(center) < 10 * self.rounding(center)).any()):
            raise NoRoomError("the constraints leave less room than floats of 32 bits resolve")
        return center

    @cached_property
    def _corners(self) -> Float[Tensor, "c k"]:
        """Corners that lie in many directions."""
        weights, limits = self._scaled
        size = weights.shape[1]
        random = np.random.default_rng(0).standard_normal((2 * size, size))
        directions = np.concatenate([np.eye(size), -np.eye(size), random])
        solved = [linprog(direction, A_ub=weights, b_ub=limits, bounds=(0, 1)) for direction in directions]
        found = [solution.x for solution in solved if solution.success]
        low, high = self.box.unbind(-1)
        # Each once: random means of all corners of a simplex are uniform in it, those of corners that repeat are not.
        corners = torch.from_numpy(np.stack(found)).round(decimals=9).unique(dim=0)
        return low + (high - low) * corners

    def _mixed(self, count: int, generator: torch.Generator) -> Float[Tensor, "n k"]:
        """Positions of means of the corners and the center, with random weights: inside, but not evenly spread."""
        exponential = -torch.log(
            torch.rand(count, len(self._corners), generator=generator, dtype=torch.float64).clamp_min(1e-300)
        )
        mean = (exponential / exponential.sum(-1, keepdim=True)) @ self._corners
        low, high = self.box.unbind(-1)
        # Corners are as exact as a linear program is.
        return self.reals.positions((mean + 1e-3 * (self.center - mean)).clamp(low, high))

    def _stepped(
        self,
        p: Float[Tensor, "n k"],
        directions: Float[Tensor, "n k"],
        box: tuple[Tensor, Tensor],
        generator: torch.Generator,
    ) -> Float[Tensor, "n k"]:
        """Each position, moved to a uniform place of the domain on its line."""
        crossings = torch.stack([(side - p) / torch.where(directions == 0, 1e-300, directions) for side in box])
        behind, ahead = crossings.amin(0).amax(-1).clamp_max(0), crossings.amax(0).amin(-1).clamp_min(0)
        length = torch.zeros_like(ahead)
        going = torch.ones_like(ahead, dtype=torch.bool)
        for _ in range(SHRINKS):
            dice = torch.rand(len(p), generator=generator, dtype=p.dtype)
            trial = behind + (ahead - behind) * dice
            inside = (self.slack(self.reals.values(p + trial.unsqueeze(-1) * directions)) > 0).all(-1)
            length = torch.where(going & inside, trial, length)
            going = going & ~inside
            if not bool(going.any()):
                break
            behind = torch.where(going & (trial < 0), trial, behind)
            ahead = torch.where(going & (trial >= 0), trial, ahead)
        return p + length.unsqueeze(-1) * directions


def _crossed(low: float, high: float) -> str:
    if math.isclose(low, high, rel_tol=1e-12):
        return f"the constraints leave a parameter no value but {low:g}: leave it out"
    return f"the constraints want a parameter to be at least {low:g} and at most {high:g}"
