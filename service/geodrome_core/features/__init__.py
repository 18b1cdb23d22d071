"""Finite feature maps of the kernels, for functions drawn from the prior."""

from geodrome_core.features.factory import features_for
from geodrome_core.features.feature_map import Features, PriorSample, prior_sample

__all__ = ["Features", "PriorSample", "features_for", "prior_sample"]
