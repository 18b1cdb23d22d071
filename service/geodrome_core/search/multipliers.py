"""Slacks and their multipliers: positive definite matrices that may come as near to singular as numbers allow.

On the border a slack C loses some eigenvalues, and its multiplier Z the others: C Z = mu I for a small mu.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from geodrome_core.geometry.slack import Slack

TO_BORDER = 0.995
"""Part of a slack, or of a multiplier, that one step may use up."""

SAFEGUARD = 1e8
"""How far, by a factor, multipliers may be from those of the barrier alone."""

ROUNDING = 2e-16
"""The least eigenvalue of a positive definite matrix, relative to the largest."""

TINY = 1e-100
"""The least number that is inverted."""


def relative(matrix: Float[Tensor, "b q k k"], change: Float[Tensor, "b q k k"]) -> Float[Tensor, "b q k"]:
    """Eigenvalues of a change relative to a positive definite matrix."""
    if matrix.shape[-1] == 1:
        return (change / matrix).squeeze(-1)
    root = _roots(matrix)[1]
    return torch.linalg.eigvalsh(root.mT @ change @ root)


def inverse(matrix: Float[Tensor, "b q k k"]) -> Float[Tensor, "b q k k"]:
    """That of a positive definite matrix, or of the nearest one if rounding has left an eigenvalue at zero or below."""
    if matrix.shape[-1] == 1:
        return 1 / matrix.clamp_min(TINY)
    root = _roots(matrix)[1]
    return root @ root.mT


def newton_step(
    slack: Slack,
    z: Float[Tensor, "b q k k"],
    inverted: Float[Tensor, "b q k k"],
    step: Float[Tensor, "b m"],
    mu: Float[Tensor, " b"],
) -> Float[Tensor, "b q k k"]:
    """Newton's step for the multipliers, shortened so that they stay positive definite."""
    change = torch.einsum("bmqkl,bm->bqkl", slack.slope, step)
    product = inverted @ change @ z
    wanted = mu[:, None, None, None] * inverted - z - 0.5 * (product + product.mT)
    room = TO_BORDER / (-relative(z, wanted).amin(-1)).clamp_min(TO_BORDER)
    return z + room[..., None, None] * wanted


def safeguarded(
    z: Float[Tensor, "b q k k"], slack: Float[Tensor, "b q k k"], mu: Float[Tensor, " b"]
) -> Float[Tensor, "b q k k"]:
    """Multipliers whose products with the slack have eigenvalues not too far from mu."""
    low, high = (mu[:, None, None] * factor for factor in (1 / SAFEGUARD, SAFEGUARD))
    if slack.shape[-1] == 1:
        return torch.minimum(torch.maximum(z * slack, low.unsqueeze(-1)), high.unsqueeze(-1)) / slack
    root, dual = _roots(slack)
    values, vectors = torch.linalg.eigh(root.mT @ z @ root)
    values = torch.minimum(torch.maximum(values, low), high)
    root = dual @ vectors
    return (root * values.unsqueeze(-2)) @ root.mT


def _roots(matrix: Float[Tensor, "b q k k"]) -> tuple[Float[Tensor, "b q k k"], Float[Tensor, "b q k k"]]:
    """R and R^-T such that R R^T is the matrix, which rounding may have left with an eigenvalue below zero."""
    values, vectors = torch.linalg.eigh(matrix)
    scale = torch.maximum(values, ROUNDING * values[..., -1:]).clamp_min(TINY).sqrt().unsqueeze(-2)
    return vectors * scale, vectors / scale
