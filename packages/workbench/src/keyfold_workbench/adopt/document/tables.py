"""Tables of a document: of keys, indexes, tables, properties, attributes or access patterns."""

from __future__ import annotations

import re

from keyfold_workbench.adopt.document.blocks import CellRow, codes, plain
from keyfold_workbench.adopt.document.grid import DocumentGrid, grid_of
from keyfold_workbench.adopt.document.here import Here
from keyfold_workbench.adopt.document.key_clauses import KeyClause, key_clauses
from keyfold_workbench.adopt.document.key_side import (
    INDEX,
    NAME,
    SIDES,
    KeySide,
    index_number,
    key_side,
    row_side,
)
from keyfold_workbench.adopt.document.key_text import WrittenKey, cell_text, is_absent
from keyfold_workbench.adopt.document.notations import PERHAPS, READ_WORD, WRITE_WORD, column_roles
from keyfold_workbench.adopt.document.pattern_rows import pattern_rows
from keyfold_workbench.adopt.document.property_rows import attribute_rows, property_rows
from keyfold_workbench.adopt.document.reads import clauses_of
from keyfold_workbench.adopt.document.scope import entity_name
from keyfold_workbench.adopt.document.statements import (
    ExpiryStatement,
    IndexStatement,
    PatternStatement,
    TableStatement,
)
from keyfold_workbench.adopt.document.telling import (
    attribute_in,
    key_type,
    name_by_key,
    tell_attribute,
    tell_cell,
    tell_clauses,
    tell_key,
)

_KEY_CELL = re.compile(rf"(?i)[`*]*(?:{NAME})[`*]*\s*[:=]")


def read_table(here: Here) -> None:
    """Tell what the rows of a table say."""
    grid = grid_of(here)
    if not grid.body:
        return
    if {"rule", "severity"} <= {head.lower() for head in grid.header}:
        for row in grid.body:
            here.mark_read(row.line)  # findings about the design
        return
    first = column_roles(grid.header[grid.first])
    if grid.is_numbered and "pattern" in first:
        for row in grid.body:
            here.names.numbered.setdefault(plain(row.cells[0]), row.cells[grid.first])
    keyed = [cell for row in grid.body for _, cell in grid.key_cells(row) if not is_absent(cell)]
    attributes = bool(keyed) and all(
        attribute_in(cell) and "#" not in plain(cell).split("(")[0] for cell in keyed
    )
    in_rows = sum(_is_property(here, plain(grid.cell(row, 0))) for row in grid.body)
    reads = [
        row
        for row in grid.body
        if any(READ_WORD.search(c) or WRITE_WORD.search(c) for c in row.cells)
    ]
    told = [row for row in grid.body if any(clauses_of(c, here.names) for c in row.cells)]
    named = [plain(row.cells[0]) for row in grid.body]
    tables = grid.column("table") == grid.first and len({*named}) == len(named)
    if (
        told
        and not any(grid.sides)
        and not reads
        and all(_KEY_CELL.match(row.cells[0]) for row in told)
    ):
        _key_cells(here, told)
    elif attributes and (
        (grid.column("index") not in (None, grid.column("table")) and not tables)
        or (grid.column("table") is None and here.at.section == "indexes")
    ):
        _index_rows(here, grid)
    elif attributes and not reads and (grid.column("table") is not None or _names_tables(grid)):
        _table_rows(here, grid)
    elif any(grid.sides) and (
        "entity" in first
        or "pattern" not in first
        or here.at.section == "keys"
        or (here.at.section == "indexes" and _is_index_keys(here, grid))
    ):
        _key_rows(here, grid)
    elif in_rows > 1 or (in_rows and not reads):
        property_rows(here, grid)
    elif told and "entity" in first and not reads and here.at.section != "patterns":
        _clause_rows(here, grid)
    elif (
        told
        or any(grid.sides)
        or len(reads) * 2 >= len(grid.body)
        or (reads and here.at.section == "patterns")
    ):
        pattern_rows(here, grid)
    elif grid.column("table") is not None and any(
        re.match(r"(?i)primary key|keys?$", head) for head in grid.header
    ):
        _table_rows(here, grid)
    elif any(re.match(r"(?i)ttl|expir|retention", head) for head in grid.header[1:]):
        _expiry_rows(here, grid)
    elif grid.column("attribute") is not None and here.at.section not in ("patterns", "examples"):
        attribute_rows(here, grid)


