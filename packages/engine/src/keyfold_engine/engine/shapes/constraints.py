"""The second check of a request: lengths, ranges, patterns, required members."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, reduce
from typing import Any

from keyfold_engine.engine.dialects import Dialect
from keyfold_engine.engine.shapes.kinds import (
    Attribute,
    Boolean,
    ListOf,
    MapOf,
    Member,
    Number,
    Shape,
    Structure,
    Text,
)
from keyfold_engine.errors import RequestInvalid

_LISTED_AT_MOST = 10
_TEXTS_REMEMBERED = 256


Test = Callable[[Any], bool]


def fitting(shape: Shape) -> Test | None:
    """A quick test that a value breaks no constraint; None for shapes without any."""
    tests: list[Test] = [constraint.holds for constraint in shape.constraints]
    if isinstance(shape, ListOf) and (element := fitting(shape.element)):
        tests.append(_each(element, list))
    elif isinstance(shape, MapOf) and (content := fitting(shape.value)):
        tests.append(_each(content, dict.values))
    elif isinstance(shape, Structure):
        tests.append(_members(shape.members))
    if not tests:
        return None
    whole = reduce(_both, tests)
    # Names and enum values repeat.
    return lru_cache(_TEXTS_REMEMBERED)(whole) if isinstance(shape, Text) else whole


def _both(first: Test, second: Test) -> Test:
    return lambda value: first(value) and second(value)


def _each(test: Test, contents: Callable[[Any], Iterable[Any]]) -> Test:
    return lambda value: all(map(test, contents(value)))


def _members(members: Mapping[str, Member]) -> Test:
    needed = [
        name for name, member in members.items() if member.required or member.missing is not None
    ]
    tests = {name: test for name, member in members.items() if (test := fitting(member.shape))}
    filled = [name for name, member in members.items() if member.filled]

    def fits(value: dict[str, Any]) -> bool:
        for name in needed:
            if name not in value:
                return False
        for name in filled:
            if not value[name]:
                return False
        for name, content in value.items():
            if name in tests and not tests[name](content):
                return False
        return True

    return fits


def check(operation: str, shape: Structure, request: dict[str, Any], dialect: Dialect) -> None:
    """Refuse a request of the right types that breaks a constraint of its shape."""
    dialect = dialect.answering(operation, request)
    problems: list[str] = []
    alone = {
        name: member
        for name, member in shape.members.items()
        if member.alone and operation not in dialect.older
    }
    for name, member in shape.members.items():
        if member.missing is not None and _is_missing(member, request.get(name)):
            raise RequestInvalid(member.missing)
        if name in alone:
            told = list(_of_member(operation, name, member, shape, request, dialect))
            if told:
                raise dialect.broken_constraints(operation, told[:1])
    for name, words in dialect.enums.get(operation, {}).items():
        if any(_of_member(operation, name, shape.members[name], shape, request, dialect)):
            raise RequestInvalid(
                f"Failed to satisfy constraint: Member must satisfy enum value set: {words}"
            )
    for name, member in shape.members.items():
        if name not in alone:
            told = list(_of_member(operation, name, member, shape, request, dialect))
            problems.extend(told[:1] if member.alone else told)
    if problems:
        raise dialect.broken_constraints(operation, problems[:_LISTED_AT_MOST])


def _is_missing(member: Member, value: Any) -> bool:
    return value is None or (member.filled and not value)


def _of_member(
    operation: str,
    name: str,
    member: Member,
    shape: Structure,
    request: dict[str, Any],
    dialect: Dialect,
) -> Iterator[str]:
    value = request.get(name)
    if value is None and not member.required:
        return
    terse = dialect.is_terse(operation, name, value)
    yield from _of(member, value, name if terse else shape.spelled[name], terse)


def _of(member: Member, value: Any, place: str, terse: bool) -> Iterator[str]:
    if value is None:
        if member.required:
            told = "" if terse else " null"
            yield f"Value{told} at '{place}' failed to satisfy constraint: Member must not be null"
        return
    yield from _of_value(member.shape, value, place, terse)


def _of_value(shape: Shape, value: Any, place: str, terse: bool) -> Iterator[str]:
    for constraint in shape.constraints:
        if not constraint.holds(value):
            where, told = place, "" if terse else f" '{java_text(shape, value)}'"
            if constraint.shows is not None:
                where, told = place[0].lower() + place[1:], f" '{constraint.shows(value)}'"
            yield f"Value{told} at '{where}' failed to satisfy constraint: {constraint.text}"
    match shape:
        case ListOf(element) if not isinstance(element, Attribute):
            for position, each in enumerate(value, 1):
                yield from _of_value(element, each, f"{place}.{position}.member", terse)
        case MapOf(content) if not isinstance(content, Attribute):
            for key, each in value.items():
                yield from _of_value(content, each, f"{place}.{key}.member", terse)
        case Structure(_, members):
            for name, member in members.items():
                spelled = name if terse else shape.spelled[name]
                yield from _of(member, value.get(name), f"{place}.{spelled}", terse)


def java_text(shape: Shape, value: Any) -> str:
    """A value as DynamoDB's Java prints it in messages."""
    if value is None:
        return "null"
    match shape:
        case Text() | Number():
            return str(value)
        case Boolean():
            return "true" if value else "false"
        case Attribute():
            contents = (f"{kind.lower()}={content}" for kind, content in value.items())
            return f"AttributeValue({', '.join(contents)})"
        case ListOf(element):
            return f"[{', '.join(java_text(element, each) for each in value)}]"
        case MapOf(content):
            entries = (f"{key}={java_text(content, each)}" for key, each in value.items())
            return f"{{{', '.join(entries)}}}"
        case Structure(name, members):
            fields = (
                f"{shape.spelled[key]}={java_text(member.shape, value.get(key))}"
                for key, member in members.items()
            )
            return f"{name}({', '.join(fields)})"
