"""Graphs from files and from TopoHub, read by NetworkX without any download.

GraphML (`.graphml`, `.xml`), GML (`.gml`) and node-link JSON (`.json`). A file of XML that declares a document type or
an entity is refused before it is parsed: entities can make a small file expand without end, or name other files.
"""

from __future__ import annotations

import io
import json
import re
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from fairwave import ScenarioError
from fairwave.extras import need
from fairwave.foreign import (
    KINDS,
    ForeignFileError,
    check_items,
    check_lines,
    check_shape,
    check_values,
    decode,
    gated,
    parse_json,
    read_bytes,
)
from fairwave_network.units import error

if TYPE_CHECKING:
    import networkx as nx

FORMATS = {".graphml": "GraphML", ".xml": "GraphML", ".gml": "GML", ".json": "node-link JSON"}


@gated("topology", ScenarioError)
def from_file(path: Path, place: str) -> nx.Graph:
    """Reads the graph in a file, perhaps compressed with gzip; a multigraph if the file has parallel edges.

    Raises:
        fairwave.ScenarioError: The file does not exist, is too large, or contains no graph.
    """
    kind = FORMATS.get(Path(path.name.lower().removesuffix(".gz")).suffix)
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
    nx = need("networkx", "network")
    try:
        data = read_bytes(path, "topology")
        if kind == "GraphML":
            _refuse_declarations(data, str(path), place)
        if kind == "GraphML":
            graph = nx.read_graphml(io.BytesIO(data))
        elif kind == "GML":
            graph = nx.parse_gml(_gml(data, str(path)), label="id")
        else:
            graph = _node_link(parse_json(data, str(path), "topology"))
        check_items(graph.number_of_nodes() + graph.number_of_edges(), str(path), "topology")
        for words, several in (("nodes", graph.nodes(data=True)), ("edges", graph.edges(data=True))):
            for one in several:
                check_values(one[-1], f"{path}, {words} {', '.join(map(str, one[:-1])):.80}", "topology")
    except ScenarioError:
        raise
    except ForeignFileError as found:
        raise ScenarioError(f"error: {place}: {found}") from None
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


def _gml(data: bytes, name: str) -> str:
    """Decodes a GML file within the limits on its shape. GML nests in brackets and lists items without commas."""
    check_shape(data, name, "topology")
    check_lines(data, name)
    check_items(len(re.findall(rb"\S+", data)) // 2, name, "topology")
    return decode(data, name)


def _node_link(data: Any) -> nx.Graph:
    nx = need("networkx", "network")
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), list):
        raise TypeError("no object with `nodes` and `edges`")
    edges = "edges" if "edges" in data else "links"
    return nx.node_link_graph(data, edges=edges)


def _refuse_declarations(data: bytes, name: str, place: str) -> None:
    """Refuses invalid XML, declarations of a document type or an entity, and too long or too deep documents."""
    parser = expat.ParserCreate()
    count = level = 0
    most = KINDS["topology"].depth or 0

    def begin(_: str, attributes: dict[str, str]) -> None:
        nonlocal count, level
        count, level = count + 1 + len(attributes), level + 1
        check_items(count, name, "topology")
        if level > most:
            raise error(
                place, f"{name!r} has elements more than {most} deep, in line {parser.CurrentLineNumber}",
                "write it anew with nx.write_graphml(graph, path)",
            )  # fmt: skip

    def end(_: str) -> None:
        nonlocal level
        level -= 1

    def refuse(*_: Any) -> None:
        raise error(
            place, f"{name!r} declares a document type or an entity in line {parser.CurrentLineNumber}",
            "remove the lines <!DOCTYPE …> and <!ENTITY …>: GraphML needs none",
        )  # fmt: skip

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as found:  # the last two: an unknown encoding
        if isinstance(found, (ForeignFileError, ScenarioError)):
            raise
        raise error(
            place,
            f"{name!r} is no XML ({found!s:.120})",
            "write it anew, for example with nx.write_graphml(graph, path)",
        ) from None


def from_topohub(name: Any, place: str) -> nx.Graph:
    """Returns a graph of TopoHub: `sndlib/germany50`, `topozoo/Abilene`.

    Raises:
        fairwave.ScenarioError: TopoHub does not have it; the message names the most similar ones.
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
