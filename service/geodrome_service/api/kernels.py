"""Which kernel a study may have: not every one is for every space, nor for every acquisition."""

from __future__ import annotations

from geodrome.errors import FieldError
from geodrome_core import Space
from geodrome_core.geometry.spd import EigenProductSPD
from geodrome_core.geometry.spd_domain import EigenvalueBox
from geodrome_core.kernels.baselines import has_flat_chart

from geodrome_service.api.faults import refusal


def check_kernel(space: Space, *, kernel: str, acquisition: str) -> None:
    """Makes sure that the model can be made.

    Args:
        space: What is searched.
        kernel: Type of the kernel.
        acquisition: Type of the acquisition.

    Raises:
        InvalidRequest: The kernel is for other spaces, or for other acquisitions.
    """
    faults: list[FieldError] = []
    if kernel == "cholesky_matern" and not any(isinstance(factor, EigenvalueBox) for factor in space.factors.values()):
        detail = "cholesky_matern is for positive definite matrices, and the space has none"
        faults.append(FieldError("/kernel/type", detail, kernel, "matern, or a space with a factor of type spd"))
    if kernel == "flat_matern" and not any(map(has_flat_chart, space.factors.values())):
        detail = "flat_matern is for hyperbolic points and affine-invariant matrices, and the space has none"
        faults.append(FieldError("/kernel/type", detail, kernel, "auto or matern, which are right here"))
    has_features = kernel in {"auto", "matern"} and not any(
        isinstance(factor, EigenProductSPD) for factor in space.factors.values()
    )
    if acquisition == "thompson" and not has_features:
        name = "metric eigen_product" if kernel in {"auto", "matern"} else f"kernel {kernel}"
        detail = f"thompson draws functions, which are not known for {name}"
        faults.append(FieldError("/acquisition/type", detail, acquisition, "log_ei, ei or ucb with this kernel"))
    if faults:
        raise refusal(faults)
