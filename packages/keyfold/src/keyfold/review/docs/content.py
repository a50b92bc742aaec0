"""The content of a design document, section by section, from the schema alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from keyfold.design.schema import Schema, TableSchema
from keyfold.review.check import SEVERITIES, Review, check
from keyfold.review.check.wording import counted
from keyfold.review.docs.blocks import (
    Block,
    Document,
    Grid,
    Paragraph,
    Picture,
    Section,
    anchor,
)
from keyfold.review.docs.entity_map import entity_map
from keyfold.review.docs.key_map import key_map
from keyfold.review.docs.patterns import patterns, requests
from keyfold.review.docs.states import states
from keyfold.review.docs.tables import entities, indexes, tables, vectors
from keyfold.review.docs.writes import copies, counters, feeds, streams, uniques, writes

BY_TABLE = ("Tables and keys", "Indexes", "Entities")


def document(schema: Schema, cost: str = "") -> Document:
    """The whole document without empty sections."""
    review = check(schema)
    made = (
        ("Overview", _overview(schema, review, cost)),
        ("Access patterns", patterns(schema)),
        ("Vector search", vectors(schema)),
        ("Tables and keys", tables(schema)),
        ("Indexes", indexes(schema)),
        ("Entities", [*_relations(schema), *entities(schema)]),
        ("States", states(schema)),
        ("Copies and how they are maintained", copies(schema)),
        ("Counters", counters(schema)),
        ("Unique values", uniques(schema)),
        ("Writes", writes(schema)),
        ("Streams", streams(schema)),
        ("Feeds", feeds(schema)),
        ("Retention", _retention(schema)),
        ("Migration", _migration(schema)),
        ("Findings", _findings(review)),
        ("Requests", requests(schema)),
    )
    return Document(schema.name, schema.description, _sections(made))


def _sections(made: Iterable[tuple[str, Iterable[Block]]]) -> tuple[Section, ...]:
    """Those that have content: a table without rows has none."""
    filled = [
        (title, tuple(one for one in blocks if not isinstance(one, Grid) or one.rows))
        for title, blocks in made
    ]
    return tuple(Section(title, anchor(title), blocks) for title, blocks in filled if blocks)


def documents_by_table(schema: Schema, folder: str, cost: str = "") -> dict[str, Document]:
    """The document in parts: what concerns all tables under "", and each table by its name."""
    whole = document(schema, cost)
    listed = Grid(
        ("Table", "What it holds"),
        tuple(
            (
                f"[{table.name}]({folder}/{table.name}.md)",
                ", ".join(entity.name for entity in schema.entities_of(table.name)) or "nothing",
            )
            for table in schema.tables
        ),
    )
    tables_at = Section("Tables", "tables", (listed,))
    first, *others = (section for section in whole.sections if section.title not in BY_TABLE)
    facts = replace(first, blocks=first.blocks[:1])
    rest = replace(whole, sections=(facts, tables_at, *others))
    return {"": rest} | {table.name: _table_document(schema, table) for table in schema.tables}


def _table_document(schema: Schema, table: TableSchema) -> Document:
    part = replace(schema, tables=(table,), entities=schema.entities_of(table.name))
    made = (
        ("Map", _maps(part)),
        ("Keys", tables(part)),
        ("Indexes", indexes(part)),
        ("Entities", entities(part)),
        ("Retention", _retention(part)),
    )
    return Document(table.name, table.description, _sections(made))


def _overview(schema: Schema, review: Review, cost: str) -> Iterator[Block]:
    """What a reader needs first: how much there is, and where each item lies."""
    facts = {
        "Tables": _listed([table.name for table in schema.tables]),
        "Indexes": str(sum(len(table.indexes) for table in schema.tables)),
        "Entities": str(len(schema.entities)),
        "Access patterns": str(len(schema.patterns) + len(schema.searches)),
        "Follows a write": counted(len(schema.follows), "structure"),
        "Streams": _listed([table.name for table in schema.tables if table.stream]) or "none",
        "Findings": _summary(review),
        **({"Cost": cost} if cost else {}),
    }
    yield Grid(tuple(facts), (tuple(facts.values()),))
    yield from _maps(schema)


def _listed(names: list[str]) -> str:
    """A few names, or how many there are."""
    return ", ".join(names) if len(names) <= 3 else str(len(names))


def _maps(schema: Schema) -> Iterator[Block]:
    told = (
        ": a frame is one partition, its rows come in the order of their sort keys. Dashed lines "
        "lead to copies, green ones to numbers that count, grey ones to entries of indexes."
    )
    for table in schema.tables:
        if schema.entities_of(table.name):
            name = f"keys-{anchor(table.name)}"
            yield Picture(name, key_map(schema, table), table.name + told)
            told = "."


def _summary(review: Review) -> str:
    counts = Counter(finding.severity for finding in review.findings)
    told = [counted(counts[one], one) for one in SEVERITIES if counts[one]]
    accepted = [f"{len(review.silenced)} accepted"] if review.silenced else []
    return ", ".join([*told, *accepted]) or "none"


def _relations(schema: Schema) -> Iterator[Block]:
    if schema.entities:
        yield Picture(
            "entities",
            entity_map(schema),
            "Entities with their primary keys. Arrows lead to what an item refers to; dashed ones "
            "to what it is a copy of; green ones to where it is counted.",
        )


def _retention(schema: Schema) -> Iterator[Block]:
    rows = tuple(
        (
            f"**{e.name}**",
            f"`{e.ttl.attribute}`",
            (f"{e.ttl.days:g} days" if e.ttl.days else "the moment it holds")
            + (f" after {e.ttl.after}" if e.ttl.after else ""),
        )
        for e in schema.entities
        if e.ttl is not None
    )
    if rows:
        yield Grid(("Entity", "TTL attribute", "Kept for"), rows)
        until = "reads leave them out" if schema.enforced else "until then reads return them"
        yield Paragraph(f"Expired items are removed typically within two days; {until}.")


def _migration(schema: Schema) -> Iterator[Block]:
    rows = (
        (
            f"{number}",
            f"**{step.name}**",
            step.action.replace("_", " "),
            step.table or "–",
            ", ".join([*(f"+ {a}" for a in step.adds), *(f"− {d}" for d in step.drops)]) or "–",
        )
        for number, step in enumerate(schema.steps, 1)
    )
    yield Grid(("", "Step", "What", "Table", "Indexes"), tuple(rows))


def _findings(report: Review) -> Iterator[Block]:
    if not report.findings:
        yield Paragraph("The reviewer has nothing to report.")
    ordered = sorted(report.findings, key=lambda f: SEVERITIES.index(f.severity))
    yield Grid(
        ("Rule", "Severity", "Where", "What", "What to do"),
        tuple((f.code, f.severity, f"**{f.subject}**", f.message, f.suggestion) for f in ordered),
    )
    if report.silenced:
        yield Paragraph("Accepted on purpose:")
        yield Grid(
            ("Rule", "Where", "What", "Why it is accepted"),
            tuple(
                (s.finding.code, f"**{s.finding.subject}**", s.finding.message, s.reason)
                for s in report.silenced
            ),
        )
