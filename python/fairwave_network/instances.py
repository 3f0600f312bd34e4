"""Networks of SNDlib and BRITE, read into graphs of NetworkX.

- SNDlib 1.0, native, XML and JSON: nodes, links and demands (Orlowski et al., Networks 55(3), 2010). A capacity has no
  unit of its own, so it becomes a rate only if the file says `unit = MBITPERSEC`. Coordinates are longitude and
  latitude unless the file says otherwise.
- BRITE: nodes and edges (BRITE user manual, section 7.4). Bandwidths are in Mb/s, delays in ms. A value of −1 is
  missing.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from fairwave.extras import need

if TYPE_CHECKING:
    import networkx as nx

SECTIONS = ("META", "NODES", "LINKS", "DEMANDS", "ADMISSIBLE_PATHS")

_ENTRY = re.compile(r"(\S+)\s*\(\s*([^\s()]+)\s+([^\s()]+)\s*\)\s*(.*)")
_PLACE = re.compile(r"(\S+)(?:\s*\(\s*([^\s()]+)\s+([^\s()]+)\s*\))?\s*")

MBITS = "MBITPERSEC"


def read_native(text: str) -> nx.Graph:
    """Reads a network in SNDlib's native form.

    Raises:
        ValueError: A line has another form; the message names it.
    """
    nx = need("networkx", "network")
    graph, section, meta = nx.MultiGraph(), "", {}
    rows: dict[str, list[tuple[str, str, float]]] = {"LINKS": [], "DEMANDS": []}
    for at, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if not bare or bare.startswith(("#", "?")):
            continue
        if not section:
            section = bare.partition("(")[0].strip()
            if section not in SECTIONS or not bare.endswith("("):
                raise ValueError(
                    f"line {at}: {bare[:40]!r} begins none of the sections {', '.join(SECTIONS)}"
                )
        elif bare == ")":
            section = ""
        elif section == "META":
            key, _, value = bare.partition("=")
            meta[key.strip()] = value.strip()
        elif section == "NODES":
            _add_node(graph, bare, at)
        elif section in rows:
            rows[section].append(_read_row(graph, bare, at, demand=section == "DEMANDS"))
    _add_links(graph, rows["LINKS"], meta.get("unit", ""))
    _add_demands(graph, rows["DEMANDS"])
    return graph


def _add_node(graph: nx.Graph, line: str, at: int) -> None:
    place = _PLACE.fullmatch(line)
    if place is None:
        raise ValueError(f"line {at}: {line[:40]!r} is no node: write for example Berlin ( 13.4 52.5 )")
    graph.add_node(place[1], label=place[1])
    if place[2] is not None:
        graph.nodes[place[1]]["pos"] = [_number(place[2], at), _number(place[3], at)]


def _read_row(graph: nx.Graph, line: str, at: int, *, demand: bool) -> tuple[str, str, float]:
    """Returns both nodes of a link with its capacity, or of a demand with its amount."""
    entry = _ENTRY.fullmatch(line)
    if entry is None:
        raise ValueError(f"line {at}: {line[:40]!r} joins no two nodes: write for example L1 ( A B ) …")
    for end in (entry[2], entry[3]):
        if end not in graph:
            raise ValueError(f"line {at}: there is no node {end[:40]!r}")
    words = entry[4].replace("(", " ").replace(")", " ").split()
    if demand and len(words) < 2:
        raise ValueError(f"line {at}: the demand {entry[1][:40]!r} has no value")
    return entry[2], entry[3], _number(words[1], at) if demand else _capacity(words, at)


def _capacity(words: list[str], at: int) -> float:
    """Returns the installed capacity of a link, or its largest module; 0 if it has none."""
    values = [math.inf if word == "UNLIMITED" else _number(word, at) for word in words]
    installed = values[0] if values else 0.0
    modules = [value for value in values[4::2] if math.isfinite(value)]
    return installed if installed > 0 else max(modules, default=0.0)


def _number(text: Any, at: int | str) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        where = f"line {at}" if isinstance(at, int) else at
        raise ValueError(f"{where}: {str(text)[:40]!r} is no number") from None


def _add_links(graph: nx.Graph, links: list[tuple[str, str, float]], unit: str) -> None:
    for one, other, capacity in links:
        known = unit == MBITS and 0 < capacity < math.inf
        graph.add_edge(
            one, other, **({"rate_bps": capacity * 1e6} if known else {"capacity_units": capacity})
        )


def _add_demands(graph: nx.Graph, demands: list[tuple[str, str, float]]) -> None:
    """Adds demands in TopoHub's form, node to node to amount; several of a pair are added up."""
    rows: dict[str, dict[str, float]] = {}
    for one, other, amount in demands:
        row = rows.setdefault(one, {})
        row[other] = row.get(other, 0.0) + amount
    if rows:
        graph.graph["demands"] = rows


