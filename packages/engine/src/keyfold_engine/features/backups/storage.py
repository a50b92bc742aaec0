"""The trees of backups and of the history of changes."""

from __future__ import annotations

from keyfold_engine.engine.storage import Session, StoredItem

LAST_SEQUENCE = 2**63 - 1

# Backups: copies of a table's items


def create_backup(session: Session, backup: int) -> None:
    session.execute(
        f"CREATE TABLE backup_{backup} (place BLOB PRIMARY KEY, size INTEGER, body BLOB)"
    )


def back_up_after(
    session: Session, table: int, backup: int, place: bytes, limit: int
) -> tuple[bytes, int, int] | None:
    """Copy the next items by place; returns the last place, their number and bytes.

    What writes already saved in the backup is older than the item, and stays.
    """
    last = session.execute(
        f"SELECT max(place) FROM "
        f"(SELECT place FROM items_{table} WHERE place > ? ORDER BY place LIMIT ?)",
        (place, limit),
    ).fetchone()[0]
    if last is None:
        return None
    part = "place > ? AND place <= ?"
    session.execute(
        f"INSERT OR IGNORE INTO backup_{backup} SELECT place, size, body FROM items_{table} "
        f"WHERE {part}",
        (place, last),
    )
    return last, *_count_backup(session, backup, part, place, last)


def back_up_rest(session: Session, backup: int, place: bytes) -> tuple[int, int]:
    """The number and bytes of items after a place that writes saved and that were deleted
    since.
    """
    return _count_backup(session, backup, "place > ?", place)


def keep_in_backup(session: Session, backup: int, place: bytes, item: StoredItem | None) -> None:
    """Save what a write replaces; a marker if there was no item."""
    size, body = (None, None) if item is None else (item.size, item.body)
    session.execute(
        f"INSERT OR IGNORE INTO backup_{backup} (place, size, body) VALUES (?, ?, ?)",
        (place, size, body),
    )


def _count_backup(session: Session, backup: int, part: str, *places: bytes) -> tuple[int, int]:
    count, size = session.execute(
        f"SELECT count(size), total(size) FROM backup_{backup} WHERE {part}", places
    ).fetchone()
    return count, int(size)


def backup_after(
    session: Session, backup: int, place: bytes, limit: int
) -> list[tuple[bytes, int, bytes]]:
    """Place, size and body of the next items of a backup, by place."""
    return session.all(
        f"SELECT place, size, body FROM backup_{backup} WHERE place > ? AND body IS NOT NULL "
        "ORDER BY place LIMIT ?",
        (place, limit),
    )


def kept_after(
    session: Session, backup: int, place: bytes, limit: int
) -> list[tuple[bytes, bytes | None]]:
    """Place and body of the next saved items, by place."""
    return session.all(
        f"SELECT place, body FROM backup_{backup} WHERE place > ? ORDER BY place LIMIT ?",
        (place, limit),
    )


def saved_body(session: Session, backup: int, place: bytes) -> tuple[bytes | None] | None:
    """The body that a write saved, which may be empty; None if no write has."""
    row = session.one(f"SELECT body FROM backup_{backup} WHERE place = ?", (place,))
    return None if row is None else (row[0],)


def drop_backup(session: Session, backup: int) -> None:
    session.drop_tree(f"backup_{backup}")


def next_backup(session: Session) -> int:
    names = session.all("SELECT name FROM sqlite_schema WHERE name GLOB 'backup_*'")
    return max((int(name.removeprefix("backup_")) for (name,) in names), default=0) + 1


# Point-in-time recovery: what each change replaced


def keep_history(session: Session, table: int) -> None:
    session.execute(
        f"CREATE TABLE history_{table} (sequence INTEGER PRIMARY KEY, at REAL NOT NULL, "
        "place BLOB NOT NULL, size INTEGER, body BLOB)"
    )
    session.execute(f"CREATE INDEX history_by_age_{table} ON history_{table} (at)")
    session.execute(f"CREATE INDEX history_by_place_{table} ON history_{table} (place)")


def forget_history(session: Session, table: int) -> None:
    # Its name and those of its indexes are free for the next one at once.
    for name in ("age", "place"):
        session.execute(f"DROP INDEX IF EXISTS history_by_{name}_{table}")
    session.drop_tree(f"history_{table}")


def remember_past(
    session: Session, table: int, at: float, place: bytes, before: StoredItem | None
) -> None:
    size, body = (None, None) if before is None else (before.size, before.body)
    session.execute(
        f"INSERT INTO history_{table} (at, place, size, body) VALUES (?, ?, ?, ?)",
        (at, place, size, body),
    )


def trim_history(session: Session, table: int, before: float, limit: int) -> int:
    """Delete at most `limit` changes from before a moment; returns how many."""
    return session.delete_older(f"history_{table}", before, limit)


def last_change(session: Session, table: int) -> int:
    """The sequence of the last recorded change; 0 if none."""
    row = session.one(f"SELECT max(sequence) FROM history_{table}")
    return 0 if row is None or row[0] is None else int(row[0])


def past_item(
    session: Session, table: int, at: float, place: bytes, last: int = LAST_SEQUENCE
) -> tuple[int, bytes] | tuple[None, None] | None:
    """An item's size and body at a moment; None if it has not changed until `last`."""
    row = session.one(
        f"SELECT size, body FROM history_{table} WHERE place = ? AND at > ? "
        "AND sequence <= ? ORDER BY sequence LIMIT 1",
        (place, at, last),
    )
    return None if row is None else (row[0], row[1])


def changes_after(
    session: Session, table: int, at: float, sequence: int, limit: int
) -> list[tuple[int, bytes]]:
    """Sequence and place of the next changes after a moment."""
    return session.all(
        f"SELECT sequence, place FROM history_{table} WHERE sequence > ? AND at > ? "
        "ORDER BY sequence LIMIT ?",
        (sequence, at, limit),
    )


def changed_between(
    session: Session,
    table: int,
    start: float,
    end: float,
    after: tuple[float, int],
    last: int,
    limit: int,
) -> list[tuple[float, int, bytes, bool, bytes | None]]:
    """The next changes from `start` until before `end`: time, sequence, place, whether it
    is the item's last there, and then the body before the first.
    """
    of_item = (
        f"FROM history_{table} h WHERE h.place = c.place AND h.at >= ?1 AND h.at < ?2 "
        "AND h.sequence <= ?5"
    )
    is_last = f"NOT EXISTS (SELECT 1 {of_item} AND h.sequence > c.sequence)"
    return session.all(
        f"SELECT at, sequence, place, {is_last} AS is_last, CASE WHEN {is_last} THEN "
        f"(SELECT h.body {of_item} ORDER BY h.sequence LIMIT 1) END "
        f"FROM (SELECT at, sequence, place FROM history_{table} "
        "WHERE (at, sequence) > (?3, ?4) AND at < ?2 AND sequence <= ?5 "
        "ORDER BY at, sequence LIMIT ?6) c ORDER BY at, sequence",
        (start, end, *after, last, limit),
    )
