"""Upgrades files of format 4 and older, whose places began with a bare CRC32."""

from __future__ import annotations

from typing import Any

import apsw
import orjson

from keyfold_engine.engine.place_hash import spread


def spread_places(connection: apsw.Connection) -> None:
    """Move every item, entry, collection, backup and past item to its new place."""
    define: Any = connection.create_scalar_function
    define("spread", spread, 1, deterministic=True)
    define("spread_entry", _spread_entry, 2, deterministic=True)
    names = {
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    }
    tables: Any = connection.execute("SELECT id, definition FROM tables").fetchall()
    for table, stored in tables:
        definition = orjson.loads(stored)
        indexes = [
            f"index_{table}_{index['Number']}"
            for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
            for index in definition.get(kind, ())
        ]
        held = [f"{kind}_{table}" for kind in ("items", "collections", "history")]
        if _is_half_restored(definition):
            _begin_again(connection, table, definition, [*indexes, *held[:2]], names)
        # Entries first: they are matched by their items' old places.
        for name in names.intersection(indexes):
            connection.execute(
                f"UPDATE {name} SET place = spread_entry({name}.place, i.place) "
                f"FROM items_{table} i WHERE i.row = {name}.row"
            )
        for name in names.intersection(held):
            connection.execute(f"UPDATE {name} SET place = spread(place)")
    for name in names:
        if str(name).startswith("backup_"):
            connection.execute(f"UPDATE {name} SET place = spread(place)")


def _spread_entry(place: bytes, item_place: bytes) -> bytes:
    """An entry's place ends with that of its item."""
    return spread(place[: -len(item_place)]) + spread(item_place)


def _is_half_restored(definition: dict[str, Any]) -> bool:
    """Whether items are being copied in the order of their places."""
    origin = definition.get("RestoredFrom")
    return origin is not None and "Changes" not in origin


def _begin_again(
    connection: apsw.Connection,
    table: int,
    definition: dict[str, Any],
    tables: list[str],
    names: set[Any],
) -> None:
    """The order of places changed: copy from the beginning again."""
    for name in names.intersection(tables):
        connection.execute(f"DELETE FROM {name}")
    definition["RestoredFrom"]["After"] = ""
    connection.execute(
        "UPDATE tables SET definition = ? WHERE id = ?", (orjson.dumps(definition), table)
    )
