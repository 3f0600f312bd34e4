"""How the source files depend on each other: no large circles, and nothing below the command line reaches it."""

import ast
from pathlib import Path

import pytest
import tomllib

from file_graph import circles, python_graph, python_modules, rust_graph, shortest_path

ROOT = Path(__file__).parents[1]
CRATES = sorted(one.parents[1] for one in ROOT.glob("crates/*/src/lib.rs"))
MOST = 3
"""A circle of dependencies may have this many files."""

FAMILIES = {"fairwave-media": ("traffic",), "fairwave-network": ("link", "queue")}
"""Modules whose file declares a trait and lists its laws. The laws below it use the trait, which closes a circle."""

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ENTRIES = PROJECT["project"]["entry-points"]


def modules():
    return python_modules(ROOT / "python")


def told(found):
    listed = "\n".join(f"  {len(one)} files: {', '.join(sorted(one))}" for one in found)
    return (
        f"circles of more than {MOST} files:\n{listed}\n"
        "Move what both sides need into a file below them, or hand it over as an argument."
    )


@pytest.mark.parametrize("crate", CRATES, ids=lambda one: one.name)
def test_files_of_a_crate_depend_on_each_other_in_one_direction(crate):
    families = FAMILIES.get(crate.name, ())

    def is_family(circle):
        return any(all(f"{one}::".startswith(f"{family}::") for one in circle) for family in families)

    found = [one for one in circles(rust_graph(crate / "src")) if len(one) > MOST and not is_family(one)]
    assert not found, told(found)


@pytest.mark.parametrize("late", [False, True], ids=["at load time", "at run time"])
def test_modules_import_each_other_in_one_direction(late):
    found = [one for one in circles(python_graph(modules(), late=late)) if len(one) > MOST]
    assert not found, told(found)


def layers_asked_for(path):
    """The layers that a file requests by `layer("…")`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
            continue
        if getattr(node.func, "attr", getattr(node.func, "id", "")) == "layer":
            yield node.args[0].value


def complete_graph():
    """Imports at any time, and imports by entry points: layers from their requests, studies from `layers`."""
    known = modules()
    graph = python_graph(known, late=True)
    for name, path in known.items():
        graph[name] |= {ENTRIES["fairwave.layers"][layer] for layer in layers_asked_for(path)}
    graph["fairwave.layers"] |= {one.partition(":")[0] for one in ENTRIES["fairwave.studies"].values()}
    return graph


def is_front(name):
    """Whether a module is a front end: the command line, its commands from other packages, or a program to run."""
    commands = {one.partition(":")[0] for one in ENTRIES["fairwave.commands"].values()}
    return f"{name}.".startswith("fairwave.cli.") or name in {
        *commands,
        "fairwave.__main__",
    }


def test_every_layer_is_asked_for_by_its_name():
    asked = {layer for path in modules().values() for layer in layers_asked_for(path)}
    assert asked == set(ENTRIES["fairwave.layers"])


def test_nothing_below_the_command_line_reaches_it():
    graph = complete_graph()
    for name in sorted(graph):
        if not is_front(name):
            path = shortest_path(graph, name, is_front)
            assert not path, (
                f"{' → '.join(path)}: only the command line may import this. In a notebook it would run code for "
                "terminals; move what is needed into a module below fairwave.cli"
            )


def test_packages_import_those_below_them_only():
    contract = next(one for one in PROJECT["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    order = [{one.strip() for one in layer.split("|")} for layer in contract["layers"]]
    rank = {package: place for place, layer in enumerate(order) for package in layer}
    assert {one.partition(".")[0] for one in modules()} <= set(rank)
    for name, others in python_graph(modules(), late=True).items():
        mine = name.partition(".")[0]
        for other in others:
            theirs = other.partition(".")[0]
            assert mine == theirs or rank[mine] < rank[theirs], (
                f"{name} imports {other}, which is not below it"
            )


def test_entry_points_lead_to_packages_above():
    for group in ("fairwave.layers", "fairwave.commands", "fairwave.studies"):
        for entry in ENTRIES[group].values():
            module = entry.partition(":")[0]
            assert module in modules()
            assert module.partition(".")[0] != "fairwave"


def test_circles_and_paths_are_found():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert circles(graph) == [frozenset("abc"), frozenset("de")]
    assert shortest_path(graph, "f", lambda one: one == "d") == ["f", "a", "b", "c", "d"]
    assert shortest_path(graph, "d", lambda one: one == "a") == []


def test_late_imports_are_read_and_those_for_types_are_not(tmp_path):
    (tmp_path / "a.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import b\ndef f():\n    from c import d\n"
    )
    for name in "bc":
        (tmp_path / f"{name}.py").write_text("d = 1\n")
    known = python_modules(tmp_path)
    assert python_graph(known, late=False)["a"] == set()
    assert python_graph(known, late=True)["a"] == {"c"}


def test_uses_of_rust_are_read(tmp_path):
    (tmp_path / "lib.rs").write_text("mod a;\nmod b;\npub use a::A;\n")
    (tmp_path / "a.rs").write_text("use crate::b::{self, c::{D, E as F}};\n// use crate::x;\nstruct A;\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "mod.rs").write_text("mod c;\nfn f() -> super::a::A { todo!() }\n")
    (tmp_path / "b" / "c.rs").write_text("struct D;\n")
    assert rust_graph(tmp_path) == {"": {"a"}, "a": {"b", "b::c"}, "b": {"a"}, "b::c": set()}
