"""Rescues the intact data of a damaged file into a new one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from keyfold_engine import errors
from keyfold_engine.doctor.survey import Survey, is_derived
from keyfold_engine.engine import catalog, indexes, storage
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition

_COPIED = re.compile(r"(streams|records|tokens|documents|history_\d+|backup_\d+)")
_MADE_WITH_ITEMS = re.compile(r"(history|backup)_\d+")


@dataclass(frozen=True)
class Saved:
    """The result for one table."""

    table: str
    items: int
    lost: int


def save(found: Survey, to: Path) -> list[Saved]:
    """Write intact rows into a new file; indexes and sizes are rebuilt from the items."""
    if to.exists():
        raise errors.StorageError(f"{to} already exists; choose another name or remove it")
    part = to.with_name(f"{to.name}.part")
    part.unlink(missing_ok=True)
    session = Session(storage.connect(str(part), "relaxed"))
    try:
        session.begin_write()
        saved = [_save_table(found, session, table) for table in found.tables.values()]
        for tree in found.sql:
            if _COPIED.fullmatch(tree) and not is_derived(tree):
                _copy(found, session, tree)
        _keep_numbers(found, session)
        # Records of a stream without a definition cannot be read.
        session.connection.execute(
            "DELETE FROM records WHERE stream NOT IN (SELECT id FROM streams)"
        )
        session.commit()
        session.connection.close()
        part.rename(to)
    except apsw.Error as error:
        raise storage.translated(error, str(part)) from error
    finally:
        session.connection.close()
        for end in ("", "-wal", "-shm"):
            part.with_name(part.name + end).unlink(missing_ok=True)
    return saved


def _save_table(found: Survey, session: Session, table: TableDefinition) -> Saved:
    run: Any = session.connection.execute
    definition = (table.id, table.name, table.stored())
    run("INSERT INTO tables (id, name, definition) VALUES (?, ?, ?)", definition)
    session.create_items(table.id)
    insert = f"INSERT OR IGNORE INTO items_{table.id} VALUES (?, ?, ?, ?, ?)"
    for row, values in found.rows(f"items_{table.id}"):
        run(insert, (row, *values[1:]))
    catalog.create_indexes(session, table)
    for row, place, size, body in session.each_item(table.id):
        indexes.enter(session, table, row, place, size, body)
    [(items,)] = run(f"SELECT count(*) FROM items_{table.id}").fetchall()
    return Saved(table.name, items, len(found.lost(table.id)))


def _copy(found: Survey, session: Session, tree: str) -> None:
    run: Any = session.connection.execute
    if _MADE_WITH_ITEMS.fullmatch(tree):
        run(found.sql[tree])
        if tree.startswith("history_"):
            number = tree.removeprefix("history_")
            run(f"CREATE INDEX history_by_age_{number} ON {tree} (at)")
            run(f"CREATE INDEX history_by_place_{number} ON {tree} (place)")
    for row, values in found.rows(tree):
        # A number that is the row id itself is not stored.
        given = [
            row if place == 0 and value is None else value for place, value in enumerate(values)
        ]
        run(f"INSERT OR IGNORE INTO {tree} VALUES ({', '.join('?' * len(given))})", given)


def _keep_numbers(found: Survey, session: Session) -> None:
    """Keep sequences ahead, so that no number is used twice."""
    run: Any = session.connection.execute
    for _, (name, number) in found.rows("sqlite_sequence"):
        run("DELETE FROM sqlite_sequence WHERE name = ? AND seq < ?", (name, number))
        run(
            "INSERT INTO sqlite_sequence SELECT ?1, ?2 "
            "WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)",
            (name, number),
        )
