"""Patches that each break one clause of a source (`*.toml`), and what runs the tests on them."""
