"""A small network for tests: four nodes in a ring."""

from __future__ import annotations

import networkx as nx

SQUARE = """
name = "square"
duration = "6 s"
warmup = "1 s"
preset = "rfc"
topology = { file = "net.graphml" }
[links]
rate = "2 Mb/s"
delay = "2 ms"
[demands]
matrix = "demands.csv"
load = "1.6 Mb/s"
[[mix]]
kind = "calls"
share = "50 %"
lasts = "20 s"
[[mix]]
kind = "downloads"
size = "40 kB"
share = "50 %"
"""


def graph() -> nx.Graph:
    """Four nodes in a ring: two paths of equal length from A to C."""
    made = nx.Graph()
    for number, name in enumerate("ABCD"):
        made.add_node(number, label=name, Longitude=float(number), Latitude=50.0)
    made.add_edges_from([(0, 1), (1, 2), (2, 3), (3, 0)])
    return made
