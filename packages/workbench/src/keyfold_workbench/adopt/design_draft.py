"""Drafts a design from a table's items, with the evidence for each statement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from keyfold.design.schema import (
    EntitySchema,
    PatternSchema,
    Schema,
    TableSchema,
)
from keyfold_workbench.adopt import draft_notes, item_names, relations
from keyfold_workbench.adopt.entity_draft import MARKS_OF_TOOLS, draft_entity
from keyfold_workbench.adopt.item_groups import Grouping, group, group_by_label
from keyfold_workbench.adopt.item_shares import share_text
from keyfold_workbench.adopt.key_draft import draft_keys, in_one_case
from keyfold_workbench.adopt.plain_patterns import by_index, by_key
from keyfold_workbench.adopt.value_format import Item


@dataclass
class DesignDraft:
    """A design, its evidence, and open questions for its owner."""

    schema: Schema
    notes: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The design file, with notes and questions as comments at its top."""
        from keyfold.design.file import dumps

        lines = [f"# {note}" for note in self.notes]
        lines += [f"# ? {question}" for question in self.questions]
        return "\n".join([*lines, dumps(self.schema)])


def draft(
    table: TableSchema,
    items: Sequence[Item],
    *,
    complete: bool = False,
    labels: Sequence[str] = (),
    visits: Sequence[int] = (),
) -> DesignDraft:
    """The design of one table from a sample of its items.

    `complete` means that these are all items; `labels` names the entity of each, if known;
    `visits` are the items that were found at one place each, in order.
    """
    found = group_by_label(items, labels) if any(labels) else group(table, items)
    table = _with_discriminator(table, found)
    hidden = {name for name in (found.discriminator, *MARKS_OF_TOOLS) if name}
    keys = [in_one_case(draft_keys(table, each, hidden)) for each in found.groups]
    titles = item_names.titles(table, found.groups, keys)
    seen = [
        draft_entity(table, title, each, parts, found, share_text(each, items, visits))
        for title, each, parts in zip(titles, found.groups, keys, strict=True)
    ]
    entities = relations.with_references(seen, complete=complete)
    schema = Schema(
        name=table.name,
        description=f"Drafted from {len(items):,} items of {table.name}",
        tables=(table,),
        entities=entities,
        patterns=tuple(pattern for each in entities for pattern in _patterns(table, each)),
    )
    notes = [
        *draft_notes.size_notes(table, found, len(items)),
        *draft_notes.choice_notes(seen),
        *draft_notes.growth_notes(seen, complete=complete),
        *relations.notes(seen, entities, complete=complete),
    ]
    return DesignDraft(schema, notes, list(draft_notes.questions(seen)))


def _with_discriminator(table: TableSchema, found: Grouping) -> TableSchema:
    keyed = {name for each in table.indexes for name in each.key_attributes}
    kept = found.discriminator if found.discriminator not in keyed else None
    return replace(table, type_attribute=kept)


def _patterns(table: TableSchema, entity: EntitySchema) -> Iterator[PatternSchema]:
    if entity.key is None:
        return
    yield by_key(f"{entity.name} by key", entity.name, table.name, entity.key)
    for placed in entity.placements:
        name = f"{entity.name} by {re.sub(r'^[Bb]y[-_]?(?=[A-Za-z])', '', placed.index)}"
        yield by_index(name, entity.name, table.name, placed.index, placed.key)
