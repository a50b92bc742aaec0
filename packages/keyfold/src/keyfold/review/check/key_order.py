"""K, continued: times and numbers in keys. Are they unique, and do they sort correctly?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from keyfold.design.schema import AttributeSchema, EntitySchema, KeyTemplates, Placement
from keyfold.design.template import Slot, Template
from keyfold.review.check.evidence import Evidence, keys_example, steps_example
from keyfold.review.check.reach import RANGES, Reach, slots
from keyfold.review.check.rule import Defect, Fix, rule
from keyfold.review.check.sample import key_of, text_of
from keyfold.review.draft.names import words

_MOMENT = "2026-03-01T09:00:00Z"
_LATER_FIRST = (
    ("2026-03-01T08:30:00Z", "half past eight"),
    ("2026-03-01T09:00:00+01:00", "eight o'clock, the earlier"),
)
_LARGER_FIRST = (("9", "9"), ("10", "10, the larger"))
_TEXT_AMOUNTS = (("150.00", "150"), ("1000.00", "1,000, the larger"))
_AMOUNTS = {"amount", "balance", "cost", "fee", "price", "quantity", "salary", "total", "wage"}
"""Names of numbers that are often stored as text."""
_RESULTS = {"points", "rating", "score"}
"""Names of further numbers that do not identify an item."""


def _sort_example(
    entity: EntitySchema, template: Template, field: str, values: tuple[tuple[str, str], ...]
) -> Evidence:
    """Keys that sort in the wrong order, each with its value."""
    made = ((f"`{text_of(template, entity, 1, {field: text})}`", word) for text, word in values)
    return keys_example("a query returns in this order", *sorted(made))


@rule(
    "K7",
    "timestamp-no-tiebreak",
    "warning",
    "Two items with the same time or amount get the same key",
)
def timestamp_no_tiebreak(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        if entity.key is None or entity.key.sort is None or _is_reference(facts, entity):
            continue
        parts = slots(entity.key.sort)
        moments = [slot for slot in parts if facts.is_moment(entity, slot)]
        amounts = [slot for slot in parts if _is_measured(entity, slot)]
        same = "time" if moments else "amount"
        moments = moments or amounts
        if not moments:
            continue
        after = parts[parts.index(moments[-1]) + 1 :]
        own = [s for s in parts if s not in moments and (s in after or _is_own(facts, entity, s))]
        if not own:
            refused = _is_refused(facts, entity)
            yield Defect(
                entity,
                f"`{entity.key}` is unique only by {moments[-1].field}: "
                + (
                    f"the second of two items with the same {same} is refused"
                    if refused
                    else f"two items with the same {same} overwrite each other"
                ),
                f"Append a unique id, as in `{entity.key.sort}#{{id}}`.",
                severity="note" if refused else None,
                evidence=_same_key_example(entity, entity.key, moments[-1], same, refused),
            )


def _is_refused(facts: Reach, entity: EntitySchema) -> bool:
    """Whether a condition on every create prevents overwriting."""
    made = facts.writes(entity.name, "create", "put")
    return bool(made) and all(effect.guarded for _, effect in made)


def _is_reference(facts: Reach, entity: EntitySchema) -> bool:
    """Whether its sort key is another entity's: the time in it is part of that one's identity."""
    assert entity.key is not None, f"{entity.name} has no key"
    others = (e for e in facts.schema.entities if e is not entity and e.table == entity.table)
    mine = entity.key
    return any(
        e.key is not None
        and e.key.sort == mine.sort
        and e.key.partition != mine.partition
        and set(e.key.fields) <= set(mine.fields)
        for e in others
    )


def _is_measured(entity: EntitySchema, slot: Slot) -> bool:
    """Whether a number is a result, which many items can have, and not their number."""
    attribute = entity.by_field.get(slot.field)
    numeric = attribute is not None and attribute.type in ("number", "decimal")
    return numeric and words(slot.field)[-1] in _AMOUNTS | _RESULTS


def _same_key_example(
    entity: EntitySchema, key: KeyTemplates, slot: Slot, same: str, refused: bool
) -> Evidence:
    """Two items with the same time or amount."""
    shown = key_of(key, entity, 1, {slot.field: _MOMENT} if same == "time" else {})
    return steps_example(
        f"one {entity.name} is put at {shown}",
        f"another with the same {same} is put at {shown}",
        so="its condition fails, and nothing is written" if refused else "the first is gone",
    )


def _is_own(facts: Reach, entity: EntitySchema, slot: Slot) -> bool:
    """Whether a field identifies an item of this entity and is not another's id."""
    attribute = entity.by_field.get(slot.field)
    if attribute is not None and (attribute.refers or attribute.values):
        return False
    theirs = (e.key.fields for e in facts.schema.entities if e is not entity and e.key)
    return not any(slot.field in fields for fields in theirs)


