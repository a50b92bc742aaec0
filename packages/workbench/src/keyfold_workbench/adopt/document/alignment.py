"""A document beside a template: its tables and indexes by the names that are deployed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from keyfold.design.schema import TableSchema
from keyfold_workbench.adopt.sources.material import Imported


def align(sources: Sequence[Imported]) -> None:
    """Rename what documents call differently than the sources that know the tables."""
    documents = [each for each in sources if each.kind == "document"]
    known = [table for each in sources if each.kind != "document" for table in each.tables]
    if not known:
        return
    for document in documents:
        for table in list(document.tables):
            deployed = _same_table(table, known, document)
            if deployed is not None:
                _rename_table(document, table, deployed)


def _same_table(
    table: TableSchema, known: list[TableSchema], document: Imported
) -> TableSchema | None:
    keyed = [other for other in known if _same_key(table, other)]
    named = [
        other
        for other in keyed
        if _plain(table.name) in _plain(other.name) or _plain(other.name) in _plain(table.name)
    ]
    found = named if named else (keyed if len(document.tables) == 1 else [])
    if len(found) == 1:
        if found[0].name != table.name:
            document.notes.append(f"{table.name} of the document is the table {found[0].name}.")
        return found[0]
    which = ", ".join(other.name for other in found or known)
    document.questions.append(
        f"Which table is {table.name} ({table.key_text}) of the document: {which}?"
    )
    return None


def _rename_table(document: Imported, table: TableSchema, deployed: TableSchema) -> None:
    renamed: dict[str, str] = {}
    for index in table.indexes:
        same = [
            other for other in deployed.indexes if other.key_text.lower() == index.key_text.lower()
        ]
        same = [other for other in same if other.name == index.name] or same
        if deployed.index(index.name) is None and len(same) == 1:
            renamed[index.name] = same[0].name
            document.notes.append(f"{index.name} of the document is the index {same[0].name}.")
    document.tables[document.tables.index(table)] = deployed
    document.entities = [
        replace(
            entity,
            table=deployed.name,
            placements=tuple(
                replace(p, index=renamed.get(p.index, p.index), name=renamed.get(p.name, p.name))
                for p in entity.placements
            ),
        )
        if entity.table == table.name
        else entity
        for entity in document.entities
    ]
    document.patterns = [
        replace(
            pattern,
            table=deployed.name,
            index=renamed.get(pattern.index, pattern.index) if pattern.index else None,
        )
        if pattern.table == table.name
        else pattern
        for pattern in document.patterns
    ]


def _same_key(one: TableSchema, other: TableSchema) -> bool:
    return [name.lower() for name in one.key_attributes] == [
        name.lower() for name in other.key_attributes
    ]


def _plain(name: str) -> str:
    """A table's name without its stage and its notation."""
    return re.sub(
        r"[^a-z0-9]|(?:dev|prod|staging|stage|test|table)$",
        "",
        re.sub(r"[-_.](?:dev|prod|staging|stage|test)$", "", name.lower()),
    )
