"""Derives an operation from a decorated method's signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, create_model

from keyfold.errors import DeclarationError
from keyfold.streams import Change
from keyfold_web.identity import Identity
from keyfold_web.names import camel, placeholders, public_path
from keyfold_web.operation import REQUIRED, Declaration, Kind, Relation
from keyfold_web.page_request import (
    CURSOR_CHARACTERS,
    DEFAULT_LIMIT,
    MAX_LIMIT,
    PageRequest,
    page_item,
)
from keyfold_web.rules import Rule, check_rule

Place = Literal["path", "query", "body"]
PATH_CHARACTERS: Final = 1024
RESERVED_PATHS: Final = ("/app", "/docs", "/openapi.json", "/graphql", "/design")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that the caller passes."""

    name: str
    public: str
    annotation: Any
    place: Place
    default: Any = REQUIRED

    @property
    def required(self) -> bool:
        return self.default is REQUIRED


@dataclass(frozen=True)
class Operation:
    """One operation of a service, as data."""

    name: str
    kind: Kind
    verb: str
    path: str
    status: int
    allow: Rule
    function: Callable[..., Any]
    summary: str
    description: str
    parameters: tuple[Parameter, ...]
    body_parameter: str | None
    caller: str | None
    page: str | None
    takes_request_id: bool
    remembered: bool
    """Whether the dispatch stores its result per request id; otherwise that is up to the method."""
    takes_version: bool
    result: Any

    @cached_property
    def item(self) -> Any | None:
        """The type of a page's items, if the result is a page."""
        return page_item(self.result)

    @cached_property
    def taking_many(self) -> frozenset[str]:
        """The public names of parameters that may be repeated."""
        return frozenset(one.public for one in self.parameters if _takes_many(one.annotation))

    @cached_property
    def taking_one(self) -> frozenset[str]:
        """The public names of single-valued query parameters."""
        names = {one.public for one in self.parameters} - self.taking_many
        return frozenset(names | ({"limit", "cursor"} if self.page is not None else set()))

    @cached_property
    def null_left_out(self) -> frozenset[str]:
        """Arguments that GraphQL allows to be null, where null can only mean "not given"."""
        optional = (one for one in self.parameters if not one.required)
        names = (one.public for one in optional if not takes_none(one.annotation))
        return frozenset(names) | {"first"}

    @cached_property
    def in_body(self) -> frozenset[str]:
        """The public names of parameters in the body."""
        return frozenset(one.public for one in self.parameters if one.place == "body")

    @cached_property
    def takes_plain(self) -> bool:
        """Whether there are parameters outside the body."""
        return bool(self.plain.model_fields)

    @cached_property
    def plain(self) -> type[BaseModel]:
        """Path and query parameters, limit and cursor."""
        given = [one for one in self.parameters if one.place != "body"]
        fields = {one.name: _field(one) for one in given}
        if self.page is not None:
            limit = Annotated[int, Field(ge=1, le=MAX_LIMIT)]
            cursor = Annotated[str, StringConstraints(max_length=CURSOR_CHARACTERS)] | None
            fields["limit"] = (limit, Field(DEFAULT_LIMIT, description="How many at most."))
            fields["cursor"] = (cursor, Field(None, description="The cursor of the page before."))
        return _model(f"{self.name}Parameters", fields)

    @cached_property
    def body(self) -> TypeAdapter[Any] | None:
        """The validator of the JSON body."""
        if self.body_type is None:
            return None
        return TypeAdapter(self.body_type)

    @cached_property
    def body_type(self) -> Any | None:
        """The type of the JSON body: a model parameter's, or one built from the plain ones."""
        given = [one for one in self.parameters if one.place == "body"]
        if self.body_parameter is not None:
            return next(one.annotation for one in given if one.name == self.body_parameter)
        if not given:
            return None
        title = self.name[0].upper() + self.name[1:]
        return _model(f"{title}Body", {one.name: _field(one) for one in given})

    @cached_property
    def answer(self) -> TypeAdapter[Any]:
        """The serialiser of the result."""
        return TypeAdapter(self.result)

    @cached_property
    def items_answer(self) -> TypeAdapter[Any]:
        """The serialiser of a page's items."""
        return TypeAdapter(list[self.item])  # type: ignore[name-defined]


def in_routing_order(operations: Mapping[str, Operation]) -> list[Operation]:
    """Literal segments before placeholders, so that `/rooms/mine` is not the room "mine".

    Mixed segments come between: `/days/{a}-{b}` before `/days/{day}`.
    """
    return sorted(
        operations.values(),
        key=lambda one: [_openness(part) for part in one.path.split("/")],
    )


def _openness(segment: str) -> int:
    return ("{" in segment) + (placeholders(segment) == [segment[1:-1]])


def _field(parameter: Parameter) -> Any:
    default = ... if parameter.required else parameter.default
    annotation = parameter.annotation
    if parameter.place == "path" and _bare(annotation) is str:
        bounds = StringConstraints(min_length=1, max_length=PATH_CHARACTERS)
        annotation = Annotated[annotation, bounds]
    return (annotation, Field(default, alias=parameter.public))


