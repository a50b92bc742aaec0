"""Consequences declared by the short words of a design file: `copy:`, `unique:`, `counters:`,
and consumers that delete or update items in response to a change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from keyfold.design.condition import fields_of
from keyfold.design.flow import ConsumerSchema
from keyfold.design.follows import COPIES_AT_ONCE, FITS, ITEMS_AT_ONCE, Follows
from keyfold.design.schema import Copy, CounterSchema, EntitySchema, Schema, UniqueSchema


def with_follows(schema: Schema) -> Schema:
    """The schema with a record for every structure that the file declares."""
    known = {_essence(each) for each in schema.follows}
    read = tuple(each for each in _stated_consequences(schema) if _essence(each) not in known)
    return replace(schema, follows=(*schema.follows, *read))


def _essence(each: Follows) -> tuple[object, ...]:
    return each.fact, each.source, each.target, each.writes


def _stated_consequences(schema: Schema) -> Iterator[Follows]:
    for entity in schema.entities:
        if entity.copy is not None:
            yield _copy(schema, entity)
        for unique in entity.uniques:
            if unique.by == "marker":
                yield _unique(entity, unique)
    for counter in schema.counters:
        yield _counter(schema, counter)
    for consumer in schema.consumers:
        yield from _consumer(schema, consumer)


def _expires(schema: Schema, name: str) -> bool:
    entity = schema.by_entity.get(name)
    # A design that is only described has no consumer to handle expired items.
    return schema.enforced and entity is not None and entity.ttl is not None


def _copy(schema: Schema, entity: EntitySchema) -> Follows:
    copy = entity.copy
    assert copy is not None, f"{entity.name} is not a copy"
    return Follows(
        name=f"pointer {entity.name}",
        kind="pointer",
        source=copy.of,
        target=entity.name,
        fact="copy",
        fields=tuple(sorted({*_copied_fields(entity, copy), *((copy.each,) if copy.each else ())})),
        writes=copy.fields,
        each=copy.each,
        at_once=COPIES_AT_ONCE,
        sync=copy.sync,
        expires=_expires(schema, copy.of),
        place=entity.place,
    )


def _copied_fields(entity: EntitySchema, copy: Copy) -> list[str]:
    """The canonical's fields that a pointer copies."""
    held = entity.by_field
    return [held[name].copies or name if name in held else name for name in copy.fields]


def _unique(entity: EntitySchema, unique: UniqueSchema) -> Follows:
    return Follows(
        name=f"unique {entity.name}.{'+'.join(unique.fields)}",
        kind="unique",
        source=entity.name,
        target="",
        fact="claim",
        fields=tuple(sorted(unique.fields)),
        writes=unique.fields,
        normalise=unique.normalise,
        marker=unique.marker,
        place=unique.place,
    )


def _counter(schema: Schema, counter: CounterSchema) -> Follows:
    target = schema.by_entity.get(counter.target)
    held = target.key.fields if target is not None and target.key is not None else counter.via
    summed = {counter.sums} if counter.sums else set()
    return Follows(
        name=f"counter {counter.target}.{counter.attribute}",
        kind="counter",
        source=counter.counts,
        target=counter.target,
        fact="amount",
        fields=tuple(sorted({*counter.via, *fields_of(counter.where), *summed})),
        writes=(counter.attribute,),
        adds=(counter.attribute,),
        via=tuple(zip(held, counter.via, strict=False)),
        when=counter.where,
        sums=counter.sums,
        creates=counter.creates,
        stamps=counter.stamps,
        shards=counter.shards,
        sync=counter.sync,
        expires=_expires(schema, counter.counts),
        place=counter.place,
    )


def _consumer(schema: Schema, consumer: ConsumerSchema) -> Iterator[Follows]:
    single = consumer.effects[0] if len(consumer.effects) == 1 else None
    sources = [name for name in consumer.entities if name in schema.by_entity]
    if single is None or not single.each or len(sources) != 1:
        return
    if single.entity not in schema.by_entity:
        return
    deletes = single.action == "delete" and consumer.events == ("REMOVE",)
    if not deletes and not (single.action == "update" and consumer.watches):
        return
    if deletes:
        yield Follows(
            name=f"{consumer.name} orphans",
            kind="orphan",
            source=single.entity,
            target=sources[0],
            fact="need",
            sync=consumer.sync,
            on=("INSERT", "MODIFY"),
            found=single.via_index,
        )
    yield Follows(
        name=consumer.name,
        kind="cascade" if deletes else "copied",
        source=sources[0],
        target=single.entity,
        fact="job",
        fields=consumer.watches,
        writes=single.fields,
        sync=consumer.sync,
        on=consumer.events,
        found=single.via_index,
        at_once=ITEMS_AT_ONCE,
        fits=FITS if deletes and consumer.sync == "transaction" else None,
        place=consumer.place,
    )
