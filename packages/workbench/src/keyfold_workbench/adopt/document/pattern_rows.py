"""Rows of access patterns: `List orders | Query | PK=CUSTOMER#<id>`."""

from __future__ import annotations

import re

from keyfold_workbench.adopt.document.blocks import CellRow, codes, plain
from keyfold_workbench.adopt.document.grid import DocumentGrid
from keyfold_workbench.adopt.document.here import Here
from keyfold_workbench.adopt.document.key_clauses import KeyClause
from keyfold_workbench.adopt.document.key_side import KeySide, key_side
from keyfold_workbench.adopt.document.key_text import cell_text, is_absent, key_text
from keyfold_workbench.adopt.document.notations import READ_WORD
from keyfold_workbench.adopt.document.reads import clauses_of, tell_read, with_side
from keyfold_workbench.adopt.document.scope import ordered_words


def pattern_rows(here: Here, grid: DocumentGrid) -> None:
    """`List orders | Query | PK=CUSTOMER#<id>`: one access pattern a row."""
    index = grid.column("index")
    index = next(
        (
            at
            for at, head in enumerate(grid.header)
            if re.search(r"(?i)\bindex\b|\bgsi\b|^from$", head) and not grid.sides[at]
        ),
        index,
    )
    first = grid.first
    known = here.names.numbered
    if grid.is_numbered and any(
        known.get(plain(r.cells[0]), r.cells[1]) != r.cells[1] for r in grid.body
    ):
        first = 0  # the numbers of a table that names the patterns
    sorting = {
        at for at, head in enumerate(grid.header) if re.match(r"(?i)sort(?:ing)?$|order$", head)
    }
    for row in grid.body:
        name = grid.cell(row, first)
        name = known.get(plain(name), name) if first == 0 else name
        rest = [cell for at, cell in enumerate(row.cells) if at > first and at not in sorting]
        order = [cell for at, cell in enumerate(row.cells) if at in sorting]
        found = [clause for cell in rest for clause in clauses_of(cell, here.names)]
        for side, cell in grid.key_cells(row):
            if not is_absent(cell) and not clauses_of(cell, here.names):
                found += _side_cell(side, cell)
        found += _whole_partition(grid, row, found)
        named = plain(grid.cell(row, index))
        owner = ordered_words(grid.cell(row, grid.column("table")) or named)
        words = {title: ordered_words(title) for title in here.names.tables} if owner else {}
        ending = [t for t, own in words.items() if owner and own[-len(owner) :] == owner]
        same = [title for title in ending if words[title] == owner]
        table = next(iter(same), ending[0] if len(ending) == 1 else "")
        number = here.names.index_in(named)
        if number:
            found = [
                with_side(clause, number)
                if not clause.side.attribute
                or key_side(clause.side.attribute)
                == KeySide("", clause.side.side, clause.side.attribute)
                else clause
                for clause in found
            ]
        limits = [
            f"limit {cell}" for head, cell in zip(grid.header, row.cells, strict=False)
            if head.lower() == "limit" and cell.isdecimal()
        ]  # fmt: skip
        text = " | ".join([*rest, *(f"order {cell}" for cell in order), *limits])
        if not found and _condition_cell(grid, row) == "" and not READ_WORD.search(text):
            here.ask(row.line, f"{plain(name)}: by which key? Its key condition is empty.")
            continue
        told = tell_read(
            here.about(
                index=number if found or number else here.at.index, table=table or here.at.table
            ),
            row.line,
            name,
            text,
            found,
            "a row of a pattern",
            named,
        )
        if not told and row.line not in here.reading.marks and (found or READ_WORD.search(text)):
            here.ask(row.line, f"{plain(name)}: by which key?")


def _condition_cell(grid: DocumentGrid, row: CellRow) -> str | None:
    """What stands below Key condition, if there is such a column."""
    heads = (at for at, head in enumerate(grid.header) if head.lower() == "key condition")
    at = next(heads, None)
    return None if at is None else grid.cell(row, at)


def _whole_partition(grid: DocumentGrid, row: CellRow, found: list[KeyClause]) -> list[KeyClause]:
    """``ORDER#<id>`, `SK = META`` below Key condition: the partition without its name."""
    if any(clause.side.side == "partition" and clause.side.index != "*" for clause in found):
        return []
    cell = _condition_cell(grid, row) or ""
    told = re.match(r"`([^`]+)`(?:\s*,|$)", cell)
    if told is None or re.search(r"[=<>]\s|[=(]", told[1]) or len(codes(cell)) > 1 + len(found):
        return []
    return [KeyClause(KeySide("", "partition"), "=", (key_text(told[1]),), told[1])]


def _side_cell(side: KeySide, cell: str) -> list[KeyClause]:
    """A condition in a key's column: `ORDER#<id>`, `begins_with ORDER#`, `>= <date>`."""
    text = plain(cell)
    if found := re.match(
        r"(?i)(?:begins?[_ ]?with|starts?[_ ]?with)\s*\(?[\"']?(.+?)[\"']?\)?$", text
    ):
        return [KeyClause(side, "begins_with", (key_text(found[1]),), text)]
    if found := re.match(r"(?i)between\s+(.+?)\s+and\s+(.+)$", text):
        return [KeyClause(side, "between", (key_text(found[1]), key_text(found[2])), text)]
    if found := re.match(r"(>=|<=|>|<(?!\w+>)|=)\s*(.+)$", text):
        return [KeyClause(side, found[1], (key_text(found[2]),), text)]  # type: ignore[arg-type]
    return [KeyClause(side, "=", (cell_text(cell),), text)]
