"""Questions of a plan: what was found, and the likely answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from keyfold.design.schema import EntitySchema, Index, Schema, TableSchema
from keyfold.literals import python as quoted
from keyfold.migrations.schema_change import MOVES, SchemaChange


@dataclass(frozen=True)
class Question:
    """A plan's question; an answer is a step, or a line in the design."""

    text: str
    answers: tuple[str, ...]

    def step(self) -> str:
        """Its placeholder among the steps until it is answered."""
        told = " ".join(self.text.split())
        offered = [f"#     {answer}," for answer in self.answers]
        return "\n        ".join([f"# {told}", *offered, f"undecided({quoted(told)})"])


def question_of(
    change: SchemaChange, changes: Sequence[SchemaChange], before: Schema, after: Schema
) -> Question | None:
    """The question about a change, or None if nothing can be lost."""
    old, new = change.old, change.new
    if change.kind == "attribute removed" and isinstance(old, EntitySchema):
        if isinstance(new, EntitySchema) and not _is_moved(change, changes):
            return _removed_attribute(change.detail, old, new, before, after)
    elif change.kind == "entity removed" and isinstance(old, EntitySchema) and not change.detail:
        return _removed_entity(old, before, after)
    elif change.kind == "table removed" and isinstance(old, TableSchema):
        return _removed_table(old, changes, before)
    elif change.kind == "regions changed" and isinstance(new, TableSchema):
        return _changed_regions(change, new)
    elif change.kind == "index removed" and isinstance(old, Index):
        text = f"{change.words}: queries of it will fail."
        return Question(text, ())
    return None


def _is_moved(change: SchemaChange, changes: Sequence[SchemaChange]) -> bool:
    return any(c.kind in MOVES and c.subject == change.subject for c in changes)


def _removed_table(
    old: TableSchema, changes: Sequence[SchemaChange], before: Schema
) -> Question | None:
    """No question if every entity moves out: the table is dropped when it is empty."""
    copies = {each.target for each in before.follows if each.fact == "copy"}
    held = [e.name for e in before.entities if e.table == old.name and e.name not in copies]
    moved = {c.old.name for c in changes if c.kind in MOVES and isinstance(c.old, EntitySchema)}
    left = [name for name in held if name not in moved]
    if held and not left:
        return None
    what = ", ".join(left) or "what is in it"
    text = (
        f"The table {old.name} is no longer declared, and no step moves {what} out of it. Should "
        "it be dropped when it is empty, or with all of its items? Without a step it stays."
    )
    return Question(text, ())


def _changed_regions(change: SchemaChange, new: TableSchema) -> Question:
    was, now = (
        {*table.replication.regions}
        if isinstance(table, TableSchema) and table.replication
        else set[str]()
        for table in (change.old, new)
    )
    if new.replication is not None and new.replication.is_strong:
        text = (
            f"{change.words}: such a table gets its regions while it is empty, by "
            "db.create_tables(replicas=True) or by your infrastructure. Is that done?"
        )
        return Question(text, ())
    name = quoted(new.name)
    answers = [f"AddReplica({name}, {quoted(region)})" for region in sorted(now - was)]
    answers += [f"RemoveReplica({name}, {quoted(region)})" for region in sorted(was - now)]
    text = (
        f"{change.words}: should this plan do it, with a step for each region? Without a step "
        "the table stays where it is."
    )
    return Question(text, tuple(answers))


def _removed_attribute(
    name: str, old: EntitySchema, new: EntitySchema, before: Schema, after: Schema
) -> Question:
    gone = next(a for a in old.attributes if a.name == name)
    entity = f"new.entities[{quoted(new.name)}]"
    answers = []
    for added in new.attributes:
        if added.is_stored and added.type == gone.type and added.name not in _names(old):
            answers.append(f"rename({entity}, {quoted(name)}, {quoted(added.field)})")
    for other in after.entities:
        if other.name not in before.by_entity and gone.field in other.by_field:
            shared = [f for f in old.by_field if f in other.by_field and f not in new.by_field]
            listed = ", ".join(map(quoted, shared))
            part = f"new.entities[{quoted(other.name)}]"
            whole = f"old.entities[{quoted(old.name)}]"
            answers.append(f"split({whole}, {part}, fields=[{listed}])")
    answers.append(f"drop({entity}, {quoted(name)})")
    text = (
        f"{new.name} no longer declares {name}. Was it renamed or moved, or should it be dropped? "
        "Without a step it stays in the items."
    )
    return Question(text, tuple(answers))


def _removed_entity(old: EntitySchema, before: Schema, after: Schema) -> Question | None:
    entity = f"old.entities[{quoted(old.name)}]"
    answers = [
        f"rename({entity}, new.entities[{quoted(other.name)}])"
        for other in after.entities
        if other.name not in before.by_entity and _alike(old, other)
    ]
    for other in after.entities:
        whole = before.by_entity.get(other.name)
        shared = list(_merged_fields(old, whole, other)) if whole is not None else []
        if shared:
            listed = ", ".join(map(quoted, shared))
            target = f"new.entities[{quoted(other.name)}]"
            answers.append(f"merge({entity}, {target}, fields=[{listed}])")
    if old.table in after.by_table:
        answers.append(f"drop({entity})")
    elif not answers:
        return None  # The question about its table covers it.
    text = (
        f"{old.name} is no longer declared. Was it renamed or merged into another entity, or "
        "should its items be dropped? Without a step they stay."
    )
    return Question(text, tuple(answers))


def _alike(old: EntitySchema, new: EntitySchema) -> bool:
    shared = _names(old) & _names(new)
    return len(shared) * 2 > len(_names(old) | _names(new))


def _merged_fields(old: EntitySchema, whole: EntitySchema, now: EntitySchema) -> Iterator[str]:
    for field, attribute in now.by_field.items():
        if field not in whole.by_field and field in old.by_field and attribute.is_stored:
            yield field


def _names(entity: EntitySchema) -> set[str]:
    return {attribute.name for attribute in entity.attributes if attribute.is_stored}
