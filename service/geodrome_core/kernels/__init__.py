"""Kernels: Matérn and SE, by heat kernels."""

from geodrome_core.kernels.baselines import baseline_for
from geodrome_core.kernels.factory import for_space
from geodrome_core.kernels.kernel import GeodesicKernel

__all__ = ["GeodesicKernel", "baseline_for", "for_space"]
