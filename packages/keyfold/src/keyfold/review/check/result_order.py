"""Q, continued: the order of a result, and where its pages begin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from keyfold.design.schema import KeyTemplates, PatternSchema
from keyfold.design.template import Slot, Template
from keyfold.review.check.answer import wanted_entries
from keyfold.review.check.evidence import Evidence, keys_example
from keyfold.review.check.key_sets import Appearance
from keyfold.review.check.patterns import condition_words
from keyfold.review.check.reach import Reach, is_confined
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import field_value, key_of, sort_of, text_of

_LATEST = re.compile(r"latest|newest|most recent|\brecent|\blast\b", re.I)


@rule(
    "Q3", "latest-without-desc", "error", "A pattern for the newest items reads in ascending order"
)
def latest_without_desc(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        if pattern.descending or pattern.kind in ("get", "scan", "count", "exists"):
            continue
        promised = pattern.kind == "latest" or _LATEST.search(
            f"{_split_words(pattern.name)} {pattern.description}"
        )
        limit = pattern.limit or pattern.limit_parameter
        moment = _first_moment(facts, pattern, counted=bool(promised))
        if moment is None or not (promised or (limit and not pattern.paged and not pattern.order)):
            continue
        if pattern.condition.operator not in ("none", "begins_with") or pattern.condition.low:
            continue
        first = f"the first {limit} " if limit else ""
        yield Defect(
            pattern,
            f"promises the newest, but reads {first}in ascending order, which returns the oldest"
            if promised
            else f"reads {first}by {moment} in ascending order: it returns the oldest and never "
            "reaches the rest",
            "Read descending (ScanIndexForward=false)."
            if promised
            else f"Read descending, page on with a cursor, or say `order: {moment}` if you want "
            "the oldest.",
            severity=None if promised else "warning",
            evidence=_oldest_first_example(facts, pattern),
        )


def _oldest_first_example(facts: Reach, pattern: PatternSchema) -> Evidence:
    first = wanted_entries(facts, pattern)[0]
    oldest, newest = (key_of(first.key, first.entity, n) for n in (1, 31))
    return keys_example(
        "a partition holds", (oldest, "the oldest, comes first"), (newest, "the newest, comes last")
    )


def _split_words(name: str) -> str:
    """`getLatestComments` as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


def _first_moment(facts: Reach, pattern: PatternSchema, *, counted: bool) -> str | None:
    """The time that orders a pattern's answer, or the number that counts its items."""
    for appearance in wanted_entries(facts, pattern):
        entity, key = appearance.entity, appearance.key
        free = [slot for slot in facts.free(pattern, key) if slot.field not in key.partition.fields]
        if not free or not facts.is_past(entity, free[0]):
            continue
        number = (
            free[0].field in entity.by_field and entity.by_field[free[0].field].type == "number"
        )
        if facts.is_moment(entity, free[0]) or (counted and number):
            return free[0].field
    return None


@rule("Q5", "order-not-in-key", "error", "The promised order is not the order of the sort key")
def order_not_in_key(facts: Reach) -> Iterator[Defect]:
    earlier = facts.schema.before.by_pattern if facts.schema.before else {}
    for pattern in facts.schema.patterns:
        was = earlier.get(pattern.name)
        order = pattern.order or (was.order if was else "")
        if not order or pattern.kind == "get":
            continue
        for appearance in wanted_entries(facts, pattern):
            if _orders_by(appearance.key, pattern, order):
                continue
            promised = "was ordered" if not pattern.order else "promises the order"
            yield Defect(
                pattern,
                f"{promised} by {order}, but the sort key is `{appearance.key.sort or 'absent'}`, "
                "so items come in another order",
                f"Put {order} first in the sort key, or read an index that sorts by it.",
                evidence=_order_example(appearance, order),
            )
            break


