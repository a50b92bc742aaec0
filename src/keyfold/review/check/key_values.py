"""K, continued: values in keys. Do they tell items apart, sort as they should, and fit?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from keyfold.design.schema import AttributeSchema, EntitySchema, KeyTemplates, Placement
from keyfold.design.template import DELIMITER, Slot, Template
from keyfold.limits import PARTITION_KEY_BYTES, SORT_KEY_BYTES
from keyfold.review.check.evidence import Evidence, course, found, total
from keyfold.review.check.keys import keys_of, templates_of
from keyfold.review.check.reach import RANGES, UNSORTED, Reach, slots
from keyfold.review.check.rule import Defect, Fix, rule
from keyfold.review.check.sample import field_value, key_of, text_of
from keyfold.review.draft.names import words


@rule("K6", "delimiter-in-value", "warning", "A value that may hold the delimiter is not the last")
def delimiter_in_value(facts: Reach) -> Iterator[Defect]:
    if facts.schema.enforced:
        return
    for entity in facts.schema.entities:
        for subject, key, placement in keys_of(entity):
            for template in templates_of(key):
                free = [s for s in slots(template) if facts.is_free_text(entity, s)]
                inner = [slot for slot in free if slot is not template.parts[-1]]
                if template.escape or not inner:
                    continue
                yield _ambiguous(entity, subject, placement, template, free, inner[0])


def _ambiguous(
    entity: EntitySchema,
    subject: str,
    placement: Placement | None,
    template: Template,
    free: list[Slot],
    slot: Slot,
) -> Defect:
    """Two texts beside each other give one key for two pairs; one alone only splits wrongly."""
    remedy = f"Escape or refuse {DELIMITER!r} in {slot.field}, or put it last."
    if len(free) < 2:
        return Defect(
            placement or entity,
            subject,
            f"can {slot.field} hold {DELIMITER!r}? It stands inside `{template}`",
            remedy,
            (entity,),
            severity="question",
            cause=f"{slot.field} of {entity.name}",
            evidence=_split(entity, template, slot),
        )
    one, other = free[0].field, free[1].field
    shared = text_of(template, entity, 1, {one: f"a{DELIMITER}b", other: "c"})
    alike = text_of(template, entity, 1, {one: "a", other: f"b{DELIMITER}c"})
    return Defect(
        placement or entity,
        subject,
        f"{one} and {other} are free text inside `{template}`; a {DELIMITER!r} in one of them "
        "makes two different items have one key",
        remedy,
        (entity,),
        cause=f"{one} and {other} of {entity.name}",
        evidence=found(
            "two items",
            (f"`{shared}`", f"{one} = 'a{DELIMITER}b', {other} = 'c'"),
            (f"`{alike}`", f"{one} = 'a', {other} = 'b{DELIMITER}c'"),
        ),
        fix=Fix(template.text, f"escaped {template.text}"),
    )


_MOMENT = "2026-03-01T09:00:00Z"
_LATER_FIRST = (
    ("2026-03-01T08:30:00Z", "half past eight"),
    ("2026-03-01T09:00:00+01:00", "eight o'clock, the earlier"),
)
_LARGER_FIRST = (("9", "9"), ("10", "10, the larger"))
_TEXT_AMOUNTS = (("150.00", "150"), ("1000.00", "1,000, the larger"))
_AMOUNTS = {"amount", "balance", "cost", "fee", "price", "quantity", "salary", "total", "wage"}
"""Words for numbers that people count in, often kept as text."""


def _split(entity: EntitySchema, template: Template, slot: Slot) -> Evidence:
    """What a program reads out of a key whose value holds the delimiter."""
    value = f"a{DELIMITER}b"
    return found(
        f"with {slot.field} = {value!r}",
        (f"`{text_of(template, entity, 1, {slot.field: value})}`", "is the key"),
        (f"`{slot.field} = 'a'`", f"is what splitting at {DELIMITER!r} reads out of it"),
    )


def _in_order(
    entity: EntitySchema, template: Template, field: str, values: tuple[tuple[str, str], ...]
) -> Evidence:
    """Keys that sort the wrong way round, each with what its value is."""
    made = ((f"`{text_of(template, entity, 1, {field: text})}`", word) for text, word in values)
    return found("a query returns in this order", *sorted(made))


@rule("K7", "timestamp-no-tiebreak", "warning", "Two items of one instant get one key")
def timestamp_no_tiebreak(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        if entity.key is None or entity.key.sort is None:
            continue
        parts = slots(entity.key.sort)
        moments = [slot for slot in parts if facts.is_moment(entity, slot)]
        if not moments:
            continue
        after = parts[parts.index(moments[-1]) + 1 :]
        own = [s for s in parts if s not in moments and (s in after or _is_own(facts, entity, s))]
        if not own:
            yield Defect(
                entity,
                entity.name,
                f"`{entity.key}` is told apart by {moments[-1].field} alone: two items of one "
                "instant overwrite each other silently",
                f"Append an id of its own, as in `{entity.key.sort}#{{id}}`.",
                evidence=_at_once(entity, entity.key, moments[-1]),
            )


def _at_once(entity: EntitySchema, key: KeyTemplates, slot: Slot) -> Evidence:
    """Two items that one instant gives one key."""
    shown = key_of(key, entity, 1, {slot.field: _MOMENT})
    return course(
        f"one {entity.name} is put at {shown}",
        f"another of the same instant is put at {shown}",
        so="the first is gone",
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
        for subject, key, placement in keys_of(entity):
            if key.sort is None:
                continue
            numbers = _number_fields(facts, entity, key, placement)
            for slot in slots(key.sort):
                if slot.field in numbers:
                    continue
                attribute = entity.by_field.get(slot.field)
                if attribute is None or slot.format.sortable or attribute.stored:
                    continue
                where, within = placement or entity, (entity,)
                if attribute.type == "timestamp":
                    yield Defect(
                        where,
                        subject,
                        f"which precision and zone does {slot.field} have in `{key.sort}`? Text "
                        "order is the order of times only where both are fixed",
                        f"Fix it, as {{{slot.field}:iso_ms}} (UTC, milliseconds).",
                        within,
                        severity="question",
                        cause="the format of times in keys",
                        evidence=_in_order(entity, key.sort, slot.field, _LATER_FIRST),
                    )
                elif attribute.type in ("number", "decimal") and not _is_shard(attribute):
                    yield Defect(
                        where,
                        subject,
                        f"{slot.field} in `{key.sort}` is an unpadded number: 10 sorts before 9",
                        f"Pad it, as {{{slot.field}:012d}}.",
                        within,
                        cause=f"{slot.field} of {entity.name}",
                        fix=Fix(slot.text, f"{{{slot.field}:012d}}"),
                        evidence=_in_order(entity, key.sort, slot.field, _LARGER_FIRST),
                    )
                elif _is_amount(attribute):
                    read = _is_read_in_order(facts, entity, slot.field)
                    yield Defect(
                        where,
                        subject,
                        f"{slot.field} in `{key.sort}` is text, and its values are amounts: "
                        "150.00 sorts after 1000.00"
                        if read
                        else f"do the values of {slot.field} in `{key.sort}`, which is text, sort "
                        "as amounts?",
                        f"Make it a number, padded as {{{slot.field}:012d}}, or store the text "
                        "with leading zeros.",
                        within,
                        severity=None if read else "question",
                        cause=f"{slot.field} of {entity.name}",
                        evidence=_in_order(entity, key.sort, slot.field, _TEXT_AMOUNTS),
                    )


def _is_amount(attribute: AttributeSchema) -> bool:
    """Whether a text is called like an amount: by its name, or by the form that it has."""
    if attribute.type != "string" or attribute.values or attribute.refers:
        return False
    form = re.fullmatch(r"\{([^{}]*)\}", attribute.looks_like)
    if attribute.looks_like and form is None:
        return False
    return words(attribute.field)[-1] in _AMOUNTS or (form is not None and form[1] in _AMOUNTS)


def _is_read_in_order(facts: Reach, entity: EntitySchema, field: str) -> bool:
    """Whether a pattern takes a range of a field, or promises its order."""
    for pattern in facts.schema.patterns:
        if entity.name not in pattern.entities:
            continue
        condition = pattern.condition
        asked = condition.template.fields if condition.template else ()
        bounds = [bound.parameter for bound in (condition.low, condition.high) if bound]
        ranged = condition.operator in RANGES and field in (*asked[-1:], *bounds)
        if ranged or pattern.order == field:
            return True
    return False


def _is_shard(attribute: AttributeSchema) -> bool:
    """A number that is asked for one by one: its order says nothing."""
    name = attribute.field.casefold()
    return attribute.shards is not None or "shard" in name or "bucket" in name


def _number_fields(
    facts: Reach, entity: EntitySchema, key: KeyTemplates, placement: Placement | None
) -> set[str]:
    """The fields that are sort attributes of their own, and numbers."""
    table = facts.schema.by_table[entity.table]
    owner = table if placement is None else table.index(placement.index)
    if owner is None:
        return set()
    sort = owner.sort_types
    numbers = [t for name, kind, t in owner.templates(key) if kind == "N" and name in sort]
    return {field for template in numbers for field in template.fields}


@rule("K13", "lookup-not-normalised", "warning", "A lookup by text depends on case and spacing")
def lookup_not_normalised(facts: Reach) -> Iterator[Defect]:
    lowered = {
        slot.field
        for entity in facts.schema.entities
        for _, key, _ in keys_of(entity)
        for template in templates_of(key)
        for slot in slots(template)
        if slot.format.name == "lower"
    }
    lowered |= {
        f for e in facts.schema.entities for u in e.uniques if u.normalise for f in u.fields
    }
    for entity in facts.schema.entities:
        if entity.role in ("counter", "support"):
            continue
        for subject, key, placement in keys_of(entity):
            for slot in slots(key.partition):
                attribute = entity.by_field.get(slot.field)
                if attribute is None or attribute.normalise or slot.format.name == "lower":
                    continue
                if not facts.is_free_text(entity, slot):
                    continue
                mixed = slot.field in lowered
                yield Defect(
                    placement or entity,
                    subject,
                    f"{slot.field} is written in lower case elsewhere, and as it was typed in "
                    f"`{key.partition}`: the lookup misses"
                    if mixed
                    else f"in which spelling is {slot.field} stored and looked up in "
                    f"`{key.partition}`? Another case or a space misses the item",
                    f"Store and look up one spelling, as {{{slot.field}:lower}}.",
                    (entity,),
                    severity=None if mixed else "question",
                    cause="" if mixed else "the spelling of what is looked up",
                    fix=Fix(slot.text, f"{{{slot.field}:lower}}") if mixed else None,
                    evidence=found(
                        "two partitions",
                        (
                            f"`{text_of(key.partition, entity, 1, {slot.field: 'Ann'})}`",
                            "as stored",
                        ),
                        (f"`{text_of(key.partition, entity, 1, {slot.field: 'ann'})}`", "as asked"),
                        so="the lookup finds nothing",
                    ),
                )


@rule("K15", "key-too-long", "error", "A key that can be longer than DynamoDB takes")
def key_too_long(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        for subject, key, placement in keys_of(entity):
            for template, most, kind in (
                (key.partition, PARTITION_KEY_BYTES, "partition"),
                (key.sort, SORT_KEY_BYTES, "sort"),
            ):
                longest = 0 if template is None else _longest(entity, template)
                if template is not None and longest > most:
                    yield Defect(
                        placement or entity,
                        subject,
                        f"`{template}` can be {longest:,} bytes long, and a {kind} key takes "
                        f"{most:,}",
                        "Put a hash or an id of the long value into the key.",
                        (entity,),
                        evidence=total(
                            "the longest one",
                            _lengths(entity, template),
                            f"a {kind} key takes {most:,}",
                            "bytes",
                        ),
                    )


def _longest(entity: EntitySchema, template: Template) -> int:
    """The bytes of the longest key, as far as the design bounds its texts; others count nothing."""
    return sum(count * each for _, count, each in _lengths(entity, template))


def _lengths(entity: EntitySchema, template: Template) -> Iterator[tuple[str, int, int]]:
    for part in template.parts:
        if not isinstance(part, Slot):
            yield f"`{part.text}`", 1, len(part.text.encode())
            continue
        attribute = entity.by_field.get(part.field)
        if attribute is not None and attribute.type == "string" and attribute.max_items:
            yield part.field, attribute.max_items, 1


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
                    evidence=found(
                        f"one {owner.name} is",
                        (f"`{field_value(attribute, attribute.field)}`", f"in {entity.name}"),
                        (f"`{field_value(origin, origin.field)}`", f"in {owner.name} itself"),
                        so="a get by the first finds nothing",
                    ),
                )


@rule("K12", "key-type-invalid", "error", "A key of a type that cannot be a key")
def key_type_invalid(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        table = facts.schema.by_table[entity.table]
        for subject, key, placement in keys_of(entity):
            index = table.index(placement.index) if placement else None
            owner = index or table
            for _, type_, template in owner.templates(key):
                problem = _wrong_type(entity, template, type_)
                if problem:
                    yield Defect(
                        placement or entity,
                        subject,
                        problem,
                        "Only strings, numbers and binary values can be keys; store a string form.",
                        (entity,),
                        evidence=_typed(entity, template, type_),
                    )


_WIRE = {"boolean": "BOOL", "list": "L", "map": "M", "model": "M", "any": "M"}
_WIRE |= {"string_set": "SS", "number_set": "NS", "binary_set": "BS"}


def _typed(entity: EntitySchema, template: Template, type_: str) -> Evidence:
    """The value that is sent, and the type that the key has."""
    types = [entity.by_field[f].type for f in template.fields if f in entity.by_field]
    sent = next((_WIRE[kind] for kind in types if kind in _WIRE), "S")
    return found(
        f"a put of one {entity.name}",
        (f"sends {sent}", f"for {', '.join(template.fields)}"),
        (f"takes {type_}", "as the key is declared"),
        so="DynamoDB refuses it with a ValidationException",
    )


def _wrong_type(entity: EntitySchema, template: Template, type_: str) -> str:
    for slot in slots(template):
        attribute = entity.by_field.get(slot.field)
        if attribute is None or attribute.values or attribute.type not in UNSORTED:
            continue
        if attribute.type != "boolean" or template.is_bare_field:
            return f"{slot.field} is a {attribute.type}, which cannot stand in the key `{template}`"
    if type_ != "N":
        return ""
    attribute = entity.by_field.get(template.fields[0]) if template.is_bare_field else None
    numeric = attribute is None or attribute.type in ("number", "decimal", "timestamp", "duration")
    if template.is_bare_field and numeric:
        return ""
    return f"the key is a number, and `{template}` renders text"
