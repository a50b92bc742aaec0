"""Changes that would lose data as they stand; each refusal names the safe way."""

from __future__ import annotations

from keyfold.design.schema import EntitySchema, Index, Schema
from keyfold.errors import MigrationError
from keyfold.migrations.same_table import rekeyed
from keyfold.migrations.schema_change import MOVES, SchemaChange


class Dangerous(MigrationError):
    """A change that would lose data as it stands; the message names the safe way."""


def refuse_dangerous(changes: list[SchemaChange], after: Schema) -> None:
    for both in rekeyed(changes, after):
        if not both.is_apart:
            raise Dangerous(both.refusal)
    for change in changes:
        if change.kind == "table key changed":
            raise Dangerous(
                f"{change.words}. The key of a table cannot change, and recreating the table loses "
                "its items. The safe way: declare a new table under another name, keep "
                f"{change.subject} until its items are moved, and plan again"
            )
        if change.kind == "index changed":
            raise Dangerous(
                f"{change.words}. An index cannot be changed, and queries would fail while it is "
                "created again. The safe way: declare the new one under another name, "
                "switch the access patterns, then remove the old one and plan again"
            )
        if change.kind == "vector changed":
            raise Dangerous(
                f"{change.words}. A vector index cannot be changed, and searches would fail while "
                "it is created again. The safe way: declare the new one under another name "
                "(index=), switch the searches, then remove the old one and plan again"
            )
        if change.kind in ("index added", "index removed"):
            index = change.new or change.old
            if isinstance(index, Index) and index.local:
                raise Dangerous(
                    f"{change.words}. A local index can only be created with its table. The safe "
                    "way: a global index, or a new table"
                )
        if change.kind == "entity re-keyed" and (shared := _find_shared_unique(change)):
            raise Dangerous(one_holder(change.subject, shared))
        if change.kind == "type name changed" and isinstance(change.old, EntitySchema):
            raise Dangerous(
                f"{change.words}. Existing items would no longer be found. The safe way: "
                f"declare {change.subject} with type_name={change.old.type_name!r}, which keeps "
                "the stored name"
            )
        if change.kind == "attribute changed" and (why := _find_need(change, changes)):
            raise Dangerous(
                f"{change.words}, and {why}. The safe way: add an attribute under another name, "
                "fill it with derive, switch the readers, then drop the old one"
            )


def one_holder(entity: str, fields: str) -> str:
    """Why an entity with a unique value cannot get another key in its own table."""
    return (
        f"{entity} gets another key in the same table, and {fields} is unique under both: its "
        "marker names one holder, so the old and the new application cannot share it. The safe "
        "way: move the entity to a new table"
    )


def _find_shared_unique(change: SchemaChange) -> str:
    """The fields of a unique value that an entity has under its old key and under its new one."""
    sides = [side for side in (change.old, change.new) if isinstance(side, EntitySchema)]
    first, second = (
        {"+".join(u.fields) for u in side.uniques if u.by == "marker"} for side in sides
    )
    return next(iter(sorted(first & second)), "")


def _find_need(change: SchemaChange, changes: list[SchemaChange]) -> str:
    """Why a value cannot change its type in place."""
    entity = change.new
    assert isinstance(entity, EntitySchema)
    field = next(a.field for a in entity.attributes if a.name == change.detail)
    keys = [entity.key, *(place.key for place in entity.placements)]
    if any(field in key.fields for key in keys if key is not None):
        return "keys contain it"
    if any(c.kind in MOVES and c.subject == change.subject for c in changes):
        return f"{change.subject} moves in the same plan"
    return ""


def refuse_index_keys(changes: list[SchemaChange], before: Schema | None) -> None:
    for change in changes:
        entity = change.new
        if (
            change.kind != "attribute removed"
            or not isinstance(entity, EntitySchema)
            or before is None
        ):
            continue
        table = before.by_table.get(entity.table)
        for index in table.indexes if table is not None and stays(change.old, entity) else ():
            if change.detail in index.key_attributes:
                raise Dangerous(
                    f"{change.words}. It is a key of the index {index.name}, which would lose all "
                    "of these items. The safe way: move the access patterns away from "
                    "the index, remove it, and drop the attribute in a later plan"
                )


def stays(old: object, new: EntitySchema) -> bool:
    """Whether an entity stays in place, so that its items are changed there."""
    return isinstance(old, EntitySchema) and old.table == new.table and str(old.key) == str(new.key)
