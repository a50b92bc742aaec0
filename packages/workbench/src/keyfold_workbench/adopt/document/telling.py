"""From a cell or a clause to a statement: keys of entities, of tables and of indexes."""

from __future__ import annotations

import re
from dataclasses import replace

from keyfold_workbench.adopt.document.blocks import codes, plain
from keyfold_workbench.adopt.document.here import Here
from keyfold_workbench.adopt.document.key_clauses import KeyClause, key_clauses
from keyfold_workbench.adopt.document.key_side import SIDES, KeySide, key_side
from keyfold_workbench.adopt.document.key_text import WrittenKey, cell_text, is_absent, key_text
from keyfold_workbench.adopt.document.statements import IndexStatement, KeyStatement, TableStatement

_TYPE = re.compile(r"(?i)s|n|b|string|str|number|binary")
_NO_NAME = re.compile(r"(?i)required|optional|string|number|binary|unique|composite|simple|yes|no")


_INDEX_KEYS = re.compile(r"(?i)(?:index|gsi|lsi) (?:keys?|key (?:schema|structure|attributes))")


def attribute_in(cell: str) -> str:
    """The attribute that a cell names as a key, as `userId` (String); empty if it names none."""
    text = re.sub(r"\s*\([^()]*\).*$", "", plain(cell)).strip()
    spans = codes(cell)
    text = spans[0] if spans and not re.fullmatch(r"\w[\w-]*", text) else text
    if _NO_NAME.fullmatch(text) or is_absent(text):
        return ""
    return text if re.fullmatch(r"[A-Za-z_][\w-]*", text) else ""


def key_type(text: str) -> str:
    """S, N or B from `userId (Number)`; S if it is not said."""
    found = re.search(r"(?i)\b(number|binary|n|b)\b(?![#-])", re.sub(r"`[^`]*`", "", text))
    return found[1][0].upper() if found else "S"


def tell_cell(here: Here, line: int, entity: str, side: KeySide, cell: str, notation: str) -> None:
    """A key attribute with the content of a cell: a template, an attribute's name, or nothing."""
    if is_absent(cell):
        here.mark_read(line)
        return
    if _NO_NAME.fullmatch(plain(cell)):
        here.mark_read(line)
        return
    key = cell_text(cell)
    kinds = _alternatives(cell) if key is None and not entity and not side.index else []
    if kinds and side.side == "sort":
        for kind in kinds:
            tell_key(here, line, name_by_key(here, line, [kind]), side, kind, cell, notation)
        return
    told = [] if key else key_clauses(cell, here.names)
    if {clause.side.side for clause in told} == {*SIDES} and entity and len(told) == 2:
        tell_clauses(here, [(line, clause) for clause in told], entity, notation)
        return
    if len(told) == 1 and told[0].operator == "=" and told[0].side.side == side.side:
        key, side = told[0].value, replace(told[0].side, index=told[0].side.index or side.index)
    named = attribute_in(cell)
    if named and side.attribute in here.names.attributes and named != side.attribute:
        here.mark_read(line)  # a value of an example item
        return
    word = re.fullmatch(r"[A-Z][a-z]+", named) is not None and bool(side.index or here.at.index)
    bare = named and (key is None or ((key.is_name or word) and "#" not in key.text))
    if named and (bare or key_side(named, here.names)) and "#" not in plain(cell).split("(")[0]:
        template = re.search(r"\(`?([^()`]*#[^()`]*)`?\)", cell)
        tell_attribute(here, line, entity, side, named, key_type(cell), notation)
        if template and here.at.index and not entity:
            here.mark_read(line)
        return
    tell_key(here, line, entity, side, key, plain(cell), notation)


def _alternatives(cell: str) -> list[WrittenKey]:
    """``LINE#<n>` or `META``: several kinds of item in one cell."""
    spans = codes(cell)
    between = re.split(r"`[^`]*`", cell)[1:-1]
    kinds = [key for span in spans if (key := key_text(span))]
    told = all(
        re.fullmatch(r"\s*(?:/|\||,|(?:,\s*)?(?:or|ou|o|oder))\s*", part) for part in between
    )
    return kinds if len(kinds) == len(spans) > 1 and told else []


