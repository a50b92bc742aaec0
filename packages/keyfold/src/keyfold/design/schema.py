"""A design as frozen data: what checks, documents, cost, migrations and runtime read.

Both Python declarations and design files (YAML) produce it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated
from typing import Literal as Choice

from pydantic import BeforeValidator

from keyfold.design.change import PlannedStep as PlannedStep
from keyfold.design.change import Retention as Retention
from keyfold.design.change import Statement as Statement
from keyfold.design.flow import ConsumerSchema as ConsumerSchema
from keyfold.design.flow import Effect as Effect
from keyfold.design.flow import FeedSchema as FeedSchema
from keyfold.design.flow import OperationSchema as OperationSchema
from keyfold.design.follows import Condition as Condition
from keyfold.design.follows import Follows as Follows
from keyfold.design.key_templates import KeyTemplates as KeyTemplates
from keyfold.design.source import INTENTS as INTENTS
from keyfold.design.source import NOWHERE as NOWHERE
from keyfold.design.source import Intent as Intent
from keyfold.design.source import Place as Place
from keyfold.design.source import Silence as Silence
from keyfold.design.table_schema import Billing as Billing
from keyfold.design.table_schema import Index as Index
from keyfold.design.table_schema import KeyType as KeyType
from keyfold.design.table_schema import StreamView as StreamView
from keyfold.design.table_schema import TableSchema as TableSchema
from keyfold.design.template import Template
from keyfold.design.vector_index import SearchSchema as SearchSchema
from keyfold.design.vector_index import VectorSchema as VectorSchema

OtherForm = Choice[
    "string", "number", "binary", "list", "set", "map",
    "iso", "iso_ms", "iso_s", "iso_offset", "epoch", "epoch_ms",
]  # fmt: skip
Role = Choice["canonical", "pointer", "edge", "counter", "feed_item", "support"]


@dataclass(frozen=True)
class StepSchema:
    """A transition of a state machine, and the operation that makes it, if stated."""

    before: str
    after: str
    by: str = ""


_PAIR = BeforeValidator(lambda one: StepSchema(*one) if isinstance(one, list) else one)
"""Older snapshots have a transition as `[before, after]`."""


@dataclass(frozen=True)
class AttributeSchema:
    """One attribute of an entity: `name` as stored, `field` in Python."""

    name: str
    field: str
    type: str
    """string, number, boolean, binary, timestamp, date, list, map, string_set, number_set, ..."""
    also: tuple[str, ...] = ()
    """Other types that the document gives it elsewhere."""
    optional: bool = False
    mutable: bool = True
    values: tuple[str, ...] = ()
    shards: int | None = None
    """A shard number out of this many: derived from the item's id, spreads items evenly."""
    stored: str = ""
    """Its stored format: epoch, epoch_ms, iso ..., or the name of its codec."""
    reads: tuple[OtherForm, ...] = ()
    """Other types, or formats of a time, in which items may store it."""
    max_items: int | None = None
    """The maximum number of elements of a list or set, or of characters of a text."""
    normalise: str = ""
    hottest: float | None = None
    """The share of items or traffic of its most frequent value."""
    refers: str = ""
    """The entity whose id it holds; for lists and sets, whose ids."""
    looks_like: str = ""
    """The format of the id, if the document gives one: PROFILE#{uuid}, {uuid} ..."""
    states: tuple[Annotated[StepSchema, _PAIR], ...] = ()
    """The allowed transitions between values; empty means any."""
    start: tuple[str, ...] = ()
    """With states: the initial values."""
    final: tuple[str, ...] = ()
    """With states: the terminal values."""
    copies: str = ""
    """In a pointer: the canonical's field that it copies, if the name differs."""
    in_key: bool = False
    """Stored only in a key."""
    follows: tuple[str, ...] = ()
    """Not stored: computed from these fields."""
    description: str = ""

    def reached_states(self) -> dict[str, int]:
        """The states reachable from the initial ones, each with its number of steps."""
        depth = dict.fromkeys(self.start or (self.states[0].before,), 0)
        waiting = list(depth)
        while waiting:
            state = waiting.pop(0)
            for step in self.states:
                if step.before == state and step.after not in depth:
                    depth[step.after] = depth[state] + 1
                    waiting.append(step.after)
        return depth

    @property
    def is_stored(self) -> bool:
        """Whether items store an attribute of this name."""
        return not (self.in_key or self.follows)


