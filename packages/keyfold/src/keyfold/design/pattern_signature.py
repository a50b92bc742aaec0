"""The signature of an access pattern: it agrees with the plan, and says what a call may pass."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from types import NoneType
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from keyfold.design.item_collection import Collection
from keyfold.design.nearest import Nearest
from keyfold.design.parameter import MovedParam, Param
from keyfold.design.path_types import members
from keyfold.design.query import Projected, Query
from keyfold.design.query_merge import Merge
from keyfold.design.read import Get, GetMany, GetTogether, Read

_NUMBERS = (int, float, Decimal)
_TAKEN: dict[Any, tuple[type, ...]] = {
    str: (str, Enum),
    int: _NUMBERS,
    float: _NUMBERS,
    Decimal: _NUMBERS,
    bool: (bool,),
    bytes: (bytes, bytearray, memoryview),
    datetime: (datetime,),
    date: (date,),
    time: (time,),
    timedelta: (timedelta,),
    UUID: (UUID, str),
}
"""What a parameter of a type takes, where it is certain that everything else is a mistake."""
_TEXTS = (str, bytes, bytearray)
_LISTS = (list, tuple, set, frozenset)
_PLAIN = (str, bytes, bool, *_NUMBERS)


@dataclass(frozen=True)
class Accepted:
    """What a parameter accepts."""

    shown: str
    """Its type as it is written."""
    exact: frozenset[Any]
    """The usual types of its arguments, which need no closer look."""
    wide: tuple[type, ...] | None
    """Their classes; None if any class may be right."""
    several: bool
    """Whether it takes a list or another collection."""

    def takes(self, value: object) -> bool:
        if type(value) in self.exact:
            return True
        if value is None:
            return False
        if self.several and not isinstance(value, _TEXTS) and hasattr(value, "__iter__"):
            return True
        return self.wide is None or isinstance(value, self.wide)


def written_types(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function; Any for those that name what only type checkers see."""
    function = inspect.unwrap(function)
    known: dict[str, Any] = getattr(function, "__globals__", {})
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    cells = zip(names, getattr(function, "__closure__", None) or (), strict=False)
    near = {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}

    def resolved(written: Any) -> Any:
        if not isinstance(written, str):
            return written
        try:
            return eval(written, known, near)
        except (NameError, AttributeError, TypeError, SyntaxError):
            return Any

    given = getattr(function, "__annotations__", {})
    return {name: resolved(written) for name, written in given.items()}


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def signature_problems(
    function: Callable[..., Any], hints: Mapping[str, Any], read: Read[Any]
) -> Iterator[tuple[str, str]]:
    """Where a signature contradicts the plan, each with what to do."""
    if "return" not in hints and getattr(function, "__name__", "") != "<lambda>":
        yield (
            "it does not say what it returns.",
            f"Write -> {read_text(read)} after its parameters.",
        )
    if "return" in hints and not _describes(hints["return"], read):
        yield (
            f"it says that it returns {_type_text(function, 'return')}, but it returns "
            f"{read_text(read)}.",
            f"Write -> {read_text(read)}, or return another read.",
        )
    used = {param for param, _ in _uses(read)}
    size = getattr(read, "size", None)
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in used:
            yield (
                f"its parameter {name!r} is not used by what it reads.",
                "Use it in the key, in a range, a filter or the limit, or take it out.",
            )
        default = None if parameter.default is parameter.empty else parameter.default
        if isinstance(size, Param) and size.name == name:
            leaves = [*_leaves(hints.get(name, int))]
            typed = Any in leaves or any(
                isinstance(one, type) and issubclass(one, int) for one in leaves
            )
            if not typed:
                yield (
                    f"its limit {name!r} is of type {_type_text(function, name)}.",
                    f"Write {name}: int.",
                )
            if default is not None and (
                not isinstance(default, int) or isinstance(default, bool) or default < 1
            ):
                yield (
                    f"its limit {name!r} is {default!r} by default.",
                    f"Give a whole number of at least 1, as {name}: int = 50, or None.",
                )
            continue
        accepted = _accepted(hints.get(name, Any), _type_text(function, name))
        if default is not None and accepted is not None and not accepted.takes(default):
            yield (
                f"its parameter {name!r} is of type {accepted.shown}, but {default!r} by default.",
                "Change the type or the default.",
            )


def accepted_arguments(
    function: Callable[..., Any], hints: Mapping[str, Any], read: Read[Any]
) -> dict[str, Accepted]:
    """What each parameter accepts; the limit is checked where it is used."""
    size = getattr(read, "size", None)
    limit = size.name if isinstance(size, Param) else ""
    found: dict[str, Accepted] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints.get(name, Any)
        if parameter.default is None:
            hint = Union[hint, None]  # noqa: UP007
        accepted = _accepted(hint, _type_text(function, name))
        if accepted is not None and name != limit:
            found[name] = accepted
    return found


