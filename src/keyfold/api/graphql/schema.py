"""The GraphQL schema of a service's operations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

import strawberry
from graphql import GraphQLField, GraphQLResolveInfo, OperationType
from strawberry.dataloader import DataLoader
from strawberry.schema.config import StrawberryConfig
from strawberry.utils.str_converters import to_camel_case

from keyfold.api.arguments import from_values
from keyfold.api.dispatch import Caller, Dispatch
from keyfold.api.graphql.execution import Plans
from keyfold.api.graphql.types import SCALARS, PageConnection, TypeRegistry, plain_values
from keyfold.api.parameters import Operation, Parameter, RelatedField
from keyfold.api.service import Service


@dataclass(frozen=True, slots=True)
class GraphQLContext:
    """One GraphQL request: who asks, and the loaders that batch its related fields."""

    dispatch: Dispatch
    caller: Caller
    plans: Plans = field(default_factory=dict)
    loaders: dict[str, DataLoader[int, Any]] = field(default_factory=dict)
    parents: dict[int, Any] = field(default_factory=dict)

    def loader(self, related: RelatedField) -> DataLoader[int, Any]:
        key = f"{related.parent.__name__}.{related.name}"
        if key not in self.loaders:

            async def load(keys: Sequence[int]) -> Sequence[Any]:
                given: dict[str, Any] = {}
                if related.takes_caller:
                    given["caller"] = self.caller.identity
                parents = [self.parents[one] for one in keys]
                return await related.function(self.dispatch.service, parents, **given)  # type: ignore[no-any-return]

            self.loaders[key] = DataLoader(load_fn=load)
        return self.loaders[key]


def build_schema(service: type[Service]) -> strawberry.Schema:
    """Queries and mutations of a service, named as in the declaration."""
    types = TypeRegistry(service.related, _loading)
    roots: dict[str, dict[str, Any]] = {"query": {}, "mutation": {}}
    for operation in service.operations.values():
        roots[operation.kind][operation.function.__name__] = strawberry.field(
            resolver=_signed(operation, types),
            name=operation.name,
            description=operation.summary or None,
        )
    made = {kind: _root(kind.title(), fields) for kind, fields in roots.items() if fields}
    schema = strawberry.Schema(
        query=made.get("query") or _root("Query", {"service": _service_name(service.name)}),
        mutation=made.get("mutation"),
        config=StrawberryConfig(auto_camel_case=True, scalar_map=SCALARS),
    )
    for operation in service.operations.values():
        root = schema._schema.get_root_type(OperationType(operation.kind))
        assert root is not None
        _resolve_by(operation, root.fields[operation.name])
    return schema


def _root(name: str, fields: dict[str, Any]) -> Any:
    return strawberry.type(type(name, (), {"__annotations__": {}, **fields}), name=name)


def _service_name(name: str) -> Any:
    def service() -> str:
        return name

    return strawberry.field(resolver=service, description="The service's name.")


def _signed(operation: Operation, types: TypeRegistry) -> Callable[..., Any]:
    """A function with the signature from which Strawberry makes the operation's field."""

    async def described(**_given: Any) -> Any:
        raise AssertionError("Operations are resolved by themselves.")

    if operation.result is type(None):
        answer: Any = bool
    elif operation.item is not None:
        answer = types.connection(operation.item)
    else:
        answer = types.output(operation.result)
    # An operation that fails is null with its error: the others of the request keep their results.
    answer = Optional[answer]  # noqa: UP045
    _sign(described, [_argument(one, types) for one in operation.parameters], operation, answer)
    return described


def _resolve_by(operation: Operation, field: GraphQLField) -> None:
    """Resolve a field by its operation.

    graphql-core's arguments are JSON values by public names already. Strawberry's resolver would
    make objects of them first, only to be taken apart again.
    """
    public = {one.name: one.public for one in operation.parameters}
    public |= {"first": "first", "after": "after"} if operation.page is not None else {}
    public |= {"request_id": "requestId", "expected_version": "expectedVersion"}
    signed = field.extensions["strawberry-definition"].arguments
    names = {to_camel_case(one.python_name): public[one.python_name] for one in signed}
    kinds = {names[name]: argument.type for name, argument in field.args.items()}
    returns_nothing = operation.result is type(None)
    returns_page = operation.item is not None

    async def resolve(_source: Any, info: GraphQLResolveInfo[GraphQLContext], **given: Any) -> Any:
        context: GraphQLContext = info.context
        values = {
            (name := names[one]): plain_values(value, kinds[name]) for one, value in given.items()
        }
        result = await context.dispatch.call(
            operation, lambda: from_values(operation, values), context.caller, "graphql"
        )
        if returns_nothing:
            return True
        return PageConnection(result) if returns_page else result

    field.resolve = resolve


def _argument(one: Parameter, types: TypeRegistry) -> tuple[str, Any, bool]:
    return one.name, types.input(one.annotation), one.required


def _sign(
    function: Any, arguments: list[tuple[str, Any, bool]], operation: Operation, answer: Any
) -> None:
    """Give the resolver the signature that Strawberry reads the field's arguments from."""
    if operation.page is not None:
        arguments += [("first", int, False), ("after", str, False)]
    if operation.takes_request_id:
        arguments.append(("request_id", str, False))
    if operation.takes_version:
        arguments.append(("expected_version", int, False))
    kind = inspect.Parameter.KEYWORD_ONLY
    signed = [inspect.Parameter("info", kind, annotation=strawberry.Info)]
    for name, annotation, required in arguments:
        default: Any = inspect.Parameter.empty if required else strawberry.UNSET
        annotation = annotation if required else Optional[annotation]  # noqa: UP045
        signed.append(inspect.Parameter(name, kind, annotation=annotation, default=default))
    function.__signature__ = inspect.Signature(signed, return_annotation=answer)
    function.__annotations__ = {one.name: one.annotation for one in signed} | {"return": answer}


def _loading(related: RelatedField) -> Callable[..., Any]:
    async def load(root: Any, info: Any) -> Any:
        context: GraphQLContext = info.context
        context.parents[id(root)] = root
        return await context.loader(related).load(id(root))

    load.__annotations__ = {"root": Any, "info": strawberry.Info, "return": str}
    return load
