"""A scan's rows, appended to disk, sorted once and read in one pass.

Items say what must hold because of them, and show what is there. Rows of one structure and address
meet by sorting; nothing is looked up during the scan, so memory stays small and time grows
linearly.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, Literal

import apsw

from keyfold.maintain.fact import Fact
from keyfold_engine.values.number import exact_sum

FOUND: Final = 0
SAID: Final = 1
"""Stored rows sort before expected ones."""

_WAITING: Final = 4_000
_CACHE_KIB: Final = 16_000


@dataclass(frozen=True)
class FactComparison:
    """How facts of one kind are compared with what is found."""

    adds: bool = False
    """Numbers are summed; otherwise everything said of one address must agree."""
    missing: bool = True
    """Said but not found is an error."""
    extra: bool = True
    """Found but not said is an error."""
    best: Literal["", "most", "least"] = ""
    """The greatest or least of everything said holds."""
    apart: bool = False
    """Each statement about an address is checked separately."""


@dataclass(frozen=True)
class Suspect:
    """A mismatch; it is checked again before it is reported as drift."""

    structure: int
    address: bytes
    said: Decimal | None = None
    found: Decimal | None = None
    origins: tuple[bytes, ...] = ()
    """Items that say it; two if they contradict each other."""
    holder: bytes | None = None
    """The item that holds the number."""


Row = tuple[int, bytes, int, bytes, bytes | None]


class RowLog:
    """The rows of one scan, in a temporary file that SQLite removes."""

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
        self._amounts: list[Row] = []
        self._sums: dict[tuple[int, Hashable], tuple[Fact, bytes]] = {}

    def close(self) -> None:
        self._database.close()

    def say(self, structure: int, address: bytes, value: bytes, item: bytes) -> None:
        """A fact that an item says."""
        self._facts.append((structure, address, SAID, value, item))
        if len(self._facts) >= _WAITING:
            self.flush()

    def show(
        self, structure: int, address: bytes, value: bytes | Decimal, holder: bytes | None
    ) -> None:
        """What is there; of a number, also the item that holds it."""
        if isinstance(value, Decimal):
            self._amounts.append((structure, address, FOUND, str(value).encode(), holder))
        else:
            self._facts.append((structure, address, FOUND, value, None))
        if len(self._facts) + len(self._amounts) >= _WAITING:
            self.flush()

    def count(self, structure: int, amount: Fact) -> bool:
        """Add to a number of which a part was said lately; False if there was none."""
        at = structure, amount.identity
        known = self._sums.get(at)
        if known is None:
            return False
        self._sums[at] = known[0].join(amount), known[1]
        return True

    def count_first(self, structure: int, amount: Fact, item: bytes) -> None:
        """A part of a number; those that come close together are one row."""
        self._sums[structure, amount.identity] = amount, item
        if len(self._sums) >= _WAITING:
            self.flush()

    def remember(self, suspect: Suspect) -> None:
        """Record a number that differed in an earlier scan."""
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
        for (structure, _), (amount, item) in self._sums.items():
            address, number = amount.row
            self._amounts.append((structure, address, SAID, str(number).encode(), item))
        with self._database:
            self._database.executemany("INSERT INTO facts VALUES (?, ?, ?, ?, ?)", self._facts)
            self._database.executemany("INSERT INTO amounts VALUES (?, ?, ?, ?, ?)", self._amounts)
        self._facts, self._amounts, self._sums = [], [], {}

    def wrong_facts(self, comparisons: Sequence[FactComparison]) -> Iterator[Suspect]:
        for (structure, address), rows in self._groups("facts"):
            yield from _compare(structure, address, rows, comparisons[structure])

    def wrong_amounts(self, comparisons: Sequence[FactComparison]) -> Iterator[Suspect]:
        for (structure, address), rows in self._groups("amounts"):
            totals: list[Decimal | None] = [None, None]
            items: list[bytes | None] = [None, None]
            for _, _, side, value, item in rows:
                totals[side] = exact_sum([totals[side] or 0, Decimal(value.decode())])
                items[side] = items[side] or item
            said, found = totals[SAID] or Decimal(0), totals[FOUND]
            if said != (found or 0) and (found is not None or comparisons[structure].missing):
                origins = () if items[SAID] is None else (items[SAID],)
                yield Suspect(structure, address, said, found, origins, items[FOUND])

    def _groups(self, table: str) -> Iterator[tuple[Any, Iterator[Any]]]:
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
