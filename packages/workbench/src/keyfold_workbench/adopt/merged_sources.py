"""Merges several sources into one design: tables from templates, entities from models, facts
from data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from keyfold.design.consequence_words import with_follows
from keyfold.design.schema import EntitySchema, PatternSchema, Schema, TableSchema
from keyfold.design.table import check_table
from keyfold.errors import KeyfoldError
from keyfold_workbench.adopt.design_draft import DesignDraft, draft
from keyfold_workbench.adopt.sources.material import Imported

_KNOWS_TABLES = ("endpoint", "CloudFormation", "CDK", "Terraform", "terraform show -json",
                 "Serverless Framework", "design file", "NoSQL Workbench")  # fmt: skip
"""Sources that define tables, most reliable first; models name only what they use."""


def merge(sources: Sequence[Imported], *, name: str = "") -> DesignDraft:
    """One design from all sources, with open questions."""
    notes = [f"From {each.kind}: {each.source}." for each in sources]
    notes += [note for each in sources for note in each.notes]
    questions = [question for each in sources for question in each.questions]
    tables = _tables(sources)
    renamed = _table_names(sources, tables, notes)
    entities: list[EntitySchema] = []
    for each in sources:
        for entity in each.entities:
            table = tables[renamed.get(entity.table, entity.table)]
            entities.append(
                _keep_known_indexes(replace(entity, table=table.name), table, questions)
            )
    _refuse_twice(entities)
    patterns = [
        replace(pattern, table=renamed.get(pattern.table, pattern.table))
        for each in sources
        for pattern in each.patterns
    ]
    for old in renamed:
        tables.pop(old)
    for each in sources:
        _by_data(each, tables, entities, patterns, notes, questions)
    for table in tables.values():
        if not any(entity.table == table.name for entity in entities):
            questions.append(
                f"What is in {table.name}? Add a model, or items: keyfold inspect {table.name} "
                "--sample-file FILE makes a source of them."
            )
    called = (
        name or next((each.name for each in sources if each.name), "") or next(iter(tables), "")
    )
    schema = Schema(
        called,
        tuple(tables.values()),
        tuple(entities),
        _patterns_on_known(patterns, tables, entities),
    )
    return DesignDraft(with_follows(schema), notes, list(dict.fromkeys(questions)))


def _tables(sources: Sequence[Imported]) -> dict[str, TableSchema]:
    tables: dict[str, TableSchema] = {}
    sure = sorted(
        sources,
        key=lambda s: (
            _KNOWS_TABLES.index(s.kind) if s.kind in _KNOWS_TABLES else len(_KNOWS_TABLES)
        ),
    )
    for each in sure:
        for table in each.tables:
            known = tables.get(table.name)
            if known is None:
                tables[table.name] = table
            else:
                tables[table.name] = _merge_tables(known, table, sure=each.kind in _KNOWS_TABLES)
    for table in tables.values():
        check_table(table)
    return tables


def _merge_tables(known: TableSchema, other: TableSchema, *, sure: bool) -> TableSchema:
    """A table's known facts plus those of another source: discriminator, expiry."""
    if known.key_attributes != other.key_attributes:
        raise KeyfoldError(
            f"two sources disagree on the key of {known.name}: "
            f"{' and '.join(known.key_attributes)}, or {' and '.join(other.key_attributes)}. "
            "Leave one of them out."
        )
    names = {index.name for index in known.indexes}
    more = () if sure else tuple(index for index in other.indexes if index.name not in names)
    return replace(
        known,
        type_attribute=known.type_attribute or other.type_attribute,
        ttl=known.ttl or other.ttl,
        indexes=(*known.indexes, *(more if not known.indexes else ())),
    )


def _table_names(
    sources: Sequence[Imported], tables: dict[str, TableSchema], notes: list[str]
) -> dict[str, str]:
    """Matches a model's table to the only table with the same keys if no template has its name."""
    sure = {t.name for each in sources if each.kind in _KNOWS_TABLES for t in each.tables}
    found: dict[str, str] = {}
    for each in sources:
        if each.kind in _KNOWS_TABLES or not sure:
            continue
        for table in each.tables:
            if table.name in sure:
                continue
            alike = [n for n in sure if tables[n].key_attributes == table.key_attributes]
            if len(alike) == 1:
                found[table.name] = alike[0]
                tables[alike[0]] = _merge_tables(tables[alike[0]], table, sure=False)
                notes.append(
                    f"{table.name} of {each.source} is assumed to be the table {alike[0]}."
                )
    return found


def _keep_known_indexes(
    entity: EntitySchema, table: TableSchema, questions: list[str]
) -> EntitySchema:
    """The entity without placements in indexes that its table lacks."""
    kept = []
    for placement in entity.placements:
        if table.index(placement.index) is None:
            questions.append(
                f"{entity.name} is placed on {placement.index}, which {table.name} does not "
                "have. Does the index have another name?"
            )
        else:
            kept.append(placement)
    return replace(entity, placements=tuple(kept))


def _refuse_twice(entities: Sequence[EntitySchema]) -> None:
    names = [entity.name for entity in entities]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise KeyfoldError(f"two sources declare {', '.join(twice)}; leave one of them out")


def _by_data(
    source: Imported,
    tables: dict[str, TableSchema],
    entities: list[EntitySchema],
    patterns: list[PatternSchema],
    notes: list[str],
    questions: list[str],
) -> None:
    for name, items in source.items.items():
        if not items:
            continue
        table = tables.get(name)
        if table is None:
            raise KeyfoldError(
                f"{source.source} has items of {name}, and no source describes that table; add one"
            )
        if any(entity.table == name and entity not in source.entities for entity in entities):
            continue
        drafted = draft(table, items, labels=source.labels.get(name, ()))
        tables[name] = drafted.schema.tables[0]
        entities += drafted.schema.entities
        patterns += drafted.schema.patterns
        notes += drafted.notes
        questions += drafted.questions


def _patterns_on_known(
    patterns: Sequence[PatternSchema],
    tables: dict[str, TableSchema],
    entities: Sequence[EntitySchema],
) -> tuple[PatternSchema, ...]:
    """Patterns on existing indexes only."""
    known = {entity.name for entity in entities}
    return tuple(
        pattern
        for pattern in patterns
        if {*pattern.entities} <= known
        and (not pattern.index or tables[pattern.table].index(pattern.index) is not None)
    )