def _names_tables(grid: DocumentGrid) -> bool:
    """The first column names something, and the key cells are attributes, as `orderId`."""
    named = [attribute_in(cell) for row in grid.body for _, cell in grid.key_cells(row)]
    own = [name for name in named if name and not key_side(name)]
    whole = all(side is None or not side.index for side in grid.sides)
    return bool(own) and whole and grid.sides[grid.first] is None and len(grid.body) > 1


def _is_index_keys(here: Here, grid: DocumentGrid) -> bool:
    """Both sides of the section's index, with templates: `Orders by day | DAY#<day> | <at>`."""
    sides = [side for side in grid.sides if side]
    keys = [cell_text(cell) for row in grid.body for _, cell in grid.key_cells(row)]
    whole = {side.index for side in sides} == {here.at.index} and len(sides) == 2
    return whole and bool(here.at.index) and all(key and key.fields for key in keys)


def _key_cells(here: Here, rows: list[CellRow]) -> None:
    """`PK`: `ORDER#<id>` in the first cell of each row."""
    for row in rows:
        found = [(row.line, clause) for clause in key_clauses(row.cells[0], here.names)]
        tell_clauses(here, found, here.at.entity, "a row of a key")


def _is_property(here: Here, label: str) -> bool:
    if row_side(label, here.names):
        return True
    return (
        re.fullmatch(rf"(?i)primary keys?|table name|ttl(?: attribute)?|{INDEX}", label) is not None
    )


def _key_rows(here: Here, grid: DocumentGrid) -> None:
    """`Order | ORDER#<id> | META`: one entity a row, or one key of the section's entity."""
    naming = grid.column("entity")
    if naming is None and grid.sides[grid.first] is None:
        naming = grid.first
    indexes = {side.index for side in grid.sides if side}
    values = _values(grid) if naming is None else set()
    if here.at.section == "examples":
        for row in grid.body:
            here.mark_read(row.line)
        return
    for row in grid.body:
        entity = (
            entity_name(grid.cell(row, naming)) or plain(grid.cell(row, naming))
            if naming is not None
            else ""
        )
        if naming is not None and re.match(r"(?i)(?:all )?others?$|\.\.\.", entity):
            here.mark_read(row.line)
            continue
        if naming is None and len(grid.body) > 1 and "" in indexes:
            entity = _named_by_key(here, grid, row)
        elif naming is None:
            entity = here.at.entity if "" in indexes or not here.at.index else _populated(here)
        number = re.match(rf"(?i){INDEX}(?=\b)", entity) if naming is not None else None
        if number and number[0][-1].isdigit() and "" in indexes:
            _tell_index_row(here, grid, row, index_number(number[0]))
            continue
        for side, cell in grid.key_cells(row):
            if side in values and (word := cell_text(cell)) and word.is_name:
                key = WrittenKey(word.text, f"Is {word.text} a value? It is read as one.")
                tell_key(here, row.line, entity, side, key, cell, "a row of keys")
            else:
                tell_cell(here, row.line, entity, side, cell, "a row of keys")
        for column, cell in enumerate(row.cells):
            if grid.sides[column] is None and column != naming and not READ_WORD.search(cell):
                found = [
                    (row.line, clause)
                    for clause in key_clauses(cell, here.names)
                    if clause.operator == "="
                ]
                told = [
                    each
                    for each in found
                    if each[1].side.attribute and each[1].side not in grid.sides
                ]
                if told and PERHAPS.search(cell):
                    here.ask(
                        row.line, f"{entity}: {told[0][1].raw} is optional; is it in the design?"
                    )
                else:
                    tell_clauses(here, told, entity, "a row of keys")
        if len(indexes) == 1 and "" not in indexes and naming is not None:
            _tell_use(here, grid, row, entity)


