"""Gaussian processes on manifolds: observations, priors, fit, posterior."""
