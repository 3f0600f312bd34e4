"""Graphs as collections publish them, made by code: the dialects of the Topology Zoo, SNDlib and BRITE."""

from __future__ import annotations

from typing import Any

NODES: list[dict[str, Any]] = [
    {"label": "Lisboa", "Internal": 1, "Longitude": -9.13, "Latitude": 38.72},
    {"label": "Porto", "Internal": 1, "Longitude": -8.61, "Latitude": 41.15},
    {"label": "Faro", "Internal": 1, "Longitude": -7.93, "Latitude": 37.02},
    {"label": "GEANT", "Internal": 0},
    {"label": "GEANT", "Internal": 0},
    {"label": "Old \"core\"", "Internal": 1, "hyperedge": 1},
    {"label": "Funchal", "Internal": 1, "Longitude": -16.91, "Latitude": 32.65},
    {"label": "Horta", "Internal": 1, "Longitude": -28.63, "Latitude": 38.53},
]  # fmt: skip
"""Two nodes of one name, a shared segment without a position, and an island of two nodes."""

EDGES: list[tuple[int, int, dict[str, Any]]] = [
    (
        0,
        1,
        {"key": 0, "LinkSpeed": "10", "LinkSpeedUnits": "G", "LinkLabel": "10 Gbps", "LinkSpeedRaw": 10e9},
    ),
    (0, 1, {"key": 0, "LinkLabel": "<2.5 Gbps"}),
    (0, 2, {"LinkLabel": "155-599Mbps"}),
    (1, 2, {"LinkType": "STM-16", "LinkLabel": "STM-16", "LinkNote": "key 5"}),
    (0, 3, {"LinkLabel": "Fibre"}),
    (1, 4, {"LinkLabel": "8*GbE"}),
    (2, 5, {"LinkSpeed": "34", "LinkSpeedUnits": "M"}),
    (2, 2, {"LinkLabel": "Loop"}),
    (6, 7, {"LinkLabel": "OC-48"}),
]
"""Parallel links under one key, rates that are described only, a loop."""


def format_gml() -> str:
    """Formats the graph as the Zoo writes GML: no mark of a multigraph, keys of edges, quotes as entities."""

    def fields(values: dict[str, Any]) -> list[str]:
        return [
            f'    {key} "{value.replace(chr(34), "&#34;")}"'
            if isinstance(value, str)
            else f"    {key} {value}"
            for key, value in values.items()
        ]

    lines = ["graph [", '  DateObtained "3/02/11"', '  Network "Made"', "  Transit 0"]
    for number, node in enumerate(NODES):
        lines += ["  node [", f"    id {number}", *fields(node), "  ]"]
    for one, other, data in EDGES:
        lines += ["  edge [", f"    source {one}", f"    target {other}", *fields(data), "  ]"]
    return "\n".join([*lines, "]", ""])


def format_graphml() -> str:
    """Formats the graph as the Zoo writes GraphML."""
    from xml.sax.saxutils import escape

    names = sorted(
        {("node", key) for row in NODES for key in row} | {("edge", key) for *_, row in EDGES for key in row}
    )
    ids = {both: f"d{number}" for number, both in enumerate(names)}
    values = {"Internal": "int", "hyperedge": "int", "Longitude": "double", "Latitude": "double"}
    values |= {"LinkSpeedRaw": "double", "key": "int"}
    head = [
        f'  <key attr.name="{key}" attr.type="{values.get(key, "string")}" for="{kind}" id="{ids[kind, key]}" />'
        for kind, key in names
    ]

    def data(kind: str, row: dict[str, Any]) -> str:
        return "".join(
            f'<data key="{ids[kind, key]}">{escape(str(value))}</data>' for key, value in row.items()
        )

    body = [f'    <node id="{number}">{data("node", node)}</node>' for number, node in enumerate(NODES)]
    body += [
        f'    <edge source="{one}" target="{other}">{data("edge", row)}</edge>' for one, other, row in EDGES
    ]
    return "\n".join([
        "<?xml version='1.0' encoding='utf-8'?>", '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">', *head,
        '  <graph edgedefault="undirected">', *body, "  </graph>", "</graphml>", "",
    ])  # fmt: skip


def format_node_link() -> dict[str, Any]:
    """Returns the graph as node-link data without the mark of a multigraph."""
    return {
        "directed": False,
        "multigraph": False,
        "graph": {},
        "nodes": [{"id": number, **node} for number, node in enumerate(NODES)],
        "edges": [{"source": one, "target": other, **row} for one, other, row in EDGES],
    }


