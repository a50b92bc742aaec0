"""Converts frozen design records from and to plain YAML, by their type hints."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from keyfold.design import shorthand
from keyfold.design.condition import parse_condition, there
from keyfold.design.flow import Action
from keyfold.design.nodes import Node
from keyfold.design.schema import INTENTS, Effect, Intent, Place, Silence
from keyfold.design.template import Template, template_text
from keyfold.design.template import template as parse_text
from keyfold.errors import DeclarationError, RequestInvalid
from keyfold.settings import nearest
from keyfold_engine.expressions.ast import And, Between, Compare, Condition, Function, In, Not, Or
from keyfold_engine.expressions.text import condition_text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

SPELLED = {"silences": "silence", "effects": "does", "intents": "on_purpose"}
"""Fields that have another name in a design file."""

_KEY = "a key such as ROOM#{roomId}"
_FREE = ("values", "start", "final")
"""Lists of values rather than names: YAML numbers and booleans are text here too."""

_WORDS = {str: "text", int: "a number", float: "a number", bool: "true or false"}


@cache
def hints(kind: type) -> dict[str, Any]:
    """The fields of a record that a file can state, under the file's names."""
    found = get_type_hints(kind)
    return {
        SPELLED.get(field.name, field.name): (field.name, found[field.name])
        for field in dataclasses.fields(kind)
        if field.name != "place"
    }


def read(kind: type[Any], value: Node, *, also: dict[str, Any] | None = None) -> dict[str, Any]:
    """The fields of `kind` that a mapping states.

    `also` adds words with their own readers, each returning a mapping of fields.
    """
    known = hints(kind)  # type: ignore[arg-type]  # mypy: a class is hashable
    special: dict[str, Callable[[Node], dict[str, Any]]] = also or {}
    stated: dict[str, Any] = {}
    for word, inner in fields(kind, value, special):
        if word in special:
            stated.update(special[word](inner))
            continue
        field, hint = known[word]
        stated[field] = convert(hint, inner, word)
        if stated[field] == "" and required(kind).get(field):
            inner.refuse(f"{word} of {_noun(kind)} is empty")
    if any(f.name == "place" for f in dataclasses.fields(kind)):
        stated["place"] = value.place
    return stated


def fields(kind: type[Any], value: Node, also: Iterable[str]) -> list[tuple[str, Node]]:
    """The words of a mapping with their values, all of them known to `kind`."""
    words = {*hints(kind), *also}  # type: ignore[arg-type]  # as above
    found: list[tuple[str, Node]] = []
    for name, inner in value.items(f"the fields of {_noun(kind)}"):
        word = name.text("a field name")
        if word not in words:
            name.refuse(f"{_noun(kind)} has no field {word!r}; {nearest(word, words)}")
        found.append((word, inner))
    return found


def required(kind: type[Any]) -> dict[str, bool]:
    """The required fields of a record, and whether they must not be empty."""
    missing = dataclasses.MISSING
    return {
        field.name: not field.metadata.get("may_be_empty")
        for field in dataclasses.fields(kind)
        if field.default is missing and field.default_factory is missing
    }


def is_named(kind: Any) -> bool:
    """Whether several records of a kind are a mapping of their names in a file."""
    return dataclasses.is_dataclass(kind) and dataclasses.fields(kind)[0].name == "name"


def named(value: Node | None, read: Callable[[str, Node], T]) -> tuple[T, ...]:
    """Records by their names."""
    if value is None:
        return ()
    # A block mapping starts below its name; report the name's position.
    return tuple(
        replace(read(name.filled("a name"), inner), place=name.place)
        for name, inner in value.items("names with their fields")
    )


def record(kind: type[T], name: str, value: Node) -> T:
    built: T = build(kind, {**read(kind, value), "name": name}, value)
    return built


def build(kind: type[Any], stated: dict[str, Any], value: Node) -> Any:
    """The record; names a missing field in the error."""
    for field in required(kind):
        if field not in stated:
            value.refuse(f"{_noun(kind)} needs a field {SPELLED.get(field, field)!r}")
    return kind(**stated)


