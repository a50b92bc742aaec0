"""M: migrations. Can the steps run in this order on a live table, and be undone?"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import EntitySchema, PlannedStep, Schema, TableSchema
from keyfold.review.check.domains import DESIGN, ENTITIES, STEPS, TABLES
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Found, hit, rule
from keyfold_engine.limits import INDEX_CHANGES_PER_UPDATE

SAFEGUARDS = {
    "dual_write": "writing to both sides",
    "verify": "comparing both sides",
    "rollback": "a way back",
}


def _previous_table(facts: Reach) -> dict[str, TableSchema]:
    return facts.schema.before.by_table if facts.schema.before else {}


@rule("M1", STEPS)
def key_change_in_place(facts: Reach, step: PlannedStep) -> Found | None:
    if step.action != "change_key":
        return None
    old, new = _previous_table(facts).get(step.table), facts.schema.by_table.get(step.table)
    change = f" from {_key(old)} to {_key(new)}" if old and new else ""
    return hit(change=change)


def _key(table: TableSchema) -> str:
    return " / ".join(table.key_attributes)


@rule("M2", STEPS)
def multi_gsi_step(step: PlannedStep) -> Found | None:
    changes = (*step.adds, *step.drops)
    changing = step.action in ("update_table", "change_key")
    if not changing or len(changes) <= INDEX_CHANGES_PER_UPDATE:
        return None
    return hit(changes=changes, count=len(changes))


@rule("M3", TABLES)
def index_never_created(facts: Reach, table: TableSchema) -> Iterator[Found]:
    own = [step for step in facts.schema.steps if step.table == table.name]
    if any(step.action in ("create_table", "change_key") for step in own):
        return
    earlier = _previous_table(facts).get(table.name)
    created = {name for step in own for name in step.adds}
    created |= {index.name for index in earlier.indexes} if earlier else set()
    for index in table.indexes:
        named = (step for step in own if index.key_attributes[0] in step.defines)
        definer = next(named, None) if index.name not in created else None
        if definer is not None:
            yield hit(definer=definer, index=index)


@rule("M4", DESIGN)
def destroy_before_export(schema: Schema) -> Iterator[Found]:
    exported: set[str] = set()
    for step in schema.steps:
        if step.action in ("export", "backfill"):
            exported.add(step.table)
        elif step.action in ("drop_table", "change_key") and step.table not in exported:
            later = any(s.action == "export" and s.table == step.table for s in schema.steps)
            yield hit("late" if later else "never", step=step)


@rule("M5", DESIGN)
def no_safeguards(schema: Schema) -> Found | None:
    moving = [s for s in schema.steps if s.action in ("change_key", "import", "drop_table")]
    present = {step.action for step in schema.steps}
    missing = [words for action, words in SAFEGUARDS.items() if action not in present]
    if not moving or not missing:
        return None
    moved = [step.table for step in moving]
    first = next(step for step in schema.steps if step.table == moved[0])
    return hit(step=first, moved=moved, missing=missing)


@rule("M6", STEPS)
def backfill_unguarded(step: PlannedStep) -> bool:
    return step.action in ("backfill", "import") and not step.guarded


@rule("M7", STEPS)
def backfill_not_resumable(step: PlannedStep) -> bool:
    return step.action in ("backfill", "import") and not step.resumable


@rule("M8", ENTITIES)
def transform_incomplete(facts: Reach, entity: EntitySchema) -> Iterator[Found]:
    was = facts.schema.before.by_entity.get(entity.name) if facts.schema.before else None
    moves = (step for step in facts.schema.steps if step.action in ("import", "backfill"))
    step = next((s for s in moves if entity.name in s.entities or s.table == entity.table), None)
    for attribute in entity.attributes if was and step else ():
        old = was.by_field.get(attribute.field) if was else None
        if old is None or not (old.looks_like and attribute.looks_like):
            continue
        kept = step is not None and attribute.field not in step.transforms
        if kept and old.looks_like != attribute.looks_like:
            yield hit(step=step, attribute=attribute, old=old)
