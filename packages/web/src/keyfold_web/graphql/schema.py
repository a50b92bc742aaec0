"""The GraphQL schema of a service's operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLBoolean,
    GraphQLField,
    GraphQLInt,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    GraphQLString,
    get_nullable_type,
    is_introspection_type,
    is_specified_scalar_type,
    print_type,
)

from keyfold.errors import DeclarationError
from keyfold_web.arguments import from_values
from keyfold_web.dispatch import Caller, Dispatch
from keyfold_web.graphql.execution import Plans
from keyfold_web.graphql.limits import RELATED_PARENTS, QueryRefused
from keyfold_web.graphql.related_loader import RelatedLoader
from keyfold_web.graphql.types import PageConnection, TypeRegistry, plain_values
from keyfold_web.parameters import Operation, RelatedField
from keyfold_web.service import Service
from keyfold_web.subscriptions import Subscription


@dataclass(frozen=True, slots=True)
class GraphQLContext:
    """One GraphQL request: the caller, and the loaders that batch related fields."""

    dispatch: Dispatch
    caller: Caller
    plans: Plans = field(default_factory=dict)
    loaders: dict[RelatedField, RelatedLoader] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def relate(self, parents: int) -> None:
        """Count parents whose relations are loaded: lists may be longer than the query tells."""
        self.counts["related"] += parents
        if self.counts["related"] > RELATED_PARENTS:
            raise QueryRefused(
                f"The query loads relations of more than {RELATED_PARENTS} objects. Request fewer."
            )

    def loader(self, related: RelatedField) -> RelatedLoader:
        if related not in self.loaders:

            async def load_many(parents: Sequence[Any]) -> Sequence[Any]:
                self.relate(len(parents))
                return await self.dispatch.relate(related, parents, self.caller)

            self.loaders[related] = RelatedLoader(load_many)
        return self.loaders[related]


def build_schema(service: type[Service]) -> GraphQLSchema:
    """Queries, mutations and subscriptions of a service, named as in the declaration."""
    types = TypeRegistry(service.related, _loading)
    roots: dict[str, dict[str, GraphQLField]] = {"query": {}, "mutation": {}}
    for operation in service.operations.values():
        roots[operation.kind][operation.name] = _operation_field(operation, types)
    heard = {name: _subscription_field(one, types) for name, one in service.subscriptions.items()}
    if not roots["query"]:
        roots["query"]["service"] = GraphQLField(
            GraphQLNonNull(GraphQLString),
            resolve=lambda _source, _info: service.name,
            description="The service's name.",
        )
    try:
        return GraphQLSchema(
            GraphQLObjectType("Query", roots["query"]),
            GraphQLObjectType("Mutation", roots["mutation"]) if roots["mutation"] else None,
            GraphQLObjectType("Subscription", heard) if heard else None,
        )
    except TypeError as wrapped:
        if isinstance(wrapped.__cause__, DeclarationError):
            raise wrapped.__cause__ from None
        raise


def schema_text(schema: GraphQLSchema) -> str:
    """The schema in GraphQL's own language, types by name."""
    own = [
        one
        for _, one in sorted(schema.type_map.items())
        if not is_introspection_type(one) and not is_specified_scalar_type(one)
    ]
    return "\n\n".join(print_type(one) for one in own)


def _operation_field(operation: Operation, types: TypeRegistry) -> GraphQLField:
    if operation.result is type(None):
        answer: Any = GraphQLBoolean
    elif operation.item is not None:
        answer = types.connection(operation.item)
    else:
        answer = types.output(operation.result)
    arguments = _arguments(operation, types)
    return GraphQLField(
        # A failed operation is null with its error: the others in the request keep their results.
        get_nullable_type(answer),
        arguments,
        resolve=_resolver(operation, arguments),
        description=operation.summary or None,
    )


def _subscription_field(subscription: Subscription, types: TypeRegistry) -> GraphQLField:
    operation = subscription.operation
    arguments = _arguments(operation, types)

    async def subscribe(
        _source: Any, info: GraphQLResolveInfo[GraphQLContext], **given: Any
    ) -> Any:
        context: GraphQLContext = info.context
        values = {name: plain_values(one, arguments[name].type) for name, one in given.items()}
        return await context.dispatch.watch(
            subscription, lambda: from_values(operation, values), context.caller
        )

    return GraphQLField(
        get_nullable_type(types.output(operation.result)),
        arguments,
        resolve=lambda answer, _info, **_given: answer,
        subscribe=subscribe,
        description=operation.summary or None,
    )


def _arguments(operation: Operation, types: TypeRegistry) -> dict[str, GraphQLArgument]:
    arguments = {}
    for one in operation.parameters:
        kind = types.input(one.annotation)
        arguments[one.public] = GraphQLArgument(kind if one.required else get_nullable_type(kind))
    if operation.page is not None:
        arguments |= {"first": GraphQLArgument(GraphQLInt), "after": GraphQLArgument(GraphQLString)}
    if operation.takes_request_id:
        arguments["requestId"] = GraphQLArgument(GraphQLString)
    if operation.takes_version:
        arguments["expectedVersion"] = GraphQLArgument(GraphQLInt)
    return arguments


def _resolver(operation: Operation, arguments: dict[str, GraphQLArgument]) -> Callable[..., Any]:
    returns_nothing = operation.result is type(None)
    returns_page = operation.item is not None

    async def resolve(_source: Any, info: GraphQLResolveInfo[GraphQLContext], **given: Any) -> Any:
        context: GraphQLContext = info.context
        values = {name: plain_values(one, arguments[name].type) for name, one in given.items()}
        result = await context.dispatch.call(
            operation, lambda: from_values(operation, values), context.caller, "graphql"
        )
        if returns_nothing:
            return True
        return PageConnection(result) if returns_page else result

    return resolve


def _loading(related: RelatedField) -> Callable[..., Any]:
    async def load(source: Any, info: GraphQLResolveInfo[GraphQLContext]) -> Any:
        return await info.context.loader(related).load(source)

    return load
