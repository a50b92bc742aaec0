"""What a design keeps right for each entity: copies, counters, cascades, copied fields, feeds."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from keyfold.design.schema import (
    ConsumerSchema,
    CounterSchema,
    Effect,
    EntitySchema,
    FeedSchema,
    Schema,
)


@dataclass(frozen=True)
class Cascade:
    """Items that go with their parent."""

    parent: EntitySchema
    child: EntitySchema
    joins: bool
    """In the parent's own transaction, as far as that has room."""
    index: str

    @property
    def effect(self) -> Effect:
        return Effect("delete", self.child.name)


@dataclass(frozen=True)
class CopiedField:
    """A field of another entity, kept equal on the items that show it."""

    origin: EntitySchema
    child: EntitySchema
    watches: tuple[str, ...]
    effect: Effect
    index: str


class Kept:
    """The structures of a design, by the entity whose changes they follow."""

    def __init__(self, schema: Schema) -> None:
        self.copies: dict[str, list[EntitySchema]] = defaultdict(list)
        self.counters: dict[str, list[CounterSchema]] = defaultdict(list)
        self.cascades: dict[str, list[Cascade]] = defaultdict(list)
        self.parents: dict[str, list[Cascade]] = defaultdict(list)
        self.copied: dict[str, list[CopiedField]] = defaultdict(list)
        self.origins: dict[str, list[CopiedField]] = defaultdict(list)
        self.processors: dict[str, list[ConsumerSchema]] = defaultdict(list)
        self.posts: dict[str, list[FeedSchema]] = defaultdict(list)
        self.edges: dict[str, list[FeedSchema]] = defaultdict(list)
        for entity in schema.entities:
            if entity.copy is not None:
                self.copies[entity.copy.of].append(entity)
        for counter in schema.counters:
            if counter.target in schema.by_entity:
                self.counters[counter.counts].append(counter)
        for feed in schema.feeds:
            self.posts[feed.post].append(feed)
            for edge in feed.edges or (feed.edge,):
                self.edges[edge].append(feed)
        for consumer in schema.consumers:
            self._consumer(schema, consumer)

    def _consumer(self, schema: Schema, consumer: ConsumerSchema) -> None:
        single = consumer.effects[0] if len(consumer.effects) == 1 else None
        child = schema.by_entity.get(single.entity) if single else None
        parents = [schema.by_entity[name] for name in consumer.entities if name in schema.by_entity]
        if single is None or child is None or not single.each or len(parents) != 1:
            for parent in parents:
                self.processors[parent.name].append(consumer)
            return
        parent = parents[0]
        if single.action == "delete" and consumer.events == ("REMOVE",):
            made = Cascade(parent, child, consumer.sync == "transaction", single.via_index)
            self.cascades[parent.name].append(made)
            self.parents[child.name].append(made)
        elif single.action == "update" and consumer.watches:
            effect = Effect("update", child.name, fields=single.fields)
            found = CopiedField(parent, child, consumer.watches, effect, single.via_index)
            self.copied[parent.name].append(found)
            self.origins[child.name].append(found)
        else:
            self.processors[parent.name].append(consumer)

    def is_maintained(self, entity: EntitySchema) -> bool:
        """Whether something joins the transactions in which its items are deleted or replaced."""
        name = entity.name
        return bool(
            any(copy.copy and copy.copy.sync == "transaction" for copy in self.copies[name])
            or any(counter.sync == "transaction" for counter in self.counters[name])
            or any(unique.by == "marker" for unique in entity.uniques)
            or any(cascade.joins for cascade in (*self.cascades[name], *self.parents[name]))
        )
