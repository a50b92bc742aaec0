"""The content of a design document, section by section, from the schema alone."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import Schema
from keyfold.review.docs.blocks import (
    Block,
    Document,
    Paragraph,
    Picture,
    Section,
    anchor,
    count,
)
from keyfold.review.docs.blocks import Grid as Grid
from keyfold.review.docs.entity_map import entity_map
from keyfold.review.docs.findings import findings
from keyfold.review.docs.patterns import patterns
from keyfold.review.docs.states import states
from keyfold.review.docs.tables import entities, indexes, tables, vectors
from keyfold.review.docs.writes import copies, counters, feeds, streams, uniques, writes


def document(schema: Schema) -> Document:
    """The whole document without empty sections."""
    made = (
        ("Overview", _overview(schema)),
        ("Tables and keys", tables(schema)),
        ("Indexes", indexes(schema)),
        ("Access patterns", patterns(schema)),
        ("Vector search", vectors(schema)),
        ("Entities", entities(schema)),
        ("States", states(schema)),
        ("Copies and how they are maintained", copies(schema)),
        ("Counters", counters(schema)),
        ("Unique values", uniques(schema)),
        ("Writes", writes(schema)),
        ("Streams", streams(schema)),
        ("Feeds", feeds(schema)),
        ("Retention", _retention(schema)),
        ("Migration", _migration(schema)),
        ("Findings", findings(schema)),
    )
    sections = [(title, tuple(blocks)) for title, blocks in made]
    return Document(
        schema.name,
        schema.description,
        tuple(Section(title, anchor(title), blocks) for title, blocks in sections if blocks),
    )


def _overview(schema: Schema) -> Iterator[Block]:
    indexes = sum(len(table.indexes) for table in schema.tables)
    yield Paragraph(
        f"{count(len(schema.tables), 'table', 'tables')}, "
        f"{count(indexes, 'index', 'indexes')}, "
        f"{count(len(schema.entities), 'entity', 'entities')}, "
        f"{count(len(schema.patterns), 'access pattern', 'access patterns')}."
    )
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
    rows = tuple(
        (
            f"{number}",
            f"**{step.name}**",
            step.action.replace("_", " "),
            step.table or "–",
            ", ".join([*(f"+ {a}" for a in step.adds), *(f"− {d}" for d in step.drops)]) or "–",
        )
        for number, step in enumerate(schema.steps, 1)
    )
    if rows:
        yield Grid(("", "Step", "What", "Table", "Indexes"), rows)
