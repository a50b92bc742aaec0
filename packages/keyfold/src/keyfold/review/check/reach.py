"""What follows from a schema: what a pattern can return, and who writes what."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import product

from keyfold.design.consequence_words import with_follows
from keyfold.design.exclusion import excludes
from keyfold.design.schema import (
    Effect,
    EntitySchema,
    Follows,
    KeyTemplates,
    OperationSchema,
    PatternSchema,
    Placement,
    Schema,
    SortCondition,
)
from keyfold.design.template import HIGHEST, Literal, Slot, Template
from keyfold.review.check.field_facts import MACHINE_MADE, NAMES_ONE, means
from keyfold.review.check.key_sets import Appearance, KeySets
from keyfold.review.keyspace import Range, Space, meet, with_slots_of
from keyfold.review.references import References
from keyfold.review.worst_case import item_bytes

UNSORTED = ("list", "map", "model", "any", "boolean", "string_set", "number_set", "binary_set")
RANGES = ("gt", "ge", "lt", "le", "between")
GROWING = ("list", "string_set", "number_set", "binary_set")


class Reach(KeySets):
    """A schema with everything that rules ask of it, computed once."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self.follows = with_follows(schema).follows
        self._copies = {each.target: each for each in self.follows if each.fact == "copy"}
        self.references = References(schema)
        self._wanted: dict[tuple[str, int], tuple[Template, EntitySchema | None]] = {}
        self._reached: dict[str, tuple[Appearance, ...]] = {}
        self._spans: dict[str, tuple[Space, ...]] = {}

    def copy(self, entity: EntitySchema) -> Follows | None:
        """How an entity is a copy, where it is one."""
        return self._copies.get(entity.name)

    # Attributes

    def is_identifier(self, entity: EntitySchema, field: str) -> bool:
        found = entity.by_field.get(field)
        return found is not None and (found.type == "id" or bool(found.looks_like))

    def is_moment(self, entity: EntitySchema, slot: Slot) -> bool:
        found = entity.by_field.get(slot.field)
        if slot.format.coarse:
            return False
        timed = slot.format.name.startswith(("iso", "epoch"))
        return timed or (found is not None and found.type in ("timestamp", "date"))

    def is_free_text(self, entity: EntitySchema, slot: Slot) -> bool:
        """Whether people or other systems choose the value."""
        found = entity.by_field.get(slot.field)
        if found is None or found.type != "string" or found.values or found.shards:
            return False
        coded = means(slot.field, "state", "code")
        return not (found.refers or found.looks_like or coded or MACHINE_MADE.search(slot.field))

    def changes(self, entity: EntitySchema, field: str) -> bool:
        """Whether a field's value is known to change after the item is created."""
        found = entity.by_field.get(field)
        if found is None or not found.mutable or entity.immutable:
            return False
        if found.refers or found.type == "id" or found.looks_like:
            return any(field in effect.fields for _, effect in self.writes(entity.name, "update"))
        return field not in (entity.key.fields if entity.key else ())

    # Patterns

    def reached(self, pattern: PatternSchema) -> tuple[Appearance, ...]:
        """Everything that a pattern's key condition can return."""
        if pattern.name not in self._reached:
            self._reached[pattern.name] = tuple(self._reach(pattern))
        return self._reached[pattern.name]

    def _reach(self, pattern: PatternSchema) -> Iterator[Appearance]:
        if pattern.at_once:
            named = (self.schema.by_entity.get(name) for name in pattern.entities)
            yield from (Appearance(one, one.key) for one in named if one is not None and one.key)
            return
        if pattern.table not in self.schema.by_table:
            return
        for appearance in self.appearances(pattern.table, pattern.index):
            if self.in_partition(pattern, appearance) and self.meets_condition(pattern, appearance):
                yield appearance

    def in_partition(self, pattern: PatternSchema, appearance: Appearance) -> bool:
        if pattern.partition is None:
            return pattern.kind == "scan"
        return any(
            self.meet(shape, whose, appearance.key.partition, appearance.entity)
            for shape, whose in (
                self._typed_template(pattern, one, "partition")
                for one in (pattern.partition, *pattern.other_partitions)
            )
        )

    def meets_by_chance(self, pattern: PatternSchema, stranger: Appearance) -> bool:
        """Whether a pattern reads another entity's partition only by chance."""
        if pattern.partition is None:
            return False
        shape, whose = self._typed_template(pattern, pattern.partition, "partition")
        return self.is_by_chance(shape, whose, stranger.key.partition, stranger.entity)

    def _typed_template(
        self, pattern: PatternSchema, asked: Template, side: str
    ) -> tuple[Template, EntitySchema | None]:
        """What is asked, with the types of what it asks for: a time is given for a time."""
        known = (pattern.name, id(asked))
        if known not in self._wanted:
            self._wanted[known] = asked, None
            for appearance in self.appearances(pattern.table, pattern.index):
                held = getattr(appearance.key, side)
                if held is None or appearance.entity.name not in pattern.entities:
                    continue
                if typed := with_slots_of(asked, held):
                    self._wanted[known] = typed, appearance.entity
                    break
        return self._wanted[known]

    def meets_condition(self, pattern: PatternSchema, appearance: Appearance) -> bool:
        condition, sort = pattern.condition, appearance.key.sort
        if condition.operator == "none" or condition.template is None:
            return True
        if sort is None:
            return False
        theirs = self.spaces(sort, appearance.entity)
        asked = self.spaces(*self._typed_template(pattern, condition.template, "sort"))
        if condition.operator == "eq":
            return any(meet(a, b) for a in asked for b in theirs)
        if condition.operator == "begins_with" or is_confined(condition):
            if not condition.template.parts:
                return True
            return any(meet(a.with_any_end(), b) for a in asked for b in theirs)
        if condition.upper is not None:
            return any(meet(a, b) for a in self._between(pattern) for b in theirs)
        return any(_range(condition, a).holds_some(b) for a in asked for b in theirs)

    def _between(self, pattern: PatternSchema) -> tuple[Space, ...]:
        """What lies between two bounds: all of it begins as both of them begin."""
        low, high = pattern.condition.template, pattern.condition.upper
        assert low is not None, f"{pattern.name} has no lower bound"
        assert high is not None, f"{pattern.name} has no upper bound"
        if pattern.name not in self._spans:
            same = [a == b for a, b in zip(low.parts, high.parts, strict=False)]
            shared = next((n for n, equal in enumerate(same) if not equal), len(same))
            (first, whose), (last, _) = (
                self._typed_template(pattern, one, "sort") for one in (low, high)
            )
            heads = self.spaces(Template(first.parts[:shared]), whose)
            ends = (self.spaces(Template(one.parts[shared:]), whose) for one in (first, last))
            self._spans[pattern.name] = tuple(
                head.between(a, b) for head, a, b in product(heads, *ends)
            )
        return self._spans[pattern.name]

    def strangers(self, pattern: PatternSchema) -> list[Appearance]:
        """What a pattern can return that it is not about."""
        if not pattern.entities:
            return []
        found = [
            a
            for a in self.reached(pattern)
            if a.entity.name not in pattern.entities and not self._is_shared(pattern, a.entity)
            if a.placement is None or self.is_listed(a.entity, a.placement.index)
        ]
        span = self._span(pattern) if pattern.kind == "collection" else None
        if span is None:
            return found
        return [
            a
            for a in found
            if a.key.sort is None
            or any(span.holds_some(space) for space in self.spaces(a.key.sort, a.entity))
        ]

    def _is_shared(self, pattern: PatternSchema, entity: EntitySchema) -> bool:
        """Whether an entity has the key of a wanted one on purpose."""
        wanted = (self.schema.by_entity.get(name) for name in pattern.entities)
        return has_intent(entity, "shared key") and any(
            one is not None and has_intent(one, "shared key") for one in wanted
        )

    def _span(self, pattern: PatternSchema) -> Range | None:
        """A collection is read from its first prefix to its last, not from end to end."""
        wanted = [a.key.sort for a in self.reached(pattern) if a.entity.name in pattern.entities]
        prefixes = [sort.literal_prefix for sort in wanted if sort is not None]
        if pattern.condition.template is not None or not prefixes or not all(prefixes):
            return None
        return Range(low=min(prefixes), high=max(prefixes) + HIGHEST)

    def given_fields(self, pattern: PatternSchema, key: KeyTemplates) -> tuple[str, ...]:
        """The fields of a key that a pattern's caller gives."""
        condition = pattern.condition
        found = key.partition.fields
        prefixed = condition.operator in ("eq", "begins_with") or is_confined(condition)
        if prefixed and condition.template is not None and key.sort is not None:
            found += key.sort.fields[: len(condition.template.fields)]
        return found

    def free(self, pattern: PatternSchema, key: KeyTemplates) -> tuple[Slot, ...]:
        """The slots of the sort key by which a pattern's answer is in order."""
        if key.sort is None:
            return ()
        return slots(key.sort)[len(self.given_fields(pattern, key)) - len(key.partition.fields) :]

    def is_one(self, pattern: PatternSchema, appearance: Appearance) -> bool:
        """Whether a pattern gives an id or unique fields of what it returns."""
        entity, given = appearance.entity, set(self.given_fields(pattern, appearance.key))
        if entity.key is not None and set(entity.key.fields) <= given:
            return True
        if appearance.placement is not None and pattern.condition.operator == "eq":
            return True
        own = (a.field for a in entity.attributes if a.field in given and not a.refers)
        identified = any(
            (self.is_identifier(entity, f) and _is_id_of(entity, f)) or _names_one(entity, f)
            for f in own
        )
        return identified or any(set(unique.fields) <= given for unique in entity.uniques)

    def excludes(self, entity: EntitySchema, one: Placement, other: Placement) -> bool:
        """Whether no item is in both placements."""
        if one.when is None or other.when is None:
            return False
        return excludes(one.when, other.when, entity)

    # Sizes and numbers, where the design gives them

    def most(self, pattern: PatternSchema) -> int | None:
        """The most items that a pattern's partition can hold."""
        found = [self.schema.by_entity.get(name) for name in pattern.entities]
        counts = [entity.per_partition for entity in found if entity is not None]
        known = [count for count in counts if count is not None]
        return sum(known) if found and len(known) == len(found) else None

    def size(self, pattern: PatternSchema) -> int:
        """The bytes of the largest item that a pattern returns, or 1 KB if unstated."""
        return item_bytes(self.schema, pattern.entities)

    # Writes

    @cached_property
    def all_writes(self) -> tuple[tuple[OperationSchema, Effect], ...]:
        return tuple((o, effect) for o in self.schema.operations for effect in o.effects)

    def writes(self, entity: str, *actions: str) -> tuple[tuple[OperationSchema, Effect], ...]:
        return tuple(
            (operation, effect)
            for operation, effect in self.all_writes
            if effect.entity == entity and effect.action in actions
        )

    def is_edited(self, entity: EntitySchema) -> bool:
        """Whether items change after they are created: records, as opposed to history."""
        stamped = any(a.field in ("updatedAt", "updated_at") for a in entity.attributes)
        return bool(entity.version or stamped or self.writes(entity.name, "update"))

    def is_past(self, entity: EntitySchema, slot: Slot) -> bool:
        """Whether a time is when something happened, and not when something is due."""
        found = entity.by_field.get(slot.field)
        keyed = entity.key is not None and slot.field in entity.key.fields
        return keyed or (found is not None and not found.mutable)

    def is_growing(self, entity: EntitySchema) -> bool:
        """Whether a partition gains an item for each moment, and nothing says that it loses any."""
        if entity.key is None or entity.key.sort is None or entity.ttl is not None:
            return False
        if entity.per_partition is not None or self.is_edited(entity):
            return False
        return any(self.is_moment(entity, slot) for slot in slots(entity.key.sort))

    def held_key_fields(self, row: EntitySchema, target: EntitySchema) -> tuple[str, ...]:
        """The fields of an entity's key that another one's items hold, by their names."""
        fields = {field.casefold().replace("_", "") for field in row.by_field}
        own = target.name.casefold().replace("_", "")
        wanted = target.key.fields if target.key else ()
        return tuple(
            field
            for field in wanted
            if (name := field.casefold().replace("_", "")) in fields or f"{own}{name}" in fields
        )

    def lookup_pattern(
        self, rows: list[EntitySchema], target: EntitySchema
    ) -> PatternSchema | None:
        """The pattern that finds one item of an entity by something that rows hold."""
        for pattern in self.schema.patterns:
            if pattern.entities != (target.name,) or pattern.partition is None:
                continue
            found = [a for a in self.reached(pattern) if a.entity is target]
            asked = [set(self.given_fields(pattern, a.key)) for a in found]
            if any(given <= set(row.by_field) for given in asked for row in rows):
                return pattern
        return None

    def is_deleted(self, entity: EntitySchema) -> bool:
        """Whether items of this type ever go away: by an operation, or by expiry."""
        return entity.ttl is not None or bool(self.writes(entity.name, "delete"))


