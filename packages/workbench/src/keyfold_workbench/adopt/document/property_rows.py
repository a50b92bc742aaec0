"""Rows of properties and of attributes: `Partition key | userId`, `total | Number`."""

from __future__ import annotations

import re

from keyfold_workbench.adopt.document.blocks import CellRow, codes, plain
from keyfold_workbench.adopt.document.grid import DocumentGrid
from keyfold_workbench.adopt.document.here import Here
from keyfold_workbench.adopt.document.key_side import (
    INDEX,
    SIDES,
    KeySide,
    index_number,
    key_side,
    row_side,
)
from keyfold_workbench.adopt.document.key_text import cell_text, is_absent
from keyfold_workbench.adopt.document.notations import KIND, attribute_type, column_roles
from keyfold_workbench.adopt.document.statements import (
    AttributeStatement,
    IndexStatement,
    TableStatement,
)
from keyfold_workbench.adopt.document.telling import (
    attribute_in,
    key_type,
    tell_attribute,
    tell_cell,
)

_HOLE_FIRST = re.compile(r"`?\$?[{<]")
_TEMPLATE = re.compile(r"#|^`?\$?[{<]|^`[A-Z_]+`$")
_TABLE = re.compile(r"(?i)\btable\b")
_SAME_KEY = re.compile(r"(?i)(?:the )?same as (?:the )?(?:pk|partition key)\b")


def property_rows(here: Here, grid: DocumentGrid) -> None:
    """`Partition key | userId`, `PK | USER#<id>`: one property a row."""
    order = ("value", "attribute", "purpose", "")
    others = [
        c
        for c in range(len(grid.header))
        if c and not {"type", "example"} & {*column_roles(grid.header[c])[:1]}
    ]
    others.sort(
        key=lambda c: min(
            (order.index(r) for r in column_roles(grid.header[c]) if r in order), default=3
        )
    )
    index = here.at.index
    for row in grid.body:
        if re.fullmatch(r"(?i)(?:index|gsi|lsi) name", plain(row.cells[0])) and len(row.cells) > 1:
            index = index or (codes(row.cells[1]) or [plain(row.cells[1])])[0]
            here = here.about(index=index)
    kinds = [codes(row.cells[1]) for row in grid.body
             if len(row.cells) > 1 and KIND.fullmatch(plain(row.cells[0]))]  # fmt: skip
    if len(kinds) == 1 and len(kinds[0]) == 1 and re.fullmatch(r"[A-Z][A-Z_]+", kinds[0][0]):
        here = here.about(entity=kinds[0][0].replace("_", " ").capitalize())
    partition = ""
    for row in grid.body:
        label = plain(row.cells[0])
        side = row_side(label, here.names)
        told = [row.cells[c] for c in others if c < len(row.cells) and row.cells[c]]
        named = [cell for cell in told if key_side(cell, here.names)]
        told = [
            cell
            for cell in told
            if cell not in named and (_HOLE_FIRST.match(cell) or not attribute_type(cell)[0])
        ]
        if side and named and not any(map(_TEMPLATE.search, told)):
            told_name = attribute_in(named[0])
            own = (told_name if not key_side(told_name) else "") or side.attribute
            kind = key_type(" ".join(row.cells[1:]))
            where = KeySide(side.index, side.side, own)
            tell_attribute(here, row.line, "", where, own, kind, "a row of a property")
            continue
        told = told or named
        if side and side.side == "sort" and any(_SAME_KEY.match(plain(cell)) for cell in told):
            if "#" not in partition:
                here.ask(row.line, "The sort key is the partition key again. Is there one?")
                continue
            told = [partition]
        keyed = (cell for cell in told if "#" in cell or _HOLE_FIRST.match(cell))
        cell = next(keyed, next(iter(told), ""))
        partition = cell if side and side.side == "partition" else partition
        if side:
            where = KeySide(
                side.index if side.index not in ("", "*") else index, side.side, side.attribute
            )
            bare = side.attribute in here.names.attributes and not cell_text(cell)
            if bare and where.index:
                cells = " ".join(row.cells[1:])
                tell_attribute(
                    here,
                    row.line,
                    "",
                    where,
                    side.attribute,
                    key_type(cells),
                    "a row of a property",
                )
            else:
                tell_cell(here, row.line, here.at.entity, where, cell, "a row of a property")
        elif re.fullmatch(r"(?i)(?:(?:index|gsi|lsi) )?name", label) and index:
            name = (codes(cell) or [plain(cell)])[0]
            number = index if re.fullmatch(rf"(?i){INDEX}", index) else ""
            here.say(IndexStatement, row.line, "a row of a property", name=name, number=number)
        elif not tell_property(here, row.line, label, cell):
            _tell_attribute_row(here, grid, row, 0)


