"""Graphs from files and from TopoHub, read by NetworkX; nothing is fetched from anywhere.

GraphML (`.graphml`, `.xml`), GML (`.gml`) and node-link JSON (`.json`). A file of XML that declares a document type or
an entity is refused before it is parsed: entities can make a small file expand without end, or name other files.
"""

from __future__ import annotations

import io
import json
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from fairwave.extras import need
from fairwave_network.units import error

if TYPE_CHECKING:
    import networkx as nx

MOST_BYTES = 50_000_000
"""A larger file is refused before it is read."""

FORMATS = {".graphml": "GraphML", ".xml": "GraphML", ".gml": "GML", ".json": "node-link JSON"}


def from_file(path: Path, place: str) -> nx.Graph:
    """The graph in a file; a multigraph where the file has parallel edges.

    Raises:
        fairwave.ScenarioError: There is no such file, it is too large, or holds no graph.
    """
    kind = FORMATS.get(path.suffix.lower())
    known = ", ".join(FORMATS)
    if kind is None:
        raise error(
            place, f"{str(path)!r} has none of the endings {known}", 'write for example file = "net.graphml"'
        )
    if not path.is_file():
        near = (
            get_close_matches(path.name, [one.name for one in path.parent.glob("*")], 1)
            if path.parent.is_dir()
            else []
        )
        hint = f"did you mean {near[0]!r}?" if near else "paths are relative to the folder of the scenario"
        raise error(place, f"there is no file {str(path)!r}", hint)
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise error(
            place, f"{str(path)!r} has {size / 1e6:.0f} MB, a topology at most {MOST_BYTES / 1e6:.0f} MB",
            "write the network without its other data, as node-link JSON for example",
        )  # fmt: skip
    data = path.read_bytes()
    nx = need("networkx", "network")
    if kind == "GraphML":
        _refuse_declarations(data, str(path), place)
    try:
        if kind == "GraphML":
            graph = nx.read_graphml(io.BytesIO(data))
        elif kind == "GML":
            graph = nx.parse_gml(data.decode("utf-8"), label="id")
        else:
            graph = _node_link(json.loads(data.decode("utf-8")))
    except (
        nx.NetworkXError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        SyntaxError,
        RecursionError,
    ) as found:
        why = str(found).splitlines()[0][:120] if str(found) else type(found).__name__
        raise error(
            place, f"{str(path)!r} is no {kind} ({why})",
            "write it anew with NetworkX: nx.write_graphml, nx.write_gml, or json.dump(nx.node_link_data(graph))",
        ) from None  # fmt: skip
    return graph


def _node_link(data: Any) -> nx.Graph:
    nx = need("networkx", "network")
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), list):
        raise TypeError("no object with `nodes` and `edges`")
    edges = "edges" if "edges" in data else "links"
    return nx.node_link_graph(data, edges=edges)


def _refuse_declarations(data: bytes, name: str, place: str) -> None:
    """Refuses XML that is none, or that declares a document type or an entity."""
    parser = expat.ParserCreate()

    def refuse(*_: Any) -> None:
        raise error(
            place, f"{name!r} declares a document type or an entity in line {parser.CurrentLineNumber}",
            "remove the lines <!DOCTYPE …> and <!ENTITY …>: GraphML needs none",
        )  # fmt: skip

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as found:
        raise error(
            place,
            f"{name!r} is no XML ({found})",
            "write it anew, for example with nx.write_graphml(graph, path)",
        ) from None


def from_topohub(name: Any, place: str) -> nx.Graph:
    """A graph that TopoHub carries: `sndlib/germany50`, `topozoo/Abilene`.

    Raises:
        fairwave.ScenarioError: TopoHub has none of that name; the message names the nearest.
    """
    topohub = need("topohub", "network")
    data = Path(topohub.__file__).parent / "data"
    known = sorted(str(one.relative_to(data).with_suffix("")) for one in data.rglob("*.json"))
    if name not in known:
        near = (
            get_close_matches(str(name), known, 3, 0.4)
            or [one for one in known if one.startswith("sndlib/")][:3]
        )
        raise error(place, f"TopoHub has no topology {name!r:.80}", f"did you mean {', '.join(near)}?")
    return _node_link(json.loads((data / f"{name}.json").read_text(encoding="utf-8")))