@rule("K8", "timestamp-unsortable", "warning", "A time or number in a sort key has no fixed format")
def timestamp_unsortable(facts: Reach) -> Iterator[Defect]:
    if facts.schema.enforced:
        return
    for entity, key, placement in facts.all_keys():
        if key.sort is None or set(key.sort.fields) <= set(key.partition.fields):
            continue  # No order, or one item per partition.
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
                    f"which precision and zone does {slot.field} have in `{key.sort}`? Text "
                    "sorts in order of time only if both are fixed",
                    f"Fix it, as {{{slot.field}:iso_ms}} (UTC, milliseconds).",
                    within,
                    severity="question",
                    cause="the format of times in keys",
                    evidence=_sort_example(entity, key.sort, slot.field, _LATER_FIRST),
                )
            elif attribute.type in ("number", "decimal") and not _sorts_anyway(attribute):
                yield Defect(
                    where,
                    f"{slot.field} in `{key.sort}` is an unpadded number: 10 sorts before 9",
                    f"Pad it, as {{{slot.field}:012d}}.",
                    within,
                    cause=f"{slot.field} of {entity.name}",
                    fix=Fix(slot.text, f"{{{slot.field}:012d}}"),
                    evidence=_sort_example(entity, key.sort, slot.field, _LARGER_FIRST),
                )
            elif _is_amount(attribute):
                read = _is_read_in_order(facts, entity, slot.field)
                yield Defect(
                    where,
                    f"{slot.field} in `{key.sort}` is text that holds amounts: "
                    "150.00 sorts after 1000.00"
                    if read
                    else f"is {slot.field} in `{key.sort}` an amount? It is stored as text, "
                    "and 150.00 sorts after 1000.00",
                    f"Make it a number, padded as {{{slot.field}:012d}}, or store the text "
                    "with leading zeros.",
                    within,
                    severity=None if read else "question",
                    cause=f"{slot.field} of {entity.name}",
                    evidence=_sort_example(entity, key.sort, slot.field, _TEXT_AMOUNTS),
                )


def _is_amount(attribute: AttributeSchema) -> bool:
    """Whether a text field holds an amount, by its name or its form."""
    if attribute.type != "string" or attribute.values or attribute.refers:
        return False
    form = re.fullmatch(r"\{([^{}]*)\}", attribute.looks_like)
    if attribute.looks_like and form is None:
        return False
    return words(attribute.field)[-1] in _AMOUNTS or (form is not None and form[1] in _AMOUNTS)


def _is_read_in_order(facts: Reach, entity: EntitySchema, field: str) -> bool:
    """Whether a pattern queries a range of a field, or promises its order."""
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


def _sorts_anyway(attribute: AttributeSchema) -> bool:
    """Whether order does not matter: shards are queried one by one; a year has four digits."""
    name = attribute.field.casefold()
    spread = attribute.shards is not None or "shard" in name or "bucket" in name
    return spread or words(attribute.field)[-1] == "year"


def _number_fields(
    facts: Reach, entity: EntitySchema, key: KeyTemplates, placement: Placement | None
) -> set[str]:
    """The fields that are numeric sort attributes by themselves."""
    table = facts.schema.by_table[entity.table]
    owner = table if placement is None else table.index(placement.index)
    if owner is None:
        return set()
    sort = owner.sort_types
    numbers = [t for name, kind, t in owner.templates(key) if kind == "N" and name in sort]
    return {field for template in numbers for field in template.fields}
