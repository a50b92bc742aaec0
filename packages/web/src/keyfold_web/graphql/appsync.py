"""The schema for AppSync, with its scalars in place of ours."""

from __future__ import annotations

from typing import Final

from graphql import (
    DefinitionNode,
    DocumentNode,
    ObjectTypeDefinitionNode,
    ScalarTypeDefinitionNode,
    TypeNode,
    Visitor,
    parse,
    print_ast,
    visit,
)
from graphql.language import NamedTypeNode, NameNode

# AppSync's Int has 32 bits; a Float holds integers up to 2**53.
SCALARS: Final = {
    "DateTime": "AWSDateTime",
    "Date": "AWSDate",
    "Time": "AWSTime",
    "JSON": "AWSJSON",
    "Long": "Float",
    "Number": "Float",
    "Decimal": "String",
    "Duration": "String",
    "UUID": "String",
    "Bytes": "String",
}


class _Renamed(Visitor):
    def enter_named_type(self, node: NamedTypeNode, *_: object) -> TypeNode | None:
        if (name := SCALARS.get(node.name.value)) is None:
            return None
        return NamedTypeNode(name=NameNode(value=name))


def _is_left_out(definition: DefinitionNode) -> bool:
    """Whether AppSync lacks it: our scalars, and subscriptions, which AppSync feeds by
    mutations.
    """
    if isinstance(definition, ScalarTypeDefinitionNode):
        return True
    return (
        isinstance(definition, ObjectTypeDefinitionNode) and definition.name.value == "Subscription"
    )


def appsync_schema(sdl: str) -> str:
    """The same schema with AppSync's scalars."""
    kept = tuple(one for one in parse(sdl).definitions if not _is_left_out(one))
    return print_ast(visit(DocumentNode(definitions=kept), _Renamed())) + "\n"
