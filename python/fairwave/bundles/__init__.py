"""Bundles: one file with results and everything that repeats them, for reviewers and archives.

`packing` makes a bundle of a folder of results, `repeating` runs its command again and compares the tables.
"""
