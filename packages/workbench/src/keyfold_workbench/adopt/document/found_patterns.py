"""A pattern that was found for a read of a document, and the table or index that a read is of."""

from __future__ import annotations

import re
from dataclasses import dataclass

from keyfold_workbench.adopt.document.items import DocumentEntity, DocumentIndex, DocumentTable
from keyfold_workbench.adopt.document.model import DocumentModel
from keyfold_workbench.adopt.document.statements import PatternStatement


@dataclass(frozen=True)
class FoundPattern:
    """A read with the entities that it meets and its conditions, by attribute."""

    said: PatternStatement
    name: str
    kind: str
    entities: tuple[DocumentEntity, ...]
    index: DocumentIndex | None
    conditions: tuple[str, ...]


def is_named(attribute: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(attribute)}(?![\w-])", text) is not None


def homes_in(
    model: DocumentModel, said: PatternStatement
) -> list[tuple[DocumentTable, DocumentIndex | None]]:
    """The table or the index that a read without conditions is of."""
    entity = model.named(said.entity) if said.entity else None
    told = model.known_table(said.table)
    tables = [told] if told else [entity.table] if entity else []
    named = [
        table
        for table in model.tables.values()
        if any(each and is_named(each, said.text) for each in (table.name, table.title))
    ]
    tables = tables or named or list(model.tables.values())
    if said.index:
        found = [(table, table.index(said.index)) for table in tables]
        return [(table, index) for table, index in found if index is not None]
    if re.search(r"(?i)\b(?:gsi|lsi|index)\b", said.text):
        return [
            (table, index)
            for table in tables
            for index in table.indexes.values()
            if "partition" in index.keys and is_named(index.keys["partition"][0], said.text)
        ]
    return [(table, None) for table in tables]


def made_pattern(
    model: DocumentModel, said: PatternStatement, name: str, entities: tuple[DocumentEntity, ...],
    index: DocumentIndex | None, conditions: tuple[str, ...], *, whole: bool,
) -> FoundPattern | None:  # fmt: skip
    kind: str = said.operation or ("get" if whole and index is None else "query")
    if kind == "get" and (index is not None or not whole):
        model.reading.ask(
            said.line, f"{name}: GetItem needs the whole key of the table; it is read as a query."
        )
        kind = "query"
    if kind == "get" and len(entities) > 1:
        choice = ", ".join(entity.name for entity in entities)
        model.reading.ask(said.line, f"{name}: which does it get, {choice}?")
        return None
    if kind == "scan":
        model.reading.ask(said.line, f"{name}: a scan with a key condition; it is read as a query.")
        kind = "query"
    if kind == "query" and said.limit == 1 and said.descending:
        kind = "latest"
    return FoundPattern(said, name, kind, entities, index, conditions)
