"""Checks of the sources and the tests."""
