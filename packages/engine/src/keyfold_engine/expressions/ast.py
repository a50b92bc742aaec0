"""The tree for conditions, updates and projections.

A parsed tree holds placeholders (`NameRef`, `ValueRef`). A bound tree holds attribute names and
`Value`s, or `Placeholder`s where it is cached for use with other values. Execution takes bound
trees only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast, overload

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


Node: TypeAlias = Condition | Operand | Arithmetic
N = TypeVar("N", bound=Node)


@overload
def parts(node: Compare | Between | In | Function) -> tuple[Operand, ...]: ...
@overload
def parts(node: Node) -> tuple[Node, ...]: ...


def parts(node: Node) -> tuple[Node, ...]:
    """The conditions and operands right inside a node, in order."""
    match node:
        case And(inner) | Or(inner) | Function(_, inner):
            return inner
        case Not(term):
            return (term,)
        case Compare(_, left, right) | Arithmetic(_, left, right):
            return (left, right)
        case Between(operand, low, high):
            return (operand, low, high)
        case In(operand, options):
            return (operand, *options)
    return ()


def mapped(node: N, change: Callable[[Any], Any]) -> N:
    """The node with each of its parts changed; one without parts as it is."""
    inner, kind = tuple(map(change, parts(node))), cast("Any", type(node))
    match node:
        case And() | Or():
            return cast("N", kind(inner))
        case Function(name):
            return cast("N", kind(name, inner))
        case In():
            return cast("N", kind(inner[0], inner[1:]))
        case Not() | Between():
            return cast("N", kind(*inner))
        case Compare(operator) | Arithmetic(operator):
            return cast("N", kind(operator, *inner))
    return node


def walk(node: Node) -> Iterator[Node]:
    """The node and everything inside it, in order."""
    yield node
    for part in parts(node):
        yield from walk(part)


def paths(node: Node) -> Iterator[Path]:
    """All paths in a tree, in order."""
    return (each for each in walk(node) if isinstance(each, Path))


def roots(node: Node) -> Iterator[str]:
    """The top-level attributes of all paths in a bound tree, in order."""
    return (path.root for path in paths(node))
