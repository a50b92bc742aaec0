"""YAML nodes with positions: every error names the file, the line and what was expected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import yaml

from keyfold.design.source import Place
from keyfold.design.yaml_text import DesignFileError, read_yaml


def compose(text: str, file: str) -> Node:
    """The root node of a YAML text."""
    node = read_yaml(text, file)
    if node is None:
        raise DesignFileError(Place(file, 1), "the file is empty; expected a design: name")
    return Node(node, file)


class Node:
    """One node of a design file."""

    __slots__ = ("file", "node")

    def __init__(self, node: yaml.Node, file: str) -> None:
        self.node, self.file = node, file

    @property
    def place(self) -> Place:
        mark = self.node.start_mark
        return Place(self.file, mark.line + 1, mark.column + 1)

    def refuse(self, message: str) -> NoReturn:
        raise DesignFileError(self.place, message)

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        return isinstance(self.node, yaml.SequenceNode)

    @property
    def is_nothing(self) -> bool:
        return isinstance(self.node, yaml.ScalarNode) and self.node.tag.endswith(":null")

    @property
    def is_value(self) -> bool:
        """Whether YAML reads it as a number or a boolean."""
        return self.node.tag.rpartition(":")[2] in ("bool", "float", "int")

    def text(self, what: str) -> str:
        """A scalar as written, so that keys such as `1` or `yes` stay text."""
        if not isinstance(self.node, yaml.ScalarNode) or self.is_nothing:
            self.refuse(f"expected {what}, found {self.kind}")
        return str(self.node.value)

    def filled(self, what: str) -> str:
        """A scalar as written, which is not empty."""
        return self.text(what) or self.refuse(f"expected {what}, found empty text")

    def name(self, what: str) -> str:
        """A word: not empty, and not something YAML reads as a number or a boolean."""
        if self.is_value:
            self.refuse(f"expected {what}, found {self.kind}")
        return self.filled(what)

    def scalar(self, what: str) -> Any:
        """A scalar with the type that YAML gives it."""
        if not isinstance(self.node, yaml.ScalarNode):
            self.refuse(f"expected {what}, found {self.kind}")
        # An empty value cannot be written and read back.
        if self.is_nothing:
            return None
        try:
            return yaml.safe_load(yaml.serialize(self.node))
        except (ValueError, OverflowError, yaml.YAMLError) as error:
            self.refuse(f"expected {what}, found {self.kind}: {error}")

    @property
    def kind(self) -> str:
        if self.is_mapping:
            return "a mapping"
        if self.is_list:
            return "a list"
        return "nothing" if self.is_nothing else repr(str(self.node.value))

    def items(self, what: str) -> Iterator[tuple[Node, Node]]:
        if self.is_nothing:
            return
        if not isinstance(self.node, yaml.MappingNode):
            self.refuse(f"expected {what}, found {self.kind}")
        seen: set[str] = set()
        for key, value in self.node.value:
            name = Node(key, self.file)
            if name.text("a name") in seen:
                name.refuse(f"{name.text('a name')!r} appears twice")
            seen.add(name.text("a name"))
            yield name, Node(value, self.file)

    def elements(self, what: str) -> Iterator[Node]:
        if self.is_nothing:
            return
        if isinstance(self.node, yaml.SequenceNode):
            for node in self.node.value:
                yield Node(node, self.file)
        elif self.is_mapping:
            self.refuse(f"expected a list of {what}, found a mapping")
        else:
            yield self
