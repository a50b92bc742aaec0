"""Renders predicates and changes as DynamoDB expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyfold.design.condition import wire_operand
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.predicate import (
    Both,
    Either,
    FieldComparison,
    FieldPath,
    Negated,
    Predicate,
    Test,
    is_absent,
)
from keyfold.design.read import resolve
from keyfold.errors import PlanError

_FUNCTIONS = {"exists": "attribute_exists", "missing": "attribute_not_exists"}


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

    def condition(
        self, predicate: Predicate, spec: EntitySpec, arguments: Mapping[str, Any]
    ) -> str:
        """The predicate as condition or filter text."""
        if isinstance(predicate, Both):
            left = self.condition(predicate.left, spec, arguments)
            return f"({left} AND {self.condition(predicate.right, spec, arguments)})"
        if isinstance(predicate, Either):
            left = self.condition(predicate.left, spec, arguments)
            return f"({left} OR {self.condition(predicate.right, spec, arguments)})"
        if isinstance(predicate, Negated):
            return f"(NOT {self.condition(predicate.inner, spec, arguments)})"
        if isinstance(predicate, FieldComparison):
            return self._comparison(predicate, spec, arguments)
        assert isinstance(predicate, Test), f"{predicate!r} is not a predicate"
        path = self.path(predicate.path, spec)
        if predicate.function in _FUNCTIONS:
            return f"{_FUNCTIONS[predicate.function]}({path})"
        values = [
            self._operand(predicate.path, resolve(a, arguments), spec, element=True)
            for a in predicate.arguments
        ]
        if predicate.function == "one_of":
            return f"{path} IN ({', '.join(values)})"
        if predicate.function == "between":
            return f"{path} BETWEEN {values[0]} AND {values[1]}"
        return f"{predicate.function}({path}, {values[0]})"

    def _comparison(
        self, compare: FieldComparison, spec: EntitySpec, arguments: Mapping[str, Any]
    ) -> str:
        path = self.path(compare.path, spec)
        value = resolve(compare.value, arguments)
        if is_absent(value):
            absent = f"attribute_not_exists({path})"
            return absent if compare.operator == "=" else f"(NOT {absent})"
        operand = self._operand(compare.path, value, spec, element=False)
        return f"{path} {compare.operator} {operand}"

    def path(self, path: FieldPath, spec: EntitySpec) -> str:
        """A path inside an item, as an expression names it."""
        inside = (
            f"[{part}]" if isinstance(part, int) else f".{self.name(part)}" for part in path.stored
        )
        field = spec.fields[path.field]
        if field.reader is not None:
            raise PlanError(
                f"{spec.name}.{field.name} is stored only in the key {field.attribute}, so "
                "conditions and filters cannot use it; query by the key"
            )
        text = "".join([self.name(field.attribute), *inside])
        return f"size({text})" if path.sized else text

    def _operand(self, path: FieldPath, value: Any, spec: EntitySpec, *, element: bool) -> str:
        """What a path is compared with: another path, or a value encoded like the path's own."""
        if isinstance(value, FieldPath):
            return self.path(value, spec)
        return self.value(wire_operand(path, value, spec, element=element))
