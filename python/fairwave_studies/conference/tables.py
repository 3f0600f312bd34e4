"""Tables: every case in numbers."""

from __future__ import annotations

from fairwave_studies.conference import points as p
from fairwave_studies.conference import quantities as q
from fairwave_study.tables import list_points

TABLES = tuple(
    list_points(case, f"§{section}", q.list_measures(case)) for case, section in p.SECTIONS.items()
)
"""In the order of the RFC."""
