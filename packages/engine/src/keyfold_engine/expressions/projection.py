"""Projections: the parts of an item that a list of paths selects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from keyfold_engine.expressions.ast import Projection
from keyfold_engine.values import AttributeValue, Item

# A node of the merged tree of paths; None marks a path's end, where the whole value is wanted.
_Tree = dict[Any, "_Tree | None"]


def project(paths: Projection, item: Mapping[str, AttributeValue]) -> Item:
    """The part of an item that bound paths select."""
    return compile_projection(paths)(item)


@lru_cache(512)
def compile_projection(paths: Projection) -> Callable[[Mapping[str, AttributeValue]], Item]:
    """A projection as a function, for use with many items."""
    if all(len(path.parts) == 1 for path in paths):
        names = [path.root for path in paths]
        return lambda item: {name: item[name] for name in names if name in item}
    tree: _Tree = {}
    for path in paths:
        node = tree
        for part in path.parts[:-1]:
            below = node.setdefault(part, {})
            assert below is not None, "no path of a projection contains another"
            node = below
        node[path.parts[-1]] = None
    return lambda item: _from_map(tree, item)


def _from_map(tree: _Tree, entries: Mapping[str, AttributeValue]) -> Item:
    found = {}
    for name, below in tree.items():
        value = entries.get(name)
        if value is not None and (part := _part(below, value)) is not None:
            found[name] = part
    return found


def _from_list(tree: _Tree, elements: list[AttributeValue]) -> list[AttributeValue]:
    found = []
    for index in sorted(tree):
        if index < len(elements):
            part = _part(tree[index], elements[index])
            if part is not None:
                found.append(part)
    return found


def _part(tree: _Tree | None, value: AttributeValue) -> AttributeValue | None:
    if tree is None:
        return value
    wants_list = isinstance(next(iter(tree)), int)
    if wants_list and "L" in value:
        elements = _from_list(tree, value["L"])
        return {"L": elements} if elements else None
    if not wants_list and "M" in value:
        entries = _from_map(tree, value["M"])
        return {"M": entries} if entries else None
    return None
