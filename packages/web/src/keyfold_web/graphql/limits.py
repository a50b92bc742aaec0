"""Limits on GraphQL queries: size, depth and cost, computed before execution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLObjectType,
    GraphQLSchema,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_list_type,
)

from keyfold_web.page_request import DEFAULT_LIMIT, MAX_LIMIT
from keyfold_web.problems import Refused

QUERY_CHARACTERS: Final = 20_000
QUERY_TOKENS: Final = 2_000
DEPTH: Final = 12
COST: Final = 10_000
OPERATION_COST: Final = 100
LIST_LENGTH: Final = 10
RELATED_PARENTS: Final = 1_000
"""Objects per request whose relations may be loaded."""


class QueryRefused(Refused):
    """A query that exceeds a limit; says which and by how much."""

    title = "Query refused"
    default_code = "QUERY_TOO_COMPLEX"


def check(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Mapping[str, Any],
) -> None:
    """Refuse a valid query that is too deep or too expensive."""
    measure = _Measure(schema, document, {**_defaults(operation), **variables})
    root = schema.get_root_type(operation.operation)
    cost, depth = measure.selections(operation.selection_set, root)
    if depth > DEPTH:
        raise QueryRefused(f"The query is {depth} levels deep; {DEPTH} are allowed.")
    if cost > COST:
        raise QueryRefused(f"The query costs {cost}, more than the limit of {COST}.")
    if measure.introspections > 1:
        raise QueryRefused("One introspection per query is allowed.")


def _defaults(operation: OperationDefinitionNode) -> dict[str, int]:
    """Integer defaults of variables that the request leaves out."""
    return {
        one.variable.name.value: int(one.default_value.value)
        for one in operation.variable_definitions or ()
        if isinstance(one.default_value, IntValueNode)
    }


class _Measure:
    """Cost and depth; each fragment is measured once, so the time is linear."""

    def __init__(
        self, schema: GraphQLSchema, document: DocumentNode, variables: Mapping[str, Any]
    ) -> None:
        self._schema, self._variables = schema, variables
        self._fragments = {
            one.name.value: one
            for one in document.definitions
            if isinstance(one, FragmentDefinitionNode)
        }
        self._measured: dict[str, tuple[int, int]] = {}
        self.introspections = 0

    def selections(self, selections: SelectionSetNode, parent: Any) -> tuple[int, int]:
        cost = depth = 0
        for one in selections.selections:
            if isinstance(one, FieldNode):
                added, under = self._field(one, parent)
            elif isinstance(one, FragmentSpreadNode):
                added, under = self._fragment(one.name.value)
            else:
                condition = getattr(one, "type_condition", None)
                kind = self._schema.type_map[condition.name.value] if condition else parent
                added, under = self.selections(one.selection_set, kind)  # type: ignore[attr-defined]
            cost, depth = cost + added, max(depth, under)
        return cost, depth

    def _fragment(self, name: str) -> tuple[int, int]:
        if name not in self._measured:
            fragment = self._fragments[name]
            kind = self._schema.type_map[fragment.type_condition.name.value]
            self._measured[name] = self.selections(fragment.selection_set, kind)
        return self._measured[name]

    def _field(self, field: FieldNode, parent: Any) -> tuple[int, int]:
        name = field.name.value
        if name.startswith("__"):
            # A separate validation rule limits the depth of introspection.
            self.introspections += name != "__typename"
            return 1, 1
        declared = parent.fields[name]
        own = OPERATION_COST if self._is_root(parent) else 1
        if field.selection_set is None:
            return own, 1
        inner, depth = self.selections(field.selection_set, get_named_type(declared.type))
        return own + inner * self._length(field, declared, parent), depth + 1

    def _is_root(self, parent: GraphQLObjectType) -> bool:
        schema = self._schema
        return parent in (schema.query_type, schema.mutation_type, schema.subscription_type)

    def _length(self, field: FieldNode, declared: Any, parent: GraphQLObjectType) -> int:
        if "first" in declared.args and "after" in declared.args:
            return self._first(field)
        if not is_list_type(get_nullable_type(declared.type)):
            return 1
        # A connection's lists were counted by its `first`.
        return 1 if parent.name.endswith("Connection") else LIST_LENGTH

    def _first(self, field: FieldNode) -> int:
        for argument in field.arguments or ():
            if argument.name.value != "first":
                continue
            value: Any = None
            if isinstance(argument.value, IntValueNode):
                value = int(argument.value.value)
            elif isinstance(argument.value, VariableNode):
                value = self._variables.get(argument.value.name.value)
            # A variable may be an integer written as 100.0; any other value fails before execution.
            if isinstance(value, int | float) and math.isfinite(value):
                return min(max(int(value), 1), MAX_LIMIT)
        return DEFAULT_LIMIT
