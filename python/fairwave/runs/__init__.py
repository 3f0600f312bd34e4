"""Runs: a grid of points, each under the same seeds, on all cores, kept as they end."""
