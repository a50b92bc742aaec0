"""What a scan learned, kept on disk so that a table of any size fits into little memory."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import apsw

from keyfold.maintain.feed.audit import Audit

_SCHEMA: Final = """
CREATE TABLE copies (structure INT, address BLOB, expected BLOB, found BLOB, origin BLOB,
                     clash BLOB, PRIMARY KEY (structure, address)) WITHOUT ROWID;
CREATE TABLE amounts (structure INT, holder TEXT, expected TEXT, found TEXT, key BLOB, sample BLOB,
                      PRIMARY KEY (structure, holder)) WITHOUT ROWID;
CREATE TABLE links (structure INT, origin BLOB, child BLOB, digest BLOB,
                    PRIMARY KEY (structure, origin, child)) WITHOUT ROWID;
CREATE TABLE origins (structure INT, origin BLOB, digest BLOB,
                      PRIMARY KEY (structure, origin)) WITHOUT ROWID;
"""
_WAITING: Final = 4_000


@dataclass(frozen=True)
class Amount:
    """A number that a holder should have, and the one it has."""

    structure: int
    holder: str
    expected: Decimal
    found: Decimal | None
    key: bytes | None
    """The holder's address, where it was met."""
    sample: bytes | None
    """An item that is counted, where that leads to the holder."""


