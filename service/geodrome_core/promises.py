"""All acquisition functions by name, as functions of points."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from geodrome_core.acquisition import ACQUISITIONS, Acquisition
from geodrome_core.geometry.space import Space
from geodrome_core.gp.posterior import Posterior
from geodrome_core.promise import Promise
from geodrome_core.search.objective import Objective
from geodrome_core.thompson import SamplePath


def _of_moments(acquisition: Acquisition, space: Space, posterior: Posterior, generator: torch.Generator) -> Promise:
    del generator
    return Promise(posterior, acquisition, space.manifold)


PROMISES: dict[str, Callable[[Space, Posterior, torch.Generator], Objective]] = {
    **{name: partial(_of_moments, acquisition) for name, acquisition in ACQUISITIONS.items()},
    "thompson": SamplePath.draw,
}
"""What a search maximizes, by its name on the wire; the last argument is the source of chance."""

SEARCHED_AS = {"ei": "log_ei"}
"""Whose maxima are those of another that a search finds better, and to which the logarithms of chances can be added."""
