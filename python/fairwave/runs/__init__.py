"""Runs: a grid of points, each under the same seeds, on all cores. Completed runs are stored immediately."""
