"""Measures: from the tables of runs to one number per run, and statistics over replications."""
