"""Tables: every placement and every failure in numbers."""

from __future__ import annotations

from fairwave_studies.network import points as p
from fairwave_studies.network import quantities as q
from fairwave_study.tables import list_points

TABLES = tuple(list_points(grid, title, q.list_measures()) for grid, title in p.TITLES.items())
"""Each network, then with failures."""
