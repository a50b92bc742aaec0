"""What access patterns require of one entity: the fields given, and the order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from keyfold.design.schema import EntitySchema, KeyTemplates, PatternSchema, Schema
from keyfold.design.template import Slot, Template
from keyfold.review.check.filters import equal_fields
from keyfold.review.check.reach import is_confined
from keyfold_workbench.cost.design_numbers import DesignNumbers

ORDERED = ("timestamp", "date", "number")
FIXED_ROLES = ("pointer", "counter", "feed_item", "support")
"""Items that other items' writes address by key: the adviser leaves their keys alone."""


@dataclass(frozen=True)
class Shape:
    """A key by its fields alone."""

    partition: tuple[str, ...]
    sort: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        return self.partition + self.sort


@dataclass(frozen=True)
class Demand:
    """One pattern's demand on one entity."""

    pattern: PatternSchema
    entity: str
    given: tuple[str, ...]
    order: str = ""
    single: bool = False
    consistent: bool = False
    constant: bool = False
    """The partition is the same in every call."""
    served: bool = True
    """Whether the design serves it today without reading everything."""
    filtered: tuple[str, ...] = ()
    """The given fields that are filtered after the read today."""

    @property
    def name(self) -> str:
        return self.pattern.name


def shape_of(key: KeyTemplates) -> Shape:
    return Shape(key.partition.fields, key.sort.fields if key.sort else ())


def serves(shape: Shape, demand: Demand) -> bool:
    """Whether a key of this shape serves a demand with one range of one partition."""
    given = set(demand.given)
    if not shape.partition or not set(shape.partition) <= given:
        return False
    rest = given - set(shape.partition)
    if set(shape.sort[: len(rest)]) != rest:
        return False
    if demand.order and not demand.single:
        return shape.sort[len(rest) : len(rest) + 1] == (demand.order,)
    return True


def slots(template: Template | None) -> dict[str, Slot]:
    parts = template.parts if template else ()
    return {part.field: part for part in parts if isinstance(part, Slot)}


def written_through(schema: Schema) -> Iterator[tuple[str, str | None]]:
    """Entities that consumers and jobs find by a key, with the index they use."""
    for each in schema.follows:
        if each.fact == "job" and each.found is not None:
            yield each.target, each.found or None
    for consumer in schema.consumers:
        for effect in consumer.effects:
            yield effect.entity, effect.via_index or None
    for operation in schema.operations:
        for effect in operation.effects:
            if effect.via_index:
                yield effect.entity, effect.via_index


class Demands:
    """The demands of a design by entity, and which keys must stay."""

    def __init__(self, figures: DesignNumbers) -> None:
        self.figures, self.schema = figures, figures.schema
        self.by_entity: dict[str, list[Demand]] = {e.name: [] for e in self.schema.entities}
        self.pinned: dict[str, set[str | None]] = {e.name: set() for e in self.schema.entities}
        """Paths (None is the table) that stay because several entities are read from them."""
        for pattern in self.schema.patterns:
            self._pattern(pattern)
        for entity in self.schema.entities:
            if entity.role in FIXED_ROLES or entity.copy is not None or entity.key is None:
                self.pinned[entity.name].add(None)
        for each in self.schema.follows:
            if each.fact == "amount" and each.target in self.pinned:
                self.pinned[each.target].add(None)
        for name, index in written_through(self.schema):
            if name in self.pinned:
                self.pinned[name].add(index)

    def _pattern(self, pattern: PatternSchema) -> None:
        alone = len(pattern.entities) == 1 and pattern.entities[0] in self.schema.by_entity
        demand = self._demand(pattern) if alone else None
        if demand is not None:
            self.by_entity[demand.entity].append(demand)
            return
        for name in pattern.entities or tuple(e.name for e in self.schema.entities):
            if name in self.pinned:
                self.pinned[name].add(pattern.index)

    def _demand(self, pattern: PatternSchema) -> Demand | None:
        entity = self.schema.by_entity[pattern.entities[0]]
        if pattern.kind in ("collection", "merge") or entity.key is None:
            return None
        if pattern.partition is None or pattern.kind == "scan":
            return self._scan_demand(pattern, entity)
        key = self._key(pattern, entity)
        condition = pattern.condition
        # A constant partition is deliberate: it stays.
        if key is None or not key.partition.fields:
            return None
        if condition.operator not in ("none", "eq", "begins_with") and not is_confined(condition):
            return None
        given = list(key.partition.fields)
        rest = list(key.sort.fields) if key.sort else []
        if condition.template is not None:
            taken = len(rest) if condition.operator == "eq" else len(condition.template.fields)
            given, rest = given + rest[:taken], rest[taken:]
        filtered = tuple(f for f in self._filter_fields(pattern, entity) if f not in given)
        given += filtered
        alone = any(self.figures.is_own_id(entity, field) for field in given)
        single = alone or set(given) >= set(entity.key.fields) or pattern.kind == "get"
        return Demand(
            pattern,
            entity.name,
            tuple(dict.fromkeys(given)),
            "" if single else self._order(pattern, entity, key, rest),
            single,
            pattern.consistent,
            constant=self._is_constant(pattern, len(given) - len(filtered)),
            filtered=filtered,
        )

    def _filter_fields(self, pattern: PatternSchema, entity: EntitySchema) -> list[str]:
        """The fields that a pattern's filter compares with values: a key could serve them."""
        return [field for field in equal_fields(pattern.filter) if field in entity.by_field]

    def _key(self, pattern: PatternSchema, entity: EntitySchema) -> KeyTemplates | None:
        found = [
            appearance.key
            for appearance in self.figures.facts.reached(pattern)
            if appearance.entity is entity
        ]
        return found[0] if len(found) == 1 else None

    def _scan_demand(self, pattern: PatternSchema, entity: EntitySchema) -> Demand | None:
        named = [f for f in pattern.parameters if f in entity.by_field]
        given = tuple(dict.fromkeys([*named, *self._filter_fields(pattern, entity)]))
        if not given:
            return None
        single = any(self.figures.is_own_id(entity, field) for field in given)
        order = pattern.order if pattern.order in entity.by_field else ""
        return Demand(pattern, entity.name, given, order, single, served=False)

    def _order(
        self, pattern: PatternSchema, entity: EntitySchema, key: KeyTemplates, rest: list[str]
    ) -> str:
        if pattern.order in entity.by_field:
            return pattern.order
        if not rest:
            return ""
        attribute = entity.by_field.get(rest[0])
        slot = slots(key.sort).get(rest[0])
        timed = attribute is not None and attribute.type in ORDERED
        formatted = slot is not None and bool(slot.format.name)
        ranged = pattern.condition.low is not None or pattern.condition.high is not None
        return rest[0] if timed or formatted or ranged else ""

    def _is_constant(self, pattern: PatternSchema, given: int) -> bool:
        bounds = {
            bound.parameter
            for bound in (pattern.condition.low, pattern.condition.high)
            if bound is not None
        }
        free = [
            name
            for name in pattern.parameters
            if name not in bounds and name != pattern.limit_parameter and name != "limit"
        ]
        return bool(pattern.parameters) and len(free) < given
