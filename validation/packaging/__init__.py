"""Wheels for several systems, and their check."""
