"""The indexes of a document's tables."""

from __future__ import annotations

import re

from keyfold_workbench.adopt.document.items import DocumentEntity, DocumentIndex, DocumentTable
from keyfold_workbench.adopt.document.key_side import SIDES
from keyfold_workbench.adopt.document.key_text import WrittenKey
from keyfold_workbench.adopt.document.model import DocumentModel
from keyfold_workbench.adopt.document.scope import words_of
from keyfold_workbench.adopt.document.statements import (
    AttributeStatement,
    IndexStatement,
    KeyStatement,
)


def add_indexes(model: DocumentModel) -> None:
    """The indexes of the tables, with the keys that statements, placements or names give."""
    for s in model.said:
        if not isinstance(s, IndexStatement):
            continue
        table = _table_of(model, s)
        number = s.number or model.reading.names.number(s.name)
        index = table.indexes.setdefault(number, DocumentIndex(s.name, line=s.line))
        index.name = s.name if index.name == number or s.is_own_name else index.name
        index.projection, index.purpose = (
            index.projection or s.projection,
            index.purpose or s.purpose,
        )
        for side, name, kind in s.keys:
            known = index.keys.setdefault(side, (name, kind))
            if known[0] != name:
                model.reading.ask(
                    s.line,
                    f"The {side} key of {index.name} is {known[0]} elsewhere, and {name} here.",
                    contradicts=True,
                )
    for entity in model.entities:
        for number, _ in list(entity.keys):
            if number and entity.table.index(number) is None:
                entity.table.indexes[number] = DocumentIndex(number, line=entity.keys[number, _][1])
    for table in model.tables.values():
        for number, index in list(table.indexes.items()):
            _complete(model, table, number, index)
            index.keys = {side: index.keys[side] for side in SIDES if side in index.keys}
            if len({name for name, _ in index.keys.values()}) < len(index.keys):
                model.reading.ask(
                    index.line,
                    f"{index.name} has one attribute as both sides of its key; is it the "
                    "partition key? It is read so.",
                )
                del index.keys["sort"]


def place_by_table_keys(model: DocumentModel) -> None:
    """Items in the indexes that share a key attribute with their table."""
    for table in model.tables.values():
        for number in table.indexes:
            _place_by_table_keys(table, number, model.entities)


def _table_of(model: DocumentModel, s: IndexStatement) -> DocumentTable:
    """The table of an index: told, or the only one whose items have its key attributes."""
    home = model.home(s)
    names = {
        name
        for other in model.said
        if isinstance(other, IndexStatement) and not other.table
        and (other.number or other.name) == (s.number or s.name)
        for _, name, _ in other.keys
    }  # fmt: skip
    if home.keys or len(model.tables) < 2 or not names:
        return home
    fitting = [table for table in model.tables.values() if names <= model.attributes_of(table)]
    if len(fitting) == 1:
        return fitting[0]
    if (s.number or s.name) not in home.indexes:
        model.reading.ask(s.line, f"Which table has the index {s.name}?")
    return home


def _place_by_table_keys(table: DocumentTable, number: str, entities: list[DocumentEntity]) -> None:
    """An index by a key attribute of the table, as `PK` and `score`, has the table's template."""
    keys = table.indexes[number].keys
    shared = {side: attribute for side, (attribute, _) in keys.items()
              if attribute in {name for name, _ in table.keys.values()}}  # fmt: skip
    plain = [name for side, (name, _) in keys.items() if side not in shared]
    for entity in entities:
        if entity.table is not table or not shared or any(n == number for n, _ in entity.keys):
            continue
        own = {name: entity.keys.get(("", side)) for side, (name, _) in table.keys.items()}
        if all(own[name] for name in shared.values()) and all(
            name in entity.attributes for name in plain
        ):
            for side, (name, _) in keys.items():
                told = own.get(name)
                entity.keys[number, side] = told or (
                    WrittenKey(f"<{name}>"),
                    table.indexes[number].line,
                )


def _attribute_called(word: str, attributes: set[str]) -> str:
    """The attribute that a part of an index's name means: customer is customerId."""
    meant = {words_of(word), words_of(f"{word}_id")}
    found = [name for name in attributes if words_of(name) in meant]
    return found[0] if len(found) == 1 and word not in attributes else word


def _complete(
    model: DocumentModel, table: DocumentTable, number: str, index: DocumentIndex
) -> None:
    """An index without key attributes: those of its placements, or of its name."""
    for side, end in zip(SIDES, ("PK", "SK"), strict=True):
        told = [s.side.attribute for s in model.said if isinstance(s, KeyStatement)
                and s.side.index == number and s.side.side == side]  # fmt: skip
        if side in index.keys or not told:
            continue
        named = next(filter(None, told), "")
        index.keys[side] = named or f"{number}{end}", "S"
        if not named:
            model.reading.ask(
                index.line,
                f"What are the key attributes of {index.name}? {number}{end} is assumed.",
            )
    if "partition" not in index.keys:
        called = re.fullmatch(r"(\w+?)[-_]?(?:index|gsi)", index.name, re.I)
        known = called and any(
            called[1] == name
            for s in model.said
            if isinstance(s, AttributeStatement)
            for name in (s.name,)
        )
        both = re.fullmatch(r"([A-Za-z]\w+)-([A-Za-z]\w+)-(?:index|gsi)", index.name, re.I)
        if both:
            known_names = model.attributes_of(table)
            first, second = (_attribute_called(word, known_names) for word in both.groups())
            index.keys = {"partition": (first, "S"), "sort": (second, "S")}
            model.reading.ask(
                index.line,
                f"What is the key of {index.name}? {first} and {second} are taken from its name.",
            )
        elif called and (known or "-" in index.name):
            index.keys["partition"] = called[1], "S"
            model.reading.ask(
                index.line,
                f"What is the key of {index.name}? {called[1]} is taken from its name.",
            )
        else:
            model.reading.ask(index.line, f"What is the key of {index.name}?")
            del table.indexes[number]
