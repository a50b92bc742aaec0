"""What vector indexes add to the core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keyfold_engine.engine.database import Database
from keyfold_engine.engine.describe import making
from keyfold_engine.engine.extensions import Extension
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.engine.write import Prepared
from keyfold_engine.errors import in_use
from keyfold_engine.features.vectors import entries, rules, storage, updates
from keyfold_engine.features.vectors.index import VectorIndex, vector_indexes
from keyfold_engine.values import AttributeValue, Item

_MEMBER = "VectorIndexes"


class SearchedIndex(VectorIndex):
    """A vector index as the core sees it."""

    __slots__ = ()

    member = _MEMBER

    def filled_definition(self) -> dict[str, Any]:
        return {name: value for name, value in self.definition.items() if name != "IsFilling"}

    def create(self, session: Session, table: int) -> None:
        storage.create_vectors(session, table, self.number)

    def fill(self, session: Session, table: int, row: int, item: Item) -> None:
        found = entries.entry(self, item)
        # An entry that a write already stored is as new or newer.
        if found is not None and not storage.has_vector(session, table, self.number, row):
            entries.put(session, table, self, row, found)

    def check(
        self, item: Mapping[str, AttributeValue], written: frozenset[str] | None = None
    ) -> None:
        entries.check(self, item, written)

    def billed(self, old: Item | None, new: Item | None) -> int:
        change = entries.change(self, old, new)
        return 0 if change is None else change.bytes()

    def entry_size(self, item: Item) -> int | None:
        found = entries.entry(self, item)
        return None if found is None else found.size

    def totals(self, session: Session, table: int) -> tuple[int, int, int]:
        return storage.count_vectors(session, table, self.number)

    def phase(self, database: Database) -> str | None:
        found = database.delays.phase("vector index", self.since)
        if found in ("allocating", "backfilling") or not self.is_filled:
            return found if found == "allocating" else "backfilling"
        return None

    def described(
        self, database: Database, table: TableDefinition, size: int, items: int, status: str
    ) -> dict[str, Any]:
        answer = {
            **rules.description(self.definition),
            "IndexStatus": "ACTIVE",
            "IndexSizeBytes": size,
            "ItemCount": items,
            "IndexArn": f"{table.arn}/index/{self.name}",
        }
        phase = self.phase(database)
        if status == "CREATING":
            answer["IndexStatus"] = "CREATING"
        elif phase is not None:
            answer["IndexStatus"] = "CREATING"
            answer["Backfilling"] = phase != "allocating" and status == "ACTIVE"
        return answer


def follow(_database: Database, session: Session, prepared: Prepared, row: int) -> None:
    """Change the entries of an item."""
    new = None if prepared.new is None else prepared.new.item
    table = prepared.write.table
    for index in vector_indexes(table):
        change = entries.change(index, prepared.old, new)
        if change is not None:
            change.store(session, table.id, row)


class VectorsExtension(Extension):
    """Vector indexes of tables."""

    indexes_member = _MEMBER

    def attach(self, table: TableDefinition) -> None:
        definition = table.definition
        types = {a["AttributeName"]: a["AttributeType"] for a in definition["AttributeDefinitions"]}
        keys = table.schema.attributes
        for index in definition.get(_MEMBER) or ():
            table.further_indexes.append(SearchedIndex(index, types, keys))
        if table.further_indexes:
            table.after.append(follow)

    def indexes(
        self, request: Mapping[str, Any], billing: str, defined: Sequence[str]
    ) -> Sequence[Mapping[str, Any]]:
        asked: Sequence[Mapping[str, Any]] | None = request.get(_MEMBER)
        if asked is None:
            return ()
        rules.check_all(asked, billing, defined)
        return asked

    def index_updates(self, request: dict[str, Any]) -> Sequence[dict[str, Any]]:
        asked: Sequence[dict[str, Any]] = request.get("VectorIndexUpdates") or ()
        updates.check(asked)
        return asked

    def check_update(self, table: TableDefinition, request: dict[str, Any]) -> None:
        updates.check_table(table, request)

    def update(
        self, database: Database, session: Session, table: TableDefinition, request: dict[str, Any]
    ) -> TableDefinition:
        return updates.apply(database, session, table, request)

    def refuse_deletion(self, database: Database, session: Session, table: TableDefinition) -> None:
        phase = making(database, table)
        if phase == "allocating":
            raise in_use(f"Table is being updated: {table.name}")
        if phase is not None:
            raise in_use(
                "Cannot delete table while indexes are being created, updated, or deleted."
            )

    def drop(self, session: Session, table: TableDefinition) -> None:
        for index in vector_indexes(table):
            storage.drop_vectors(session, table.id, index.number)


EXTENSION = VectorsExtension()
