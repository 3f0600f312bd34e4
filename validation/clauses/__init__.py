"""Patches that each break one clause of a source (`*.toml`), and the runner that tries them."""