@dataclass(frozen=True)
class Placement:
    """An entity's key in an index; `when` says which items are in it, if not all."""

    name: str
    index: str
    key: KeyTemplates
    when: Condition | None = None
    note: str = ""
    """Which items are in it, in words, if the condition is unknown."""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()
    intents: tuple[Intent, ...] = ()

    @property
    def is_partial(self) -> bool:
        """Whether only some items are in the index."""
        return self.when is not None or bool(self.note)


@dataclass(frozen=True)
class TtlSchema:
    """When items expire: a number of days after a field, or a field that holds the time."""

    attribute: str
    days: float | None = None
    after: str = ""


@dataclass(frozen=True)
class UniqueSchema:
    """Fields whose values no two items of an entity share."""

    fields: tuple[str, ...]
    normalise: str = ""
    by: Choice["marker", "index", "claim"] = "marker"
    marker: tuple[Template, ...] = ()
    """The key templates of the markers, if another program writes them as well."""
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class CounterSchema:
    """A number equal to a count or sum over another entity's items."""

    name: str
    counts: str
    """The entity whose items are counted."""
    target: str
    """The entity that holds the number."""
    attribute: str
    via: tuple[str, ...] = ()
    """The fields of the counted item that hold the target's key."""
    creates: bool = False
    """The first count creates the target."""
    stamps: str = ""
    """The target's field that says when its number last moved."""
    where: Condition | None = None
    sums: str = ""
    sync: Choice["transaction", "stream", "none"] = "none"
    """How it is maintained; empty if the design does not say."""
    shards: int = 1
    floor: int | None = None
    """The lower bound of the number."""
    peak: float | None = None
    """The highest rate of changes to one target, per second."""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()


@dataclass(frozen=True)
class Copy:
    """What a pointer copies: from which canonical, which fields, and how it is maintained."""

    of: str
    fields: tuple[str, ...] = ()
    each: str = ""
    sync: Choice["transaction", "stream", "none"] = "none"


@dataclass(frozen=True)
class EntitySchema:
    """A kind of item."""

    name: str
    table: str
    key: KeyTemplates | None
    attributes: tuple[AttributeSchema, ...] = ()
    placements: tuple[Placement, ...] = ()
    role: Role = "canonical"
    type_name: str = ""
    copy: Copy | None = None
    uniques: tuple[UniqueSchema, ...] = ()
    cascades: tuple[str, ...] = ()
    owner: str = ""
    """The field that holds the owner's id."""
    immutable: bool = False
    """The document says that it never changes after creation."""
    per_partition: int | None = None
    """The maximum number per partition."""
    bytes: int | None = None
    peak: float | None = None
    """The highest rate of writes to one partition, per second."""
    rate: float | None = None
    """Writes per second over all partitions."""
    version: str | None = None
    ttl: TtlSchema | None = None
    description: str = ""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()
    intents: tuple[Intent, ...] = ()

    @cached_property
    def by_field(self) -> dict[str, AttributeSchema]:
        return {attribute.field: attribute for attribute in self.attributes}

    def placement(self, index: str) -> tuple[Placement, ...]:
        return tuple(p for p in self.placements if p.index == index)


@dataclass(frozen=True)
class Bound:
    """One side of a range over a template's next slot: the parameter that gives it."""

    parameter: str
    inclusive: bool = True


