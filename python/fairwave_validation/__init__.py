"""Fairwave compared with ns-2: the same experiment in both simulators, and whether they agree.

An experiment is written once, as a fairwave scenario with the preset ``ns2``. Its plan (every node, link direction and
flow spelled out) is run by fairwave and also written as Tcl for Debian's ``ns`` (2.35). Both runs yield the same
measures. From these :mod:`fairwave_validation.verdict` computes means, intervals and a verdict per measure.

``ns`` is looked for on ``PATH``; without it every command here says so and compares nothing.
"""