def _order_example(appearance: Appearance, order: str) -> Evidence:
    """Two items whose keys sort one way, and the promised field the other."""
    key, entity = appearance.key, appearance.entity
    low, high = (field_value(entity.by_field.get(order), order, n) for n in (1, 2))
    if key.sort is None:
        partition = f"`{text_of(key.partition, entity)}`"
        return keys_example("one partition key, no sort key", (partition, f"{order} = {high}"))
    return keys_example(
        "a query returns in this order",
        (f"`{sort_of(key, entity, 1, {order: high})}`", f"{order} = {high}"),
        (f"`{sort_of(key, entity, 2, {order: low})}`", f"{order} = {low}"),
    )


def _orders_by(key: KeyTemplates, pattern: PatternSchema, order: str) -> bool:
    if key.sort is None:
        return False
    given = pattern.condition.template if pattern.condition.operator == "begins_with" else None
    if is_confined(pattern.condition):
        given = pattern.condition.template
    skip = len(given.fields) if given else 0
    return order in key.sort.fields[skip : skip + 1]


@rule(
    "Q6", "boundary-inclusivity", "warning", "Paging repeats the item at the cursor, or skips one"
)
def boundary_inclusivity(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        operand = pattern.condition.template
        if pattern.condition.operator not in ("gt", "le") or operand is None or not operand.fields:
            continue
        for appearance in wanted_entries(facts, pattern):
            if appearance.key.sort is None or not _is_cut(operand, appearance.key.sort):
                continue
            again = pattern.condition.operator == "gt"
            yield Defect(
                pattern,
                f"`{condition_words(pattern)}` compares with only part of `{appearance.key.sort}`: "
                + (
                    "items with exactly that value are returned again"
                    if again
                    else "items with exactly that value are skipped"
                ),
                "Compare with the whole key of the last item, as a cursor does.",
                evidence=_cursor_example(operand, again, appearance),
            )
            break


def _cursor_example(operand: Template, again: bool, appearance: Appearance) -> Evidence:
    """The compared value, and the key of an item at that very moment."""
    cut = text_of(operand, appearance.entity)
    whole = f"{cut}{_key_rest(operand, appearance)}"
    verdict = "is greater: it comes again" if again else "is greater: it is left out"
    return keys_example("at one moment", (f"`{cut}`", "is compared with"), (f"`{whole}`", verdict))


def _key_rest(operand: Template, appearance: Appearance) -> str:
    assert appearance.key.sort is not None, f"{appearance.key} has no sort key"
    parts = appearance.key.sort.parts[len(operand.parts) :]
    return text_of(Template(parts), appearance.entity)


def _is_cut(operand: Template, whole: Template) -> bool:
    """Whether a template is another one without its last parts."""
    return len(operand.parts) < len(whole.parts) and all(
        type(a) is type(b) and (isinstance(a, Slot) or a.text == b.text)
        for a, b in zip(operand.parts, whole.parts, strict=False)
    )


@rule("Q17", "head-not-first", "warning", "A page of a collection can lack the item it is about")
def head_not_first(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        if pattern.kind != "collection" or not pattern.limit:
            continue
        there = [a for a in wanted_entries(facts, pattern) if a.key.sort is not None]
        heads = [a for a in there if not set(a.key.fields) - set(a.key.partition.fields)]
        rows = [a for a in there if a not in heads]
        bounds = [a.entity.per_partition or pattern.limit for a in rows]
        if sum(bounds) + len(heads) <= pattern.limit:
            continue  # one page holds all that there can be
        for head, row in product(heads, rows):
            one, other = (a.key.sort.literal_prefix for a in (head, row) if a.key.sort)
            late = one < other if pattern.descending else one > other
            if not (one and other and late):
                continue
            order = "descending" if pattern.descending else "ascending"
            yield Defect(
                pattern,
                f"reads {order}, so every {row.entity.name} (`{other}…`) comes before the "
                f"{head.entity.name} (`{one}`): the first page does not have it",
                f"Give {row.entity.name} a prefix that puts {head.entity.name} first, or read the "
                "other way round.",
                evidence=keys_example(
                    "pages in this order",
                    (f"`{sort_of(row.key, row.entity)}`", f"{row.entity.name}, page after page"),
                    (f"`{sort_of(head.key, head.entity)}`", f"{head.entity.name}, at the end"),
                ),
            )
            break
