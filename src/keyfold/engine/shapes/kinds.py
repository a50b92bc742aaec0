"""The vocabulary that request shapes are written in.

The classes have no methods that nobody calls: dataclasses compile each one, and every start waits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias


@dataclass(eq=False, repr=False)
class Constraint:
    """One rule about a member's value and the words for breaking it."""

    text: str
    holds: Callable[[Any], bool]
    # How the value is shown, whatever the dialect, where that is not as Java prints it.
    shows: Callable[[Any], str] | None = None


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


def pattern(expression: str) -> Constraint:
    matches = re.compile(expression).fullmatch
    text = f"Member must satisfy regular expression pattern: {expression}"
    return Constraint(text, lambda value: matches(value) is not None)


def one_of(*choices: str) -> Constraint:
    allowed = frozenset(choices)
    text = f"Member must satisfy enum value set: [{', '.join(choices)}]"
    return Constraint(text, allowed.__contains__)


def map_values(*constraints: Constraint) -> Constraint:
    """Constraints on every value of a map, told as one about the map."""
    texts = ", ".join(constraint.text for constraint in constraints)
    return Constraint(
        f"Map value must satisfy constraint: [{texts}]",
        lambda entries: all(
            constraint.holds(entry) for entry in entries.values() for constraint in constraints
        ),
    )


def unless_arn(constraint: Constraint) -> Constraint:
    """A rule about names, where an ARN may stand for the name."""
    return Constraint(
        constraint.text, lambda value: value.startswith("arn:") or constraint.holds(value)
    )


@dataclass(eq=False, repr=False)
class Text:
    constraints: tuple[Constraint, ...] = ()


@dataclass(eq=False, repr=False)
class Number:
    """`java` is the type that messages name: Integer, Long or Double."""

    java: str = "Integer"
    constraints: tuple[Constraint, ...] = ()


@dataclass(eq=False, repr=False)
class Flag:
    constraints: tuple[Constraint, ...] = ()


@dataclass(eq=False, repr=False)
class Attribute:
    """An attribute value; its content has rules of its own, in `values.wire`."""

    constraints: tuple[Constraint, ...] = ()


@dataclass(eq=False, repr=False)
class ListOf:
    element: Shape
    constraints: tuple[Constraint, ...] = ()


@dataclass(eq=False, repr=False)
class MapOf:
    value: Shape
    java: str = "com.amazonaws.dynamodb.v20120810.AttributeValue"
    constraints: tuple[Constraint, ...] = ()


@dataclass(eq=False, repr=False)
class Member:
    shape: Shape
    required: bool = False
    # A message of its own for a member that is missing (or empty, where `filled`).
    missing: str | None = None
    filled: bool = False
    # Whether a broken constraint here is told alone, before any other member is looked at.
    alone: bool = False


@dataclass(eq=False, repr=False)
class Structure:
    name: str
    members: Mapping[str, Member] = field(default_factory=dict)
    constraints: tuple[Constraint, ...] = ()

    @cached_property
    def spelled(self) -> dict[str, str]:
        """Member names as messages spell them: the first letter small."""
        return {name: name[0].lower() + name[1:] for name in self.members}


Shape: TypeAlias = Text | Number | Flag | Attribute | ListOf | MapOf | Structure


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
