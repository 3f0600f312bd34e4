"""Which source files use which others, read from the text of Python and Rust: graphs, circles and paths."""

import ast
import os
import re
from pathlib import Path

Graph = dict[str, set[str]]

SKIPPED = {"__pycache__", "data", "node_modules", "target"}


def circles(graph: Graph) -> list[frozenset[str]]:
    """The strongly connected components of more than one node, the largest first (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(node: str):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                yield other
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(component) > 1:
                found.append(frozenset(component))

    for start in sorted(graph):
        visits = [visit(start)] if start not in index else []
        while visits:
            other = next(visits[-1], None)
            if other is None:
                visits.pop()
            else:
                visits.append(visit(other))
    return sorted(found, key=lambda one: (-len(one), sorted(one)))


def shortest_path(graph: Graph, start: str, is_goal) -> list[str]:
    """The nodes from `start` to the nearest goal; empty if there is none."""
    before = {start: ""}
    queue = [start]
    for node in queue:
        if is_goal(node):
            path = [node]
            while before[path[0]]:
                path.insert(0, before[path[0]])
            return path
        for other in sorted(graph[node] - before.keys()):
            before[other] = node
            queue.append(other)
    return []


def python_modules(root: Path) -> dict[str, Path]:
    """The modules below a folder, each with its file."""
    modules = {}
    for folder, below, files in os.walk(root):
        below[:] = [one for one in below if one not in SKIPPED]
        for file in files:
            if file.endswith(".py"):
                path = Path(folder, file)
                parts = path.relative_to(root).with_suffix("").parts
                modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def python_graph(modules: dict[str, Path], *, late: bool) -> Graph:
    """Which module imports which others; `late` adds the imports within functions. Imports for types do not count."""
    return {
        name: set(_python_imports(name, path, modules, late=late)) - {name} for name, path in modules.items()
    }


def _python_imports(name: str, path: Path, modules: dict[str, Path], *, late: bool):
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in _statements(ast.parse(path.read_text(encoding="utf-8")), late=late):
        if isinstance(node, ast.Import):
            wanted = [one.name for one in node.names]
        else:
            parts = package.split(".")
            base = ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [node.module])])
            start = base if node.level else node.module or ""
            wanted = [f"{start}.{one.name}" for one in node.names]
        for one in wanted:
            if found := _longest_known(one, modules):
                yield found


def _statements(tree: ast.AST, *, late: bool):
    """The import statements that run; those of functions only if `late`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and not late:
            continue
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for one in node.orelse:
                yield from _statements(one, late=late)
        else:
            yield from _statements(node, late=late)


def _longest_known(name: str, modules: dict[str, Path]) -> str:
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name


def rust_graph(sources: Path) -> Graph:
    """Which file of a crate uses which others, by their `use` items and paths; tests do not count.

    A path to an item of the crate's root file counts as none: the root declares all modules.
    """
    modules = {}
    for path in sources.rglob("*.rs"):
        parts = path.relative_to(sources).with_suffix("").parts
        if "tests" in parts or parts[-1].endswith("_tests"):
            continue
        modules[parts[:-1] if parts[-1] in {"mod", "lib"} else parts] = path
    return {"::".join(name): set(_rust_uses(name, path, modules)) for name, path in modules.items()}


def _rust_uses(name: tuple[str, ...], path: Path, modules: dict[tuple[str, ...], Path]):
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", "", text, flags=re.DOTALL)
    use = re.compile(r"^\s*(?:pub(?:\([\w ]+\))? )?use\s+([^;]+);", re.MULTILINE)
    items, rest = use.findall(text), use.sub("", text)
    paths = [path for item in items for path in _use_tree(item)]
    paths += re.findall(r"\b(?:crate|super|self)(?:::\w+)+", rest)
    for one in paths:
        found = _rust_file(one.replace(" ", "").split("::"), name, modules)
        if found not in {(), name}:
            yield "::".join(found)


def _rust_file(
    path: list[str], name: tuple[str, ...], modules: dict[tuple[str, ...], Path]
) -> tuple[str, ...]:
    """The file that declares the item of a path, from the module `name`; empty for another crate."""
    if path[0] == "crate":
        wanted = tuple(path[1:])
    elif path[0] == "self":
        wanted = (*name, *path[1:])
    elif path[0] == "super":
        up = next(i for i, part in enumerate([*path, ""]) if part != "super")
        wanted = (*name[: len(name) - up], *path[up:])
    elif (*name, path[0]) in modules:
        wanted = (*name, *path)
    else:
        return ()
    while wanted and wanted not in modules:
        wanted = wanted[:-1]
    return wanted


def _use_tree(item: str) -> list[str]:
    """The paths of a `use` item: `a::{b, c::{d}}` is `a::b` and `a::c::d`."""
    head, brace, tail = item.strip().partition("{")
    if not brace:
        return [re.sub(r"\s+as\s+\w+$", "", head.strip())] if head.strip() else []
    parts, depth = [""], 0
    for sign in tail[: tail.rindex("}")]:
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [head.strip() + path for part in parts for path in _use_tree(part)]
