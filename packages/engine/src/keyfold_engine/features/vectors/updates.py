"""Vector indexes that UpdateTable adds and removes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keyfold_engine.engine import catalog, definitions, describe
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import (
    TableNotFound,
    ValidationError,
    in_use,
    parameter_invalid,
)
from keyfold_engine.features.vectors import rules, storage
from keyfold_engine.features.vectors.index import vector_indexes
from keyfold_engine.limits import INDEX_CHANGES_PER_UPDATE


def check(updates: Sequence[dict[str, Any]]) -> None:
    """Checks without the table."""
    for update in updates:
        if not update:
            raise parameter_invalid(
                "One of VectorIndexUpdate.Create, VectorIndexUpdate.Delete must not be null"
            )
        if len(update) > 1:
            raise parameter_invalid(
                "Only one vector index action is allowed per VectorIndexUpdate object"
            )


def check_table(table: TableDefinition, request: dict[str, Any]) -> None:
    """What a request may not do to a table with vector indexes."""
    if vector_indexes(table) and request.get("BillingMode") == "PROVISIONED":
        raise parameter_invalid("Tables with vector indexes must be in PAY_PER_REQUEST mode")
    for update in request.get("GlobalSecondaryIndexUpdates") or ():
        if created := update.get("Create"):
            _check_global(table, created, request)


def _check_global(table: TableDefinition, wish: dict[str, Any], request: dict[str, Any]) -> None:
    if any(index.name == wish["IndexName"] for index in vector_indexes(table)):
        raise ValidationError("Attempting to create an index which already exists")
    types = definitions.attribute_types(request.get("AttributeDefinitions") or ())
    for index in vector_indexes(table):
        for element in wish["KeySchema"]:
            name = element["AttributeName"]
            if name == index.attribute:
                raise parameter_invalid(
                    f"Attributes cannot be redefined. Please check that your attribute "
                    "has the same type as previously defined. Existing schema: "
                    f"VectorIndexSchema:[VectorAttribute: key{{{name}:L:{index.dimensions}}}] New "
                    "schema: Schema:[SchemaElement: "
                    f"key{{{name}:{types.get(name, 'S')}:{element['KeyType']}}}]"
                )


def apply(
    database: Database, session: Session, table: TableDefinition, request: dict[str, Any]
) -> TableDefinition:
    """The table with the requested vector indexes."""
    updates = request.get("VectorIndexUpdates") or ()
    for update in updates:
        if (deleted := update.get("Delete")) is not None:
            _refuse_allocating(database, table, deleted["IndexName"])
    others = request.get("GlobalSecondaryIndexUpdates") or ()
    changed = len(updates) + sum("Update" not in update for update in others)
    if updates and (changed > INDEX_CHANGES_PER_UPDATE or _is_making(database, table, updates)):
        raise catalog.one_index_at_a_time()
    for update in updates:
        if (created := update.get("Create")) is not None:
            table = _create(database, session, table, created, request)
        else:
            table = _delete(session, table, update["Delete"]["IndexName"])
    return table


def _is_making(
    database: Database, table: TableDefinition, updates: Sequence[dict[str, Any]]
) -> bool:
    """Whether an index is being created, other than one deleted during its backfill."""
    deleted = {update["Delete"]["IndexName"] for update in updates if "Delete" in update}
    left = [index for index in vector_indexes(table) if index.name not in deleted]
    kept = table.with_changes(VectorIndexes=[index.definition for index in left] or None)
    return describe.making(database, kept) is not None


def _refuse_allocating(database: Database, table: TableDefinition, name: str) -> None:
    for index in vector_indexes(table):
        if index.name == name:
            if database.delays.phase("vector index", index.since) == "allocating":
                raise in_use(
                    "Index creation is in resource allocation phase. Retry deletion during "
                    "backfilling phase or when the index is active. "
                    f"Table: {table.name} Index: {name}"
                )
            return
    raise TableNotFound(f"Requested resource not found: Index {name} for table {table.name}")


def _create(
    database: Database,
    session: Session,
    table: TableDefinition,
    wish: dict[str, Any],
    request: dict[str, Any],
) -> TableDefinition:
    names = {index.name for index in vector_indexes(table)} | table.indexes_by_name.keys()
    if wish["IndexName"] in names:
        raise ValidationError("Attempting to create an index which already exists")
    rules.check_billing(table.definition["BillingMode"])
    known = table.definition["AttributeDefinitions"]
    defined = request.get("AttributeDefinitions") or ()
    others = [index.definition for index in vector_indexes(table)]
    names_defined = definitions.attribute_names(defined)
    rules.check_one(wish, names_defined, others)
    _check_same_types(known, defined)
    _check_not_key(table, wish)
    definitions.check_projection(wish)
    rules.check_count(len(others) + 1)
    definitions.check_included([*(each.definition for each in table.indexes), *others, wish])
    number = table.definition["NextIndex"]
    index = {**wish, "Number": number, "Since": database.clock.now(), "IsFilling": True}
    storage.create_vectors(session, table.id, number)
    return definitions.with_index(table, "VectorIndexes", index, defined)


def _check_same_types(known: Sequence[dict[str, str]], defined: Sequence[dict[str, str]]) -> None:
    types = definitions.attribute_types(known)
    for each in defined:
        name = each["AttributeName"]
        if types.get(name, each["AttributeType"]) != each["AttributeType"]:
            raise parameter_invalid(
                f"Attributes cannot be redefined. Please check that your attribute has "
                f"the same type as previously defined. Existing schema: {name}:{types[name]} New "
                f"schema: {name}:{each['AttributeType']}"
            )


def _check_not_key(table: TableDefinition, wish: dict[str, Any]) -> None:
    name = wish["VectorAttribute"]["AttributeName"]
    if any(each["AttributeName"] == name for each in table.definition["AttributeDefinitions"]):
        raise rules.conflicting(name)


def _delete(session: Session, table: TableDefinition, name: str) -> TableDefinition:
    for index in vector_indexes(table):
        if index.name == name:
            storage.drop_vectors(session, table.id, index.number)
    return definitions.without_index(table, "VectorIndexes", name)
