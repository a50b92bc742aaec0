"""K: keys. Can every item be addressed, by one key only, in the order its values have?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from keyfold.design.schema import AttributeSchema, EntitySchema, KeyTemplates, Placement
from keyfold.design.template import DELIMITER, Slot, Template
from keyfold.review.check.reach import UNSORTED, Reach, example
from keyfold.review.check.rule import Defect, rule


def _keys(entity: EntitySchema) -> Iterator[tuple[str, KeyTemplates, Placement | None]]:
    if entity.key is not None:
        yield entity.name, entity.key, None
    for placement in entity.placements:
        yield f"{entity.name} on {placement.index}", placement.key, placement


def _templates(key: KeyTemplates) -> tuple[Template, ...]:
    return (key.partition,) if key.sort is None else (key.partition, key.sort)


def _slots(template: Template) -> tuple[Slot, ...]:
    return tuple(part for part in template.parts if isinstance(part, Slot))


@rule("K1", "template-field-undeclared", "error", "A key names a field that is not declared")
def template_field_undeclared(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        if not entity.attributes:
            continue
        for subject, key, placement in _keys(entity):
            roots = (slot.path.partition(".")[0] or slot.field for slot in key.slots)
            missing = [field for field in roots if field not in entity.by_field]
            if missing:
                yield Defect(
                    placement or entity,
                    subject,
                    f"the key `{key}` uses {_listed(missing)}, which {entity.name} does not "
                    "declare",
                    f"Declare {_listed(missing)} as an attribute, or correct the name.",
                    (entity,),
                )


@rule("K2", "base-key-missing", "error", "An entity has no complete primary key")
def base_key_missing(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        table = facts.schema.by_table[entity.table]
        if entity.key is None:
            yield Defect(
                entity,
                entity.name,
                f"no primary key is given for {entity.name}; its items cannot be addressed",
                f"Give its {' and '.join(table.key_attributes)} in {table.name}.",
            )
        elif table.sort is not None and entity.key.sort is None:
            yield Defect(
                entity,
                entity.name,
                f"{table.name} has the sort key {table.sort}, and {entity.name} gives none",
                f"Give {table.sort} a template; a literal such as METADATA will do.",
            )


@rule("K3", "index-template-missing", "error", "Items miss a key attribute of an index they need")
def index_template_missing(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        table = facts.schema.by_table[entity.table]
        held = facts.templates(entity)
        for placement in entity.placements:
            index = table.index(placement.index)
            subject = f"{entity.name} on {placement.index}"
            if index is None:
                yield Defect(
                    placement,
                    subject,
                    f"{table.name} has no index {placement.index}",
                    "Declare the index, or take the placement away.",
                    (entity,),
                )
                continue
            if index.sort and placement.key.sort is None and index.sort not in held:
                yield Defect(
                    placement,
                    subject,
                    f"{index.sort} is never set, so that no {entity.name} appears in {index.name}",
                    f"Give {index.sort} a template: an index holds only items with all of its "
                    "key attributes.",
                    (entity,),
                )
            optional = [f for f in placement.key.fields if _is_optional(entity, f)]
            if optional and not placement.is_partial:
                yield Defect(
                    placement,
                    subject,
                    f"{_listed(optional)} may be absent, and then the item is missing from "
                    f"{index.name}",
                    f"Make it required, or say that this is meant with when: {optional[0]}.",
                    (entity,),
                )


def _is_optional(entity: EntitySchema, field: str) -> bool:
    attribute = entity.by_field.get(field)
    return attribute is not None and attribute.optional


@rule("K4", "key-collision", "error", "Two entities can have one and the same key")
def key_collision(facts: Reach) -> Iterator[Defect]:
    for first, second in _neighbours(facts):
        if first.key is None or second.key is None:
            continue
        if _sort_meets(facts, first, second):
            yield Defect(
                second,
                f"{first.name} and {second.name}",
                f"`{first.key}` and `{second.key}` can render the same key, so that one item "
                "overwrites the other",
                "Give one of them a prefix of its own.",
                (first,),
            )


def _neighbours(facts: Reach) -> Iterator[tuple[EntitySchema, EntitySchema]]:
    """Pairs of entities that can share a partition."""
    for table in facts.schema.tables:
        for first, second in combinations(facts.schema.entities_of(table.name), 2):
            if first.key is None or second.key is None:
                continue
            if facts.meet(first.key.partition, first, second.key.partition, second):
                yield first, second


def _sort_meets(facts: Reach, first: EntitySchema, second: EntitySchema) -> bool:
    if first.key is None or second.key is None:
        return False
    one, other = first.key.sort, second.key.sort
    if one is None or other is None:
        return one is None and other is None
    return facts.meet(one, first, other, second)


@rule("K5", "prefix-overlap", "warning", "Listing one entity by its prefix returns another")
def prefix_overlap(facts: Reach) -> Iterator[Defect]:
    for pair in _neighbours(facts):
        if _sort_meets(facts, *pair):
            continue
        for short, long in (pair, pair[::-1]):
            if short.key is None or long.key is None:
                continue
            one, other = short.key.sort, long.key.sort
            if one is None or other is None or one.is_literal or not one.literal_prefix:
                continue
            prefix = one.literal_prefix
            if any(s.least.startswith(prefix) for s in facts.spaces(other, long)):
                yield Defect(
                    short,
                    f"{short.name} and {long.name}",
                    f"begins_with(`{prefix}`) for {short.name} also returns {long.name} "
                    f"(`{example(other)}`)",
                    f"End {short.name}'s prefix with {DELIMITER!r}, or give {long.name} another.",
                    (long,),
                )


@rule("K6", "delimiter-in-value", "warning", "A value that may hold the delimiter is not the last")
def delimiter_in_value(facts: Reach) -> Iterator[Defect]:
    if facts.schema.enforced:
        return
    for entity in facts.schema.entities:
        for subject, key, placement in _keys(entity):
            for template in _templates(key):
                if template.escape:
                    continue
                for slot in _slots(template):
                    if slot is template.parts[-1] or not facts.is_free_text(entity, slot):
                        continue
                    yield Defect(
                        placement or entity,
                        subject,
                        f"{slot.field} is free text inside `{template}`; a {DELIMITER!r} in it "
                        "makes two different keys equal or splits one wrongly",
                        f"Escape or refuse {DELIMITER!r} in {slot.field}, or put it last.",
                        (entity,),
                    )


@rule("K7", "timestamp-no-tiebreak", "warning", "Two items of one instant get one key")
def timestamp_no_tiebreak(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        if entity.key is None or entity.key.sort is None:
            continue
        slots = _slots(entity.key.sort)
        moments = [slot for slot in slots if facts.is_moment(entity, slot)]
        if not moments:
            continue
        after = slots[slots.index(moments[-1]) + 1 :]
        own = [s for s in slots if s not in moments and (s in after or _is_own(facts, entity, s))]
        if not own:
            yield Defect(
                entity,
                entity.name,
                f"`{entity.key}` is told apart by {moments[-1].field} alone: two items of one "
                "instant overwrite each other silently",
                f"Append an id of its own, as in `{entity.key.sort}#{{id}}`.",
            )


def _is_own(facts: Reach, entity: EntitySchema, slot: Slot) -> bool:
    """Whether a field tells one item of this entity from the others, and is nobody else's id."""
    attribute = entity.by_field.get(slot.field)
    if attribute is not None and (attribute.refers or attribute.values):
        return False
    theirs = (e.key.fields for e in facts.schema.entities if e is not entity and e.key)
    return not any(slot.field in fields for fields in theirs)


