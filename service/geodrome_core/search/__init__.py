"""Maximizing a function over the domain of a manifold."""
