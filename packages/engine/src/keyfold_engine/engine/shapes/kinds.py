"""The vocabulary of request shapes.

Plain classes: dataclasses would compile methods for each at every start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeAlias


class Constraint:
    """A rule about a member's value and its message.

    `shows` is how the value is printed, whatever the dialect, where that differs from Java.
    """

    __slots__ = ("holds", "shows", "text")

    def __init__(
        self, text: str, holds: Callable[[Any], bool], shows: Callable[[Any], str] | None = None
    ) -> None:
        self.text, self.holds, self.shows = text, holds, shows


def at_least(length: int) -> Constraint:
    text = f"Member must have length greater than or equal to {length}"
    return Constraint(text, lambda value: len(value) >= length)


def at_most(length: int) -> Constraint:
    text = f"Member must have length less than or equal to {length}"
    return Constraint(text, lambda value: len(value) <= length)


def not_below(number: int) -> Constraint:
    text = f"Member must have value greater than or equal to {number}"
    return Constraint(text, lambda value: value >= number)


def not_above(number: int) -> Constraint:
    text = f"Member must have value less than or equal to {number}"
    return Constraint(text, lambda value: value <= number)


def pattern(expression: str, *, linear: str = "") -> Constraint:
    """A pattern in DynamoDB's words; `linear` is one that takes the same texts, however long."""
    matches = re.compile(linear or expression).fullmatch
    text = f"Member must satisfy regular expression pattern: {expression}"
    return Constraint(text, lambda value: matches(value) is not None)


def one_of(*choices: str) -> Constraint:
    allowed = frozenset(choices)
    text = f"Member must satisfy enum value set: [{', '.join(choices)}]"
    return Constraint(text, allowed.__contains__)


def map_values(*constraints: Constraint) -> Constraint:
    """Constraints on every value of a map, reported as one about the map."""
    texts = ", ".join(constraint.text for constraint in constraints)
    return Constraint(
        f"Map value must satisfy constraint: [{texts}]",
        lambda entries: all(
            constraint.holds(entry) for entry in entries.values() for constraint in constraints
        ),
    )


def unless_arn(constraint: Constraint) -> Constraint:
    """A rule about names that also accepts an ARN."""
    return Constraint(
        constraint.text, lambda value: value.startswith("arn:") or constraint.holds(value)
    )


class _Simple:
    __slots__ = ("constraints",)
    __match_args__ = ("constraints",)

    def __init__(self, constraints: tuple[Constraint, ...] = ()) -> None:
        self.constraints = constraints


class Text(_Simple):
    __slots__ = ()


class Boolean(_Simple):
    __slots__ = ()


class Attribute(_Simple):
    """An attribute value; `values.wire` validates its content."""

    __slots__ = ()


class Number:
    """`java` is the type that messages name: Integer, Long or Double."""

    __slots__ = ("constraints", "java")
    __match_args__ = ("java", "constraints")

    def __init__(self, java: str = "Integer", constraints: tuple[Constraint, ...] = ()) -> None:
        self.java, self.constraints = java, constraints


class ListOf:
    __slots__ = ("constraints", "element")
    __match_args__ = ("element", "constraints")

    def __init__(self, element: Shape, constraints: tuple[Constraint, ...] = ()) -> None:
        self.element, self.constraints = element, constraints


class MapOf:
    __slots__ = ("constraints", "java", "value")
    __match_args__ = ("value", "java", "constraints")

    def __init__(
        self,
        value: Shape,
        java: str = "com.amazonaws.dynamodb.v20120810.AttributeValue",
        constraints: tuple[Constraint, ...] = (),
    ) -> None:
        self.value, self.java, self.constraints = value, java, constraints


class Member:
    """`missing` is a special message for a missing member (or an empty one, if `filled`).

    A broken constraint of an `alone` member is reported before any other member is checked.
    """

    __slots__ = ("alone", "filled", "missing", "required", "shape")

    def __init__(
        self,
        shape: Shape,
        required: bool = False,
        missing: str | None = None,
        filled: bool = False,
        alone: bool = False,
    ) -> None:
        self.shape, self.required, self.missing = shape, required, missing
        self.filled, self.alone = filled, alone


class Structure:
    __match_args__ = ("name", "members", "constraints")

    def __init__(
        self,
        name: str,
        members: Mapping[str, Member] | None = None,
        constraints: tuple[Constraint, ...] = (),
    ) -> None:
        self.name, self.members, self.constraints = name, members or {}, constraints

    @cached_property
    def spelled(self) -> dict[str, str]:
        """Member names as messages spell them: with a lower-case first letter."""
        return {name: name[0].lower() + name[1:] for name in self.members}


Shape: TypeAlias = Text | Number | Boolean | Attribute | ListOf | MapOf | Structure


def structure(name: str, **members: Member | Shape) -> Structure:
    """A structure; bare shapes are optional members."""
    return Structure(
        name,
        {
            key: member if isinstance(member, Member) else Member(member)
            for key, member in members.items()
        },
    )


def text(*constraints: Constraint) -> Text:
    return Text(constraints)


def integer(*constraints: Constraint) -> Number:
    return Number("Integer", constraints)


def long(*constraints: Constraint) -> Number:
    return Number("Long", constraints)


def list_of(element: Shape, *constraints: Constraint) -> ListOf:
    return ListOf(element, constraints)


def map_of(value: Shape, *constraints: Constraint) -> MapOf:
    java = "java.lang.String"
    if not isinstance(value, Text):
        name = value.name if isinstance(value, Structure) else "AttributeValue"
        java = f"com.amazonaws.dynamodb.v20120810.{name}"
    return MapOf(value, java, constraints)


def required(shape: Shape) -> Member:
    return Member(shape, required=True)
