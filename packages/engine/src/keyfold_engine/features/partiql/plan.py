"""Turns statements into reads and writes."""

from __future__ import annotations

from keyfold_engine.engine import write
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.keys import place_of_item, place_of_key
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import IndexDefinition
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


def planned(
    database: Database, session: Session, statement: Statement, *, returns_item: bool = False
) -> ItemWrite:
    """The write of a statement other than a SELECT."""
    table = database.catalog.get(session, statement.table)
    if isinstance(statement, Insert):
        new = NewItem.put(check_item(statement.item))
        return ItemWrite(table, place_of_item(table, new.item), _insertion(new))
    if isinstance(statement, Select):
        raise TypeError("a SELECT writes nothing")
    if isinstance(statement, UpdateStatement):
        paths = [action.path for action in statement.update.actions]
        operand_check.check_overlap(paths, "UpdateExpression")
    where = statement.select.where if isinstance(statement, ExistsStatement) else statement.where
    key, rest = full_key(where, table.schema)
    partition = (Path(table.schema.partition[:1]),)
    change: write.Change | None = None
    # An UPDATE never creates an item.
    condition: Condition | None = And((Function("attribute_exists", partition), *conjuncts(rest)))
    if isinstance(statement, UpdateStatement):
        change = ItemUpdate(table, check_item(key), UpdatePlan(statement.update), {})
    elif isinstance(statement, Removal):
        change = write.deletion
        # Deleting a missing item does nothing, whatever its other conditions.
        gone = Function("attribute_not_exists", partition)
        condition = None if rest is None else Or((gone, rest))
    test = None if condition is None else evaluate.compile_condition(condition)
    return ItemWrite(
        table, place_of_key(table, key), change, condition=test, returns_item=returns_item
    )


def _insertion(new: NewItem) -> write.Change:
    def change(old: Item | None) -> NewItem:
        if old is not None:
            raise DuplicateItem("Duplicate primary key exists in table")
        return new

    return change
