"""Which keys a WHERE clause selects, and what remains to check."""

from __future__ import annotations

from keyfold_engine.engine.tables import KeySchema
from keyfold_engine.errors import ValidationError
from keyfold_engine.expressions.ast import (
    And,
    Between,
    Compare,
    Condition,
    Function,
    In,
    KeyTerm,
    Path,
    Value,
)
from keyfold_engine.expressions.keys import KeySelection
from keyfold_engine.values import AttributeValue, Item

_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def conjuncts(where: Condition | None) -> tuple[Condition, ...]:
    """The conditions that must all hold."""
    if where is None:
        return ()
    if isinstance(where, And):
        return tuple(part for term in where.terms for part in conjuncts(term))
    return (where,)


def selections(where: Condition | None, schema: KeySchema) -> list[KeySelection] | None:
    """The ranges of a table or index that a condition selects; None for all of it."""
    terms = [term for each in conjuncts(where) if (term := key_term(each, schema)) is not None]
    equal = {term.name: term.values[0] for term in terms if term.operator == "="}
    sort_equal: list[AttributeValue] = []
    for name in schema.sort:
        if name not in equal:
            break
        sort_equal.append(equal[name])
    left = schema.sort[len(sort_equal) :]
    ranges = [term for term in terms if left and term.name == left[0]]
    chosen = ranges[0] if ranges else None
    partitions = _partitions(where, schema, equal)
    if partitions is None:
        return None
    return [KeySelection(values, tuple(sort_equal), chosen) for values in partitions]


def _partitions(
    where: Condition | None, schema: KeySchema, equal: dict[str, AttributeValue]
) -> list[tuple[AttributeValue, ...]] | None:
    if all(name in equal for name in schema.partition):
        return [tuple(equal[name] for name in schema.partition)]
    if len(schema.partition) > 1:
        return None
    for each in conjuncts(where):
        if (
            isinstance(each, In)
            and each.operand == Path(schema.partition)
            and all(isinstance(option, Value) for option in each.options)
        ):
            distinct: list[tuple[AttributeValue, ...]] = []
            for option in each.options:
                assert isinstance(option, Value)
                _check_type(schema, schema.partition[0], option)
                if (option.content,) not in distinct:
                    distinct.append((option.content,))
            return distinct
    return None


def is_key_alone(where: Condition | None, schema: KeySchema) -> bool:
    """Whether a condition fixes every key attribute, and nothing else."""
    terms = [key_term(each, schema) for each in conjuncts(where)]
    given = [term.name for term in terms if term is not None and term.operator == "="]
    return len(terms) == len(given) and sorted(given) == sorted(schema.attributes)


def full_key(where: Condition | None, schema: KeySchema) -> tuple[Item, Condition | None]:
    """The one item that a condition selects, and the remaining condition."""
    key: Item = {}
    rest = []
    for each in conjuncts(where):
        term = key_term(each, schema)
        if term is not None and term.operator == "=" and term.name not in key:
            key[term.name] = term.values[0]
        else:
            rest.append(each)
    if len(key) < len(schema.attributes):
        raise ValidationError(
            "Where clause does not contain a mandatory equality on all key attributes"
        )
    return key, And(tuple(rest)) if rest else None


def key_term(condition: Condition, schema: KeySchema) -> KeyTerm | None:
    """The key term of a condition on a key attribute, if it is one."""
    match condition:
        case Compare(operator, Path() as path, Value() as value):
            values: tuple[Value, ...] = (value,)
        case Compare(operator, Value() as value, Path() as path) if operator in _MIRRORED:
            operator, values = _MIRRORED[operator], (value,)
        case Between(Path() as path, Value() as low, Value() as high):
            operator, values = "BETWEEN", (low, high)
        case Function("begins_with", (Path() as path, Value() as value)):
            operator, values = "begins_with", (value,)
        case _:
            return None
    if operator == "<>" or len(path.parts) > 1 or path.root not in schema.types:
        return None
    for value in values:
        _check_type(schema, path.root, value)
    return KeyTerm(path.root, operator, tuple(value.content for value in values))


def _check_type(schema: KeySchema, name: str, value: Value) -> None:
    if value.kind != schema.types[name]:
        raise ValidationError(
            f"Key attribute's data type should match its data type in table's schema, key: {name}"
        )
