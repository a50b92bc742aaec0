"""graphql-core's executor, with a fast path for values with plain attributes.

Most of an answer consists of such values: a page and its items. They need no resolver, arguments or
awaiting, so a plan made once per document reads their attributes directly from the models. Anything
unusual (an unexpected null, a value of the wrong type) takes the regular path, which reports the
error and its location.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphql import (
    GraphQLBoolean,
    GraphQLID,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLString,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
    is_object_type,
)
from graphql.execution import Executor

from keyfold_web.graphql.types import ATTRIBUTE

Read = Callable[[Any], Any]
Plans = dict[tuple[int, ...], Read | None]
"""Plans by type and selection in the document."""

_LISTS = (list, tuple, set, frozenset)
_AS_THEY_ARE: dict[Any, type] = {GraphQLString: str, GraphQLID: str, GraphQLBoolean: bool}


class PlainFieldsFirst(Executor[Any]):
    """An executor for schemas whose fields without a resolver are attributes.

    The plans are kept in the context for later requests with the same document.
    """

    def complete_value(
        self,
        return_type: GraphQLOutputType,
        field_details_list: Any,
        info: Any,
        path: Any,
        result: Any,
        position_context: Any,
    ) -> Any:
        plans: Plans = self.context_value.plans
        place = (id(return_type), *[id(one.node) for one in field_details_list])
        try:
            plan = plans[place]
        except KeyError:
            plan = plans[place] = self._plan(return_type, field_details_list)
        if plan is not None and not isinstance(result, Exception):
            try:
                return plan(result)
            except Exception:
                pass
        return super().complete_value(
            return_type, field_details_list, info, path, result, position_context
        )

    def _plan(self, kind: GraphQLOutputType, details: Any) -> Read | None:
        """How to serialise a value of this type; None if it takes more than reading attributes."""
        inner = get_nullable_type(kind)
        complete: Read | None
        if is_list_type(inner):
            item = self._plan(inner.of_type, details)
            complete = None if item is None else _each(item)
        elif is_object_type(inner):
            complete = self._object(inner, details)
        elif is_leaf_type(inner):
            complete = inner.coerce_output_value
        else:
            complete = None
        if complete is None:
            return None
        if not is_non_null_type(kind):
            return _optional(complete)
        if as_it_is := _AS_THEY_ARE.get(inner):
            return _exactly(as_it_is, _present(complete))
        return _present(complete)

    def _object(self, kind: GraphQLObjectType, details: Any) -> Read | None:
        fields: list[tuple[str, str, Read]] = []
        for response_name, asked in self.collect_subfields(kind, details)[0].items():
            name = asked[0].node.name.value
            if name == "__typename":
                fields.append((response_name, "__class__", lambda _: kind.name))
                continue
            declared = kind.fields.get(name)
            attribute = declared and declared.extensions.get(ATTRIBUTE)
            if declared is None or attribute is None:
                return None
            complete = self._plan(declared.type, asked)
            if complete is None:
                return None
            fields.append((response_name, attribute, complete))
        fits = kind.is_type_of

        def read(source: Any) -> dict[str, Any]:
            if fits is not None and not fits(source, None):  # type: ignore[arg-type]
                raise TypeError("a value of another type")
            return {name: complete(getattr(source, field)) for name, field, complete in fields}

        return read


def _each(item: Read) -> Read:
    def read(values: Any) -> list[Any]:
        if not isinstance(values, _LISTS):
            raise TypeError("no list")
        return [item(value) for value in values]

    return read


def _optional(complete: Read) -> Read:
    required = _present(complete)
    return lambda value: None if value is None else required(value)


def _present(complete: Read) -> Read:
    def read(value: Any) -> Any:
        done = None if value is None else complete(value)
        if done is None:
            raise ValueError("null where none may be")
        return done

    return read


def _exactly(kind: type, otherwise: Read) -> Read:
    """A leaf whose values of one type are serialised unchanged."""
    return lambda value: value if type(value) is kind else otherwise(value)
