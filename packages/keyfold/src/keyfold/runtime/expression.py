"""Renders conditions and changes as DynamoDB expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from keyfold.design.condition import Condition, condition_text, with_arguments
from keyfold.design.entity_spec import EntitySpec
from keyfold.errors import PlanError
from keyfold_engine.expressions.ast import Function, Operand, Or, Path, Value


class Expressions:
    """Allocates placeholders for the names and values of one request."""

    def __init__(self) -> None:
        self._placeholders: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self.values: dict[str, Any] = {}

    def name(self, attribute: str) -> str:
        known = self._placeholders.get(attribute)
        if known is None:
            known = self._placeholders[attribute] = f"#{len(self._names)}"
            self._names[known] = attribute
        return known

    def value(self, wire: Mapping[str, Any]) -> str:
        placeholder = f":{len(self.values)}"
        self.values[placeholder] = wire
        return placeholder

    def placeholders(self) -> dict[str, Any]:
        """The request members that define the placeholders."""
        members: dict[str, Any] = {}
        if self._names:
            members["ExpressionAttributeNames"] = self._names
        if self.values:
            members["ExpressionAttributeValues"] = self.values
        return members

    def unchanged(self, attributes: Iterable[str], item: Mapping[str, Any]) -> list[str]:
        """The conditions that these attributes are still what they are in an item."""
        found = []
        for one in attributes:
            name = self.name(one)
            same = f"{name} = {self.value(item[one])}" if one in item else ""
            found.append(same or f"attribute_not_exists({name})")
        return found

    def condition(
        self, condition: Condition, spec: EntitySpec, arguments: Mapping[str, Any] | None = None
    ) -> str:
        """A condition over fields as condition or filter text, to stand among others."""
        bound = with_arguments(condition, spec, arguments) if arguments else condition
        text = condition_text(bound, partial(self._operand, spec=spec))
        return f"({text})" if isinstance(bound, Or) else text

    def path(self, path: Path, spec: EntitySpec) -> str:
        """A path inside an item, as an expression names it."""
        field = spec.fields[path.root]
        if field.reader is not None:
            raise PlanError(
                f"{spec.name}.{field.name} is stored only in the key {field.attribute}, so "
                "conditions and filters cannot use it; query by the key"
            )
        inside = (
            f"[{part}]" if isinstance(part, int) else f".{self.name(str(part))}"
            for part in path.parts[1:]
        )
        return "".join([self.name(field.attribute), *inside])

    def _operand(self, given: Operand, *, spec: EntitySpec) -> str:
        match given:
            case Path():
                return self.path(given, spec)
            case Function(name, arguments):
                return f"{name}({', '.join(self._operand(one, spec=spec) for one in arguments)})"
            case Value(content):
                return self.value(content)
        raise PlanError(f"{given.text} is not given")


class Clauses:
    """The clauses of one update expression."""

    def __init__(self, expressions: Expressions) -> None:
        self._expressions = expressions
        self._clauses: dict[str, list[str]] = {"SET": [], "REMOVE": [], "ADD": [], "DELETE": []}

    def attribute(self, attribute: str, wire: Mapping[str, Any] | None) -> None:
        """Set an attribute, or remove it."""
        name = self._expressions.name(attribute)
        if wire is None:
            self._clauses["REMOVE"].append(name)
        else:
            self._clauses["SET"].append(f"{name} = {self._expressions.value(wire)}")

    def text(self) -> str:
        found = []
        for verb, clauses in self._clauses.items():
            if clauses:
                found.append(f"{verb} {', '.join(clauses)}")
        return " ".join(found)
