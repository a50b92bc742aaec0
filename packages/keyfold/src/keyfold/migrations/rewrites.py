"""Rewrites: items changed in place, attribute by attribute, never over a newer write."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn

from keyfold.design.condition import fields_of, stored_condition
from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.schema import TableSchema
from keyfold.errors import MigrationError
from keyfold.maintain.unique import marker_prefix
from keyfold.migrations.backend import Item
from keyfold_engine.expressions.evaluate import compile_condition
from keyfold_engine.expressions.parser import literal_condition
from keyfold_engine.values.codec import decode, encode

Change = Callable[[Item], Item | None]
"""What an item becomes; None deletes it."""


@dataclass(frozen=True)
class Rewrite:
    """A change of a table's items; unaffected items are not written.

    Removals belong to `contract`, because they cannot be undone.
    """

    name: str
    table: str
    change: Change
    undo: Change | None = None
    when: Literal["backfill", "contract"] = "backfill"
    follow: Callable[[Item, Item], Item] | None = None
    """An item's result after its last change, given it before and after; `change` if None."""
    adds: frozenset[str] = frozenset()
    """Attributes that the old shape lacks."""
    echo: Callable[[Item, Item], Item] | None = None
    """What a write of the new shape means for attributes of the old one, given the item before and
    after it; None where one goes.
    """
    schema: TableSchema | None = None
    computes: frozenset[str] = frozenset()
    """Attributes that either way computes from the others: their old values are not noted."""

    def words(self) -> str:
        return self.name


def undo_rewrites(rewrites: Sequence[Rewrite], item: Item) -> Item:
    """An item that was written in the new shape, in the old one as far as steps can say."""
    backwards = list(reversed(rewrites))
    backwards.sort(key=lambda rewrite: bool(rewrite.computes))
    for rewrite in backwards:
        if rewrite.undo is not None:
            try:
                item = rewrite.undo(item) or item
            except Exception:  # the user's function; the item stays as it is
                continue
    return item


def rewrite_items(
    does: str,
    items: str | type[Entity],
    change: Change,
    undo: Change | None = None,
    when: Literal["backfill", "contract"] = "backfill",
    follow: Callable[[Item, Item], Item] | None = None,
    adds: frozenset[str] = frozenset(),
    where: str = "",
    echo: Callable[[Item, Item], Item] | None = None,
) -> Rewrite:
    """A rewrite of one entity's items, or of all items of the named table.

    `where` selects items: `level > 3 AND attribute_exists(email)`.
    """
    spec = None if isinstance(items, str) else items.__spec__
    table = items if isinstance(items, str) else items.__table__.name
    named = f"{does} of {table}" if spec is None else f"{does} of {spec.name} in {table}"
    concerns = _selection(spec, where)

    def within(one: Change) -> Change:
        return lambda item: one(item) if concerns(item) else item

    return Rewrite(
        f"{named} where {where}" if where else named,
        table,
        within(change),
        None if undo is None else within(undo),
        when,
        None
        if follow is None
        else lambda before, item: follow(before, item) if concerns(item) else item,
        adds,
        None if echo is None else lambda before, item: echo(before, item) if concerns(item) else {},
        None if spec is None else spec.table.schema,
    )


def _selection(spec: EntitySpec | None, where: str) -> Callable[[Item], bool]:
    """Whether an item belongs to the entity, if there is one, and satisfies `where`."""
    if spec is None:
        return compile_condition(literal_condition(where, "where")) if where else lambda _: True
    if not where:
        return spec.recognises
    condition = literal_condition(where, "where")
    if unknown := sorted(fields_of(condition) - {*spec.fields, *spec.attributes}):
        raise MigrationError(
            f"where={where!r}: {spec.name} has no field {unknown[0]!r}; it has "
            f"{', '.join(spec.fields)}"
        )
    holds = compile_condition(stored_condition(condition, spec))
    return lambda item: spec.recognises(item) and holds(item)


class undecided:
    """Marks a function that the reader of a plan must write; until then the plan is refused."""

    def __init__(self, question: str) -> None:
        self.question = question

    def __call__(self, function: Callable[..., Any]) -> NoReturn:
        code = function.__code__
        raise MigrationError(
            f"{code.co_filename}:{code.co_firstlineno}: {function.__name__} is undecided: "
            f"{self.question} Implement it, and remove @undecided"
        )


def transform_attribute(
    items: str | type[Entity],
    attribute: str,
    forward: Callable[[Any], Any],
    backward: Callable[[Any], Any] | None = None,
    *,
    where: str = "",
) -> Rewrite:
    """Change an attribute's value; `forward` must leave already changed values alone.

    An item is processed more than once, by the scan, by its stream and after a crash, and only the
    functions can tell an old value from a new one. Functions that cannot are refused.
    """

    def using(function: Callable[[Any], Any], *checked: Callable[[Any], Any]) -> Change:
        def change(item: Item) -> Item:
            if attribute not in item:
                return item
            stored = decode(item[attribute])
            made = _apply_idempotent(function, stored)
            for one in checked:
                _apply_idempotent(one, made)
            # Unchanged values keep their bytes.
            return item if made == stored else {**item, attribute: encode(made)}

        return change

    undo = using(backward) if backward is not None else None
    back = () if backward is None else (backward,)
    does = f"transform {attribute} in items"
    return rewrite_items(does, items, using(forward, *back), undo, where=where)


def _apply_idempotent(function: Callable[[Any], Any], value: Any) -> Any:
    once = function(value)
    twice = function(once)
    if twice != once:
        raise MigrationError(
            f"it turns {value!r} into {once!r}, and that into {twice!r}, but items may be "
            "processed more than once; make the function idempotent, or write to a new attribute "
            "with derive"
        )
    return once


def fill_indexes(entity: type[Entity], before: type[Entity] | None = None) -> Rewrite:
    """Give an entity's items the index keys of its declaration, and no others.

    `before` is the old entity, whose index keys a rollback restores. Keys of a removed index stay
    in the items.
    """
    spec, former = entity.__spec__, None if before is None else before.__spec__
    fixed = {*spec.by_attribute, *spec.table.schema.key_attributes}
    declared = {index.name for index in spec.table.schema.indexes}
    keys, all_keys = _index_keys(spec, declared), _index_keys(spec, declared)
    if former is not None:
        keys, all_keys = keys | _index_keys(former, declared), keys | _index_keys(former)

    def change(item: Item) -> Item:
        rest = {name: wire for name, wire in item.items() if name not in keys - fixed}
        return rest | spec.index_attributes(spec.decode(item).__dict__)

    def undo(item: Item) -> Item:
        rest = {name: wire for name, wire in item.items() if name not in all_keys - fixed}
        return rest if former is None else rest | former.index_attributes(vars(former.decode(item)))

    made = rewrite_items("fill the index keys", entity, change, undo)
    return replace(made, computes=frozenset(all_keys - fixed))


def _index_keys(spec: EntitySpec, indexes: Container[str] | None = None) -> set[str]:
    """The attributes that are keys of these indexes."""
    return {
        attribute.attribute
        for placement in spec.placements.values()
        if indexes is None or placement.describe().index in indexes
        for attribute in placement.attributes
    }


def remove_markers(table: str, partition: str, entity: str, *fields: str) -> Rewrite:
    """Delete the markers of a value that is no longer unique, at the very end."""
    prefix = marker_prefix(entity, fields)

    def change(item: Item) -> Item | None:
        return None if item.get(partition, {}).get("S", "").startswith(prefix) else item

    named = "+".join(fields)
    return Rewrite(f"remove the markers of {entity}.{named}", table, change, when="contract")
