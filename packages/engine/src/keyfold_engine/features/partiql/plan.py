"""Turns statements into reads and writes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from keyfold_engine.engine import write
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.keys import place_of_item, place_of_key
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import IndexDefinition, TableDefinition
from keyfold_engine.engine.update import ItemUpdate
from keyfold_engine.engine.write import ItemWrite, NewItem
from keyfold_engine.errors import DuplicateItem, ValidationError
from keyfold_engine.expressions import evaluate, operand_check
from keyfold_engine.expressions.ast import And, Condition, Function, Or, Path
from keyfold_engine.expressions.update import UpdatePlan
from keyfold_engine.features.partiql.key_conditions import conjuncts, full_key
from keyfold_engine.features.partiql.statements import (
    ExistsStatement,
    Insert,
    Removal,
    Select,
    Statement,
    UpdateStatement,
)
from keyfold_engine.values import Item
from keyfold_engine.values.wire import check_item


def refuse_several(index: IndexDefinition) -> None:
    """Refuse indexes with multi-attribute keys, which PartiQL does not read."""
    if len(index.schema.partition) > 1 or len(index.schema.sort) > 1:
        raise ValidationError(
            "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or "
            "multi-attribute RANGE keys."
        )


def item_of(database: Database, session: Session, statement: Statement) -> tuple[int, bytes]:
    """The one item of a statement: its table's number, and its place."""
    table = database.catalog.get(session, statement.table)
    if isinstance(statement, Insert):
        return table.id, place_of_item(table, check_item(statement.item))
    where = statement.select.where if isinstance(statement, ExistsStatement) else statement.where
    key, _ = full_key(where, table.schema)
    return table.id, place_of_key(table, check_item(key))


@dataclass(slots=True)
class StatementWrite:
    """The write of a statement; `update` is set for an UPDATE."""

    write: ItemWrite
    update: ItemUpdate | None = None


def planned(
    database: Database, session: Session, statement: Statement, *, returns_item: bool = False
) -> StatementWrite:
    """The write of a statement other than a SELECT."""
    table = database.catalog.get(session, statement.table)
    match statement:
        case Insert(_, item):
            new = NewItem.put(check_item(item))
            return StatementWrite(ItemWrite(table, place_of_item(table, new.item), _insertion(new)))
        case UpdateStatement(_, update, where):
            operand_check.check_overlap(
                [action.path for action in update.actions], "UpdateExpression"
            )
            key, rest = full_key(where, table.schema)
            change = ItemUpdate(table, check_item(key), UpdatePlan(update), {})
            # An UPDATE never creates an item.
            there = Function("attribute_exists", (Path(table.schema.partition[:1]),))
            test = _test((there, *conjuncts(rest)))
            return StatementWrite(_write(table, key, change, test, returns_item), change)
        case Removal(_, where):
            key, rest = full_key(where, table.schema)
            # Deleting a missing item does nothing, whatever its other conditions.
            gone = Function("attribute_not_exists", (Path(table.schema.partition[:1]),))
            told = None if rest is None else evaluate.compile_condition(Or((gone, rest)))
            return StatementWrite(_write(table, key, write.deletion, told, returns_item))
        case ExistsStatement(Select(_, _, _, where)):
            key, rest = full_key(where, table.schema)
            there = Function("attribute_exists", (Path(table.schema.partition[:1]),))
            test = _test((there, *conjuncts(rest)))
            return StatementWrite(_write(table, key, None, test, returns_item))
        case Select():
            raise TypeError("a SELECT writes nothing")


def _test(terms: Iterable[Condition]) -> evaluate.Test:
    return evaluate.compile_condition(And(tuple(terms)))


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