@dataclass(frozen=True)
class SortCondition:
    """The query's condition on the sort key.

    `prefix` is the template cut after its last given slot; `low` and `high` bound the next one.
    `raw` keeps a hand-written condition of a design file, such as `> ACTIVITY#{timestamp}`.
    """

    operator: Choice["none", "eq", "begins_with", "between", "gt", "ge", "lt", "le"] = "none"
    template: Template | None = None
    low: Bound | None = None
    high: Bound | None = None
    upper: Template | None = None
    """The other end of a hand-written BETWEEN."""
    raw: str = ""


PAGE_REQUESTS = 3
"""The request limit of a page whose pattern declares no budget."""


@dataclass(frozen=True)
class PatternSchema:
    """An access pattern: what it reads, from where, in which order, at what cost."""

    name: str
    entities: tuple[str, ...]
    kind: Choice["get", "query", "collection", "merge", "latest", "count", "exists", "scan"]
    table: str
    index: str | None = None
    partition: Template | None = None
    other_partitions: tuple[Template, ...] = ()
    """For a merge over partitions with different templates: the other templates."""
    condition: SortCondition = SortCondition()
    parameters: tuple[str, ...] = ()
    descending: bool = False
    limit: int | None = None
    limit_parameter: str = ""
    paged: bool = False
    consistent: bool = False
    filter: Condition | None = None
    projection: tuple[str, ...] = ()
    requests: int | None = None
    order: str = ""
    """The order that the document promises: a field, or empty."""
    at_once: Choice["", "batch", "together"] = ""
    """A get of several items: in batches, or in one transaction."""
    deduplicated: bool = False
    partitions: str = ""
    """For a merge: the parameter that lists the partitions."""
    max_partitions: int | None = None
    returns: tuple[str, ...] = ()
    """The entities returned to the caller, if not those that are read."""
    shows: tuple[str, ...] = ()
    """The fields that its view shows, if the document says so."""
    rate: float | None = None
    """Calls per second."""
    description: str = ""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()
    intents: tuple[Intent, ...] = ()


@dataclass(frozen=True)
class Schema:
    """A whole design."""

    name: str
    tables: tuple[TableSchema, ...] = ()
    entities: tuple[EntitySchema, ...] = ()
    patterns: tuple[PatternSchema, ...] = ()
    searches: tuple[SearchSchema, ...] = ()
    counters: tuple[CounterSchema, ...] = ()
    operations: tuple[OperationSchema, ...] = ()
    consumers: tuple[ConsumerSchema, ...] = ()
    feeds: tuple[FeedSchema, ...] = ()
    follows: tuple[Follows, ...] = ()
    """What the design maintains: one record per structure."""
    steps: tuple[PlannedStep, ...] = ()
    stated: tuple[Statement, ...] = ()
    """Figures that the document states about itself."""
    retentions: tuple[Retention, ...] = ()
    before: Schema | None = None
    """The design that the planned steps start from."""
    observed: Schema | None = None
    """Observations of a table in use, if one was inspected."""
    stale_types: tuple[str, ...] = ()
    """Generated type files that are out of date."""
    enforced: bool = False
    """keyfold runs the design: delimiters in values are refused, times have one format."""
    description: str = ""
    place: Place = field(default=NOWHERE, compare=False)
    silences: tuple[Silence, ...] = ()

    @cached_property
    def by_entity(self) -> dict[str, EntitySchema]:
        return {entity.name: entity for entity in self.entities}

    @property
    def access_patterns(self) -> tuple[PatternSchema | SearchSchema, ...]:
        """All reads by key and all nearest-neighbour searches."""
        return (*self.patterns, *self.searches)

    @cached_property
    def by_pattern(self) -> dict[str, PatternSchema]:
        return {pattern.name: pattern for pattern in self.patterns}

    @cached_property
    def by_table(self) -> dict[str, TableSchema]:
        return {table.name: table for table in self.tables}

    def entities_of(self, table: str) -> tuple[EntitySchema, ...]:
        return tuple(entity for entity in self.entities if entity.table == table)

    def placed_on(self, table: str, index: str) -> Iterator[tuple[EntitySchema, Placement]]:
        for entity in self.entities_of(table):
            for placement in entity.placement(index):
                yield entity, placement
