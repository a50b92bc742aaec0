"""Q: access patterns. Does each return what it promises, all of it, in order, and nothing else?"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import Entity, KeyTemplates, Pattern
from keyfold.design.template import Slot, Template
from keyfold.review.check.facts import Appearance, Facts, example, is_confined
from keyfold.review.check.rule import Problem, rule

RANGES = ("gt", "ge", "lt", "le", "between")


def _shown(appearances: list[Appearance]) -> str:
    found = (f"{a.entity.name} (`{example(a.key.sort or a.key.partition)}`)" for a in appearances)
    return ", ".join(dict.fromkeys(found))


def _is_filtered_by_type(facts: Facts, pattern: Pattern) -> bool:
    marker = facts.schema.by_table[pattern.table].type_attribute
    return bool(marker and marker in pattern.filter)


def _asked(pattern: Pattern) -> str:
    return pattern.condition.raw or f"{pattern.condition.operator} {pattern.condition.template}"


def _known(facts: Facts, pattern: Pattern) -> bool:
    return pattern.table in facts.schema.by_table


@rule("Q1", "range-bleed", "error", "A range runs into other entity types")
def range_bleed(facts: Facts) -> Iterator[Problem]:
    for pattern in facts.schema.patterns:
        if pattern.condition.operator not in RANGES or is_confined(pattern.condition):
            continue
        strangers = [a for a in facts.strangers(pattern) if a.key.sort is not None]
        if not strangers or _is_filtered_by_type(facts, pattern):
            continue
        template = pattern.condition.template
        prefix = template.literal_prefix if template else ""
        yield Problem(
            pattern,
            pattern.name,
            f"`{_asked(pattern)}` also returns {_shown(strangers)}",
            f"Close the range, as between `{prefix}…` and `{prefix}` followed by the highest "
            "character."
            if prefix
            else "Give each type a prefix of its own in the sort key.",
        )


@rule("Q2", "partition-unscoped", "error", "A pattern for one type reads a partition of many")
def partition_unscoped(facts: Facts) -> Iterator[Problem]:
    for pattern in facts.schema.patterns:
        if pattern.condition.operator in ("eq", *RANGES) and not is_confined(pattern.condition):
            continue
        if not _known(facts, pattern) or pattern.kind in ("get", "scan"):
            continue
        strangers = facts.strangers(pattern)
        if strangers and not _is_filtered_by_type(facts, pattern):
            yield Problem(
                pattern,
                pattern.name,
                f"asks for {', '.join(pattern.entities)} and also returns {_shown(strangers)}",
                _scoped(facts, pattern),
            )


def _scoped(facts: Facts, pattern: Pattern) -> str:
    entity = facts.schema.by_entity.get(pattern.entities[0])
    keys = [a.key for a in facts.appearances(pattern.table, pattern.index) if a.entity is entity]
    prefix = keys[0].sort.literal_prefix if keys and keys[0].sort else ""
    if prefix:
        return f"Add begins_with(`{prefix}`) to the key condition."
    return "Give the entity a prefix of its own in the sort key, and query by it."


@rule("Q3", "latest-without-desc", "error", "The newest are asked for in ascending order")
def latest_without_desc(facts: Facts) -> Iterator[Problem]:
    for pattern in facts.schema.patterns:
        if not pattern.newest or pattern.descending or pattern.kind == "get":
            continue
        limit = pattern.limit or pattern.limit_parameter
        yield Problem(
            pattern,
            pattern.name,
            f"promises the newest, and reads {f'the first {limit} ' if limit else ''}in ascending "
            "order: these are the oldest",
            "Read descending (ScanIndexForward=false).",
        )


@rule("Q4", "unbounded-result", "warning", "A query without limit or page")
def unbounded_result(facts: Facts) -> Iterator[Problem]:
    for pattern in facts.schema.patterns:
        if pattern.kind in ("get", "latest", "exists") or pattern.paged:
            continue
        if pattern.limit is not None or pattern.limit_parameter:
            continue
        found = [facts.schema.by_entity.get(name) for name in pattern.entities]
        if found and all(e is not None and e.per_partition is not None for e in found):
            continue
        if _names_one(facts, pattern):
            continue
        yield Problem(
            pattern,
            pattern.name,
            "has neither limit nor page: its cost and its answer grow for ever",
            "Give it a limit and a cursor, or say how many there can be (per_partition).",
        )


def _names_one(facts: Facts, pattern: Pattern) -> bool:
    """Whether the condition gives an id or unique fields of everything that it returns."""
    reached = [a for a in facts.reached(pattern) if a.entity.name in pattern.entities]
    return bool(reached) and all(_is_named(facts, pattern, a) for a in reached)


def _is_named(facts: Facts, pattern: Pattern, appearance: Appearance) -> bool:
    entity, key, condition = appearance.entity, appearance.key, pattern.condition
    given = set(key.partition.fields)
    if key.sort and condition.template and condition.operator in ("eq", "begins_with"):
        given |= set(key.sort.fields[: len(condition.template.fields)])
    own = (a for a in entity.attributes if facts.is_identifier(entity, a.field) and not a.refers)
    identified = any(a.field in given for a in own if _is_id_of(entity, a.field))
    return identified or any(set(unique.fields) <= given for unique in entity.uniques)


def _is_id_of(entity: Entity, field: str) -> bool:
    """Whether a field identifies an item: it stands in the primary key, or no key is known."""
    return entity.key is None or field in entity.key.fields or entity.key.sort is None


def _given(pattern: Pattern) -> list[Slot]:
    parts = list(pattern.partition.parts) if pattern.partition else []
    parts += pattern.condition.template.parts if pattern.condition.template else ()
    return [part for part in parts if isinstance(part, Slot)]


@rule("Q5", "order-not-in-key", "error", "The promised order is not the sort key's order")
def order_not_in_key(facts: Facts) -> Iterator[Problem]:
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
            yield Problem(
                pattern,
                pattern.name,
                f"{promised} by {order}, and the sort key is "
                f"`{appearance.key.sort or 'absent'}`: items come in another order",
                f"Put {order} first in the sort key, or sort by an index that has it.",
            )
            break


def _orders_by(key: KeyTemplates, pattern: Pattern, order: str) -> bool:
    if key.sort is None:
        return False
    given = pattern.condition.template if pattern.condition.operator == "begins_with" else None
    if is_confined(pattern.condition):
        given = pattern.condition.template
    skip = len(given.fields) if given else 0
    return order in key.sort.fields[skip : skip + 1]


@rule("Q6", "boundary-inclusivity", "warning", "The cursor's own item comes again, or one is lost")
def boundary_inclusivity(facts: Facts) -> Iterator[Problem]:
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
            yield Problem(
                pattern,
                pattern.name,
                f"`{_asked(pattern)}` compares with part of `{appearance.key.sort}`: "
                + ("items of that very moment come again" if again else "they are left out"),
                "Compare with the whole key of the last item, as a cursor does.",
            )
            break


def _is_cut(operand: Template, whole: Template) -> bool:
    """Whether a template is another one without its last parts."""
    return len(operand.parts) < len(whole.parts) and all(
        type(a) is type(b) and (isinstance(a, Slot) or a.text == b.text)
        for a, b in zip(operand.parts, whole.parts, strict=False)
    )


@rule("Q7", "n-plus-one", "error", "A list view needs a read for each row")
def n_plus_one(facts: Facts) -> Iterator[Problem]:
    for pattern in facts.schema.patterns:
        if not pattern.per_row:
            continue
        inner = facts.schema.by_pattern.get(pattern.per_row)
        if inner is not None and _is_batched(facts, pattern, inner):
            continue
        how = f", a query of {inner.index} that no batch can hold" if inner and inner.index else ""
        yield Problem(
            pattern,
            pattern.name,
            f"reads {pattern.per_row} again for each row{how}",
            "Copy what the list shows onto its rows, or keep the whole key there and batch the "
            "gets.",
        )


def _is_batched(facts: Facts, pattern: Pattern, inner: Pattern) -> bool:
    """Whether each row holds the whole key of what is read next, so that one batch gets them."""
    if inner.kind != "get" or inner.index is not None:
        return False
    rows = [
        facts.schema.by_entity[name] for name in pattern.entities if name in facts.schema.by_entity
    ]
    needed = {slot.field for slot in _given(inner)}
    return all(needed <= set(row.by_field) for row in rows)


@rule("Q8", "fan-in-unbounded", "warning", "The number of queries grows with the edges")
def fan_in_unbounded(facts: Facts) -> Iterator[Problem]:
    for pattern in facts.schema.patterns:
        if pattern.kind == "merge" and pattern.max_partitions is None:
            over = pattern.partitions or "partition"
            yield Problem(
                pattern,
                pattern.name,
                f"makes one query for each of {over}, and nothing limits their number",
                "State max_partitions and what happens beyond it, or keep a copy per reader.",
            )


@rule("Q9", "merge-no-dedupe", "warning", "One thing reachable by two partitions comes twice")
def merge_no_dedupe(facts: Facts) -> Iterator[Problem]:
    for pattern in facts.schema.patterns:
        if pattern.kind != "merge" or pattern.deduplicated:
            continue
        for name in pattern.entities:
            entity = facts.schema.by_entity.get(name)
            if entity is not None and entity.copy is not None:
                yield Problem(
                    pattern,
                    pattern.name,
                    f"merges partitions that hold copies of one {entity.copy.of}: a thing in two "
                    "of them comes twice",
                    f"Drop duplicates by the id of {entity.copy.of} while merging.",
                )


@rule("Q10", "pattern-unserved", "error", "No key serves the pattern, or nothing writes its items")
def pattern_unserved(facts: Facts) -> Iterator[Problem]:
    for pattern in facts.schema.patterns:
        table = facts.schema.by_table.get(pattern.table)
        if table is None or (pattern.index and table.index(pattern.index) is None):
            where = pattern.index or pattern.table
            yield Problem(
                pattern,
                pattern.name,
                f"reads {where}, which the design does not have",
                "Declare it, or read from one that is there.",
            )
            continue
        if pattern.partition is None and pattern.kind != "scan":
            yield Problem(
                pattern,
                pattern.name,
                "names no partition key, so that nothing but a scan can serve it",
                "Give the key or index that serves it, or drop the pattern.",
            )
            continue
        yield from _unwritten(facts, pattern)


def _unwritten(facts: Facts, pattern: Pattern) -> Iterator[Problem]:
    reached = {a.entity.name for a in facts.reached(pattern)}
    where = pattern.index or pattern.table
    for name in pattern.entities:
        entity = facts.schema.by_entity.get(name)
        if entity is None or name in reached or (entity.key is None and pattern.index is None):
            continue
        yield Problem(
            pattern,
            pattern.name,
            f"no {name} has such a key in {where}: `{pattern.partition}`"
            + (f", `{_asked(pattern)}`" if pattern.condition.template else ""),
            f"Give {name} this key, or ask for the key it has.",
        )
    for shape in (pattern.partition, *pattern.other_partitions):
        if shape is None or not pattern.other_partitions:
            continue
        served = any(
            facts.meet(shape, None, a.key.partition, a.entity)
            and facts.meets_condition(pattern, a)
            and a.entity.name in pattern.entities
            for a in facts.appearances(pattern.table, pattern.index)
        )
        if not served:
            yield Problem(
                pattern,
                pattern.name,
                f"reads the partition `{shape}` of {where}, which no {', '.join(pattern.entities)} "
                "is written to",
                "Write the items that are to be found there, or drop the partition.",
            )


@rule("Q11", "pattern-name-drift", "info", "A pattern or operation uses names nobody declares")
def pattern_name_drift(facts: Facts) -> Iterator[Problem]:
    known = facts.schema.by_entity
    for pattern in facts.schema.patterns:
        unknown = [name for name in pattern.entities if name not in known]
        if unknown:
            yield Problem(
                pattern,
                pattern.name,
                f"is about {', '.join(unknown)}, which the design does not declare",
                "Declare the entity, or correct the name.",
            )
        drifted = dict(_renamed(facts, pattern))
        if drifted:
            pairs = ", ".join(f"{mine} for {theirs}" for mine, theirs in drifted.items())
            yield Problem(
                pattern,
                pattern.name,
                f"its key condition says {pairs}",
                "Use the entity's own names.",
            )
    for operation in facts.schema.operations:
        reads = [*operation.reads, *operation.then]
        names = [name for name in reads if name not in facts.schema.by_pattern]
        names += [effect.entity for effect in operation.effects if effect.entity not in known]
        if names:
            yield Problem(
                operation,
                operation.name,
                f"names {', '.join(dict.fromkeys(names))}, which the design does not declare",
                "Declare the pattern or entity, or correct the name.",
            )


def _renamed(facts: Facts, pattern: Pattern) -> Iterator[tuple[str, str]]:
    """Parameters that stand where a key has a field of another name."""
    for appearance in facts.reached(pattern):
        if appearance.entity.name not in pattern.entities:
            continue
        shapes = (pattern.partition, *pattern.other_partitions)
        pairs: list[tuple[Template | None, Template | None]] = [
            (shape, appearance.key.partition)
            for shape in shapes
            if shape and facts.meet(shape, None, appearance.key.partition, appearance.entity)
        ]
        if pattern.condition.operator in ("eq", "begins_with"):
            pairs.append((pattern.condition.template, appearance.key.sort))
        for mine, theirs in pairs:
            if mine is None or theirs is None:
                continue
            for a, b in zip(mine.fields, theirs.fields, strict=False):
                if a != b and appearance.entity.by_field and a not in appearance.entity.by_field:
                    yield a, b


@rule("Q12", "ttl-as-logic", "error", "Expired items that are still there are treated as gone")
def ttl_as_logic(facts: Facts) -> Iterator[Problem]:
    for entity in facts.schema.entities:
        if entity.ttl is None or not entity.ttl.relied:
            continue
        for pattern in facts.schema.patterns:
            if entity.name in pattern.entities and entity.ttl.attribute not in pattern.filter:
                yield Problem(
                    pattern,
                    pattern.name,
                    f"takes every {entity.name} it finds as valid; expired ones stay for up to two "
                    "days",
                    f"Compare {entity.ttl.attribute} with the current time in the filter or "
                    "condition.",
                    (entity,),
                )
