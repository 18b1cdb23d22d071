"""The last layer towards GPyTorch: what all Matérn kernels of manifolds share."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import torch
from gpytorch.constraints import Interval
from gpytorch.kernels import Kernel
from gpytorch.priors import Prior
from jaxtyping import Float
from torch import Tensor

from geodrome_core.kernels.expansion import Around
from geodrome_core.kernels.matern import Definition
from geodrome_core.kernels.of_scales import OfScales, by_autograd

SMALLEST_NU, LARGEST_NU = 0.1, 200.0
"""Kernels are exact to 1e-14 between them; above, the mixture is narrower than the grid of heat times."""

LEARNED_NU = (0.25, 20.0)
"""Where nu is learned: below, sample paths are rougher than any cost; above, the kernel cannot be told from SE."""


class GeodesicKernel(Kernel):  # type: ignore[misc]
    """A normalized Matérn kernel, its lengthscale in the unit of geodesic distance.

    Args:
        nu: Smoothness, from 0.1 to 200; ``math.inf`` for the SE (heat) kernel.
        learn_nu: Whether ``nu`` is a parameter ``raw_nu`` that starts at the given value; one for all batches.
        nu_prior, nu_constraint: Of a learned ``nu``; without a constraint it stays within ``LEARNED_NU``.
        definition: Which kernel is meant on non-compact spaces of curvature, see ``Definition``.
        kwargs: GPyTorch's: ``batch_shape``, ``active_dims``, ``ard_num_dims`` (of flat spaces and tori),
            ``lengthscale_prior``, ``lengthscale_constraint``.
    """

    has_lengthscale = True

    longest = math.inf
    """Lengthscale up to which it is a kernel."""

    def __init__(
        self,
        *,
        nu: float = 2.5,
        learn_nu: bool = False,
        nu_prior: Prior | None = None,
        nu_constraint: Interval | None = None,
        definition: Definition = "paper",
        **kwargs: Any,
    ) -> None:
        if not (SMALLEST_NU <= nu <= LARGEST_NU or nu == math.inf):
            raise ValueError(f"nu is {nu}; it must lie from {SMALLEST_NU} to {LARGEST_NU:g}, or be infinite")
        super().__init__(**kwargs)
        self.definition = definition
        start = torch.tensor(nu, dtype=torch.float64)
        if learn_nu:
            constraint = nu_constraint or Interval(*LEARNED_NU)
            if not bool(constraint.check(start)):
                raise ValueError(f"nu is {nu}; one that is learned must start within {constraint}")
            self.register_parameter("raw_nu", torch.nn.Parameter(torch.zeros((), dtype=torch.float64)))
            self.register_constraint("raw_nu", constraint)
            if nu_prior is not None:
                self.register_prior("nu_prior", nu_prior, _nu_of, _set_nu)
            self.nu = start
        else:
            self.register_buffer("_nu", start)
        self.double()

    @property
    def nu(self) -> Tensor:
        """Smoothness, a tensor of one number."""
        if self.learns_nu:
            return self.raw_nu_constraint.transform(self.raw_nu)
        return self._nu

    @nu.setter
    def nu(self, value: Tensor | float) -> None:
        if not self.learns_nu:
            raise AttributeError("nu is fixed; a kernel with learn_nu=True has one that can be set")
        self.initialize(raw_nu=self.raw_nu_constraint.inverse_transform(torch.as_tensor(value).to(self.raw_nu)))

    @property
    def learns_nu(self) -> bool:
        """Whether nu is a parameter."""
        return hasattr(self, "raw_nu_constraint")

    @abstractmethod
    def covariance(
        self, x: Float[Tensor, "*#b d"], y: Float[Tensor, "*#b d"], nu: Tensor, kappa: Tensor
    ) -> Float[Tensor, "*#b"]:
        """Kernel of broadcast pairs of points, for one lengthscale () or, with ``ard_num_dims``, a vector of them."""

    def cross(self, x: Float[Tensor, "*b n d"], y: Float[Tensor, "*#b m d"]) -> Float[Tensor, "*b n m"]:
        """Covariances of all pairs of two sets of points."""
        scales = self.lengthscale.flatten()
        scales = scales if len(scales) > 1 else scales.squeeze(0)
        return self.covariance(x.unsqueeze(-2), y.unsqueeze(-3), self.nu, scales)

    def of_scales(self, x: Float[Tensor, "n d"]) -> OfScales:
        """Covariances of all pairs of fixed points as functions of nu and the lengthscale."""
        return by_autograd(self.covariance, x, is_ard=self.lengthscale.numel() > 1)

    def around(self, y: Float[Tensor, "n d"]) -> Around | None:
        """Covariances with the fixed points ``y``, to second order in coordinates at others.

        None where only autograd knows them.
        """
        del y
        return None

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """As GPyTorch's, also in inference mode."""
        if not torch.is_inference_mode_enabled():
            return super().__call__(*arguments, **options)
        # Tables that are made on the way are kept for calls with gradients, which inference tensors cannot serve.
        with torch.inference_mode(mode=False), torch.no_grad():
            return super().__call__(*arguments, **options)

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, last_dim_is_batch: bool = False, **params: Any
    ) -> Tensor:
        """Covariances (*b, n, m), or with ``diag`` those of matching points (*b, n)."""
        del params
        if last_dim_is_batch:
            raise ValueError("a manifold's row cannot be split into one kernel for each number")
        x1, x2 = x1.double(), x2.double()
        scales = self.lengthscale.squeeze(-2)  # (*b, 1) or (*b, ard_num_dims)
        if not self.ard_num_dims:
            scales = scales.squeeze(-1)
        is_single = self.batch_shape.numel() == 1
        if is_single:
            scales = scales.reshape(scales.shape[len(self.batch_shape) :])
        # Only without gradients: of two arguments that happen to be equal, each has derivatives of its own.
        is_plain = not diag and is_single and x1.dim() == 2 and not (x1.requires_grad or x2.requires_grad)
        if is_plain and torch.equal(x1, x2):
            return self._symmetric(x1, scales)
        if not diag:
            x1, x2 = x1.unsqueeze(-2), x2.unsqueeze(-3)
        if is_single:
            return self.covariance(x1, x2, self.nu, scales)
        pairs = 1 if diag else 2
        shape = torch.broadcast_shapes(x1.shape[:-1], x2.shape[:-1])
        batch = torch.broadcast_shapes(shape[:-pairs], self.batch_shape)
        x1, x2 = (x.expand(*batch, *x.shape[-pairs - 1 :]) for x in (x1, x2))
        each = scales.expand(*batch, *scales.shape[len(self.batch_shape) :]).flatten(0, len(batch) - 1)
        parts = [
            self.covariance(a, b, self.nu, kappa)
            for a, b, kappa in zip(
                x1.reshape(-1, *x1.shape[len(batch) :]), x2.reshape(-1, *x2.shape[len(batch) :]), each, strict=True
            )
        ]
        return torch.stack(parts).reshape(*batch, *parts[0].shape)

    def _symmetric(self, x: Float[Tensor, "n d"], kappa: Tensor) -> Float[Tensor, "n n"]:
        """Covariances of all pairs, half of them computed."""
        i, j = torch.triu_indices(len(x), len(x), offset=1)
        upper = self.covariance(x[i], x[j], self.nu, kappa)
        out = torch.eye(len(x), dtype=x.dtype)
        return out.index_put((i, j), upper).index_put((j, i), upper)


def _nu_of(kernel: GeodesicKernel) -> Tensor:
    return kernel.nu


def _set_nu(kernel: GeodesicKernel, value: Tensor) -> None:
    kernel.nu = value
