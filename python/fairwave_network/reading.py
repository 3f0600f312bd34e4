"""Graphs from files and from TopoHub, read by NetworkX without any download.

GraphML, GML, node-link JSON, SNDlib (native, XML, JSON) and BRITE, recognised by their contents. A file of XML that
declares a document type or an entity is refused before it is parsed: entities can make a small file expand without
end, or name other files.
"""

from __future__ import annotations

import io
import json
import re
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET
from xml.parsers import expat

from fairwave import ScenarioError
from fairwave.extras import need
from fairwave.file_kinds import described
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
from fairwave_network import instances
from fairwave_network.units import error

if TYPE_CHECKING:
    import networkx as nx

FORMATS = {
    ".graphml": "GraphML", ".xml": "GraphML", ".gml": "GML", ".json": "node-link JSON", ".txt": "SNDlib",
    ".native": "SNDlib", ".brite": "BRITE",
}  # fmt: skip
"""Format by the ending of a file whose contents are not recognised."""

CONTENTS = (
    ("SNDlib XML", re.compile(rb"\A\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:\w+:)?network\b", re.DOTALL)),
    ("GraphML", re.compile(rb"\A\s*(?:<\?xml|<(?:\w+:)?graphml\b)|\A(?:\xff\xfe|\xfe\xff)")),
    ("BRITE", re.compile(rb"\ATopology:\s*\(")),
    ("SNDlib", re.compile(rb"\A\?SNDlib native|^(?:NODES|META) \(\s*$", re.MULTILINE)),
    ("GML", re.compile(rb"\A[^<{]*^\s*graph\s*\[", re.MULTILINE)),
)
"""Format by the beginning of the contents."""

BEGINNING = 20_000
"""Bytes in which the format is looked for."""


@gated("topology", ScenarioError)
def from_file(path: Path, place: str) -> nx.Graph:
    """Reads the graph in a file, perhaps compressed with gzip; a multigraph if the file has parallel edges.

    Raises:
        fairwave.ScenarioError: The file does not exist, is too large, or contains no graph.
    """
    if not path.is_file():
        near = (
            get_close_matches(path.name, [one.name for one in path.parent.glob("*")], 1)
            if path.parent.is_dir()
            else []
        )
        hint = f"did you mean {near[0]!r}?" if near else "paths are relative to the folder of the scenario"
        raise error(place, f"there is no file {str(path)!r}", hint)
    nx = need("networkx", "network")
    kind = "topology"
    try:
        data = read_bytes(path, "topology")
        kind = _find_format(data, path, place)
        if kind in {"GraphML", "SNDlib XML"}:
            _refuse_declarations(data, str(path), place)
        if kind == "GraphML":
            graph = nx.read_graphml(io.BytesIO(_drop_keys_of_edges(data)))
        elif kind == "SNDlib XML":
            graph = instances.read_sndlib_xml(data)
        elif kind == "GML":
            graph = nx.parse_gml(_allow_several_edges(_gml(data, str(path))), label="id")
        elif kind in {"SNDlib", "BRITE"}:
            text = _gml(data, str(path))
            graph = instances.read_native(text) if kind == "SNDlib" else instances.read_brite(text)
        else:
            table = parse_json(data, str(path), "topology")
            graph = instances.read_sndlib(table) if instances.is_sndlib(table) else _node_link(table)
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


def _find_format(data: bytes, path: Path, place: str) -> str:
    """Returns the format of a graph, by its contents or else by its name."""
    begins = data[:BEGINNING].removeprefix(b"\xef\xbb\xbf")
    found = next((kind for kind, pattern in CONTENTS if pattern.search(begins)), None)
    found = found or FORMATS.get(Path(path.name.lower().removesuffix(".gz")).suffix)
    if found is None:
        if said := described(data, str(path), "a topology", {"topology"}):
            raise error(place, said, "name a file of GraphML, GML, JSON, SNDlib or BRITE")
        known = ", ".join(FORMATS)
        raise error(
            place, f"{str(path)!r} has none of the endings {known}", 'write for example file = "net.graphml"'
        )
    return found


_KEYS_OF_EDGES = re.compile(rb"attr\.name\s*=\s*[\"']key[\"']|<(?:\w+:)?edge\b[^>]*\bid\s*=")


def _drop_keys_of_edges(data: bytes) -> bytes:
    """Removes ids and keys of edges from GraphML: of parallel edges with the same one, NetworkX keeps only the last."""
    if not _KEYS_OF_EDGES.search(data):
        return data
    root = ET.fromstring(data)  # declarations are refused before
    for element in root.iter():
        kind = element.tag.rpartition("}")[2]
        if kind == "edge":
            element.attrib.pop("id", None)
        elif kind == "key" and element.get("attr.name") == "key":
            element.set("attr.name", "key of edge")
    return ET.tostring(root)


_GML_PARTS = re.compile(
    r'("[^"]*"|#[^\n]*)|(?<![^\s\[\]])key\s+(?:"[^"]*"|[^\s\[\]]+)|(?<![^\s\[\]])(graph\s*\[)'
)


def _allow_several_edges(text: str) -> str:
    """Marks GML as a multigraph and removes the keys of edges: NetworkX refuses parallel edges, and keys used twice."""
    mark = "" if re.search(r"(?<![^\s\[\]])multigraph\s+1\b", text) else " multigraph 1\n"
    return _GML_PARTS.sub(lambda found: found[1] or (f"{found[2]}{mark}" if found[2] else ""), text)


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
    # A multigraph keeps parallel edges; keys are left out, as edges with the same key would replace each other.
    several = [
        {key: value for key, value in one.items() if key != "key"} if isinstance(one, dict) else one
        for one in data[edges]
    ]
    return nx.node_link_graph({**data, edges: several, "multigraph": True}, edges=edges)


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
