"""What a scan learned: rows in the order they came, on disk, sorted once and read in one pass.

Items say what must hold because of them, and show what is there. Rows of one structure and one
address come together by sorting; nothing is looked up while scanning, so that memory stays small
and time grows as the rows do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, Literal

import apsw

FOUND: Final = 0
SAID: Final = 1
"""What was found sorts before what is said of it."""

_WAITING: Final = 4_000
_CACHE_KIB: Final = 16_000


@dataclass(frozen=True)
class FactComparison:
    """How facts of one kind are held against what is there."""

    adds: bool = False
    """Numbers are summed; otherwise what is said of one address is one value."""
    missing: bool = True
    """It is wrong that something is said and not found."""
    extra: bool = True
    """It is wrong that something is found and not said."""
    best: Literal["", "most", "least"] = ""
    """Of all that is said the greatest or the least holds."""
    apart: bool = False
    """Many say something of one address, and each is right or wrong by itself."""


@dataclass(frozen=True)
class Suspect:
    """What does not go together; it is looked at again before it is called drift."""

    structure: int
    address: bytes
    said: Decimal | None = None
    found: Decimal | None = None
    origins: tuple[bytes, ...] = ()
    """Items that say it; two where they contradict each other."""
    holder: bytes | None = None
    """The item in which a number was found."""


Row = tuple[int, bytes, int, bytes, bytes | None]


class RowLog:
    """Rows of one scan, in a temporary file that SQLite removes."""

    def __init__(self) -> None:
        self._database = apsw.Connection("")
        for pragma in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{_CACHE_KIB}"):
            self._database.execute(f"PRAGMA {pragma}").fetchall()
        for table in ("facts", "amounts"):
            self._database.execute(
                f"CREATE TABLE {table} "
                "(structure INT, address BLOB, side INT, value BLOB, item BLOB)"
            )
        self._database.execute(
            "CREATE TABLE earlier (structure INT, address BLOB, said TEXT, found TEXT, "
            "PRIMARY KEY (structure, address)) WITHOUT ROWID"
        )
        self._facts: list[Row] = []
        self._amounts: dict[tuple[int, bytes, int], tuple[Decimal, bytes | None]] = {}

    def close(self) -> None:
        self._database.close()

    def add(self, structure: int, address: bytes, side: int, value: bytes, item: bytes) -> None:
        self._facts.append((structure, address, side, value, item))
        if len(self._facts) >= _WAITING:
            self.flush()

    def count(
        self, structure: int, address: bytes, side: int, number: Decimal, item: bytes | None
    ) -> None:
        """A part of a number; parts of one number that come close together are one row."""
        sofar, known = self._amounts.get((structure, address, side), (Decimal(0), None))
        self._amounts[structure, address, side] = sofar + number, known or item
        if len(self._amounts) >= _WAITING:
            self.flush()

    def remember(self, suspect: Suspect) -> None:
        """A number that differed in an earlier scan."""
        self._database.execute(
            "INSERT INTO earlier VALUES (?, ?, ?, ?)",
            (suspect.structure, suspect.address, str(suspect.said), str(suspect.found or 0)),
        )

    def earlier_numbers(self, suspect: Suspect) -> tuple[Decimal, Decimal] | None:
        row = self._database.execute(
            "SELECT said, found FROM earlier WHERE structure = ? AND address = ?",
            (suspect.structure, suspect.address),
        ).fetchone()
        return None if row is None else (Decimal(row[0]), Decimal(row[1]))

    def flush(self) -> None:
        amounts = [(*at, str(n).encode(), item) for at, (n, item) in self._amounts.items()]
        with self._database:
            self._database.executemany("INSERT INTO facts VALUES (?, ?, ?, ?, ?)", self._facts)
            self._database.executemany("INSERT INTO amounts VALUES (?, ?, ?, ?, ?)", amounts)
        self._facts, self._amounts = [], {}

    def wrong_facts(self, comparisons: Sequence[FactComparison]) -> Iterator[Suspect]:
        for (structure, address), rows in self._together("facts"):
            yield from _compare(structure, address, rows, comparisons[structure])

    def wrong_amounts(self, comparisons: Sequence[FactComparison]) -> Iterator[Suspect]:
        for (structure, address), rows in self._together("amounts"):
            totals: list[Decimal | None] = [None, None]
            items: list[bytes | None] = [None, None]
            for _, _, side, value, item in rows:
                totals[side] = (totals[side] or Decimal(0)) + Decimal(value.decode())
                items[side] = items[side] or item
            said, found = totals[SAID] or Decimal(0), totals[FOUND]
            if said != (found or 0) and (found is not None or comparisons[structure].missing):
                origins = () if items[SAID] is None else (items[SAID],)
                yield Suspect(structure, address, said, found, origins, items[FOUND])

    def _together(self, table: str) -> Iterator[tuple[Any, Iterator[Any]]]:
        self.flush()
        rows = self._database.execute(f"SELECT * FROM {table} ORDER BY structure, address, side")
        yield from groupby(rows, key=itemgetter(0, 1))


def _compare(
    structure: int, address: bytes, rows: Iterator[Row], how: FactComparison
) -> Iterator[Suspect]:
    found: bytes | None = None
    said: dict[bytes, bytes] = {}
    for _, _, side, value, item in rows:
        if side == FOUND:
            found = value
        elif how.apart:
            if found is not None and value != found:
                yield Suspect(structure, address, origins=(item,) if item is not None else ())
        elif item is not None and how.best:
            best = (max if how.best == "most" else min)([value, *said])
            said = said if best in said else {best: item}
        elif item is not None and len(said) < 2:
            said.setdefault(value, item)
    if how.apart:
        return
    lacking = how.missing if found is None else how.extra
    wrong = lacking if found is None or not said else set(said) != {found}
    if wrong:
        yield Suspect(structure, address, origins=tuple(said.values()))
