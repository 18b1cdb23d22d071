"""Sums over heat times of products of cosine series: the late part of a torus's kernel, with two derivatives."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from geodrome_core.kernels.expansion import Expansion

CHUNK = 4096
"""Pairs evaluated at once: their waves stay in the processor's cache."""


@dataclass(frozen=True)
class CosineProducts:
    """sum_t weight_t prod_f h_t(a_f), h_t(a) = sum_l series_tl cos(l a).

    Attributes:
        groups: Times of which the same number of levels counts: series (times, levels) and weights (3, times), whose
            lines are the weights and two derivatives of theirs.
    """

    groups: Sequence[tuple[Tensor, Tensor]]

    def attached(self, value: Float[Tensor, "*b"], angles: Float[Tensor, "*b d"]) -> Float[Tensor, "*b"]:
        """The sum, whose ``value`` is known, differentiable twice in the angles."""
        return _Value.apply(angles, value, self)

    def values(self, angles: Float[Tensor, "*b d"]) -> Float[Tensor, "3 *b"]:
        """The sum with each line of weights; no gradients."""
        return _by_chunks(self._values, angles)

    def _values(self, angles: Float[Tensor, "p d"]) -> Float[Tensor, "3 p"]:
        out = angles.new_zeros(3, len(angles))
        for weight, factors in self._factors(angles, derivatives=0):
            product = factors[0][0]
            for (value,) in factors[1:]:
                product = product * value
            out += weight @ product
        return out

    def each(self, angles: Float[Tensor, "p d"]) -> Float[Tensor, "t p"]:
        """The products at all times, without weights."""

        def of_chunk(chunk: Float[Tensor, "p d"]) -> Float[Tensor, "t p"]:
            one = torch.ones((), dtype=chunk.dtype)
            groups = self._factors(chunk, derivatives=0)
            return torch.cat([prod((value for (value,) in factors), start=one) for _, factors in groups])

        return _by_chunks(of_chunk, angles)

    def around(self, angles: Float[Tensor, "b n d"]) -> Expansion:
        """The sum to second order in the angles."""
        shape = angles.shape[:-1]
        flat = angles.reshape(-1, angles.shape[-1])
        value, slope = torch.zeros(shape, dtype=angles.dtype), torch.zeros_like(angles.mT)
        logs, bends, sizes = [], [], []
        for weight, factors in self._factors(flat, derivatives=2):
            size = weight[0].unsqueeze(-1) * prod(value for value, _, _ in factors)  # (t, p)
            # Relative slopes; a heat kernel may vanish to rounding, and then so does the product.
            inverse = [1 / torch.where(value == 0, 1.0, value) for value, _, _ in factors]
            log = torch.stack([part * i for (_, part, _), i in zip(factors, inverse, strict=True)])  # (d, t, p)
            bent = torch.stack([part * i for (_, _, part), i in zip(factors, inverse, strict=True)])
            value += size.sum(0).reshape(shape)
            slope += (size * log).sum(1).unflatten(-1, shape).transpose(0, 1)
            sizes.append(size.unflatten(-1, shape))
            logs.append(log.unflatten(-1, shape))
            bends.append((size * (bent - log**2)).sum(1).unflatten(-1, shape).transpose(0, 1))
        size, log = torch.cat(sizes), torch.cat(logs, 1)  # (t, b, n), (d, t, b, n)
        sides = log.permute(2, 0, 1, 3).flatten(2)  # (b, d, t n)
        own = torch.stack(bends).sum(0)  # (b, d, n)

        def bend(c: Tensor) -> Tensor:
            each = (size * c).transpose(0, 1).flatten(1).unsqueeze(-2)  # (b, 1, t n)
            return (sides * each) @ sides.mT + torch.diag_embed((own @ c.unsqueeze(-1)).squeeze(-1))

        return Expansion(value, slope, bend)

    def gradient(self, angles: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """Derivatives of the sum in the angles."""
        return _by_chunks(self._gradient, angles).movedim(0, -1)

    def _gradient(self, angles: Float[Tensor, "p d"]) -> Float[Tensor, "d p"]:
        out = angles.new_zeros(angles.shape[1], len(angles))
        for weight, factors in self._factors(angles, derivatives=1):
            before, after = _running([value for value, _ in factors])
            for f, (_, slope) in enumerate(factors):
                out[f] += weight[0] @ (before[f] * slope * after[f])
        return out

    def hessian_product(self, angles: Float[Tensor, "*b d"], v: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        """The derivative of the gradient along ``v``, which may be batched by ``torch.func.vmap``."""
        width = angles.shape[-1]
        chunks = zip(angles.reshape(-1, width).split(CHUNK), v.reshape(-1, width).split(CHUNK), strict=True)
        with torch.no_grad():
            parts = [self._hessian_product(chunk, along) for chunk, along in chunks]
            return torch.cat(parts).reshape(v.shape)

    def _hessian_product(self, angles: Float[Tensor, "p d"], v: Float[Tensor, "p d"]) -> Float[Tensor, "p d"]:
        out = [torch.zeros_like(along) for along in v.unbind(-1)]
        for weight, factors in self._factors(angles, derivatives=2):
            changes = [slope * along for (_, slope, _), along in zip(factors, v.unbind(-1), strict=True)]
            values = [value for value, _, _ in factors]
            before, after = _running(values)
            before_change, after_change = _running_change(values, changes)
            for f, ((_, slope, bend), along) in enumerate(zip(factors, v.unbind(-1), strict=True)):
                others = before_change[f] * after[f] + before[f] * after_change[f]
                out[f] = out[f] + weight[0] @ (bend * along * before[f] * after[f] + slope * others)
        return torch.stack(out, -1)

    def _factors(
        self, angles: Float[Tensor, "p d"], *, derivatives: int
    ) -> Iterator[tuple[Tensor, list[tuple[Tensor, ...]]]]:
        """For each group its weights, and for each angle h_t (times, p) with as many derivatives."""
        count = max((series.shape[-1] for series, _ in self.groups), default=0)
        level = torch.arange(count, dtype=angles.dtype)[:, None]
        waves = [_waves(angle, count, with_sines=derivatives > 0) for angle in angles.unbind(-1)]
        for series, weight in self.groups:
            levels = series.shape[-1]
            by_order = [series, -series * level[:levels, 0], -series * level[:levels, 0] ** 2]
            yield (
                weight,
                [
                    tuple(
                        by_order[order] @ (sine if order == 1 else cosine)[:levels] for order in range(derivatives + 1)
                    )
                    for cosine, sine in waves
                ],
            )


class _Value(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, angles: Tensor, value: Tensor, terms: CosineProducts) -> Tensor:
        ctx.save_for_backward(angles)
        ctx.terms = terms
        return value.clone()

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor, None, None]:
        (angles,) = ctx.saved_tensors
        return outer[0].unsqueeze(-1) * _Gradient.apply(angles, ctx.terms), None, None


class _Gradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, angles: Tensor, terms: CosineProducts) -> Tensor:
        ctx.save_for_backward(angles)
        ctx.terms = terms
        return terms.gradient(angles)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor, None]:
        (angles,) = ctx.saved_tensors
        return ctx.terms.hessian_product(angles, outer[0]), None


