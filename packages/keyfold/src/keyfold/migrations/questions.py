"""Questions of a plan: what was found, and the likely answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from keyfold.design.schema import EntitySchema, Index, Schema, TableSchema
from keyfold.migrations.schema_change import MOVES, SchemaChange


@dataclass(frozen=True)
class Question:
    """A plan's question; an answer is a step."""

    text: str
    answers: tuple[dict[str, Any], ...]

    @property
    def answer_lines(self) -> Iterator[str]:
        """The answers as lines."""
        for answer in self.answers:
            yield ", ".join(f"{word}: {value}" for word, value in answer.items())


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
        return Question(text, ({"drop index": old.name, "of": change.subject},))
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
    return Question(text, ({"drop table": old.name}, {"drop table": old.name, "with items": True}))


def _removed_attribute(name: str, old: EntitySchema, new: EntitySchema) -> Question:
    gone = next(a for a in old.attributes if a.name == name)
    answers: list[dict[str, Any]] = []
    for added in new.attributes:
        if added.is_stored and added.type == gone.type and added.name not in _names(old):
            answers.append({"rename": name, "to": added.field, "of": new.name})
    answers.append({"drop": name, "of": new.name})
    text = (
        f"{new.name} no longer declares {name}. Was it renamed, or should it be dropped? "
        "Without a step it stays in the items."
    )
    return Question(text, tuple(answers))


def _removed_entity(old: EntitySchema, before: Schema, after: Schema) -> Question | None:
    alike = [
        other
        for other in after.entities
        if other.name not in before.by_entity and _alike(old, other)
    ]
    answers: list[dict[str, Any]] = [
        {"move": old.name, "to": other.name} for other in alike if other.table != old.table
    ]
    if old.table in after.by_table:
        answers.append({"drop entity": old.name})
    elif not answers:
        return None  # The question about its table covers it.
    text = (
        f"{old.name} is no longer declared. Should its items be dropped? Without a step they stay."
    )
    for other in (one for one in alike if one.table == old.table):
        kept = old.type_name or old.name
        text += (
            f" If it is {other.name} now, declare that with type_name={kept!r}, by which its items "
            "are found, and plan again."
        )
    return Question(text, tuple(answers))


def _alike(old: EntitySchema, new: EntitySchema) -> bool:
    shared = _names(old) & _names(new)
    return len(shared) * 2 > len(_names(old) | _names(new))


def _names(entity: EntitySchema) -> set[str]:
    return {attribute.name for attribute in entity.attributes if attribute.is_stored}
