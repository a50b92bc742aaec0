"""A table of a document with the roles of its columns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from keyfold_workbench.adopt.document.blocks import CellRow, codes, plain
from keyfold_workbench.adopt.document.here import Here
from keyfold_workbench.adopt.document.key_side import INDEX, KeySide, Side, index_number, key_side
from keyfold_workbench.adopt.document.key_text import is_absent, key_text
from keyfold_workbench.adopt.document.notations import AFTER, BEFORE, column_roles

_PAIR = re.compile(
    r"(?i)(.*?(?:pk|partition key|hash key))\s*(?:/|\+|,|&|and)\s*(.*?(?:sk|sort key|range "
    r"key))(?:\s+\w+)?"
)
_KEYS = re.compile(
    r"(?i)(?:(?:primary|index|gsi|table|main|composite) )?(?:keys?|pk ?/ ?sk)"
    r"(?: ?(?:schema|structure|attributes?|fields?|design|pattern|format)s?)?"
)
_MARKED = re.compile(r"(?i)^(?:pk|sk|hash|range|partition(?: key)?|sort(?: key)?)\s*[:=]\s*")
_SAME = re.compile(
    r"(?i)(?:the )?same(?: as (?:above|before)| (?P<of>\w+) partition| \w+)?"
    r"|ditto|\u2033|\"|c\u00f9ng item"
)


@dataclass
class DocumentGrid:
    """A table with the roles of its columns."""

    header: list[str]
    sides: list[KeySide | None]
    body: list[CellRow]

    def column(self, role: str) -> int | None:
        """The first column that can have a role and is no key column."""
        for column, head in enumerate(self.header):
            if self.sides[column] is None and role in column_roles(head):
                return column
        return None

    def cell(self, row: CellRow, column: int | None) -> str:
        return row.cells[column] if column is not None and column < len(row.cells) else ""

    @property
    def first(self) -> int:
        """The column that names the rows: not their numbers, unless only these name them."""
        return 1 if self.is_numbered and len(self.header) > 1 else 0

    @cached_property
    def is_numbered(self) -> bool:
        return all(
            re.fullmatch(r"#?[A-Za-z]{0,3}-?\d+[a-z]?\.?", plain(self.cell(row, 0)))
            for row in self.body
        )

    def key_cells(self, row: CellRow) -> list[tuple[KeySide, str]]:
        return [(side, self.cell(row, at)) for at, side in enumerate(self.sides) if side]


def grid_of(here: Here) -> DocumentGrid:
    rows = list(here.block.rows)
    heads = [plain(cell) for cell in rows[0].cells]
    if any(map(AFTER.search, heads)):
        rows = [
            _without(row, [at for at, head in enumerate(heads) if BEFORE.search(head)])
            for row in rows
        ]
    for column in reversed(range(len(rows[0].cells))):
        pair = _PAIR.fullmatch(plain(rows[0].cells[column]))
        if pair:
            rows = [_apart(row, column, pair) for row in rows]
    for column in reversed(range(len(rows[0].cells))):
        if any(key_side(plain(row.cells[0])) for row in rows[1:]):
            break  # each row is about one side
        if _KEYS.fullmatch(plain(rows[0].cells[column])) and (keys := _key_lists(rows, column)):
            rows = [_with_keys(row, column, pair) for row, pair in zip(rows, keys, strict=True)]
    for column in reversed(range(1, len(rows[0].cells))):
        if here.names.index_called(plain(rows[0].cells[column])) and "entity" in column_roles(
            heads[0]
        ):
            rows = [_placed(row, column, first=row is rows[0]) for row in rows]
    header = [plain(cell) for cell in rows[0].cells]
    sides = [key_side(head, here.names) or _placed_side(here, head) for head in header]
    if any(side and not side.index for side in sides):  # the columns of the table's own key
        sides = [here.names.of_table.get(side.attribute, side) if side and side.index == "*"
                 else side for side in sides]  # fmt: skip
    for column, head in enumerate(header):  # GSI2 beside GSI2SK is its partition key
        beside = sides[column + 1] if column + 1 < len(sides) else None
        if (
            sides[column] is None
            and re.fullmatch(rf"(?i){INDEX}", head)
            and beside
            and beside.index == index_number(head)
        ):
            sides[column] = KeySide(index_number(head), "partition", "")
    if not any(side and side.side == "partition" for side in sides):
        sides = [None if re.fullmatch(r"(?i)sort(?:ing)?|range", head) else side
                 for head, side in zip(header, sides, strict=True)]  # fmt: skip
    if {side.side for side in sides if side} == {"sort"}:  # Primary key beside Sort key
        sides = [KeySide("", "partition") if re.fullmatch(r"(?i)primary(?: key)?", head) else side
                 for head, side in zip(header, sides, strict=True)]  # fmt: skip
    inside = here.at.index if all(side is None or not side.index for side in sides) else ""
    if inside:
        sides = [side and KeySide(inside, side.side, "") for side in sides]
    filled = rows[:1]
    for row in rows[1:]:
        filled.append(_filled(row, filled))
    return DocumentGrid(header, sides, [row for row in filled[1:] if any(row.cells)])


def _without(row: CellRow, columns: list[int]) -> CellRow:
    """A row without the columns of the state before."""
    return CellRow(row.line, tuple(cell for at, cell in enumerate(row.cells) if at not in columns))


def _apart(row: CellRow, column: int, pair: re.Match[str]) -> CellRow:
    """One column `PK / SK` as two."""
    cell = row.cells[column] if column < len(row.cells) else ""
    if plain(cell) == pair[0]:
        parts = [pair[1], pair[2]]
    elif len(codes(cell)) == 2:
        parts = codes(cell)
    else:
        parts = re.split(r"\s+[/+,]\s+|\s*[/+]\s*(?=[A-Z]+#)", cell.replace("`", ""))
    parts = [part.strip() for part in parts] if len(parts) <= 2 else [cell, cell]
    return CellRow(row.line, (*row.cells[:column], *[*parts, ""][:2], *row.cells[column + 1 :]))


def _key_lists(rows: list[CellRow], column: int) -> list[list[str]]:
    """Both sides of each cell of a column of keys, as `userId` + `createdAt`."""
    found = [["PK", "SK"]]
    for row in rows[1:]:
        cell = row.cells[column] if column < len(row.cells) else ""
        spans = codes(cell)
        parts = spans if len(spans) == 2 else re.split(r"\s+[/+]\s+|,\s*|\s+and\s+", plain(cell))
        parts = [_MARKED.sub("", re.sub(r"\s*\([^()]*\)$", "", part)).strip() for part in parts]
        if is_absent(cell):
            parts = [""]
        elif len(parts) > 2 or not all(_is_key_part(part) for part in parts):
            return []
        found.append([*parts, ""][:2])
    alone = all(not pair[1] for pair in found[1:])
    return [] if alone and any(key_side(pair[0]) for pair in found[1:]) else found


def _placed(row: CellRow, column: int, *, first: bool) -> CellRow:
    """A column with the name of an index, as two: ``STATUS#<s>` `ORDER#<id>``."""
    cell = row.cells[column] if column < len(row.cells) else ""
    if first:
        return _with_keys(row, column, [f"{plain(cell)} PK", f"{plain(cell)} SK"])
    whole = re.fullmatch(r"(`[^`]+`)(?:\s*[/+]?\s*(`[^`]+`))?", cell)
    return _with_keys(row, column, [whole[1], whole[2] or ""] if whole else [cell, ""])


def _placed_side(here: Here, head: str) -> KeySide | None:
    """A column of the keys of an index: `UserIndex PK`."""
    number = here.names.index_called(head[:-3])
    sides: dict[str, Side] = {" PK": "partition", " SK": "sort"}
    return KeySide(number, sides[head[-3:]]) if number and head[-3:] in sides else None


def _is_key_part(text: str) -> bool:
    if re.fullmatch(r"[A-Za-z_]\w*", text):
        return True
    key = key_text(text)
    return key is not None and "#" in text


def _with_keys(row: CellRow, column: int, pair: list[str]) -> CellRow:
    return CellRow(row.line, (*row.cells[:column], *pair, *row.cells[column + 1 :]))


def _filled(row: CellRow, above: list[CellRow]) -> CellRow:
    """A row with `same as above`, or `same order partition`, replaced."""
    cells = []
    for at, cell in enumerate(row.cells):
        same = _SAME.fullmatch(plain(cell))
        told = [other.cells[at] for other in above[1:] if at < len(other.cells)] if same else []
        if same and same["of"]:
            told = [each for each in told if same["of"].lower() in each.lower()]
        cells.append(told[-1] if told else cell)
    return CellRow(row.line, tuple(cells))
