"""Q: access patterns. Does each return exactly what it promises, completely and in order?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import product

from keyfold.design.condition import fields_of
from keyfold.design.schema import KeyTemplates, PatternSchema
from keyfold.design.template import Slot, Template
from keyfold.limits import PAGE_BYTES
from keyfold.review.check.answer import page, pages, wanted
from keyfold.review.check.evidence import Evidence, found, total
from keyfold.review.check.key_sets import Appearance
from keyfold.review.check.patterns import asked
from keyfold.review.check.reach import RANGES, Reach, example, is_confined
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import field_value, key_of, sort_of, text_of
from keyfold.review.worst_case import most_requests, partitions


def _shown(appearances: list[Appearance]) -> str:
    found = (f"{a.entity.name} (`{example(a.key.sort or a.key.partition)}`)" for a in appearances)
    return ", ".join(dict.fromkeys(found))


def _is_filtered_by_type(facts: Reach, pattern: PatternSchema) -> bool:
    marker = facts.schema.by_table[pattern.table].type_attribute
    return bool(marker and marker in fields_of(pattern.filter))


def _known(facts: Reach, pattern: PatternSchema) -> bool:
    return pattern.table in facts.schema.by_table


@rule("Q1", "range-bleed", "error", "A range query returns other entity types")
def range_bleed(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        if pattern.condition.operator not in RANGES or is_confined(pattern.condition):
            continue
        strangers, unlikely = _strangers(facts, pattern)
        if strangers:
            yield Defect(
                pattern,
                pattern.name,
                f"`{asked(pattern)}` also returns {_shown(strangers)}",
                _range_remedy(pattern),
                evidence=page(facts, pattern, strangers),
            )
        elif unlikely:
            yield _chance(pattern, unlikely)


def _strangers(facts: Reach, pattern: PatternSchema) -> tuple[list[Appearance], list[Appearance]]:
    """What a pattern also returns, and what it returns only if two texts happen to be equal."""
    found = [] if _is_filtered_by_type(facts, pattern) else facts.strangers(pattern)
    unlikely = [one for one in found if facts.meets_by_chance(pattern, one)]
    return [one for one in found if one not in unlikely], unlikely


def _chance(pattern: PatternSchema, unlikely: list[Appearance]) -> Defect:
    return Defect(
        pattern,
        pattern.name,
        f"can `{pattern.partition}` also be a key of {_shown(unlikely)}? One of them is text "
        "without a prefix",
        "Give it a prefix of its own.",
        severity="question",
        cause="texts without a prefix",
    )


def _range_remedy(pattern: PatternSchema) -> str:
    template = pattern.condition.template
    prefix = template.literal_prefix if template else ""
    if len(pattern.entities) > 1 or pattern.kind == "collection":
        return "Name every type that the range holds, or filter by the type attribute."
    if prefix:
        return (
            f"Close the range, as between `{prefix}…` and `{prefix}` followed by the highest "
            "character."
        )
    return "Give each type a prefix of its own in the sort key."


@rule(
    "Q2",
    "partition-unscoped",
    "error",
    "A pattern for one entity reads a partition that several share",
)
def partition_unscoped(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        if pattern.condition.operator in ("eq", *RANGES) and not is_confined(pattern.condition):
            continue
        if not _known(facts, pattern) or pattern.kind in ("get", "scan"):
            continue
        strangers, unlikely = _strangers(facts, pattern)
        if strangers:
            yield Defect(
                pattern,
                pattern.name,
                f"asks for {', '.join(pattern.entities)} and also returns {_shown(strangers)}",
                _scope_remedy(facts, pattern, strangers),
                evidence=page(facts, pattern, strangers),
            )
        elif unlikely:
            yield _chance(pattern, unlikely)


def _scope_remedy(facts: Reach, pattern: PatternSchema, strangers: list[Appearance]) -> str:
    if len(pattern.entities) > 1:
        names = ", ".join(dict.fromkeys(one.entity.name for one in strangers))
        return (
            f"Give {names} a prefix that sorts before or after {' and '.join(pattern.entities)}, "
            "and read the range between; or query each type by its own prefix."
        )
    entity = facts.schema.by_entity.get(pattern.entities[0])
    keys = [a.key for a in facts.appearances(pattern.table, pattern.index) if a.entity is entity]
    prefix = keys[0].sort.literal_prefix if keys and keys[0].sort else ""
    if prefix:
        return f"Add begins_with(`{prefix}`) to the key condition."
    return "Give the entity a prefix of its own in the sort key, and query by it."


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
            pattern.name,
            f"promises the newest, but reads {first}in ascending order, which returns the oldest"
            if promised
            else f"reads {first}by {moment} in ascending order: it returns the oldest and never "
            "reaches the rest",
            "Read descending (ScanIndexForward=false)."
            if promised
            else f"Read descending, page on with a cursor, or say `order: {moment}` if you want "
            "the oldest.",
            severity=None if promised else "warning",
            evidence=_oldest_first(facts, pattern),
        )


def _oldest_first(facts: Reach, pattern: PatternSchema) -> Evidence:
    first = wanted(facts, pattern)[0]
    oldest, newest = (key_of(first.key, first.entity, n) for n in (1, 31))
    return found(
        "a partition holds", (oldest, "the oldest, comes first"), (newest, "the newest, comes last")
    )


def _split_words(name: str) -> str:
    """`getLatestComments` as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


def _first_moment(facts: Reach, pattern: PatternSchema, *, counted: bool) -> str | None:
    """The time that orders a pattern's answer, or the number that counts its items."""
    for appearance in wanted(facts, pattern):
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