def has_intent(entity: EntitySchema, what: str) -> bool:
    return any(intent.what == what for intent in entity.intents)


def slots(template: Template) -> tuple[Slot, ...]:
    return tuple(part for part in template.parts if isinstance(part, Slot))


def is_confined(condition: SortCondition) -> bool:
    """A range that keyfold builds stays under its prefix; hand-written ones need not."""
    return condition.operator == "between" and not condition.raw and condition.upper is None


def _range(condition: SortCondition, asked: Space) -> Range:
    if condition.operator in ("lt", "le"):
        return Range(high=asked.greatest)
    return Range(low=asked.least)


def is_own_id(entity: EntitySchema, field: str) -> bool:
    """Whether a field is named as the id of the entity itself."""
    return field.casefold().replace("_", "") in ("id", f"{entity.name}id".casefold())


def _names_one(entity: EntitySchema, field: str) -> bool:
    keyed = entity.key is not None and field in entity.key.fields
    return entity.role == "canonical" and not keyed and bool(NAMES_ONE.fullmatch(field))


def _is_id_of(entity: EntitySchema, field: str) -> bool:
    """Whether a field identifies an item: it ends the primary key, or no key is known."""
    if entity.role == "edge":
        return False
    if field.casefold().replace("_", "") == f"{entity.name}id".casefold().replace("_", ""):
        return True
    return entity.key is None or field == next(reversed(entity.key.fields), None)


def example(template: Template) -> str:
    """A template with its values left out: `COMPATIBILITY#…`."""
    return "".join(p.text if isinstance(p, Literal) else "…" for p in template.parts)
