"""Writes workload files: a first draft, or observations of a running system."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import EntitySchema, PatternSchema, Schema
from keyfold_workbench.cost.design_numbers import PAGE, PEAK_FACTOR, DesignNumbers
from keyfold_workbench.cost.item_numbers import ITEMS
from keyfold_workbench.cost.workload import EntityLoad, Workload

HEAD = """\
# How often each access pattern and write is called, and how much there is.
# Rates are calls a second, or as text: 300/hour, 40/day. What is left out is assumed, and the
# report says so. Replace the numbers below; `keyfold workload record` fills them from a system.
"""


def draft(schema: Schema) -> str:
    """A workload file that names everything, with defaults to replace."""
    return "\n".join(_lines(schema, None)) + "\n"


def observed_draft(schema: Schema, seen: Workload) -> str:
    """A workload file from observations; what was not observed has rate zero."""
    return "\n".join(_lines(schema, seen)) + "\n"


def _lines(schema: Schema, seen: Workload | None) -> Iterator[str]:
    figures = DesignNumbers(schema, Workload())
    yield HEAD.rstrip()
    yield f"design: {schema.name or 'design'}"
    if seen is None:
        yield f"peak_factor: {PEAK_FACTOR:g}"
    yield "entities:"
    for entity in schema.entities:
        stated = seen.entities.get(entity.name) if seen else None
        yield f"  {entity.name}: {{{_count_words(stated) if stated else _entity(figures, entity)}}}"
    yield "patterns:"
    for pattern in schema.patterns:
        yield f"  {_key(pattern.name)}: {{{_pattern(pattern, seen)}}}"
    yield "writes:"
    if seen is not None and seen.writes:
        for write in seen.writes:
            yield f"  {_key(write.name)}: {{{_rate(write.rate, write.peak)}}}"
    else:
        for name in write_names(schema):
            yield f"  {_key(name)}: {{rate: {'0' if seen else '1/minute'}}}"
    yield from _consumers(schema)
    yield from _feeds(schema, seen)


def _consumers(schema: Schema) -> Iterator[str]:
    """Processors are code: people must state what they do."""
    processors = [consumer for consumer in schema.consumers if not consumer.effects]
    if processors:
        yield "consumers:"
    for consumer in processors:
        yield f"  {_key(consumer.name)}: {{writes: [], events: 0}}"


def _feeds(schema: Schema, seen: Workload | None) -> Iterator[str]:
    if schema.feeds:
        yield "feeds:"
    for feed in schema.feeds:
        load = seen.feeds.get(feed.name) if seen else None
        rate = _rate(load.rate, load.peak) if load else f"rate: {'0' if seen else '1'}"
        yield f"  {_key(feed.name)}: {{{rate}, page: 20}}"


def _count_words(stated: EntityLoad) -> str:
    words = [f"items: {stated.items:g}", _size(stated)]
    if stated.distinct:
        pairs = ", ".join(f"{name}: {count:g}" for name, count in stated.distinct.items())
        words.append(f"distinct: {{{pairs}}}")
    if stated.hottest:
        pairs = ", ".join(f"{name}: {share:g}" for name, share in stated.hottest.items())
        words.append(f"hottest: {{{pairs}}}")
    return ", ".join(words)


def _size(stated: EntityLoad) -> str:
    if stated.sizes is None:
        return f"bytes: {stated.bytes}"
    pairs = ", ".join(f"p{100 * share:g}: {size}" for share, size in stated.sizes.quantiles)
    return f"sizes: {{{pairs}}}"


def _entity(figures: DesignNumbers, entity: EntitySchema) -> str:
    if entity.copy is not None:
        copies = f"copies: {figures.copies(entity):g}, " if entity.copy.each else ""
        return f"{copies}bytes: {figures.item_bytes(entity)}"
    return f"items: {ITEMS}, bytes: {figures.item_bytes(entity)}"


def _pattern(pattern: PatternSchema, seen: Workload | None) -> str:
    if seen is None:
        rate = f"rate: {pattern.rate or 1:g}"
    else:
        load = seen.patterns.get(pattern.name)
        rate = _rate(load.rate, load.peak) if load else "rate: 0"
    if pattern.kind in ("get", "latest", "exists", "count", "scan"):
        return rate
    return f"{rate}, page: {min(pattern.limit or PAGE, PAGE)}"


def _rate(average: float | None, peak: float | None) -> str:
    words = f"rate: {average or 0:.6g}"
    return f"{words}, peak: {peak:.6g}" if peak is not None else words


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
