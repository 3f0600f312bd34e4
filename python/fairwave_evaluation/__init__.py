"""Reports that standards ask for: of a congestion control (RFC 9743) and of a queue discipline (RFC 7928).

`fairwave evaluate tcp/cubic` and `fairwave evaluate --queue codel` carry them out, for what is built in as for one's
own.
A report is a study whose claims are criteria: each has a scenario, a line that was drawn before anything was
measured, a
figure and a verdict with its interval. Neither standard draws lines, so these are ours; each says where it lies.

- `path`: the network of all criteria, and what is asked about.
- `criterion`: a criterion, and how criteria become a study.
- `controller`: RFC 9743, criterion by criterion.
- `discipline`: RFC 7928, section by section.
"""