def read_sndlib_xml(data: bytes) -> nx.Graph:
    """Reads a network in SNDlib's XML. Call it only with XML that declares no document type.

    Raises:
        ValueError: It has no network.
    """
    return read_sndlib(_plain(ET.fromstring(data)))  # declarations are refused before


def _plain(element: ET.Element) -> Any:
    """Converts an element to plain data, as programs convert SNDlib's XML to JSON."""
    found: dict[str, Any] = dict(element.attrib)
    for child in element:
        key, value = child.tag.rpartition("}")[2], _plain(child)
        if key in found:
            found[key] = [*(found[key] if isinstance(found[key], list) else [found[key]]), value]
        else:
            found[key] = value
    text = (element.text or "").strip()
    return found or text


def is_sndlib(table: Any) -> bool:
    """Whether plain data is a network of SNDlib."""
    inner = table.get("network", table) if isinstance(table, dict) else None
    return isinstance(inner, dict) and isinstance(inner.get("networkStructure"), dict)


def read_sndlib(table: Any) -> nx.Graph:
    """Reads a network of SNDlib from plain data: its JSON, or its XML after conversion.

    Raises:
        ValueError: It has no network.
    """
    nx = need("networkx", "network")
    if not is_sndlib(table):
        raise ValueError("it has no `networkStructure`")
    network = table.get("network", table)
    structure = network["networkStructure"]
    graph = nx.MultiGraph()
    nodes = structure.get("nodes")
    kind = str(_member(nodes, "coordinatesType") or "geographical")
    for entry in _several(nodes, "node"):
        name = str(_member(entry, "id") or "")
        place = _member(entry, "coordinates")
        graph.add_node(name, label=name)
        if isinstance(place, dict) and kind == "geographical":
            graph.nodes[name]["pos"] = [
                _number(_member(place, axis), f"node {name:.40}") for axis in ("x", "y")
            ]
    links = []
    for entry in _several(structure.get("links"), "link"):
        one, other = _ends(entry, graph, "link")
        installed = _module(_member(entry, "preInstalledModule"))
        added = _several(_member(entry, "additionalModules"), "addModule")
        links.append((one, other, installed or max(map(_module, added), default=0.0)))
    meta = network.get("meta")
    _add_links(graph, links, str(_member(meta, "unit") or ""))
    demands = []
    for entry in _several(network.get("demands"), "demand"):
        one, other = _ends(entry, graph, "demand")
        demands.append(
            (one, other, _number(_member(entry, "demandValue"), f"demand {one:.40} to {other:.40}"))
        )
    _add_demands(graph, demands)
    return graph


def _module(entry: Any) -> float:
    """Returns the capacity of a module; 0 without one."""
    value = _member(entry, "capacity")
    return 0.0 if value is None else _number(value, "capacity")


def _member(entry: Any, key: str) -> Any:
    """Returns a member, also if the program that wrote the JSON marks attributes of XML."""
    if not isinstance(entry, dict):
        return None
    return next((entry[name] for name in (key, f"@{key}", f"_{key}", f"-{key}") if name in entry), None)


def _several(found: Any, key: str) -> list[Any]:
    """Returns the entries of a list, of a member of an object, or of an object from names to entries."""
    if isinstance(found, dict) and key in found:
        found = found[key]
        return found if isinstance(found, list) else [found]
    if isinstance(found, dict):
        return [{"id": name, **entry} for name, entry in found.items() if isinstance(entry, dict)]
    return found if isinstance(found, list) else []


def _ends(entry: Any, graph: nx.Graph, what: str) -> tuple[str, str]:
    """Returns both nodes of a link or a demand."""
    ends = [str(_member(entry, key) or "") for key in ("source", "target")]
    for end in ends:
        if end not in graph:
            raise ValueError(
                f"{what} {str(_member(entry, 'id') or '')[:40]!r}: there is no node {end[:40]!r}"
            )
    return ends[0], ends[1]


def read_brite(text: str) -> nx.Graph:
    """Reads a network of BRITE.

    Raises:
        ValueError: A line has another form; the message names it.
    """
    nx = need("networkx", "network")
    graph, section = nx.MultiGraph(), ""
    for at, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if words[0] in {"Nodes:", "Edges:"}:
            section = words[0]
        elif section == "Nodes:":
            if len(words) < 3:
                raise ValueError(f"line {at}: a node has an id, x and y, not {len(words)} columns")
            graph.add_node(words[0], label=words[0])
        elif section == "Edges:":
            if len(words) < 6:
                raise ValueError(f"line {at}: an edge has six columns or more, not {len(words)}")
            for end in words[1:3]:
                if end not in graph:
                    raise ValueError(f"line {at}: there is no node {end[:40]!r}")
            delay, rate = _number(words[4], at), _number(words[5], at)
            known = {"delay_ms": delay} if delay >= 0 else {}
            graph.add_edge(words[1], words[2], **known, **({"rate_bps": rate * 1e6} if rate > 0 else {}))
    return graph