@rule("K8", "timestamp-unsortable", "warning", "A time or number in a sort key has no fixed format")
def timestamp_unsortable(facts: Reach) -> Iterator[Defect]:
    if facts.schema.enforced:
        return
    for entity in facts.schema.entities:
        for subject, key, placement in _keys(entity):
            if key.sort is None or _is_number_key(facts, entity, placement):
                continue
            for slot in _slots(key.sort):
                attribute = entity.by_field.get(slot.field)
                if attribute is None or slot.format.sortable or attribute.stored:
                    continue
                if attribute.type == "timestamp":
                    what = "has no fixed precision and zone"
                    remedy = f"Fix it, as {{{slot.field}:iso_ms}} (UTC, milliseconds)."
                elif attribute.type in ("number", "decimal"):
                    what = "is an unpadded number: 10 sorts before 9"
                    remedy = f"Pad it, as {{{slot.field}:012d}}."
                else:
                    continue
                yield Defect(
                    placement or entity,
                    subject,
                    f"{slot.field} in `{key.sort}` {what}, so that text order is not its order",
                    remedy,
                    (entity,),
                )


def _is_number_key(facts: Reach, entity: EntitySchema, placement: Placement | None) -> bool:
    table = facts.schema.by_table[entity.table]
    if placement is None:
        return table.sort_type == "N"
    index = table.index(placement.index)
    return index is not None and index.sort_type == "N"


