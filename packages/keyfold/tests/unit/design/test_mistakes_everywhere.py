"""Every word of a design file made wrong, one at a time: refused at that word, or read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from keyfold.design.file import DesignFileError, loads

DESIGNS = Path(__file__).parents[1] / "review" / "designs"
FILES = ("aws_battle_royale", "aws_recurring_payments", "deals")
Step = tuple[str, int]
Path_ = tuple[Step, ...]

WRONG = {
    "a mapping": "{x: y}",
    "a list": "[x, [y]]",
    "a number": "5",
    "true": "true",
    "nothing": "null",
    "empty": "''",
}
NAMED = ("entities", "patterns", "tables", "indexes", "attributes", "operations", "key")
"""Words under which any name may stand: one of each is enough."""


def compose(text: str) -> yaml.Node:
    node: yaml.Node | None = yaml.compose(
        text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    )
    assert node is not None
    return node


def inside(node: yaml.Node, path: Path_) -> yaml.Node:
    for side, at in path:
        child = node.value[at]
        node = child if side == "element" else child[0] if side == "name" else child[1]
    return node


def paths(node: yaml.Node, path: Path_ = ()) -> Iterator[Path_]:
    """Every name, value and element below a node."""
    for at, child in enumerate(node.value if not isinstance(node, yaml.ScalarNode) else ()):
        sides = ("name", "value") if isinstance(node, yaml.MappingNode) else ("element",)
        for side in sides:
            yield (*path, (side, at))
        yield from paths(child if sides == ("element",) else child[1], (*path, (sides[-1], at)))


def shape(root: yaml.Node, path: Path_) -> tuple[str, ...]:
    """What a path leads to, whatever the names are on the way."""
    words: list[str] = []
    for length, (side, at) in enumerate(path):
        parent = inside(root, path[:length])
        word = "*" if side == "element" else str(parent.value[at][0].value)
        words.append("*" if words and words[-1] in NAMED else word)
    return (path[-1][0], *words)


def misspell(word: str) -> str:
    return (
        f"{word[:-2]}{word[-1]}{word[-2]}" if len(word) > 2 and word[-1] != word[-2] else f"{word}q"
    )


def mistakes(text: str, path: Path_) -> Iterator[tuple[str, yaml.Node]]:
    """The design with this place made wrong, in every way that there is."""
    side, at = path[-1]
    old = inside(compose(text), path)
    made = {what: compose(new) for what, new in WRONG.items() if side != "name"}
    if isinstance(old, yaml.ScalarNode):
        made["misspelled"] = yaml.ScalarNode("tag:yaml.org,2002:str", misspell(old.value))
    for what, new in made.items():
        root = compose(text)
        children = inside(root, path[:-1]).value
        if side == "element":
            children[at] = new
        else:
            name, value = children[at]
            children[at] = (new, value) if side == "name" else (name, new)
        yield what, root
    if side != "name":
        root = compose(text)
        del inside(root, path[:-1]).value[at]
        yield "removed", root


def names_what_is_gone(error: DesignFileError, before: yaml.Node, path: Path_) -> bool:
    """Whether the error is where something names what is no longer declared."""
    side, at = path[-1]
    parent = inside(before, path[:-1])
    gone = [parent.value[at]] if side == "element" else [*parent.value[at]]
    nodes = [n for one in gone for n in (one, *(inside(one, below) for below in paths(one)))]
    words = {str(node.value) for node in nodes if isinstance(node, yaml.ScalarNode)}
    return any(repr(word) in error.message or f"'{word} =" in error.message for word in words)


def is_within(error: DesignFileError, after: yaml.Node, path: Path_, what: str) -> bool:
    """Whether the error is at the wrong word, or in the mapping or list that it is missing in."""
    parent = inside(after, path[:-1])
    child = parent if what == "removed" else parent.value[path[-1][1]]
    first, last = child if isinstance(child, tuple) else (child, child)
    place = (error.place.line - 1, error.place.column - 1)
    start, end = first.start_mark, last.end_mark
    return (start.line, start.column) <= place <= (end.line, end.column)


def refusal(written: str) -> DesignFileError | None:
    try:
        loads(written, file="d.yaml")
    except DesignFileError as error:
        return error
    return None


@pytest.mark.parametrize("name", FILES)
def test_a_mistake_is_refused_at_the_word_that_is_wrong(name: str) -> None:
    text = (DESIGNS / f"{name}.yaml").read_text(encoding="utf-8")
    before = compose(text)
    places = {shape(before, path): path for path in paths(before)}
    for kind, path in places.items():
        for what, root in mistakes(text, path):
            written = yaml.serialize(root, width=10_000)
            error = refusal(written)
            assert (
                error is None
                or is_within(error, compose(written), path, what)
                or names_what_is_gone(error, before, path)
            ), f"{'/'.join(kind)} {what}: {error}"
