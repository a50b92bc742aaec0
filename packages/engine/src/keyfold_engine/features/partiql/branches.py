"""The alternatives of a WHERE clause that reads by key: DynamoDB reads each separately."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

from keyfold_engine.engine.read import key_range
from keyfold_engine.engine.tables import KeySchema
from keyfold_engine.errors import ValidationError
from keyfold_engine.expressions.ast import (
    And,
    Compare,
    Condition,
    In,
    KeyTerm,
    Not,
    Or,
    Path,
    paths,
)
from keyfold_engine.expressions.keys import KeySelection
from keyfold_engine.features.partiql.key_conditions import key_term
from keyfold_engine.limits import STATEMENT_READS
from keyfold_engine.values import AttributeValue

# A branch is a list of conditions that must all hold.
_Branch = tuple[Condition, ...]


def check_branches(where: Condition | None, schema: KeySchema) -> None:
    """Refuse too many alternatives, or alternatives that could find the same item."""
    if where is None or not _pins(where, schema) or _negates_sort(where, schema):
        return
    if _count(where, schema) > STATEMENT_READS:
        raise ValidationError("Too many decomposed read operations for a given query.")
    branches = _branches(where, schema)
    if not schema.sort or len(branches) < 2:
        return
    ranges = sorted(found for branch in branches if (found := _range(branch, schema)))
    for (_, end), (first, _) in pairwise(ranges):
        if first < end:
            raise ValidationError(
                "Overlapping conditions with range keys are not supported in where clause"
            )


def _pins(condition: Condition, schema: KeySchema) -> bool:
    """Whether every alternative fixes its partition."""
    match condition:
        case And(terms):
            return any(_pins(term, schema) for term in terms)
        case Or(terms):
            return all(_pins(term, schema) for term in terms)
        case In(operand):
            return operand == Path(schema.partition[:1]) and len(schema.partition) == 1
    term = key_term(condition, schema)
    return term is not None and term.operator == "=" and term.name in schema.partition


def _negates_sort(condition: Condition, schema: KeySchema) -> bool:
    """Whether a condition on the sort key is negative: then the whole partition is read."""
    match condition:
        case And(terms) | Or(terms):
            return any(_negates_sort(term, schema) for term in terms)
        case Not(_) | Compare("<>"):
            return any(path.root in schema.sort for path in paths(condition))
    return False


def _count(condition: Condition, schema: KeySchema) -> int:
    match condition:
        case And(terms):
            total = 1
            for term in terms:
                total *= _count(term, schema)
            return total
        case Or(terms) if _is_about_keys(condition, schema):
            return sum(_count(term, schema) for term in terms)
        case In(_, options) if _is_about_keys(condition, schema):
            return len(options)
    return 1


def _branches(condition: Condition, schema: KeySchema) -> list[_Branch]:
    match condition:
        case And(terms):
            parts = product(*(_branches(term, schema) for term in terms))
            return [tuple(each for part in branch for each in part) for branch in parts]
        case Or(terms) if _is_about_keys(condition, schema):
            return [branch for term in terms for branch in _branches(term, schema)]
        case In(operand, options) if _is_about_keys(condition, schema):
            return [(Compare("=", operand, option),) for option in options]
    return [(condition,)]


def _is_about_keys(condition: Condition, schema: KeySchema) -> bool:
    return any(path.root in schema.types for path in paths(condition))


def _range(branch: _Branch, schema: KeySchema) -> tuple[bytes, bytes] | None:
    """The places that a branch reads; None if it reads nothing."""
    partition: dict[str, AttributeValue] = {}
    for term in _terms(branch, schema, schema.partition):
        if term.operator == "=":
            partition[term.name] = term.values[0]
    place = schema.partition_place(partition)
    values = tuple(partition.values())
    first, end = key_range(KeySelection(values, (), None), place)
    for term in _terms(branch, schema, schema.sort[:1]):
        if term.operator == "=":
            selection = KeySelection(values, (term.values[0],), None)
        else:
            selection = KeySelection(values, (), term)
        low, high = key_range(selection, place)
        first, end = max(first, low), min(end, high)
    return (first, end) if first < end else None


def _terms(branch: _Branch, schema: KeySchema, names: tuple[str, ...]) -> Iterator[KeyTerm]:
    for condition in branch:
        term = key_term(condition, schema)
        if term is not None and term.name in names:
            yield term
