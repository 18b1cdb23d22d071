"""Kernels: Matérn and SE, by heat kernels."""
