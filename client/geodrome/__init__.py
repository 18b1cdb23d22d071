"""Geodrome: geometry-aware Bayesian optimization for robots, behind ask and tell."""
