"""graphql-core's executor, with a short way for objects of which only plain attributes are asked.

Most of an answer is such objects: the items of a page. They need no resolver, no arguments and no
awaiting, so their attributes are read straight from the model. Whatever is unusual (a null where
none may be, a value that does not fit) goes the long way, which says what is wrong and where.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphql import (
    GraphQLObjectType,
    GraphQLOutputType,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
)
from graphql.execution import Executor

Read = Callable[[Any], Any]
Plan = list[tuple[str, Read]]


class PlainFieldsFirst(Executor[Any]):
    """An executor for schemas whose fields without a resolver are attributes."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # The field sets are kept beside their plans, so that no id is used again.
        self._plans: dict[int, tuple[Any, Plan | None]] = {}

    def execute_fields(
        self,
        parent_type: GraphQLObjectType,
        source_value: Any,
        path: Any,
        grouped_field_set: Any,
        position_context: Any,
    ) -> Any:
        known = self._plans.get(id(grouped_field_set))
        if known is None:
            known = (grouped_field_set, _plan(parent_type, grouped_field_set))
            self._plans[id(grouped_field_set)] = known
        if (plan := known[1]) is not None:
            try:
                return {name: read(source_value) for name, read in plan}
            except Exception:
                pass
        return super().execute_fields(
            parent_type, source_value, path, grouped_field_set, position_context
        )


def _plan(parent: GraphQLObjectType, fields: Any) -> Plan | None:
    plan: Plan = []
    for response_name, details in fields.items():
        declared = parent.fields.get(details[0].node.name.value)
        definition = declared and declared.extensions.get("strawberry-definition")
        if declared is None or definition is None or not definition.is_basic_field:
            return None
        complete = _completion(declared.type)
        if complete is None:
            return None
        plan.append((response_name, _reading(definition.python_name, complete)))
    return plan


def _reading(attribute: str, complete: Read) -> Read:
    return lambda source: complete(getattr(source, attribute))


def _completion(kind: GraphQLOutputType) -> Read | None:
    """How a value of this type is written; None where it is not made of leaves."""
    inner = get_nullable_type(kind)
    if is_list_type(inner):
        item = _completion(inner.of_type)
        if item is None:
            return None
        complete: Read = lambda values: [item(value) for value in values]  # noqa: E731
    elif is_leaf_type(inner):
        complete = inner.coerce_output_value
    else:
        return None
    if is_non_null_type(kind):
        return lambda value: _present(complete(_present(value)))
    return lambda value: None if value is None else _present(complete(value))


def _present(value: Any) -> Any:
    if value is None:
        raise ValueError("null where none may be")
    return value
