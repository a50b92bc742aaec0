"""Questions of a plan: what was found, and the likely answers."""

from __future__ import annotations

from collections.abc import Sequence
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
            return _removed_attribute(change.detail, old, new)
    elif change.kind == "entity removed" and isinstance(old, EntitySchema) and not change.detail:
        return _removed_entity(old, before, after)
    elif change.kind == "table removed" and isinstance(old, TableSchema):
        return _removed_table(old, changes, before)
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


def _removed_attribute(name: str, old: EntitySchema, new: EntitySchema) -> Question:
    gone = next(a for a in old.attributes if a.name == name)
    entity = f"new.entities[{quoted(new.name)}]"
    answers = []
    for added in new.attributes:
        if added.is_stored and added.type == gone.type and added.name not in _names(old):
            answers.append(f"rename({entity}, {quoted(name)}, {quoted(added.field)})")
    answers.append(f"drop({entity}, {quoted(name)})")
    text = (
        f"{new.name} no longer declares {name}. Was it renamed, or should it be dropped? "
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
    if old.table in after.by_table:
        answers.append(f"drop({entity})")
    elif not answers:
        return None  # The question about its table covers it.
    text = (
        f"{old.name} is no longer declared. Was it renamed, or should its items be dropped? "
        "Without a step they stay."
    )
    return Question(text, tuple(answers))


def _alike(old: EntitySchema, new: EntitySchema) -> bool:
    shared = _names(old) & _names(new)
    return len(shared) * 2 > len(_names(old) | _names(new))


def _names(entity: EntitySchema) -> set[str]:
    return {attribute.name for attribute in entity.attributes if attribute.is_stored}