SNDLIB = {"Berlin": (13.48, 52.52), "Hamburg": (10.08, 53.55), "Koeln": (7.01, 50.92)}
SNDLIB_LINKS = [
    ("Berlin", "Hamburg", 0.0, [2480.0, 9920.0]), ("Hamburg", "Koeln", 155.0, []), ("Berlin", "Koeln", 40.0, []),
]  # fmt: skip
SNDLIB_DEMANDS = [("Berlin", "Koeln", 30.0), ("Koeln", "Berlin", 10.0), ("Hamburg", "Koeln", 5.0)]


def format_native(*, unit: str = "") -> str:
    """Formats a network in SNDlib's native form. With a unit, capacities become rates."""
    meta = ["META (", "  granularity = 5min", f"  unit = {unit}", ")", ""] if unit else []
    nodes = [f"  {name} ( {x:.2f} {y:.2f} )" for name, (x, y) in SNDLIB.items()]
    links = []
    for number, (one, other, installed, modules) in enumerate(SNDLIB_LINKS, 1):
        several = " ".join(f"{size:.2f} 1.00" for size in modules)
        links.append(f"  L{number} ( {one} {other} ) {installed:.2f} 0.00 0.00 0.00 ( {several} )")
    demands = [
        f"  D{number} ( {one} {other} ) 1 {amount:.2f} UNLIMITED"
        for number, (one, other, amount) in enumerate(SNDLIB_DEMANDS, 1)
    ]
    return "\n".join([
        "?SNDlib native format; type: network; version: 1.0", "# network made", "", *meta, "# NODE SECTION", "NODES (",
        *nodes, ")", "", "LINKS (", *links, ")", "", "DEMANDS (", *demands, ")", "", "ADMISSIBLE_PATHS (", ")", "",
    ])  # fmt: skip


def format_sndlib_xml() -> str:
    """Formats the same network in SNDlib's XML."""
    nodes = "".join(
        f'<node id="{name}"><coordinates><x>{x}</x><y>{y}</y></coordinates></node>'
        for name, (x, y) in SNDLIB.items()
    )
    links = ""
    for number, (one, other, installed, modules) in enumerate(SNDLIB_LINKS, 1):
        added = "".join(
            f"<addModule><capacity>{size}</capacity><cost>1</cost></addModule>" for size in modules
        )
        links += (
            f'<link id="L{number}"><source>{one}</source><target>{other}</target><preInstalledModule><capacity>'
            f"{installed}</capacity></preInstalledModule><additionalModules>{added}</additionalModules></link>"
        )
    demands = "".join(
        f'<demand id="D{number}"><source>{one}</source><target>{other}</target><demandValue>{amount}</demandValue>'
        "</demand>"
        for number, (one, other, amount) in enumerate(SNDLIB_DEMANDS, 1)
    )
    return (
        '<?xml version="1.0" encoding="ISO-8859-1"?>\n<network xmlns="http://sndlib.zib.de/network" version="1.0">'
        f'<networkStructure><nodes coordinatesType="geographical">{nodes}</nodes><links>{links}</links>'
        f"</networkStructure><demands>{demands}</demands></network>\n"
    )


def format_sndlib_json() -> dict[str, Any]:
    """Returns the same network as programs convert SNDlib's XML to JSON."""
    return {
        "network": {
            "@version": "1.0",
            "networkStructure": {
                "nodes": {
                    "@coordinatesType": "geographical",
                    "node": [
                        {"@id": name, "coordinates": {"x": str(x), "y": str(y)}} for name, (x, y) in SNDLIB.items()
                    ],
                },
                "links": {
                    "link": [
                        {"@id": number, "source": one, "target": other, "preInstalledModule": {"capacity": installed}}
                        for number, (one, other, installed, _) in enumerate(SNDLIB_LINKS)
                    ]
                },
            },
            "demands": {
                "demand": [
                    {"@id": f"D{number}", "source": one, "target": other, "demandValue": str(amount)}
                    for number, (one, other, amount) in enumerate(SNDLIB_DEMANDS)
                ]
            },
        }
    }  # fmt: skip


BRITE = """Topology: ( 3 Nodes, 3 Edges )
Model (1 - RTWaxman):  3 1000 100 1  2  0.15 0.2 1 1 10.0 1024.0

Nodes: ( 3 )
0\t541.00\t231.00\t2\t2\t-1\tRT_NODE
1\t120.00\t90.00\t2\t2\t-1\tRT_NODE
2\t880.00\t470.00\t2\t2\t-1\tRT_NODE

Edges: ( 3 )
0\t0\t1\t444.0\t1.481\t10.0\t-1\t-1\tE_RT\tU
1\t0\t2\t415.0\t1.384\t512.5\t-1\t-1\tE_RT\tU
2\t1\t2\t849.7\t-1.0\t-1.0\t-1\t-1\tE_RT\tU
"""
"""A network of BRITE. The last edge has neither delay nor bandwidth."""
