"""How statements become reads and writes: which keys they mean, and what is left to check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from keyfold.engine import write
from keyfold.engine.database import Database
from keyfold.engine.keys import place_of_item, place_of_key
from keyfold.engine.partiql.statements import (
    ExistsStatement,
    Insert,
    Removal,
    Select,
    Statement,
    UpdateStatement,
)
from keyfold.engine.storage import Session
from keyfold.engine.tables import IndexDefinition, KeySchema, TableDefinition
from keyfold.engine.update import ItemUpdate
from keyfold.engine.write import ItemWrite, NewItem
from keyfold.errors import DuplicateItem, ValidationError
from keyfold.expressions import check, evaluate
from keyfold.expressions.ast import (
    And,
    Between,
    Compare,
    Condition,
    Function,
    In,
    KeyTerm,
    Or,
    Path,
    Value,
)
from keyfold.expressions.keys import KeySelection
from keyfold.expressions.update import UpdatePlan
from keyfold.values import AttributeValue, Item
from keyfold.values.wire import check_item

_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def conjuncts(where: Condition | None) -> tuple[Condition, ...]:
    """The conditions that must all hold."""
    if where is None:
        return ()
    if isinstance(where, And):
        return tuple(part for term in where.terms for part in conjuncts(term))
    return (where,)


def selections(where: Condition | None, schema: KeySchema) -> list[KeySelection] | None:
    """The parts of a table or index that a condition confines a SELECT to; None for all of it."""
    terms = [term for each in conjuncts(where) if (term := _key_term(each, schema)) is not None]
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


def refuse_several(index: IndexDefinition) -> None:
    """PartiQL does not read indexes whose keys have several attributes of a kind."""
    if len(index.schema.partition) > 1 or len(index.schema.sort) > 1:
        raise ValidationError(
            "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or "
            "multi-attribute RANGE keys."
        )


def names_one_item(where: Condition | None, schema: KeySchema) -> bool:
    """Whether a condition gives every key attribute a value."""
    terms = (_key_term(each, schema) for each in conjuncts(where))
    given = {term.name for term in terms if term is not None and term.operator == "="}
    return len(given) == len(schema.attributes)


def full_key(where: Condition | None, schema: KeySchema) -> tuple[Item, Condition | None]:
    """The one item a condition names, and what it says besides."""
    key: Item = {}
    rest = []
    for each in conjuncts(where):
        term = _key_term(each, schema)
        if term is not None and term.operator == "=" and term.name not in key:
            key[term.name] = term.values[0]
        else:
            rest.append(each)
    if len(key) < len(schema.attributes):
        raise ValidationError(
            "Where clause does not contain a mandatory equality on all key attributes"
        )
    return key, And(tuple(rest)) if rest else None


def item_of(database: Database, session: Session, statement: Statement) -> tuple[int, bytes]:
    """The one item that a statement is about: its table's number, and where it stands."""
    table = database.catalog.get(session, statement.table)
    if isinstance(statement, Insert):
        return table.id, place_of_item(table, check_item(statement.item))
    where = statement.select.where if isinstance(statement, ExistsStatement) else statement.where
    key, _ = full_key(where, table.schema)
    return table.id, place_of_key(table, check_item(key))


def _key_term(condition: Condition, schema: KeySchema) -> KeyTerm | None:
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


@dataclass(slots=True)
class PlannedWrite:
    """A write of a statement; `update` is there for an UPDATE."""

    write: ItemWrite
    update: ItemUpdate | None = None


def planned(
    database: Database, session: Session, statement: Statement, *, returns_item: bool = False
) -> PlannedWrite:
    """The write that a statement other than a SELECT stands for."""
    table = database.catalog.get(session, statement.table)
    match statement:
        case Insert(_, item):
            new = NewItem.put(check_item(item))
            return PlannedWrite(ItemWrite(table, place_of_item(table, new.item), _insertion(new)))
        case UpdateStatement(_, update, where):
            check.no_overlap([action.path for action in update.actions], "UpdateExpression")
            key, rest = full_key(where, table.schema)
            change = ItemUpdate(table, check_item(key), UpdatePlan(update), {})
            # An UPDATE changes what is there; it never makes an item.
            there = Function("attribute_exists", (Path(table.schema.partition[:1]),))
            test = _test((there, *conjuncts(rest)))
            return PlannedWrite(_write(table, key, change, test, returns_item), change)
        case Removal(_, where):
            key, rest = full_key(where, table.schema)
            # Deleting what is not there does nothing, whatever else was asked of it.
            gone = Function("attribute_not_exists", (Path(table.schema.partition[:1]),))
            told = None if rest is None else evaluate.compiled(Or((gone, rest)))
            return PlannedWrite(_write(table, key, write.deletion, told, returns_item))
        case ExistsStatement(Select(_, _, _, where)):
            key, rest = full_key(where, table.schema)
            there = Function("attribute_exists", (Path(table.schema.partition[:1]),))
            test = _test((there, *conjuncts(rest)))
            return PlannedWrite(_write(table, key, None, test, returns_item))
        case Select():
            raise TypeError("a SELECT writes nothing")


def _test(terms: Iterable[Condition]) -> evaluate.Test:
    return evaluate.compiled(And(tuple(terms)))


def _write(
    table: TableDefinition,
    key: Item,
    change: write.Change | None,
    condition: evaluate.Test | None,
    returns_item: bool,
) -> ItemWrite:
    return ItemWrite(
        table, place_of_key(table, key), change, condition=condition, returns_item=returns_item
    )


def _insertion(new: NewItem) -> write.Change:
    def change(old: Item | None) -> NewItem:
        if old is not None:
            raise DuplicateItem("Duplicate primary key exists in table")
        return new

    return change
