"""Writes workload files: a first draft, or observations of a running system."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import EntitySchema, PatternSchema, Schema
from keyfold_workbench.cost.design_numbers import PAGE, PEAK_FACTOR, DesignNumbers
from keyfold_workbench.cost.item_numbers import ITEMS
from keyfold_workbench.cost.workload import Workload

HEAD = """\
# How often each access pattern and write is called, and how much there is.
# Rates are calls a second, or as text: 300/hour, 40/day. What is left out is assumed, and the
# report says so. Replace the numbers below.
"""


def draft(schema: Schema) -> str:
    """A workload file that names everything, with defaults to replace."""
    return "\n".join(_lines(schema)) + "\n"


def _lines(schema: Schema) -> Iterator[str]:
    figures = DesignNumbers(schema, Workload())
    yield HEAD.rstrip()
    yield f"design: {schema.name or 'design'}"
    yield f"peak_factor: {PEAK_FACTOR:g}"
    yield "entities:"
    for entity in schema.entities:
        yield f"  {entity.name}: {{{_entity(figures, entity)}}}"
    yield "patterns:"
    for pattern in schema.patterns:
        yield f"  {_key(pattern.name)}: {{{_pattern(pattern)}}}"
    yield "writes:"
    for name in write_names(schema):
        yield f"  {_key(name)}: {{rate: 1/minute}}"
    yield from _consumers(schema)
    if schema.feeds:
        yield "feeds:"
    for feed in schema.feeds:
        yield f"  {_key(feed.name)}: {{rate: 1, page: 20}}"


def _consumers(schema: Schema) -> Iterator[str]:
    """Processors are code: people must state what they do."""
    processors = [consumer for consumer in schema.consumers if not consumer.effects]
    if processors:
        yield "consumers:"
    for consumer in processors:
        yield f"  {_key(consumer.name)}: {{writes: [], events: 0}}"


def _entity(figures: DesignNumbers, entity: EntitySchema) -> str:
    if entity.copy is not None:
        copies = f"copies: {figures.copies(entity):g}, " if entity.copy.each else ""
        return f"{copies}bytes: {figures.item_bytes(entity)}"
    return f"items: {ITEMS}, bytes: {figures.item_bytes(entity)}"


def _pattern(pattern: PatternSchema) -> str:
    rate = f"rate: {pattern.rate or 1:g}"
    if pattern.kind in ("get", "latest", "exists", "count", "scan"):
        return rate
    return f"{rate}, page: {min(pattern.limit or PAGE, PAGE)}"


def write_names(schema: Schema) -> Iterator[str]:
    """The operations of a design, or a create, update and delete of every canonical entity."""
    if schema.operations:
        yield from (operation.name for operation in schema.operations)
        return
    for entity in schema.entities:
        if entity.copy is not None:
            continue
        yield f"create {entity.name}"
        if not entity.immutable:
            yield f"update {entity.name}"
        yield f"delete {entity.name}"


def _key(name: str) -> str:
    """A name as a YAML key."""
    plain = name.replace(" ", "").replace("_", "").replace("-", "")
    return name if plain.isalnum() and not plain.isdigit() else f'"{name}"'
