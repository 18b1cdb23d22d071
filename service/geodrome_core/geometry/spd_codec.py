"""JSON forms of symmetric positive definite matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from geodrome_core.geometry import symmetric_vectors
from geodrome_core.geometry.codec import CLAMP_TOLERANCE, Codec, Reading
from geodrome_core.geometry.faults import Correction, Fault, point_fault, shown
from geodrome_core.geometry.reading import matrix, vector
from geodrome_core.geometry.spd_domain import EigenvalueBox

ASYMMETRY_TOLERANCE = 1e-6  # relative; inertias identified from data are 5e-8 off
CONDITION_LIMIT = 1e-12  # a smaller ratio of eigenvalues is lost in the digits of a double
EIGENVALUE_ROUNDING = 2e-15  # of a small matrix, relative to its largest eigenvalue
SMALLEST_EIGENVALUE, LARGEST_EIGENVALUE = 1e-150, 1e150  # determinants beyond are no doubles

ORDERS: tuple[symmetric_vectors.Order, ...] = ("mandel", "voigt")


@dataclass(frozen=True)
class SPDCodec(Codec):
    """Symmetric positive definite matrices in full, or in one of the forms that are named."""

    manifold: EigenvalueBox

    def read(self, value: Any) -> Reading:
        """Matrix rows, ``{diag: […]}``, ``{cholesky_lower: rows}``, ``{mandel: […]}`` or ``{voigt: […]}``."""
        m = self._matrix(value)
        if not bool(m.abs().max() <= LARGEST_EIGENVALUE):
            raise point_fault("the matrix has entries too large to compute with", m.tolist(), "entries up to 1e150")
        asymmetry = float((m - m.mT).abs().max() / m.abs().max().clamp_min(1e-300))
        if asymmetry > ASYMMETRY_TOLERANCE:
            raise point_fault(
                f"the matrix is not symmetric: relative difference {asymmetry:.3g}", m.tolist(), "symmetric within 1e-6"
            )
        given, m = m, 0.5 * (m + m.mT)
        eigenvalues = torch.linalg.eigvalsh(m).tolist()
        if eigenvalues[0] <= CONDITION_LIMIT * abs(eigenvalues[-1]) or eigenvalues[0] < SMALLEST_EIGENVALUE:
            raise point_fault(
                f"the matrix is not positive definite: eigenvalues {_listed(eigenvalues)}",
                m.tolist(),
                "smallest eigenvalue above 1e-12 of the largest, and above 1e-150",
            )
        corrections: tuple[Correction, ...] = ()
        if asymmetry > 0:
            corrections = (Correction("", "the matrix was symmetrized", asymmetry, given.tolist()),)
        inside, outside = self._bounded(m, eigenvalues)
        return Reading(inside.tolist(), corrections, outside)

    def _matrix(self, value: Any) -> Tensor:
        """The matrix of any accepted form."""
        size = self.manifold.size
        if not isinstance(value, dict):
            return matrix(value, size)
        if set(value) == {"diag"}:
            return torch.diag(torch.tensor(vector(value["diag"], size, "/diag"), dtype=torch.float64))
        if set(value) == {"cholesky_lower"}:
            factor = matrix(value["cholesky_lower"], size, "/cholesky_lower")
            for i, j in torch.nonzero(factor.triu(1)).tolist():
                found = float(factor[i, j])
                rule = "a lower triangular factor L of L L^T"
                raise point_fault(f"{found:g} stands above the diagonal", found, rule, f"/cholesky_lower/{i}/{j}")
            return factor @ factor.mT
        for order in ORDERS:
            if set(value) == {order} and symmetric_vectors.is_known(order, size):
                numbers = vector(value[order], size * (size + 1) // 2, f"/{order}")
                return symmetric_vectors.from_vector(torch.tensor(numbers, dtype=torch.float64), order, size)
        rule = f"{size} rows of {size} numbers, {{diag: […]}}, {{cholesky_lower: rows}}"
        rule += "".join(f", {{{order}: […]}}" for order in ORDERS if symmetric_vectors.is_known(order, size))
        raise point_fault(f"unknown form {shown(sorted(value, key=str))}", value, rule)

    def _bounded(self, m: Tensor, eigenvalues: list[float]) -> tuple[Tensor, tuple[Fault, ...]]:
        """The matrix, clamped where it leaves the bounds by a rounding only; else what leaves them."""
        if self.manifold.eigenvalues is None:
            return m, ()
        low, high = self.manifold.eigenvalues
        if low <= eigenvalues[0] and eigenvalues[-1] <= high:
            return m, ()
        rounding = EIGENVALUE_ROUNDING * high
        slack = max(CLAMP_TOLERANCE * low, rounding)
        if low - slack <= eigenvalues[0] and eigenvalues[-1] <= high * (1 + CLAMP_TOLERANCE):
            values, vectors = torch.linalg.eigh(m)
            values = values.clamp(low + rounding, high - rounding)
            return self.manifold.nearest(((vectors * values) @ vectors.mT).flatten()).unflatten(0, m.shape), ()
        detail = f"eigenvalues {_listed(eigenvalues)} leave [{low:g}, {high:g}]"
        return m, (Fault("", detail, eigenvalues, "eigenvalues in bounds"),)

    def row(self, point: Any) -> Tensor:
        """The entries, row by row."""
        return torch.tensor(point, dtype=torch.float64).flatten()

    def write(self, row: Tensor) -> Any:
        """Matrix rows."""
        return self.manifold.nearest(row).unflatten(-1, (self.manifold.size, self.manifold.size)).tolist()


def _listed(values: list[float]) -> str:
    return ", ".join(f"{value:.6g}" for value in values)
