"""What follows from a schema: where items appear, what a pattern can return, who writes what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from keyfold.design.consequence_words import with_follows
from keyfold.design.exclusion import excludes
from keyfold.design.formats import PLAIN
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
from keyfold.review.keyspace import Range, Space, meet, spaces, witness
from keyfold.review.references import References

UNSORTED = ("list", "map", "model", "any", "boolean", "string_set", "number_set", "binary_set")
_MACHINE_MADE = re.compile(r"(?:^|[a-z]_|[a-z](?=[A-Z]))(?:id|Id|uuid|Uuid|code|Code|token|Token)$")
"""Names of values that programs make up, so that nobody types them in another case."""
NAMES_ONE = re.compile(r"e-?mail|user_?name|nick_?name|handle|login|slug|phone", re.I)
"""Names of fields that are meant to be one of a kind."""
RANGES = ("gt", "ge", "lt", "le", "between")
GROWING = ("list", "string_set", "number_set", "binary_set")


@dataclass(frozen=True)
class Appearance:
    """An entity's items in a table or index: under which key, and declared where."""

    entity: EntitySchema
    key: KeyTemplates
    placement: Placement | None = None


class Reach:
    """A schema with everything that rules ask of it, computed once."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.follows = with_follows(schema).follows
        self._copies = {each.target: each for each in self.follows if each.fact == "copy"}
        self.references = References(schema)
        self._spaces: dict[tuple[int, int], tuple[Template, tuple[Space, ...]]] = {}
        self._appearances: dict[tuple[str, str | None], tuple[Appearance, ...]] = {}
        self._reached: dict[str, tuple[Appearance, ...]] = {}

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
        if found is None or found.type != "string" or found.values:
            return False
        return not (found.refers or found.looks_like or _MACHINE_MADE.search(slot.field))

    def changes(self, entity: EntitySchema, field: str) -> bool:
        """Whether a field's value is known to change after the item is created."""
        found = entity.by_field.get(field)
        if found is None or not found.mutable or entity.immutable:
            return False
        if found.refers or found.type == "id" or found.looks_like:
            return any(field in effect.fields for _, effect in self.writes(entity.name, "update"))
        return field not in (entity.key.fields if entity.key else ())

    # Keys

    def spaces(self, template: Template, entity: EntitySchema | None) -> tuple[Space, ...]:
        # By identity: templates are asked for ten thousands of times, and slow to hash.
        known = (id(template), id(entity))
        if known not in self._spaces:
            made = spaces(template, entity.by_field if entity else {})
            self._spaces[known] = template, made
        return self._spaces[known][1]

    def meet(
        self, one: Template, owner: EntitySchema | None, other: Template, whose: EntitySchema
    ) -> bool:
        return self.witness(one, owner, other, whose) is not None

    def witness(
        self, one: Template, owner: EntitySchema | None, other: Template, whose: EntitySchema
    ) -> str | None:
        """A key that both templates can render."""
        begins, other_begins = one.literal_prefix, other.literal_prefix
        if not (begins.startswith(other_begins) or other_begins.startswith(begins)):
            return None  # most pairs of a large design
        pairs = ((a, b) for a in self.spaces(one, owner) for b in self.spaces(other, whose))
        return next((found for a, b in pairs if (found := witness(a, b)) is not None), None)

    def appearances(self, table: str, index: str | None) -> tuple[Appearance, ...]:
        """Every way in which items of a table appear in it, or in one of its indexes."""
        known = (table, index)
        if known not in self._appearances:
            self._appearances[known] = tuple(self._appear(table, index))
        return self._appearances[known]

    def _appear(self, table: str, index: str | None) -> Iterator[Appearance]:
        for entity in self.schema.entities_of(table):
            if index is None:
                if entity.key is not None:
                    yield Appearance(entity, entity.key)
                continue
            placed = entity.placement(index)
            for placement in placed:
                yield Appearance(entity, placement.key, placement)
            if not placed and (found := self._by_name(entity, index)):
                yield found

    def _by_name(self, entity: EntitySchema, index: str) -> Appearance | None:
        """An item is in an index as soon as it has the index's key attributes, meant or not."""
        table = self.schema.by_table[entity.table]
        declared = table.index(index)
        if declared is None:
            return None
        held = self.templates(entity)
        if not all(name in held for name in declared.key_attributes):
            return None
        return Appearance(entity, declared.key_of({name: held[name][0] for name in held}))

    def templates(self, entity: EntitySchema) -> dict[str, list[Template]]:
        """Every attribute of an entity's items that holds a key, with what it holds."""
        table = self.schema.by_table[entity.table]
        held: dict[str, list[Template]] = {}
        keys = [(table.index(placement.index), placement.key) for placement in entity.placements]
        for owner, key in [(table, entity.key), *keys]:
            if owner is None or key is None:
                continue
            for name, _, template in owner.templates(key):
                if template not in held.setdefault(name, []):
                    held[name].append(template)
        for attribute in (one for one in entity.attributes if one.is_stored):
            held.setdefault(attribute.name, [_bare(attribute.field)])
        return held

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
            self.meet(shape, None, appearance.key.partition, appearance.entity)
            for shape in (pattern.partition, *pattern.other_partitions)
        )

    def meets_condition(self, pattern: PatternSchema, appearance: Appearance) -> bool:
        condition, sort = pattern.condition, appearance.key.sort
        if condition.operator == "none" or condition.template is None:
            return True
        if sort is None:
            return False
        theirs = self.spaces(sort, appearance.entity)
        asked = self.spaces(condition.template, None)
        if condition.operator == "eq":
            return any(meet(a, b) for a in asked for b in theirs)
        if condition.operator == "begins_with" or is_confined(condition):
            if not condition.template.parts:
                return True
            return any(meet(a.opened(), b) for a in asked for b in theirs)
        upper = self.spaces(condition.upper, None) if condition.upper else ()
        span = _range(condition, asked[0], upper[0] if upper else None)
        return any(span.holds_some(space) for space in theirs)

    def strangers(self, pattern: PatternSchema) -> list[Appearance]:
        """What a pattern can return that it is not about."""
        if not pattern.entities:
            return []
        found = [
            a
            for a in self.reached(pattern)
            if a.entity.name not in pattern.entities and not self._is_shared(pattern, a.entity)
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

    def given(self, pattern: PatternSchema, key: KeyTemplates) -> tuple[str, ...]:
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
        return slots(key.sort)[len(self.given(pattern, key)) - len(key.partition.fields) :]

    def is_one(self, pattern: PatternSchema, appearance: Appearance) -> bool:
        """Whether a pattern gives an id or unique fields of what it returns."""
        entity, given = appearance.entity, set(self.given(pattern, appearance.key))
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
        """The bytes of the largest item that a pattern returns, or 1 KB where nothing is said."""
        found = [self.schema.by_entity.get(name) for name in pattern.entities]
        sizes = [entity.bytes for entity in found if entity is not None and entity.bytes]
        return max(sizes, default=1024)

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

    def held(self, row: EntitySchema, target: EntitySchema) -> tuple[str, ...]:
        """The fields of an entity's key that another one's items hold, by their names."""
        fields = {field.casefold().replace("_", "") for field in row.by_field}
        own = target.name.casefold().replace("_", "")
        wanted = target.key.fields if target.key else ()
        return tuple(
            field
            for field in wanted
            if (name := field.casefold().replace("_", "")) in fields or f"{own}{name}" in fields
        )

    def way_to(self, rows: list[EntitySchema], target: EntitySchema) -> PatternSchema | None:
        """The pattern that finds one item of an entity by something that rows hold."""
        for pattern in self.schema.patterns:
            if pattern.entities != (target.name,) or pattern.partition is None:
                continue
            found = [a for a in self.reached(pattern) if a.entity is target]
            asked = [set(self.given(pattern, a.key)) for a in found]
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


def _range(condition: SortCondition, asked: Space, upper: Space | None) -> Range:
    if condition.operator in ("gt", "ge"):
        return Range(low=asked.least)
    if condition.operator in ("lt", "le"):
        return Range(high=asked.greatest)
    return Range(low=asked.least, high=upper.greatest if upper else "")


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


def _bare(field: str) -> Template:
    return Template((Slot(field, PLAIN),))


def example(template: Template) -> str:
    """A template with its values left out: `COMPATIBILITY#…`."""
    return "".join(p.text if isinstance(p, Literal) else "…" for p in template.parts)
