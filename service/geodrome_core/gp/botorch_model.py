"""The model as BoTorch knows models, so that its tools can be used on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botorch.models import SingleTaskGP
from botorch.settings import validate_input_scaling
from gpytorch.kernels import ScaleKernel
from gpytorch.settings import min_fixed_noise

if TYPE_CHECKING:
    from geodrome_core.gp.posterior import Posterior


def fitted_model(posterior: Posterior) -> SingleTaskGP:
    """A BoTorch model with the hyperparameters of the posterior, and the noise of each observation; in eval mode.

    Its costs are standardized, small is good; BoTorch's acquisition functions maximize unless told otherwise.
    """
    covariance = ScaleKernel(posterior.kernel)
    noise = posterior.noise.unsqueeze(-1)
    # Rows of a manifold are not meant to lie in a unit cube; zero noise is meant.
    with validate_input_scaling(state=False), min_fixed_noise(double_value=float(noise.min()) / 2):
        model = SingleTaskGP(
            posterior.X, posterior.Y, train_Yvar=noise, covar_module=covariance, outcome_transform=None
        ).double()
    covariance.outputscale = posterior.outputscale
    model.mean_module.initialize(constant=posterior.constant)
    model.requires_grad_(requires_grad=False)
    return model.eval()
