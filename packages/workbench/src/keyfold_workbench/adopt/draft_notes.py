"""The evidence for a drafted design, and open questions for its owner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keyfold.design.schema import (
    TableSchema,
)
from keyfold_workbench.adopt import value_format
from keyfold_workbench.adopt.entity_draft import EntityDraft
from keyfold_workbench.adopt.growth import growth
from keyfold_workbench.adopt.item_groups import Grouping


def size_notes(table: TableSchema, found: Grouping, total: int) -> Iterator[str]:
    yield f"{total:,} items of {table.name}: {len(found.groups)} entities."
    if found.discriminator:
        yield (
            f"{found.discriminator} names them: it explains {100 * found.explains:.0f}% of the "
            "differences between items."
        )
    if found.own:
        yield f"{found.own:,} items are keyfold's own markers and left out."
    if found.husks:
        shown = [value_format.text(found.husks[0], name) or "" for name in table.key_attributes]
        count = len(found.husks)
        yield (
            f"{count:,} {'item has' if count == 1 else 'items have'} nothing but a key of another "
            f"entity's form, such as {' / '.join(shown)}: what is left of an item, no entity."
        )


def choice_notes(seen: Sequence[EntityDraft]) -> Iterator[str]:
    for each in seen:
        for attribute in each.entity.attributes:
            values = [i[attribute.name] for i in each.group.items if attribute.name in i]
            few = value_format.choices(values) if attribute.type == "string" else ()
            if few:
                yield (
                    f"{each.entity.name}.{attribute.field} has {len(few)} values in "
                    f"{len(values):,} items: {', '.join(few)}."
                )


def growth_notes(seen: Sequence[EntityDraft], *, complete: bool) -> Iterator[str]:
    for each in seen:
        entity, items = each.entity, each.group.items
        told = growth(entity.name, entity.attributes, items, complete=complete)
        if told:
            yield told


def questions(seen: Sequence[EntityDraft]) -> Iterator[str]:
    shapes: dict[tuple[str, ...], list[str]] = {}
    for each in seen:
        shapes.setdefault(each.entity.key.skeleton if each.entity.key else (), []).append(
            each.entity.name
        )
    for names in shapes.values():
        if len(names) > 1:
            yield (
                f"{' and '.join(names)} have keys of one shape, so one item can overwrite "
                "another. Are they one entity?"
            )
    for each in seen:
        for name in each.asked:
            yield f"{each.entity.name}.{name} is only in the key. What is it called?"
        for placement in each.entity.placements:
            if placement.note:
                yield (
                    f"{each.entity.name} is in {placement.index} only partly ({placement.note}). "
                    "When is it there?"
                )
