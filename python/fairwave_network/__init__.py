"""Calls across a whole network."""