def tell_property(here: Here, line: int, label: str, value: str) -> bool:
    """A table's name, time to live, stream, key or index, as a label with its value."""
    first = (codes(value) or [re.sub(r"\s*\(.*", "", plain(value))])[0]
    if attribute_type(first)[0] and "table" not in label.lower():
        return False
    if here.at.section == "patterns":
        return False
    named = r"(?i)(?:physical )?table(?: name)?|(?:index |gsi |lsi )?name|tabla|nome da tabela"
    if re.fullmatch(named, label):
        if (
            label.lower().endswith("name")
            and "table" not in label.lower()
            and (here.at.index or here.at.section == "indexes")
        ):
            number = here.at.index if re.fullmatch(rf"(?i){INDEX}", here.at.index) else ""
            here.say(IndexStatement, line, "a property", name=first, number=number)
            return True
        if (
            re.fullmatch(r"[\w.${}<>-]+", first)
            and (not label.lower().endswith(" name") or "table" in label.lower())
            and (
                label.lower() != "name"
                or (codes(value) and _TABLE.search(" ".join(here.block.path[1:])))
            )
        ):
            here.say(TableStatement, line, "a property", title=here.at.table, name=first)
            return True
    elif re.match(r"(?i)ttl\b|time to live", label) and not is_absent(value):
        if (
            re.match(rf"\W*{re.escape(first)}\b", value)
            and re.fullmatch(r"[A-Za-z_]\w*", first)
            and not re.fullmatch(
                r"(?i)enabled|disabled|yes|off|on|epoch|true|false|optional", first
            )
        ):
            same = first.lower() == label.lower() and not codes(value)  # ttl | TTL (30 days)
            ttl = label if same else first
            here.say(TableStatement, line, "a property", title=here.at.table, ttl=ttl)
            return True
    elif re.match(r"(?i)streams?\b", label) and (
        image := re.search(r"NEW_AND_OLD_IMAGES|NEW_IMAGE|OLD_IMAGE|KEYS_ONLY", value)
    ):
        here.say(TableStatement, line, "a property", title=here.at.table, stream=image[0])
        return True
    elif re.match(r"(?i)(?:primary key|pk ?/ ?sk)", label):
        spans = [span for span in codes(value) if attribute_in(span)]
        for side, span in zip(SIDES, spans, strict=False):
            tell_attribute(here, line, here.at.entity, KeySide("", side), span, "S", "a property")
        return bool(spans)
    elif re.fullmatch(rf"(?i){INDEX}", label):
        return tell_index(here, line, label, value)
    return False


def tell_index(here: Here, line: int, number: str, text: str) -> bool:
    """`GSI1`: ExternalIdIndex (`GSI1PK`, `GSI1SK`) — purpose."""
    short = index_number(number)
    spans = [span for span in codes(text) if attribute_in(span) == span]
    keys = [span for span in spans if key_side(span, here.names)]
    keys = keys or [span for span in spans if not re.search(r"(?i)index$", span)]
    keys = keys or re.findall(rf"(?i)\b{short}_?[PS]K\b", text)
    named = re.search(r"\b([\w-]+[Ii]ndex)\b", plain(text))
    if not keys or len(keys) > 2 or "#" in "".join(codes(text)):
        return False
    purpose = re.split(r"\s[\u2014\u2013-]\s", plain(text), maxsplit=1)
    here.say(
        IndexStatement,
        line,
        "a line of an index",
        number=short,
        name=named[1] if named else number,
        purpose=purpose[1] if len(purpose) > 1 else "",
        keys=tuple((side, name, "S") for side, name in zip(SIDES, keys, strict=False)),
    )
    return True


def attribute_rows(here: Here, grid: DocumentGrid) -> None:
    """`total | Number | in cents`: one attribute a row."""
    column = grid.column("attribute")
    if column is not None and (grid.column("type") is not None or here.at.entity):
        for row in grid.body:
            _tell_attribute_row(here, grid, row, column)


def _tell_attribute_row(here: Here, grid: DocumentGrid, row: CellRow, column: int) -> None:
    cell = grid.cell(row, column)
    name = (codes(cell) or [plain(cell)])[0]
    kind = grid.cell(row, grid.column("type"))
    rest = [inner for at, inner in enumerate(row.cells) if at != column]
    mark = next(filter(None, map(key_mark, [cell, *rest])), None)
    name = re.sub(r"\s*\([^()]*\)$", "", name)
    if mark and re.fullmatch(r"[A-Za-z_]\w*", name):
        side = KeySide(mark.index, mark.side, name)
        tell_attribute(
            here,
            row.line,
            here.at.entity,
            side,
            name,
            key_type(kind),
            "an attribute marked as a key",
        )
    written = attribute_type("string" if plain(kind) == "id" else kind)
    required = next((at for at, head in enumerate(grid.header) if head.lower() == "required"), None)
    optional = (
        written.optional
        or re.match(r"(?i)no\b", plain(grid.cell(row, required))) is not None
        or name.endswith("?")
        or bool(re.match(r"(?i)optional\b", plain(" ".join(rest))))
        or any(part.strip() == "optional" for inner in rest for part in inner.split(","))
    )
    name = name.rstrip("?")
    own = here.at.entity or here.at.section == "attributes"
    if not re.fullmatch(r"[A-Za-z_]\w*", name) or not own:
        return
    values = written.values
    if not values and written.type == "string":
        listed = (
            re.fullmatch(r"((?:`[\w-]+`(?:\s*(?:/|,|\||or|, or)\s*)?){2,})\.?", rest[-1].strip())
            if rest
            else None
        )
        values = tuple(codes(listed[1])) if listed else ()
    here.say(
        AttributeStatement,
        row.line,
        "a row of attributes",
        entity=here.at.entity,
        name=name,
        type=written.type,
        stored=written.stored,
        optional=optional,
        values=values,
    )


def key_mark(cell: str) -> KeySide | None:
    """`PK`, `**Partition key**. …`, `String (sort key)`: the cell marks its attribute as a key."""
    text = plain(cell)
    inner = re.search(
        r"(?i)\((pk|sk|hash|range|partition key|sort key|hash key|range key)\)|"
        r"^((?:partition|sort|hash|range) key)\b|^([ps]k)\s*(?:[-\u2013\u2014,(]|$)|"
        r"\((primary key)\)|^(primary key)$",
        text,
    )
    if inner and (inner[4] or inner[5]):
        return KeySide("", "partition")
    return key_side(text) or (key_side(inner[1] or inner[2] or inner[3]) if inner else None)