def _by_chunks(function: Callable[[Tensor], Tensor], angles: Float[Tensor, "*b d"]) -> Float[Tensor, "c *b"]:
    with torch.no_grad():
        parts = [function(chunk) for chunk in angles.reshape(-1, angles.shape[-1]).split(CHUNK)]
        return torch.cat(parts, -1).unflatten(-1, angles.shape[:-1]) if angles.dim() > 1 else parts[0].squeeze(-1)


def _running(values: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Products of all values before each, and of all after it."""
    one = torch.ones_like(values[0])
    before = list(itertools.accumulate(values[:-1], torch.mul, initial=one))
    after = list(itertools.accumulate(values[:0:-1], torch.mul, initial=one))
    return before, after[::-1]


def _running_change(values: list[Tensor], changes: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Derivatives of the products of ``_running``, when each value has the derivative in ``changes``."""

    def along(pairs: list[tuple[Tensor, Tensor]]) -> list[Tensor]:
        product, change = torch.ones_like(values[0]), torch.zeros_like(values[0])
        out = [change]
        for value, own in pairs:
            product, change = product * value, change * value + product * own
            out.append(change)
        return out

    pairs = list(zip(values, changes, strict=True))
    return along(pairs[:-1]), along(pairs[:0:-1])[::-1]


def _waves(angle: Float[Tensor, " p"], count: int, *, with_sines: bool) -> tuple[Tensor, Tensor]:
    """Cosines and sines (levels, p) of all multiples; without sines, cosines twice."""
    first = (torch.cos(angle), torch.sin(angle)) if with_sines else (torch.cos(angle),)
    out = []
    for index, start in enumerate(first):
        wave = angle.new_empty(count, len(angle))
        wave[:1] = 1 - index
        wave[1:2] = start
        for level in range(2, count):
            torch.addcmul(-wave[level - 2], first[0], wave[level - 1], value=2, out=wave[level])
        out.append(wave)
    return out[0], out[-1]
