"""G: global tables. What cannot be guaranteed across regions? Conditions see one region only."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.follows import Follows
from keyfold.design.schema import EntitySchema, Replication, TableSchema
from keyfold.review.check.evidence import Evidence, steps_example
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import field_value, item_name

_HOME = "Write it in one region only and say so (replication: home)"


def _spread(facts: Reach) -> Iterator[tuple[TableSchema, Replication]]:
    """Tables whose regions write independently."""
    for table in facts.schema.tables:
        if table.replication is not None and table.replication.diverges:
            yield table, table.replication


def _entities_of(facts: Reach, table: TableSchema) -> dict[str, EntitySchema]:
    return {entity.name: entity for entity in facts.schema.entities_of(table.name)}


def _consequences(facts: Reach, table: TableSchema, *facts_of: str) -> Iterator[Follows]:
    """Consequences of a table's changes, or stored in it, by kind of fact."""
    inside = _entities_of(facts, table)
    for each in facts.schema.follows:
        if each.fact in facts_of and (each.target or each.source) in inside:
            yield each


@rule(
    "G1", "unique-in-each-region", "error", "A value is unique in each region, not across regions"
)
def unique_in_each_region(facts: Reach) -> Iterator[Defect]:
    for table, spread in _spread(facts):
        for entity in _entities_of(facts, table).values():
            claims = [unique.fields for unique in entity.uniques]
            claims += [f.fields for f in facts.schema.follows if _claims(f, entity.name)]
            for fields in dict.fromkeys(claims):
                yield Defect(
                    entity,
                    f"must be unique across {len(spread.regions)} regions: two regions can both "
                    "accept the same value, and the later write silently wins",
                    f"{_HOME}, or put the region into the value.",
                    (table,),
                    subject=f"{entity.name}.{', '.join(fields)}",
                    evidence=_double_claim_example(entity, fields, spread.regions),
                )


def _double_claim_example(
    entity: EntitySchema, fields: tuple[str, ...], regions: tuple[str, ...]
) -> Evidence:
    """Two regions that claim one value."""
    values = ", ".join(f"{f} = {field_value(entity.by_field.get(f), f)}" for f in fields)
    return steps_example(
        f"{regions[0]} puts {item_name(entity)} with {values}: it is free there",
        f"{regions[-1]} puts {item_name(entity, 2)} with {values}: it is free there",
        f"the regions exchange what they wrote: both items have {values}",
    )


def _claims(follows: Follows, entity: str) -> bool:
    return follows.fact == "claim" and follows.source == entity


@rule("G2", "count-in-two-regions", "error", "Two regions overwrite each other's counts")
def count_in_two_regions(facts: Reach) -> Iterator[Defect]:
    for table, spread in _spread(facts):
        inside = _entities_of(facts, table)
        for each in _consequences(facts, table, "amount", "best"):
            entity = inside[each.target or each.source]
            yield Defect(
                entity,
                f"is stored on {entity.name}, which every region writes: of two concurrent "
                "changes only the later one survives, and the other count is lost",
                f"{_HOME}, or keep one number for each region and add them up when reading.",
                (table,),
                subject=each.name,
                evidence=_lost_update_example(
                    entity,
                    spread.regions,
                    (*each.adds, *each.writes, "the number")[0],
                    "10",
                    "11",
                    "11",
                ),
            )


def _lost_update_example(
    entity: EntitySchema, regions: tuple[str, ...], field: str, old: str, one: str, other: str
) -> Evidence:
    """Two regions that change one item from the same state."""
    return steps_example(
        f"{regions[0]}: {field} of {item_name(entity)} goes from {old} to {one}",
        f"{regions[-1]}, at the same time: it goes from {old} to {other}",
        f"the later item replaces the other everywhere: {other}, and one change is lost",
    )


@rule("G3", "lock-in-one-region", "warning", "A version or state check holds in one region only")
def lock_in_one_region(facts: Reach) -> Iterator[Defect]:
    for table, spread in _spread(facts):
        for entity in _entities_of(facts, table).values():
            steps = [each.field for each in entity.attributes if each.states]
            for name in filter(None, (entity.version, *steps)):
                yield Defect(
                    entity,
                    "is checked only in the region of the write: two regions can both advance "
                    "from the same value, and one overwrites the other",
                    f"{_HOME}, or use a strongly consistent global table (replication: conflict: "
                    "refused).",
                    (table,),
                    subject=f"{entity.name}.{name}",
                    evidence=_lost_update_example(
                        entity, spread.regions, name, *_step_words(entity, name)
                    ),
                )


