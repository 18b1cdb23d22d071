"""Where a search may go: the domain of a manifold, inequalities that narrow it, and the coordinates that are free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from geodrome_core.geometry.integer import Integer
from geodrome_core.geometry.manifold import Manifold
from geodrome_core.geometry.product import Product
from geodrome_core.geometry.slack import Slack, are_indefinite, barrier, of_number
from geodrome_core.search.objective import Objective

SHORTENINGS = 9
"""Of a step that leaves the domain, to a half, a quarter of that and so on: in the end it is no step any more."""

DRAWS = 100_000
"""Random points that are tried before a domain is said to be empty."""


@dataclass(frozen=True)
class Domain:
    """A manifold's domain, narrowed by inequalities g(x) >= 0; whole numbers stay as they are.

    Attributes:
        manifold: Gives retraction, basis and its own domain.
        inequalities: The functions g.
    """

    manifold: Manifold
    inequalities: Sequence[Objective] = field(default=())

    @property
    def has_border(self) -> bool:
        """Whether there is a place where the domain ends."""
        return self.manifold.has_border or bool(self.inequalities)

    @cached_property
    def free(self) -> Int[Tensor, " k"]:
        """Coordinates in which points can move continuously: all but those of whole numbers."""
        parts = self.manifold.factors.values() if isinstance(self.manifold, Product) else [self.manifold]
        is_free = [not isinstance(part, Integer) for part in parts for _ in range(part.dim)]
        return torch.nonzero(torch.tensor(is_free)).flatten()

    @cached_property
    def whole(self) -> list[tuple[int, Integer]]:
        """Where whole numbers stand in a row, and which they are."""
        manifold = self.manifold
        if not isinstance(manifold, Product):
            return [(0, manifold)] if isinstance(manifold, Integer) else []
        columns = manifold.columns
        return [(columns[name].start, part) for name, part in manifold.factors.items() if isinstance(part, Integer)]

    def narrowed(self, inequality: Objective) -> Domain:
        """With one more inequality."""
        return replace(self, inequalities=(*self.inequalities, inequality))

    def random(self, count: int, generator: torch.Generator) -> Float[Tensor, "n d"]:
        """Points spread over the domain, by rejection where inequalities narrow it.

        Raises:
            ValueError: Not one of ``DRAWS`` points of the manifold's own domain is inside.
        """
        if not self.inequalities:
            return self.manifold.random(count, generator)
        found: list[Tensor] = []
        drawn = 0
        while sum(map(len, found)) < count and drawn < DRAWS:
            points = self.manifold.random(max(count, 256), generator)
            drawn += len(points)
            found.append(points[~self.is_outside(points)])
        points = torch.cat(found)
        if not len(points):
            raise ValueError(f"none of {drawn} random points satisfies all inequalities; the domain seems to be empty")
        return points[torch.arange(count) % len(points)]

    def move(self, x: Float[Tensor, "b d"], step: Float[Tensor, "b k"]) -> Float[Tensor, "b d"]:
        """The points that steps in the free coordinates lead to."""
        if len(self.free) < self.manifold.dim:
            whole = step.new_zeros(len(step), self.manifold.dim)
            whole[:, self.free] = step
            step = whole
        return self.manifold.retract(x, self.manifold.tangent(x, step))

    def shortened(
        self, x: Float[Tensor, "b d"], step: Float[Tensor, "b k"]
    ) -> tuple[Float[Tensor, "b k"], Float[Tensor, "b d"]]:
        """Steps from points inside, cut until they stay strictly inside, and the points that they lead to."""
        trial = self.manifold.nearest(self.move(x, step))
        if not self.has_border:
            return step, trial
        for cut in range(1, SHORTENINGS + 1):
            outside = self.is_outside(trial)
            if not bool(outside.any()):
                break
            step = torch.where(outside.unsqueeze(-1), 0.5**cut * step, step)
            trial = self.manifold.nearest(self.move(x, step))
        return step, trial

    def slacks(self, x: Float[Tensor, "*b d"]) -> list[Float[Tensor, "*b q k k"]]:
        """What is left to all borders."""
        return [*self.manifold.slacks(x), *(g(x)[..., None, None, None] for g in self.inequalities)]

    def is_outside(self, x: Float[Tensor, "*b d"]) -> Bool[Tensor, "*b"]:
        """Whether points are not strictly inside."""
        out = torch.zeros(x.shape[:-1], dtype=torch.bool)
        for slack in self.slacks(x):
            out = out | are_indefinite(slack)
        return out

    def contains(self, x: Float[Tensor, "*b d"]) -> Bool[Tensor, "*b"]:
        """Whether the points lie in the domain."""
        inside = self.manifold.contains(x)
        for g in self.inequalities:
            inside = inside & (g(x) >= 0)
        return inside

    def inside(self, x: Float[Tensor, "b d"], *, margin: float) -> Float[Tensor, "b d"]:
        """Points at a distance from the manifold's own border; where inequalities forbid that, as they are.

        Args:
            x: Points strictly inside.
            margin: Part of the domain's width to keep free.
        """
        moved = self.manifold.clamp(x, margin=margin)
        allowed = ~self.is_outside(moved)
        return torch.where(allowed.unsqueeze(-1), moved, x)

    def barrier(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b"]:
        """Sum of the slacks' log determinants; minus infinity outside."""
        return barrier(self.slacks(x), x.shape[:-1])

    def slacks_around(self, x: Float[Tensor, "b d"]) -> list[Slack]:
        """What is left to all borders, to second order in the free coordinates."""
        found = self.manifold.slacks_around(x)
        if found is None:
            found = slacks_by_autograd(self.manifold, self.manifold.slacks, x)
        for g in self.inequalities:
            at = g.expand(x)
            found.append(of_number(at.value, at.gradient, at.hessian))
        if len(self.free) == self.manifold.dim:
            return found
        return [_along(slack, self.free) for slack in found]


def slacks_by_autograd(
    manifold: Manifold, slacks: Callable[[Tensor], list[Tensor]], x: Float[Tensor, "b d"]
) -> list[Slack]:
    """Slacks whose expansion is not written down, one backward pass for each of their numbers."""
    with torch.enable_grad():
        xi = torch.zeros(len(x), manifold.dim, dtype=x.dtype, requires_grad=True)
        values = slacks(manifold.retract(x, manifold.tangent(x, xi)))
        out = []
        for value in values:
            rows = [
                torch.autograd.grad(part.sum(), xi, create_graph=True, materialize_grads=True)[0]
                for part in value.flatten(1).unbind(-1)
            ]
            slope = torch.stack(rows, -1)  # (b, m, q k k)

            def bend(c: Tensor, slope: Tensor = slope) -> Tensor:
                total = (slope * c.flatten(1).unsqueeze(-2)).sum(-1)  # (b, m)
                if not total.requires_grad:
                    return total.new_zeros(*total.shape, total.shape[-1])
                lines = [
                    torch.autograd.grad(total[:, i].sum(), xi, retain_graph=True, materialize_grads=True)[0]
                    for i in range(total.shape[1])
                ]
                return torch.stack(lines, 1)

            out.append(Slack(value.detach(), slope.detach().unflatten(-1, value.shape[1:]), bend))
    return out


def _along(slack: Slack, coordinates: Int[Tensor, " k"]) -> Slack:
    """The slack in some of the coordinates."""
    return Slack(
        slack.value,
        slack.slope.index_select(1, coordinates),
        lambda c: slack.bend(c).index_select(-2, coordinates).index_select(-1, coordinates),
    )