def _tell_index_row(here: Here, grid: DocumentGrid, row: CellRow, number: str) -> None:
    """`GSI1 open tasks | SITE#<siteId> | <createdAt> | tasks`: the keys of an index's items."""
    at = next((at for at, head in enumerate(grid.header) if _ITEMS.fullmatch(head)), None)
    entity = entity_name(grid.cell(row, at))
    here.say(IndexStatement, row.line, "a row of indexes", name=number, number=number)
    for side, cell in grid.key_cells(row):
        side = KeySide(number, side.side, "")
        tell_cell(here.about(index=number), row.line, entity, side, cell, "a row of keys")


_ITEMS = re.compile(
    r"(?i)entit(?:y|ies)|items?(?: types?)?|sparse(?: on)?|(?:used|populated|set) (?:by|on)|"
    r"applies to"
)


def _values(grid: DocumentGrid) -> set[KeySide]:
    """Columns of PK or SK whose words differ, as `kpi` and `summary`: values, no attributes."""
    found = set()
    for at, side in enumerate(grid.sides):
        told = {grid.cell(row, at) for row in grid.body}
        if side and re.fullmatch(r"(?i)(?:gsi\d*)?[ps]k", side.attribute) and len(told) > 1:
            found.add(side)
    return found


def _named_by_key(here: Here, grid: DocumentGrid, row: CellRow) -> str:
    """The name of an item in a table without names: the literal of its key."""
    keys = [cell_text(cell) for side, cell in grid.key_cells(row) if not side.index]
    return name_by_key(here, row.line, [key for key in keys if key])


def _tell_use(here: Here, grid: DocumentGrid, row: CellRow, entity: str) -> None:
    """A use case beside the keys of one index is a query by its partition key."""
    use = next(
        (
            at
            for at, head in enumerate(grid.header)
            if re.fullmatch(r"(?i)use cases?|access patterns?|query(?: pattern)?", head)
        ),
        None,
    )
    side, cell = next(((s, c) for s, c in grid.key_cells(row) if s.side == "partition"), (None, ""))
    key = cell_text(cell)
    name = plain(grid.cell(row, use))
    if use is None or side is None or key is None or is_absent(cell) or not name or is_absent(name):
        return
    clause = KeyClause(side, "=", (key,), f"{side.attribute} = {key.text}")
    here.say(
        PatternStatement,
        row.line,
        "the use case of a key",
        name=name,
        operation="query",
        index=side.index,
        clauses=(clause,),
        entity=entity,
    )


def _populated(here: Here) -> str:
    """`**Populated on:** Listing`: the entity of an index's keys, told after the table."""
    line, text = here.reading.notes_after.get(here.block.line, (0, ""))
    found = re.match(
        r"(?i)\W*(?:populated|set|used|present) (?:on|by|for|in):?\W*(?:all )?([\w ]+)", text
    )
    if not found:
        return ""
    here.mark_read(line)
    if "only" in text:
        here.ask(line, f"When is {found[1].strip()} in the index? {plain(text)}")
    return entity_name(found[1])


