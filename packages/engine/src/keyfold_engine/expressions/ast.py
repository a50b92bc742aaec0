"""The tree for conditions, updates and projections.

A parsed tree holds placeholders (`NameRef`, `ValueRef`). A bound tree holds attribute names and
`Value`s, or `Placeholder`s where it is cached for use with other values. Execution takes bound
trees only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from keyfold_engine.values import AttributeValue


@dataclass(frozen=True, slots=True)
class NameRef:
    """A placeholder for an attribute name: `#n`."""

    text: str


@dataclass(frozen=True, slots=True)
class ValueRef:
    """A placeholder for a value: `:v`."""

    text: str


@dataclass(frozen=True, slots=True)
class Path:
    """A document path: attribute names and list indexes."""

    parts: tuple[str | int | NameRef, ...]

    @property
    def root(self) -> str:
        """The top-level attribute that a bound path starts from."""
        return str(self.parts[0])

    def __str__(self) -> str:
        steps = (f"[{part}]" if isinstance(part, int) else str(part) for part in self.parts)
        return f"[{', '.join(steps)}]"


@dataclass(frozen=True, slots=True)
class Value:
    """A wire value in a bound tree."""

    content: AttributeValue

    def __hash__(self) -> int:
        return hash(str(self.content))

    @property
    def kind(self) -> str:
        return next(iter(self.content))


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A value that comes with the request: its placeholder and required type."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function: a condition (`contains`) or an operand (`size`, `if_not_exists`)."""

    function: str
    arguments: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left + right` or `left - right`, in a SET action."""

    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Compare:
    """One of `=`, `<>`, `<`, `<=`, `>`, `>=`."""

    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Between:
    operand: Operand
    low: Operand
    high: Operand


@dataclass(frozen=True, slots=True)
class In:
    operand: Operand
    options: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class And:
    terms: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    terms: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    term: Condition


@dataclass(frozen=True, slots=True)
class SetAction:
    path: Path
    value: Operand | Arithmetic


@dataclass(frozen=True, slots=True)
class RemoveAction:
    path: Path


@dataclass(frozen=True, slots=True)
class AddAction:
    path: Path
    value: Value | ValueRef | Placeholder


@dataclass(frozen=True, slots=True)
class DeleteAction:
    path: Path
    value: Value | ValueRef | Placeholder


@dataclass(frozen=True, slots=True)
class UpdateActions:
    """The actions of an update, in the order they were written."""

    actions: tuple[Action, ...]
    type_mismatch: str = "An operand in the update expression has an incorrect data type"


@dataclass(frozen=True, slots=True)
class KeyTerm:
    """The condition on one key attribute."""

    name: str
    operator: str  # = < <= > >= BETWEEN begins_with
    values: tuple[AttributeValue, ...]


Operand: TypeAlias = Path | Value | ValueRef | Placeholder | Function
Condition: TypeAlias = And | Or | Not | Compare | Between | In | Function
Action: TypeAlias = SetAction | RemoveAction | AddAction | DeleteAction
Projection: TypeAlias = tuple[Path, ...]


def operands_of(test: Compare | Between | In | Function) -> tuple[Operand, ...]:
    """The operands of a single test, its subject first."""
    match test:
        case Compare(_, left, right):
            return (left, right)
        case Between(operand, low, high):
            return (operand, low, high)
        case In(operand, options):
            return (operand, *options)
        case Function(_, arguments):
            return arguments