def tell_attribute(
    here: Here, line: int, entity: str, side: KeySide, name: str, kind: str, notation: str
) -> None:
    """An attribute is a side of the key of an index, of the table, or of an entity's table."""
    known = key_side(name, here.names)
    index = side.index or (known.index if known and known.index != "*" else "") or here.at.index
    told = ((side.side, name, kind),)
    if not index and any(map(_INDEX_KEYS.fullmatch, here.block.path)):
        known_indexes = {*here.names.indexes.values()}
        if len(known_indexes) != 1:
            here.ask(line, f"{name} is a {side.side} key of which index?")
            return
        index = known_indexes.pop()
    if index:
        number = here.names.number(index)
        here.say(IndexStatement, line, notation, name=index, number=number, keys=told)
    elif (known and re.fullmatch(r"(?i)[ps]k|\w+_[ps]k", name)) or not (entity or here.at.table):
        here.say(TableStatement, line, notation, title=here.at.table, keys=told)
    else:
        where = KeySide("", side.side, name)
        here.say(
            KeyStatement,
            line,
            notation,
            entity=here.at.table or entity,
            side=where,
            key=WrittenKey(f"<{name}>"),
            section=here.block.path,
        )


def tell_key(
    here: Here,
    line: int,
    entity: str,
    side: KeySide,
    key: WrittenKey | None,
    raw: str,
    notation: str,
) -> None:
    """An entity's template at one side of a key, or the question about it."""
    label = " ".join(
        filter(
            None, (side.index if not side.attribute else "", side.attribute or f"{side.side} key")
        )
    )
    if key is None or key.open:
        if side.attribute and not side.index and key_side(side.attribute):
            told = ((side.side, side.attribute, "S"),)
            here.say(TableStatement, line, notation, title=here.at.table, keys=told)
        here.ask(line, f"{label} of {entity or 'an item'}: what is {raw[:80]}?")
        return
    if side.index and side.attribute and not entity:
        keys = ((side.side, side.attribute, "S"),)
        here.say(IndexStatement, line, notation, name=side.index, number=side.index, keys=keys)
    here.say(
        KeyStatement, line, notation, entity=entity, side=side, key=key, section=here.block.path
    )
    if key.doubt:
        here.ask(line, key.doubt)


def name_by_key(here: Here, line: int, keys: list[WrittenKey]) -> str:
    """A name for an item without one: the literal of its sort key, or of its partition key."""
    words = [re.findall(r"[A-Za-z]{2,}", re.sub(r"<\w+>", "", key.text)) for key in keys[:2]]
    plain_sort = not words or not words[-1] or words[-1][0].lower() in _PLAIN_SORTS
    name = " ".join(
        words[0][:1] if words and plain_sort else words[-1][:1] if words else []
    ).capitalize()
    if name:
        here.ask(line, f"The item has no name; {name} is taken from its key.")
    return name


_PLAIN_SORTS = frozenset("metadata meta profile info details detail data config root".split())  # noqa: SIM905


def tell_clauses(
    here: Here, found: list[tuple[int, KeyClause]], entity: str, notation: str
) -> None:
    """Clauses that state an item's key: PK=USER#<id>, SK=PROFILE."""
    keys = [c.value for _, c in found if c.value and not c.side.index]
    if not entity and len(keys) > 1:
        entity = name_by_key(here, found[0][0], keys)
    for line, clause in found:
        side = clause.side
        if side.index == "*" and here.at.index:
            side = replace(side, index=here.at.index)
        bare = side.attribute == "" or (clause.value is not None and clause.value.is_name)
        if not side.index and bare and here.at.index:
            side = replace(side, index=here.at.index)
        if clause.operator != "=":
            here.ask(line, f"{clause.raw} is a condition; of which read?")
        elif clause.value is not None and (clause.value.is_name or key_side(clause.value.text)):
            name = clause.value.text
            if side.attribute and _TYPE.fullmatch(name):  # PK: string
                name = side.attribute
            tell_attribute(here, line, entity, side, name, key_type(clause.raw), notation)
        else:
            tell_key(here, line, entity, side, clause.value, clause.raw, notation)
