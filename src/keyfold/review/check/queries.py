"""Q: access patterns. Does each return what it promises, all of it, in order, and nothing else?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from keyfold.design.condition import fields_of
from keyfold.design.schema import KeyTemplates, PatternSchema
from keyfold.design.template import Slot, Template
from keyfold.limits import PAGE_BYTES
from keyfold.review.check.answer import page, pages, wanted
from keyfold.review.check.evidence import Evidence, found, total
from keyfold.review.check.patterns import asked
from keyfold.review.check.reach import RANGES, Appearance, Reach, example, is_confined
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


@rule("Q1", "range-bleed", "error", "A range runs into other entity types")
def range_bleed(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        if pattern.condition.operator not in RANGES or is_confined(pattern.condition):
            continue
        strangers = [a for a in facts.strangers(pattern) if a.key.sort is not None]
        if not strangers or _is_filtered_by_type(facts, pattern):
            continue
        yield Defect(
            pattern,
            pattern.name,
            f"`{asked(pattern)}` also returns {_shown(strangers)}",
            _closed(pattern),
            evidence=page(facts, pattern, strangers),
        )


def _closed(pattern: PatternSchema) -> str:
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


@rule("Q2", "partition-unscoped", "error", "A pattern for one type reads a partition of many")
def partition_unscoped(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        if pattern.condition.operator in ("eq", *RANGES) and not is_confined(pattern.condition):
            continue
        if not _known(facts, pattern) or pattern.kind in ("get", "scan"):
            continue
        strangers = facts.strangers(pattern)
        if strangers and not _is_filtered_by_type(facts, pattern):
            yield Defect(
                pattern,
                pattern.name,
                f"asks for {', '.join(pattern.entities)} and also returns {_shown(strangers)}",
                _scoped(facts, pattern),
                evidence=page(facts, pattern, strangers),
            )


def _scoped(facts: Reach, pattern: PatternSchema) -> str:
    entity = facts.schema.by_entity.get(pattern.entities[0])
    keys = [a.key for a in facts.appearances(pattern.table, pattern.index) if a.entity is entity]
    prefix = keys[0].sort.literal_prefix if keys and keys[0].sort else ""
    if prefix:
        return f"Add begins_with(`{prefix}`) to the key condition."
    return "Give the entity a prefix of its own in the sort key, and query by it."


_LATEST = re.compile(r"latest|newest|most recent|\brecent|\blast\b", re.I)


@rule("Q3", "latest-without-desc", "error", "The newest are asked for in ascending order")
def latest_without_desc(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        if pattern.descending or pattern.kind in ("get", "scan", "count", "exists"):
            continue
        promised = pattern.kind == "latest" or _LATEST.search(
            f"{_split_words(pattern.name)} {pattern.description}"
        )
        limit = pattern.limit or pattern.limit_parameter
        moment = _first_moment(facts, pattern)
        if moment is None or not (promised or (limit and not pattern.paged and not pattern.order)):
            continue
        if pattern.condition.operator not in ("none", "begins_with") or pattern.condition.low:
            continue
        first = f"the first {limit} " if limit else ""
        yield Defect(
            pattern,
            pattern.name,
            f"promises the newest, and reads {first}in ascending order: these are the oldest"
            if promised
            else f"reads {first}by {moment} in ascending order: these are the oldest, and the "
            "others are never reached",
            "Read descending (ScanIndexForward=false)."
            if promised
            else f"Read descending, page on with a cursor, or say `order: {moment}` where the "
            "oldest are wanted.",
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


def _first_moment(facts: Reach, pattern: PatternSchema) -> str | None:
    """The time by which a pattern's answer is in order, where it is history."""
    for appearance in facts.reached(pattern):
        if appearance.entity.name in pattern.entities:
            free = facts.free(pattern, appearance.key)
            if free and facts.is_moment(appearance.entity, free[0]):
                return free[0].field if facts.is_past(appearance.entity, free[0]) else None
    return None


@rule("Q4", "unbounded-result", "warning", "A query without limit or page")
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
        reached = [a for a in facts.reached(pattern) if a.entity.name in pattern.entities]
        if reached and all(_names_one(facts, pattern, a) for a in reached):
            continue
        grows = [a.entity.name for a in reached if facts.is_growing(a.entity)]
        yield Defect(
            pattern,
            pattern.name,
            f"reads every {grows[0]} of a partition, and these grow for ever: so does its cost"
            if grows
            else "how many items can it return? It has neither limit nor page",
            "Give it a limit and a cursor, or say how many there can be (per_partition).",
            severity=None if grows else "question",
            cause="" if grows else "how many items a partition holds",
            evidence=pages(facts, pattern),
        )


def _many_pages(facts: Reach, pattern: PatternSchema, most: int) -> Iterator[Defect]:
    """A bounded result can still need more requests than the pattern may make."""
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
    """Whether a pattern finds one item of an entity: by its id, or under a fixed sort key."""
    sort = appearance.key.sort
    return facts.is_one(pattern, appearance) or (
        appearance.placement is None and sort is not None and sort.is_literal
    )


@rule("Q5", "order-not-in-key", "error", "The promised order is not the sort key's order")
def order_not_in_key(facts: Reach) -> Iterator[Defect]:
    earlier = facts.schema.before.by_pattern if facts.schema.before else {}
    for pattern in facts.schema.patterns:
        was = earlier.get(pattern.name)
        order = pattern.order or (was.order if was else "")
        if not order or pattern.kind == "get":
            continue
        for appearance in facts.reached(pattern):
            if appearance.entity.name not in pattern.entities:
                continue
            if _orders_by(appearance.key, pattern, order):
                continue
            promised = "was ordered" if not pattern.order else "promises the order"
            yield Defect(
                pattern,
                pattern.name,
                f"{promised} by {order}, and the sort key is "
                f"`{appearance.key.sort or 'absent'}`: items come in another order",
                f"Put {order} first in the sort key, or sort by an index that has it.",
                evidence=_disordered(appearance, order),
            )
            break


def _disordered(appearance: Appearance, order: str) -> Evidence:
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


@rule("Q6", "boundary-inclusivity", "warning", "The cursor's own item comes again, or one is lost")
def boundary_inclusivity(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        operand = pattern.condition.template
        if pattern.condition.operator not in ("gt", "le") or operand is None:
            continue
        for appearance in facts.reached(pattern):
            if appearance.entity.name not in pattern.entities or appearance.key.sort is None:
                continue
            if not _is_cut(operand, appearance.key.sort):
                continue
            again = pattern.condition.operator == "gt"
            yield Defect(
                pattern,
                pattern.name,
                f"`{asked(pattern)}` compares with part of `{appearance.key.sort}`: "
                + (
                    "items of that very moment come again"
                    if again
                    else "items of that very moment are left out"
                ),
                "Compare with the whole key of the last item, as a cursor does.",
                evidence=_at_the_cut(operand, again, appearance),
            )
            break


def _at_the_cut(operand: Template, again: bool, appearance: Appearance) -> Evidence:
    """What is compared with, and the key of the item of that very moment."""
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


@rule("Q16", "budget-too-small", "warning", "A budget of requests that the read cannot keep")
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
                    f"{may}, and reads {read} partitions, each at least once",
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
                f"{may}, and what it looks for can lie behind any number of items that its filter "
                "leaves out",
                "Put what it filters by into a key, as an index that holds only these, or read a "
                "page instead.",
                evidence=total(
                    f"at {facts.size(pattern):,} bytes an item, the budget looks at",
                    [("requests", budget, PAGE_BYTES // facts.size(pattern))],
                    "what it looks for can come after them",
                    "items",
                ),
            )