def convert(hint: Any, value: Node, what: str) -> Any:
    """One value, converted to its field's type."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        if value.is_nothing:
            return None
        if And in get_args(hint):
            return condition(value)
        inner = [a for a in get_args(hint) if a is not type(None)]
        return convert(inner[0], value, what)
    if origin is Literal:
        choices = [str(choice) for choice in get_args(hint)]
        word = value.text(f"one of {', '.join(choices)}")
        if word not in choices:
            value.refuse(f"{what} cannot be {word!r}; {nearest(word, choices)}")
        return word
    if origin is tuple and get_args(hint)[0] is Intent:
        return tuple(_intents(value))
    if origin is tuple and get_args(hint)[0] is str:
        free = what in _FREE
        return tuple(e.text(what) if free else e.name(what) for e in value.elements(what))
    if origin is tuple and is_named(get_args(hint)[0]):
        return named(value, partial(record, get_args(hint)[0]))
    if origin is tuple:
        return tuple(convert(get_args(hint)[0], each, what) for each in value.elements(what))
    if hint is Template:
        return _template(value)
    if hint is Effect and not value.is_mapping:
        return effect(value)
    if hint is Silence:
        return replace(build(hint, read(hint, value), value), place=_place_of(value, "code"))
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return build(hint, read(hint, value), value)
    return _scalar(hint, value, what)


def _intents(value: Node) -> Iterator[Intent]:
    """`on_purpose: {shared key: users and organisations are accounts}`."""
    for name, inner in value.items("what is on purpose, with its reason"):
        what = name.text(f"one of {', '.join(INTENTS)}")
        if what not in INTENTS:
            name.refuse(f"on_purpose cannot be {what!r}; {nearest(what, INTENTS)}")
        reason = inner.text("the reason").strip()
        if not reason or inner.is_value:
            inner.refuse(f"on_purpose needs a reason for {what!r}")
        yield Intent(what, reason)


def _place_of(value: Node, word: str) -> Place:
    """The position of a word's value in a mapping."""
    return next(inner.place for name, inner in value.items("fields") if name.text("") == word)


def template(value: Node) -> Template:
    """A key template, which must not be empty."""
    if not value.text(_KEY):
        value.refuse(f"expected {_KEY}, found empty text")
    return _template(value)


def _template(value: Node) -> Template:
    text = value.text(_KEY)
    try:
        return parse_text(text)
    except DeclarationError as error:
        value.refuse(f"{error.message} {error.suggestion}")


def condition(value: Node) -> Condition | None:
    """A condition such as `state = "open"`, or the fields that must have values."""
    if value.is_list:
        named = [each.text("a field") for each in value.elements("fields")]
        return there(*named)
    text = value.text('a condition such as: state = "open"')
    try:
        return parse_condition(text)
    except RequestInvalid as problem:
        value.refuse(
            f"{text!r} is not a condition: {problem}. Write comparisons with =, <>, <, <=, > and "
            ">=, IN, BETWEEN, attribute_exists, begins_with and contains, joined by AND, OR and NOT"
        )


def effect(value: Node) -> Effect:
    text = value.text("a write such as: create Message")
    found = shorthand.effect(text)
    action = text.split()[0] if text.split() else ""
    if found is None and action not in get_args(Action):
        value.refuse(f"{text!r}: unknown action {action!r}; {nearest(action, get_args(Action))}")
    if found is None:
        value.refuse(
            f"{text!r} is not a write; use ACTION [each] Entity [(fields)] [guarded | unguarded] "
            "[via Index] "
            "with put, create, update, delete, increment or decrement"
        )
    return found


def _scalar(hint: Any, value: Node, what: str) -> Any:
    if hint is str:
        if value.is_value:
            value.refuse(f"{what} must be text, found {value.kind}; put it in quotes if it is text")
        return value.text(f"{what} as text")
    found = value.scalar(_WORDS[hint])
    if hint is float and isinstance(found, int) and not isinstance(found, bool):
        return float(found)
    if type(found) is not hint:
        value.refuse(f"{what} must be {_WORDS[hint]}, found {value.kind}")
    return found


def _noun(kind: type) -> str:
    name = (kind.__name__.removesuffix("Schema") or "design").lower()
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def as_yaml(record: Any, *, skip: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields of a record that differ from their defaults, ready for YAML."""
    stated: dict[str, Any] = {}
    kind = type(record)
    for word, (name, _) in hints(kind).items():  # type: ignore[arg-type]  # as above
        if name in skip:
            continue
        found = getattr(record, name)
        field = next(f for f in dataclasses.fields(record) if f.name == name)
        if found != field.default:
            stated[word] = yaml_value(found)
    return stated


def yaml_value(found: Any) -> Any:
    if isinstance(found, Template):
        return template_text(found)
    if isinstance(found, Or | And | Not | Compare | Between | In | Function):
        return condition_text(found)
    if isinstance(found, Effect):
        return shorthand.effect_text(found)
    if isinstance(found, tuple) and found and isinstance(found[0], Intent):
        return {intent.what: intent.reason for intent in found}
    if isinstance(found, tuple) and found and is_named(found[0]):
        return {each.name: as_yaml(each, skip=("name",)) for each in found}
    if isinstance(found, tuple):
        return [yaml_value(each) for each in found]
    if dataclasses.is_dataclass(found):
        return as_yaml(found)
    return found
