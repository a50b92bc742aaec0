"""A new key within one table: until contract the table holds every item under both keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from keyfold.design.home import Home
from keyfold.design.schema import EntitySchema, Schema
from keyfold.migrations.schema_change import SchemaChange


@dataclass(frozen=True)
class SharedTable:
    """An entity that gets another key within its table."""

    entity: str
    table: str
    old: Home
    new: Home

    @property
    def is_apart(self) -> bool:
        """Whether every reader of keyfold can tell an item's old place from its new one."""
        return self.old.is_apart_from(self.new)

    @property
    def refusal(self) -> str:
        return (
            f"{self.entity} gets another key in the same table, and the constant text of the two "
            "keys does not tell them apart: until contract the table holds every item under both, "
            "and readers would see it twice. The safe way: begin the new key with another text, "
            "or move the entity to a new table"
        )

    def words(self) -> str:
        """What programs see that do not read through keyfold."""
        told = (
            f"until contract, programs that do not read through keyfold see every {self.entity} "
            f"twice in {self.table}: in scans, and in every index that has it"
        )
        if not self.old.begins_apart_from(self.new):
            return (
                f"{told}. A filter cannot tell the two apart, and counts of {self.entity} in an "
                "index include both, also through keyfold, unless the application follows the "
                "migration. To avoid it, begin the new key with another text, or move the entity "
                "to a new table"
            )
        return f"{told}. The filter {self.old.filter} gives each once; a new table avoids it"


def rekeyed(changes: Iterable[SchemaChange], schema: Schema) -> Iterator[SharedTable]:
    """The entities that get another key within their table."""
    for change in changes:
        old, new = change.old, change.new
        if change.kind != "entity re-keyed":
            continue
        assert isinstance(old, EntitySchema)
        assert isinstance(new, EntitySchema)
        table = schema.by_table[new.table]
        homes = []
        for entity in (old, new):
            key = entity.key
            texts = [key.partition, *([key.sort] if key.sort else [])] if key else []
            named = dict(zip(table.key_attributes, texts, strict=False))
            homes.append(Home.of(named, typed=table.type_attribute is not None))
        yield SharedTable(new.name, table.name, *homes)
