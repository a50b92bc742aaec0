"""M: migrations. Can the steps run in this order on a live table, and be undone?"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import PlannedStep, TableSchema
from keyfold_engine.limits import INDEX_CHANGES_PER_UPDATE
from keyfold.review.check.evidence import Evidence, keys_example, steps_example
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import field_value, item_name

SAFEGUARDS = {
    "dual_write": "writing to both sides",
    "verify": "comparing both sides",
    "rollback": "a way back",
}


def _previous_table(facts: Reach) -> dict[str, TableSchema]:
    return facts.schema.before.by_table if facts.schema.before else {}


@rule("M1", "key-change-in-place", "error", "A migration changes a table's key in place")
def key_change_in_place(facts: Reach) -> Iterator[Defect]:
    for step in facts.schema.steps:
        if step.action != "change_key":
            continue
        old, new = _previous_table(facts).get(step.table), facts.schema.by_table.get(step.table)
        change = f" from {_key(old)} to {_key(new)}" if old and new else ""
        yield Defect(
            step,
            f"changes the key of {step.table}{change} in place; a table's key is fixed when it is "
            "created, and a deployment tool replaces the table with an empty one",
            "Make a new table, copy, compare, switch over, then drop the old one.",
            evidence=_steps_of(facts.schema.steps),
        )


def _steps_of(steps: tuple[PlannedStep, ...]) -> Evidence:
    """The steps as the document has them."""
    return steps_example(*(f"{step.name}: {step.action} {step.table}".strip() for step in steps))


def _key(table: TableSchema) -> str:
    return " / ".join(table.key_attributes)


@rule("M2", "multi-gsi-step", "error", "A step changes more than one index")
def multi_gsi_step(facts: Reach) -> Iterator[Defect]:
    for step in facts.schema.steps:
        changes = (*step.adds, *step.drops)
        if step.action not in ("update_table", "change_key"):
            continue
        if len(changes) > INDEX_CHANGES_PER_UPDATE:
            yield Defect(
                step,
                f"changes {len(changes)} indexes of {step.table} at once ({', '.join(changes)}), "
                "but UpdateTable changes one",
                "Make one update for each, and wait until the index is active.",
                evidence=steps_example(
                    *(
                        f"UpdateTable {step.table}: {name}, wait until it is done"
                        for name in changes
                    )
                ),
            )


@rule("M3", "index-never-created", "error", "A migration defines an index and never creates it")
def index_never_created(facts: Reach) -> Iterator[Defect]:
    steps = facts.schema.steps
    for table in facts.schema.tables:
        own = [step for step in steps if step.table == table.name]
        if any(step.action in ("create_table", "change_key") for step in own):
            continue
        added = {name for step in own for name in step.adds}
        earlier = _previous_table(facts).get(table.name)
        known = {index.name for index in earlier.indexes} if earlier else set()
        for index in table.indexes:
            if index.name in added | known:
                continue
            definer = _definer(own, index.key_attributes[0])
            if definer is not None:
                yield Defect(
                    definer,
                    f"defines {index.partition_text} and never creates {index.name}: deployment "
                    "ignores the definition without an error",
                    f"Add an update that creates {index.name}.",
                    (index,),
                    subject=f"{index.name} in {definer.name}",
                )


def _definer(steps: list[PlannedStep], attribute: str) -> PlannedStep | None:
    return next((step for step in steps if attribute in step.defines), None)


@rule("M4", "destroy-before-export", "error", "The old data is deleted before it is copied")
def destroy_before_export(facts: Reach) -> Iterator[Defect]:
    exported: set[str] = set()
    for step in facts.schema.steps:
        if step.action in ("export", "backfill"):
            exported.add(step.table)
        elif step.action in ("drop_table", "change_key") and step.table not in exported:
            later = any(s.action == "export" and s.table == step.table for s in facts.schema.steps)
            yield Defect(
                step,
                f"replaces or drops {step.table} before its data is exported"
                + ("; the later export finds nothing" if later else ""),
                "Export and verify first; drop last.",
                evidence=_steps_of(facts.schema.steps),
            )


@rule(
    "M5",
    "no-dual-write-verify-rollback",
    "error",
    "A cut-over lacks dual writes, verification or a way back",
)
def no_safeguards(facts: Reach) -> Iterator[Defect]:
    steps = facts.schema.steps
    moved = list(
        dict.fromkeys(
            step.table for step in steps if step.action in ("change_key", "import", "drop_table")
        )
    )
    present = {step.action for step in steps}
    missing = [words for action, words in SAFEGUARDS.items() if action not in present]
    if moved and missing:
        yield Defect(
            next(step for step in steps if step.table == moved[0]),
            f"move {', '.join(moved)} without {', '.join(missing)}: writes during the move are "
            "lost, and nothing shows it",
            "Write to both, copy, compare, switch reads, and keep the old table until the new "
            "one is verified.",
            subject="the steps",
            evidence=_steps_of(steps),
        )


@rule("M6", "backfill-unguarded", "error", "A backfill can overwrite newer data")
def backfill_unguarded(facts: Reach) -> Iterator[Defect]:
    for step in facts.schema.steps:
        if step.action in ("backfill", "import") and not step.guarded:
            yield Defect(
                step,
                f"writes what was read earlier to {step.table} without a condition: it undoes "
                "changes made since, and brings deleted items back",
                "Write on the condition that the item is still as it was read, or does not exist.",
                evidence=_lost_change_example(facts, step),
            )


def _lost_change_example(facts: Reach, step: PlannedStep) -> Evidence:
    """A change between what a step reads and what it writes."""
    inside = facts.schema.entities_of(step.table)
    names = [facts.schema.by_entity[n] for n in step.entities if n in facts.schema.by_entity]
    item = item_name((names or [*inside])[0]) if names or inside else f"an item of {step.table}"
    return steps_example(
        f"{step.name} reads {item}",
        "a user changes or deletes it",
        f"{step.name} writes it as it was read",
        so="the user's change is undone",
    )


@rule("M7", "backfill-not-resumable", "warning", "An interrupted backfill starts over")
def backfill_not_resumable(facts: Reach) -> Iterator[Defect]:
    for step in facts.schema.steps:
        if step.action in ("backfill", "import") and not step.resumable:
            yield Defect(
                step,
                f"reads all of {step.table} in one run: after an interruption it starts over",
                "Store a checkpoint for each segment, and resume from it.",
            )


@rule("M8", "transform-incomplete", "error", "Old and new formats are mixed after the migration")
def transform_incomplete(facts: Reach) -> Iterator[Defect]:
    if facts.schema.before is None:
        return
    moves = [step for step in facts.schema.steps if step.action in ("import", "backfill")]
    for entity in facts.schema.entities:
        was = facts.schema.before.by_entity.get(entity.name)
        step = next(
            (s for s in moves if entity.name in s.entities or s.table == entity.table), None
        )
        if was is None or step is None:
            continue
        for attribute in entity.attributes:
            old = was.by_field.get(attribute.field)
            if old is None or not (old.looks_like and attribute.looks_like):
                continue
            if old.looks_like != attribute.looks_like and attribute.field not in step.transforms:
                yield Defect(
                    step,
                    f"{step.name} moves {attribute.field} as it is: old items keep "
                    f"`{old.looks_like}` where the design has `{attribute.looks_like}`",
                    f"Rewrite {attribute.field} in the same step.",
                    (entity,),
                    subject=f"{entity.name}.{attribute.field}",
                    evidence=keys_example(
                        f"after {step.name}, {attribute.field} is",
                        (f"`{field_value(old, attribute.field)}`", "in items that were moved"),
                        (f"`{field_value(attribute, attribute.field, 2)}`", "in new ones"),
                    ),
                )