def _model(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    config = ConfigDict(extra="forbid", frozen=True)
    return create_model(name, __config__=config, **fields)


@dataclass(frozen=True, slots=True)
class RelatedField:
    """A GraphQL field of a parent type, loaded in batches."""

    name: str
    parent: type
    result: Any
    function: Callable[..., Any]
    description: str
    takes_caller: bool


def read_operation(function: Callable[..., Any], *, idempotent: bool) -> Operation:
    """The operation that a decorated method declares; refuses invalid declarations."""
    declared: Declaration = function.__operation__  # type: ignore[attr-defined]
    return _Reader(function, declared).operation(idempotent)


def read_signature(
    function: Callable[..., Any], declared: Declaration
) -> tuple[Operation, str | None]:
    """A subscription's arguments, rule and result, and the parameter that receives the change."""
    reader = _Reader(function, declared)
    return reader.operation(idempotent=False), reader.change


def read_related(function: Callable[..., Any]) -> RelatedField:
    """The batched field that a `@related` method declares."""
    declared: Relation = function.__related__  # type: ignore[attr-defined]
    result = get_args(_hints(function).get("return"))
    if len(result) != 1:
        raise DeclarationError(
            "O2", "a related field must return a list.", place=function.__qualname__
        )
    return RelatedField(
        declared.name or camel(function.__name__),
        declared.parent,
        result[0],
        function,
        inspect.getdoc(function) or "",
        "caller" in inspect.signature(function).parameters,
    )


class _Reader:
    def __init__(self, function: Callable[..., Any], declared: Declaration) -> None:
        self.function, self.declared = function, declared
        self.hints = _hints(function)
        self.in_path = placeholders(declared.path)
        self.parameters: list[Parameter] = []
        self.caller: str | None = None
        self.page: str | None = None
        self.change: str | None = None
        self.takes_request_id = self.takes_version = False

    def refuse(self, code: str, message: str) -> DeclarationError:
        return DeclarationError(code, message, place=self.function.__qualname__)

    def operation(self, idempotent: bool) -> Operation:
        self.check_path()
        self.declared.check(self.function.__qualname__)
        for one in list(inspect.signature(self.function).parameters.values())[1:]:
            self.take(one)
        names = [one.name for one in self.parameters]
        if missing := [name for name in self.in_path if name not in names]:
            raise self.refuse("O3", f"the path names {missing}, which are not parameters.")
        known = {one.name: _bare(one.annotation) for one in self.parameters}
        check_rule(self.declared.allow, known, self.function.__qualname__)
        model = self.body_model()
        if "return" not in self.hints:
            raise self.refuse(
                "O4", "the result has no type; annotate it, with None if it returns nothing."
            )
        result = self.hints["return"]
        declared = self.declared
        if self.page is not None and page_item(result) is None:
            raise self.refuse("O5", "it takes a PageRequest, so it must return Page[...].")
        remembered = (
            idempotent
            and declared.kind == "mutation"
            and declared.remembered
            and not self.takes_request_id
        )
        summary, _, description = (inspect.getdoc(self.function) or "").partition("\n")
        return Operation(
            name=declared.name or camel(self.function.__name__),
            kind=declared.kind,
            verb=declared.verb,
            path=public_path(declared.path),
            status=declared.status or (204 if result is type(None) else 200),
            allow=declared.allow,
            function=self.function,
            summary=summary,
            description=description.strip(),
            parameters=tuple(self.parameters),
            body_parameter=model,
            caller=self.caller,
            page=self.page,
            takes_request_id=self.takes_request_id or remembered,
            remembered=remembered,
            takes_version=self.takes_version,
            result=result,
        )

    def check_path(self) -> None:
        path = self.declared.path
        if not path.startswith("/") or path.endswith("/"):
            raise self.refuse("O6", f"path {path!r} must start with / and not end with it.")
        if path in RESERVED_PATHS:
            raise self.refuse("O7", f"path {path!r} is taken by the service's own pages.")

    def take(self, one: inspect.Parameter) -> None:
        if one.name not in self.hints:
            raise self.refuse("O4", f"parameter {one.name!r} has no type.")
        annotation = self.hints[one.name]
        if annotation is Identity:
            self.caller = one.name
        elif annotation is PageRequest:
            self.page = one.name
        elif (get_origin(annotation) or annotation) is Change:
            self.change = one.name
        elif one.name == "request_id":
            self.takes_request_id = True
        elif one.name == "expected_version":
            self.takes_version = True
        else:
            place = self.place(one.name, annotation)
            public = camel(one.name)
            self.parameters.append(Parameter(one.name, public, annotation, place, one.default))

    def place(self, name: str, annotation: Any) -> Place:
        if name in self.in_path:
            return "path"
        if _holds_model(annotation):
            if self.declared.verb in ("GET", "DELETE"):
                raise self.refuse(
                    "O8", f"{name!r} is a model, and {self.declared.verb} has no body."
                )
            return "body"
        return "query" if self.declared.verb in ("GET", "DELETE") else "body"

    def body_model(self) -> str | None:
        in_body = [one for one in self.parameters if one.place == "body"]
        models = [one.name for one in in_body if _holds_model(one.annotation)]
        if models and len(in_body) > 1:
            names = [one.name for one in in_body]
            raise self.refuse("O9", f"a model is the whole body, so {names} cannot be in it too.")
        return models[0] if models else None


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as unknown:
        raise DeclarationError(
            "O4",
            f"a type in its signature is not known here: {unknown}.",
            place=function.__qualname__,
            suggestion="Import it at the top of the module, not under TYPE_CHECKING.",
        ) from unknown


def takes_none(annotation: Any) -> bool:
    """Whether None is a value of this type."""
    if annotation is None or annotation is type(None) or annotation is Any:
        return True
    return get_origin(annotation) in (Annotated, Union, UnionType) and any(
        takes_none(one) for one in get_args(annotation)
    )


def _takes_many(annotation: Any) -> bool:
    if get_origin(annotation) in (list, set, frozenset, tuple):
        return True
    return any(_takes_many(one) for one in get_args(annotation))


def _bare(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _holds_model(annotation: Any) -> bool:
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return issubclass(annotation, BaseModel)
    return any(_holds_model(one) for one in get_args(annotation))