def _index_rows(here: Here, grid: DocumentGrid) -> None:
    """`StatusIndex | status | createdAt | ALL`: one index a row."""
    naming = grid.column("index")
    naming = grid.first if naming is None else naming
    owner = grid.column("table")
    owner = None if owner == naming else owner
    for row in grid.body:
        if owner is not None and not is_absent(grid.cell(row, owner)):
            cell = grid.cell(row, owner)
            here = here.about(table=(codes(cell) or [plain(cell)])[0])
        name = (codes(grid.cell(row, naming)) or [plain(grid.cell(row, naming))])[0]
        if is_absent(name):
            here.mark_read(row.line)
            continue
        keys = tuple(
            (side.side, attribute_in(cell), key_type(cell))
            for side, cell in grid.key_cells(row)
            if not is_absent(cell) and attribute_in(cell)
        )
        if re.match(r"(?i)(?:main|primary|base|table)\b", name):
            here.say(TableStatement, row.line, "a row of indexes", title=here.at.table, keys=keys)
            continue
        number = index_number(name) if re.fullmatch(rf"(?i){INDEX}", name) else ""
        both = re.fullmatch(
            r"(?i)((?:gsi|lsi)[ _-]?\d+)\W+(\w[\w-]+)\W*", plain(grid.cell(row, naming))
        )
        number, name = (
            (index_number(both[1]), both[2]) if both else (number, re.sub(r"\s*\(.*", "", name))
        )
        projection = plain(grid.cell(row, grid.column("projection"))).upper().replace(" ", "_")
        here.say(
            IndexStatement,
            row.line,
            "a row of indexes",
            name=name,
            number=number,
            keys=keys,
            projection=projection if projection in ("ALL", "KEYS_ONLY") else "",
            purpose=plain(grid.cell(row, grid.column("purpose"))),
        )
        for cell in row.cells:
            for clause in key_clauses(cell, here.names):
                here.ask(row.line, f"{clause.raw} is the key of which entity?")


def _table_rows(here: Here, grid: DocumentGrid) -> None:
    """`Orders | orderId | - | status-index`: one table a row."""
    naming = grid.column("table")
    naming = grid.first if naming is None else naming
    primary = next(
        (at for at, head in enumerate(grid.header) if re.match(r"(?i)primary key|keys?$", head)),
        None,
    )
    indexes = next(
        (
            at
            for at, head in enumerate(grid.header)
            if re.match(r"(?i)(?:gsi|lsi|index)(?:e?s)?\b", head)
        ),
        None,
    )
    for row in grid.body:
        cell = grid.cell(row, naming)
        title = (codes(cell) or [entity_name(cell) or plain(cell)])[0]
        there = here.about(table=title, entity="")
        pairs = [(side, inner) for side, inner in grid.key_cells(row) if not is_absent(inner)]
        if not pairs and primary is not None:
            names = [
                attribute_in(part)
                for part in re.split(r"\s*[+,/]\s*|\s+and\s+", plain(grid.cell(row, primary)))
            ]
            pairs = (
                [
                    (KeySide("", side), name)
                    for side, name in zip(SIDES, names, strict=False)
                    if name
                ]
                if all(names) and len(names) <= 2
                else []
            )
        for side, inner in pairs:
            tell_attribute(
                there,
                row.line,
                title,
                side,
                attribute_in(inner),
                key_type(inner),
                "a row of tables",
            )
        if not pairs:
            here.ask(row.line, f"What is the key of the table {title}?")
        for name in re.findall(r"[\w-]+-index\b|\w+Index\b", plain(grid.cell(row, indexes))):
            there.say(IndexStatement, row.line, "a row of tables", name=name)


def _clause_rows(here: Here, grid: DocumentGrid) -> None:
    """`Order | PK=ORDER#<id>, SK=META`: keys in one cell."""
    for row in grid.body:
        entity = entity_name(row.cells[grid.first])
        found = [
            (row.line, clause) for cell in row.cells for clause in clauses_of(cell, here.names)
        ]
        tell_clauses(here, found, entity, "a row of keys")


def _expiry_rows(here: Here, grid: DocumentGrid) -> None:
    for row in grid.body:
        days = next(
            (
                found
                for cell in row.cells
                if (found := re.search(r"(?i)(\d+)\s*days?", plain(cell)))
            ),
            None,
        )
        entity = entity_name(row.cells[grid.first])
        if days and entity:
            here.say(ExpiryStatement, row.line, "a row of expiries", entity=entity, days=days[1])
