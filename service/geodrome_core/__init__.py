"""Geometry-aware Bayesian optimization: manifolds, kernels, models, acquisition and search."""
