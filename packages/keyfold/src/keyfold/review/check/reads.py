"""Q, continued: what a read discards, and what it reads again."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import EntitySchema, PatternSchema
from keyfold.design.template import Literal, Template
from keyfold_engine.limits import BATCH_GET_ITEMS, GB, PAGE_BYTES, READ_UNIT_BYTES
from keyfold.review.check.answer import wanted_entries
from keyfold.review.check.evidence import Evidence, keys_example, steps_example, sum_example
from keyfold.review.check.filters import equal_fields, ranged_fields
from keyfold.review.check.patterns import condition_words
from keyfold.review.check.reach import RANGES, Reach, slots
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import field_value, key_of, text_of


@rule("Q7", "n-plus-one", "error", "A list needs one more read for each row")
def n_plus_one(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        rows = [facts.schema.by_entity[n] for n in pattern.entities if n in facts.schema.by_entity]
        for name in pattern.returns:
            target = facts.schema.by_entity.get(name)
            if target is None or name in pattern.entities or _has_key(facts, rows, target):
                continue
            way = facts.lookup_pattern(rows, target)
            how = f", a query of {way.index} that no batch can hold" if way and way.index else ""
            yield Defect(
                pattern,
                f"returns {name} but reads {', '.join(pattern.entities)}, which do not contain "
                f"its whole key (`{target.key}`): each row needs another read{how}",
                f"Copy the fields of {name} that the list shows onto its rows, or store the whole "
                "key there and use BatchGetItem.",
                evidence=_row_reads_example(pattern, name),
            )


def _row_reads_example(pattern: PatternSchema, name: str) -> Evidence:
    rows = pattern.limit or BATCH_GET_ITEMS
    return steps_example(
        f"one query returns {rows:,} rows of {', '.join(pattern.entities)}",
        f"{rows:,} reads bring the {name} of each",
        so=f"a page takes {rows + 1:,} requests",
    )


def _has_key(facts: Reach, rows: list[EntitySchema], target: EntitySchema) -> bool:
    """Whether each row holds the whole key of the next read, so that one batch suffices."""
    table = facts.schema.by_table[target.table]
    if target.key is None or (table.sort and target.key.sort is None):
        # The document does not give the key; a row that names its attributes can hold it.
        attributes = table.key_attributes
        return bool(rows) and all(_names_key_of(row, target, attributes) for row in rows)
    return bool(rows) and all(
        set(facts.held_key_fields(row, target)) >= set(target.key.fields) for row in rows
    )


def _names_key_of(row: EntitySchema, target: EntitySchema, attributes: tuple[str, ...]) -> bool:
    """`postSK` on a row holds the sort key of a POST."""
    wanted = {f"{target.name}{name}".casefold().replace("_", "") for name in attributes[-1:]}
    return wanted <= {field.casefold().replace("_", "") for field in row.by_field}


@rule("Q13", "scan", "warning", "A pattern scans the whole table")
def scan(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        if pattern.kind != "scan" or _reads_few(pattern):
            continue
        store = pattern.index or pattern.table
        sparse = _is_sparse(facts, pattern) and not pattern.rate
        yield Defect(
            pattern,
            f"how many items does {store} hold? Every call reads all of them"
            if sparse
            else f"reads all of {store} on every call, however little it returns{_price(pattern)}",
            "Give it a key or an index to read by; for an intended scan (an export, a daily "
            "count) add `on_purpose: {scan: REASON}`.",
            severity="question" if sparse else None,
            evidence=_scan_example(facts, pattern),
        )


def _is_sparse(facts: Reach, pattern: PatternSchema) -> bool:
    """Whether it scans a sparse index, which is what such an index is for."""
    there = facts.appearances(pattern.table, pattern.index) if pattern.index else ()
    return bool(there) and all(a.placement and a.placement.is_partial for a in there)


def _scan_example(facts: Reach, pattern: PatternSchema) -> Evidence:
    """The items that one call reads per gigabyte."""
    size = facts.size(pattern)
    calls = f"{pattern.rate * 86_400:,.0f} calls a day" if pattern.rate else "every call"
    return sum_example(
        f"a gigabyte of items of {size:,} bytes",
        [("items", GB // size, size)],
        f"{calls} read{'s' * (not pattern.rate)} all {GB // size:,} of them",
        "bytes",
    )


def _reads_few(pattern: PatternSchema) -> bool:
    """Whether it takes the first few of a sparse index."""
    few = pattern.limit is not None and pattern.filter is None and not pattern.order
    return few and pattern.index is not None


def _price(pattern: PatternSchema) -> str:
    """The cost of one call per gigabyte, if the size is unknown."""
    pages = GB // PAGE_BYTES
    units = GB // READ_UNIT_BYTES // 2
    rate = f", {pattern.rate:g} times a second" if pattern.rate else ""
    return f": {units:,} read units and {pages:,} requests for each GB{rate}"


@rule(
    "Q14", "filter-instead-of-key", "warning", "A filter discards items that were read and paid for"
)
def filter_instead_of_key(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        if pattern.filter is None or pattern.kind in ("scan", "get") or pattern.partition is None:
            continue
        marker = facts.schema.by_table[pattern.table].type_attribute
        equal, ranged = (
            [f for f in found if f != marker and not _is_ttl(facts, pattern, f)]
            for found in (equal_fields(pattern.filter), ranged_fields(pattern.filter))
        )
        # A key can serve only one of two ranges, and it does.
        if not equal and (not ranged or pattern.condition.operator in RANGES):
            continue
        few = facts.most(pattern)
        yield Defect(
            pattern,
            f"filters by {', '.join(equal or ranged)} after reading: you pay for every item of "
            "the partition, and a page can come back empty",
            f"Put {equal[0]} before the rest of the sort key of an index, or create a sparse index "
            "of only these items."
            if equal
            else f"{ranged[0]} is in the sort key: query the range there."
            if any(ranged[0] in one.key.fields for one in facts.reached(pattern))
            else f"Make {ranged[0]} the sort key of an index, and read the range by it.",
            severity="question" if few is not None and few <= SMALL else None,
            evidence=_filter_example(facts, pattern, (equal or ranged)[0]),
        )


def _filter_example(facts: Reach, pattern: PatternSchema, field: str) -> Evidence | None:
    """Two items that are read, of which one is returned."""
    there = wanted_entries(facts, pattern)
    if not there:
        return None
    key, entity = there[0].key, there[0].entity
    kept, other = (field_value(entity.by_field.get(field), field, n) for n in (1, 2))
    key = key if key.sort or entity.key is None else entity.key
    return keys_example(
        f"asked for {field} = {kept}, a call reads",
        (key_of(key, entity), f"{field} = {kept}: returned"),
        (key_of(key, entity, 2), f"{field} = {other}: paid for and dropped"),
    )


SMALL = 100
"""With at most this many items, reading everything is fine."""


def _is_ttl(facts: Reach, pattern: PatternSchema, field: str) -> bool:
    found = (facts.schema.by_entity.get(name) for name in pattern.entities)
    return any(e is not None and e.ttl is not None and e.ttl.attribute == field for e in found)


@rule("Q15", "prefix-cut", "warning", "A begins_with ends in the middle of a key part")
def prefix_cut(facts: Reach) -> Iterator[Defect]:
    for pattern in facts.schema.patterns:
        prefix = pattern.condition.template
        if pattern.condition.operator != "begins_with" or prefix is None or not prefix.fields:
            continue
        for appearance in wanted_entries(facts, pattern):
            sort = appearance.key.sort
            if sort is None:
                continue
            inside, whole = _stops_inside(prefix, sort), prefix.parts == sort.parts
            if (inside or whole) and _is_open(appearance.entity, sort, prefix):
                field = slots(sort)[len(prefix.fields) - 1].field
                yield Defect(
                    pattern,
                    f"`{condition_words(pattern)}` ends in the middle of {field} in `{sort}`: "
                    f"it also returns every longer {field} with the same beginning"
                    if inside
                    else f"is it a search by the beginning of {field}? It also returns every "
                    f"longer {field}",
                    "End the prefix with the delimiter that follows the value."
                    if inside
                    else f"If one {field} is meant, with what is below it, end the prefix with a "
                    "delimiter.",
                    severity=None if inside else "question",
                    cause="" if inside else "searches by the beginning of a text",
                    evidence=keys_example(
                        f"begins_with `{text_of(prefix, None, 1, {field: 'ann'})}` returns",
                        *(
                            (
                                f"`{text_of(sort, appearance.entity, 1, {field: name})}`",
                                f"{field} = {name}",
                            )
                            for name in ("ann", "anna")
                        ),
                    ),
                )
                break


def _stops_inside(prefix: Template, sort: Template) -> bool:
    """Whether a prefix ends with a value that continues in the key."""
    cut = len(prefix.parts)
    return not isinstance(prefix.parts[-1], Literal) and cut < len(sort.parts)


def _is_open(entity: EntitySchema, sort: Template, prefix: Template) -> bool:
    """Whether one value can be a prefix of another: not for ids of one length or times."""
    slot = slots(sort)[len(prefix.fields) - 1] if len(prefix.fields) <= len(slots(sort)) else None
    found = entity.by_field.get(slot.field) if slot else None
    if slot is None or slot.format.sortable:
        return False
    if found is None:
        return True
    if found.values:
        return any(a != b and a.startswith(b) for a in found.values for b in found.values)
    return found.type in ("string", "number") or _is_one_number(found.looks_like)


def _is_one_number(form: str) -> bool:
    """Whether ids are counters: `7` is a prefix of `70`. Several numbers have a fixed length."""
    return form.endswith("{number}") and form.count("{") == 1
