"""Reads a whole document: first the names of its indexes and keys, then what each line says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from keyfold.errors import KeyfoldError
from keyfold_workbench.adopt.document.answers import LineAnswer, find_answers
from keyfold_workbench.adopt.document.blocks import Block, plain, split
from keyfold_workbench.adopt.document.fences import read_fence
from keyfold_workbench.adopt.document.here import Here
from keyfold_workbench.adopt.document.key_clauses import key_clauses
from keyfold_workbench.adopt.document.key_side import (
    INDEX,
    NAME,
    KeyNames,
    KeySide,
    index_number,
    key_side,
)
from keyfold_workbench.adopt.document.prose import READ_PART, read_prose
from keyfold_workbench.adopt.document.reads import clauses_of
from keyfold_workbench.adopt.document.scope import (
    DocumentFrame,
    entity_name,
    ordered_words,
    scope,
    table_name,
    table_title,
)
from keyfold_workbench.adopt.document.statements import (
    AttributeStatement,
    DocumentReading,
    IndexStatement,
    KeyStatement,
    TableStatement,
    mark_unread,
)
from keyfold_workbench.adopt.document.tables import read_table
from keyfold_workbench.adopt.document.telling import tell_clauses

MOST_STATEMENTS = 7_000
"""About keys, tables, indexes and reads: each is compared with the others."""
_NUMBERED_INDEX = re.compile(
    rf"(?i)(?:[\d.]+[.)]?\s*)?({INDEX})\s*[:(\u2014\u2013-]+\s*`?([A-Za-z][\w.-]*)`?(?:\)|$|\s\()"
)
_INDEX_NUMBERED = re.compile(
    rf"(?i)(?:[\d.]+[.)]?\s*)?`?([A-Za-z][\w.-]*(?:index|gsi))`?\s*\(({INDEX})\)"
)
_NAMED_INDEX = re.compile(
    r"(?:[\d.]+[.)]?\s*)?(?:GSI|LSI)?:?\s*`?([\w.-]*(?:[Ii]ndex|-gsi))`?(?:\s|$)"
)


_TABLES = re.compile(
    r"(?i)[\d. ]*(?:dynamodb |core |the |all )?(?:tables|tablas|tabelas|tabelle)"
    r"(?: (?:di |de )?dynamodb| definitions| schemas?| structures?| details)?"
)
"""A heading whose sections are tables."""
_NAMES_TABLES = ("a row of tables", "a heading", "a sentence about a table")


def read_document(text: str) -> DocumentReading:
    """The statements, questions and marks of a document."""
    blocks = split(text)
    frame = DocumentFrame.of(blocks)
    first = DocumentReading(text)
    _read(first, blocks, frame)
    told = sum(not isinstance(s, AttributeStatement) for s in first.statements)
    if told > MOST_STATEMENTS:
        raise KeyfoldError(
            f"The document has {told:,} statements about keys, tables, indexes and reads; "
            f"{MOST_STATEMENTS:,} is the most. Give the part that describes one system."
        )
    reading = DocumentReading(text, _names(first))
    _read(reading, blocks, frame)
    mark_unread(reading)
    return reading


def _names(first: DocumentReading) -> KeyNames:
    """What the document calls its indexes and key attributes."""
    names = KeyNames(numbered=first.names.numbered, values=first.names.values)
    places: dict[str, set[KeySide]] = {}
    titles: tuple[str, ...] = tuple(
        s.table or getattr(s, "title", "")
        for s in first.statements
        if s.notation in _NAMES_TABLES or isinstance(s, KeyStatement)
    )
    named = {
        s.owner: s.name
        for s in first.statements
        if isinstance(s, TableStatement) and s.name and s.notation == "a property"
    }
    titles = (*titles, *(named if len({*named.values()}) > 1 else ()))
    names.tables = tuple(dict.fromkeys(filter(None, titles)))
    names.table_by_words = {ordered_words(title): title for title in reversed(names.tables)}
    numbered: dict[str, set[str]] = {}
    for said in first.statements:
        if (
            isinstance(said, IndexStatement)
            and said.number not in ("", said.name)
            and not said.is_own_name
        ):
            numbered.setdefault(said.number, set()).add(said.name)
    several = [called for called in numbered.values() if len(called) > 1]
    names.renumbered = {name for called in several for name in called}
    for said in first.statements:
        keys: tuple[tuple[str, str, str], ...] = ()
        index = ""
        if isinstance(said, IndexStatement):
            if said.name in names.renumbered:
                names.indexes[said.name] = said.name
            elif len(numbered.get(said.number, ())) < 2:
                names.indexes.setdefault(said.number or said.name, said.name)
                if said.number and said.name != said.number:
                    names.indexes[said.number] = said.name
            index, keys = said.number or said.name, said.keys
        elif isinstance(said, TableStatement):
            keys = said.keys
        elif (
            isinstance(said, KeyStatement)
            and said.key.is_field
            and said.key.fields == [said.side.attribute]
        ):
            keys = ((said.side.side, said.side.attribute, "S"),)
        for side, attribute, _ in keys:
            places.setdefault(attribute, set()).add(KeySide(index, side, attribute))  # type: ignore[arg-type]
    by_keys: dict[str, set[str]] = {}
    for said in first.statements:
        if isinstance(said, IndexStatement) and not said.number:
            for place in filter(None, (key_side(name) for _, name, _ in said.keys)):
                by_keys.setdefault(place.index, set()).add(said.name)
    for number, called in by_keys.items():  # GSI1PK is a key of orders-by-status only
        if number and len(called) == 1:
            names.indexes.setdefault(number, called.pop())
    for attribute, found in places.items():
        of_table = [place for place in found if not place.index]
        if len(of_table) == 1:
            names.of_table[attribute] = of_table[0]
        own = re.fullmatch(rf"(?i){NAME}", attribute) and key_side(attribute)
        if not own:
            names.attributes[attribute] = (
                found.pop()
                if len(found) == 1
                else KeySide("*", min(side.side for side in found), attribute)
            )
    return names


def _read(reading: DocumentReading, blocks: list[Block], frame: DocumentFrame) -> None:
    for number, block in enumerate(blocks):
        if block.kind == "table":
            after = next(
                (
                    b
                    for b in blocks[number + 1 : number + 3]
                    if b.kind in ("text", "item", "heading")
                ),
                None,
            )
            if after and after.kind != "heading":
                reading.notes_after[block.line] = (after.line, after.text)
    near: tuple[tuple[str, ...], str] = (), ""
    answers = find_answers(reading.text)
    entity: tuple[tuple[str, ...], str] = (), ""
    end = reading.text.count("\n") + 2
    for block, until in _with_ends(_join_conditions(blocks, reading, frame), end):
        at = scope(block, reading.names, frame)
        if at.section == "indexes" and not at.index and block.path == near[0]:
            at = replace(at, index=near[1])  # the index that an item above names
        mine = [answer for answer in answers if _speaks_for(answer, block, until)]
        answers = [answer for answer in answers if answer not in mine]
        named = next((answer.entity for answer in mine if answer.entity), "")
        entity = (block.path, named) if named else entity
        if entity[1] and entity[0] == block.path:
            at = replace(at, entity=entity[1], aside="")
        part = DocumentReading(reading.text, reading.names, notes_after=reading.notes_after)
        if any(answer.said in ("yes", "ignore") or answer.is_statement for answer in mine):
            at = replace(at, aside="")
        _read_block(Here(part, block, at))
        if at.section == "patterns" and not at.aside and not block.parents:
            reading.expected |= _rows_of_patterns(block)
        _settle(reading, part, Here(reading, block, at), mine, until)
        last = part.statements[-1] if part.statements else None
        if isinstance(last, IndexStatement) and block.kind in ("item", "text"):
            near = block.path, last.number or last.name


def _rows_of_patterns(block: Block) -> set[int]:
    """The lines that each name a read, if they stand among access patterns."""
    if block.kind == "table":
        return {row.line for row in block.rows[1:]}
    return {block.line} if block.kind == "item" else set()


def _with_ends(blocks: list[Block], end: int) -> Iterator[tuple[Block, int]]:
    """Each block with the first line of the next one."""
    following = [*(block.line for block in blocks[1:]), end]
    yield from zip(blocks, following, strict=False)


def _speaks_for(answer: LineAnswer, block: Block, until: int) -> bool:
    if answer.for_block:
        return answer.line < block.line or (block.kind == "fence" and answer.line == block.line)
    return block.line <= answer.line < until


def _settle(
    reading: DocumentReading,
    part: DocumentReading,
    here: Here,
    answers: list[LineAnswer],
    until: int,
) -> None:
    """What a block says, with the answers about it."""
    if here.at.aside and (part.statements or part.questions):
        first = min([s.line for s in part.statements] + list(part.questions))
        question = f"Is {here.at.aside!r} part of the design? What it says is left out."
        reading.ask(first, question)
        for line in part.marks:
            reading.mark(line, "question")
        return
    replaced: set[int] = set()
    for answer in answers:
        lines = set(range(here.block.line, until)) if answer.for_block else {answer.line}
        if answer.entity:
            continue
        reading.answered |= lines | {answer.line}
        if answer.said != "yes":
            replaced |= lines
        if answer.is_statement:
            said = Block("item", answer.line, answer.said, here.block.path)
            own = DocumentReading(reading.text, reading.names)
            read_prose(Here(own, said, replace(here.at, section="")))
            if not own.statements or own.questions:
                raise answer.refuse()
            reading.say(*own.statements)
    for line, mark in part.marks.items():
        reading.mark(line, "read" if line in reading.answered else mark)
    reading.say(*(s for s in part.statements if s.line not in replaced))
    for line, questions in part.questions.items():
        for question in questions:
            reading.ask(line, question)


def _read_block(here: Here) -> None:
    if _tell_table_name(here):
        return
    match here.block.kind:
        case "heading":
            _read_heading(here)
        case "table":
            read_table(here)
        case "fence":
            read_fence(here)
        case _:
            read_prose(here)


_TABLE_NAME = re.compile(r"(?i)(?:[\d.]+ )?(?:(?:dynamodb |local |our )?table name|local table):?")


def _tell_table_name(here: Here) -> bool:
    """`orders` alone below the heading or the label Table name."""
    block = here.block
    span = r"([\w.${}<>-]{3,})"
    name = re.fullmatch(
        rf"\s*{span}\s*" if block.kind == "fence" else rf"[`*]+{span}[`*]+", block.text
    )
    headed = bool(block.path) and _TABLE_NAME.fullmatch(block.path[-1]) is not None
    labelled = _TABLE_NAME.fullmatch(block.label) is not None
    if name is None or not (headed or labelled) or block.kind in ("heading", "table"):
        return False
    above = [entity_name(each.split(" - ")[0]) for each in block.path[: len(block.path) - headed]]
    title = above[-1] if len(above) > 1 else ""
    here.say(TableStatement, block.line, "a heading", table=title, title=title, name=name[1])
    return True


def _read_heading(here: Here) -> None:
    """`## Table: `orders``, `### GSI1: StatusIndex`."""
    line, text = here.block.line, plain(here.block.text)
    name = table_name(here.block.text)
    listed = entity_name(text) if here.block.path and _TABLES.fullmatch(here.block.path[-1]) else ""
    if listed and not name and not here.at.aside and not here.at.index:
        here.say(TableStatement, line, "a heading", table=listed, title=listed)
    if name and not here.at.aside:
        title = table_title(text)
        here.say(TableStatement, line, "a heading", table=title, title=title, name=name)
    keys = [(line, clause) for clause in key_clauses(here.block.text, here.names)]
    if keys and not here.at.aside and all(clause.operator == "=" for _, clause in keys):
        tell_clauses(here, keys, entity_name(text.split(keys[0][1].raw)[0]), "a heading of keys")
        return
    found = _NUMBERED_INDEX.match(text)
    only = _NAMED_INDEX.match(text)
    if (after := _INDEX_NUMBERED.match(text)) and after[2][-1].isdigit():
        here.say(IndexStatement, line, "a heading", number=index_number(after[2]), name=after[1])
    elif found and found[1][-1].isdigit() and len(found[2]) > 2:
        here.say(IndexStatement, line, "a heading", number=index_number(found[1]), name=found[2])
    elif only and len(only[1]) > 5:
        here.say(IndexStatement, line, "a heading", name=only[1])


def _join_conditions(
    blocks: list[Block], reading: DocumentReading, frame: DocumentFrame
) -> list[Block]:
    """Items with a part of a read each, as `PK` = … and `SK` = …, are one read."""
    found: list[Block] = []
    for block in blocks:
        last = found[-1] if found else None
        if (
            last is not None
            and block.kind == last.kind == "item"
            and (block.parents, block.path, block.label) == (last.parents, last.path, last.label)
            and block.line - last.line - last.text.count("\n") <= 2
            and (
                (_lone(block, reading, "sort") and _lone(last, reading, "partition"))
                or (READ_PART.match(block.text) and READ_PART.match(last.text))
            )
            and scope(block, reading.names, frame).section == "patterns"
        ):
            gap = "\n" * (block.line - last.line - last.text.count("\n"))
            found[-1] = replace(last, text=last.text + gap + block.text)
        else:
            found.append(block)
    return found


def _lone(block: Block, reading: DocumentReading, side: str) -> bool:
    """Whether an item is nothing but one condition on this side."""
    if len(block.text) > 300 or not re.match(rf"(?i)[`*]*(?:{NAME})", block.text):
        return False
    sides = {clause.side.side for clause in clauses_of(block.text, reading.names)}
    return sides == {side}