class Facts:
    """Expected and found, by structure and address."""

    def __init__(self, audits: Mapping[int, Audit]) -> None:
        self.audits = audits
        # An empty name is a temporary file that SQLite removes.
        self._database = apsw.Connection("")
        self._database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
        self._database.execute(_SCHEMA)
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        self._amounts: dict[tuple[int, str, bool], Decimal] = {}
        self._keys: dict[tuple[int, str], bytes] = {}
        self._samples: dict[tuple[int, str], bytes] = {}

    def close(self) -> None:
        self._database.close()
        for audit in self.audits.values():
            audit.close()

    def expect(self, structure: int, address: bytes, digest: bytes, origin: bytes) -> None:
        self._add(
            "INSERT INTO copies (structure, address, expected, origin) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET clash = CASE WHEN copies.expected IS NULL "
            "OR copies.expected = excluded.expected THEN clash ELSE excluded.origin END, "
            "expected = excluded.expected, origin = excluded.origin",
            (structure, address, digest, origin),
        )

    def find(self, structure: int, address: bytes, digest: bytes) -> None:
        self._add(
            "INSERT INTO copies (structure, address, found) VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET found = excluded.found",
            (structure, address, digest),
        )

    def count(self, structure: int, holder: str, amount: Decimal, item: bytes | None) -> None:
        """What a counted item adds to its holder's number; `item` leads to a missing holder."""
        self._amount(structure, holder, amount, found=False)
        if item is not None:
            self._samples[structure, holder] = item

    def hold(self, structure: int, holder: str, amount: Decimal, key: bytes | None) -> None:
        """What a holder says, or one of its shards."""
        self._amount(structure, holder, amount, found=True)
        if key is not None:
            self._keys[structure, holder] = key

    def link(self, structure: int, origin: bytes, child: bytes, digest: bytes) -> None:
        self._add("INSERT OR REPLACE INTO links VALUES (?, ?, ?, ?)",
                  (structure, origin, child, digest))  # fmt: skip

    def origin(self, structure: int, origin: bytes, digest: bytes) -> None:
        self._add("INSERT OR REPLACE INTO origins VALUES (?, ?, ?)", (structure, origin, digest))

    def differing_copies(self) -> Iterator[tuple[int, bytes, bytes | None, bytes | None]]:
        """Structure, address, the origin that expects it, and another that expects it too."""
        self.flush()
        yield from self._database.execute(
            "SELECT structure, address, origin, clash FROM copies "
            "WHERE expected IS NOT found OR clash IS NOT NULL"
        )

    def count_again(self) -> None:
        """Keep the amounts so far, and start counting anew."""
        self.flush()
        self._database.execute(
            "CREATE TABLE earlier AS SELECT structure, holder, expected, found FROM amounts; "
            "CREATE UNIQUE INDEX earlier_holder ON earlier (structure, holder); "
            "DELETE FROM amounts"
        )

    def steady_amounts(self, late: Container[int]) -> Iterator[Amount]:
        """What differs by the same amount in both counts; the rest was in motion.

        Of structures that come late neither number may have moved: two moments in which the
        stream is behind by the same amount are no drift.
        """
        for amount in self.differing_amounts():
            row = self._database.execute(
                "SELECT expected, found FROM earlier WHERE structure = ? AND holder = ?",
                (amount.structure, amount.holder),
            ).fetchone()
            if row is not None:
                before = Decimal(row[0] or 0) - Decimal(row[1] or 0)
                moved = Decimal(row[0] or 0) != amount.expected
                if before == amount.expected - (amount.found or 0) and not (
                    moved and amount.structure in late
                ):
                    yield amount

    def differing_amounts(self) -> Iterator[Amount]:
        self.flush()
        for structure, holder, expected, found, key, sample in self._database.execute(
            "SELECT structure, holder, expected, found, key, sample FROM amounts"
        ):
            wanted = Decimal(expected or 0)
            held = None if found is None else Decimal(found)
            if wanted != (held or 0):
                yield Amount(structure, holder, wanted, held, key, sample)

    def orphans(self, structure: int) -> Iterator[tuple[bytes, bytes]]:
        """Origins that are gone, each with one of its items."""
        self.flush()
        yield from self._database.execute(
            "SELECT origin, min(child) FROM links l WHERE structure = ? AND NOT EXISTS "
            "(SELECT 1 FROM origins o WHERE o.structure = l.structure AND o.origin = l.origin) "
            "GROUP BY origin",
            (structure,),
        )

    def stale_links(self, structure: int) -> Iterator[tuple[bytes, bytes]]:
        """Origins and items whose copy of the origin differs."""
        self.flush()
        yield from self._database.execute(
            "SELECT l.origin, l.child FROM links l JOIN origins o USING (structure, origin) "
            "WHERE structure = ? AND l.digest <> o.digest",
            (structure,),
        )

    def flush(self) -> None:
        with self._database:
            for statement, rows in self._rows.items():
                self._database.executemany(statement, rows)
            self._rows = {}
            for (structure, holder, found), amount in self._amounts.items():
                self._merge(structure, holder, "found" if found else "expected", amount)
            self._amounts = {}
            self._database.executemany(
                "UPDATE amounts SET key = ? WHERE structure = ? AND holder = ?",
                ((key, structure, holder) for (structure, holder), key in self._keys.items()),
            )
            self._database.executemany(
                "UPDATE amounts SET sample = ? WHERE structure = ? AND holder = ?",
                ((item, structure, holder) for (structure, holder), item in self._samples.items()),
            )
            self._keys, self._samples = {}, {}

    def _merge(self, structure: int, holder: str, column: str, amount: Decimal) -> None:
        row = self._database.execute(
            f"SELECT {column} FROM amounts WHERE structure = ? AND holder = ?",
            (structure, holder),
        ).fetchone()
        before = Decimal(row[0]) if row is not None and row[0] is not None else Decimal(0)
        self._database.execute(
            f"INSERT INTO amounts (structure, holder, {column}) VALUES (?, ?, ?) "
            f"ON CONFLICT DO UPDATE SET {column} = excluded.{column}",
            (structure, holder, str(before + amount)),
        )

    def _amount(self, structure: int, holder: str, amount: Decimal, *, found: bool) -> None:
        key = structure, holder, found
        self._amounts[key] = self._amounts.get(key, Decimal(0)) + amount
        if len(self._amounts) >= _WAITING:
            self.flush()

    def _add(self, statement: str, row: tuple[Any, ...]) -> None:
        rows = self._rows.setdefault(statement, [])
        rows.append(row)
        if len(rows) >= _WAITING:
            self.flush()
