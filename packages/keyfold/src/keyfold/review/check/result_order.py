"""Q, continued: the order of a result, and where its pages begin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from keyfold.design.schema import EntitySchema, KeyTemplates, PatternSchema
from keyfold.design.template import Slot, Template
from keyfold.review.check.domains import PATTERNS
from keyfold.review.check.example import wanted_entries
from keyfold.review.check.field_facts import field_facts
from keyfold.review.check.patterns import condition_words
from keyfold.review.check.reach import Reach, is_confined, slots
from keyfold.review.check.rule import Found, hit, rule

_LATEST = re.compile(r"latest|newest|most recent|\brecent|\blast\b", re.I)


@rule("Q3", PATTERNS)
def latest_without_desc(facts: Reach, pattern: PatternSchema) -> Found | None:
    if pattern.descending or pattern.kind in ("get", "scan", "count", "exists"):
        return None
    promised = pattern.kind == "latest" or _LATEST.search(
        f"{_split_words(pattern.name)} {pattern.description}"
    )
    limit = pattern.limit or pattern.limit_parameter
    moment = _first_moment(facts, pattern, counted=bool(promised))
    if moment is None or not (promised or (limit and not pattern.paged and not pattern.order)):
        return None
    if pattern.condition.operator not in ("none", "begins_with") or pattern.condition.low:
        return None
    first = f"the first {limit} " if limit else ""
    return hit("promised" if promised else "limited", first=first, moment=moment)


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
        held = entity.by_field.get(free[0].field)
        number = held is not None and held.type == "number"
        if facts.is_moment(entity, free[0]) or (counted and number):
            return free[0].field
    return None


@rule("Q5", PATTERNS)
def order_not_in_key(facts: Reach, pattern: PatternSchema) -> Found | None:
    earlier = facts.schema.before.by_pattern if facts.schema.before else {}
    was = earlier.get(pattern.name)
    order = pattern.order or (was.order if was else "")
    if not order or pattern.kind == "get":
        return None
    for appearance in wanted_entries(facts, pattern):
        if not _orders_by(appearance.key, pattern, order):
            sort = appearance.key.sort or "absent"
            return hit("promised" if pattern.order else "before", order=order, sort=sort)
    return None


def _orders_by(key: KeyTemplates, pattern: PatternSchema, order: str) -> bool:
    if key.sort is None:
        return False
    given = pattern.condition.template if pattern.condition.operator == "begins_with" else None
    if is_confined(pattern.condition):
        given = pattern.condition.template
    skip = len(given.fields) if given else 0
    return order in key.sort.fields[skip : skip + 1]


@rule("Q6", PATTERNS)
def boundary_inclusivity(facts: Reach, pattern: PatternSchema) -> Found | None:
    asked, operator = pattern.condition, pattern.condition.operator
    operand = asked.upper if operator == "between" else asked.template
    if operator not in ("gt", "le", "between") or operand is None or not operand.fields:
        return None
    for appearance in wanted_entries(facts, pattern):
        sort = appearance.key.sort
        if sort is not None and operator == "between":
            if ends := _end_of_range(appearance.entity, operand, sort):
                return ends
        elif sort is not None and _is_cut(operand, sort):
            case = "again" if operator == "gt" else "skipped"
            return hit(case, condition=condition_words(pattern), sort=sort)
    return None


def _end_of_range(entity: EntitySchema, bound: Template, sort: Template) -> Found | None:
    """An upper bound without what stands behind it in the key: it ends before these items."""
    asked, held = slots(bound)[-1], slots(sort)[len(bound.fields) - 1 : len(bound.fields)]
    if not held or not (_is_cut(bound, sort) or len(bound.parts) == len(sort.parts)):
        return None
    attribute = entity.by_field.get(held[0].field)
    exact = held[0].format.name or (attribute.stored if attribute else "")
    shorter = asked.format.coarse and not held[0].format.coarse
    if not shorter and (exact.endswith("_ms") or not _is_cut(bound, sort)):
        return None  # One millisecond is nobody's day.
    return hit("end", said=asked.format.coarse or None, bound=bound, sort=sort, field=asked.field)


def _is_cut(operand: Template, whole: Template) -> bool:
    """Whether a template is another one without its last parts."""
    return len(operand.parts) < len(whole.parts) and all(
        type(a) is type(b) and (isinstance(a, Slot) or a.text == b.text)
        for a, b in zip(operand.parts, whole.parts, strict=False)
    )


@rule("Q18", PATTERNS)
def bound_in_another_unit(facts: Reach, pattern: PatternSchema) -> Found | None:
    bounds = [b for b in (pattern.condition.template, pattern.condition.upper) if b is not None]
    for appearance in wanted_entries(facts, pattern) if pattern.condition.operator != "eq" else ():
        held = appearance.key.sort
        for asked, key in product(bounds, (held,) if held else ()):
            for mine, theirs in zip(slots(asked), slots(key), strict=False):
                given = field_facts(None, mine.field, mine).unit
                unit = field_facts(appearance.entity, theirs.field, theirs).unit
                if given and unit and given != unit:
                    return hit(bound=mine.field, given=given, unit=unit, held=key)
    return None


_OFFSET = re.compile(r"\boffset\b|\bskip\b|page[ _]?(number|no|num|index)\b|\bpage \d", re.I)


@rule("Q19", PATTERNS)
def paged_by_offset(pattern: PatternSchema) -> Found | None:
    if pattern.kind in ("get", "exists"):
        return None
    given = [one for one in pattern.parameters if _OFFSET.search(_split_words(one))]
    told = _OFFSET.search(f"{_split_words(pattern.name)} {pattern.description}")
    return hit(said=given or None, given=given) if given or told else None


@rule("Q17", PATTERNS)
def head_not_first(facts: Reach, pattern: PatternSchema) -> Iterator[Found]:
    if pattern.kind != "collection" or not pattern.limit:
        return
    there = [a for a in wanted_entries(facts, pattern) if a.key.sort is not None]
    heads = [a for a in there if not set(a.key.fields) - set(a.key.partition.fields)]
    rows = [a for a in there if a not in heads]
    bounds = [a.entity.per_partition or pattern.limit for a in rows]
    if sum(bounds) + len(heads) <= pattern.limit:
        return  # one page holds all that there can be
    for head, row in product(heads, rows):
        one, other = (a.key.sort.literal_prefix for a in (head, row) if a.key.sort)
        late = one < other if pattern.descending else one > other
        if one and other and late:
            order = "descending" if pattern.descending else "ascending"
            yield hit(order=order, head=head.entity, row=row.entity, first=one, prefix=other)
            return
