"""Entries of vector indexes.

Each change has a unique, increasing number, so that a reader can find what is new.
"""

from __future__ import annotations

from keyfold_engine.engine.storage import Session

Row = tuple[int, int, int, bytes, bytes]


def create_vectors(session: Session, table: int, index: int) -> None:
    name = f"{table}_{index}"
    session.execute(
        f"CREATE TABLE vectors_{name} (change INTEGER PRIMARY KEY AUTOINCREMENT, "
        "row INTEGER NOT NULL UNIQUE, part BLOB NOT NULL, size INTEGER NOT NULL, "
        "saving INTEGER NOT NULL, filters BLOB NOT NULL, vector BLOB NOT NULL)"
    )
    session.execute(f"CREATE INDEX vectors_by_part_{name} ON vectors_{name} (part, change)")


def drop_vectors(session: Session, table: int, index: int) -> None:
    session.drop_tree(f"vectors_{table}_{index}")


def put_vector(
    session: Session,
    table: int,
    index: int,
    row: int,
    part: bytes,
    size: int,
    saving: int,
    filters: bytes,
    vector: bytes,
) -> None:
    session.execute(
        f"INSERT OR REPLACE INTO vectors_{table}_{index} "
        "(row, part, size, saving, filters, vector) VALUES (?, ?, ?, ?, ?, ?)",
        (row, part, size, saving, filters, vector),
    )


def delete_vector(session: Session, table: int, index: int, row: int) -> None:
    session.execute(f"DELETE FROM vectors_{table}_{index} WHERE row = ?", (row,))


def has_vector(session: Session, table: int, index: int, row: int) -> bool:
    sql = f"SELECT 1 FROM vectors_{table}_{index} WHERE row = ?"
    return session.one(sql, (row,)) is not None


def vector_bounds(session: Session, table: int, index: int, part: bytes) -> tuple[int, int]:
    """The number of entries in a partition, and its newest change."""
    sql = f"SELECT count(*), max(change) FROM vectors_{table}_{index} WHERE part = ?"
    count, last = session.execute(sql, (part,)).fetchone()
    return count, last or 0


def vectors_after(session: Session, table: int, index: int, part: bytes, change: int) -> list[Row]:
    return session.all(
        f"SELECT change, row, size, filters, vector FROM vectors_{table}_{index} "
        "WHERE part = ? AND change > ?",
        (part, change),
    )


def vector_changes(session: Session, table: int, index: int, part: bytes) -> list[tuple[int, int]]:
    """Row and change of all entries of a partition."""
    sql = f"SELECT row, change FROM vectors_{table}_{index} WHERE part = ?"
    return session.all(sql, (part,))


def vector(session: Session, table: int, index: int, row: int) -> Row | None:
    found: Row | None = session.execute(
        f"SELECT change, row, size, filters, vector FROM vectors_{table}_{index} WHERE row = ?",
        (row,),
    ).fetchone()
    return found


def count_vectors(session: Session, table: int, index: int) -> tuple[int, int, int]:
    """The number of entries, their bytes, and the bytes saved on their items."""
    sql = f"SELECT count(*), total(size), total(saving) FROM vectors_{table}_{index}"
    count, size, saving = session.execute(sql).fetchone()
    return count, int(size), int(saving)
