"""Manifolds, spaces and points."""