def _accepted(hint: Any, shown: str) -> Accepted | None:
    """What a type accepts; None if it says nothing."""
    exact: set[Any] = set()
    wide: list[type] | None = []
    several = False
    for one in members(hint):
        if get_origin(one) is Literal:
            kinds: tuple[type, ...] = tuple({type(value) for value in get_args(one)})
            kinds += tuple(kind for each in kinds for kind in _TAKEN.get(each, ()))
        elif one in _TAKEN:
            kinds = _TAKEN[one]
        elif one is NoneType or one is None:
            exact.add(NoneType)
            continue
        else:
            kind = get_origin(one) or one
            if not isinstance(kind, type) or kind in (Any, object):
                return None
            if issubclass(kind, Enum):
                values = {type(member.value) for member in kind}
                kinds = (kind, *values)
            elif issubclass(kind, _LISTS) or (issubclass(kind, Iterable) and get_args(one)):
                several, kinds = True, (kind, list, tuple)
            else:
                kinds, wide = (kind,), None
        exact.update(kinds)
        wide = None if wide is None else [*wide, *kinds]
    return Accepted(shown, frozenset(exact), None if wide is None else tuple(wide), several)


def own_types(read: Read[Any], name: str) -> tuple[type, ...]:
    """The types of the fields that a parameter is compared with.

    A filter does not tell its field: there it is any but the plain types.
    """
    places = {field for param, field in _uses(read) if param == name}
    found = [
        kind
        for entity in _stored(read)
        for field, info in entity.model_fields.items()
        for kind in _leaves(info.annotation)
        if field in places or ("" in places and kind not in _PLAIN)
    ]
    return tuple(kind for kind in found if not _is_open(kind))


def read_text(read: Read[Any]) -> str:
    """A read as an annotation: `Query[Room]`."""
    kind = type(read).__name__.removeprefix("Open")
    names = [one.__name__ for one in _returned(read)]
    if isinstance(read, GetTogether):
        return f"{kind}[tuple[{', '.join(f'{name} | None' for name in names)}]]"
    return f"{kind}[{' | '.join(dict.fromkeys(names))}]" if names else kind


def _returned(read: Any) -> tuple[type, ...]:
    """The classes of what a read returns."""
    if isinstance(read, Projected):
        return (read.view.model,)
    if isinstance(read, Nearest) and read.view is not None:
        return (read.view.model,)
    return tuple(map(_written, _stored(read)))


def _written(entity: type[Any]) -> type:
    """The entity as signatures name it: the second item of an edge is read as the edge."""
    edge = getattr(entity, "__maintainer__", None) if entity.__spec__.role == "edge" else None
    return entity if edge is None else edge.source


def _stored(read: Any) -> tuple[type[Any], ...]:
    """The entities that a read goes through."""
    if isinstance(read, Get):
        return (read.ref.entity,)
    if isinstance(read, GetMany | GetTogether):
        return tuple(ref.entity for ref in read.refs)
    if isinstance(read, Collection):
        return read.entities
    if isinstance(read, Merge):
        return tuple(key.entity for query in read.queries for key in query.keys)
    found = getattr(read, "query", read)
    return (found.entity,) if hasattr(found, "entity") else ()


def _describes(hint: Any, read: Read[Any]) -> bool:
    """Whether a return type is that of a read."""
    for one in members(hint):
        kind = get_origin(one) or one
        if one is None or one is NoneType:
            continue
        if _is_open(kind):
            return True
        named = [leaf for each in get_args(one) for leaf in _leaves(each)]
        named = [leaf for leaf in named if leaf not in (NoneType, None, ...)]
        if not isinstance(read, kind):
            continue
        if kind is Read or not named or any(_is_open(leaf) for leaf in named):
            return True
        if all(_is_named(entity, named) for entity in _returned(read)):
            return True
    return False


def _is_open(kind: Any) -> bool:
    """Whether a type says nothing that instances can be compared with."""
    unchecked = hasattr(kind, "__required_keys__") or getattr(kind, "_is_protocol", False)
    return kind is Any or not isinstance(kind, type) or unchecked


def _is_named(entity: type, named: Iterable[type]) -> bool:
    """Whether an entity is one of the classes; one that was declared again has its old name."""
    bases = {base.__name__ for base in entity.__mro__}
    return any(issubclass(entity, one) or one.__name__ in bases for one in named)


def _uses(value: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """The parameters in a plan, each with the field that it is compared with, if it is known."""
    if isinstance(value, MovedParam):
        yield from _uses(value.origin, field)
    elif isinstance(value, Param):
        yield value.name, field
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from _uses(one, name if isinstance(name, str) else field)
    elif isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from _uses(one, field)
    elif is_dataclass(value) and not isinstance(value, type):
        ranged = getattr(value, "ranged", None) if isinstance(value, Query | Collection) else None
        for each in fields(value):
            at = ranged if each.name in ("low", "high", "beginning") and ranged else field
            yield from _uses(getattr(value, each.name), at)


def _leaves(hint: Any) -> Iterator[Any]:
    """The types that a type is made of, without its containers."""
    for one in members(hint):
        inner = () if get_origin(one) is Literal else get_args(one)
        if not inner:
            yield one
        for each in inner:
            yield from _leaves(each)


def _type_text(function: Callable[..., Any], name: str) -> str:
    """A type as it is written in the signature."""
    written = getattr(inspect.unwrap(function), "__annotations__", {}).get(name, Any)
    if isinstance(written, str):
        return written
    plain = get_args(written)[0] if get_origin(written) is Annotated else written
    return inspect.formatannotation(plain).removeprefix("datetime.")
