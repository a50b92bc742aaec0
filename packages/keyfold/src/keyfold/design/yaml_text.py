"""The one reader of YAML: nodes with positions, and no more of them than the text can mean.

A text of strangers is small, but its aliases may stand for billions of values. They are counted
before anything walks through them.
"""

from __future__ import annotations

from typing import Any

import yaml

from keyfold.design.source import Place
from keyfold.errors import KeyfoldError

MOST_REPEATED = 10_000
"""Values that aliases may repeat."""
MOST_DEPTH = 100
_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""PyYAML's C loader where available: ten times faster on large files."""


class DesignFileError(KeyfoldError):
    """A text that cannot be read: where, and what was expected."""

    def __init__(self, place: Place, message: str) -> None:
        self.place, self.message = place, message
        super().__init__(f"{place}: {message}")


def read_yaml(text: str, file: str) -> yaml.Node | None:
    """The root node of a text; None if it is empty."""
    try:
        root = _compose(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file, 1)
        what = ", ".join(part for part in (error.context, error.problem) if part)
        if "'\\t'" in what:
            what += "; indent with spaces"
        raise DesignFileError(place, f"this is not YAML: {what}") from None
    except yaml.YAMLError as error:
        raise DesignFileError(Place(file, 1), f"this is not YAML: {error}") from None
    except RecursionError:
        raise DesignFileError(Place(file, 1), "this is nested too deeply") from None
    if root is not None:
        _refuse_endless(root, file)
    return root


def _compose(text: str) -> yaml.Node | None:
    node: yaml.Node | None
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError:
        # The Python loader reports positions more precisely.
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    return node


def _refuse_endless(root: yaml.Node, file: str) -> None:
    """Refuse what aliases multiply, what contains itself, and what is nested too deeply."""
    sizes: dict[int, int] = {}
    open_: set[int] = set()

    def refuse(node: yaml.Node, message: str) -> DesignFileError:
        mark = node.start_mark
        return DesignFileError(Place(file, mark.line + 1, mark.column + 1), message)

    def size(node: yaml.Node, depth: int) -> int:
        """The values that a node stands for, aliases included."""
        if (known := sizes.get(id(node))) is not None:
            return known
        if id(node) in open_:
            raise refuse(node, "this contains itself")
        if depth > MOST_DEPTH:
            raise refuse(node, "this is nested too deeply")
        open_.add(id(node))
        total = 1 + sum(size(inner, depth + 1) for inner in _inner(node))
        open_.discard(id(node))
        if total - len(sizes) > MOST_REPEATED:
            raise refuse(node, f"its aliases repeat more than {MOST_REPEATED:,} values")
        sizes[id(node)] = total
        return total

    size(root, 0)


def _inner(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