@rule("Q4", "unbounded-result", "warning", "A query has neither a limit nor pages")
def unbounded_result(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        if pattern.kind in ("get", "latest", "exists", "scan") or pattern.paged:
            continue
        if pattern.limit is not None or pattern.limit_parameter or pattern.partition is None:
            continue
        if pattern.condition.operator == "between" and pattern.condition.upper is not None:
            continue
        most = facts.most(pattern)
        if most is not None:
            yield from _many_pages(facts, pattern, most)
            continue
        reached = wanted(facts, pattern)
        if reached and all(_names_one(facts, pattern, a) for a in reached):
            continue
        grows = [a.entity.name for a in reached if facts.is_growing(a.entity)]
        yield Defect(
            pattern,
            pattern.name,
            f"reads every {grows[0]} of a partition; they accumulate, and the cost grows with them"
            if grows
            else "how many items can it return? It has neither a limit nor pages",
            "Give it a limit and a cursor, or say how many there can be (per_partition).",
            severity=None if grows else "question",
            cause="" if grows else "how many items a partition holds",
            evidence=pages(facts, pattern),
        )


def _many_pages(facts: Reach, pattern: PatternSchema, most: int) -> Iterator[Defect]:
    """Whether a bounded result can still need more requests than the pattern may make."""
    size = facts.size(pattern)
    pages = math.ceil(most * size / PAGE_BYTES)
    if pattern.requests is not None and pages > pattern.requests:
        yield Defect(
            pattern,
            pattern.name,
            f"may make {pattern.requests} request{'s' * (pattern.requests > 1)}, and {most:,} "
            f"items of {size:,} bytes fill {pages} pages",
            "Give it a limit and a cursor, or keep less in one partition.",
            evidence=total(
                "the partition", [("items", most, size)], f"one page takes {PAGE_BYTES:,}", "bytes"
            ),
        )


def _names_one(facts: Reach, pattern: PatternSchema, appearance: Appearance) -> bool:
    """Whether a pattern finds one item: by its id, or under a fixed sort key."""
    sort = appearance.key.sort
    return facts.is_one(pattern, appearance) or (
        appearance.placement is None and sort is not None and sort.is_literal
    )


@rule("Q5", "order-not-in-key", "error", "The promised order is not the order of the sort key")
def order_not_in_key(facts: Reach) -> Iterator[Defect]:
    earlier = facts.schema.before.by_pattern if facts.schema.before else {}
    for pattern in facts.schema.patterns:
        was = earlier.get(pattern.name)
        order = pattern.order or (was.order if was else "")
        if not order or pattern.kind == "get":
            continue
        for appearance in wanted(facts, pattern):
            if _orders_by(appearance.key, pattern, order):
                continue
            promised = "was ordered" if not pattern.order else "promises the order"
            yield Defect(
                pattern,
                pattern.name,
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
        return found("one partition key, no sort key", (partition, f"{order} = {high}"))
    return found(
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
        for appearance in wanted(facts, pattern):
            if appearance.key.sort is None or not _is_cut(operand, appearance.key.sort):
                continue
            again = pattern.condition.operator == "gt"
            yield Defect(
                pattern,
                pattern.name,
                f"`{asked(pattern)}` compares with only part of `{appearance.key.sort}`: "
                + (
                    "items with exactly that value are returned again"
                    if again
                    else "items with exactly that value are skipped"
                ),
                "Compare with the whole key of the last item, as a cursor does.",
                evidence=_at_the_cut(operand, again, appearance),
            )
            break


def _at_the_cut(operand: Template, again: bool, appearance: Appearance) -> Evidence:
    """The compared value, and the key of an item at that very moment."""
    cut = text_of(operand, appearance.entity)
    whole = f"{cut}{_rest(operand, appearance)}"
    verdict = "is greater: it comes again" if again else "is greater: it is left out"
    return found("at one moment", (f"`{cut}`", "is compared with"), (f"`{whole}`", verdict))


def _rest(operand: Template, appearance: Appearance) -> str:
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
        there = [a for a in wanted(facts, pattern) if a.key.sort is not None]
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
                pattern.name,
                f"reads {order}, so every {row.entity.name} (`{other}…`) comes before the "
                f"{head.entity.name} (`{one}`): the first page does not have it",
                f"Give {row.entity.name} a prefix that puts {head.entity.name} first, or read the "
                "other way round.",
                evidence=found(
                    "pages in this order",
                    (f"`{sort_of(row.key, row.entity)}`", f"{row.entity.name}, page after page"),
                    (f"`{sort_of(head.key, head.entity)}`", f"{head.entity.name}, at the end"),
                ),
            )
            break


@rule("Q16", "budget-too-small", "warning", "A pattern needs more requests than it promises")
def budget_too_small(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        budget = pattern.requests
        if budget is None:
            continue
        may = f"may make {budget} request{'s' * (budget > 1)}"
        if pattern.kind == "merge":
            read = partitions(pattern)
            if read is not None and read > budget:
                yield Defect(
                    pattern,
                    pattern.name,
                    f"{may}, but reads {read} partitions, each with at least one request",
                    "Allow a request for each partition, or read fewer.",
                    evidence=total(
                        "one call",
                        [("partitions", read, 1)],
                        f"the budget is {budget}",
                        "requests at least",
                    ),
                )
        elif most_requests(facts.schema, pattern) is None and pattern.filter is not None:
            yield Defect(
                pattern,
                pattern.name,
                f"{may}, but its filter may have to read any number of other items first",
                "Put the filtered field into a key, use a sparse index, or return a page at a "
                "time.",
                evidence=total(
                    f"at {facts.size(pattern):,} bytes an item, the budget looks at",
                    [("requests", budget, PAGE_BYTES // facts.size(pattern))],
                    "what it looks for can come after them",
                    "items",
                ),
            )
