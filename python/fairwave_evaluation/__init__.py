"""Reports that standards define: for a congestion control (RFC 9743) and for a queue discipline (RFC 7928).

`fairwave evaluate tcp/cubic` and `fairwave evaluate --queue codel` write them, for built-in laws and for your own laws.
A report is a study whose claims are criteria. Each criterion has a scenario, a bound that was fixed before any
measurement, a figure, and a verdict with its interval. Neither standard sets bounds, so fairwave does, and each
criterion states its bound.

- `path`: the network of all criteria, and the subject of the report.
- `criterion`: a criterion, and the conversion of criteria to a study.
- `controller`: RFC 9743, criterion by criterion.
- `discipline`: RFC 7928, section by section.
"""
