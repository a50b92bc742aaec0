"""K, continued: values in keys. Are they unambiguous, retrievable and of the right type?"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import AttributeSchema, EntitySchema, Placement
from keyfold.design.template import DELIMITER, Slot, Template
from keyfold_engine.limits import PARTITION_KEY_BYTES, SORT_KEY_BYTES
from keyfold.review.check.evidence import Evidence, keys_example, sum_example
from keyfold.review.check.key_sets import templates_of
from keyfold.review.check.reach import UNSORTED, Reach, slots
from keyfold.review.check.rule import Defect, Fix, rule
from keyfold.review.check.sample import field_value, text_of


@rule("K6", "delimiter-in-value", "warning", "A value inside a key may contain the delimiter")
def delimiter_in_value(facts: Reach) -> Iterator[Defect]:
    if facts.schema.enforced:
        return
    for entity, key, placement in facts.all_keys():
        for template in templates_of(key):
            free = [s for s in slots(template) if facts.is_free_text(entity, s)]
            inner = [slot for slot in free if slot is not template.parts[-1]]
            if template.escape or not inner:
                continue
            yield _ambiguous(entity, placement, template, free, inner[0])


def _ambiguous(
    entity: EntitySchema,
    placement: Placement | None,
    template: Template,
    free: list[Slot],
    slot: Slot,
) -> Defect:
    """Two adjacent texts that give one key for two pairs; a single one can only be split
    wrongly.
    """
    delimiter = _delimiter(template, slot)
    remedy = f"Escape or refuse {delimiter!r} in {slot.field}, or put it last."
    if len(free) < 2:
        return Defect(
            placement or entity,
            f"can {slot.field} hold {delimiter!r}? It is inside `{template}`",
            remedy,
            (entity,),
            severity="question",
            cause=f"{slot.field} of {entity.name}",
            evidence=_split_example(entity, template, slot, delimiter),
        )
    one, other = free[0].field, free[1].field
    shared = text_of(template, entity, 1, {one: f"a{delimiter}b", other: "c"})
    alike = text_of(template, entity, 1, {one: "a", other: f"b{delimiter}c"})
    return Defect(
        placement or entity,
        f"{one} and {other} are free text inside `{template}`; a {delimiter!r} in one of them "
        "makes two different items have one key",
        remedy,
        (entity,),
        cause=f"{one} and {other} of {entity.name}",
        evidence=keys_example(
            "two items",
            (f"`{shared}`", f"{one} = 'a{delimiter}b', {other} = 'c'"),
            (f"`{alike}`", f"{one} = 'a', {other} = 'b{delimiter}c'"),
        ),
        fix=Fix(template.text, f"escaped {template.text}") if delimiter == DELIMITER else None,
    )


def _delimiter(template: Template, slot: Slot) -> str:
    """What ends a value inside a key: the character after it, or the next word."""
    following = template.parts[template.parts.index(slot) + 1]
    if isinstance(following, Slot):
        return DELIMITER
    return following.text if following.text[0].isalnum() else following.text[0]


def _split_example(
    entity: EntitySchema, template: Template, slot: Slot, delimiter: str
) -> Evidence:
    """What a program parses from a key whose value contains the delimiter."""
    value = f"a{delimiter}b"
    return keys_example(
        f"with {slot.field} = {value!r}",
        (f"`{text_of(template, entity, 1, {slot.field: value})}`", "is the key"),
        (f"`{slot.field} = 'a'`", f"is what splitting at {delimiter!r} reads out of it"),
    )


@rule("K13", "lookup-not-normalised", "warning", "A lookup by text depends on case and spacing")
def lookup_not_normalised(facts: Reach) -> Iterator[Defect]:
    lowered = {
        slot.field
        for _, key, _ in facts.all_keys()
        for template in templates_of(key)
        for slot in slots(template)
        if slot.format.name == "lower"
    }
    lowered |= {
        f for e in facts.schema.entities for u in e.uniques if u.normalise for f in u.fields
    }
    for entity, key, placement in facts.all_keys():
        if entity.role in ("counter", "support"):
            continue
        for slot in slots(key.partition):
            attribute = entity.by_field.get(slot.field)
            if attribute is None or attribute.normalise or slot.format.name == "lower":
                continue
            if not facts.is_free_text(entity, slot):
                continue
            mixed = slot.field in lowered
            yield Defect(
                placement or entity,
                f"{slot.field} is stored in lower case elsewhere, but as typed in "
                f"`{key.partition}`: the lookup misses"
                if mixed
                else f"how is {slot.field} in `{key.partition}` normalised? A lookup with "
                "other case or spacing misses the item",
                f"Normalise it when storing and when looking up, as {{{slot.field}:lower}}.",
                (entity,),
                severity=None if mixed else "question",
                cause="" if mixed else "the spelling of what is looked up",
                fix=Fix(slot.text, f"{{{slot.field}:lower}}") if mixed else None,
                evidence=keys_example(
                    "two partitions",
                    (
                        f"`{text_of(key.partition, entity, 1, {slot.field: 'Ann'})}`",
                        "as stored",
                    ),
                    (f"`{text_of(key.partition, entity, 1, {slot.field: 'ann'})}`", "as asked"),
                    so="the lookup finds nothing",
                ),
            )


@rule("K15", "key-too-long", "error", "A key can exceed DynamoDB's length limit")
def key_too_long(facts: Reach) -> Iterator[Defect]:
    for entity, key, placement in facts.all_keys():
        for template, most, kind in (
            (key.partition, PARTITION_KEY_BYTES, "partition"),
            (key.sort, SORT_KEY_BYTES, "sort"),
        ):
            longest = 0 if template is None else _longest(entity, template)
            if template is not None and longest > most:
                yield Defect(
                    placement or entity,
                    f"`{template}` can be {longest:,} bytes long, but a {kind} key allows {most:,}",
                    "Put a hash or an id of the long value into the key.",
                    (entity,),
                    evidence=sum_example(
                        "the longest one",
                        _lengths(entity, template),
                        f"a {kind} key takes {most:,}",
                        "bytes",
                    ),
                )


def _longest(entity: EntitySchema, template: Template) -> int:
    """The bytes of the longest key, as far as texts are bounded; unbounded ones count as zero."""
    return sum(count * each for _, count, each in _lengths(entity, template))


def _lengths(entity: EntitySchema, template: Template) -> Iterator[tuple[str, int, int]]:
    for part in template.parts:
        if not isinstance(part, Slot):
            yield f"`{part.text}`", 1, len(part.text.encode())
            continue
        attribute = entity.by_field.get(part.field)
        if attribute is not None and attribute.type == "string" and attribute.max_items:
            yield part.field, attribute.max_items, 1


@rule("K9", "id-format-mismatch", "error", "An id has a prefix in one place and none in another")
def id_format_mismatch(facts: Reach) -> Iterator[Defect]:
    at_home: dict[str, tuple[EntitySchema, AttributeSchema]] = {}
    for entity, attribute in facts.all_attributes():
        if attribute.looks_like and not attribute.refers:
            at_home.setdefault(entity.name, (entity, attribute))
    for entity, attribute in facts.all_attributes():
        home = at_home.get(attribute.refers)
        if not attribute.looks_like or home is None:
            continue
        owner, origin = home
        if origin.looks_like != attribute.looks_like:
            yield Defect(
                entity,
                f"{attribute.field} is `{attribute.looks_like}` here and {owner.name}."
                f"{origin.field} is `{origin.looks_like}`: a key built from one misses the "
                "other",
                f"Store one form, `{origin.looks_like}`, everywhere.",
                (owner,),
                subject=f"{entity.name}.{attribute.field}",
                evidence=keys_example(
                    f"one {owner.name} is",
                    (f"`{field_value(attribute, attribute.field)}`", f"in {entity.name}"),
                    (f"`{field_value(origin, origin.field)}`", f"in {owner.name} itself"),
                    so="a get by the first finds nothing",
                ),
            )


@rule(
    "K12",
    "key-type-invalid",
    "error",
    "A key attribute has a type that DynamoDB does not allow in keys",
)
def key_type_invalid(facts: Reach) -> Iterator[Defect]:
    for entity, key, placement in facts.all_keys():
        table = facts.schema.by_table[entity.table]
        index = table.index(placement.index) if placement else None
        owner = index or table
        for _, type_, template in owner.templates(key):
            problem = _wrong_type(entity, template, type_)
            if problem:
                yield Defect(
                    placement or entity,
                    problem,
                    "Only strings, numbers and binary values can be keys; store a string form.",
                    (entity,),
                    evidence=_type_example(entity, template, type_),
                )


_WIRE = {"boolean": "BOOL", "list": "L", "map": "M", "model": "M", "any": "M"}
_WIRE |= {"string_set": "SS", "number_set": "NS", "binary_set": "BS"}


def _type_example(entity: EntitySchema, template: Template, type_: str) -> Evidence:
    """The value that is sent, and the key's type."""
    types = [entity.by_field[f].type for f in template.fields if f in entity.by_field]
    sent = next((_WIRE[kind] for kind in types if kind in _WIRE), "S")
    return keys_example(
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
            return f"{slot.field} is a {attribute.type}, which cannot be in the key `{template}`"
    if type_ != "N":
        return ""
    attribute = entity.by_field.get(template.fields[0]) if template.is_bare_field else None
    numeric = attribute is None or attribute.type in ("number", "decimal", "timestamp", "duration")
    if template.is_bare_field and numeric:
        return ""
    return f"the key is a number, and `{template}` renders text"
