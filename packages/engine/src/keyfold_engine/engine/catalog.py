"""The tables of a file, cached by name."""

from __future__ import annotations

import re
from functools import lru_cache
from threading import Lock
from typing import Any

import orjson

from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import LimitExceeded, TableNotFound, ValidationError, in_use

_PARSED_TABLES = 256
_TABLE_ARN = re.compile(r"arn:[^:]*:dynamodb:[^:]*:[^:]*:table/([a-zA-Z0-9_.-]{3,255})").fullmatch


def name_in(arn: str) -> str:
    """The name of the table that an ARN is of; Amazon refuses ARNs of anything else."""
    found = _TABLE_ARN(arn)
    if found is None:
        raise invalid_arn(arn)
    return found[1]


def invalid_arn(arn: str) -> ValidationError:
    return ValidationError(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")


def one_index_at_a_time() -> LimitExceeded:
    return LimitExceeded(
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously "
        "per table"
    )


def create(session: Session, definition: dict[str, Any]) -> TableDefinition:
    """Create a table and its indexes in the file."""
    table = TableDefinition(
        session.create_table(definition["TableName"], orjson.dumps(definition)), definition
    )
    create_indexes(session, table)
    return table


def create_indexes(session: Session, table: TableDefinition) -> None:
    for index in table.indexes:
        session.create_index(table.id, index.number)
    for further in table.further_indexes:
        further.create(session, table.id)
    if table.local_indexes:
        session.create_collections(table.id)


def drop(session: Session, table: TableDefinition) -> None:
    """Drop a table from the file, with all that belongs to it."""
    for extension in table.extensions:
        extension.drop(session, table)
    session.drop_table(table.id)


class Catalog:
    """Finds tables by name or ARN.

    Before any write the cache is invalidated if another process has written (see `Commits`), so a
    write never uses an old schema. A read with an old schema finds a missing table and is retried,
    or an unknown index and looks it up in the file.
    """

    def __init__(self) -> None:
        self._tables: dict[str, TableDefinition] = {}
        # Two processes that write in turns invalidate their tables constantly, usually without a
        # change.
        self._parsed = lru_cache(_PARSED_TABLES)(TableDefinition.load)
        self._lock = Lock()
        # Counts changes, so that a reader does not cache an outdated definition.
        self._generation = 0

    def forget(self) -> None:
        with self._lock:
            self._generation += 1
            self._tables = {}

    def store(self, session: Session, table: TableDefinition, **changes: Any) -> TableDefinition:
        """Store a table's definition, with changes of its members."""
        changed = table.with_changes(**changes)
        session.define_table(changed.id, changed.stored())
        self.remember(changed)
        return changed

    def remember(self, table: TableDefinition) -> None:
        with self._lock:
            self._generation += 1
            if table.restored_from is None:
                self._tables[table.name] = table

    def drop(self, table: TableDefinition) -> None:
        with self._lock:
            self._generation += 1
            self._tables.pop(table.name, None)

    def cached(self, name: str) -> TableDefinition | None:
        """The table, if it is cached."""
        return self._tables.get(name)

    def find(self, session: Session, name: str) -> TableDefinition | None:
        return self._tables.get(name) or self.load(session, name)

    def load(self, session: Session, name: str) -> TableDefinition | None:
        """The current table, bypassing the cache."""
        if name.startswith("arn:"):
            table = self.load(session, name_in(name))
            return table if table is not None and table.arn == name else None
        generation = self._generation
        row = session.table(name)
        if row is None:
            return None
        table = self._parsed(*row)
        with self._lock:
            # A table that is being restored can become complete at any moment without notice.
            if generation == self._generation and table.restored_from is None:
                self._tables[name] = table
        return table

    def get(self, session: Session, name: str) -> TableDefinition:
        """The table, for reading or writing items."""
        table = self.find(session, name)
        if table is None or table.restored_from is not None:
            raise TableNotFound("Requested resource not found")
        return table

    def named(self, session: Session, name: str) -> TableDefinition:
        """The current table, with the error message of table operations."""
        table = self.load(session, name)
        if table is None:
            raise TableNotFound(f"Requested resource not found: Table: {name} not found")
        return table

    def changeable(self, session: Session, name: str) -> TableDefinition:
        """The current table, for a change or deletion."""
        table = self.named(session, name)
        if table.restored_from is not None:
            raise in_use(f"Table is being created: {name}")
        return table
