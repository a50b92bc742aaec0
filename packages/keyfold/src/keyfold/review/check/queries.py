"""Q: access patterns. Does each return what it promises and nothing else, within its limits?"""

from __future__ import annotations

import math
from collections.abc import Iterator

from keyfold.design.condition import fields_of
from keyfold.design.schema import PatternSchema
from keyfold_engine.limits import PAGE_BYTES
from keyfold.review.check.answer import page, pages, wanted_entries
from keyfold.review.check.evidence import sum_example
from keyfold.review.check.key_sets import Appearance
from keyfold.review.check.patterns import condition_words
from keyfold.review.check.reach import RANGES, Reach, example, is_confined
from keyfold.review.check.rule import Defect, rule
from keyfold.review.worst_case import most_requests, partitions


def _names_and_keys(appearances: list[Appearance]) -> str:
    found = (f"{a.entity.name} (`{example(a.key.sort or a.key.partition)}`)" for a in appearances)
    return ", ".join(dict.fromkeys(found))


def _is_filtered_by_type(facts: Reach, pattern: PatternSchema) -> bool:
    marker = facts.schema.by_table[pattern.table].type_attribute
    return bool(marker and marker in fields_of(pattern.filter))


def _has_table(facts: Reach, pattern: PatternSchema) -> bool:
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
                f"`{condition_words(pattern)}` also returns {_names_and_keys(strangers)}",
                _range_remedy(pattern),
                evidence=page(facts, pattern, strangers),
            )
        elif unlikely:
            yield _chance_question(pattern, unlikely)


def _strangers(facts: Reach, pattern: PatternSchema) -> tuple[list[Appearance], list[Appearance]]:
    """What a pattern also returns, and what it returns only if two texts happen to be equal."""
    found = [] if _is_filtered_by_type(facts, pattern) else facts.strangers(pattern)
    unlikely = [one for one in found if facts.meets_by_chance(pattern, one)]
    return [one for one in found if one not in unlikely], unlikely


def _chance_question(pattern: PatternSchema, unlikely: list[Appearance]) -> Defect:
    return Defect(
        pattern,
        f"can `{pattern.partition}` also be a key of {_names_and_keys(unlikely)}? "
        "One of them is text without a prefix",
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
        if not _has_table(facts, pattern) or pattern.kind in ("get", "scan"):
            continue
        strangers, unlikely = _strangers(facts, pattern)
        if strangers:
            yield Defect(
                pattern,
                f"asks for {', '.join(pattern.entities)} and also returns "
                f"{_names_and_keys(strangers)}",
                _scope_remedy(facts, pattern, strangers),
                evidence=page(facts, pattern, strangers),
            )
        elif unlikely:
            yield _chance_question(pattern, unlikely)


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
        reached = wanted_entries(facts, pattern)
        if reached and all(_names_one(facts, pattern, a) for a in reached):
            continue
        grows = [a.entity.name for a in reached if facts.is_growing(a.entity)]
        yield Defect(
            pattern,
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
            f"may make {pattern.requests} request{'s' * (pattern.requests > 1)}, and {most:,} "
            f"items of {size:,} bytes fill {pages} pages",
            "Give it a limit and a cursor, or keep less in one partition.",
            evidence=sum_example(
                "the partition", [("items", most, size)], f"one page takes {PAGE_BYTES:,}", "bytes"
            ),
        )


def _names_one(facts: Reach, pattern: PatternSchema, appearance: Appearance) -> bool:
    """Whether a pattern finds one item: by its id, or under a fixed sort key."""
    sort = appearance.key.sort
    return facts.is_one(pattern, appearance) or (
        appearance.placement is None and sort is not None and sort.is_literal
    )


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
                    f"{may}, but reads {read} partitions, each with at least one request",
                    "Allow a request for each partition, or read fewer.",
                    evidence=sum_example(
                        "one call",
                        [("partitions", read, 1)],
                        f"the budget is {budget}",
                        "requests at least",
                    ),
                )
        elif most_requests(facts.schema, pattern) is None and pattern.filter is not None:
            yield Defect(
                pattern,
                f"{may}, but its filter may have to read any number of other items first",
                "Put the filtered field into a key, use a sparse index, or return a page at a "
                "time.",
                evidence=sum_example(
                    f"at {facts.size(pattern):,} bytes an item, the budget looks at",
                    [("requests", budget, PAGE_BYTES // facts.size(pattern))],
                    "the match can come after them",
                    "items",
                ),
            )
