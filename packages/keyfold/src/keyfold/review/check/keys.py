"""K: keys. Can every item be addressed by exactly one key, in the order of its values?"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from itertools import combinations

from keyfold.design.schema import EntitySchema
from keyfold.design.template import DELIMITER, Template
from keyfold.review.check.evidence import Evidence, keys_example, steps_example
from keyfold.review.check.key_sets import templates_of
from keyfold.review.check.reach import Reach, example, has_intent
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import field_value, key_of, text_of, value_of
from keyfold.review.keyspace import Space, meet, witness


@rule("K1", "template-field-undeclared", "error", "A key names a field that is not declared")
def template_field_undeclared(facts: Reach) -> Iterator[Defect]:
    for entity, key, placement in facts.all_keys():
        if not entity.attributes:
            continue
        roots = (slot.path.partition(".")[0] or slot.field for slot in key.slots)
        missing = [field for field in roots if field not in entity.by_field]
        if missing:
            close = get_close_matches(missing[0], entity.by_field, 1, 0.8)
            yield Defect(
                placement or entity,
                f"the key `{key}` uses {_list(missing)}, which {entity.name} does not "
                "declare" + (f" (it has {close[0]})" if close else ""),
                f"Declare {_list(missing)} as an attribute, or correct the name.",
                (entity,),
                severity=None if close else "warning",
                cause=f"{_list(missing)} of {entity.name}",
                evidence=keys_example(
                    f"a new {entity.name} has",
                    *((f"{f} =", f"`{field_value(a, f)}`") for f, a in entity.by_field.items()),
                    so=f"nothing fills {missing[0]} in its key",
                ),
            )


@rule("K2", "base-key-missing", "error", "An entity has no complete primary key")
def base_key_missing(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        table = facts.schema.by_table[entity.table]
        known = any(
            other.key is not None and (table.sort is None or other.key.sort is not None)
            for other in facts.schema.entities_of(table.name)
        )
        if entity.key is None:
            yield Defect(
                entity,
                f"{entity.name} has no primary key, so its items cannot be read or written",
                f"Give its {' and '.join(table.key_attributes)} in {table.name}.",
                severity=None if known else "question",
                cause="" if known else "primary keys",
            )
        elif table.sort is not None and entity.key.sort is None:
            yield Defect(
                entity,
                f"{table.name} has the sort key {table.sort}, but {entity.name} has no template "
                "for it",
                f"Give {table.sort} a template; a literal such as METADATA will do.",
                severity=None if known else "question",
                cause="" if known else "primary keys",
                evidence=keys_example(
                    f"a put of a new {entity.name}",
                    (f"{table.partition} =", f"`{text_of(entity.key.partition, entity)}`"),
                    (f"{table.sort} =", "nothing"),
                    so=f"DynamoDB refuses it: {table.sort} is missing",
                ),
            )


@rule(
    "K3",
    "index-template-missing",
    "error",
    "An item lacks a key attribute of an index that lists it",
)
def index_template_missing(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        table = facts.schema.by_table[entity.table]
        held = facts.templates(entity)
        for placement in entity.placements:
            index = table.index(placement.index)
            if index is None:
                yield Defect(
                    placement,
                    f"{table.name} has no index {placement.index}",
                    "Declare the index, or remove the placement.",
                    (entity,),
                )
                continue
            unset = ", ".join(name for name in index.sort_types if name not in held)
            if unset and placement.key.sort is None:
                yield Defect(
                    placement,
                    f"{unset} is never set, so no {entity.name} appears in {index.name}",
                    f"Give {unset} a template: an index holds only items with all of its "
                    "key attributes.",
                    (entity,),
                    evidence=keys_example(
                        f"one {entity.name} has",
                        (index.partition_text, f"= `{text_of(placement.key.partition, entity)}`"),
                        (unset, "= nothing"),
                        so=f"DynamoDB writes no entry of it to {index.name}",
                    ),
                )
            optional = [f for f in placement.key.fields if _is_optional(entity, f)]
            if optional and not placement.is_partial:
                yield Defect(
                    placement,
                    f"{_list(optional)} is optional: an item without it is missing from "
                    f"{index.name}",
                    f"Make it required, or, if this is intended, add when: {optional[0]}.",
                    (entity,),
                    evidence=keys_example(
                        f"entries of {index.name}",
                        (
                            f"{entity.name} with {optional[0]} = "
                            f"{field_value(entity.by_field[optional[0]], optional[0])}:",
                            key_of(placement.key, entity),
                        ),
                        (f"{entity.name} without {optional[0]}:", "none"),
                    ),
                )


def _is_optional(entity: EntitySchema, field: str) -> bool:
    attribute = entity.by_field.get(field)
    return attribute is not None and attribute.optional


@rule("K4", "key-collision", "error", "Two entities can produce the same key")
def key_collision(facts: Reach) -> Iterator[Defect]:
    for first, second in _neighbours(facts):
        if first.key is None or second.key is None:
            continue
        if _sort_meets(facts, first, second):
            # A deliberate choice is declared at both.
            silent = first if has_intent(second, "shared key") else second
            if _is_by_chance(facts, first, second):
                yield Defect(
                    silent,
                    f"can `{first.key}` and `{second.key}` be the same key? One of them has a text "
                    "without a prefix",
                    "Give it a prefix of its own.",
                    subject=f"{first.name} and {second.name}",
                    severity="question",
                    evidence=_collision_example(facts, first, second),
                )
                continue
            yield Defect(
                silent,
                f"`{first.key}` and `{second.key}` can render the same key, so one item "
                "overwrites the other",
                "Give one of them a prefix of its own, or say `on_purpose: {shared key: REASON}` "
                "at both.",
                subject=f"{first.name} and {second.name}",
                evidence=_collision_example(facts, first, second),
            )


def _is_by_chance(facts: Reach, first: EntitySchema, second: EntitySchema) -> bool:
    assert first.key is not None, f"{first.name} has no key"
    assert second.key is not None, f"{second.name} has no key"
    pairs = zip(templates_of(first.key), templates_of(second.key), strict=False)
    return any(facts.is_by_chance(mine, first, theirs, second) for mine, theirs in pairs)


def _collision_example(facts: Reach, first: EntitySchema, second: EntitySchema) -> Evidence:
    """One key that both entities can have, with its values."""
    table = facts.schema.by_table[first.table]
    assert first.key is not None, f"{first.name} has no key"
    assert second.key is not None, f"{second.name} has no key"
    pairs = [(table.partition, first.key.partition, second.key.partition)]
    if table.sort and first.key.sort and second.key.sort:
        pairs.append((table.sort, first.key.sort, second.key.sort))
    usual = [_sample(facts, one, first, other, second) for _, one, other in pairs]
    texts = usual if all(usual) else [facts.witness(a, first, b, second) for _, a, b in pairs]
    shared: list[str] = []
    made: dict[str, dict[str, str]] = {first.name: {}, second.name: {}}
    for (name, one, other), text in zip(pairs, texts, strict=True):
        shared.append(f"{name} = `{text}`")
        for entity, template in ((first, one), (second, other)):
            made[entity.name] |= template.parse(text or "") or {}
    told = (
        (name, f"with {', '.join(f'{field} = {value!r}' for field, value in values.items())}")
        for name, values in made.items()
    )
    return keys_example(
        f"{', '.join(shared)} is the key of", *told, so="the later write replaces the other"
    )


def _sample(
    facts: Reach, one: Template, owner: EntitySchema, other: Template, whose: EntitySchema
) -> str | None:
    """A typical key of one entity that is also a key of the other."""
    made = ((text_of(one, owner), other, whose), (text_of(other, whose), one, owner))
    for text, template, entity in made:
        if any(meet(Space((text,)), space) for space in facts.spaces(template, entity)):
            return text
    return None


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


@rule(
    "K5", "prefix-overlap", "warning", "A query for one entity's prefix also returns another entity"
)
def prefix_overlap(facts: Reach) -> Iterator[Defect]:
    together = [set(p.entities) for p in facts.schema.patterns if len(p.entities) > 1]
    for pair in _neighbours(facts):
        if _sort_meets(facts, *pair) or any({e.name for e in pair} <= names for names in together):
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
                    f"begins_with(`{prefix}`) for {short.name} also returns {long.name} "
                    f"(`{example(other)}`)",
                    f"End {short.name}'s prefix with {DELIMITER!r}, or give {long.name} another.",
                    (long,),
                    subject=f"{short.name} and {long.name}",
                    evidence=keys_example(
                        f"begins_with `{prefix}` returns",
                        (f"`{text_of(one, short)}`", short.name),
                        (f"`{_key_with_prefix(facts, prefix, other, long)}`", long.name),
                    ),
                )


def _key_with_prefix(facts: Reach, prefix: str, template: Template, entity: EntitySchema) -> str:
    """A key of an entity that begins with a prefix."""
    usual = text_of(template, entity)
    if usual.startswith(prefix):
        return usual
    opened = Space((prefix,), open=True)
    keys = (witness(space, opened) for space in facts.spaces(template, entity))
    return next((key for key in keys if key is not None), usual)


@rule("K11", "mutable-primary-key", "warning", "An operation changes a field of the primary key")
def mutable_primary_key(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        if entity.key is None:
            continue
        for operation, effect in facts.writes(entity.name, "update"):
            changed = [field for field in effect.fields if field in entity.key.fields]
            if operation.atomic and facts.writes(entity.name, "delete"):
                continue  # The delete and the put, in one transaction.
            if changed:
                yield Defect(
                    operation,
                    f"{_list(changed)} is part of the primary key `{entity.key}`, and DynamoDB "
                    "cannot update a key in place",
                    "Delete and put in one transaction, or use an id that never changes as the "
                    "key.",
                    (entity,),
                    subject=f"{operation.name} on {entity.name}",
                    evidence=_move_example(entity, changed[0]),
                )


def _move_example(entity: EntitySchema, field: str) -> Evidence:
    """What an update of a key field would have to do."""
    assert entity.key is not None, f"{entity.name} has no key"
    slot = next(slot for slot in entity.key.slots if slot.field == field)
    old, new = value_of(entity, slot), value_of(entity, slot, 2)
    return steps_example(
        f"{field} is {old}: the item is at {key_of(entity.key, entity, 1, {field: old})}",
        f"{field} becomes {new}: it belongs at {key_of(entity.key, entity, 1, {field: new})}",
        so="an update that sets it is refused, and an upsert leaves two items",
    )


@rule(
    "K14",
    "prefix-registry-drift",
    "note",
    "The design uses prefixes that its own list does not name",
)
def prefix_registry_drift(facts: Reach) -> Iterator[Defect]:
    for table in facts.schema.tables:
        if not table.prefixes:
            continue
        used = dict.fromkeys(
            template.literal_prefix.partition(DELIMITER)[0] + DELIMITER
            for entity, key, _ in facts.all_keys()
            if entity.table == table.name
            for template in templates_of(key)
            if DELIMITER in template.literal_prefix
        )
        listed = {prefix.partition(DELIMITER)[0] + DELIMITER for prefix in table.prefixes}
        missing = [prefix for prefix in used if prefix not in listed]
        if missing:
            yield Defect(
                table,
                f"the list of prefixes does not name {_list([f'`{p}`' for p in missing])}",
                "Add them to the list, so that no later entity reuses one by accident.",
                evidence=keys_example(
                    "keys in use",
                    *(
                        (
                            f"`{text_of(template, entity)}`",
                            f"{entity.name} on {placement.index}" if placement else entity.name,
                        )
                        for entity, key, placement in facts.all_keys()
                        if entity.table == table.name
                        for template in templates_of(key)
                        if template.literal_prefix.startswith(tuple(missing))
                    ),
                ),
            )


def _list(words: list[str]) -> str:
    return ", ".join(dict.fromkeys(words))
