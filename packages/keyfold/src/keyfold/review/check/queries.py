"""Q: access patterns. Does each return what it promises and nothing else, within its limits?"""

from __future__ import annotations

import math
from collections.abc import Iterator

from keyfold.design.condition import fields_of
from keyfold.design.schema import PatternSchema
from keyfold.review.check.domains import PATTERNS
from keyfold.review.check.example import wanted_entries
from keyfold.review.check.key_sets import Appearance
from keyfold.review.check.patterns import condition_words
from keyfold.review.check.reach import RANGES, Reach, example, is_confined
from keyfold.review.check.rule import Found, hit, rule
from keyfold.review.check.wording import counted
from keyfold.review.worst_case import most_requests, partitions
from keyfold_engine.limits import PAGE_BYTES


@rule("Q1", PATTERNS)
def range_bleed(facts: Reach, pattern: PatternSchema) -> Found | None:
    if pattern.condition.operator not in RANGES or is_confined(pattern.condition):
        return None
    template = pattern.condition.template
    prefix = template.literal_prefix if template else ""
    several = len(pattern.entities) > 1 or pattern.kind == "collection"
    case = "several" if several else "open" if prefix else "bare"
    return _also_returned(facts, pattern, case, prefix)


def _also_returned(
    facts: Reach, pattern: PatternSchema, case: str, prefix: str = ""
) -> Found | None:
    """What a pattern also returns, or returns only if two texts happen to be equal."""
    strangers = [] if _is_filtered_by_type(facts, pattern) else facts.strangers(pattern)
    unlikely = [one for one in strangers if facts.meets_by_chance(pattern, one)]
    likely = [one for one in strangers if one not in unlikely]
    if not strangers:
        return None
    return hit(
        case if likely else "chance",
        condition=condition_words(pattern),
        prefix=prefix,
        names=[one.entity for one in likely],
        others=_names_and_keys(likely or unlikely),
    )


def _names_and_keys(appearances: list[Appearance]) -> list[str]:
    return [f"{a.entity.name} (`{example(a.key.sort or a.key.partition)}`)" for a in appearances]


def _is_filtered_by_type(facts: Reach, pattern: PatternSchema) -> bool:
    marker = facts.type_marker(pattern.table)
    return bool(marker and marker in fields_of(pattern.filter))


@rule("Q2", PATTERNS)
def partition_unscoped(facts: Reach, pattern: PatternSchema) -> Found | None:
    if pattern.condition.operator in ("eq", *RANGES) and not is_confined(pattern.condition):
        return None
    if pattern.table not in facts.schema.by_table or pattern.kind in ("get", "scan"):
        return None
    if not {a.entity.name for a in facts.reached(pattern)} & {*pattern.entities}:
        return None  # Q10 says that it never returns what it asks for.
    there = facts.appearances(pattern.table, pattern.index)
    own = (a.key for a in there if a.entity.name in pattern.entities[:1])
    first = next(own, None)
    prefix = first.sort.literal_prefix if first and first.sort else ""
    case = "several" if len(pattern.entities) > 1 else "prefix" if prefix else "bare"
    return _also_returned(facts, pattern, case, prefix)


@rule("Q4", PATTERNS)
def unbounded_result(facts: Reach, pattern: PatternSchema) -> Found | None:
    if pattern.kind in ("get", "latest", "exists", "scan") or pattern.paged:
        return None
    if pattern.limit is not None or pattern.limit_parameter or pattern.partition is None:
        return None
    ranged = pattern.condition.operator == "between" and pattern.condition.upper is not None
    most = facts.most(pattern)
    if most is not None:
        return None if ranged else _many_pages(facts, pattern, most)
    reached = wanted_entries(facts, pattern)
    if reached and all(_names_one(facts, pattern, a) for a in reached):
        return None
    grows = [a.entity for a in reached if facts.is_growing(a.entity)]
    return hit("grows", entity=grows[0]) if grows and not ranged else hit("open")


def _many_pages(facts: Reach, pattern: PatternSchema, most: int) -> Found | None:
    """Whether a bounded result can still need more requests than the pattern may make."""
    size, budget = facts.size(pattern), pattern.requests
    pages = math.ceil(most * size / PAGE_BYTES)
    if budget is None or pages <= budget:
        return None
    return hit("pages", may=counted(budget, "request"), most=most, size=size, pages=pages)


def _names_one(facts: Reach, pattern: PatternSchema, appearance: Appearance) -> bool:
    """Whether a pattern finds one item: by its id, or under a fixed sort key."""
    sort = appearance.key.sort
    return facts.is_one(pattern, appearance) or (
        appearance.placement is None and sort is not None and sort.is_literal
    )


@rule("Q16", PATTERNS)
def budget_too_small(facts: Reach, pattern: PatternSchema) -> Iterator[Found]:
    if pattern.requests is None:
        return
    may = counted(pattern.requests, "request")
    if pattern.kind == "merge":
        read = partitions(pattern)
        if read is not None and read > pattern.requests:
            yield hit("merge", may=may, read=read)
    elif most_requests(facts.schema, pattern) is None and pattern.filter is not None:
        yield hit("filter", may=may)
