"""Reads the pages of a data file without SQLite.

SQLite finds a page through its parents, so a damaged page hides everything below it. keyfold's
files record the parent of each page (the pointer map of `auto_vacuum`), so an intact page is found
and identified whatever happened to the others. The page format is that of
https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from struct import Struct
from typing import Any

import apsw

from keyfold_engine.engine.storage import checksums

SCHEMA_ROOT = 1
_HEADER_BYTES = 100
_LOCK_BYTE = 0x4000_0000
_TABLE_LEAF, _TABLE_INNER, _INDEX_LEAF, _INDEX_INNER = 0x0D, 0x05, 0x0A, 0x02
_ROOT, _FREE = 1, 2
_OVERFLOW = (3, 4)
_double = Struct(">d").unpack

Values = list[Any]


class PageDamaged(Exception):
    """A page fails its checksum."""


class Pages:
    """One file, page by page."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._file.seek(0, 2)
        # The header itself may be damaged; keyfold has always used this page size.
        self.size = 4096
        self.count = self._file.tell() // self.size
        self._usable = self.size - checksums.BYTES
        self._per_map = self._usable // 5 + 1
        layer = checksums.layer()
        self._verify = apsw.Connection(":memory:", vfs=layer).execute

    def close(self) -> None:
        self._file.close()

    def read(self, number: int, *, trusting: bool = False) -> bytes:
        """A page, with or without checking its checksum."""
        self._file.seek((number - 1) * self.size)
        page = self._file.read(self.size)
        if len(page) < self.size or not (trusting or self.is_whole(page)):
            raise PageDamaged(f"page {number}")
        return page

    def is_whole(self, page: bytes) -> bool:
        # A page that was never written is all zeros, and so is its checksum.
        return self._verify("SELECT verify_checksum(?)", (page,)).fetchall() == [(1,)]

    def is_overflow(self, number: int) -> bool:
        """Whether a page is an overflow page, which is read with its row."""
        try:
            in_tree = number == SCHEMA_ROOT or self.is_map(number)
            return not in_tree and self._above(number)[0] in _OVERFLOW
        except PageDamaged:
            return False

    def damaged(self) -> Iterator[int]:
        for number in range(1, self.count + 1):
            if number != _LOCK_BYTE // self.size + 1:
                try:
                    self.read(number)
                except PageDamaged:
                    yield number

    def root(self, number: int) -> int | None:
        """The root of a page's tree; None for free pages or if unknown."""
        for _ in range(self.count):
            if number == SCHEMA_ROOT or self.is_map(number):
                return SCHEMA_ROOT if number == SCHEMA_ROOT else None
            try:
                kind, above = self._above(number)
            except PageDamaged:
                return None
            if kind == _ROOT:
                return number
            if kind == _FREE or not 0 < above <= self.count:
                return None
            number = above
        return None

    def below(self, root: int) -> list[int]:
        """The pages of a tree below its root, as far as intact pages lead."""
        found, todo = [], [root]
        while todo:
            number = todo.pop()
            if not 0 < number <= self.count or number in found:
                continue
            found.append(number)
            try:
                page = self.read(number)
            except PageDamaged:
                continue
            start = _HEADER_BYTES if number == SCHEMA_ROOT else 0
            if page[start] in (_TABLE_INNER, _INDEX_INNER):
                count = _number(page, start + 3, 2)
                cells = [_number(page, start + 12 + 2 * cell, 2) for cell in range(count)]
                todo += [_number(page, at, 4) for at in (start + 8, *cells)]
        return found

    def _map_of(self, number: int) -> int:
        found = (number - 2) // self._per_map * self._per_map + 2
        return found + (found == _LOCK_BYTE // self.size + 1)

    def is_map(self, number: int) -> bool:
        return self._map_of(number) == number

    def _above(self, number: int) -> tuple[int, int]:
        where = self._map_of(number)
        start = 5 * (number - where - 1)
        entry = self._map(where)[start : start + 5]
        return entry[0], int.from_bytes(entry[1:], "big")

    @cache  # noqa: B019
    def _map(self, number: int) -> bytes:
        return self.read(number)

    # Rows

    def rows(
        self, number: int, *, trusting: bool = False
    ) -> Iterator[tuple[int, Values] | PageDamaged]:
        """The row number and values of a page's rows, including overflow pages."""
        page = self.read(number, trusting=trusting)
        start = _HEADER_BYTES if number == SCHEMA_ROOT else 0
        kind = page[start]
        if kind not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER):
            return
        first = start + (12 if kind == _INDEX_INNER else 8)
        for cell in range(_number(page, start + 3, 2)):
            at = _number(page, first + 2 * cell, 2)
            try:
                yield self._row(page, at + (4 if kind == _INDEX_INNER else 0), kind)
            except PageDamaged as damage:
                yield damage
            except (IndexError, ValueError, KeyError):
                # Happens only on a damaged page.
                yield PageDamaged(f"page {number}")

    def _row(self, page: bytes, at: int, kind: int) -> tuple[int, Values]:
        length, at = _varint(page, at)
        row = 0
        if kind == _TABLE_LEAF:
            row, at = _varint(page, at)
        here = self._length_here(length, is_table=kind == _TABLE_LEAF)
        content = page[at : at + here]
        if here < length:
            content += self._rest(
                int.from_bytes(page[at + here : at + here + 4], "big"), length - here
            )
        return row, _values(content)

    def _length_here(self, length: int, *, is_table: bool) -> int:
        """How much of a row is on its own page."""
        usable = self._usable
        most = usable - 35 if is_table else (usable - 12) * 64 // 255 - 23
        if length <= most:
            return length
        least = (usable - 12) * 32 // 255 - 23
        wanted = least + (length - least) % (usable - 4)
        return wanted if wanted <= most else least

    def _rest(self, number: int, length: int) -> bytes:
        parts = []
        while length > 0:
            page = self.read(number)
            parts.append(page[4 : 4 + min(length, self._usable - 4)])
            length -= len(parts[-1])
            number = int.from_bytes(page[:4], "big")
        return b"".join(parts)


def _number(content: bytes, at: int, length: int) -> int:
    return int.from_bytes(content[at : at + length], "big")


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for _ in range(8):
        byte = content[at]
        at += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at
    return value << 8 | content[at], at + 1


_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def _values(content: bytes) -> Values:
    """The values of a record."""
    end, at = _varint(content, 0)
    kinds = []
    while at < end:
        kind, at = _varint(content, at)
        kinds.append(kind)
    values: Values = []
    for kind in kinds:
        if kind in (0, 8, 9):
            values.append(None if kind == 0 else kind - 8)
        elif kind == 7:
            (number,) = _double(content[at : at + 8])
            values.append(number)
            at += 8
        elif kind < 7:
            length = _INTEGER_BYTES[kind]
            values.append(int.from_bytes(content[at : at + length], "big", signed=True))
            at += length
        else:
            length = (kind - 12) // 2
            raw = content[at : at + length]
            values.append(raw if kind % 2 == 0 else raw.decode("utf-8", "replace"))
            at += length
    return values
