"""Verdicts in sentences for terminal and pages, and the selection of measures that people see."""