@rule("K9", "id-format-mismatch", "error", "One id is prefixed here and bare there")
def id_format_mismatch(facts: Reach) -> Iterator[Defect]:
    at_home: dict[str, tuple[EntitySchema, AttributeSchema]] = {}
    for entity in facts.schema.entities:
        for attribute in entity.attributes:
            if attribute.looks_like and not attribute.refers:
                at_home.setdefault(entity.name, (entity, attribute))
    for entity in facts.schema.entities:
        for attribute in entity.attributes:
            home = at_home.get(attribute.refers)
            if not attribute.looks_like or home is None:
                continue
            owner, origin = home
            if origin.looks_like != attribute.looks_like:
                yield Defect(
                    entity,
                    f"{entity.name}.{attribute.field}",
                    f"{attribute.field} is `{attribute.looks_like}` here and {owner.name}."
                    f"{origin.field} is `{origin.looks_like}`: a key built from one misses the "
                    "other",
                    f"Store one form, `{origin.looks_like}`, everywhere.",
                    (owner,),
                )


@rule("K11", "mutable-primary-key", "warning", "An operation changes a field of the primary key")
def mutable_primary_key(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        if entity.key is None:
            continue
        for operation, effect in facts.writes(entity.name, "update"):
            changed = [field for field in effect.fields if field in entity.key.fields]
            if changed:
                yield Defect(
                    operation,
                    f"{operation.name} on {entity.name}",
                    f"{_listed(changed)} stands in the primary key `{entity.key}`; DynamoDB cannot "
                    "update it in place",
                    "Make it a delete and a put in one transaction, or key the item by a fixed id.",
                    (entity,),
                )


@rule("K12", "key-type-invalid", "error", "A key of a type that cannot be a key")
def key_type_invalid(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        table = facts.schema.by_table[entity.table]
        for subject, key, placement in _keys(entity):
            index = table.index(placement.index) if placement else None
            owner = index or table
            for template, type_ in (
                (key.partition, owner.partition_type),
                (key.sort, owner.sort_type),
            ):
                if template is None:
                    continue
                problem = _wrong_type(entity, template, type_)
                if problem:
                    yield Defect(
                        placement or entity,
                        subject,
                        problem,
                        "Only strings, numbers and binary values can be keys; store a string form.",
                        (entity,),
                    )


def _wrong_type(entity: EntitySchema, template: Template, type_: str) -> str:
    for slot in _slots(template):
        attribute = entity.by_field.get(slot.field)
        if attribute is not None and attribute.type in UNSORTED and not attribute.values:
            return f"{slot.field} is a {attribute.type}, which cannot stand in the key `{template}`"
    if type_ != "N":
        return ""
    attribute = entity.by_field.get(template.fields[0]) if template.is_bare_field else None
    numeric = attribute is None or attribute.type in ("number", "decimal", "timestamp", "duration")
    if template.is_bare_field and numeric:
        return ""
    return f"the key is a number, and `{template}` renders text"


@rule("K13", "lookup-not-normalised", "warning", "A lookup by text depends on case and spacing")
def lookup_not_normalised(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        if entity.role in ("counter", "support"):
            continue
        for subject, key, placement in _keys(entity):
            for slot in _slots(key.partition):
                attribute = entity.by_field.get(slot.field)
                if attribute is None or attribute.normalise or slot.format.name == "lower":
                    continue
                if facts.is_free_text(entity, slot):
                    yield Defect(
                        placement or entity,
                        subject,
                        f"`{key.partition}` is looked up by {slot.field} as it was typed: another "
                        "case or a space misses the item",
                        f"Store and look up one spelling, as {{{slot.field}:lower}}.",
                        (entity,),
                    )


@rule("K14", "prefix-registry-drift", "info", "Prefixes in use that the design's list lacks")
def prefix_registry_drift(facts: Reach) -> Iterator[Defect]:
    for table in facts.schema.tables:
        if not table.prefixes:
            continue
        used = dict.fromkeys(
            template.literal_prefix.partition(DELIMITER)[0] + DELIMITER
            for entity in facts.schema.entities_of(table.name)
            for _, key, _ in _keys(entity)
            for template in _templates(key)
            if DELIMITER in template.literal_prefix
        )
        listed = {prefix.partition(DELIMITER)[0] + DELIMITER for prefix in table.prefixes}
        missing = [prefix for prefix in used if prefix not in listed]
        if missing:
            yield Defect(
                table,
                table.name,
                f"the list of prefixes does not name {_listed([f'`{p}`' for p in missing])}",
                "Add them, so that the next entity does not take one by accident.",
            )


def _listed(words: list[str]) -> str:
    return ", ".join(dict.fromkeys(words))
