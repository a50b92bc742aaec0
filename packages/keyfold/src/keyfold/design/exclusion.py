"""Which conditions exclude each other, as far as that can be proven."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from keyfold.design.schema import AttributeSchema, EntitySchema
from keyfold_engine.expressions.ast import (
    And,
    Between,
    Compare,
    Condition,
    Function,
    In,
    Not,
    Operand,
    Or,
    Path,
    Value,
    parts,
)
from keyfold_engine.expressions.text import operand
from keyfold_engine.values.key_order import sort_key

if TYPE_CHECKING:
    from keyfold.design.entity_spec import EntitySpec

MOST_BRANCHES: Final = 256
Single = Compare | Between | In | Function
Limit = tuple[tuple[str, Any], bool]
"""A value with its type, and whether the bound is inclusive."""
_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def excludes(one: Condition, other: Condition, spec: EntitySpec | EntitySchema) -> bool:
    """Whether no item can satisfy both; False where that cannot be proven."""
    try:
        pairs = product(_branches(one), _branches(other))
    except _TooMany:
        return False
    return all(_is_empty((*left, *right), spec) for left, right in pairs)


class _TooMany(Exception):
    """The condition has more alternatives than are examined."""


def _is_empty(tests: tuple[Single, ...], spec: EntitySpec | EntitySchema) -> bool:
    spans: dict[str, Span] = {}
    for test in tests:
        subject = parts(test)[0]
        if isinstance(subject, Path):
            name = operand(subject)
            if name not in spans:
                spans[name] = _declared_span(spec, name)
            spans[name].narrow(test)
    return any(span.empty for span in spans.values())


def _branches(condition: Condition, *, negated: bool = False) -> list[list[Single]]:
    """The condition as alternatives, each a list of single tests."""
    if isinstance(condition, Not):
        return _branches(condition.term, negated=not negated)
    if isinstance(condition, And | Or):
        sides = [_branches(term, negated=negated) for term in condition.terms]
        if isinstance(condition, Or) != negated:
            return [branch for side in sides for branch in side]
        count = 1
        for side in sides:
            count *= len(side)
        if count > MOST_BRANCHES:
            raise _TooMany
        return [[test for side in chosen for test in side] for chosen in product(*sides)]
    return list(_failures(condition)) if negated else [[condition]]


def _failures(test: Single) -> Iterator[list[Single]]:
    """The ways a test can fail."""
    subject = parts(test)[0]
    there = Function("attribute_exists", (subject,))
    missing = Function("attribute_not_exists", (subject,))
    match test:
        case Function("attribute_exists", _):
            yield [missing]
        case Function("attribute_not_exists", _):
            yield [there]
        case Compare(("=" | "<>") as operator, left, right):
            yield [Compare(_OPPOSITE[operator], left, right)]
        case Compare(operator, left, right):
            yield [missing]
            yield [Compare(_OPPOSITE[operator], left, right)]
        case In(left, options):
            yield [Compare("<>", left, option) for option in options]
        case Between(left, low, high):
            yield [missing]
            yield [Compare("<", left, low)]
            yield [Compare(">", left, high)]
        case _:  # Nothing is known about values without this prefix.
            yield [missing]
            yield [there]


@dataclass
class Span:
    """The possible values of one path in one branch of a condition."""

    missing: bool = True
    there: bool = True
    only: set[str] | None = None
    """The possible values, as text; None for any."""
    never: set[str] = field(default_factory=set)
    known: dict[str, tuple[str, Any]] = field(default_factory=dict)
    low: Limit | None = None
    high: Limit | None = None

    def narrow(self, test: Single) -> None:
        _, *given = parts(test)
        match test:
            case Function("attribute_not_exists", _):
                self.there = False
                return
            case Compare("<>", _, right):
                # A missing value differs from every value.
                if isinstance(right, Value):
                    self.never.add(operand(right))
                return
        self.missing = False
        values = [one for one in given if isinstance(one, Value)]
        if isinstance(test, Function) or len(values) != len(given):
            return
        match test:
            case In() | Compare("=", _, _):
                wanted = {operand(value): _order(value) for value in values}
                self.known |= wanted
                self.only = {*wanted} if self.only is None else self.only & wanted.keys()
            case Between():
                self._above((_order(values[0]), True))
                self._below((_order(values[1]), True))
            case Compare((">" | ">=") as operator, _, _):
                self._above((_order(values[0]), operator == ">="))
            case Compare(operator, _, _):
                self._below((_order(values[0]), operator == "<="))

    def _above(self, low: Limit) -> None:
        if self.low is None or _tighter(low, self.low, up=True):
            self.low = low

    def _below(self, high: Limit) -> None:
        if self.high is None or _tighter(high, self.high, up=False):
            self.high = high

    @property
    def empty(self) -> bool:
        if self.missing:
            return False
        if not self.there:
            return True
        if self.only is not None:
            return not any(one not in self.never and self._fits(one) for one in self.only)
        if self.low is None or self.high is None:
            return False
        (low, with_low), (high, with_high) = self.low, self.high
        return low[0] != high[0] or low > high or (low == high and not (with_low and with_high))

    def _fits(self, text: str) -> bool:
        """Whether a value is within the bounds."""
        value = self.known.get(text)
        for bound, sign in ((self.low, 1), (self.high, -1)):
            if bound is None or value is None:
                continue
            edge, inclusive = bound
            if value[0] != edge[0] or (value == edge and not inclusive):
                return False
            if value != edge and (value > edge) != (sign == 1):
                return False
        return True


def _tighter(new: Limit, old: Limit, *, up: bool) -> bool:
    if new[0][0] != old[0][0]:
        return False
    if new[0] == old[0]:
        return old[1] and not new[1]
    return (new[0] > old[0]) == up


def _order(value: Operand) -> tuple[str, Any]:
    assert isinstance(value, Value)
    return value.kind, sort_key(value.content) if value.kind in ("S", "N", "B") else None


def _declared_span(spec: EntitySpec | EntitySchema, name: str) -> Span:
    """The values a field can have by its declaration: required, an enum, a boolean."""
    fields = spec.by_field if isinstance(spec, EntitySchema) else spec.fields
    found = fields.get(name)
    if found is None:
        return Span()
    kind = found.type if isinstance(found, AttributeSchema) else found.kind
    values = [Value({"S": one}) for one in found.values]
    if kind == "boolean":
        values = [Value({"BOOL": True}), Value({"BOOL": False})]
    known = {operand(value): _order(value) for value in values}
    may_miss = found.optional or kind.endswith("_set")
    return Span(missing=may_miss, only={*known} or None, known=known)