def _step_words(entity: EntitySchema, name: str) -> tuple[str, str, str]:
    """A value, and two possible successors."""
    attribute = entity.by_field.get(name)
    if attribute is None or not attribute.states:
        return "1", "2", "2"
    old = attribute.states[0].before
    after = [step.after for step in attribute.states if step.before == old]
    return old, after[0], after[-1]


@rule(
    "G4",
    "consumer-in-each-region",
    "warning",
    "A consumer runs in every region and sees every change there",
)
def consumer_in_each_region(facts: Reach) -> Iterator[Defect]:
    for table in facts.schema.tables:
        spread = table.replication
        if spread is None or spread.home:
            continue
        inside = _entities_of(facts, table)
        names = [each.name for each in facts.schema.follows if _is_streamed(each, inside)]
        names += [
            one.name
            for one in facts.schema.consumers
            if one.table == table.name or set(one.entities) & set(inside)
        ]
        if names:
            yield Defect(
                table,
                f"{', '.join(dict.fromkeys(names))} follow its stream, and each of "
                f"{', '.join(spread.regions)} has a stream with all changes: a consumer in each "
                "region repeats the work",
                "Run the consumers in one region and say so (replication: home), or let each "
                "skip what other regions wrote.",
                evidence=steps_example(
                    f"an item is written in {spread.regions[0]}",
                    *(f"{names[0]} gets the record in {region}" for region in spread.regions),
                    so=f"it does its work {len(spread.regions)} times",
                ),
            )


def _is_streamed(follows: Follows, inside: dict[str, EntitySchema]) -> bool:
    return follows.by_stream and follows.source in inside


@rule(
    "G5",
    "strong-without",
    "error",
    "A strongly consistent global table does not support a feature that the design uses",
)
def strong_without(facts: Reach) -> Iterator[Defect]:
    for table in facts.schema.tables:
        if table.replication is None or not table.replication.is_strong:
            continue
        joined = [
            each.name for each in facts.schema.follows if _joins_transaction(facts, table, each)
        ]
        claimed = [e.name for e in _entities_of(facts, table).values() if e.uniques]
        atomic = [one.name for one in facts.schema.operations if _is_atomic(facts, table, one.name)]
        lacks = {
            "transactions": [*joined, *claimed, *atomic],
            "time to live": [table.ttl] if table.ttl else [],
            "local indexes": [index.name for index in table.indexes if index.local],
        }
        for what, names in lacks.items():
            if names:
                yield Defect(
                    table,
                    f"is a strongly consistent global table and uses {what} "
                    f"({', '.join(dict.fromkeys(names))}), which DynamoDB does not support there",
                    "Avoid them, or let the last writer win.",
                )


def _joins_transaction(facts: Reach, table: TableSchema, follows: Follows) -> bool:
    return follows.joins and follows.source in _entities_of(facts, table)


def _is_atomic(facts: Reach, table: TableSchema, name: str) -> bool:
    operation = next(one for one in facts.schema.operations if one.name == name)
    inside = _entities_of(facts, table)
    return bool(operation.atomic) and any(effect.entity in inside for effect in operation.effects)


@rule("G6", "transaction-in-parts", "note", "Other regions see a transaction one item at a time")
def transaction_in_parts(facts: Reach) -> Iterator[Defect]:
    for table in facts.schema.tables:
        spread = table.replication
        if spread is None or spread.is_strong:
            continue
        names = [
            each.name for each in _consequences(facts, table, "copy", "shown", "need") if each.joins
        ]
        if names:
            yield Defect(
                table,
                f"{', '.join(dict.fromkeys(names))} join the transaction of their item; other "
                "regions receive the items one by one, and a reader there can see one without "
                "the other",
                "Make readers in other regions tolerate this: read the item by its key when a "
                "copy is ahead of it.",
                evidence=steps_example(
                    f"a transaction in {spread.regions[0]} writes an item and {names[0]}",
                    f"{spread.regions[-1]} has one of them",
                    f"a reader in {spread.regions[-1]} finds one without the other",
                    f"{spread.regions[-1]} has both",
                ),
            )
